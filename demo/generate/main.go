// Command generate makes the files that the demo imports: accounts, merchants, some thousand rows
// of payments with the mess of real life in them, a payday, the files of several banks about one
// person, and what must come out of them.
//
//	go run ./demo/generate          # writes into ./demo
//
// The output depends on a fixed seed alone, and a test compares the committed files with it. What
// must come out is not noted down while the rows are made: a small simulation reads the finished
// files and works it out, without any code of the ledger that it is to judge.
//
// The rows are arranged so that the final balances do not depend on luck: an importer that is
// stopped anywhere and started again, or that posts up to reorderMax rows at once, must end with
// the same books. Tests hold the file to that.
package main

//go:generate go run . -dir ..

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// Names of the files.
const (
	accountsFile  = "accounts.csv"
	merchantsFile = "merchants.csv"
	paymentsFile  = "payments.csv"
	expectedFile  = "expected.json"
)

func main() {
	dir := flag.String("dir", "demo", "directory to write into")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// paymentLines makes all lines of the payments file in no particular order.
func paymentLines(w *world) []line {
	lines := everyday(w)
	return append(lines, mess(w, lines)...)
}

// generate returns the content of every file by its name.
func generate() (map[string][]byte, error) {
	w := newWorld()
	lines := arrange(paymentLines(w))
	files := map[string][]byte{
		accountsFile:  w.accountsCSV(),
		merchantsFile: w.merchantsCSV(),
		paymentsFile:  paymentsCSV(lines),
	}
	truth, err := simulate(files[accountsFile], files[paymentsFile])
	if err != nil {
		return nil, err
	}
	if files[expectedFile], err = truth.json(); err != nil {
		return nil, err
	}
	payers := newPayers()
	files[paydayFile] = paydayCSV(w, payers)
	files[paydayExpected], err = simulatePayday(files[accountsFile], files[paydayFile], payers)
	if err != nil {
		return nil, err
	}
	banks, err := statements()
	maps.Copy(files, banks)
	return files, err
}

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func generated(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func paymentRows(t *testing.T, files map[string][]byte) [][]string {
	t.Helper()
	rows, _, err := readPayments(files[paymentsFile])
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// play posts rows to books as they stand and returns the books.
func play(t *testing.T, b *books, files map[string][]byte, rows [][]string) *books {
	t.Helper()
	if b == nil {
		var err error
		if b, err = openBooks(files[accountsFile]); err != nil {
			t.Fatal(err)
		}
	}
	for _, fields := range rows {
		b.post(fields)
	}
	return b
}

func TestCommittedFilesAreWhatIsGenerated(t *testing.T) {
	for name, want := range generated(t) {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("demo/%s is not what the generator makes: run go generate ./demo/...", name)
		}
	}
}

func TestEveryRowBecomesWhatItWasMadeFor(t *testing.T) {
	files := generated(t)
	lines := arrange(paymentLines(newWorld()))
	lines = slices.DeleteFunc(lines, func(l line) bool { return len(l.fields) == 0 })
	rows := paymentRows(t, files)
	if len(rows) != len(lines) {
		t.Fatalf("%d rows in the file, %d were made", len(rows), len(lines))
	}
	b := play(t, nil, files, nil)
	for i, fields := range rows {
		if got := b.post(fields); got != lines[i].meant {
			t.Errorf("row %d %q: %s, want %s", i, fields, got, lines[i].meant)
		}
	}
}

func TestStoppingAnywhereAndStartingAgainEndsWithTheSameBooks(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long, and one goroutine")
	}
	files := generated(t)
	rows := paymentRows(t, files)
	want := play(t, nil, files, rows)
	const step = 127 // A prime, so that stops fall between all kinds of rows.
	for stop := 0; stop < len(rows); stop += step {
		got := play(t, play(t, nil, files, rows[:stop]), files, rows)
		if diff := cmp.Diff(want.balances(), got.balances()); diff != "" {
			t.Fatalf("stopped before row %d (-want +got):\n%s", stop, diff)
		}
		if diff := cmp.Diff(want.bodies, got.bodies); diff != "" {
			t.Fatalf("stopped before row %d: other rows posted (-want +got):\n%s", stop, diff)
		}
	}
}

func TestPostingNeighboursInAnyOrderEndsWithTheSameBooks(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long, and one goroutine")
	}
	files := generated(t)
	rows := paymentRows(t, files)
	want := play(t, nil, files, rows)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		mixed := slices.Clone(rows)
		for from := random.IntN(reorderMax); from < len(mixed); from += reorderMax {
			block := mixed[from:min(from+reorderMax, len(mixed))]
			random.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		}
		got := play(t, nil, files, mixed)
		if diff := cmp.Diff(want.balances(), got.balances()); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

func TestBalancesOfEachCurrencySumToZero(t *testing.T) {
	files := generated(t)
	b := play(t, nil, files, paymentRows(t, files))
	sums := map[string]*big.Rat{nzd: new(big.Rat), usd: new(big.Rat), jpy: new(big.Rat)}
	for id, a := range b.accounts {
		sums[a.currency].Add(sums[a.currency], a.balance)
		if a.limit != nil && new(big.Rat).Add(a.balance, a.limit).Sign() < 0 {
			t.Errorf("account %s is beyond its limit", id)
		}
	}
	for currency, sum := range sums {
		if sum.Sign() != 0 {
			t.Errorf("balances in %s sum to %s", currency, sum.RatString())
		}
	}
}

func TestTheMessIsThere(t *testing.T) {
	files := generated(t)
	text := string(files[paymentsFile])
	for what, sign := range map[string]string{
		"a line end of Windows":   "\r\n",
		"a blank line":            "\n\n",
		"a macron":                "ā",
		"an emoji":                "🍕",
		"Japanese":                "寿司",
		"a quoted quote":          `""Wee""`,
		"a comma in a field":      `"O'Hara & Daughters, Plumbers"`,
		"a line break in a field": "\nOrder no. 7001\"",
	} {
		if !strings.Contains(text, sign) {
			t.Errorf("there is no %s", what)
		}
	}
	truth, err := simulate(files[accountsFile], files[paymentsFile])
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, code := range []outcome{
		malformedRow, amountNotPositive, tooManyFractionDigits, idempotencyConflict,
		accountNotFound, currencyMismatch, accountClosed, accountFrozen, insufficientFunds,
	} {
		refused += truth.Refused[code]
		if truth.Refused[code] < 10 {
			t.Errorf("only %d rows are refused for %s", truth.Refused[code], code)
		}
	}
	if refused != len(truth.RefusedRows) || truth.Rows != truth.Posted+truth.Repeats+refused {
		t.Errorf("the counts do not add up: %d rows, %d posted, %d repeats, %d refused",
			truth.Rows, truth.Posted, truth.Repeats, refused)
	}
}

func TestAccountsAndMerchantsBelongTogether(t *testing.T) {
	files := generated(t)
	read := func(name string) [][]string {
		rows, err := csv.NewReader(bytes.NewReader(files[name])).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	kinds, statuses, users := map[string]int{}, map[string]int{}, map[string]bool{}
	settlement := map[string]bool{}
	ids := map[string]bool{}
	for _, row := range read(accountsFile) {
		if ids[row[0]] {
			t.Errorf("two accounts %s", row[0])
		}
		ids[row[0]] = true
		statuses[row[4]]++
		if row[2] == "settlement" {
			settlement[row[0]] = true
			continue
		}
		kinds[fmt.Sprintf("%s %s", row[2], row[3])]++
		users[row[1]] = true
	}
	want := map[string]int{
		"checking NZD": 40, "savings NZD": savers,
		"travel USD": dollarHolders, "travel JPY": yenHolders,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if len(users) != 40 || statuses["frozen"] != 1 || statuses["closed"] != 1 {
		t.Errorf("%d users, statuses %v", len(users), statuses)
	}
	for _, row := range read(merchantsFile) {
		if !settlement[row[3]] {
			t.Errorf("merchant %s has no settlement account of its own", row[1])
		}
		delete(settlement, row[3])
	}
	if len(settlement) != 0 {
		t.Errorf("settlement accounts without a merchant: %v", settlement)
	}
}

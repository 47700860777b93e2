// Reconcile measures how long a check of the books takes and how much memory it needs: books of
// many transactions are made in a data directory, and a second process, which has seen none of
// them, checks them. The memory must not grow with the number of transactions.
//
//	go run ./bench/reconcile                        # 100,000 and 1,000,000 transactions
//	go run ./bench/reconcile -transactions 20000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/bench/machine"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func main() {
	counts := flag.String("transactions", "100000,1000000", "how many, for each run")
	dir := flag.String("dir", os.TempDir(), "where the books are made")
	keep := flag.Bool("keep", false, "leave the books there, to check them with exchequer")
	check := flag.String("check", "", "check the books in this directory; a run starts this itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *check != "" {
		err = checkBooks(ctx, os.Stdout, *check)
	} else {
		err = run(ctx, os.Stdout, *counts, *dir, *keep)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1)
	}
}

// run makes and checks books of each number of transactions.
func run(ctx context.Context, out io.Writer, counts, dir string, keep bool) error {
	fmt.Fprintf(out, "%d processors, %s %s/%s\n", runtime.NumCPU(), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
	for text := range strings.SplitSeq(counts, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("-transactions %q: give numbers of at least 1", counts)
		}
		if err := measure(ctx, out, dir, n, keep); err != nil {
			return fmt.Errorf("%d transactions: %w", n, err)
		}
	}
	return nil
}

// measure makes books in a new directory, and runs a second process that checks them.
func measure(ctx context.Context, out io.Writer, parent string, n int, keep bool) (err error) {
	dir, err := os.MkdirTemp(parent, "exchequer-reconcile-")
	if err != nil {
		return err
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	began := time.Now()
	if err := fill(ctx, dir, n); err != nil {
		return fmt.Errorf("make the books: %w", err)
	}
	took := time.Since(began)
	fmt.Fprintf(out, "\n%d transactions made in %.1f s (%.0f/s), %d MB in %s\n", n, took.Seconds(),
		float64(n)/took.Seconds(), size(dir)>>20, dir)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, "-check", dir)
	command.Stdout, command.Stderr = out, os.Stderr
	return command.Run()
}

// size returns how many bytes the files of a directory have.
func size(dir string) int64 {
	var sum int64
	// A file that is gone by now has no size.
	_ = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// open opens the books in a directory.
func open(dir string) (*engine.DB, *ledger.Ledger, error) {
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		return nil, nil, err
	}
	books, err := ledger.New(singletable.NewStore(db, singletable.Options{}), ledger.Options{
		SoleWriter: true,
	})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, books, nil
}

// progressEvery is how often the progress of a check is shown.
const progressEvery = 5 * time.Second

// checkBooks checks the books in a directory, and shows the progress and what the check took.
func checkBooks(ctx context.Context, out io.Writer, dir string) (err error) {
	db, books, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	before := machine.Resident()
	began, peak := time.Now(), before
	shown := began
	outcome, err := books.Reconcile(ctx, ledger.ReconcileQuery{
		Progress: func(p ledger.ReconcileProgress) {
			peak = max(peak, machine.Resident())
			if time.Since(shown) < progressEvery {
				return
			}
			shown = time.Now()
			fmt.Fprintf(
				out,
				"  %4.0f s: %s, %d items, %d MB\n",
				time.Since(began).Seconds(),
				p.Step,
				p.Items,
				machine.Resident()>>20,
			)
		},
	})
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(out, "%s: %d transactions, %d legs, %d accounts, %d items in %.1f s "+
		"(%.0f transactions/s); memory %d MB before, %d MB at most\n", outcome.Verdict(),
		outcome.Transactions, outcome.Legs, outcome.Accounts, outcome.Items, took.Seconds(),
		float64(outcome.Transactions)/took.Seconds(), before>>20, peak>>20)
	if !outcome.Balanced() {
		return fmt.Errorf("the books do not balance: %v %v", outcome.Divergences,
			outcome.Undecided)
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// openForTest opens a store on a fresh directory with older payments, or skips the test with the
// store's own words when it is not installed.
func openForTest(t *testing.T, one store, accounts int, older []payment) {
	t.Helper()
	if reason := one.available(); reason != "" {
		t.Skipf("%s: %s", one.name(), reason)
	}
	dir, err := scratch("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := one.open(t.Context(), dir, accounts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := one.close(); err != nil {
			t.Error(err)
		}
	})
	if err := one.load(t.Context(), older); err != nil {
		t.Fatal(err)
	}
}

func TestEveryStoreKeepsTheBooks(t *testing.T) {
	const accounts, count, callers = 20, 500, 8
	for _, one := range contenders(false) {
		t.Run(one.name(), func(t *testing.T) {
			older := olderPayments(seed, accounts, count)
			openForTest(t, one, accounts, older)
			taken, err := drive(t.Context(), pace{callers, 0, 200 * time.Millisecond},
				func(caller int) func(context.Context) error {
					m := newMaker(seed, uint64(caller), accounts, caller%2 == 0)
					return func(ctx context.Context) error { return one.pay(ctx, m.next()) }
				})
			if err != nil {
				t.Fatal(err)
			}
			total := count + taken.acknowledged
			if err := one.check(t.Context(), total); err != nil {
				t.Error(err)
			}
			if one.check(t.Context(), total+1) == nil {
				t.Error("check does not notice a lost payment")
			}

			again := older[0]
			if err := one.pay(t.Context(), again); err != nil {
				t.Errorf("a repeated key: %v", err)
			}
			if one.name() != floor { // The floor looks at nothing, so it refuses nothing.
				big := newMaker(seed+1, 0, accounts, false).next()
				big.amount = 2 * openingBalance
				if err := one.pay(t.Context(), big); !errors.Is(err, errShort) {
					t.Errorf("paying more than there is: %v, want %v", err, errShort)
				}
			}
			if err := one.check(t.Context(), total); err != nil {
				t.Errorf("after a repeat and a refusal: %v", err)
			}
		})
	}
}

func TestLoadingByPayingPostsEveryPaymentOnce(t *testing.T) {
	const accounts, count = 5, 300
	one := &sqlite{grouped: true}
	openForTest(t, one, accounts, nil)
	if err := loadByPaying(t.Context(), one, olderPayments(seed, accounts, count)); err != nil {
		t.Fatal(err)
	}
	if err := one.check(t.Context(), count); err != nil {
		t.Error(err)
	}
}

func TestEveryReaderFindsWhatWasLoaded(t *testing.T) {
	const accounts, count = 2, 2 * statementRows
	older := olderPayments(seed, accounts, count)
	for _, one := range contenders(true) {
		t.Run(one.name(), func(t *testing.T) {
			openForTest(t, one, accounts, older)
			rows := one.(reader)
			for _, p := range older {
				if err := rows.find(t.Context(), p.id); err != nil {
					t.Fatal(err)
				}
			}
			if rows.find(t.Context(), newMaker(seed+1, 0, accounts, false).uuid()) == nil {
				t.Error("find does not notice an unknown id")
			}
			n, err := rows.statement(t.Context(), 1)
			if err != nil || n != statementRows {
				t.Errorf("statement: %d rows, %v, want %d", n, err, statementRows)
			}
		})
	}
}

func TestARunPrintsEveryCaseAsTableOrJSON(t *testing.T) {
	args := []string{"-stores", "sqlite,pebble floor", "-callers", "1,2", "-rounds", "2",
		"-duration", "150ms", "-warmup", "0s", "-older", "50", "-accounts", "10",
		"-dir", t.TempDir()}
	var table, document, progress bytes.Buffer
	if code := run(t.Context(), args, &table, &progress); code != 0 {
		t.Fatalf("exit code %d: %s", code, progress.String())
	}
	for _, want := range []string{"payments/s", "to postgres", "pebble floor holds exactly"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	if code := run(t.Context(), append(args, "-json"), &document, &progress); code != 0 {
		t.Fatalf("exit code %d: %s", code, progress.String())
	}
	var got struct{ Rows []row }
	if err := json.Unmarshal(document.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	const cases = 2 * 2 * 2 // stores, accounts uniform and hot, numbers of callers
	if len(got.Rows) != cases {
		t.Fatalf("%d rows, want %d", len(got.Rows), cases)
	}
	for _, line := range got.Rows {
		if line.PerSecond <= 0 || line.Rounds != 2 || line.ToFloor <= 0 || line.ToPostgres != 0 {
			t.Errorf("implausible row: %+v", line)
		}
	}
}

func TestAnInterruptEndsTheRunAndLeavesNoFile(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	dir := t.TempDir()
	progress := interruptAfterWrite{interrupt: interrupt}
	code := run(ctx, []string{"-stores", "sqlite", "-callers", "2", "-duration", "50ms",
		"-warmup", "0s", "-older", "50", "-dir", dir}, &bytes.Buffer{}, &progress)
	if code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// interruptAfterWrite interrupts the run when it reports its first case.
type interruptAfterWrite struct{ interrupt func() }

func (w *interruptAfterWrite) Write(text []byte) (int, error) {
	w.interrupt()
	return len(text), nil
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"no number of callers": {"-callers", "1,many"},
		"zero callers":         {"-callers", "0"},
		"unknown store":        {"-stores", "oracle"},
		"one account":          {"-accounts", "1"},
		"no rounds":            {"-rounds", "0"},
		"stray argument":       {"now"},
	} {
		t.Run(name, func(t *testing.T) {
			var progress bytes.Buffer
			if code := run(t.Context(), args, &bytes.Buffer{}, &progress); code != exitUsage {
				t.Errorf("exit code %d, want %d: %s", code, exitUsage, progress.String())
			}
		})
	}
}

func TestRatiosAreMediansOverRounds(t *testing.T) {
	r := newReport(settings{callers: []int{1}})
	for round, rates := range [][2]float64{{100, 200}, {50, 400}, {100, 300}} {
		r.add(baseline, uniform, 1, round, sample{perSecond: rates[0]}, nil)
		r.add("sqlite", uniform, 1, round, sample{perSecond: rates[1]}, nil)
	}
	r.add(floor, uniform, 1, 0, sample{}, errors.New("disk full"))
	if !r.failed() {
		t.Error("a failed case does not fail the run")
	}
	rows := r.rows()
	if len(rows) != 3 || rows[1].Store != "sqlite" {
		t.Fatalf("rows: %+v", rows)
	}
	if got := rows[1]; got.PerSecond != 300 || got.ToPostgres != 3 || got.ToFloor != 0 {
		t.Errorf("%+v, want 300/s, 3 times postgres, no ratio to the failed floor", got)
	}
	var out bytes.Buffer
	r.missing = []missing{{baseline, postgresHint}}
	r.load = 1000
	if err := r.write(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"disk full", "apt-get install postgresql", "was busy"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

package singletable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// openFaulty returns a bank whose store misbehaves, and that never really sleeps.
func openFaulty(t *testing.T, retry st.Retry) (*bank, *st.Store, *faulty, *[]time.Duration) {
	t.Helper()
	b := newBank()
	_, db := openTables(t, b.table)
	f := &faulty{DB: db}
	var slept []time.Duration
	s := st.NewStore(f, st.Options{Retry: retry, Sleep: func(ctx context.Context,
		d time.Duration) error {
		slept = append(slept, d)
		return ctx.Err()
	}})
	return b, s, f, &slept
}

// firstCalls fails the first n calls of an operation.
func firstCalls(op string, n int, err error, after bool) func(string, int) (error, bool) {
	return func(o string, i int) (error, bool) {
		if o == op && i <= n {
			return err, after
		}
		return nil, false
	}
}

func TestThrottlesAndConflictsAreRetried(t *testing.T) {
	for name, err := range map[string]error{
		"throttle":    dynamo.ErrProvisionedThroughput,
		"conflict":    dynamo.ErrTransactionConflict,
		"rate":        dynamo.ErrThrottling,
		"transaction": dynamo.Canceled([]dynamo.CancellationReason{dynamo.Conflict()}),
	} {
		t.Run(name, func(t *testing.T) {
			b, s, f, slept := openFaulty(t, st.Retry{})
			op := "Put"
			if name == "transaction" {
				op = "TransactWrite"
			}
			f.fail = firstCalls(op, 3, err, false)
			tx := s.NewTx()
			b.accounts.CreateTx(tx, account("b", "1"))
			if err := b.accounts.Create(context.Background(), s, account("a", "1")); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(context.Background()); err != nil {
				t.Fatal(err)
			}
			if n := f.count(op); n != 4 {
				t.Errorf("%d calls, want 4", n)
			}
			if len(*slept) != 3 {
				t.Errorf("slept %v", *slept)
			}
		})
	}
}

func TestFailedConditionsAreNeverRetried(t *testing.T) {
	b, s, f, slept := openFaulty(t, st.Retry{})
	ctx := context.Background()
	if err := b.accounts.Create(ctx, s, account("a", "1")); err != nil {
		t.Fatal(err)
	}
	if err := b.accounts.Create(ctx, s, account("a", "1")); !errors.Is(err, st.ErrExists) {
		t.Error(err)
	}
	// A transaction that met a failed condition and a conflict at once is final, and only the
	// condition is told.
	f.fail = firstCalls("TransactWrite", 9, dynamo.Canceled([]dynamo.CancellationReason{
		dynamo.Conflict(), dynamo.ConditionFailed(nil)}), false)
	tx := s.NewTx()
	b.accounts.UpdateTx(tx, Account{ID: "a"}, b.balance.Add("1"))
	second := b.accounts.UpdateTx(tx, Account{ID: "x"}, b.balance.Add("1"))
	err := tx.Commit(ctx)
	fs := st.FailuresOf(err)
	if len(fs) != 1 || fs[0].Kind != st.FailedCondition || fs[0].Actions[0] != second ||
		!errors.Is(err, st.ErrMissing) {
		t.Errorf("%+v", fs)
	}
	if len(*slept) != 0 || f.count("TransactWrite") != 1 {
		t.Error("a failed condition was tried again")
	}
}

func TestRetriesEndWithTheBudgetOrTheContext(t *testing.T) {
	ctx := context.Background()
	b, s, f, slept := openFaulty(t, st.Retry{Attempts: 5, Base: 10 * time.Millisecond,
		Max: 20 * time.Millisecond})
	f.fail = firstCalls("TransactWrite", 1e9, dynamo.Canceled([]dynamo.CancellationReason{
		dynamo.Conflict()}), false)
	tx := s.NewTx()
	a := b.accounts.CreateTx(tx, account("a", "1"))
	err := tx.Commit(ctx)
	if !errors.Is(err, st.ErrBusy) || errors.Is(err, st.ErrConditionFailed) {
		t.Errorf("five conflicts say %v", err)
	}
	if fs := st.FailuresOf(err); len(fs) != 1 || fs[0].Kind != st.FailedConflict ||
		fs[0].Actions[0] != a {
		t.Errorf("%+v", st.FailuresOf(err))
	}
	if len(*slept) != 4 {
		t.Errorf("slept %d times", len(*slept))
	}
	for _, d := range *slept {
		if d > 20*time.Millisecond {
			t.Errorf("slept %s", d)
		}
	}
	b, s, f, _ = openFaulty(t, st.Retry{Budget: time.Minute, Max: 10 * time.Second})
	f.fail = firstCalls("Get", 1e9, dynamo.ErrThrottling, false)
	if _, _, err := b.accounts.Get(ctx, s, Account{ID: "a"}); !errors.Is(err, st.ErrBusy) {
		t.Errorf("the budget ends with %v", err)
	}
	b, s, f, _ = openFaulty(t, st.Retry{})
	short, cancel := context.WithCancel(ctx)
	f.fail = func(op string, n int) (error, bool) {
		if n == 3 {
			cancel()
		}
		return dynamo.ErrThrottling, false
	}
	if _, _, err := b.accounts.Get(short, s, Account{ID: "a"}); !errors.Is(err, context.Canceled) ||
		!errors.Is(err, st.ErrBusy) {
		t.Errorf("a cancelled context ends with %v", err)
	}
}

func TestUnknownOutcomesAreRepeatedOnlyWhereThatIsSafe(t *testing.T) {
	ctx := context.Background()
	broken := func(op string) func(string, int) (error, bool) {
		return firstCalls(op, 1, dynamo.ErrInternalServerError, true)
	}
	t.Run("an addition is not", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		if err := b.accounts.Put(ctx, s, account("a", "1")); err != nil {
			t.Fatal(err)
		}
		f.fail = broken("Update")
		_, err := b.accounts.Update(ctx, s, Account{ID: "a"}, b.balance.Add("5"))
		if !errors.Is(err, st.ErrUnknown) {
			t.Fatal(err)
		}
		if v, _, _ := b.accounts.Get(ctx, s, Account{ID: "a"}); v.Balance != "6" {
			t.Errorf("the balance is %s", v.Balance)
		}
	})
	t.Run("a put without conditions is", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		f.fail = broken("Put")
		if err := b.accounts.Put(ctx, s, account("a", "1")); err != nil || f.count("Put") != 2 {
			t.Fatal(err, f.count("Put"))
		}
	})
	t.Run("a transaction is unless it goes without a token", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		if err := b.accounts.Put(ctx, s, account("a", "1")); err != nil {
			t.Fatal(err)
		}
		f.fail = broken("TransactWrite")
		for _, token := range []string{"once", "made up", ""} {
			tx := s.NewTx()
			switch token {
			case "once":
				tx.SetToken(token)
			case "":
				tx.WithoutToken()
			}
			b.accounts.UpdateTx(tx, Account{ID: "a"}, b.balance.Add("5"))
			err := tx.Commit(ctx)
			if token != "" && err != nil || token == "" && !errors.Is(err, st.ErrUnknown) {
				t.Fatalf("token %q: %v", token, err)
			}
			f.calls["TransactWrite"] = 0
		}
		if v, _, _ := b.accounts.Get(ctx, s, Account{ID: "a"}); v.Balance != "16" {
			t.Errorf("the balance is %s", v.Balance)
		}
	})
}

func TestBatchesGoOnWithWhatWasLeftUnprocessed(t *testing.T) {
	ctx := context.Background()
	b, s, f, _ := openFaulty(t, st.Retry{})
	f.keep = 7
	var in []Account
	for i := range 230 {
		in = append(in, account(fmt.Sprintf("a%03d", i), fmt.Sprint(i)))
	}
	if err := b.accounts.PutAll(ctx, s, in); err != nil {
		t.Fatal(err)
	}
	in = append(in, account("nobody", "1"), in[5])
	got, err := b.accounts.GetMany(ctx, s, in, st.Consistent())
	if err != nil || len(got) != len(in) {
		t.Fatal(len(got), err)
	}
	for i, v := range got {
		switch {
		case in[i].ID == "nobody":
			if v != nil {
				t.Error("nobody is there")
			}
		case v == nil || v.Balance != in[i].Balance:
			t.Fatalf("account %d is %v", i, v)
		}
	}
	if err := b.accounts.DeleteAll(ctx, s, in); err != nil {
		t.Fatal(err)
	}
	f.fail = func(op string, n int) (error, bool) { return nil, false }
	if got, _ := b.accounts.GetMany(ctx, s, in[:3], st.Consistent()); got[0] != nil ||
		got[2] != nil {
		t.Error("deleted accounts are still there")
	}
}

func TestContextThatEndsInAWriteLeavesTheOutcomeUnknown(t *testing.T) {
	b, s, f, _ := openFaulty(t, st.Retry{})
	ctx, cancel := context.WithCancel(context.Background())
	f.fail = func(op string, n int) (error, bool) {
		cancel()
		return context.Canceled, true
	}
	err := b.accounts.Create(ctx, s, account("a", "1"))
	if !errors.Is(err, st.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !strings.Contains(err.Error(), "create Account") {
		t.Errorf("the error does not say what was tried: %v", err)
	}
}

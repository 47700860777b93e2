package singletable_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	st "github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestARepeatWithAForgottenTokenIsNoRefusal loses the answer of a transaction, and lets the clock
// jump before, while or after it is repeated.
func TestARepeatWithAForgottenTokenIsNoRefusal(t *testing.T) {
	if storetest.Remote() {
		t.Skip("the clock of another store cannot be set")
	}
	lost := dynamo.ErrInternalServerError
	for name, c := range map[string]struct {
		wait, call time.Duration // The jump between the attempts, and in the second one.
		token      string
		unknown    bool
	}{
		"no jump":                        {0, 0, "", false},
		"a short one":                    {8 * time.Minute, 0, "", false},
		"a long one":                     {11 * time.Minute, 0, "", true},
		"a long one, the caller's token": {11 * time.Minute, 0, "once", true},
		"one back":                       {-11 * time.Minute, 0, "", false},
		"one while the repeat is sent":   {0, 11 * time.Minute, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			clock := func() time.Time { return now }
			b := newBank()
			db, err := storetest.Open(t.Context(), engine.Options{
				SweepInterval: -1, MemTableSize: 1 << 20, Now: clock,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			f := &faulty{DB: db}
			s := st.NewStore(f, st.Options{Now: clock, Sleep: func(context.Context,
				time.Duration) error {
				now = now.Add(c.wait)
				return nil
			}})
			if err := b.table.Ensure(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			f.fail = func(op string, n int) (error, bool) {
				switch {
				case op != "TransactWrite":
				case n == 1:
					return lost, true
				case n == 2:
					now = now.Add(c.call)
				}
				return nil, false
			}
			tx := s.NewTx()
			if c.token != "" {
				tx.SetToken(c.token)
			}
			b.accounts.CreateTx(tx, account("a", "1"))
			err = tx.Commit(t.Context())
			if c.unknown && (!errors.Is(err, st.ErrUnknown) || errors.Is(err, st.ErrExists) ||
				errors.Is(err, st.ErrConditionFailed)) || !c.unknown && err != nil {
				t.Errorf("commit: %v", err)
			}
			if v, found, err := b.accounts.Get(t.Context(), s, Account{ID: "a"}); err != nil ||
				!found || v.Balance != "1" {
				t.Errorf("stored is %+v, %v", v, err)
			}
		})
	}
}

// TestALateCommitIsNotSent commits again, long after the answer of the first commit was lost.
func TestALateCommitIsNotSent(t *testing.T) {
	b, _, f, _ := openFaulty(t, st.Retry{})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := st.NewStore(f, st.Options{Retry: st.Retry{Attempts: 1},
		Now: func() time.Time { return now }})
	if err := b.accounts.Put(t.Context(), s, account("a", "1")); err != nil {
		t.Fatal(err)
	}
	f.fail = firstCalls("TransactWrite", 1, dynamo.ErrInternalServerError, true)
	tx := s.NewTx()
	tx.SetToken("late")
	b.accounts.UpdateTx(tx, Account{ID: "a"}, b.balance.Add("5"))
	for range 2 {
		if err := tx.Commit(t.Context()); !errors.Is(err, st.ErrUnknown) {
			t.Fatal(err)
		}
		now = now.Add(11 * time.Minute)
	}
	if n := f.count("TransactWrite"); n != 1 {
		t.Errorf("%d requests", n)
	}
	if v, _, err := b.accounts.Get(t.Context(), s, Account{ID: "a"}); err != nil ||
		v.Balance != "6" {
		t.Errorf("the balance is %s, %v", v.Balance, err)
	}
}

package singletable_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

// causes are the four reasons for which the kit gives a call up.
var causes = []error{st.ErrUnreachable, st.ErrThrottled, st.ErrContended, context.DeadlineExceeded}

func TestFourCausesAreFourErrors(t *testing.T) {
	unsent := &dynamo.Error{Code: dynamo.CodeServiceUnavailable, Unsent: true}
	for _, c := range []struct {
		name  string
		cause error
		want  error
		busy  bool
	}{
		{"a refused connection", unsent, st.ErrUnreachable, false},
		{"the store's own failure", dynamo.ErrInternalServerError, st.ErrUnreachable, false},
		{"a table's rate", dynamo.ErrProvisionedThroughput, st.ErrThrottled, true},
		{"the account's rate", dynamo.ErrThrottling, st.ErrThrottled, true},
		{"a conflict", dynamo.ErrTransactionConflict, st.ErrContended, true},
		{"no time", context.DeadlineExceeded, context.DeadlineExceeded, false},
	} {
		for _, op := range []string{"Get", "Put"} {
			t.Run(c.name+" at "+op, func(t *testing.T) {
				b, s, f, _ := openFaulty(t, st.Retry{Budget: time.Minute})
				f.fail = firstCalls(op, 1e9, c.cause, false)
				var err error
				if op == "Get" {
					_, _, err = b.accounts.Get(context.Background(), s, Account{ID: "a"})
				} else {
					err = b.accounts.Put(context.Background(), s, account("a", "1"))
				}
				for _, other := range causes {
					if errors.Is(err, other) != (other == c.want) {
						t.Errorf("matches %v: %t; %v", other, errors.Is(err, other), err)
					}
				}
				if errors.Is(err, st.ErrBusy) != c.busy {
					t.Errorf("is busy: %t; %v", !c.busy, err)
				}
			})
		}
	}
}

func TestAContendedWriteNamesItsItem(t *testing.T) {
	b, s, f, _ := openFaulty(t, st.Retry{Attempts: 3})
	ctx := context.Background()
	f.fail = func(op string, _ int) (error, bool) {
		if op == "TransactWrite" {
			return dynamo.Canceled([]dynamo.CancellationReason{{}, dynamo.Conflict()}), false
		}
		return dynamo.ErrTransactionConflict, false
	}
	tx := s.NewTx()
	b.accounts.PutTx(tx, account("a", "1"))
	b.accounts.PutTx(tx, account("b", "1"))
	for name, err := range map[string]error{
		"transaction": tx.Commit(ctx), "write": b.accounts.Put(ctx, s, account("b", "1")),
	} {
		failures := st.FailuresOf(err)
		if !errors.Is(err, st.ErrContended) || len(failures) != 1 ||
			failures[0].Kind != st.FailedConflict ||
			!strings.Contains(dynamo.Item(failures[0].Key).String(), "b") {
			t.Errorf("%s: %v names %+v", name, err, failures)
		}
	}
}

// The time of a caller may end in the last attempt. What was in the way before is named all the
// same.
func TestAContendedWriteWhoseTimeEndsNamesItsItem(t *testing.T) {
	b, s, f, _ := openFaulty(t, st.Retry{Attempts: 9})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f.fail = func(_ string, n int) (error, bool) {
		if n < 3 {
			return dynamo.ErrTransactionConflict, false
		}
		cancel()
		return ctx.Err(), false
	}
	err := b.accounts.Put(ctx, s, account("b", "1"))
	if failures := st.FailuresOf(err); !errors.Is(err, st.ErrContended) ||
		!errors.Is(err, st.ErrUnknown) || len(failures) != 1 ||
		failures[0].Kind != st.FailedConflict {
		t.Errorf("%v names %+v", err, failures)
	}
}

func TestAnOutageEndsBeforeTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	b, s, f, slept := openFaulty(t, st.Retry{})
	f.fail = firstCalls("Get", 1e9, dynamo.ErrInternalServerError, false)
	_, _, err := b.accounts.Get(ctx, s, Account{ID: "a"})
	var total time.Duration
	for _, d := range *slept {
		total += d
	}
	if !errors.Is(err, st.ErrUnreachable) || total > 5*time.Second {
		t.Errorf("gave up after %s: %v", total, err)
	}
	// A store that answers in between is not away.
	b, s, f, _ = openFaulty(t, st.Retry{Budget: time.Hour, Outage: 2 * time.Second})
	f.fail = func(_ string, n int) (error, bool) {
		switch {
		case n == 100:
			return nil, false
		case n%2 == 0:
			return dynamo.ErrThrottling, false
		}
		return dynamo.ErrInternalServerError, false
	}
	if _, _, err := b.accounts.Get(ctx, s, Account{ID: "a"}); err != nil {
		t.Errorf("a store that answers now and then ends with %v", err)
	}
}

// The time of a caller that was throttled may end in the middle of a call.
func TestTimeThatThrottlesUsedUpIsThrottled(t *testing.T) {
	for _, op := range []string{"Get", "Put"} {
		b, s, f, _ := openFaulty(t, st.Retry{})
		ctx, cancel := context.WithCancel(context.Background())
		f.fail = func(_ string, n int) (error, bool) {
			if n < 3 {
				return dynamo.ErrThrottling, false
			}
			cancel()
			return context.Canceled, false
		}
		var err error
		if op == "Get" {
			_, _, err = b.accounts.Get(ctx, s, Account{ID: "a"})
		} else {
			err = b.accounts.Put(ctx, s, account("a", "1"))
		}
		if !errors.Is(err, st.ErrThrottled) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", op, err)
		}
		if errors.Is(err, st.ErrUnknown) != (op == "Put") {
			t.Errorf("%s: whether it happened is not as it should be: %v", op, err)
		}
	}
}

func TestALostAnswerToAPutIsFoundAgain(t *testing.T) {
	ctx := context.Background()
	lost := dynamo.ErrInternalServerError
	t.Run("it was written", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		f.fail = firstCalls("Put", 1, lost, true)
		if err := b.accounts.Create(ctx, s, account("a", "1")); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("it was not", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		f.fail = firstCalls("Put", 1, lost, false)
		if err := b.accounts.Create(ctx, s, account("a", "1")); err != nil {
			t.Fatal(err)
		}
		if v, found, err := b.accounts.Get(ctx, s, Account{ID: "a"}); !found ||
			v.Balance != "1" {
			t.Fatal(v, found, err)
		}
	})
	t.Run("another item is there, and was before", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		if err := b.accounts.Create(ctx, s, account("a", "2")); err != nil {
			t.Fatal(err)
		}
		f.fail = firstCalls("Put", 2, lost, false)
		err := b.accounts.Create(ctx, s, account("a", "1"))
		if !errors.Is(err, st.ErrUnknown) || errors.Is(err, st.ErrExists) {
			t.Fatal(err)
		}
	})
	t.Run("the store went away", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		f.fail = func(_ string, n int) (error, bool) { return lost, n == 1 }
		err := b.accounts.Create(ctx, s, account("a", "1"))
		if !errors.Is(err, st.ErrUnknown) || !errors.Is(err, st.ErrUnreachable) ||
			errors.Is(err, st.ErrBusy) {
			t.Fatal(err)
		}
	})
	t.Run("it was never sent", func(t *testing.T) {
		b, s, f, _ := openFaulty(t, st.Retry{})
		f.fail = firstCalls("Put", 1e9,
			&dynamo.Error{Code: dynamo.CodeServiceUnavailable, Unsent: true}, false)
		err := b.accounts.Create(ctx, s, account("a", "1"))
		if errors.Is(err, st.ErrUnknown) || !errors.Is(err, st.ErrUnreachable) {
			t.Fatal(err)
		}
	})
}

package payments_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// isCopied tells whether a call notes that a day's payments are in the history, so that they can be
// removed: what comes to its end from then on was not copied.
func isCopied(op string, in any) bool {
	put, ok := in.(*dynamo.PutInput)
	return ok && op == "Put" && put.Item["Phase"].S() == "removing"
}

// A payment comes to its end while its day is moved, too late to be copied with the others.
func TestADayIsMovedWithWhatEndsMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		count, end int
		fate       func(b *bank, id payments.PaymentID) error
		moved      bool
	}{
		"the last one is paid": {1, 1, pay, true},
		"the last one is cancelled": {1, 1, func(b *bank, id payments.PaymentID) error {
			_, err := b.Cancel(context.Background(), id, 0)
			return err
		}, true},
		"the last ones are paid": {3, 3, pay, true},
		"others wait":            {3, 1, pay, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := openRich(t)
			ids := endedDay(b, 10)
			for i := range test.count {
				ids = append(ids, b.schedule(order(fmt.Sprint("late ", i), "1")).ID)
			}
			late := ids[10:]
			var once sync.Once
			b.faces.on(func(op string, in any) error {
				if isCopied(op, in) {
					once.Do(func() {
						for _, id := range late[:test.end] {
							if err := test.fate(b, id); err != nil {
								t.Error(err)
							}
						}
					})
				}
				return nil
			}, nil)
			day := b.moveDay("2019-09-25")
			b.faces.on(nil, nil)
			if waiting := test.count - test.end; day.Moved != test.moved || day.Waiting != waiting {
				t.Errorf("move: %+v", day)
			}
			if !day.Moved {
				b.run()
				day = b.moveDay("2019-09-25")
			}
			there := 0
			for _, total := range day.Totals {
				there += total.Count
			}
			if !day.Moved || there != len(ids) {
				t.Errorf("in the end: %+v, want %d payments", day, len(ids))
			}
			if left := b.items("PaymentScheduler", "Payment"); left != 0 {
				t.Errorf("%d payments are left in the scheduler's table", left)
			}
			b.wantAll(ids)
		})
	}
}

func pay(b *bank, id payments.PaymentID) error {
	_, outcome, err := b.Pay(context.Background(), id)
	if err == nil && outcome != payments.Paid {
		err = fmt.Errorf("payment %s is %s", id, outcome)
	}
	return err
}

// putsInto tells whether a call puts an item into a table, alone or with others.
func putsInto(table string, in any) bool {
	switch in := in.(type) {
	case *dynamo.PutInput:
		return in.TableName == table
	case *dynamo.TransactWriteInput:
		for _, item := range in.Items {
			if item.Put != nil && item.Put.TableName == table {
				return true
			}
		}
	}
	return false
}

// A failed payment is replayed between the move's look at it and its copy, and then put off. The
// history has it once in the end, as it ended.
func TestAReplayOvertakesTheCopy(t *testing.T) {
	tomorrow := start.AddDate(0, 0, 1)
	putOff := func(b *bank, id payments.PaymentID) error {
		_, err := b.Change(context.Background(), id, payments.Change{At: &tomorrow})
		return err
	}
	for name, test := range map[string]struct {
		before, after func(b *bank, id payments.PaymentID) error
	}{
		"and is left where it is": {},
		"and is put off before":   {before: putOff},
		"and is put off after it": {after: putOff},
	} {
		t.Run(name, func(t *testing.T) {
			b := openRich(t)
			n := order("k", "5")
			n.PayeeID = "carol"
			b.account("carol", "")
			id := b.schedule(n).ID
			b.vanish("carol")
			if r := b.run(); r.Failed != 1 {
				t.Fatalf("run: %+v", r)
			}
			b.account("carol", "")
			b.clock.Move(23 * time.Hour)
			var once sync.Once
			b.faces.on(func(_ string, in any) error {
				if putsInto("TransactionHistory", in) {
					once.Do(func() {
						_, err := b.Replay(context.Background(), id)
						if err == nil && test.before != nil {
							err = test.before(b, id)
						}
						if err != nil {
							t.Error(err)
						}
					})
				}
				return nil
			}, nil)
			if day := b.moveDay("2019-09-25"); day.Removed != 0 {
				t.Errorf("move: %+v", day)
			}
			b.faces.on(nil, nil)
			if there := b.items("TransactionHistory", "Payment"); there != 0 {
				t.Errorf("the history has %d payments while it is to be paid", there)
			}
			if test.after != nil {
				if err := test.after(b, id); err != nil {
					t.Error(err)
				}
			}
			b.clock.Move(48 * time.Hour)
			if r := b.run(); r.Paid != 1 {
				t.Errorf("run: %+v", r)
			}
			for _, day := range []string{"2019-09-25", "2019-09-26"} {
				if moved := b.moveDay(day); !moved.Moved {
					t.Errorf("move: %+v", moved)
				}
			}
			if there := b.items("TransactionHistory", "Payment"); there != 1 {
				t.Errorf("the history has %d payments", there)
			}
			if p := b.payment(id); p.Status != payments.Processed {
				t.Errorf("payment %+v", p)
			}
			b.wantAll([]payments.PaymentID{id})
		})
	}
}

// The copy of a failed payment is a transaction with its identity, which doubles the 8 units of the
// item; the identity's 2 are the other table's. It has no entry by transaction.
func TestWhatAMoveTakes(t *testing.T) {
	if storetest.Remote() {
		t.Skip("the figures are those of the embedded database")
	}
	for payee, want := range map[ledger.AccountID]float64{"bob": 11, "nobody": 18} {
		b := openRich(t)
		n := order("k", "5")
		n.PayeeID, n.Data = payee, make([]byte, payments.DataMax)
		if payee == "nobody" {
			b.account(payee, "")
		}
		b.schedule(n)
		if payee == "nobody" {
			b.vanish(payee)
		}
		b.run()
		b.clock.Move(24 * time.Hour)
		ctx, meter := singletable.WithMeter(t.Context())
		if day, err := b.MoveDay(ctx, "2019-09-25", time.UTC, nil); err != nil || !day.Moved {
			t.Fatalf("move: %+v, %v", day, err)
		}
		got := 0.0
		for place, used := range meter.ByTable() {
			if strings.HasPrefix(place, payments.HistoryTableNameDefault) {
				got += used.Write
			}
		}
		if got != want {
			t.Errorf("to %s: the history takes %g units, want %g", payee, got, want)
		}
	}
}

// A payment that comes back to a day that was moved brings the day back, until it is moved again.
func TestADayToWhichPaymentsComeBack(t *testing.T) {
	late := start.Add(time.Hour)
	for name, back := range map[string]func(b *bank, ids []payments.PaymentID) error{
		"by a replay": func(b *bank, ids []payments.PaymentID) error {
			_, err := b.Replay(b.t.Context(), ids[4])
			return err
		},
		"scheduled late": func(b *bank, _ []payments.PaymentID) error {
			_, err := b.Schedule(b.t.Context(), order("late", "1"))
			return err
		},
		"by a change of time": func(b *bank, _ []payments.PaymentID) error {
			n := order("put off", "1")
			n.At = start.AddDate(1, 0, 0)
			p := b.schedule(n)
			_, err := b.Change(b.t.Context(), p.ID, payments.Change{At: &late})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openRich(t)
			ids := endedDay(b, 5)
			want := func(when string, moved bool, waiting int) {
				t.Helper()
				day, begun, err := b.MovedDay(t.Context(), "2019-09-25", time.UTC)
				if err != nil || !begun || day.Moved != moved || day.Waiting != waiting {
					t.Errorf("%s: %+v, %t, %v", when, day, begun, err)
				}
			}
			b.moveDay("2019-09-25")
			want("moved", true, 0)
			if err := back(b, ids); err != nil {
				t.Fatal(err)
			}
			want("when it waits", false, 1)
			b.run()
			want("at its end", false, 0)
			b.moveDay("2019-09-25")
			want("moved again", true, 0)
		})
	}
}

package payments_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/payments"
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

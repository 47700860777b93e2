package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// overtaken lets another worker settle a payment while this one is about to write the end of its
// own attempt, long after its claim has run out. Deposit is what alice gets just before.
func (b *bank) overtaken(p payments.Payment, deposit string) {
	b.t.Helper()
	other := b.anotherProcess(b.t.(*testing.T))
	var done atomic.Bool
	b.faces.on(func(op string, in any) error {
		u, update := in.(*dynamo.UpdateInput)
		ends := op == "TransactWrite" || update && u.TableName == payments.TableNameDefault
		if !ends || b.payment(p.ID).Status != payments.Pending ||
			!done.CompareAndSwap(false, true) {
			return nil
		}
		b.clock.Move(payments.LeaseDefault)
		if deposit != "" {
			into := ledger.DepositInto("alice", money.MustParse(deposit, "NZD"))
			into.IdempotencyKey = "in the meantime"
			if _, err := b.books.Post(b.t.Context(), into); err != nil {
				b.t.Error(err)
			}
		}
		_, outcome, err := other.Pay(b.t.Context(), p.ID)
		if err != nil || outcome != payments.Paid {
			b.t.Errorf("the other worker: %s, %v", outcome, err)
		}
		return nil
	}, nil)
}

// A claim that was lost to another worker answers what that worker did, for an attempt that would
// have paid and for one that was refused, and changes nothing any more.
func TestALostClaimAnswersWhatTheOtherWorkerDid(t *testing.T) {
	for name, test := range map[string]struct{ balance, deposit string }{
		"about to pay":      {"100", ""},
		"about to postpone": {"", "100"},
	} {
		for _, byRun := range []bool{false, true} {
			if byRun {
				name += ", by a run"
			}
			t.Run(name, func(t *testing.T) {
				b := openBank(t, payments.Options{})
				b.account("alice", test.balance)
				b.account("bob", "")
				p := b.schedule(order("k", "5"))
				b.overtaken(p, test.deposit)
				if byRun {
					r, err := b.Run(t.Context(), payments.RunOptions{})
					if err != nil || r.Elsewhere != 1 || r.Paid+r.Postponed+r.Failed != 0 {
						t.Errorf("the run: %+v, %v", r, err)
					}
				} else {
					got, outcome, err := b.Pay(t.Context(), p.ID)
					if err != nil || outcome != payments.PaidBefore ||
						got.Status != payments.Processed {
						t.Errorf("got %s, %+v, %v", outcome, got, err)
					}
				}
				b.faces.on(nil, nil)
				got := b.payment(p.ID)
				if got.Status != payments.Processed || got.Attempts != 2 || got.Reason != "" ||
					got.TransactionID == "" {
					t.Errorf("payment %+v", got)
				}
				if got := b.balance("bob"); got != "5.00" {
					t.Errorf("bob has %s, want 5.00", got)
				}
				b.clock.Move(24 * time.Hour)
				if r := b.run(); r.Paid != 0 {
					t.Errorf("a later run: %+v", r)
				}
			})
		}
	}
}

// A payment that cannot be read is left where it is by a move, which names it and is not done. The
// others are moved, and it is once it was corrected.
func TestAMoveNamesWhatItCannotRead(t *testing.T) {
	for name, c := range map[string]struct {
		table string
		spoil func(dynamo.Item)
	}{
		"an amount that is none": {payments.TableNameDefault,
			func(i dynamo.Item) { i["Amount"] = dynamo.S("much") }},
		"no currency": {payments.HistoryTableNameDefault,
			func(i dynamo.Item) { delete(i, "Currency") }},
	} {
		table, spoil := c.table, c.spoil
		t.Run(name+" in "+table, func(t *testing.T) {
			b := openRich(t)
			var ids []payments.PaymentID
			for _, key := range []string{"a", "b", "c"} {
				ids = append(ids, b.schedule(order(key, "5")).ID)
			}
			if r := b.run(); r.Paid != 3 {
				t.Fatalf("run: %+v", r)
			}
			b.clock.Move(24 * time.Hour)
			b.catchUp()
			if table == payments.HistoryTableNameDefault {
				b.moveDay("2019-09-25")
			}
			var sound, spoilt dynamo.Item
			for _, item := range storetest.Items(t, b.db, table) {
				if item["Type"].S() == "Payment" && sound == nil {
					sound, spoilt = item, item.Clone()
					spoil(spoilt)
				}
			}
			b.putItem(table, spoilt)
			b.catchUp()
			day, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil)
			if err != nil || day.Moved || day.Unreadable.Len() == 0 {
				t.Errorf("the move: %+v, %v", day, err)
			}
			if table == payments.TableNameDefault && (day.Removed != 2 ||
				b.items(table, "Payment") != 1) {
				t.Errorf("%d were moved, want 2", day.Removed)
			}
			b.putItem(table, sound)
			b.catchUp()
			if day = b.moveDay("2019-09-25"); !day.Moved || day.Unreadable.Len() != 0 {
				t.Errorf("when it was corrected: %+v", day)
			}
			for _, id := range ids {
				if p := b.payment(id); p.Status != payments.Processed {
					t.Errorf("payment %+v", p)
				}
			}
			if n := b.items(payments.HistoryTableNameDefault, "Payment"); n != 3 {
				t.Errorf("%d payments are in the history, want 3", n)
			}
		})
	}
}

// putItem writes an item as another program does.
func (b *bank) putItem(table string, item dynamo.Item) {
	b.t.Helper()
	err := storetest.Retry(func() error {
		_, err := b.db.Put(b.t.Context(), &dynamo.PutInput{TableName: table, Item: item})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

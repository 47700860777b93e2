package payments_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// lose does the next write of a kind and then answers that the store failed.
func (b *bank) lose(op string) {
	lost := false
	b.faces.serial()
	b.faces.on(nil, func(done string, _ any) error {
		if lost || done != op {
			return nil
		}
		lost = true
		return &dynamo.Error{Code: dynamo.CodeInternalServerError, Message: "gone"}
	})
}

func TestAPaymentWhoseAnswerIsLostIsReportedAsPaid(t *testing.T) {
	b := openRich(t)
	p := b.schedule(order("k", "5"))
	b.lose("TransactWrite")
	if r := b.run(); r.Paid != 1 || r.Elsewhere != 0 {
		t.Errorf("report %+v", r)
	}
	if got := b.payment(p.ID); got.Status != payments.Processed {
		t.Errorf("payment %+v", got)
	}
	b.wantBalances(map[ledger.AccountID]string{"bob": "5.00"})
}

// A claim whose answer was lost is found in the store, and the payment is paid.
func TestAClaimWhoseAnswerIsLostIsTheRunsOwn(t *testing.T) {
	b := openRich(t)
	for i := range 3 {
		b.schedule(order(fmt.Sprint(i), "5"))
	}
	b.lose("Update")
	if r := b.run(); r.Paid != 3 || r.Elsewhere != 0 {
		t.Errorf("report %+v", r)
	}
	b.wantBalances(map[ledger.AccountID]string{"bob": "15.00"})
}

// A claim without an answer that is not in the store may come into it later. The run goes on, and
// the claim runs out like that of a worker that is gone.
func TestAClaimThatIsNotInTheStoreIsLeft(t *testing.T) {
	b := openRich(t)
	p := b.schedule(order("k", "5"))
	b.faces.on(func(op string, in any) error {
		if u, ok := in.(*dynamo.UpdateInput); ok && u.TableName == payments.TableNameDefault {
			return &dynamo.Error{Code: dynamo.CodeInternalServerError, Message: "gone"}
		}
		return nil
	}, nil)
	if r := b.run(); r.Paid != 0 || r.Elsewhere != 1 {
		t.Errorf("report %+v", r)
	}
	b.faces.on(nil, nil)
	if r := b.run(); r.Paid != 1 || b.payment(p.ID).Attempts != 1 {
		t.Errorf("report %+v", r)
	}
	b.wantBalances(map[ledger.AccountID]string{"bob": "5.00"})
}

// Lists have what their projection promises, wherever the payments are.
func TestListsOfFinalPaymentsAreTheSameUnderEveryProjection(t *testing.T) {
	for _, projection := range []payments.Projection{
		payments.ProjectNarrow, payments.ProjectAll, payments.ProjectKeys,
	} {
		t.Run(string(projection), func(t *testing.T) {
			b := openBank(t, payments.Options{
				Projection: projection, Retry: payments.Retry{Attempts: 1},
			})
			b.account("alice", "10")
			b.account("bob", "")
			b.schedule(order("paid", "7"))
			b.run()
			b.schedule(order("refused", "8"))
			b.run()
			gone := b.schedule(order("cancelled", "9"))
			if _, err := b.Cancel(t.Context(), gone.ID, 0); err != nil {
				t.Fatal(err)
			}
			check := func(when string) {
				for status, want := range map[payments.Status]string{
					payments.Processed: "7.00 NZD ", payments.Cancelled: "9.00 NZD ",
					payments.Failed: "8.00 NZD insufficient_funds",
				} {
					page, err := b.PaymentsByStatus(t.Context(), status, payments.Range{},
						payments.PageQuery{})
					if err != nil || len(page.Items) != 1 {
						t.Fatalf("%s, %s: %+v, %v", when, status, page.Items, err)
					}
					p := page.Items[0]
					got := fmt.Sprint(p.Amount, " ", p.Reason)
					if got != want || p.Status != status || p.Version == 0 {
						t.Errorf("%s, %s: %q of %+v", when, status, got, p)
					}
				}
			}
			check("on the day")
			b.clock.Move(24 * time.Hour)
			if day := b.moveDay("2019-09-25"); !day.Moved {
				t.Fatalf("move %+v", day)
			}
			check("in the history")
		})
	}
}

// What waits for its next attempt is known to wait, whatever the index holds.
func TestWhatWaitsIsNotClaimedInVain(t *testing.T) {
	for _, projection := range []payments.Projection{
		payments.ProjectNarrow, payments.ProjectAll, payments.ProjectKeys,
	} {
		b := openBank(t, payments.Options{Projection: projection})
		b.account("alice", "")
		b.account("bob", "")
		b.schedule(order("k", "5"))
		if r := b.run(); r.Postponed != 1 {
			t.Fatalf("%s: %+v", projection, r)
		}
		b.clock.Move(time.Second)
		if r := b.run(); r.Waiting != 1 || r.Elsewhere != 0 {
			t.Errorf("%s, while it waits: %+v", projection, r)
		}
	}
}

func TestRangesEndWhereNoPaymentCanBe(t *testing.T) {
	b := openRich(t)
	r, err := payments.Days("9999-12-31", 1, time.FixedZone("west", -3600))
	if err != nil || r.To != nil {
		t.Fatalf("range %v, %v", r, err)
	}
	if _, err := b.PaymentsOfAccount(t.Context(), "alice", r, payments.PageQuery{}); err != nil {
		t.Error(err)
	}
}

package payments_test

import (
	"errors"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

func TestModelHasNoFaults(t *testing.T) {
	b := openBank(t, payments.Options{})
	report := b.Model().Check()
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	for _, problem := range report.Warnings {
		t.Log(problem)
	}
}

func TestAPaymentIsPaidOnce(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "100")
	b.account("bob", "")
	p := b.schedule(order("k", "30"))
	if got := b.run(); got.Paid != 1 {
		t.Fatalf("report %+v", got)
	}
	got := b.payment(p.ID)
	if got.Status != payments.Processed || got.TransactionID == "" || got.Attempt != "" {
		t.Errorf("payment %+v", got)
	}
	b.wantBalances(map[ledger.AccountID]string{"alice": "70.00", "bob": "30.00"})
	if again := b.run(); again.Paid+again.Elsewhere != 0 {
		t.Errorf("second run %+v", again)
	}
	found, err := b.PaymentByTransaction(t.Context(), got.TransactionID)
	if err != nil || found.ID != p.ID {
		t.Errorf("by transaction: %+v, %v", found, err)
	}
	b.clock.move(24 * time.Hour)
	day, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil)
	if err != nil || !day.Moved || day.Copied != 1 || day.Removed != 1 {
		t.Errorf("move: %+v, %v", day, err)
	}
	if moved := b.payment(p.ID); moved.Status != payments.Processed {
		t.Errorf("moved payment %+v", moved)
	}
	r, err := b.Schedule(t.Context(), order("k", "30"))
	if err != nil || !r.Replayed || r.Status != payments.Processed {
		t.Errorf("repeat: %+v, %v", r, err)
	}
	_, err = b.Schedule(t.Context(), order("k", "31"))
	if !errors.Is(err, payments.ErrKeyConflict) {
		t.Errorf("clash: %v", err)
	}
}

package ledger_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// The first instant of the year 1 is the zero time, and a bound like every other one.
func TestTheZeroTimeIsABound(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("100"))
	s, err := b.Statement(t.Context(), ledger.StatementQuery{
		AccountID: "alice", From: "0001-01-01", To: "2026-12-31",
	})
	if err != nil || !s.Opening.IsZero() || s.Closing != usd("100") || len(s.Legs) != 1 {
		t.Errorf("opening %s, closing %s, %d legs, %v", s.Opening, s.Closing, len(s.Legs), err)
	}
	zero := time.Time{}
	legs, err := b.LegsOfAccount(t.Context(), ledger.LegsQuery{AccountID: "alice", To: &zero})
	if err != nil || len(legs.Items) != 0 {
		t.Errorf("%d legs before the year 1, %v", len(legs.Items), err)
	}
	legs, err = b.LegsOfAccount(t.Context(), ledger.LegsQuery{AccountID: "alice", From: &zero})
	if err != nil || len(legs.Items) != 1 {
		t.Errorf("%d legs from the year 1 on, %v", len(legs.Items), err)
	}
	page, err := b.TransactionsByStatus(t.Context(), ledger.StatusQuery{
		Status: ledger.Completed, To: &zero,
	})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d transactions before the year 1, %v", len(page.Items), err)
	}
}

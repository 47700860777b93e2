package server_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// A posting of a clock that was ahead closes its accounts until the dates are repaired. The problem
// names the repair.
func TestDatesAreRepairedOverTheAPI(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	now := w.clock.Now()
	for _, id := range [...]client.AccountID{"a", "b"} {
		must[client.AccountReceipt](t)(w.OpenAccount(ctx, client.NewAccount{ID: id, UserID: "u",
			AccountType: "checking", Currency: "USD"}))
	}
	post := func(to client.AccountID, key string) (client.Receipt, error) {
		return w.Post(ctx, client.Posting{IdempotencyKey: key, Type: "deposit",
			Legs: []client.PostingLeg{
				{AccountID: "@deposits", Type: client.Debit, Amount: usd("5")},
				{AccountID: to, Type: client.Credit, Amount: usd("5")},
			}})
	}
	must[client.Receipt](t)(post("a", "seed"))
	w.clock.set(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC))
	must[client.Receipt](t)(post("a", "bad"))
	w.clock.set(now.Add(time.Hour))
	_, err := post("b", "good")
	if e := problemOf(t, err); e.Code != "account_from_future" {
		t.Fatalf("got %+v", e)
	}
	r := must[client.DateRepair](t)(w.RepairDates(ctx, false))
	if r.Verdict != client.VerdictFaulty || r.Mended || r.Transactions != 1 || r.Accounts != 2 ||
		r.Left != 3 || len(r.Faults) != 3 || !r.Faults[0].Is.IsZero() {
		t.Errorf("%+v", r)
	}
	r = must[client.DateRepair](t)(w.RepairDates(ctx, true))
	if r.Verdict != client.VerdictSound || !r.Mended || r.Transactions != 1 || r.Accounts != 2 ||
		r.Left != 0 || len(r.Faults) != 3 || r.Faults[0].Is.Before(now) ||
		r.Faults[0].Is.After(now.Add(2*time.Hour)) {
		t.Errorf("%+v", r)
	}
	good := must[client.Receipt](t)(post("b", "good"))
	if good.Transaction.CreatedAt.After(now.Add(2 * time.Hour)) {
		t.Errorf("dated %s", good.Transaction.CreatedAt)
	}
	check := must[client.Reconciliation](t)(w.Reconcile(ctx, client.ReconcileQuery{}))
	if !check.Balanced || check.Transactions != 3 {
		t.Errorf("%+v", check)
	}
}

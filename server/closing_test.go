package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// An account that pays or receives scheduled payments is not closed, because they would fail: the
// refusal counts them, and the account can be closed once they are gone, or on request.
func TestAnAccountWithScheduledPaymentsIsNotClosed(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	for _, id := range []client.AccountID{"payer", "payee", "till", "free", "forced", "alice"} {
		must[client.AccountReceipt](t)(w.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: "u", AccountType: "x", Currency: "USD"}))
	}
	must[client.MerchantReceipt](t)(w.CreateMerchant(ctx, client.NewMerchant{ID: "shop",
		Name: "Shop", SettlementAccountID: "till"}))
	var made []client.ScheduledPayment
	for n, p := range []client.NewPayment{
		{AccountID: "payer", PayeeID: "payee"}, {AccountID: "payer", MerchantID: "shop"},
		{AccountID: "alice", PayeeID: "payee"}, {AccountID: "alice", PayeeID: "forced"},
	} {
		p.IdempotencyKey, p.Due = fmt.Sprint("k", n), "2099-01-01"
		p.Amount = money.MustParse("1", "USD")
		made = append(made,
			must[client.PaymentReceipt](t)(w.SchedulePayment(ctx, p)).ScheduledPayment)
	}
	for id, says := range map[client.AccountID]string{
		"payer": "2 from it, 0 to it", "payee": "0 from it, 2 to it", "till": "0 from it, 1 to it",
		"forced": "0 from it, 1 to it",
	} {
		for range 2 {
			must[client.Account](t)(w.Account(ctx, id)) // An index that is behind follows.
			_, err := w.CloseAccount(ctx, id)
			if err == nil || problemOf(t, err).Code != "payments_waiting" ||
				!strings.Contains(err.Error(), says) {
				t.Errorf("close %s: %v", id, err)
			}
		}
		if a := must[client.Account](t)(w.Account(ctx, id)); a.Status != client.AccountActive {
			t.Errorf("%s is %s after a refusal", id, a.Status)
		}
	}
	must[client.Account](t)(w.CloseAccount(ctx, "free"))
	must[client.Account](t)(w.CloseAccountWithPayments(ctx, "forced"))
	must[client.Account](t)(w.CloseAccount(ctx, "forced")) // It is closed.
	for _, p := range made {
		must[client.ScheduledPayment](t)(w.CancelPayment(ctx, p.ID, 0))
	}
	deadline := time.Now().Add(testTime)
	for _, id := range []client.AccountID{"payer", "payee", "till"} {
		_, err := w.CloseAccount(ctx, id)
		for err != nil && time.Now().Before(deadline) { // The index may be behind.
			_, err = w.CloseAccount(ctx, id)
		}
		if err != nil {
			t.Errorf("close %s, whose payments are cancelled: %v", id, err)
		}
	}
	// Other rules come first.
	must[client.Receipt](t)(w.Post(ctx, client.Posting{Type: client.Deposit, To: "alice",
		IdempotencyKey: "d", Amount: money.MustParse("1", "USD")}))
	if _, err := w.CloseAccount(ctx, "alice"); problemOf(t, err).Code != "account_not_empty" {
		t.Error(err)
	}
	if _, err := w.CloseAccount(ctx, "nobody"); problemOf(t, err).Code != "account_not_found" {
		t.Error(err)
	}
}

package client_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// What is read back from the JSON of a value is that value: a tool may keep answers as JSON.
func TestJSONKeepsEverything(t *testing.T) {
	at := time.Date(2026, time.January, 2, 10, 30, 0, 123e6, time.UTC)
	yen, dollars := money.MustParse("-7", "JPY"), money.MustParse("5.50", "USD")
	leg := client.Leg{
		ID: "l", TransactionID: "t", AccountID: "a", Type: client.Debit, Amount: dollars,
		BalanceAfter: money.MustParse("-0.50", "USD"), AccountVersion: 3, CreatedAt: at,
	}
	transaction := client.Transaction{
		ID: "t", IdempotencyKey: "k", Type: client.Payment, Status: client.Reversed,
		MerchantID: "m", Description: "d", Amount: dollars, Metadata: map[string]string{"a": "b"},
		ReversalOf: "r1", ReversedBy: "r2", CreatedAt: at,
	}
	for _, v := range []any{
		client.Account{
			ID: "a", UserID: "u", AccountType: "checking", Status: client.AccountFrozen,
			Balance: yen, OverdraftLimit: money.MustParse("10", "JPY"), Unlimited: true,
			Version: 4, LastPostedAt: at, CreatedAt: at,
		},
		leg, transaction, client.Entry{Transaction: transaction, Legs: []client.Leg{leg}},
		client.Statement{
			AccountID: "a", From: "2026-01-01", To: "2026-01-31", Opening: dollars,
			Closing: money.MustParse("0", "USD"), Legs: []client.Leg{leg}, Next: "c",
		},
		client.CurrencyTotal{
			Currency: "JPY", Debits: yen.Neg(), Credits: yen.Neg(),
			Balances: money.MustParse("0", "JPY"),
		},
	} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(v))
		if err := json.Unmarshal(data, back.Interface()); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(v, back.Elem().Interface()); diff != "" {
			t.Errorf("%T (-before +after):\n%s", v, diff)
		}
	}
}

func TestAmountsThatAreNoneAreRefused(t *testing.T) {
	for name, v := range map[string]any{
		`{"currency":"USD","balance":"1e3","overdraftLimit":"0"}`: new(client.Account),
		`{"currency":"???","amount":"1","balanceAfter":"1"}`:      new(client.Leg),
		`{"currency":"USD","amount":""}`:                          new(client.Transaction),
		`{"currency":"USD","amount":1}`:                           new(client.Transaction),
	} {
		if err := json.Unmarshal([]byte(name), v); err == nil {
			t.Errorf("%s was read as %+v", name, v)
		}
	}
}

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// creation is a request that creates something once, in two variants with the same key or id.
type creation struct {
	name   string
	member string // that differs between the variants
	send   func(ctx context.Context, other bool) (got any, replayed bool, err error)
}

// either returns one of two values.
func either[T any](second bool, a, b T) T {
	if second {
		return b
	}
	return a
}

// creations are all requests that create something once. Each call makes them with keys of its own.
func (w *world) creations(key string) []creation {
	w.t.Helper()
	ctx := w.t.Context()
	place := client.LocationID(map[string]string{
		"one": "01ARZ3NDEKTSV4RRFFQ69G5FA1", "two": "01ARZ3NDEKTSV4RRFFQ69G5FA2",
	}[key])
	original := must[client.Receipt](w.t)(w.Post(ctx, client.Posting{
		IdempotencyKey: "original-" + key, Type: client.Transfer, From: "alice", To: "bob",
		Amount: usd("2"),
	})).Transaction.ID
	return append(w.ledgerCreations(key, original), w.personalCreations(key, place)...)
}

func (w *world) ledgerCreations(key string, original client.TransactionID) []creation {
	return []creation{
		{"transaction", "amount", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.Post(ctx, client.Posting{
				IdempotencyKey: key, Type: client.Transfer, From: "alice", To: "bob",
				Amount: either(other, usd("1"), usd("2")),
			})
			return r.Entry, r.Replayed, err
		}},
		{"exchange", "amount", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.Exchange(ctx, client.Exchanging{
				IdempotencyKey: "fx-" + key, From: "alice", To: "kiwi",
				Sold: either(other, usd("1"), usd("2")), Rate: dec("1.5"),
			})
			return r.Entry, r.Replayed, err
		}},
		{"reversal", "description", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.Reverse(ctx, client.Reversing{TransactionID: original,
				Description: either(other, "wrong till", "wrong day")})
			return r.Entry, r.Replayed, err
		}},
		{"account", "overdraftLimit", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.OpenAccount(ctx, client.NewAccount{
				IdempotencyKey: key, UserID: "u", AccountType: "x", Currency: "USD",
				OverdraftLimit: either(other, money.Amount{}, usd("7")),
			})
			return r.Account, r.Replayed, err
		}},
		{"account with ids", "id", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.OpenAccount(ctx, client.NewAccount{
				ID:             client.AccountID(either(other, "a-", "b-") + key),
				IdempotencyKey: "ids-" + key, UserID: "u", AccountType: "x", Currency: "USD",
			})
			return r.Account, r.Replayed, err
		}},
		{"account by its id", "userId", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.OpenAccount(ctx, client.NewAccount{
				ID: client.AccountID("c-" + key), UserID: either[client.UserID](other, "u", "v"),
				AccountType: "x", Currency: "USD",
			})
			return r.Account, r.Replayed, err
		}},
		{"merchant", "category", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.CreateMerchant(ctx, client.NewMerchant{
				IdempotencyKey: key, Name: "Tea", Category: either(other, "food", "drink"),
			})
			return r.Merchant, r.Replayed, err
		}},
		{"merchant with ids", "id", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.CreateMerchant(ctx, client.NewMerchant{
				ID:             client.MerchantID(either(other, "a-", "b-") + key),
				IdempotencyKey: "ids-" + key, Name: "Tea",
			})
			return r.Merchant, r.Replayed, err
		}},
		{"payment", "amount", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.SchedulePayment(ctx, client.NewPayment{
				IdempotencyKey: key, AccountID: "alice", PayeeID: "bob",
				Amount: either(other, usd("1"), usd("2")), Due: "2027-06-01T00:00:00Z",
			})
			return r.ScheduledPayment, r.Replayed, err
		}},
	}
}

func (w *world) personalCreations(key string, place client.LocationID) []creation {
	return []creation{
		{"location", "name", func(ctx context.Context, other bool) (any, bool, error) {
			name := either(other, "Here", "There")
			r, err := w.CreateLocation(ctx, client.NewLocation{ID: place, Code: "code-" + key,
				LocationFields: client.LocationFields{Name: &name}})
			return r.Location, r.Replayed, err
		}},
		{"bank account", "number", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.CreateBankAccount(ctx, client.NewBankAccount{
				ID: client.BankAccountID("bank-" + key), Name: "B", Currency: "NZD",
				Number: either(other, "1", "2")})
			return r.BankAccount, r.Replayed, err
		}},
		{"typed-in transaction", "merchant", func(
			ctx context.Context, other bool,
		) (any, bool, error) {
			r, err := w.AddBankTransaction(ctx, "everyday", client.NewBankTransaction{
				IdempotencyKey: key, Date: "2025-08-01", Amount: dec("-5"),
				Merchant: either(other, "Tea", "Coffee")})
			return r.BankTransaction, r.Replayed, err
		}},
		{"rule", "conditions", func(ctx context.Context, other bool) (any, bool, error) {
			r, err := w.CreateRule(ctx, client.NewRule{ID: client.RuleID("rule-" + key),
				RuleFields: client.RuleFields{Name: "R",
					Conditions: []client.RuleCondition{
						{Field: "text", Op: "contains", Text: either(other, "tea", "coffee")}},
					Set: client.RuleSetting{Merchant: "Tea"}}})
			return r.Rule, r.Replayed, err
		}},
		{"upload", "file", func(ctx context.Context, other bool) (any, bool, error) {
			text := "Date,Amount,Details\n2025-08-13," + either(other, "-1", "-2") + ".00,TEA\n"
			r, err := w.Upload(ctx, "everyday", client.NewUpload{ID: client.UploadID("up-" + key),
				FileName: "f.csv", Body: strings.NewReader(text)})
			return r.ReceivedFile, r.Replayed, err
		}},
	}
}

// answered is what a caller got.
type answered struct {
	body     string
	replayed bool
	err      error
}

// race sends a request many times at the same moment, every second time its other variant if there
// are two.
func (c *creation) race(ctx context.Context, variants int) []answered {
	callers := 50
	if testing.Short() {
		callers = 6 // The race detector needs two, and makes each of them slow.
	}
	out := make([]answered, callers)
	begin := make(chan struct{})
	var group sync.WaitGroup
	for i := range out {
		group.Go(func() {
			<-begin
			got, replayed, err := c.send(ctx, i%variants == 1)
			body, _ := json.Marshal(got)
			out[i] = answered{string(body), replayed, err}
		})
	}
	close(begin)
	group.Wait()
	return out
}

// Of fifty equal requests that create something exactly one is the first, and all others are
// answered as repeats with the same body. Of two requests with one key one wins, and the other is
// refused, however often it is sent, with a conflict that names the member.
func TestOfFiftyCallersWithOneKeyOneIsTheFirst(t *testing.T) {
	w := start(t)
	w.furnish()
	w.everyday()
	must[client.AccountReceipt](t)(w.OpenAccount(t.Context(), client.NewAccount{
		ID: "kiwi", UserID: "u", AccountType: "x", Currency: "NZD"}))
	for _, c := range w.creations("one") {
		t.Run("equal/"+c.name, func(t *testing.T) { c.oneWins(t, c.race(t.Context(), 1), 1) })
	}
	for _, c := range w.creations("two") {
		t.Run("two/"+c.name, func(t *testing.T) { c.oneWins(t, c.race(t.Context(), 2), 2) })
	}
	if r := must[client.Reconciliation](t)(w.Reconcile(t.Context(),
		client.ReconcileQuery{})); !r.Balanced {
		t.Errorf("the books: %+v", r.Divergences)
	}
}

// oneWins checks the answers of a race.
func (c *creation) oneWins(t *testing.T, answers []answered, variants int) {
	t.Helper()
	winner, firsts := 0, 0
	for i, a := range answers {
		if a.err == nil && !a.replayed {
			winner = i % variants
			firsts++
		}
	}
	if firsts != 1 {
		t.Errorf("%d of the requests were the first", firsts)
	}
	for i, a := range answers {
		var refused *problem.Error
		switch {
		case i%variants == winner && a.err != nil:
			t.Errorf("request %d: %v", i, a.err)
		case i%variants == winner && a.body != answers[winner].body:
			t.Errorf("two answers:\n%s\n%s", a.body, answers[winner].body)
		case i%variants == winner:
		case !errors.As(a.err, &refused) || refused.Kind != problem.Conflict ||
			!strings.Contains(refused.Details["field"], c.member) &&
				(len(refused.Fields) != 1 || !strings.Contains(refused.Fields[0].Name, c.member)):
			t.Errorf("request %d of the other variant: %+v", i, a.err)
		}
	}
}

package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// wantConflict checks that an error is a conflict that names one member.
func wantConflict(t *testing.T, err error, want *problem.Definition, member string) {
	t.Helper()
	var refused *problem.Error
	if !errors.Is(err, want) || !errors.As(err, &refused) || len(refused.Fields) != 1 ||
		refused.Fields[0].Name != member || refused.Details["field"] != member {
		t.Errorf("got %v, want %s that names %s", err, want.Code(), member)
	}
}

// openings are requests for accounts: in what way a repeat is recognised, and which conflict
// another request is.
func openings() map[string]struct {
	ask  ledger.NewAccount
	want *problem.Definition
} {
	ask := ledger.NewAccount{UserID: "u", AccountType: "x", Currency: "USD",
		OverdraftLimit: usd("3"), Zone: "Pacific/Auckland", LocationID: "here"}
	id, key, both := ask, ask, ask
	id.ID, key.IdempotencyKey = "by-id", "k"
	both.ID, both.IdempotencyKey = "by-both", "b"
	return map[string]struct {
		ask  ledger.NewAccount
		want *problem.Definition
	}{
		"id":         {id, ledger.ErrAccountExists},
		"key":        {key, ledger.ErrIdempotencyConflict},
		"id and key": {both, ledger.ErrIdempotencyConflict},
	}
}

// Every member of a repeated opening is compared with the first request, whatever became of the
// account since.
func TestARepeatedOpeningComparesEveryMember(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for name, c := range openings() {
		first, err := b.OpenAccount(t.Context(), c.ask)
		if err != nil || first.Replayed {
			t.Fatal(name, first.Replayed, err)
		}
		for range 2 {
			for member, change := range map[string]func(*ledger.NewAccount){
				"userId":      func(n *ledger.NewAccount) { n.UserID = "v" },
				"accountType": func(n *ledger.NewAccount) { n.AccountType = "y" },
				"currency": func(n *ledger.NewAccount) {
					n.Currency, n.OverdraftLimit = "NZD", nzd("3")
				},
				"zone":           func(n *ledger.NewAccount) { n.Zone = "" },
				"locationId":     func(n *ledger.NewAccount) { n.LocationID = "there" },
				"unlimited":      func(n *ledger.NewAccount) { n.Unlimited = true },
				"overdraftLimit": func(n *ledger.NewAccount) { n.OverdraftLimit = usd("9") },
			} {
				other := c.ask
				change(&other)
				_, err := b.OpenAccount(t.Context(), other)
				wantConflict(t, err, c.want, member)
			}
			again, err := b.OpenAccount(t.Context(), c.ask)
			if err != nil || !again.Replayed || again.ID != first.ID {
				t.Errorf("%s: an equal repeat: %+v, %v", name, again, err)
			}
			// What the account is now is not what the first request asked for.
			if _, err := b.SetOverdraft(t.Context(), first.ID, usd("9"), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := b.everything(); !r.Balanced() {
		t.Errorf("the books: %v", r.Divergences)
	}
}

// One key makes one account and one merchant, whatever ids its requests name.
func TestOneKeyMakesOneThing(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	account := func(id ledger.AccountID, key string) (string, error) {
		a, err := b.OpenAccount(t.Context(), ledger.NewAccount{ID: id, IdempotencyKey: key,
			UserID: "u", AccountType: "x", Currency: "USD"})
		return string(a.ID), err
	}
	merchant := func(id ledger.AccountID, key string) (string, error) {
		m, err := b.CreateMerchant(t.Context(), ledger.NewMerchant{ID: ledger.MerchantID(id),
			IdempotencyKey: key, Name: "Shop"})
		return string(m.ID), err
	}
	exists := func(id string) bool {
		_, noAccount := b.Account(t.Context(), ledger.AccountID(id))
		_, noMerchant := b.Merchant(t.Context(), ledger.MerchantID(id))
		return noAccount == nil || noMerchant == nil
	}
	for name, create := range map[string]func(ledger.AccountID, string) (string, error){
		"account": account, "merchant": merchant,
	} {
		pre := ledger.AccountID(name)
		must := func(want string, id ledger.AccountID, key string) string {
			t.Helper()
			got, err := create(id, key)
			if err != nil || want != "" && got != want {
				t.Errorf("%s %s with key %s: %s, %v", name, id, key, got, err)
			}
			return got
		}
		refused := func(id ledger.AccountID, key string) {
			t.Helper()
			_, err := create(id, key)
			wantConflict(t, err, ledger.ErrIdempotencyConflict, "id")
		}
		// First with an id, then with another one and with none.
		must(name+"1", pre+"1", name+"k1")
		refused(pre+"2", name+"k1")
		refused("", name+"k1")
		must(name+"1", pre+"1", name+"k1")
		// First with none, then with one; the id that was made is the same request.
		made := must("", "", name+"k2")
		refused(pre+"2", name+"k2")
		must(made, ledger.AccountID(made), name+"k2")
		// A key whose first request found the id in use is used for that id.
		must(name+"3", pre+"3", "")
		must(name+"3", pre+"3", name+"k3")
		refused(pre+"2", name+"k3")
		must(name+"3", pre+"3", name+"k4")
		if exists(name + "2") {
			t.Errorf("%s 2 was made by a key that was used", name)
		}
		must(name+"2", pre+"2", name+"k5")
	}
	// The key of an account is not that of a merchant.
	if _, err := merchant("m", "accountk1"); err != nil {
		t.Error(err)
	}
	if r := b.everything(); !r.Balanced() {
		t.Errorf("the books: %v", r.Divergences)
	}
}

// Equal requests at the same moment open one account and one of them is the first; of two requests
// with one key one wins and the equal ones of the other are refused.
func TestARaceOfOpeningsHasOneFirst(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for name, c := range openings() {
		var firsts [20]bool
		for i, err := range together(len(firsts), func(i int) error {
			r, err := b.OpenAccount(t.Context(), c.ask)
			firsts[i] = err == nil && !r.Replayed
			return err
		}) {
			if err != nil {
				t.Errorf("%s, %d: %v", name, i, err)
			}
		}
		if n := count(firsts[:]); n != 1 {
			t.Errorf("%s: %d requests were the first", name, n)
		}
	}
	ids := [...]ledger.AccountID{"left", "right"}
	var firsts, won [20]bool
	for i, err := range together(len(firsts), func(i int) error {
		r, err := b.OpenAccount(t.Context(), ledger.NewAccount{ID: ids[i%2],
			IdempotencyKey: "two", UserID: "u", AccountType: "x", Currency: "USD"})
		firsts[i], won[i] = err == nil && !r.Replayed, err == nil
		return err
	}) {
		if err != nil {
			wantConflict(t, err, ledger.ErrIdempotencyConflict, "id")
		}
		if won[i] != won[i%2] {
			t.Errorf("request %d for %s: %t", i, ids[i%2], won[i])
		}
	}
	if count(firsts[:]) != 1 || won[0] == won[1] {
		t.Errorf("firsts %v, answered %v", firsts, won)
	}
}

func count(set []bool) (n int) {
	for _, v := range set {
		if v {
			n++
		}
	}
	return n
}

// Accounts and merchants of earlier releases have neither a digest nor a record of their request.
func TestARepeatOfARequestToAnEarlierReleaseIsRecognised(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	account := ledger.NewAccount{IdempotencyKey: "k", UserID: "u", AccountType: "x",
		Currency: "USD", OverdraftLimit: usd("7")}
	merchant := ledger.NewMerchant{IdempotencyKey: "k", Name: "Shop"}
	opened, err := b.OpenAccount(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = b.CreateMerchant(t.Context(), merchant); err != nil {
		t.Fatal(err)
	}
	age := func() {
		for _, item := range b.itemsOf() {
			switch kindOf(item) {
			case "Request":
				b.deleteItem(item)
			case "AccountEntry", "Merchant":
				old := dynamo.Item{}
				for name, v := range item {
					if name != "RequestHash" && name != "RequestID" {
						old[name] = v
					}
				}
				b.putItem(old)
			}
		}
	}
	age()
	named, named2 := account, merchant
	named.ID, named2.ID = "new", "new"
	_, err = b.OpenAccount(t.Context(), named)
	wantConflict(t, err, ledger.ErrIdempotencyConflict, "id")
	_, err = b.CreateMerchant(t.Context(), named2)
	wantConflict(t, err, ledger.ErrIdempotencyConflict, "id")
	other := account
	other.OverdraftLimit = usd("8")
	_, err = b.OpenAccount(t.Context(), other)
	wantConflict(t, err, ledger.ErrIdempotencyConflict, "overdraftLimit")
	if again, err := b.OpenAccount(t.Context(), account); err != nil || !again.Replayed ||
		again.Account != opened.Account {
		t.Errorf("an equal repeat: %+v, %v", again, err)
	}
	if again, err := b.CreateMerchant(t.Context(), merchant); err != nil || !again.Replayed {
		t.Errorf("an equal repeat: %+v, %v", again, err)
	}
	if r := b.everything(); !r.Balanced() {
		t.Errorf("the books: %v", r.Divergences)
	}
	// The account was changed since: nothing says what overdraft the first request asked for.
	age()
	if _, err := b.SetOverdraft(t.Context(), opened.ID, usd("9"), false); err != nil {
		t.Fatal(err)
	}
	if again, err := b.OpenAccount(t.Context(), account); err != nil || !again.Replayed {
		t.Errorf("an equal repeat after a change: %+v, %v", again, err)
	}
}

// A repeat is answered as the first request was, also if a new request would be refused by now.
func TestARepeatIsNotRefusedForWhatHappenedSince(t *testing.T) {
	here := true
	b := openBooks(t, ledger.Options{LocationExists: func(
		context.Context, ledger.LocationID,
	) (bool, error) {
		return here, nil
	}})
	account := ledger.NewAccount{ID: "a", UserID: "u", AccountType: "x", Currency: "USD",
		LocationID: "l"}
	merchant := ledger.NewMerchant{ID: "m", Name: "Shop", LocationID: "l"}
	for range 2 {
		if r, err := b.OpenAccount(t.Context(), account); err != nil || r.Replayed == here {
			t.Errorf("there is a location: %t, replayed: %t, %v", here, r.Replayed, err)
		}
		if r, err := b.CreateMerchant(t.Context(), merchant); err != nil || r.Replayed == here {
			t.Errorf("there is a location: %t, replayed: %t, %v", here, r.Replayed, err)
		}
		here = false
	}
	account.ID, merchant.ID = "b", "n"
	if _, err := b.OpenAccount(t.Context(), account); !errors.Is(err, ledger.ErrLocationNotFound) {
		t.Error(err)
	}
	_, err := b.CreateMerchant(t.Context(), merchant)
	if !errors.Is(err, ledger.ErrLocationNotFound) {
		t.Error(err)
	}
}

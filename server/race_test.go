package server_test

import (
	"sync"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
)

// A hundred callers at once with one key are one transaction, and all get the same answer.
func TestAHundredCallersWithOneKeyAreOneTransaction(t *testing.T) {
	const callers = 100
	w := start(t)
	w.furnish()
	body := `{"type":"transfer","from":"alice","to":"bob","amount":"5.50","currency":"USD"}`
	replies := make([]reply, callers)
	begin := make(chan struct{})
	var group sync.WaitGroup
	for i := range replies {
		group.Go(func() {
			<-begin
			replies[i] = w.send(post, "/v1/transactions", body, "Idempotency-Key", "once")
		})
	}
	close(begin)
	group.Wait()
	created := 0
	for _, r := range replies {
		switch {
		case r.status == 201 && r.header.Get("Idempotent-Replayed") == "":
			created++
		case r.status != 200 || r.header.Get("Idempotent-Replayed") != "true":
			t.Errorf("status %d, replayed %q", r.status, r.header.Get("Idempotent-Replayed"))
		}
		if r.body != replies[0].body {
			t.Errorf("two answers:\n%s\n%s", r.body, replies[0].body)
		}
	}
	if created != 1 {
		t.Errorf("%d answers say that they made the transaction", created)
	}
	if a := must[client.Account](t)(w.Account(t.Context(), "alice")); a.Balance != usd("94.50") {
		t.Errorf("alice has %s", a.Balance)
	}
	page := must[client.Page[client.Transaction]](t)(w.TransactionsByStatus(t.Context(),
		client.StatusQuery{Status: client.Completed}))
	if len(page.Items) != 2 {
		t.Errorf("there are %d transactions", len(page.Items))
	}
}

// Many callers with keys of their own on two accounts: no money is made or lost.
func TestManyCallersOnTwoAccounts(t *testing.T) {
	const callers = 50
	w := start(t)
	w.furnish()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			from, to := client.AccountID("alice"), client.AccountID("bob")
			if i%2 == 1 {
				from, to = to, from
			}
			// Bob has nothing at first, so some are refused.
			_, _ = w.Post(t.Context(), client.Posting{
				Type: client.Transfer, From: from, To: to, Amount: usd("1"),
			})
		})
	}
	group.Wait()
	alice := must[client.Account](t)(w.Account(t.Context(), "alice"))
	bob := must[client.Account](t)(w.Account(t.Context(), "bob"))
	sum, err := alice.Balance.Add(bob.Balance)
	if err != nil || sum != usd("100") {
		t.Errorf("alice has %s, bob %s", alice.Balance, bob.Balance)
	}
}

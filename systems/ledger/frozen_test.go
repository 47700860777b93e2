package ledger

import (
	"testing"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// transfer returns a request of a client, as Post prepares it.
func transfer(t *testing.T, metadata map[string]string) *Posting {
	t.Helper()
	amount, err := money.Parse("5.50", "NZD")
	if err != nil {
		t.Fatal(err)
	}
	p := Posting{
		Type: "transfer", Currency: "NZD", Description: "coffee", Metadata: metadata,
		Legs: []PostingLeg{
			{AccountID: "alice", Type: Debit, Amount: amount},
			{AccountID: "till", Type: Credit, Amount: amount},
		},
	}
	return &p
}

// newAccount returns a request for an account that sets every member.
func newAccount(t *testing.T) *NewAccount {
	t.Helper()
	limit, err := money.Parse("7.00", "NZD")
	if err != nil {
		t.Fatal(err)
	}
	return &NewAccount{
		ID: "a", IdempotencyKey: "k", UserID: "u", AccountType: "checking", Currency: "NZD",
		OverdraftLimit: limit, Unlimited: true, Zone: "Pacific/Auckland", LocationID: "l",
	}
}

// Ids and digests are stored with every transaction. Were one to change, a repeated request would
// move the money again, or be a conflict.
func TestIDsAndDigestsAreFrozen(t *testing.T) {
	digest := func(p *Posting) string {
		text, _ := digestA(p)
		return "a" + text
	}
	frozen.Check(t, "requests",
		frozen.Sample{Name: "a transfer", Value: digest(transfer(t, nil))},
		frozen.Sample{Name: "b a transfer", Value: requestDigests.Of(transfer(t, nil))},
		frozen.Sample{Name: "a with metadata", Value: digest(transfer(t, map[string]string{
			"b": "2", "a": "1",
		}))},
		frozen.Sample{Name: "a reversal", Value: digest(&Posting{
			Type: Reversal, Description: "wrong till",
		})},
		frozen.Sample{Name: "id transaction", Value: derive(transactionSpace, "", "order-1")},
		frozen.Sample{Name: "id transaction of a tenant", Value: derive(transactionSpace, "acme",
			"order-1")},
		frozen.Sample{Name: "id reversal", Value: derive(reversalSpace, "", "t-1")},
		frozen.Sample{Name: "id transaction of a payment",
			Value: string(OwnerPayments.transactionID("", "p-1"))},
		frozen.Sample{Name: "id transaction without a key",
			Value: string(ownerRandom.transactionID("", "r-1"))},
		frozen.Sample{Name: "id account", Value: derive(accountSpace, "", "k")},
		frozen.Sample{Name: "id merchant", Value: derive(merchantSpace, "", "k")},
		frozen.Sample{Name: "id request of an account",
			Value: requestID("", accountEntity, "k")},
		frozen.Sample{Name: "id request of a merchant of a tenant",
			Value: requestID("acme", merchantEntity, "k")},
		frozen.Sample{Name: "a new account", Value: accountDigests.Of(newAccount(t))},
		frozen.Sample{Name: "id leg", Value: string(legID(77, 3,
			0x98c4ab5ed3bcb080))},
	)
}

// A request grows a member, and gets a new version of its digest: requests that were stored before
// are still recognised, and the new member is a difference if it is set.
func TestARequestThatGrowsIsRecognised(t *testing.T) {
	old := request{asked: *transfer(t, nil)}
	old.posting = old.asked
	stored := Entry{Transaction: Transaction{
		ID: "t-1", Type: "transfer", Description: "coffee", Amount: old.asked.Legs[0].Amount,
		requestHash: requestDigests.Of(&old.asked),
	}}
	grown := false // Whether the request below sets the new member.
	versions := singletable.Digests[*Posting]{
		{Version: "a", Of: digestA},
		{Version: "b", Of: func(p *Posting) (string, string) {
			digest, beyond := digestA(p)
			if grown {
				beyond = "effectiveDate"
			}
			return digest, beyond
		}},
		{Version: "c", Of: func(p *Posting) (string, string) {
			digest, _ := digestA(p)
			if grown {
				digest += "2026-01-02"
			}
			return digest, ""
		}},
	}
	if got := old.difference(versions, &stored); got != "" {
		t.Errorf("the same request differs in %q from what was stored before it grew", got)
	}
	changed := request{asked: *transfer(t, map[string]string{"a": "1"})}
	changed.posting = changed.asked
	if got := changed.difference(versions, &stored); got != "metadata" {
		t.Errorf("another request differs in %q", got)
	}
	grown = true
	if got := old.difference(versions, &stored); got != "effectiveDate" {
		t.Errorf("the new member is a difference in %q", got)
	}
	if stored.Transaction.requestHash = versions.Of(&old.asked); old.difference(versions,
		&stored) != "" {
		t.Error("a request of the new version is not recognised")
	}
}

// A transaction without a digest, or with one of a later release, is compared by what it says.
func TestATransactionWithoutAKnownDigestIsComparedByItsContent(t *testing.T) {
	r := request{asked: *transfer(t, nil)}
	r.posting = r.asked
	legs := []Leg{
		{AccountID: "till", Type: Credit, Amount: r.asked.Legs[1].Amount},
		{AccountID: "alice", Type: Debit, Amount: r.asked.Legs[0].Amount},
	}
	for _, digest := range []string{"", "z-of-a-later-release"} {
		found := Entry{Legs: legs, Transaction: Transaction{
			ID: "t-1", Type: "transfer", Description: "coffee", Amount: legs[0].Amount,
			requestHash: digest,
		}}
		if got := r.difference(requestDigests, &found); got != "" {
			t.Errorf("digest %q: the same request differs in %q", digest, got)
		}
		found.Legs = []Leg{legs[0], {AccountID: "bob", Type: Debit, Amount: legs[1].Amount}}
		if got := r.difference(requestDigests, &found); got != "legs" {
			t.Errorf("digest %q: other legs are a difference in %q", digest, got)
		}
	}
}

package ledger_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// own posts for a payment, under a key that the product derives.
func (b *books) own(key string, p ledger.Posting) ledger.Receipt {
	b.t.Helper()
	r, err := b.PostWith(b.t.Context(), keyed(key, p), ledger.With{Owner: ledger.OwnerPayments})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// A key that the product derives is not one that a caller can use up, in whatever order both come
// and whether or not their postings are equal.
func TestADerivedKeyIsNoCallersKey(t *testing.T) {
	for name, other := range map[string]ledger.Posting{
		"an equal posting":    coffee(),
		"a different posting": transfer("alice", "bob", "1"),
	} {
		for _, ownFirst := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				b := aliceAndBob(t, ledger.Options{})
				var mine, theirs ledger.Receipt
				if ownFirst {
					mine = b.own("p-1", coffee())
					theirs = b.post(keyed("p-1", other))
				} else {
					theirs = b.post(keyed("p-1", other))
					mine = b.own("p-1", coffee())
				}
				if mine.Replayed || theirs.Replayed ||
					mine.Transaction.ID == theirs.Transaction.ID {
					t.Fatalf("own %+v, the caller's %+v", mine.Transaction, theirs.Transaction)
				}
				if again := b.own("p-1", coffee()); !again.Replayed ||
					again.Transaction.ID != mine.Transaction.ID {
					t.Errorf("repeated: %+v", again)
				}
				if again := b.post(keyed("p-1", other)); !again.Replayed ||
					again.Transaction.ID != theirs.Transaction.ID {
					t.Errorf("the caller's, repeated: %+v", again)
				}
				if found, err := b.TransactionByKey(t.Context(), "p-1"); err != nil ||
					found.ID != theirs.Transaction.ID {
					t.Errorf("by key: %s, %v", found.ID, err)
				}
				if found, err := b.EntryByKey(t.Context(), "p-1"); err != nil ||
					found.Transaction.ID != theirs.Transaction.ID {
					t.Errorf("by key, as of now: %s, %v", found.Transaction.ID, err)
				}
				b.sound()
			})
		}
	}
}

// A posting without a key gets a random one, which is shown. Who uses it makes a new transaction.
func TestTheKeyOfAPostingWithoutOneIsFree(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	first := b.post(coffee())
	second := b.post(keyed(first.Transaction.IdempotencyKey, coffee()))
	if second.Replayed || second.Transaction.ID == first.Transaction.ID {
		t.Errorf("got %+v", second)
	}
	b.wantBalance("alice", usd("89"))
	b.sound()
}

func TestTheKeyOfAReversalIsFree(t *testing.T) {
	for _, reversedFirst := range []bool{true, false} {
		b := aliceAndBob(t, ledger.Options{})
		first := b.post(keyed("k", coffee()))
		key := "reversal:" + string(first.Transaction.ID)
		reverse := func() {
			r, err := b.Reverse(t.Context(), ledger.Reversing{TransactionID: first.Transaction.ID})
			if err != nil || r.Replayed {
				t.Errorf("reversal: %+v, %v", r, err)
			}
		}
		if reversedFirst {
			reverse()
		}
		if r := b.post(keyed(key, transfer("alice", "bob", "1"))); r.Replayed {
			t.Errorf("got %+v", r)
		}
		if !reversedFirst {
			reverse()
		}
		b.wantBalance("alice", usd("99"))
		b.sound()
	}
}

// asBefore gives a transaction the digest that releases wrote in which payments used the keys of
// callers.
func (b *books) asBefore(r ledger.Receipt) {
	b.t.Helper()
	for _, item := range b.itemsOf() {
		if item["ID"].S() == string(r.Transaction.ID) && item["Type"].S() == "Transaction" {
			item["RequestHash"] = dynamo.S("a" + item["RequestHash"].S()[1:])
			b.putItem(item)
			return
		}
	}
	b.t.Fatalf("transaction %s is not there", r.Transaction.ID)
}

// An earlier release posted for payments in the space of callers. What it posted is recognised, so
// that the money does not move again; what a caller posted there is not.
func TestWhatAnEarlierReleasePostedForAPaymentIsRecognised(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	first := b.post(keyed("p-1", coffee()))
	b.asBefore(first)
	for range 2 {
		if r := b.own("p-1", coffee()); !r.Replayed || r.Transaction.ID != first.Transaction.ID {
			t.Errorf("got %+v", r)
		}
	}
	b.wantBalance("alice", usd("94.50"))
	other := b.post(keyed("p-2", transfer("alice", "bob", "1")))
	b.asBefore(other)
	if r := b.own("p-2", coffee()); r.Replayed || r.Transaction.ID == other.Transaction.ID {
		t.Errorf("another request of a caller was taken for the payment's: %+v", r)
	}
	if r := b.post(keyed("p-2", transfer("alice", "bob", "1"))); !r.Replayed {
		t.Errorf("a repeat of an old request: %+v", r)
	}
	b.wantBalance("alice", usd("88"))
	b.sound()
}

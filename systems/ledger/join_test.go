package ledger_test

import (
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func TestPostTx(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	tx := b.store.NewTx()
	r, err := b.PostTx(t.Context(), tx, keyed("k", coffee()))
	if err != nil {
		t.Fatal(err)
	}
	b.wantBalance("alice", usd("100")) // Nothing happens before Commit.
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantBalance("alice", usd("94.50"))
	if again := b.post(keyed("k", coffee())); !again.Replayed || sameReceipt(r, again) != "" {
		t.Errorf("got %+v", again)
	}
	tx = b.store.NewTx()
	again, err := b.PostTx(t.Context(), tx, keyed("k", coffee()))
	if err != nil || !again.Replayed ||
		tx.Len() != 0 {
		t.Errorf("a replay adds %d actions, %v", tx.Len(), err)
	}
	tx = b.store.NewTx()
	_, err = b.PostTx(t.Context(), tx, transfer("alice", "bob", "1000"))
	if !isProblem(err, ledger.ErrInsufficientFunds) || tx.Len() != 0 {
		t.Errorf("got %v, %d actions", err, tx.Len())
	}
	tx = b.store.NewTx()
	if _, err := b.ReverseTx(t.Context(), tx, reversing(r.Transaction.ID)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantBalance("alice", usd("100"))
	b.sound()
}

// Several postings in one transaction of the store count on each other.
func TestPostTxSeveral(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	tx := b.store.NewTx()
	for range 3 {
		if _, err := b.PostTx(t.Context(), tx, transfer("alice", "bob", "30")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.PostTx(t.Context(), tx, transfer("alice", "bob", "30"))
	if !isProblem(err, ledger.ErrInsufficientFunds) {
		t.Errorf("the fourth: %v", err)
	}
	if _, err := b.PostTx(t.Context(), tx, keyed("k", transfer("bob", "alice", "90"))); err != nil {
		t.Fatal(err)
	}
	if again, err := b.PostTx(t.Context(), tx,
		keyed("k", transfer("bob", "alice", "90"))); err != nil || !again.Replayed {
		t.Errorf("the same once more: %+v, %v", again, err)
	}
	_, err = b.PostTx(t.Context(), tx, keyed("k", transfer("bob", "alice", "9")))
	if !isProblem(err, ledger.ErrIdempotencyConflict) {
		t.Errorf("another one with its key: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantBalance("alice", usd("100"))
	b.wantBalance("bob", usd("0"))
	b.sound()
}

// A transaction that was prepared on what is no longer true does not happen.
func TestPostTxLosesARace(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	for name, meanwhile := range map[string]func(){
		"to another posting":  func() { b.post(transfer("alice", "bob", "1")) },
		"to the same posting": func() { b.post(keyed("k", transfer("alice", "bob", "2"))) },
		"to a freeze": func() {
			if _, err := b.FreezeAccount(t.Context(), "bob"); err != nil {
				t.Fatal(err)
			}
			if _, err := b.UnfreezeAccount(t.Context(), "bob"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		tx := b.store.NewTx()
		_, err := b.PostTx(t.Context(), tx, keyed("k", transfer("alice", "bob", "2")))
		if err != nil {
			t.Fatal(err)
		}
		if tx.Len() == 0 {
			continue // The key was used by an earlier case.
		}
		meanwhile()
		before := b.balance("alice")
		if err := tx.Commit(t.Context()); !errors.Is(err, singletable.ErrConditionFailed) {
			t.Errorf("%s: got %v", name, err)
		}
		b.wantBalance("alice", before)
	}
	b.sound()
}

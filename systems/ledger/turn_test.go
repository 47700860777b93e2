package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// inTurn holds a posting with a key in the middle of its write, lets another caller send the same,
// and returns what both get once the write went through.
func (b *books) inTurn(
	first, second ledger.Posting, meanwhile func(*blocked),
) (r [2]ledger.Receipt, errs [2]error) {
	held := b.block()
	var group sync.WaitGroup
	group.Go(func() { r[0], errs[0] = b.Post(b.t.Context(), first) })
	held.wait(b.t)
	group.Go(func() { r[1], errs[1] = b.Post(b.t.Context(), second) })
	until(b.t, "the second caller does not wait for its turn", func() bool {
		return ledger.WaitingForTurn(b.Ledger, first.IdempotencyKey) == 1
	})
	meanwhile(held)
	close(held.release)
	group.Wait()
	return r, errs
}

// While a request may still be posted, its repeat has no answer: not a refusal, which the posting
// would make a lie, and no second write.
func TestARepeatWaitsForTheRequestInProgress(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	before := b.faces.writes()
	r, errs := b.inTurn(keyed("k", transfer("alice", "bob", "50")),
		keyed("k", transfer("alice", "bob", "50")), func(*blocked) {})
	if errs != [2]error{} || r[0].Replayed || !r[1].Replayed || sameReceipt(r[0], r[1]) != "" {
		t.Errorf("%+v, %v", r, errs)
	}
	if n := b.faces.writes() - before; n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	b.wantStored(r[1])
	b.sound()
}

// Another request with the key waits too, and is a conflict with what was posted.
func TestAConflictWaitsForTheRequestInProgress(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	_, errs := b.inTurn(keyed("k", transfer("alice", "bob", "1")),
		keyed("k", transfer("alice", "bob", "2")), func(*blocked) {})
	if errs[0] != nil || !errors.Is(errs[1], ledger.ErrIdempotencyConflict) {
		t.Errorf("%v", errs)
	}
	b.wantBalance("bob", usd("1"))
	b.sound()
}

// A request whose turn comes because the one before failed is tried itself.
func TestAFailureIsNotShared(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	dead := errors.New("dead")
	r, errs := b.inTurn(keyed("k", transfer("alice", "bob", "1")),
		keyed("k", transfer("alice", "bob", "1")), func(held *blocked) { held.fails = dead })
	if !errors.Is(errs[0], dead) || errs[1] != nil || r[1].Replayed {
		t.Errorf("%+v, %v", r[1], errs)
	}
	b.wantBalance("bob", usd("1"))
	b.sound()
}

// Who waits for a turn can leave.
func TestACallerThatWaitsForItsTurnCanLeave(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	_, errs := b.inTurn(keyed("k", transfer("alice", "bob", "1")),
		keyed("k", transfer("alice", "bob", "1")), func(*blocked) {
			ctx, leave := context.WithCancel(t.Context())
			leave()
			_, err := b.Post(ctx, keyed("k", transfer("alice", "bob", "1")))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the caller that left got %v", err)
			}
		})
	if errs != [2]error{} {
		t.Error(errs)
	}
	b.wantBalance("bob", usd("1"))
	b.sound()
}

// A caller without a deadline does not wait longer for its turn than for a posting of its own.
func TestTheWaitForATurnIsBounded(t *testing.T) {
	if storetest.Remote() {
		t.Skip("time is simulated, which calls over a network cannot follow")
	}
	synctest.Test(t, func(t *testing.T) {
		b := aliceAndBob(t, ledger.Options{})
		held := b.block()
		var group sync.WaitGroup
		var first error
		group.Go(func() {
			_, first = b.Post(t.Context(), keyed("k", transfer("alice", "bob", "1")))
		})
		held.wait(t)
		ctx := context.WithoutCancel(t.Context())
		_, err := b.Post(ctx, keyed("k", transfer("alice", "bob", "1")))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second caller got %v", err)
		}
		close(held.release)
		group.Wait()
		if first != nil {
			t.Error(first)
		}
		b.wantBalance("bob", usd("1"))
	})
}

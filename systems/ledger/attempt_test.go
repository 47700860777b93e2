package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// patience is how long a test waits for what must happen, before it names what did not.
const patience = 20 * time.Second

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: %s", patience, what)
		}
	}
}

// blocked holds the next write of the store until it is released.
type blocked struct {
	reached, release chan struct{}
	once             sync.Once
	ctx              context.Context
	fails            error // of the write, once it is released
}

// block makes the first write wait. The others go through.
func (b *books) block() *blocked {
	k := &blocked{reached: make(chan struct{}), release: make(chan struct{})}
	b.faces.onWriteIn(func(ctx context.Context, _ *dynamo.TransactWriteInput) error {
		first := false
		k.once.Do(func() { first = true })
		if first {
			k.ctx = ctx
			close(k.reached)
			<-k.release
			return k.fails
		}
		return nil
	})
	return k
}

func (k *blocked) wait(t testing.TB) {
	t.Helper()
	select {
	case <-k.reached:
	case <-time.After(patience):
		t.Fatal("no write began")
	}
}

// Two callers share a key. The write of the first one's batch fails, so that it is tried alone: it
// posts, the other gets the same answer, and the transaction is there.
func TestAFailedBatchLeavesNothingToTheNextTry(t *testing.T) {
	for name, fault := range map[string]error{
		"because another writer was first": nil,
		"without an answer":                &dynamo.Error{Code: dynamo.CodeInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{})
			b.post(keyed("old", transfer("alice", "bob", "1")))
			// The first write holds the accounts until the pair and the old key wait for them.
			first := b.block()
			var leader sync.WaitGroup
			leader.Go(func() { b.post(transfer("alice", "bob", "1")) })
			first.wait(t)
			var group sync.WaitGroup
			receipts := make([]ledger.Receipt, 2)
			for i := range receipts {
				group.Go(func() {
					var err error
					receipts[i], err = b.Post(t.Context(), keyed("k", coffee()))
					if err != nil {
						t.Error(err)
					}
				})
			}
			group.Go(func() {
				// A repeat makes the condition on its header fail, and with it the whole batch.
				r, err := b.Post(t.Context(), keyed("old", transfer("alice", "bob", "1")))
				if err != nil || !r.Replayed {
					t.Errorf("the old key: %+v, %v", r, err)
				}
			})
			until(t, "two callers do not wait for the account, and one for its turn", func() bool {
				return ledger.Waiting(b.Ledger, "alice") == 2 &&
					ledger.WaitingForTurn(b.Ledger, "k") == 1
			})
			failed := false
			b.faces.onWriteIn(func(_ context.Context, in *dynamo.TransactWriteInput) error {
				if fault == nil || failed {
					return nil
				}
				failed = true
				return fault
			})
			close(first.release)
			leader.Wait()
			group.Wait()
			if receipts[0].Replayed == receipts[1].Replayed {
				t.Errorf("replayed: %t and %t", receipts[0].Replayed, receipts[1].Replayed)
			}
			b.wantStored(receipts[0])
			b.wantStored(receipts[1])
			b.wantBalance("alice", usd("92.50"))
			b.sound()
		})
	}
}

// A repeat of an old key and the reversal of its transaction wait for the same accounts, in either
// order. Both write the header of the transaction, so they are not in one write.
func TestARepeatAndTheReversalOfItsTransactionDoNotMeet(t *testing.T) {
	for _, reversalFirst := range []bool{true, false} {
		t.Run(fmt.Sprintf("the reversal waits first %t", reversalFirst), func(t *testing.T) {
			b := aliceAndBob(t, ledger.Options{})
			old := b.post(keyed("old", transfer("alice", "bob", "1")))
			first := b.block()
			var group sync.WaitGroup
			group.Go(func() { b.post(transfer("alice", "bob", "1")) })
			first.wait(t)
			waits := func(n int) {
				until(t, "a caller does not wait for the account",
					func() bool { return ledger.Waiting(b.Ledger, "alice") == n })
			}
			// The first one that waits leads the batch that the others may join.
			group.Go(func() { b.post(keyed("new", transfer("alice", "bob", "1"))) })
			waits(1)
			calls := []func(){
				func() {
					r, err := b.Reverse(t.Context(), reversing(old.Transaction.ID))
					if err != nil || r.Replayed || r.Transaction.ReversalOf != old.Transaction.ID {
						t.Errorf("the reversal: %+v, %v", r, err)
					}
				},
				func() {
					r, err := b.Post(t.Context(), keyed("old", transfer("alice", "bob", "1")))
					if err != nil || !r.Replayed || r.Transaction.ID != old.Transaction.ID {
						t.Errorf("the repeat: %+v, %v", r, err)
					}
				},
			}
			if !reversalFirst {
				calls[0], calls[1] = calls[1], calls[0]
			}
			for i, call := range calls {
				group.Go(call)
				waits(2 + i)
			}
			close(first.release)
			group.Wait()
			b.sound()
		})
	}
}

// wantStored compares an answer with the store.
func (b *books) wantStored(r ledger.Receipt) {
	b.t.Helper()
	found, err := b.Entry(context.WithoutCancel(b.t.Context()), r.Transaction.ID)
	if err != nil {
		b.t.Errorf("what was answered is not stored: %v", err)
		return
	}
	if diff := sameReceipt(r, ledger.Receipt{Entry: found}); diff != "" {
		b.t.Errorf("(-answered +stored):\n%s", diff)
	}
}

// A write of several callers goes on when the caller whose goroutine carries it out goes away, and
// it is one write: the followers do not have to try again.
func TestFollowersDoNotSufferFromALeaderThatGoes(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	b.post(transfer("alice", "bob", "1")) // The accounts are remembered.
	first := b.block()
	var group sync.WaitGroup
	group.Go(func() { b.post(transfer("alice", "bob", "1")) })
	first.wait(t)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	led := make(chan error, 1)
	go func() {
		_, err := b.Post(ctx, keyed("leader", transfer("alice", "bob", "1")))
		led <- err
	}()
	until(
		t,
		"the leader does not wait",
		func() bool { return ledger.Waiting(b.Ledger, "alice") == 1 },
	)
	const followers = 5
	for i := range followers {
		group.Go(func() {
			b.post(keyed(fmt.Sprint(i), transfer("alice", "bob", "1")))
		})
	}
	until(t, "the followers do not wait",
		func() bool { return ledger.Waiting(b.Ledger, "alice") == 1+followers })
	second := b.block()
	before := b.faces.writes()
	close(first.release)
	second.wait(t)
	leave()
	if err := second.ctx.Err(); err != nil {
		t.Errorf("the write of all of them ended with its leader: %v", err)
	}
	close(second.release)
	group.Wait()
	if err := <-led; err != nil {
		t.Errorf("the leader, whose transaction is written, got %v", err)
	}
	if n := b.faces.writes() - before; n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	b.wantBalance("bob", usd("8"))
	b.sound()
}

// A refusal on the account as this process remembers it is confirmed by the store: in the meantime
// another process has deposited.
func TestARefusalFromMemoryIsConfirmed(t *testing.T) {
	for name, refused := range map[string]func(b *books){
		"the funds": func(b *books) {
			b.post(ledger.DepositInto("alice", usd("50")))
		},
		"the status": func(b *books) {
			if _, err := b.UnfreezeAccount(b.t.Context(), "bob"); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			both := processes(t, ledger.Options{})
			b := both[0]
			b.account("alice", usd("100"))
			b.account("bob", usd("0"))
			amount := "120"
			if name == "the status" {
				amount = "20"
				if _, err := b.FreezeAccount(t.Context(), "bob"); err != nil {
					t.Fatal(err)
				}
			}
			_, err := b.Post(t.Context(), keyed("k", transfer("alice", "bob", amount)))
			if err == nil {
				t.Fatal("it was posted at once")
			}
			refused(both[1])
			again := keyed("k", transfer("alice", "bob", amount))
			if r, err := b.Post(t.Context(), again); err != nil {
				t.Error(err)
			} else {
				b.wantStored(r)
			}
			b.sound()
		})
	}
}

// A write whose answer was lost is found again, and counts as the first: one caller of the key is
// told that its request made the transaction.
func TestALostAnswerIsTheFirst(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	lose := true
	b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
		if !lose {
			return nil
		}
		lose = false
		if _, err := b.db.TransactWrite(context.Background(), in); err != nil {
			return err
		}
		return &dynamo.Error{Code: dynamo.CodeInternalServerError}
	})
	r := b.post(keyed("k", coffee()))
	if r.Replayed {
		t.Error("the request that made the transaction is answered as a repeat")
	}
	b.wantStored(r)
	if again := b.post(keyed("k", coffee())); !again.Replayed || sameReceipt(r, again) != "" {
		t.Errorf("again: %+v", again)
	}
	b.sound()
}

// A caller of the same key that waits gets the answer though the first caller goes away.
func TestARepeatDoesNotSufferFromAFirstCallerThatGoes(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	first := b.block()
	var group sync.WaitGroup
	group.Go(func() { b.post(transfer("alice", "bob", "1")) })
	first.wait(t)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := b.Post(ctx, keyed("k", coffee()))
		gone <- err
	}()
	until(t, "nobody waits", func() bool { return ledger.Waiting(b.Ledger, "alice") == 1 })
	var r ledger.Receipt
	group.Go(func() { r = b.post(keyed("k", coffee())) })
	until(t, "the repeat does not wait",
		func() bool { return ledger.WaitingForTurn(b.Ledger, "k") == 1 })
	second := b.block()
	close(first.release)
	second.wait(t)
	leave()
	close(second.release)
	group.Wait()
	if err := <-gone; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller got %v", err)
	}
	b.wantStored(r)
	b.wantBalance("alice", usd("93.50"))
	b.sound()
}

// All kinds of callers at once, in two processes, on a store that misbehaves: each answer is in the
// store, and of the callers of a key exactly one is told that it was the first.
func TestEveryReceiptIsStored(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	each := storetest.Rounds(30)
	both := processes(t, ledger.Options{})
	b := both[0]
	for i := range 3 {
		b.account(accountID(i), usd("300"))
	}
	old := transfer(accountID(0), accountID(1), "1")
	b.post(keyed("old", old))
	for i := range both {
		both[i].misbehave(seed + uint64(i))
	}
	answers := map[string][]ledger.Receipt{}
	var mu sync.Mutex
	keep := func(key string, r ledger.Receipt, err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			answers[key] = append(answers[key], r)
		case !isProblem(err, ledger.ErrInsufficientFunds):
			t.Errorf("%s: %v", key, err)
		}
	}
	// Both callers of a pair send the same key at the same moment, then go on to the next.
	errs := together(10, func(i int) error {
		r := rand.New(rand.NewPCG(seed, uint64(10+i)))
		for n := range each {
			if i < 2 {
				got, err := b.Post(context.Background(), keyed("old", old))
				keep("old", got, err)
				continue
			}
			key := fmt.Sprintf("%d-%d", i, n)
			from := r.IntN(3)
			p := keyed(key, transfer(accountID(from), accountID((from+1)%3),
				fmt.Sprint(1+r.IntN(400))))
			var pair sync.WaitGroup
			for k := range 2 {
				pair.Go(func() {
					got, err := both[k*(i%2)].Post(context.Background(), p)
					keep(key, got, err)
				})
			}
			pair.Wait()
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i := range both {
		both[i].faces.onWrite(nil)
	}
	for key, rs := range answers {
		fresh := 0
		for _, r := range rs {
			if !r.Replayed {
				fresh++
			}
			b.wantStored(r)
		}
		if key != "old" && fresh != 1 {
			t.Errorf("%s: %d of %d callers were the first", key, fresh, len(rs))
		}
	}
	b.sound()
}

package ledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// processes are two ledgers on one database, each with nothing of the other's in memory.
func processes(t testing.TB, opts ledger.Options) [2]*books {
	b := openBooks(t, opts)
	return [2]*books{b, booksOn(t, b.db, opts)}
}

func TestParallelDebitsOfMoreThanThereIs(t *testing.T) {
	for _, callers := range []int{2, 100} {
		for name, opts := range batching {
			t.Run(fmt.Sprintf("%d callers, %s", callers, name), func(t *testing.T) {
				both := processes(t, opts)
				b := both[0]
				b.account("alice", usd("100"))
				b.account("bob", usd("0"))
				errs := together(callers, func(i int) error {
					_, err := both[i%2].Post(t.Context(),
						transfer("alice", "bob", "80"))
					return err
				})
				won := 0
				for _, err := range errs {
					switch {
					case err == nil:
						won++
					case !isProblem(err, ledger.ErrInsufficientFunds):
						t.Errorf("got %v", err)
					}
				}
				if won != 1 {
					t.Errorf("%d debits of 80 were posted on a balance of 100", won)
				}
				b.wantBalance("alice", usd("20"))
				b.wantBalance("bob", usd("80"))
				b.sound()
			})
		}
	}
}

// An account that was never posted to has rules too, and one that was never used is opened once.
func TestFirstUseUnderARace(t *testing.T) {
	both := processes(t, ledger.Options{})
	b := both[0]
	b.account("new", usd("0"))
	errs := together(20, func(i int) error {
		if i%4 == 3 {
			_, err := both[i%2].Post(t.Context(), ledger.DepositInto("new", usd("1")))
			return err
		}
		_, err := both[i%2].Post(t.Context(), ledger.WithdrawFrom("new", usd("10")))
		return err
	})
	for i, err := range errs {
		if i%4 == 3 && err != nil {
			t.Errorf("deposit: %v", err)
		}
		if i%4 != 3 && !isProblem(err, ledger.ErrInsufficientFunds) {
			t.Errorf("withdrawal: %v", err)
		}
	}
	b.wantBalance("new", usd("5"))
	b.wantBalance("@deposits-USD", usd("-5"))
	b.sound()
}

// misbehave makes a store that conflicts now and then, and sometimes fails without saying whether
// it has written.
func (b *books) misbehave(seed uint64) {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 2))
	b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
		mu.Lock()
		dice := r.IntN(100)
		mu.Unlock()
		switch {
		case dice < 10:
			return conflict(in)
		case dice < 13:
			return &dynamo.Error{Code: dynamo.CodeInternalServerError}
		case dice < 16:
			if _, err := b.db.TransactWrite(context.Background(), in); err != nil {
				return err
			}
			return &dynamo.Error{Code: dynamo.CodeInternalServerError}
		}
		return nil
	})
}

// Callers of two processes over few accounts, some of them frozen meanwhile, on a store that
// misbehaves: nothing is lost, nothing is doubled, nothing goes below zero.
func TestManyCallersOnFewAccounts(t *testing.T) {
	const accounts, callers = 4, 24
	each := storetest.Rounds(15)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	both := processes(t, ledger.Options{})
	b := both[0]
	for i := range accounts {
		b.account(accountID(i), usd("50"))
	}
	for i := range both {
		both[i].misbehave(seed + uint64(i))
	}
	posted := make([][]ledger.TransactionID, callers)
	errs := together(callers, func(i int) error {
		for n := range each {
			p := transfer(accountID((i+n)%accounts), accountID((i+3*n+1)%accounts), "7")
			if n%3 == 0 { // Several at once, so that lanes are taken in different orders.
				move(&p, accountID((i+2)%accounts), accountID(i%accounts), usd("3"))
			}
			p.IdempotencyKey = fmt.Sprintf("%d-%d", i, n)
			r, err := both[i%2].Post(t.Context(), p)
			switch {
			case err == nil:
				posted[i] = append(posted[i], r.Transaction.ID)
			case !isProblem(err, ledger.ErrInsufficientFunds) &&
				!isProblem(err, ledger.ErrAccountFrozen):
				return err
			}
			if i == 0 && n%5 == 0 {
				if _, err := b.FreezeAccount(t.Context(), accountID(n%accounts)); err != nil {
					return err
				}
				if _, err := b.UnfreezeAccount(t.Context(), accountID(n%accounts)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	total, count := usd("0"), accounts // Each account had an opening.
	for i, err := range errs {
		if err != nil {
			t.Error(err)
		}
		count += len(posted[i])
	}
	for i := range accounts {
		balance := b.balance(accountID(i))
		if balance.Sign() < 0 {
			t.Errorf("%s has %s", accountID(i), balance)
		}
		total, _ = total.Add(balance)
	}
	if total != usd("200") {
		t.Errorf("the accounts hold %s", total)
	}
	if r := b.sound(); r.Transactions != count {
		t.Errorf("there are %d transactions, and %d receipts", r.Transactions, count)
	}
}

// Postings that share an account go into one write, so a hot account costs few of them.
func TestPostingsThatWaitAreJoined(t *testing.T) {
	const callers = 60
	b := openBooks(t, ledger.Options{})
	b.account("hot", usd("0"))
	for i := range callers {
		b.account(accountID(i), usd("1"))
	}
	before := b.faces.writes()
	// The first write is of one posting alone, and waits until the others are in the queue.
	first := b.block()
	var group sync.WaitGroup
	group.Go(func() { b.post(transfer(accountID(0), "hot", "1")) })
	first.wait(t)
	for i := 1; i < callers; i++ {
		group.Go(func() {
			if _, err := b.Post(t.Context(), transfer(accountID(i), "hot", "1")); err != nil {
				t.Error(err)
			}
		})
	}
	until(t, "the other callers do not wait for the account",
		func() bool { return ledger.Waiting(b.Ledger, "hot") == callers-1 })
	close(first.release)
	group.Wait()
	b.wantBalance("hot", usd("60"))
	// A write of 100 actions takes 24 of them: 1 + 24 + 24 + 11.
	if got := b.faces.writes() - before; got != 4 {
		t.Errorf("%d postings took %d writes", callers, got)
	}
	b.sound()
}

// One bad posting in a batch does not spoil the others.
func TestABatchWithRefusals(t *testing.T) {
	const callers = 30
	b := openBooks(t, ledger.Options{})
	b.account("hot", usd("0"))
	for i := range callers {
		b.account(accountID(i), usd("1"))
	}
	errs := together(callers, func(i int) error {
		amount := usd("1")
		if i%3 == 0 {
			amount = usd("2")
		}
		_, err := b.Post(t.Context(), ledger.TransferBetween(accountID(i), "hot", amount))
		return err
	})
	for i, err := range errs {
		if i%3 == 0 && !isProblem(err, ledger.ErrInsufficientFunds) {
			t.Errorf("caller %d: %v", i, err)
		}
		if i%3 != 0 && err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	b.wantBalance("hot", usd("20"))
	b.sound()
}

// conflict is what the store says when another transaction is at one of the items.
func conflict(in *dynamo.TransactWriteInput) error {
	reasons := make([]dynamo.CancellationReason, len(in.Items))
	reasons[len(reasons)-1] = dynamo.Conflict()
	return dynamo.Canceled(reasons)
}

func TestConflictsAreTriedAgain(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("hot", usd("0"))
	for i := range 20 {
		b.account(accountID(i), usd("5"))
	}
	var n atomic.Int64
	b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
		if n.Add(1)%3 != 0 { // Two of three.
			return conflict(in)
		}
		return nil
	})
	errs := together(20, func(i int) error {
		_, err := b.Post(t.Context(), transfer(accountID(i), "hot", "5"))
		return err
	})
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	b.faces.onWrite(nil)
	b.wantBalance("hot", usd("100"))
	b.sound()
}

func TestEndlessConflictsAreReported(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("10"))
	b.account("bob", usd("0"))
	b.faces.onWrite(conflict)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := b.Post(ctx, keyed("k", transfer("alice", "bob", "1")))
	if !isProblem(err, ledger.ErrContended) {
		t.Errorf("got %v", err)
	}
	b.faces.onWrite(nil)
	if r := b.post(keyed("k", transfer("alice", "bob", "1"))); r.Replayed {
		t.Error("it was posted after all")
	}
	b.wantBalance("alice", usd("9"))
	b.sound()
}

// A caller who leaves the queue neither blocks it nor takes its place with it.
func TestCallersLeaveTheQueue(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("hot", usd("0"))
	for i := range 40 {
		b.account(accountID(i), usd("1"))
	}
	errs := together(40, func(i int) error {
		ctx := t.Context()
		if i%2 == 0 {
			short, cancel := context.WithTimeout(ctx, time.Duration(i)*50*time.Microsecond)
			defer cancel()
			ctx = short
		}
		_, err := b.Post(ctx, keyed(accountKey(i),
			transfer(accountID(i), "hot", "1")))
		return err
	})
	for i, err := range errs {
		if i%2 == 1 && err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	b.sound()
	for i := range 40 { // Whoever left may come again.
		b.post(keyed(accountKey(i), transfer(accountID(i), "hot", "1")))
	}
	b.wantBalance("hot", usd("40"))
	b.sound()
}

// What is remembered of accounts is bounded, and never drops one that is in use.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("10"))
	b.account("bob", usd("0"))
	b.faces.onWrite(func(*dynamo.TransactWriteInput) error {
		for i := range 150_000 {
			ledger.Touch(b.Ledger, ledger.AccountID(fmt.Sprint(i)))
		}
		if n, most := ledger.Remembered(b.Ledger); n > most || n < most/2 {
			t.Errorf("%d accounts are remembered, the most is %d", n, most)
		}
		if ledger.Waiting(b.Ledger, "alice") < 0 {
			t.Error("an account in use was dropped")
		}
		return nil
	})
	b.post(transfer("alice", "bob", "1"))
	b.faces.onWrite(nil)
	b.post(transfer("alice", "bob", "1"))
	b.wantBalance("bob", usd("2"))
}

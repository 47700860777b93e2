package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// items counts the items of the table.
func (b *books) items() int {
	b.t.Helper()
	n := 0
	in := &dynamo.ScanInput{TableName: "FinancialTransactions", ConsistentRead: true}
	for {
		out, err := b.db.Scan(context.WithoutCancel(b.t.Context()), in)
		if err != nil {
			b.t.Fatal(err)
		}
		n += len(out.Items)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return n
		}
	}
}

// A posting that is refused leaves nothing behind, whatever the reason: the accounts of the
// ledger's own that it would have used for the first time do not exist.
func TestARefusalLeavesNoTrace(t *testing.T) {
	for _, f := range faults {
		t.Run(string(f.code), func(t *testing.T) {
			b := booksWithFaults(t)
			p := transfer("rich", "friend", "5.50")
			move(&p, ledger.Suspense, ledger.Clearing, usd("1"))
			move(&p, ledger.Fees, "friend", usd("1"))
			f.spoil(&p)
			before := b.items()
			for range 2 { // With the accounts read, and with the accounts remembered.
				if _, err := b.Post(t.Context(), p); code(err) != f.code {
					t.Errorf("got %v", err)
				}
			}
			if after := b.items(); after != before {
				t.Errorf("%d items more", after-before)
			}
			for _, name := range []ledger.AccountID{ledger.Suspense, ledger.Clearing, ledger.Fees} {
				_, err := b.Account(t.Context(), ledger.SystemAccount(name, "USD"))
				wantProblem(t, err, ledger.ErrAccountNotFound)
			}
			b.sound()
		})
	}
}

// One of the ledger's own accounts comes into being with the first posting that is accepted, in the
// same write, also next to one that is refused.
func TestASystemAccountIsOpenedByItsFirstPosting(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	_, err := b.Post(t.Context(), ledger.DepositInto("bob", nzd("1")))
	wantProblem(t, err, ledger.ErrCurrencyMismatch)
	_, err = b.Account(t.Context(), "@deposits-NZD")
	wantProblem(t, err, ledger.ErrAccountNotFound)
	before := b.faces.writes()
	b.post(ledger.DepositInto("bob", usd("1")))
	if n := b.faces.writes() - before; n != 1 {
		t.Errorf("the first deposit took %d writes", n)
	}
	b.wantBalance("@deposits-USD", usd("-1"))
	b.post(ledger.DepositInto("bob", usd("1"))) // The account is remembered.
	a, err := b.Account(t.Context(), "@deposits-USD")
	if err != nil || a.Version != 2 || !a.Unlimited || a.AccountType != ledger.SystemAccountType {
		t.Errorf("%+v, %v", a, err)
	}
	if r := b.sound(); r.Accounts == 0 {
		t.Error("no account was compared")
	}
}

// A write that fails leaves no account behind, and none in memory.
func TestASystemAccountIsNotRememberedUnlessItIsWritten(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	broken := problem.From(ledger.ErrContended)
	b.faces.onWrite(func(*dynamo.TransactWriteInput) error { return broken })
	if _, err := b.Post(t.Context(), ledger.DepositInto("bob", usd("1"))); err == nil {
		t.Fatal("it was posted")
	}
	b.faces.onWrite(nil)
	_, err := b.Account(t.Context(), "@deposits-USD")
	wantProblem(t, err, ledger.ErrAccountNotFound)
	b.post(ledger.DepositInto("bob", usd("1")))
	b.wantBalance("@deposits-USD", usd("-1"))
	b.sound()
}

// A posting of the maximum size that uses accounts of the ledger's own for the first time.
func TestTheLargestFirstPosting(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	p := ledger.Posting{Type: ledger.Transfer}
	for i := range 49 {
		b.account(accountID(i), usd("0"))
		p.Legs = append(p.Legs, ledger.PostingLeg{AccountID: accountID(i), Type: ledger.Credit,
			Amount: usd("1")})
	}
	p.Legs = append(p.Legs[:48], ledger.PostingLeg{AccountID: ledger.Interest, Type: ledger.Debit,
		Amount: usd("48")})
	p.Legs = append(p.Legs[:49], ledger.PostingLeg{AccountID: accountID(0), Type: ledger.Credit,
		Amount: usd("1")})
	p.Legs[48].Amount = usd("49")
	r := b.post(p)
	b.wantStored(r)
	b.wantBalance("@interest-USD", usd("-49"))
	b.sound()
}

// Several postings of one Tx may use an account for the first time. It does not exist before the
// Tx is committed, nor if it never is.
func TestPostTxOpensASystemAccount(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	tx := b.store.NewTx()
	for range 3 {
		if _, err := b.PostTx(t.Context(), tx, ledger.DepositInto("bob", usd("2"))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.Account(t.Context(), "@deposits-USD")
	wantProblem(t, err, ledger.ErrAccountNotFound)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, err := b.Account(t.Context(), "@deposits-USD")
	if err != nil || a.Balance != usd("-6") || a.Version != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	b.post(ledger.WithdrawFrom("bob", usd("6")))
	b.sound()
}

// A clock that is ahead by more than clocks may differ dates nothing but its own postings: the
// accounts refuse postings of servers whose clocks are right, and say why.
func TestAClockThatIsAheadIsNotContagious(t *testing.T) {
	for name, opts := range batching {
		t.Run(name, func(t *testing.T) {
			both := processes(t, opts)
			b := both[0]
			b.account("alice", usd("0"))
			b.account("bob", usd("100"))
			b.account("carol", usd("100"))
			b.post(ledger.DepositInto("alice", usd("100")))
			both[1].clock.Move(ledger.ClockSkewMax + time.Second)
			both[1].post(ledger.DepositInto("alice", usd("1")))
			for range 2 {
				_, err := b.Post(t.Context(), keyed("k", ledger.DepositInto("bob", usd("5"))))
				e := problem.From(err)
				if !isProblem(err, ledger.ErrAccountFromFuture) ||
					e.Details["account"] != "@deposits-USD" || e.Kind != problem.Unavailable {
					t.Errorf("got %v, %+v", err, e)
				}
			}
			// Others are not touched, and the account is free once the clock comes up to it.
			r := b.post(transfer("carol", "bob", "1"))
			if !r.Transaction.CreatedAt.Equal(start) {
				t.Errorf("it is dated %s", r.Transaction.CreatedAt)
			}
			b.clock.Move(time.Second)
			if r := b.post(keyed("k", ledger.DepositInto("bob", usd("5")))); r.Replayed {
				t.Error("it is a replay")
			}
			b.sound()
		})
	}
}

// Servers whose clocks differ by no more than they may share accounts, each leg at or after the one
// before it.
func TestClocksMayDifferALittle(t *testing.T) {
	both := processes(t, ledger.Options{})
	b := both[0]
	b.account("alice", usd("100"))
	b.account("bob", usd("100"))
	both[1].clock.Move(ledger.ClockSkewMax)
	for i := range 10 {
		both[i%2].post(transfer("alice", "bob", "1"))
	}
	b.wantBalance("bob", usd("110"))
	b.sound()
}

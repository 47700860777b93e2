package payments_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// start is when tests begin: the seed's example of a payment's time.
var start = time.Date(2019, 9, 25, 1, 1, 1, 0, time.UTC)

// bank is a ledger and a scheduler on one database, with a clock that the test moves.
type bank struct {
	*payments.Scheduler
	t     testing.TB
	books *ledger.Ledger
	db    storetest.Database
	faces *interposed
	store *singletable.Store
	clock *storetest.Clock
	opts  payments.Options
}

func openBank(t testing.TB, opts payments.Options) *bank {
	t.Helper()
	db := storetest.OpenFor(t, engine.Options{})
	var err error
	b := &bank{t: t, db: db, clock: storetest.NewClock(start)}
	b.faces = &interposed{DB: db, settle: db.CatchUp}
	b.store = singletable.NewStore(b.faces, singletable.Options{
		Now: b.clock.Now, CursorKey: []byte("payments of tests"),
	})
	b.books, err = ledger.New(b.store, ledger.Options{Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	b.opts = opts
	b.Scheduler = b.another()
	for _, m := range []*singletable.Model{b.books.Model(), b.Model()} {
		if err := m.Ensure(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// another returns a scheduler of another process on the same tables.
func (b *bank) another() *payments.Scheduler {
	b.t.Helper()
	opts := b.opts
	opts.Now = b.clock.Now
	s, err := payments.New(b.store, b.books, opts)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func nzd(text string) money.Amount { return money.MustParse(text, "NZD") }

// account opens an account with money in it.
func (b *bank) account(id ledger.AccountID, balance string) {
	b.t.Helper()
	b.open(ledger.NewAccount{
		ID: id, UserID: "user-" + ledger.UserID(id), AccountType: "checking", Currency: "NZD",
	}, balance)
}

func (b *bank) open(n ledger.NewAccount, balance string) {
	b.t.Helper()
	if _, err := b.books.OpenAccount(b.t.Context(), n); err != nil {
		b.t.Fatal(err)
	}
	if balance == "" {
		return
	}
	p := ledger.DepositInto(n.ID, money.MustParse(balance, n.Currency))
	p.IdempotencyKey = "open-" + string(n.ID)
	if _, err := b.books.Post(b.t.Context(), p); err != nil {
		b.t.Fatal(err)
	}
}

// vanish removes an account from the store, as no operation of the ledger does: a payment to it
// that was scheduled before can then never be paid.
func (b *bank) vanish(id ledger.AccountID) {
	b.t.Helper()
	keys := []dynamo.Key{{
		"PK": dynamo.S("ACCOUNT#" + string(id)), "SK": dynamo.S("METADATA"),
	}}
	for shard := range 64 { // The directory's entry, in whichever shard it is.
		keys = append(keys, dynamo.Key{
			"PK": dynamo.S(fmt.Sprint("@ledger#accounts#", shard)),
			"SK": dynamo.S("ACCOUNT#" + string(id)),
		})
	}
	for _, key := range keys {
		err := storetest.Retry(func() error {
			_, err := b.db.Delete(b.t.Context(), &dynamo.DeleteInput{
				TableName: "FinancialTransactions", Key: key,
			})
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if _, err := b.books.Account(b.t.Context(), id); !errors.Is(err, ledger.ErrAccountNotFound) {
		b.t.Fatalf("the account %s is still there: %v", id, err)
	}
}

// order is a payment from alice to bob that is due at once.
func order(key, amount string) payments.NewPayment {
	return payments.NewPayment{
		Key: key, AccountID: "alice", PayeeID: "bob", Amount: nzd(amount), At: start,
		Description: "Rent",
	}
}

func (b *bank) schedule(n payments.NewPayment) payments.Payment {
	b.t.Helper()
	r, err := b.Schedule(b.t.Context(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Payment
}

func (b *bank) run() payments.Report {
	b.t.Helper()
	b.catchUp()
	r, err := b.Run(b.t.Context(), payments.RunOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bank) catchUp() {
	b.t.Helper()
	if err := b.db.CatchUp(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bank) payment(id payments.PaymentID) payments.Payment {
	b.t.Helper()
	p, err := b.Payment(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bank) balance(id ledger.AccountID) string {
	b.t.Helper()
	a, err := b.books.Account(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.Balance.Text()
}

func (b *bank) wantBalances(want map[ledger.AccountID]string) {
	b.t.Helper()
	for id, w := range want {
		if got := b.balance(id); got != w {
			b.t.Errorf("balance of %s is %s, want %s", id, got, w)
		}
	}
}

// interposed stands between the kit and the database, so that tests can fail calls.
type interposed struct {
	dynamo.DB
	mu     sync.Mutex
	one    sync.Mutex
	alone  bool
	before func(op string, in any) error
	after  func(op string, in any) error
	settle func() error
}

func (d *interposed) hooks(op string, in any, do func() error) error {
	d.mu.Lock()
	before, after, alone := d.before, d.after, d.alone
	d.mu.Unlock()
	if alone {
		d.one.Lock()
		defer d.one.Unlock()
	}
	if before != nil {
		if err := before(op, in); err != nil {
			return err
		}
	}
	err := do()
	if err == nil && after != nil {
		err = after(op, in)
	}
	return err
}

func (d *interposed) Query(
	ctx context.Context, in *dynamo.QueryInput,
) (out *dynamo.QueryOutput, err error) {
	d.mu.Lock()
	settle := d.settle
	d.mu.Unlock()
	if settle != nil && in.IndexName != "" && in.ExclusiveStartKey == nil {
		if err := settle(); err != nil {
			return nil, err
		}
	}
	err = d.hooks("Query", in, func() error {
		out, err = d.DB.Query(ctx, in)
		return err
	})
	return out, err
}

func (d *interposed) Put(
	ctx context.Context, in *dynamo.PutInput,
) (out *dynamo.PutOutput, err error) {
	err = d.hooks("Put", in, func() error {
		out, err = d.DB.Put(ctx, in)
		return err
	})
	return out, err
}

func (d *interposed) Update(
	ctx context.Context, in *dynamo.UpdateInput,
) (out *dynamo.UpdateOutput, err error) {
	err = d.hooks("Update", in, func() error {
		out, err = d.DB.Update(ctx, in)
		return err
	})
	return out, err
}

func (d *interposed) Delete(
	ctx context.Context, in *dynamo.DeleteInput,
) (out *dynamo.DeleteOutput, err error) {
	err = d.hooks("Delete", in, func() error {
		out, err = d.DB.Delete(ctx, in)
		return err
	})
	return out, err
}

func (d *interposed) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (out *dynamo.TransactWriteOutput, err error) {
	err = d.hooks("TransactWrite", in, func() error {
		out, err = d.DB.TransactWrite(ctx, in)
		return err
	})
	return out, err
}

// serial lets one call in at a time, so that hooks need no lock.
func (d *interposed) serial() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.alone = true
}

// on sets what is called before and after each write; nil takes it away.
func (d *interposed) on(before, after func(op string, in any) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before, d.after = before, after
}

func accountID(i int) ledger.AccountID { return ledger.AccountID(fmt.Sprintf("acct-%03d", i)) }

func (b *bank) change(id payments.PaymentID, c payments.Change) payments.Payment {
	b.t.Helper()
	p, err := b.Change(b.t.Context(), id, c)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bank) cancel(id payments.PaymentID) payments.Payment {
	b.t.Helper()
	p, err := b.Cancel(b.t.Context(), id, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bank) moveDay(day string) payments.MovedDay {
	b.t.Helper()
	moved, err := b.MoveDay(b.t.Context(), day, time.UTC, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return moved
}

// fieldsOf returns the names of the fields that a problem blames.
func fieldsOf(err error) []string {
	var names []string
	for _, f := range problem.From(err).Fields {
		names = append(names, f.Name)
	}
	return names
}

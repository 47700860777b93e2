package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// books is a ledger on a database of its own, with a clock that the test moves.
type books struct {
	*ledger.Ledger
	t     testing.TB
	db    storetest.Database
	faces *interposed
	store *singletable.Store
	clock *storetest.Clock
}

// interposed stands between the kit and the database, so that tests can fail calls.
type interposed struct {
	dynamo.DB
	mu    sync.Mutex
	write func(context.Context, *dynamo.TransactWriteInput) error
	count int
	reads error
	query func()
	// index changes what indexes hold, if it is set.
	index *brokenIndex
	// settle lets the indexes catch up before they are read. Tests look into them right after they
	// wrote; those of late indexes take it away.
	settle func() error
}

func (d *interposed) Query(
	ctx context.Context, in *dynamo.QueryInput,
) (*dynamo.QueryOutput, error) {
	d.mu.Lock()
	err, settle, query, index := d.reads, d.settle, d.query, d.index
	d.mu.Unlock()
	if query != nil {
		query()
	}
	if err == nil && settle != nil && in.IndexName != "" && in.ExclusiveStartKey == nil {
		err = settle()
	}
	if err != nil {
		return nil, err
	}
	out, err := d.DB.Query(ctx, in)
	if err == nil && index != nil && in.IndexName != "" {
		out.Items = index.answer(in.IndexName, out.Items, func(ghost dynamo.Item) bool {
			return asksFor(in, ghost)
		})
	}
	return out, err
}

func (d *interposed) Scan(
	ctx context.Context, in *dynamo.ScanInput,
) (*dynamo.ScanOutput, error) {
	d.mu.Lock()
	err, settle, index := d.reads, d.settle, d.index
	d.mu.Unlock()
	if err == nil && settle != nil && in.IndexName != "" && in.ExclusiveStartKey == nil {
		err = settle()
	}
	if err != nil {
		return nil, err
	}
	out, err := d.DB.Scan(ctx, in)
	if err == nil && index != nil && in.IndexName != "" {
		first := in.Segment == 0 && in.ExclusiveStartKey == nil
		out.Items = index.answer(in.IndexName, out.Items,
			func(dynamo.Item) bool { return first })
	}
	return out, err
}

// brokenIndex is an index that does not hold what the table does.
type brokenIndex struct {
	name  string
	alter func(dynamo.Item) dynamo.Item // nil takes the row away
	ghost dynamo.Item                   // a row that the table does not have
}

func (x *brokenIndex) answer(
	index string, items []dynamo.Item, wantGhost func(dynamo.Item) bool,
) (out []dynamo.Item) {
	if index != x.name {
		return items
	}
	for _, item := range items {
		if x.alter != nil {
			item = x.alter(maps.Clone(item))
		}
		if item != nil {
			out = append(out, item)
		}
	}
	if x.ghost != nil && wantGhost(x.ghost) {
		out = append(out, x.ghost)
	}
	return out
}

// asksFor reports whether a query asks for the keys that an item has in the index.
func asksFor(in *dynamo.QueryInput, item dynamo.Item) bool {
	for _, v := range in.ExpressionAttributeValues {
		if !v.Equal(item[in.IndexName+"PK"]) && !v.Equal(item[in.IndexName+"SK"]) {
			return false
		}
	}
	return in.ExclusiveStartKey == nil
}

// onQuery sets what happens before each query; nil takes it away.
func (d *interposed) onQuery(hook func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.query = hook
}

// failReads makes queries fail.
func (d *interposed) failReads(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads = err
}

func (d *interposed) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	d.mu.Lock()
	hook := d.write
	d.count++
	d.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, in); err != nil {
			return nil, err
		}
	}
	return d.DB.TransactWrite(ctx, in)
}

// onWrite sets what is asked before each transaction of the store; nil takes it away.
func (d *interposed) onWrite(hook func(*dynamo.TransactWriteInput) error) {
	if hook == nil {
		d.onWriteIn(nil)
		return
	}
	d.onWriteIn(func(_ context.Context, in *dynamo.TransactWriteInput) error { return hook(in) })
}

// onWriteIn is onWrite for hooks that look at the context of the write.
func (d *interposed) onWriteIn(hook func(context.Context, *dynamo.TransactWriteInput) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.write = hook
}

func (d *interposed) writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// start is when tests begin: the instant of the seed's examples.
var start = time.Date(2026, 1, 2, 10, 30, 0, 123e6, time.UTC)

func openBooks(t testing.TB, opts ledger.Options) *books {
	t.Helper()
	db := storetest.OpenFor(t, engine.Options{})
	createTable(t, db)
	return booksOn(t, db, opts)
}

// booksOn returns another ledger on a database, as another process would have it.
func booksOn(t testing.TB, db storetest.Database, opts ledger.Options) *books {
	t.Helper()
	b := &books{t: t, db: db, faces: &interposed{DB: db, settle: db.CatchUp},
		clock: storetest.NewClock(start)}
	if opts.Now == nil {
		opts.Now = b.clock.Now
	}
	b.store = singletable.NewStore(b.faces, singletable.Options{CursorKey: []byte("test")})
	var err error
	if b.Ledger, err = ledger.New(b.store, opts); err != nil {
		t.Fatal(err)
	}
	return b
}

// createTable makes the table as its design says, by hand: the names are a contract.
func createTable(t testing.TB, db dynamo.Admin) {
	t.Helper()
	in := &dynamo.CreateTableInput{
		TableName:   "FinancialTransactions",
		KeySchema:   dynamo.HashRangeKey("PK", "SK"),
		BillingMode: dynamo.BillingPayPerRequest,
	}
	for _, name := range []string{"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			dynamo.AttributeDefinition{AttributeName: name, AttributeType: dynamo.KindS})
	}
	for _, name := range []string{"GSI1", "GSI2"} {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, dynamo.GlobalSecondaryIndex{
			IndexName:  name,
			KeySchema:  dynamo.HashRangeKey(name+"PK", name+"SK"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
		})
	}
	if _, err := db.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// usd and the like are amounts for tests.
func usd(text string) money.Amount { return money.MustParse(text, "USD") }
func nzd(text string) money.Amount { return money.MustParse(text, "NZD") }

// account opens an account with money in it, from the opening balances.
func (b *books) account(id ledger.AccountID, balance money.Amount) {
	b.t.Helper()
	_, err := b.OpenAccount(b.t.Context(), ledger.NewAccount{
		ID: id, UserID: "user-1", AccountType: "checking", Currency: balance.Currency(),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if balance.IsZero() {
		return
	}
	b.post(ledger.Posting{Type: "opening", Legs: []ledger.PostingLeg{
		{AccountID: ledger.Opening, Type: ledger.Debit, Amount: balance},
		{AccountID: id, Type: ledger.Credit, Amount: balance},
	}})
}

// post posts what must succeed.
func (b *books) post(p ledger.Posting) ledger.Receipt {
	b.t.Helper()
	r, err := b.Post(b.t.Context(), p)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *books) balance(id ledger.AccountID) money.Amount {
	b.t.Helper()
	a, err := b.Account(context.WithoutCancel(b.t.Context()), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return a.Balance
}

func (b *books) wantBalance(id ledger.AccountID, want money.Amount) {
	b.t.Helper()
	if got := b.balance(id); got != want {
		b.t.Errorf("balance of %s is %s, want %s", id, got, want)
	}
}

// sound fails the test unless a reconciliation over everything finds nothing.
func (b *books) sound() ledger.Reconciliation {
	b.t.Helper()
	r, err := b.Reconcile(context.WithoutCancel(b.t.Context()),
		ledger.ReconcileQuery{From: "2020-01-01", To: "2040-01-01"})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range r.Divergences {
		b.t.Errorf("reconciliation: %s", d)
	}
	for _, total := range r.Totals {
		if total.Beyond {
			continue
		}
		if total.Debits != total.Credits || !total.Balances.IsZero() {
			b.t.Errorf("%s: debits %s, credits %s, balances %s", total.Currency, total.Debits,
				total.Credits, total.Balances)
		}
	}
	return r
}

func transfer(from, to ledger.AccountID, amount string) ledger.Posting {
	return ledger.TransferBetween(from, to, usd(amount))
}

func reversing(id ledger.TransactionID) ledger.Reversing {
	return ledger.Reversing{TransactionID: id}
}

func pagesOf(size int) ledger.PageQuery { return ledger.PageQuery{Size: size} }

// batching has the two ways in which postings of one process meet.
var batching = map[string]ledger.Options{"batched": {}, "unbatched": {Unbatched: true}}

func wantProblem(t testing.TB, err error, want *problem.Definition) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %s", err, want.Code())
	}
}

func keyed(key string, p ledger.Posting) ledger.Posting {
	p.IdempotencyKey = key
	return p
}

func isProblem(err error, d *problem.Definition) bool { return errors.Is(err, d) }

func code(err error) problem.Code {
	if err == nil {
		return "none"
	}
	return problem.From(err).Code
}

// together runs f n times at once and returns the errors.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var ready, done sync.WaitGroup
	ready.Add(1)
	for i := range n {
		done.Go(func() {
			ready.Wait()
			errs[i] = f(i)
		})
	}
	ready.Done()
	done.Wait()
	return errs
}

func accountID(i int) ledger.AccountID { return ledger.AccountID(fmt.Sprintf("a%04d", i)) }

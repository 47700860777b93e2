package rates_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// clockStart is the time of the seed's example items.
var clockStart = time.Unix(1704067200, 0).UTC()

// board is a board under test, with its store and its clock.
type board struct {
	*rates.Board
	t     testing.TB
	db    storetest.Database
	store *singletable.Store
	time  *storetest.Clock
	mu    sync.Mutex
	calls []string
}

// open opens a board on a database of its own.
func open(t testing.TB, opts rates.Options) *board {
	t.Helper()
	return openOn(t, opts, func(db storetest.Database) storetest.Database { return db })
}

// openOn opens a board on what is made of a database of its own.
func openOn(
	t testing.TB, opts rates.Options, over func(storetest.Database) storetest.Database,
) *board {
	t.Helper()
	b := &board{t: t, time: storetest.NewClock(clockStart)}
	// Items expire only where a test asks.
	b.db = over(storetest.OpenFor(t, engine.Options{Now: b.clock, SweepInterval: -1}))
	if opts.Now == nil {
		opts.Now = b.clock
	}
	b.store = singletable.NewStore(b.db, singletable.Options{
		Now: opts.Now, CursorKey: []byte("a key of tests"), OnCall: b.note,
	})
	var err error
	if b.Board, err = rates.New(b.store, opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Board.Close)
	if err := b.Model().Ensure(t.Context(), b.db); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *board) note(c singletable.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, c.Operation)
}

// made returns the operations since it was last asked.
func (b *board) made() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = nil
	return calls
}

// clock is the board's clock, which stands still but for pass and at.
func (b *board) clock() time.Time {
	return b.time.Now()
}

// pass lets time pass.
func (b *board) pass(by time.Duration) {
	b.time.Move(by)
}

// at moves the clock to an instant.
func (b *board) at(text string) {
	b.t.Helper()
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.time.Set(t)
}

// rate returns a rate as of the board's clock.
func (b *board) rate(pair, value string) rates.Rate {
	return rates.Rate{
		Base: money.Currency(pair[:3]), Target: money.Currency(pair[4:]), Value: decimal(value),
		AsOf: b.clock(),
	}
}

// save saves a rate that is fresh for a day.
func (b *board) save(pair, value string) {
	b.t.Helper()
	_, err := b.Save(b.t.Context(), b.rate(pair, value), 24*time.Hour, rates.Force())
	if err != nil {
		b.t.Fatal(err)
	}
}

// quote asks for a pair as of now.
func (b *board) quote(pair string) rates.Quote {
	b.t.Helper()
	return must[rates.Quote](b.t)(b.Quote(b.t.Context(), ask(pair)))
}

// quoteOn asks for a pair on a day.
func (b *board) quoteOn(pair, day string) rates.Quote {
	b.t.Helper()
	a := ask(pair)
	a.On = rates.Date(day)
	return must[rates.Quote](b.t)(b.Quote(b.t.Context(), a))
}

func ask(pair string) rates.Ask {
	return rates.Ask{Base: money.Currency(pair[:3]), Target: money.Currency(pair[4:])}
}

func pairOf(text string) rates.Pair {
	return rates.Pair{Base: money.Currency(text[:3]), Target: money.Currency(text[4:])}
}

// day makes a published day of "USD 1.1684, JPY 186.75".
func day(date, prices string) rates.Day {
	d := rates.Day{Date: rates.Date(date), Base: "EUR", Source: "ecb"}
	for prices != "" {
		var first string
		first, prices, _ = strings.Cut(prices, ", ")
		code, value, _ := strings.Cut(first, " ")
		d.Prices = append(d.Prices,
			rates.Price{Currency: money.Currency(code), Value: decimal(value)})
	}
	return d
}

func decimal(text string) money.Decimal {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// must ends the test on an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wants checks that an error is a problem, with details that say so.
func wants(t testing.TB, err error, want *problem.Definition, details ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %s", err, want.Code())
	}
	found := problem.From(err)
	for i := 0; i+1 < len(details); i += 2 {
		if got := found.Details[details[i]]; got != details[i+1] {
			t.Errorf("%s: %s is %q, want %q", want.Code(), details[i], got, details[i+1])
		}
	}
}

// item reads an item as it is stored, nil when there is none.
func (b *board) item(table, pk, sk string) dynamo.Item {
	b.t.Helper()
	key := dynamo.Key{"PK": dynamo.S(pk)}
	if sk != "" {
		key["SK"] = dynamo.S(sk)
	}
	out, err := b.db.Get(b.t.Context(), &dynamo.GetInput{
		TableName: table, ConsistentRead: true, Key: key,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Item
}

// put writes an item as another program would.
func (b *board) put(table string, item dynamo.Item) {
	b.t.Helper()
	err := errors.New("not yet")
	for first := true; first || dynamo.Retryable(err); first = false {
		_, err = b.db.Put(b.t.Context(), &dynamo.PutInput{TableName: table, Item: item})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

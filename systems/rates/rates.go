package rates

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// The tables' names by default.
const (
	TableNameDefault   = "ExchangeRates"
	HistoryNameDefault = "ExchangeRateHistory"
)

// StaleForDefault is the StaleFor that a server uses: long enough for a source to be mended after a
// holiday, and short enough that no caller works with the rate of another time.
const StaleForDefault = 14 * 24 * time.Hour

// Bounds and defaults of a board.
const (
	// futureMax is how far a rate may be ahead of the clock: clocks differ, and some sources date a
	// rate by the day that it is for.
	futureMax = 48 * time.Hour
	// jumpFactorDefault refuses a rate that is more than 30 % away from the one before it: a
	// collapse of a currency, which is rare enough to be looked at by a person, or an error.
	jumpFactorDefault = "1.3"
	// hourJumpFactor is the same for two rates within an hour. A source that gives two values in a
	// row that are so far apart has mixed something up.
	hourJumpFactor = "1.1"
	// dayJumpFactor is the same for days of the history, which are taken in by the thousand and
	// have real collapses in them, such as those of the Turkish lira in 2001 and of the Icelandic
	// króna in 2008. It finds points in the wrong place and rates that are upside down.
	dayJumpFactor = 3
	// LookBackDays is how far before a day its rate may lie. Five days without a rate are the most
	// that the European Central Bank has had.
	LookBackDays = 14
	// legsApartMax is how many days the rates may lie apart that another one is derived from:
	// more than the longest holiday.
	legsApartMax = 7
	// rangeDaysMax bounds a range of days: twice the euro's life so far.
	rangeDaysMax = 20_000
	// refreshEveryDefault is how long after one attempt to refresh the next one may begin.
	refreshEveryDefault = time.Minute
	// refreshTimeMax bounds one attempt.
	refreshTimeMax = 30 * time.Second
)

// Options are the choices of a board. The zero value is the seed's own design.
type Options struct {
	// TableName and HistoryName are the names of the tables; "" means the defaults.
	TableName, HistoryName string
	// Now is the clock; nil means the computer's.
	Now func() time.Time

	// StaleFor is how long a rate is kept, and may be served as stale, after it has stopped being
	// fresh. 0 gives the seed's own items, which expire when they stop being fresh.
	StaleFor time.Duration
	// Jitter moves each rate's expiry later by a random time up to it, so that not all expire at
	// once. It needs a StaleFor, since it must not make a rate fresh for longer.
	Jitter time.Duration
	// JumpFactor is by how much a rate may differ from the one before it: 1.3 allows 30 % either
	// way. Zero means 1.3. Of two rates within an hour it is at most 1.1.
	JumpFactor money.Decimal
	// Pivots are the currencies through which cross rates are derived, the first choice first; nil
	// means EUR, then USD.
	Pivots []money.Currency

	// CacheFor is how long Quote answers from memory what it has read, and what it has not found.
	// 0 turns the cache off. The same process sees its own writes at once.
	CacheFor time.Duration
	// Refresh, if set, fetches new rates and saves them. Quote calls it when a rate is stale, while
	// the caller gets the stale one, and when there is none, while the caller waits; one call
	// serves all who wait.
	Refresh func(context.Context) error
	// RefreshEvery is how long after one call of Refresh the next may begin; 0 means a minute.
	RefreshEvery time.Duration
}

// withDefaults returns complete options, or what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	if o.TableName == "" {
		o.TableName = TableNameDefault
	}
	if o.HistoryName == "" {
		o.HistoryName = HistoryNameDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.JumpFactor.IsZero() {
		o.JumpFactor, _ = money.ParseDecimal(jumpFactorDefault)
	}
	if o.Pivots == nil {
		o.Pivots = []money.Currency{euro, "USD"}
	}
	if o.RefreshEvery == 0 {
		o.RefreshEvery = refreshEveryDefault
	}
	switch {
	case o.StaleFor < 0 || o.Jitter < 0 || o.CacheFor < 0 || o.RefreshEvery < 0:
		return o, fmt.Errorf("rates: a time in the options is negative")
	case o.Jitter > 0 && o.StaleFor == 0:
		return o, fmt.Errorf("rates: a jitter of %s without a time for stale rates", o.Jitter)
	case o.JumpFactor.Cmp(money.DecimalFromInt(1)) <= 0:
		return o, fmt.Errorf("rates: a jump factor of %s, it must be more than 1", o.JumpFactor)
	}
	for _, p := range o.Pivots {
		if !codeForm(p) {
			return o, fmt.Errorf("rates: the pivot %q is no currency", p)
		}
	}
	return o, nil
}

// Board keeps exchange rates: those of now in one table, those of each day in another. It is safe
// for concurrent use, by several processes too.
type Board struct {
	opts  Options
	store *singletable.Store
	model any // a *model: see modelOf
	cache cache

	hourFactor money.Decimal

	// life ends with Close, and with it what goes on in the background.
	life    context.Context
	end     context.CancelFunc
	working sync.WaitGroup
}

// New returns a board on a store. It does no I/O: create the tables first, see Board.Model. The
// error names what is wrong with the options. Close it if Options.Refresh is set.
func New(store *singletable.Store, opts Options) (*Board, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &Board{opts: opts, store: store, model: newModel(opts)}
	if b.hourFactor, err = money.ParseDecimal(hourJumpFactor); err != nil {
		return nil, err
	}
	b.life, b.end = context.WithCancel(context.Background())
	return b, nil
}

// Close ends what the board does in the background, and waits for it.
func (b *Board) Close() {
	b.cache.mu.Lock() // Nothing begins any more once the lock is let go.
	b.end()
	b.cache.mu.Unlock()
	b.working.Wait()
}

// Model returns the tables and all access patterns as a catalogue: to create, list, explain, run
// and check.
func (b *Board) Model() *singletable.Model { return modelOf(b).catalogue() }

// now returns the time in whole seconds, as the table keeps it.
func (b *Board) now() time.Time { return b.opts.Now().UTC().Truncate(time.Second) }

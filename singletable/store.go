package singletable

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Options of a [Store]. The zero value works.
type Options struct {
	// Now is the clock; time.Now by default.
	Now func() time.Time
	// CursorKey signs cursors. Without one a key is made up, and cursors end with the process.
	CursorKey []byte
	// Retry says how long to try again.
	Retry Retry
	// Fanout is how many shards a pattern reads at the same time; 8 by default.
	Fanout int
	// OnCall, if set, is told of every call to the store, from the goroutine that made it.
	OnCall func(Call)
	// Sleep waits between retries; by default until the time has passed or ctx is done.
	Sleep func(ctx context.Context, d time.Duration) error
	// Draw returns a number from 0 up to, but not including, n; by default a random one. It decides
	// how long retries wait, so that a test which draws from a seed sees the same waits again.
	Draw func(n int64) int64
}

// Retry says how throttled, conflicting and unprocessed calls are tried again, until the deadline
// of the context. A failed condition never is, and a call of which it is not known whether it
// happened only where doing it again changes nothing. The zero value stands for the defaults.
type Retry struct {
	// Attempts bounds the number of tries; 0 means no bound but the time.
	Attempts int
	// Base and Max bound the wait before a retry, which doubles from one to the other and is
	// then drawn at random between zero and itself; 5 ms and 1 s by default.
	Base, Max time.Duration
	// Budget bounds the time when the context has no deadline; 10 s by default.
	Budget time.Duration
	// Outage bounds the time for which a store that does not answer is called again, whatever the
	// deadline of the context, so that a caller learns of it in seconds; 2 s by default.
	Outage time.Duration
}

// The defaults of Options: a wait short enough to go unnoticed at first, and a budget that ends
// before a person gives up.
const (
	retryBaseDefault   = 5 * time.Millisecond
	retryMaxDefault    = time.Second
	retryBudgetDefault = 10 * time.Second
	retryOutageDefault = 2 * time.Second // Longer than a connection that was cut needs.
	fanoutDefault      = 8
)

// Call describes one call to the store, after it.
type Call struct {
	Operation, Table, Index string
	// Pattern is the name of the pattern that made the call, if one did.
	Pattern string
	// Attempt counts from 1.
	Attempt int
	// Read and Write are the capacity units used; known only under [WithMeter].
	Read, Write float64
	Took        time.Duration
	Err         error
}

// Store runs verbs, patterns and transactions on a database.
type Store struct {
	db   dynamo.DB
	opts Options
}

// NewStore returns a Store on db. It is safe for concurrent use.
func NewStore(db dynamo.DB, opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if len(opts.CursorKey) == 0 {
		opts.CursorKey = make([]byte, 32)
		_, _ = rand.Read(opts.CursorKey) // never fails, by its documentation
	}
	if opts.Retry.Base <= 0 {
		opts.Retry.Base = retryBaseDefault
	}
	if opts.Retry.Max < opts.Retry.Base {
		opts.Retry.Max = max(retryMaxDefault, opts.Retry.Base)
	}
	if opts.Retry.Budget <= 0 {
		opts.Retry.Budget = retryBudgetDefault
	}
	if opts.Retry.Outage <= 0 {
		opts.Retry.Outage = retryOutageDefault
	}
	if opts.Fanout <= 0 {
		opts.Fanout = fanoutDefault
	}
	if opts.Sleep == nil {
		opts.Sleep = sleep
	}
	if opts.Draw == nil {
		opts.Draw = mathrand.Int64N
	}
	return &Store{db: db, opts: opts}
}

// Draw returns a number from 0 up to, but not including, n, as Options.Draw says.
func (s *Store) Draw(n int64) int64 { return s.opts.Draw(n) }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once makes one call and tells the meter and the hook of it.
func (s *Store) once(
	ctx context.Context, req request, attempt int,
	f func(ctx context.Context) (usage, error),
) error {
	m := meterOf(ctx)
	if m == nil && s.opts.OnCall == nil {
		_, err := f(ctx)
		return err
	}
	start := time.Now()
	u, err := f(ctx)
	c := Call{Operation: req.op, Table: req.table, Index: req.index, Pattern: patternOf(ctx),
		Attempt: attempt, Took: time.Since(start), Err: err}
	c.Read, c.Write = u.units(req.write)
	if m != nil {
		m.add(c, u)
	}
	if s.opts.OnCall != nil {
		s.opts.OnCall(c)
	}
	return err
}

// capacity is how much to ask the store to tell: nothing unless somebody listens, as telling
// takes time.
func capacity(ctx context.Context) dynamo.ReturnConsumedCapacity {
	if meterOf(ctx) == nil {
		return ""
	}
	return dynamo.CapacityIndexes
}

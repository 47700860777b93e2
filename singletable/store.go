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
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// CursorKey signs cursors. Without one a random key is used, and cursors are invalid after the
	// process ends.
	CursorKey []byte
	// Retry configures retries.
	Retry Retry
	// Fanout is the number of shards that a pattern reads in parallel. Default: 8.
	Fanout int
	// OnCall, if it is set, is called after every call to the store, on the goroutine that made it.
	OnCall func(Call)
	// Sleep waits between retries. By default it waits for the time or the end of ctx.
	Sleep func(ctx context.Context, d time.Duration) error
	// Draw returns a number from 0 up to, but not including, n. Default: a random one. It
	// determines the waits between retries, so that a test with a seed gets the same waits again.
	Draw func(n int64) int64
}

// Retry configures the retries of throttled, conflicting and unprocessed calls, which end with the
// deadline of the context. A failed condition is never retried. A call whose result is unknown is
// retried only if it is idempotent. The zero value means the defaults.
type Retry struct {
	// Attempts is the maximum number of attempts; 0 means that only the time limits them.
	Attempts int
	// Base and Max are the first and the maximum wait before a retry. The wait doubles with each
	// retry, and is then drawn at random between zero and itself. Default: 5 ms and 1 s.
	Base, Max time.Duration
	// Budget is the maximum time if the context has no deadline. Default: 10 s.
	Budget time.Duration
	// Outage is the maximum time for which a store that does not answer is called again. The
	// deadline of the context does not matter, so that a caller learns of an outage within
	// seconds. Default: 2 s.
	Outage time.Duration
}

// The defaults of Options. The first waits are too short to be noticed, and the budget ends before
// a person gives up.
const (
	retryBaseDefault   = 5 * time.Millisecond
	retryMaxDefault    = time.Second
	retryBudgetDefault = 10 * time.Second
	retryOutageDefault = 2 * time.Second // longer than a broken connection needs
	fanoutDefault      = 8
)

// Call describes one call to the store after it returned.
type Call struct {
	Operation, Table, Index string
	// Pattern is the name of the pattern that made the call, or "".
	Pattern string
	// Attempt is the number of the attempt, from 1.
	Attempt int
	// Read and Write are the consumed capacity units, known only with [WithMeter].
	Read, Write float64
	Took        time.Duration
	Err         error
}

// Store executes verbs, patterns and transactions on a database.
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
		_, _ = rand.Read(opts.CursorKey) // never fails, as documented
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

// Draw returns a number from 0 up to, but not including, n, as Options.Draw does.
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

// once makes one call and reports it to the meter and the hook.
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

// capacity returns the level of consumed capacity to request: none without a meter, because
// computing it takes time.
func capacity(ctx context.Context) dynamo.ReturnConsumedCapacity {
	if meterOf(ctx) == nil {
		return ""
	}
	return dynamo.CapacityIndexes
}

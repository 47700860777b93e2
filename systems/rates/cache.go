package rates

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// pairsMax bounds the pairs that are remembered: a hundred currencies against each other, 3 MB.
const pairsMax = 10_000

// cache remembers what was read of the table, and what is not there.
type cache struct {
	mu    sync.Mutex
	pairs map[Pair]remembered
	// drops counts writes: what was read before one is not kept after it.
	drops uint64

	refreshing *refreshing
	// lastRefresh is when the last attempt to refresh began, refreshErr how it ended, and refreshed
	// counts those that have ended.
	lastRefresh time.Time
	refreshErr  error
	refreshed   uint64
}

// remembered is a rate, or the knowledge that there is none.
type remembered struct {
	rate  Rate
	found bool
	until time.Time
}

// refreshing is an attempt to refresh that is going on.
type refreshing struct {
	done chan struct{}
	err  error
}

func (c *cache) drop(pair Pair) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pairs, pair)
	c.drops++
}

// forget drops everything.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pairs = nil
	c.drops++
}

// recall returns what is remembered of pairs, and those that nothing is remembered of.
func (c *cache) recall(
	pairs []Pair, now time.Time,
) (known map[Pair]Rate, unknown []Pair, drops uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known = make(map[Pair]Rate, len(pairs))
	for _, p := range pairs {
		m, ok := c.pairs[p]
		switch {
		case !ok || !now.Before(m.until):
			unknown = append(unknown, p)
		case m.found:
			known[p] = m.rate
		}
	}
	return known, unknown, c.drops
}

// keep remembers what was read, unless something was written since the reading began.
func (c *cache) keep(read map[Pair]remembered, drops uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drops != drops {
		return
	}
	if c.pairs == nil || len(c.pairs)+len(read) > pairsMax {
		c.pairs = make(map[Pair]remembered, len(read))
	}
	for p, m := range read {
		c.pairs[p] = m
	}
}

// latest is the finder of the rates of now. The state that each has is worked out at now; what is
// gone is left out, and noted in gone.
func (b *Board) latest(now time.Time, gone *Rate) finder {
	return func(ctx context.Context, pairs []Pair) (map[Pair]Leg, error) {
		rates, err := b.read(ctx, pairs, now)
		if err != nil {
			return nil, err
		}
		legs := make(map[Pair]Leg, len(rates))
		for p, r := range rates {
			state := r.StateAt(now)
			if state == Gone {
				if r.AsOf.After(gone.AsOf) {
					*gone = r
				}
				continue
			}
			legs[p] = Leg{
				Pair: p, Rate: r.Value, AsOf: r.AsOf, Stale: state == Stale, Source: r.Source,
				freshUntil: r.freshUntil(),
			}
		}
		return legs, nil
	}
}

// read returns the rates that are stored of pairs, from memory or in one batch.
func (b *Board) read(ctx context.Context, pairs []Pair, now time.Time) (map[Pair]Rate, error) {
	known, unknown, drops := b.cache.recall(pairs, now)
	if len(unknown) == 0 {
		return known, nil
	}
	at := make([]rateItem, len(unknown))
	for i, p := range unknown {
		at[i] = rateItem{Base: p.Base, Target: p.Target}
	}
	items, err := modelOf(b).rates.GetMany(ctx, b.store, at, singletable.Consistent())
	if err != nil {
		return nil, failed("read the rates for", pairs[0], err)
	}
	read := make(map[Pair]remembered, len(unknown))
	for i, item := range items {
		// Half of the time is drawn, so that not all pairs are read again at once.
		m := remembered{until: now.Add(b.opts.CacheFor/2 + b.jitter(b.opts.CacheFor/2))}
		// An item that another program has spoilt is none.
		if item != nil && item.Rate.Sign() > 0 {
			m.rate, m.found = b.rateOf(*item), true
			known[unknown[i]] = m.rate
		}
		read[unknown[i]] = m
	}
	if b.opts.CacheFor > 0 {
		b.cache.keep(read, drops)
	}
	return known, nil
}

// Quote returns the rate of a pair, stored or derived. Without On it is that of now: a fresh one if
// there is any, or else the newest that is stale, which the answer shows; a stale rate is served
// while Options.Refresh fetches a newer one, and for no longer than StaleFor and the time that the
// store takes to remove it. After that the answer is ErrUnavailable. With On it is that of a day,
// or of the last day before it that has one.
func (b *Board) Quote(ctx context.Context, ask Ask) (Quote, error) {
	day, err := ask.check(b.now())
	if err != nil {
		return Quote{}, err
	}
	if ask.On != "" {
		return b.quoteOn(ctx, ask)
	}
	before := b.cache.ended()
	q, gone, err := b.quoteNow(ctx, ask, day)
	if err == nil && q.Stale {
		b.beginRefresh(before)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnavailable) {
		// Nothing can be served, so the caller waits for what the source has.
		tried, cause := b.refresh(ctx, before)
		if ctx.Err() != nil {
			return Quote{}, ctx.Err()
		}
		if tried {
			b.cache.forget()
			q, gone, err = b.quoteNow(ctx, ask, day)
		}
		if cause != nil && errors.Is(err, ErrNotFound) && gone.AsOf.IsZero() {
			return Quote{}, ErrSourceDown.With("pair", ask.Pair()).Wrap(cause)
		}
	}
	if err != nil {
		return Quote{}, err
	}
	if q.Stale && ask.FreshOnly {
		return Quote{}, ErrNotFresh.With("pair", ask.Pair()).With("asOf", stamp(q.AsOf))
	}
	return q, q.apartCheck()
}

// quoteNow resolves a question about now from the table or memory. Gone is the newest rate that
// would have answered it if it were not too old.
func (b *Board) quoteNow(ctx context.Context, ask Ask, day Date) (q Quote, gone Rate, err error) {
	q, found, err := b.resolve(ctx, ask, day, b.latest(b.now(), &gone))
	switch {
	case err != nil:
		return Quote{}, gone, err
	case found:
		return q, gone, nil
	case !gone.AsOf.IsZero():
		return Quote{}, gone, ErrUnavailable.With("pair", ask.Pair()).With("asOf", stamp(gone.AsOf))
	}
	return Quote{}, gone, ErrNotFound.With("pair", ask.Pair()).
		With("reason", "neither it nor rates from which it can be derived are stored")
}

// ended returns how many attempts to refresh have ended.
func (c *cache) ended() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refreshed
}

// refresh waits for an attempt to refresh: that which is going on, or a new one if it is time. It
// reports whether one has ended since before, when the caller began to read, and how the last one
// has.
func (b *Board) refresh(ctx context.Context, before uint64) (tried bool, err error) {
	r := b.beginRefresh(before)
	if r == nil {
		b.cache.mu.Lock()
		defer b.cache.mu.Unlock()
		return b.cache.refreshed != before, b.cache.refreshErr
	}
	select {
	case <-r.done:
		return true, r.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// beginRefresh returns the attempt that is going on, or begins one; nil if it is too early for one
// or one has ended since before. All who ask share one attempt, which does not end with a caller's
// context but the board's.
func (b *Board) beginRefresh(before uint64) *refreshing {
	c := &b.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.opts.Refresh == nil || b.life.Err() != nil {
		return nil
	}
	if c.refreshing != nil {
		return c.refreshing
	}
	now := b.opts.Now()
	if c.refreshed != before {
		return nil
	}
	if !c.lastRefresh.IsZero() && now.Sub(c.lastRefresh) < b.opts.RefreshEvery {
		return nil
	}
	r := &refreshing{done: make(chan struct{})}
	c.refreshing, c.lastRefresh = r, now
	b.working.Add(1)
	go func() {
		defer b.working.Done()
		ctx, cancel := context.WithTimeout(b.life, refreshTimeMax)
		defer cancel()
		r.err = b.opts.Refresh(ctx)
		c.mu.Lock()
		c.refreshing, c.refreshErr = nil, r.err
		c.refreshed++
		c.mu.Unlock()
		close(r.done)
	}()
	return r
}

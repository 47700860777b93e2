package rates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Get returns the stored rate of a pair while it is fresh. What has expired is refused though the
// store may not have removed it yet: ErrNotFresh. A currency to itself is 1, stored or not.
// ErrNotFound when there is none; Quote derives what is not stored.
func (b *Board) Get(ctx context.Context, pair Pair) (Rate, error) {
	r, state, err := b.stored(ctx, pair)
	if err == nil && state != Fresh {
		return Rate{}, ErrNotFresh.With("pair", pair).With("asOf", stamp(r.AsOf))
	}
	return r, err
}

// GetStale returns the stored rate of a pair and whether it is Fresh or Stale. It serves what has
// expired as long as StaleFor and the time that the store takes to remove it allow, and then
// answers ErrUnavailable, whether the store has removed it or not.
func (b *Board) GetStale(ctx context.Context, pair Pair) (Rate, State, error) {
	r, state, err := b.stored(ctx, pair)
	if err == nil && state == Gone {
		return Rate{}, Gone, ErrUnavailable.With("pair", pair).With("asOf", stamp(r.AsOf))
	}
	return r, state, err
}

// stored reads the rate of a pair as it is in the table, in any state.
func (b *Board) stored(ctx context.Context, pair Pair) (Rate, State, error) {
	if err := pair.check(); err != nil {
		return Rate{}, "", err
	}
	if pair.Base == pair.Target {
		return Rate{
			Base: pair.Base, Target: pair.Target, Value: money.DecimalFromInt(1), AsOf: b.now(),
		}, Fresh, nil
	}
	item, found, err := modelOf(b).byPair.First(ctx, b.store, OfPair(pair))
	if err != nil {
		return Rate{}, "", failed("read the rate of", pair, err)
	}
	if !found {
		return Rate{}, "", notFound(pair)
	}
	r := b.rateOf(item)
	return r, r.StateAt(b.now()), nil
}

// GetByBase returns the fresh rates of a base, sorted by target. Those that have expired are left
// out, whether the store has removed them or not. It reads an index, which follows the table a
// moment later. Rates that cannot be read are returned as singletable.UnreadableRows, together with
// the others.
func (b *Board) GetByBase(ctx context.Context, base money.Currency) ([]Rate, error) {
	return b.ofBase(ctx, base, func(s State) bool { return s == Fresh })
}

// GetStaleByBase is GetByBase with the stale rates too; StateAt distinguishes the two.
func (b *Board) GetStaleByBase(ctx context.Context, base money.Currency) ([]Rate, error) {
	return b.ofBase(ctx, base, func(s State) bool { return s != Gone })
}

func (b *Board) ofBase(
	ctx context.Context, base money.Currency, serve func(State) bool,
) ([]Rate, error) {
	pair := Pair{base, base}
	if err := pair.check(); err != nil {
		return nil, err
	}
	now := b.now()
	var found []Rate
	var bad singletable.UnreadableRows
	for item, err := range modelOf(b).byBase.All(ctx, b.store, OfBase{base}) {
		if unread, ok := singletable.AsUnreadable(err); ok {
			bad = append(bad, unread)
			continue
		}
		if err != nil {
			return nil, failed("read the rates of", pair, err)
		}
		if r := b.rateOf(item); serve(r.StateAt(now)) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(x, y Rate) int {
		return strings.Compare(string(x.Target), string(y.Target))
	})
	return found, bad.Err()
}

// Rates returns a page of everything in the table, in no order and in every state.
func (b *Board) Rates(
	ctx context.Context, size int, cursor string,
) (singletable.Page[Rate], error) {
	page, err := modelOf(b).all.Page(ctx, b.store, struct{}{}, size, cursor)
	if err != nil {
		return singletable.Page[Rate]{}, refusedCursor(err)
	}
	return singletable.MapPage(page, func(i rateItem) (Rate, error) { return b.rateOf(i), nil })
}

// Health is how fresh the rates in the table are.
type Health struct {
	// Fresh, Stale and Gone count the rates by their state.
	Fresh, Stale, Gone int
	// Newest is the newest instant of any rate, and Age how long ago it is; zero when there is
	// none.
	Newest time.Time
	Age    time.Duration
	// Unreadable are the rates that cannot be read; they are in none of the counts.
	Unreadable []*singletable.UnreadableError
}

// OK reports whether all rates can be read and none is older than it should be.
func (h Health) OK() bool { return h.Stale == 0 && h.Gone == 0 && len(h.Unreadable) == 0 }

// Health looks at all rates in the table.
func (b *Board) Health(ctx context.Context) (Health, error) {
	var h Health
	now := b.now()
	for item, err := range modelOf(b).all.All(ctx, b.store, struct{}{}) {
		if unread, ok := singletable.AsUnreadable(err); ok {
			h.Unreadable = append(h.Unreadable, unread)
			continue
		}
		if err != nil {
			return h, fmt.Errorf("look at the rates: %w", err)
		}
		r := b.rateOf(item)
		switch r.StateAt(now) {
		case Fresh:
			h.Fresh++
		case Stale:
			h.Stale++
		default:
			h.Gone++
		}
		if r.AsOf.After(h.Newest) {
			h.Newest = r.AsOf
		}
	}
	if !h.Newest.IsZero() {
		h.Age = max(0, now.Sub(h.Newest))
	}
	return h, nil
}

// refusedCursor makes a problem of a cursor that cannot be used.
func refusedCursor(err error) error {
	var cursor *singletable.CursorError
	if errors.As(err, &cursor) {
		return ErrInvalidCursor.Field("cursor", string(cursor.Reason))
	}
	return fmt.Errorf("list rates: %w", err)
}

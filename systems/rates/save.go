package rates

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// SaveOption is a choice of Save.
type SaveOption func(*saving)

type saving struct{ force bool }

// Force saves a rate though a check at intake speaks against it: an unknown code, a date far ahead,
// a jump. It does not save one that is not more than zero, nor one older than what is there.
func Force() SaveOption { return func(s *saving) { s.force = true } }

// Save saves a rate that is fresh for the time ttl from now on. Even among concurrent writers, a
// rate never replaces one with a newer Timestamp (ErrOlder), and it is compared with the one that
// it does replace: ErrJump. ErrUnknownCode and ErrFarFuture are the other checks. A refused rate
// leaves the earlier one in place. The answer is the rate as it was saved.
func (b *Board) Save(
	ctx context.Context, r Rate, ttl time.Duration, opts ...SaveOption,
) (Rate, error) {
	return b.saveUntil(ctx, r, b.now().Add(ttl), opts...)
}

// saveUntil is Save with the instant until which the rate is fresh.
func (b *Board) saveUntil(
	ctx context.Context, r Rate, fresh time.Time, opts ...SaveOption,
) (Rate, error) {
	var s saving
	for _, opt := range opts {
		opt(&s)
	}
	r.AsOf = r.AsOf.UTC().Truncate(time.Second)
	if err := r.check(); err != nil {
		return Rate{}, err
	}
	if err := r.doubtful(b.now()); err != nil && !s.force {
		return Rate{}, err
	}
	r.FreshUntil, r.Expires = time.Time{}, fresh.UTC().Truncate(time.Second)
	if b.opts.StaleFor > 0 {
		r.FreshUntil = r.Expires
		r.Expires = r.Expires.Add(b.opts.StaleFor + b.jitter(b.opts.Jitter)).Truncate(time.Second)
	}
	for attempt := 0; ; attempt++ {
		err := b.replace(ctx, r, s.force)
		if err == nil {
			b.cache.drop(r.Pair())
			return r, nil
		}
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return Rate{}, notWritten("save the rate of", r.Pair(), err)
		}
		if attempt == attemptsMax || ctx.Err() != nil {
			return Rate{}, ErrContended.With("items", r.Pair()).Wrap(errors.Join(err, ctx.Err()))
		}
	}
}

// attemptsMax bounds how often a write is tried that others get ahead of. Each time another writer
// has saved a rate of the same pair, so that many tries mean many writers of one pair.
const attemptsMax = 100

// replace writes a rate over the one that is there, if it may, and if that is still there.
func (b *Board) replace(ctx context.Context, r Rate, force bool) error {
	item := itemOf(r)
	before, found, err := modelOf(b).rates.Get(ctx, b.store, item, singletable.Consistent())
	if err != nil {
		return err
	}
	if !found {
		return modelOf(b).rates.Put(ctx, b.store, item, modelOf(b).rates.Missing())
	}
	if before.Timestamp.After(r.AsOf) {
		return ErrOlder.With("pair", r.Pair()).With("stored", stamp(before.Timestamp)).
			With("given", stamp(r.AsOf))
	}
	if !force {
		factor := b.opts.JumpFactor
		if r.AsOf.Sub(before.Timestamp) < time.Hour && factor.Cmp(b.hourFactor) > 0 {
			factor = b.hourFactor
		}
		if err := jump(r.Pair(), before.Rate, r.Value, factor); err != nil {
			return err
		}
	}
	return modelOf(b).rates.Put(ctx, b.store, item, modelOf(b).value.Equals(before.Rate),
		modelOf(b).timestamp.Equals(before.Timestamp))
}

// jump refuses a rate that is too far away from the one before it.
func jump(pair Pair, before, after, factor money.Decimal) error {
	low, high := before, after
	if low.Cmp(high) > 0 {
		low, high = high, low
	}
	// What cannot be multiplied within 38 digits is a jump for certain.
	most, err := low.Mul(factor)
	if before.Sign() > 0 && err == nil && high.Cmp(most) <= 0 {
		return nil
	}
	return ErrJump.With("pair", pair).With("before", before).With("after", after).
		With("factor", factor)
}

// jitter returns a random time up to most.
func (b *Board) jitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return time.Duration(b.store.Draw(int64(most) + 1))
}

// MarkStale marks the rate of a pair, which its source could not renew; answers are marked then,
// though it would be fresh by its time. The next Save takes the mark away. ErrNotFound when there
// is none.
func (b *Board) MarkStale(ctx context.Context, pair Pair) (Rate, error) {
	if err := pair.check(); err != nil {
		return Rate{}, err
	}
	item, err := modelOf(b).rates.Update(ctx, b.store,
		rateItem{Base: pair.Base, Target: pair.Target}, modelOf(b).stale.Set(true))
	b.cache.drop(pair)
	if errors.Is(err, singletable.ErrMissing) {
		return Rate{}, notFound(pair)
	}
	if err != nil {
		return Rate{}, notWritten("mark the rate of", pair, err)
	}
	return b.rateOf(item), nil
}

// MarkSourced marks all rates that have a source, as MarkStale does, and returns how many: the
// source gave something else in place of rates. What people have saved by hand has no source and
// stays.
func (b *Board) MarkSourced(ctx context.Context) (int, error) {
	n := 0
	for item, err := range modelOf(b).all.All(ctx, b.store, struct{}{}) {
		if err != nil {
			return n, fmt.Errorf("read the rates to mark: %w", err)
		}
		if item.Source == "" || item.Stale {
			continue
		}
		_, err := b.MarkStale(ctx, Pair{item.Base, item.Target})
		if errors.Is(err, ErrNotFound) {
			continue // It was deleted in the meantime.
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Delete removes the rate of a pair, whether there is one or not. The history stays.
func (b *Board) Delete(ctx context.Context, pair Pair) error {
	if err := pair.check(); err != nil {
		return err
	}
	err := modelOf(b).rates.Delete(ctx, b.store, rateItem{Base: pair.Base, Target: pair.Target})
	b.cache.drop(pair)
	if err != nil {
		return notWritten("delete the rate of", pair, err)
	}
	return nil
}

// failed adds what was being done when the store failed.
func failed(deed string, pair Pair, err error) error {
	return fmt.Errorf("%s %s: %w", deed, pair, err)
}

// notWritten returns what was being written when the store failed, or other writers were faster.
func notWritten(deed string, pair Pair, err error) error {
	err = failed(deed, pair, err)
	if errors.Is(err, singletable.ErrContended) {
		return ErrContended.With("items", pair).Wrap(err)
	}
	return err
}

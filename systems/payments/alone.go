package payments

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// alone releases, once, what workers of earlier processes left behind. A scheduler on a store that
// one process holds exclusively need not wait for their leases and claims: their owners are dead.
type alone struct {
	since time.Time // when the scheduler was made
	mu    sync.Mutex
	done  bool
}

// release deletes the leases of shards and ends the claims of payments that were made before this
// scheduler was. It does nothing unless the store is this process's own.
func (s *Scheduler) release(ctx context.Context, m *model) error {
	a := &s.alone
	if !s.opts.Alone {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done {
		return nil
	}
	until := s.opts.Now().Add(time.Millisecond)
	for _, shard := range m.shardNames(&until) {
		// No run of this process has a lease yet: all of them come through here first.
		err := m.leases.Delete(ctx, s.store, leaseItem{Shard: shard})
		if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
			return failed("release shard", shard, err)
		}
		if err := s.releaseClaims(ctx, m, shard, until); err != nil {
			return err
		}
	}
	a.done = true
	return nil
}

// releaseClaims ends the dead claims of one shard. Claims of this process, which it makes when it
// is asked to pay a single payment, are left alone.
func (s *Scheduler) releaseClaims(
	ctx context.Context, m *model, shard string, until time.Time,
) error {
	now := instant(s.opts.Now())
	f := &m.fields
	for row, err := range m.due.All(ctx, s.store,
		InShard{Shard: shard, Status: Pending, To: &until}) {
		if _, unread := singletable.AsUnreadable(err); unread {
			continue // The run names it.
		}
		if err != nil {
			return failed("read shard", shard, err)
		}
		if row.ID == "" || row.Attempt == "" || !row.Until.After(now) ||
			!row.UpdatedAt.Before(s.alone.since) {
			continue
		}
		key := paymentItem{AccountID: row.AccountID, At: row.At, ID: row.ID}
		_, err := m.payments.Update(ctx, s.store, key,
			f.attempt.Remove(), f.until.Set(now), f.version.Add(1), f.updated.Set(now),
			singletable.If(f.status.Equals(Pending), f.attempt.Equals(row.Attempt)))
		if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
			return failed("release the claim of payment", row.ID, err)
		}
	}
	return nil
}

package payments

import (
	"context"
	"errors"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// A lease makes one worker look after a shard, so that workers do not all read the same list and
// fight for the same payments. It saves work and nothing else: what keeps a payment from being paid
// twice is its own claim.

// takeLease makes a worker the owner of a shard for a time. It returns false when another has it.
func (m *model) takeLease(
	ctx context.Context, s *Scheduler, shard, owner string, d time.Duration,
) (bool, error) {
	now := instant(s.opts.Now())
	lease := leaseItem{Shard: shard, Owner: owner, Until: now.Add(d)}
	err := m.leases.Put(ctx, s.store, lease, singletable.Or(m.leaseOwner.Missing(),
		m.leaseOwner.Equals(owner), m.leaseUntil.AtMost(now)))
	if errors.Is(err, singletable.ErrConditionFailed) {
		return false, nil
	}
	if err != nil {
		return false, failed("lease shard", shard, err)
	}
	return true, nil
}

// dropLease gives a shard up.
func (m *model) dropLease(ctx context.Context, s *Scheduler, shard, owner string) error {
	err := m.leases.Delete(ctx, s.store, leaseItem{Shard: shard}, m.leaseOwner.Equals(owner))
	if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
		return failed("give up shard", shard, err)
	}
	return nil
}

// keepLease renews a lease until ctx ends, and ends the work when it is lost.
func (m *model) keepLease(
	ctx context.Context, s *Scheduler, shard, owner string, d time.Duration,
	lost context.CancelFunc,
) {
	for pause(ctx, d/leaseRenewals) == nil {
		if mine, err := m.takeLease(ctx, s, shard, owner, d); err != nil || !mine {
			if ctx.Err() == nil {
				lost()
			}
			return
		}
	}
}

// leaseRenewals is how often a lease is renewed within its own time.
const leaseRenewals = 3

package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// This file follows the legs of an account through GSI1, from the first to the last.

// Indexes of a store may lag behind the table by a moment. What an index lacks is looked for again
// that often before it counts.
const (
	lagAttempts = 4
	lagWait     = 100 * time.Millisecond
	// tickLegs is after how many legs of one account progress is reported.
	tickLegs = 10_000
)

// chain is an account and how far its legs were followed.
type chain struct {
	account *Account
	balance money.Amount // after the last leg that was followed
	version uint64       // of the last leg that the ledger posted
	pinned  money.Amount // the balance at the instant of the run
	stored  Leg          // the newest leg that is not above the account's version
	base    money.Amount // the balance before the first leg that has a version
	broken  bool         // a leg cannot be read, so that what follows it cannot be compared
	place   string       // of the last leg
}

// follow follows the legs of an account, and compares the stored balance with them.
func (r *reconciler) follow(
	ctx context.Context, t *tally, a *singletable.AuditItem, report func(dated),
) error {
	item, _, err := r.design.accounts.FromAudit(a)
	if err != nil {
		return err
	}
	account := accountOf(item)
	zero := zeroOf(&account)
	c := &chain{account: &account, balance: zero, pinned: zero, base: zero}
	c.stored = Leg{AccountID: account.ID, BalanceAfter: zero}
	for attempt := 1; ; attempt++ {
		if err := r.followLegs(ctx, t, c, report); err != nil {
			return err
		}
		// Times do not show here that an index has had enough time: the clock of the server that
		// posted may differ from this one.
		if c.reaches() || attempt == lagAttempts {
			break
		}
		if err := r.pause(ctx, lagWait, nil); err != nil {
			return err
		}
		if account.Version == 0 {
			// Another program keeps the account. It may have changed it in the meantime.
			again, exists, err := r.store.AuditAgain(ctx, a)
			if err != nil {
				return err
			}
			if item, ok, err := r.design.accounts.FromAudit(&again); exists && ok &&
				err == nil {
				account = accountOf(item)
			}
		}
	}
	t.sums(account.Currency()).Balances.add(c.pinned)
	r.compareStored(t, c, named(a), report)
	return nil
}

// reaches reports whether the legs explain the account's version and, without one, its balance.
func (c *chain) reaches() bool {
	if c.account.Version == 0 && c.version == 0 {
		return c.balance == c.account.Balance
	}
	return c.version >= c.account.Version
}

// followLegs follows the legs behind the last one that is known.
func (r *reconciler) followLegs(
	ctx context.Context, t *tally, c *chain, report func(dated),
) error {
	m := r.design
	partition, err := m.legPartition(c.account.ID)
	if err != nil {
		return err
	}
	q := singletable.AuditQuery{Table: m.table, Index: indexGSI1, Partition: partition,
		Limit: PageMax, After: c.place}
	unreported := 0
	for {
		page, err := r.store.Audit(ctx, q)
		if err != nil {
			return failed("read legs of", c.account.ID, err)
		}
		if err := r.followPage(ctx, t, c, page.Items, report); err != nil {
			return err
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
		if unreported += len(page.Items); unreported >= tickLegs {
			select {
			case r.ticks <- unreported:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			unreported = 0
		}
	}
}

func (r *reconciler) followPage(
	ctx context.Context, t *tally, c *chain, items []singletable.AuditItem, report func(dated),
) error {
	moved, err := r.movedBy(ctx, items)
	if err != nil {
		return err
	}
	for i := range items {
		a := &items[i]
		c.place = a.Place()
		if a.Entity() == legEntity && r.pinned(a) {
			t.ByChain.take(a.Digest(digested()...))
		}
		leg, ok, err := r.design.legs.FromAudit(a)
		if !ok || err != nil {
			c.broken = true // The table has it too, and there it is reported.
			continue
		}
		if leg.AccountVersion == 0 && !moved[leg.TransactionID] {
			continue // Another program noted it with a transaction that has moved nothing.
		}
		noted := legOf(leg)
		if d := c.follow(&noted); d.Kind != "" {
			d.Entry = a.Key()
			at, known := a.Instant(createdAt)
			report(dated{d, at, known})
		}
		if r.pinnedAt(noted.CreatedAt) {
			c.pinned = c.balance
		}
	}
	return nil
}

// pinnedAt reports whether a leg counts for the balance at the instant of the run.
func (r *reconciler) pinnedAt(at time.Time) bool { return at.Before(r.state.Until) }

// movedBy returns which transactions of legs without a version are completed or reversed.
func (r *reconciler) movedBy(
	ctx context.Context, items []singletable.AuditItem,
) (map[TransactionID]bool, error) {
	var ids []TransactionID
	for i := range items {
		a := &items[i]
		if a.Entity() == legEntity && !a.Has("AccountVersion") {
			ids = append(ids, named(a).TransactionID)
		}
	}
	if ids == nil {
		return nil, nil
	}
	look := newLookups(r)
	if err := look.readHeaders(ctx, ids); err != nil {
		return nil, err
	}
	moved := map[TransactionID]bool{}
	for id, h := range look.headers {
		moved[id] = h != nil && (h.Status == Completed || h.Status == Reversed)
	}
	return moved, nil
}

// follow adds a leg to the chain, and returns what is wrong with it.
func (c *chain) follow(leg *Leg) (d Divergence) {
	want, overflow := c.balance, false
	if leg.Amount.Currency() == c.account.Currency() {
		var err error
		if leg.Type == Credit {
			want, err = c.balance.Add(leg.Amount)
		} else {
			want, err = c.balance.Sub(leg.Amount)
		}
		overflow = err != nil
	}
	d = Divergence{TransactionID: leg.TransactionID, AccountID: leg.AccountID, LegID: leg.ID}
	switch {
	case leg.AccountVersion == 0:
		if c.balance = want; c.version == 0 {
			c.base, c.stored.BalanceAfter = want, want
		}
		return Divergence{}
	case leg.AccountVersion != c.version+1 && !c.broken:
		d.Kind = VersionGap
		d.Want = fmt.Sprint("version ", c.version+1)
		d.Got = fmt.Sprint("version ", leg.AccountVersion)
	case (overflow || !sameUnits(want, leg.BalanceAfter)) && !c.broken:
		d.Kind, d.Want, d.Got = BalanceAfterWrong, want.Text(), leg.BalanceAfter.Text()
	}
	c.broken = false
	c.balance = amountOf(leg.BalanceAfter.Units(), c.account.Currency())
	c.version = leg.AccountVersion
	if leg.AccountVersion <= c.account.Version {
		c.stored = *leg
	}
	return d
}

// compareStored compares the account as it is stored with the leg that has its version. Newer legs
// were posted after the account was read.
func (r *reconciler) compareStored(t *tally, c *chain, d Divergence, report func(dated)) {
	a := c.account
	const form = "%s at version %d"
	d.Kind = BalanceWrong
	d.Want = fmt.Sprintf(form, c.stored.BalanceAfter.Text(), c.stored.AccountVersion)
	d.Got = fmt.Sprintf(form, a.Balance.Text(), a.Version)
	d.TransactionID, d.LegID = c.stored.TransactionID, c.stored.ID
	switch {
	case c.stored.AccountVersion == a.Version && sameUnits(c.stored.BalanceAfter, a.Balance):
		if a.Version > 0 && !a.LastPostedAt.Equal(c.stored.CreatedAt) {
			d.Kind = TimeWrong
			d.Want = "LastPostedAt " + instantText(c.stored.CreatedAt)
			d.Got = "LastPostedAt " + instantText(a.LastPostedAt)
			report(dated{Divergence: d})
		}
	case c.version < a.Version && r.young(a.LastPostedAt):
		d.Kind = IndexBehind
		t.unsure = append(t.unsure, d)
	default:
		report(dated{Divergence: d})
	}
}

// young reports whether an index may not have followed yet.
func (r *reconciler) young(at time.Time) bool {
	return at.After(r.opts.Now().Add(-settleTime))
}

// inParallel calls f for each index below n, some concurrently, and returns the first error.
func inParallel(ctx context.Context, n int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

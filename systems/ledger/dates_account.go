package ledger

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// This file gives accounts, and what is created once, dates that are not ahead of the clock.

// account counts an account whose LastPostedAt is ahead of the clock, or mends it: its newest legs
// first, with which it gets their date.
func (r *dateRepair) account(ctx context.Context, id AccountID, was time.Time) error {
	f := DateFault{Kind: AccountAhead, AccountID: id, Was: was}
	if !r.mend {
		r.found(f)
		return nil
	}
	for attempt := 1; ; {
		first, err := r.head(ctx, id, math.MaxUint64)
		if err == nil && first != "" && r.left[first] == nil {
			if err = r.settle(ctx, first); err == nil {
				continue
			}
		}
		switch why := unreadable(err); {
		case why != "":
			f.Why = why
			r.found(f)
			return nil
		case err != nil:
			return err
		case first != "":
			f.Why = follows(first, r.left[first]).Error()
			if errors.Is(r.left[first], errNotYet) {
				r.undecided(f)
			} else {
				r.found(f)
			}
			return nil
		}
		done, err := r.lastPosted(ctx, id)
		if err != nil || done {
			return err
		}
		if attempt++; attempt > lagAttempts {
			f.Why = "its newest leg cannot be found in the index; if it stays so, reconcile the books"
			r.undecided(f)
			return nil
		}
		if err := r.pause(ctx, lagWait, nil); err != nil {
			return err
		}
	}
}

// lastPosted gives an account the date of its newest leg, if it has another one that is ahead of
// the clock. It returns false if that leg is not found, or if another writer was first.
func (r *dateRepair) lastPosted(ctx context.Context, id AccountID) (bool, error) {
	a, err := r.Account(ctx, id)
	if err != nil || !r.ahead(a.LastPostedAt) {
		return err == nil, err
	}
	leg, err := r.lastRight(ctx, id)
	if err != nil || leg.AccountVersion != a.Version {
		return false, err
	}
	tx := r.store.NewTx()
	r.dateAccount(tx, &a, leg.CreatedAt)
	err = tx.Commit(ctx)
	switch {
	case err == nil:
		r.found(DateFault{Kind: AccountAhead, AccountID: id, Was: a.LastPostedAt,
			Is: leg.CreatedAt, Mended: true})
		return true, nil
	case retryAlone(err):
		return false, nil
	}
	return false, failed("date account", id, err)
}

// dateAccount adds another LastPostedAt of an account to a transaction of the store. A posting in
// the meantime changes the version. A posting of a process that remembers the account as it was
// before is refused if its clock is right, and otherwise dates nothing before this instant.
func (r *dateRepair) dateAccount(tx *singletable.Tx, a *Account, at time.Time) {
	m := modelOf(r.Ledger)
	m.accounts.UpdateTx(tx, accountItem{ID: a.ID}, m.version.Equals(a.Version),
		m.lastPostedAt.Set(at))
}

// opening counts an item that was created ahead of the clock, or gives it another date. An account
// and its entry in the directory have the same date, so both change in one write.
func (r *dateRepair) opening(
	ctx context.Context, a *singletable.AuditItem, was time.Time,
) error {
	f := DateFault{Kind: OpeningAhead, AccountID: named(a).AccountID, Entry: a.Key(), Was: was}
	if !r.mend {
		r.found(f)
		return nil
	}
	for wait, end := waitFirst, time.Now().Add(insistTime); ; wait = min(2*wait, waitLast) {
		tx := r.store.NewTx()
		changed, err := r.dateOpening(ctx, tx, a)
		if why := unreadable(err); why != "" {
			f.Why = why
			r.found(f)
			return nil
		}
		if err != nil {
			return failed("date", a.Key(), err)
		}
		if tx.Len() == 0 {
			return nil // It was mended with its account or its entry, or is gone.
		}
		err = tx.Commit(ctx)
		switch {
		case err == nil:
			f.Is, f.Mended = r.out.Now, true
			for range changed {
				r.found(f)
			}
			return nil
		case !retryAlone(err) || time.Now().After(end):
			return failed("date", a.Key(), err)
		}
		if err := r.pause(ctx, wait, err); err != nil {
			return err
		}
	}
}

// dateOpening adds the change of an item's date to a transaction of the store, and returns how many
// items change.
func (r *dateRepair) dateOpening(
	ctx context.Context, tx *singletable.Tx, a *singletable.AuditItem,
) (changed int, err error) {
	m, now := modelOf(r.Ledger), r.out.Now
	again, exists, err := r.store.AuditAgain(ctx, a)
	if err != nil || !exists {
		return 0, err
	}
	switch again.Entity() {
	case merchantEntity:
		i, ok, err := m.merchants.FromAudit(&again)
		if err == nil && ok && r.ahead(i.CreatedAt) {
			m.merchants.UpdateTx(tx, merchantItem{ID: i.ID},
				m.merchantCreated.MoreThan(r.limit), m.merchantCreated.Set(now))
		}
		return tx.Len(), err
	case requestEntity:
		i, ok, err := m.requests.FromAudit(&again)
		if err == nil && ok && r.ahead(i.CreatedAt) {
			m.requests.UpdateTx(tx, requestItem{ID: i.ID},
				m.requestCreated.MoreThan(r.limit), m.requestCreated.Set(now))
		}
		return tx.Len(), err
	}
	id := named(a).AccountID
	account, exists, err := m.accountByID.First(ctx, r.store, ByID{string(id)})
	if err == nil && exists && r.ahead(account.CreatedAt) {
		m.accounts.UpdateTx(tx, accountItem{ID: id},
			m.accountCreated.MoreThan(r.limit), m.accountCreated.Set(now))
	}
	if err != nil {
		return 0, err
	}
	entry, exists, err := m.directory.Get(ctx, r.store, directoryItem{AccountID: id},
		singletable.Consistent())
	if err == nil && exists && r.ahead(entry.CreatedAt) {
		m.directory.UpdateTx(tx, directoryItem{AccountID: id},
			m.entryCreated.MoreThan(r.limit), m.entryCreated.Set(now))
	}
	return tx.Len(), err
}

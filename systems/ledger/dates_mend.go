package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// This file rewrites dates that are ahead of the clock.

// errNotYet is the reason why a transaction or an account cannot be mended now.
var errNotYet = errors.New(
	"the index of the legs of its accounts is behind, or other writers changed it each time")

// notMendable is the reason why a transaction cannot be mended at all.
type notMendable string

func (e notMendable) Error() string { return string(e) }

// settle mends a transaction, after those that precede it on its accounts. Each of these is the
// first of an account that is ahead, so the chain is never longer than there are accounts.
func (r *dateRepair) settle(ctx context.Context, id TransactionID) error {
	chain := []TransactionID{id}
	for len(chain) > 0 {
		top := chain[len(chain)-1]
		first, err := r.settleOne(ctx, top)
		var never notMendable
		why := unreadable(err)
		switch {
		case err == nil && first == "":
			chain = chain[:len(chain)-1]
			continue
		case err == nil && r.left[first] != nil:
			err = follows(first, r.left[first])
		case err == nil && slices.Contains(chain, first):
			err = notMendable("its legs are not in the order of their versions; reconcile the books")
		case err == nil:
			chain = append(chain, first)
			continue
		}
		switch {
		case why != "":
			err = notMendable(why)
		case !errors.As(err, &never) && !errors.Is(err, errNotYet):
			return err
		}
		r.leave(ctx, chain, err)
		return nil
	}
	return nil
}

// follows is the reason why a transaction is not mended if one that precedes it is not.
func follows(first TransactionID, why error) error {
	if errors.Is(why, errNotYet) {
		return errNotYet
	}
	return notMendable(fmt.Sprintf("transaction %s precedes it and is not mended", first))
}

// leave notes that the last of some transactions is not mended, and so none that it precedes.
func (r *dateRepair) leave(ctx context.Context, chain []TransactionID, why error) {
	for i := len(chain) - 1; i >= 0; i-- {
		f := DateFault{Kind: TransactionAhead, TransactionID: chain[i]}
		if e, err := r.read(ctx, chain[i]); err == nil {
			f.Was = e.fault().Was
		}
		r.skip(f, why)
		why = follows(chain[i], why)
	}
}

// settleOne mends a transaction, or returns the one that has to be mended first.
func (r *dateRepair) settleOne(ctx context.Context, id TransactionID) (TransactionID, error) {
	var tried *misdated // a write of unknown outcome
	end := time.Now().Add(insistTime)
	for wait := waitFirst; ; wait = min(2*wait, waitLast) {
		e, err := r.read(ctx, id)
		if err != nil {
			return "", err
		}
		if e.none() {
			if tried != nil { // That write has happened.
				r.mended(tried, tried.right)
			}
			return "", nil
		}
		first, floor, err := r.before(ctx, &e)
		if err != nil || first != "" {
			return first, err
		}
		at := floor
		if len(e.legs) > 0 || e.right.IsZero() {
			at = later(r.at, floor)
		}
		switch err = r.write(ctx, &e, at); {
		case err == nil:
			r.mended(&e, at)
			return "", nil
		case !retryAlone(err):
			return "", failed("date transaction", id, err)
		case errors.Is(err, singletable.ErrUnknown):
			e.right = at
			tried = &e
		}
		if time.Now().After(end) {
			if errors.Is(err, singletable.ErrConditionFailed) ||
				errors.Is(err, singletable.ErrContended) {
				return "", errNotYet
			}
			return "", failed("date transaction", id, err)
		}
		if err := r.pause(ctx, wait, err); err != nil {
			return "", err
		}
	}
}

// mended counts a transaction that got another date.
func (r *dateRepair) mended(e *misdated, at time.Time) {
	f := e.fault()
	f.Is, f.Mended = at, true
	r.at = later(r.at, at)
	r.found(f)
	for i := range e.accounts {
		r.found(DateFault{Kind: AccountAhead, AccountID: e.accounts[i].ID,
			Was: e.accounts[i].LastPostedAt, Is: at, Mended: true})
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// before returns the transaction that has to be mended before another one, "" if there is none, and
// the latest instant before which the other one must not be dated.
func (r *dateRepair) before(
	ctx context.Context, e *misdated,
) (first TransactionID, floor time.Time, err error) {
	if len(e.legs) == 0 {
		return "", e.right, nil
	}
	for _, at := range versionsOf(e.legs) {
		if at.first == 0 && !e.own {
			account, err := r.Account(ctx, at.account)
			if err != nil && !errors.Is(err, ErrAccountNotFound) {
				return "", floor, err
			}
			if account.Version > 0 {
				return "", floor, notMendable("another program posted it to account " +
					string(at.account) + ", to which the ledger posts as well")
			}
		}
		if at.first <= 1 {
			continue
		}
		last, first, err := r.precedes(ctx, at.account, at.first)
		if err != nil || first != "" {
			return first, floor, err
		}
		floor = later(floor, last)
	}
	return "", floor, nil
}

// legVersions are the first and the last version that a transaction has on an account.
type legVersions struct {
	account     AccountID
	first, last uint64
}

// versionsOf returns the versions of legs by account.
func versionsOf(legs []legItem) []legVersions {
	var out []legVersions
	for i := range legs {
		l := &legs[i]
		at := slices.IndexFunc(out, func(v legVersions) bool { return v.account == l.AccountID })
		if at < 0 {
			out = append(out, legVersions{l.AccountID, l.AccountVersion, l.AccountVersion})
			continue
		}
		out[at].first = min(out[at].first, l.AccountVersion)
		out[at].last = max(out[at].last, l.AccountVersion)
	}
	slices.SortFunc(out, func(a, b legVersions) int { return cmp.Compare(a.account, b.account) })
	return out
}

// precedes returns the instant of the leg before a version of an account, or, if that leg is ahead
// of the clock too, the transaction of the first such leg of the account.
func (r *dateRepair) precedes(
	ctx context.Context, id AccountID, version uint64,
) (last time.Time, first TransactionID, err error) {
	for attempt := 1; ; attempt++ {
		leg, err := r.lastRight(ctx, id)
		if err != nil {
			return last, "", err
		}
		if leg.AccountVersion >= version-1 {
			return leg.CreatedAt, "", nil
		}
		if first, err = r.head(ctx, id, version); err != nil || first != "" {
			return last, first, err
		}
		if attempt == lagAttempts {
			return last, "", errNotYet
		}
		if err := r.pause(ctx, lagWait, nil); err != nil {
			return last, "", err
		}
	}
}

// lastRight returns the newest leg that the ledger posted to an account and that is not ahead of
// the clock. It has no version if there is none.
func (r *dateRepair) lastRight(ctx context.Context, id AccountID) (legItem, error) {
	end := r.limit.Add(time.Millisecond)
	for leg, err := range modelOf(r.Ledger).legsOfAccount.All(ctx, r.store,
		ByAccount{AccountID: id, To: &end}) {
		if err != nil {
			return legItem{}, failed("read legs of", id, err)
		}
		if leg.AccountVersion > 0 {
			return leg, nil
		}
	}
	return legItem{}, nil
}

// head returns the transaction of the first leg of an account that is ahead of the clock and has a
// version below a given one, or "". The index may be behind, so the table decides.
func (r *dateRepair) head(
	ctx context.Context, id AccountID, below uint64,
) (TransactionID, error) {
	from := r.limit.Add(time.Millisecond)
	m := modelOf(r.Ledger)
	for leg, err := range m.legsOldest.All(ctx, r.store, ByAccount{AccountID: id, From: &from}) {
		if err != nil {
			return "", failed("read legs of", id, err)
		}
		if leg.AccountVersion >= below {
			break
		}
		if leg.AccountVersion == 0 {
			continue
		}
		now, exists, err := m.legs.Get(ctx, r.store,
			legItem{ID: leg.ID, TransactionID: leg.TransactionID}, singletable.Consistent())
		if err != nil {
			return "", failed("read leg", leg.ID, err)
		}
		if exists && r.ahead(now.CreatedAt) {
			return leg.TransactionID, nil
		}
	}
	return "", nil
}

// write gives a transaction a date, and with it the accounts whose newest legs it has. The items
// must still be ahead of the clock; their dates are not compared one by one, because other programs
// write the same date in other forms. The versions of the accounts must be as they were read.
func (r *dateRepair) write(ctx context.Context, e *misdated, at time.Time) error {
	if err := r.prepare(ctx); err != nil { // The shard of the header depends on its date.
		return err
	}
	m, tx := modelOf(r.Ledger), r.store.NewTx()
	tx.WithoutToken() // The transaction shows whether the write happened.
	if h := e.header; h != nil {
		steps := []singletable.Step[transactionItem]{
			m.transactions.WithKnown(*h), m.headerCreated.Set(at),
		}
		if r.ahead(h.CreatedAt) {
			steps = append(steps, m.headerCreated.MoreThan(r.limit))
		}
		m.transactions.UpdateTx(tx, transactionItem{ID: h.ID}, steps...)
	}
	for i := range e.legs {
		l := &e.legs[i]
		m.legs.UpdateTx(tx, legItem{ID: l.ID, TransactionID: e.id}, m.legs.WithKnown(*l),
			m.legCreated.MoreThan(r.limit), m.legCreated.Set(at))
	}
	for _, v := range versionsOf(e.legs) {
		a, err := r.Account(ctx, v.account)
		if errors.Is(err, ErrAccountNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if v.last > 0 && a.Version == v.last {
			r.dateAccount(tx, &a, at)
			if r.ahead(a.LastPostedAt) {
				e.accounts = append(e.accounts, a)
			}
		}
	}
	if tx.Len() > actionsMax {
		return notMendable(fmt.Sprintf("it has more than %d legs and accounts", actionsMax))
	}
	return tx.Commit(ctx)
}

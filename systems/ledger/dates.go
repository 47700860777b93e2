package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// RepairDatesQuery asks for the repair of dates that are ahead of the clock.
type RepairDatesQuery struct {
	// Mend rewrites the dates. Without it they are only listed, and nothing is written.
	Mend bool

	page int // items of a page, for tests; 0 means reconcilePage
}

// DateRepair is the result of RepairDates.
type DateRepair struct {
	// Now is the clock at the beginning of the run.
	Now time.Time
	// Transactions counts those that are dated ahead of the clock, Accounts those that were last
	// posted to by one, and Openings the accounts, entries of the directory, merchants and records
	// of requests that were created ahead of it. Those that were mended count.
	Transactions, Accounts, Openings int
	// Faults are the first FindingsDefault of all of these; Left counts all that are not mended.
	Faults []DateFault
	Left   int
	// Undecided are the first of those that could not be mended now, and why; Open counts all. Run
	// the repair again.
	Undecided []DateFault
	Open      int
}

// The verdicts of a repair.
const (
	// VerdictSound means that no date is ahead of the clock, or that all were mended.
	VerdictSound Verdict = "sound"
	// VerdictFaulty means that a date is ahead of the clock.
	VerdictFaulty Verdict = "faulty"
)

// Found returns how many dates were ahead of the clock.
func (r DateRepair) Found() int { return r.Transactions + r.Accounts + r.Openings }

// Verdict returns the verdict.
func (r DateRepair) Verdict() Verdict {
	switch {
	case r.Left > 0:
		return VerdictFaulty
	case r.Open > 0:
		return VerdictUndecided
	}
	return VerdictSound
}

// Mended reports whether no date is ahead of the clock any more.
func (r DateRepair) Mended() bool { return r.Verdict() == VerdictSound }

// DateFaultKind is the kind of a date that is ahead of the clock.
type DateFaultKind string

// What can be ahead of the clock.
const (
	// TransactionAhead is a transaction, which is its header and its legs.
	TransactionAhead DateFaultKind = "transaction_ahead"
	// AccountAhead is the LastPostedAt of an account.
	AccountAhead DateFaultKind = "account_ahead"
	// OpeningAhead is the CreatedAt of an account, a merchant or the record of a request.
	OpeningAhead DateFaultKind = "opening_ahead"
)

// DateFault is a date that is ahead of the clock.
type DateFault struct {
	Kind          DateFaultKind
	TransactionID TransactionID
	AccountID     AccountID
	// Entry is the primary key of the item, if it is neither a transaction nor an account.
	Entry string
	// Was is the stored date, and Is the new one if it was mended.
	Was, Is time.Time
	Mended  bool
	// Why is the reason why it was not mended although that was asked for.
	Why string
}

// RepairDates finds what a server whose clock was ahead has dated in the future, and with Mend
// gives it the present instant. Since such a posting, its accounts refuse others with
// ErrAccountFromFuture; after the repair they are posted to again.
//
// The clock of this ledger decides, so set it right first. A date counts as ahead if it is later
// than now and ClockSkewMax. The instant that such a transaction gets is now, or the last right
// instant of its accounts if that is a little later. The true one is not known, because nothing
// stores it. Ids, amounts, versions, balances, idempotency keys and links of reversals stay as they
// are. A repeat of the request that made the transaction gets the new instant.
//
// Each transaction is mended by one write, together with the LastPostedAt of the accounts whose
// newest legs it has. It is done after those that precede it on its accounts, so the legs of an
// account are in the order of time after each write, and a run that is stopped leaves books that
// reconcile. Another run mends the rest, and a run after that changes nothing. Postings may go on.
//
// It reads the whole table once. A transaction of another program on an account that this ledger
// posts to as well is not mended, because the place of its legs among the others is not known.
// Items of other systems, such as payments, are not looked at.
func (l *Ledger) RepairDates(ctx context.Context, q RepairDatesQuery) (DateRepair, error) {
	now := instant(l.opts.Now())
	r := &dateRepair{Ledger: l, mend: q.Mend, at: now, left: map[TransactionID]error{},
		out: DateRepair{Now: now}}
	r.tick()
	var err error
	if q.Mend {
		_, err = l.stored(ctx)
	} else {
		_, err = l.current(ctx)
	}
	if err != nil {
		return DateRepair{}, err
	}
	audit := singletable.AuditQuery{Table: modelOf(l).table, Limit: cmp.Or(q.page, reconcilePage)}
	for {
		page, err := l.store.Audit(ctx, audit)
		if err != nil {
			return r.out, failed("read", "table", err)
		}
		r.tick()
		for i := range page.Items {
			if err := r.item(ctx, &page.Items[i]); err != nil {
				return r.out, err
			}
		}
		if audit.After = page.Next; audit.After == "" {
			return r.out, nil
		}
	}
}

// dateRepair is a run.
type dateRepair struct {
	*Ledger
	mend bool
	// at is the earliest instant that the next transaction gets.
	at time.Time
	// limit is the last instant that is not ahead. It moves with the clock, because right postings
	// go on.
	limit time.Time
	out   DateRepair
	// met is the transaction of the last item, so that one with several items is met once.
	met TransactionID
	// left are transactions that were not mended, up to leftMax, with the reasons.
	left map[TransactionID]error
}

// leftMax bounds the transactions that are remembered as not mended, about 1 MB. More than these
// may be counted several times.
const leftMax = 10_000

// ahead reports whether a date is ahead of the clock.
func (r *dateRepair) ahead(at time.Time) bool { return at.After(r.limit) }

// tick moves the limit to the present. It is called after items were read: none that was posted by
// a right clock before is ahead then.
func (r *dateRepair) tick() { r.limit = later(r.limit, instant(r.opts.Now()).Add(ClockSkewMax)) }

// item looks at an item of the table, and mends what belongs to it.
func (r *dateRepair) item(ctx context.Context, a *singletable.AuditItem) error {
	created, hasCreated := a.Instant(createdAt)
	created = created.UTC()
	early := hasCreated && r.ahead(created)
	switch a.Entity() {
	case headerEntity, legEntity:
		id := named(a).TransactionID
		if !early || id == r.met {
			return nil
		}
		r.met = id
		return r.transaction(ctx, id)
	case accountEntity:
		id := named(a).AccountID
		if last, ok := a.Instant("LastPostedAt"); ok && r.ahead(last) {
			if err := r.account(ctx, id, last.UTC()); err != nil {
				return err
			}
		}
		if early {
			return r.opening(ctx, a, created)
		}
	case directoryEntity, merchantEntity, requestEntity:
		if early {
			return r.opening(ctx, a, created)
		}
	}
	return nil
}

// found counts a date that is ahead and is mended, or stays because nothing or another reason
// prevents it.
func (r *dateRepair) found(f DateFault) {
	switch f.Kind {
	case TransactionAhead:
		r.out.Transactions++
	case AccountAhead:
		r.out.Accounts++
	case OpeningAhead:
		r.out.Openings++
	}
	if !f.Mended {
		r.out.Left++
	}
	if len(r.out.Faults) < FindingsDefault {
		r.out.Faults = append(r.out.Faults, f)
	}
}

// undecided counts a date that could not be mended now.
func (r *dateRepair) undecided(f DateFault) {
	r.out.Open++
	if len(r.out.Undecided) < FindingsDefault {
		r.out.Undecided = append(r.out.Undecided, f)
	}
}

// skip notes a transaction that is not mended. Another run may mend it if the reason is errNotYet.
func (r *dateRepair) skip(f DateFault, why error) {
	if r.left[f.TransactionID] != nil {
		return
	}
	if len(r.left) < leftMax {
		r.left[f.TransactionID] = why
	}
	if f.Why = why.Error(); errors.Is(why, errNotYet) {
		r.undecided(f)
		return
	}
	r.found(f)
}

// misdated is a transaction with items whose date is ahead of the clock.
type misdated struct {
	id     TransactionID
	header *transactionItem // if it gets the new date
	legs   []legItem        // those that are ahead
	// right is the instant of legs that are not ahead. It is that of the header if no leg is ahead.
	right time.Time
	own   bool // this ledger has posted it
	// accounts are those that were dated in the same write, as they were before.
	accounts []Account
}

// none reports whether there is nothing to mend.
func (e *misdated) none() bool { return e.header == nil && len(e.legs) == 0 }

// fault returns what is wrong with the transaction.
func (e *misdated) fault() DateFault {
	f := DateFault{Kind: TransactionAhead, TransactionID: e.id}
	if e.header != nil {
		f.Was = e.header.CreatedAt
	}
	for i := range e.legs {
		if e.legs[i].CreatedAt.After(f.Was) {
			f.Was = e.legs[i].CreatedAt
		}
	}
	return f
}

// read reads a transaction as it is now. One of another program that has moved nothing is none: its
// date may be the day on which it is due.
func (r *dateRepair) read(ctx context.Context, id TransactionID) (misdated, error) {
	e := misdated{id: id}
	found, exists, err := modelOf(r.Ledger).entryByID.Collect(ctx, r.store, ByID{string(id)})
	if err != nil || !exists {
		if err != nil {
			err = failed("find transaction", id, err)
		}
		return e, err
	}
	r.tick()
	for _, leg := range found.legs {
		e.own = e.own || leg.AccountVersion > 0
		if r.ahead(leg.CreatedAt) {
			e.legs = append(e.legs, leg)
		} else {
			e.right = leg.CreatedAt
		}
	}
	h := found.header
	if h == nil {
		return e, nil
	}
	e.own = e.own || h.RequestHash != ""
	if !e.own && h.Status != Completed && h.Status != Reversed {
		return misdated{id: id}, nil
	}
	if r.ahead(h.CreatedAt) || len(e.legs) > 0 && !h.CreatedAt.IsZero() {
		e.header = h
	}
	return e, nil
}

// transaction counts a transaction, or mends it with those that precede it.
func (r *dateRepair) transaction(ctx context.Context, id TransactionID) error {
	if r.mend {
		return r.settle(ctx, id)
	}
	e, err := r.read(ctx, id)
	switch why := unreadable(err); {
	case why != "":
		r.skip(DateFault{Kind: TransactionAhead, TransactionID: id}, notMendable(why))
		return nil
	case err != nil:
		return err
	case !e.none():
		r.found(e.fault())
	}
	return nil
}

// unreadable returns what is wrong with an item that cannot be read, or "".
func unreadable(err error) string {
	if err == nil {
		return ""
	}
	if _, is := singletable.AsUnreadable(err); is {
		return fmt.Sprintf("an item cannot be read: %v", err)
	}
	return ""
}

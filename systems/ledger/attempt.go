package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// errNotWritten is a fault of this package: a request was about to be answered as posted although
// no write contained it.
var errNotWritten = errors.New("the transaction was not written")

// attempt is one try to bring requests into the books with one write. Everything that is worked out
// for the write is in it, and it is dropped after the write: nothing of a try that failed can
// count in the next one.
type attempt struct {
	// mark is in the ids of all legs, so that a writer that got no answer can find out whether the
	// stored transaction is its own.
	mark    uint64
	changes []change
	parts   []part
}

// change is what an attempt makes of one account.
type change struct {
	lane          *lane
	before, after Account
	// drafted reports that before is the account as an earlier posting of the same Tx leaves it.
	drafted bool
	// opens reports that the account is one of the ledger's own that does not exist yet. It comes
	// into being with the first posting that is accepted, in the same write.
	opens bool
}

// touched reports whether the attempt posts to the account.
func (c *change) touched() bool { return c.after.Version != c.before.Version }

// part is what an attempt makes of one request.
type part struct {
	*request
	entry Entry
	// refusal is the problem that the books have with the request, on the accounts of the attempt.
	refusal error
	// written reports that the entry is in the store. Only commit sets it, and there is no receipt
	// without it.
	written bool
}

// newAttempt works out what a write makes of the accounts of lanes, which are loaded, and of
// requests, one after the other.
func newAttempt(lanes []*lane, now time.Time, requests ...*request) *attempt {
	a := &attempt{
		mark:    rand.Uint64(),
		changes: make([]change, 0, len(lanes)),
		parts:   make([]part, 0, len(requests)),
	}
	for _, lane := range lanes {
		c := change{lane: lane, before: lane.account, drafted: lane.drafted}
		if currency, ok := lane.id.systemCurrency(); ok && c.before.ID == "" {
			c.before, c.opens = systemAccount(lane.id, currency, instant(now)), true
		}
		c.after = c.before
		a.changes = append(a.changes, c)
	}
	for _, r := range requests {
		a.add(r, now)
	}
	return a
}

// add plans a request.
func (a *attempt) add(r *request, now time.Time) {
	p := part{request: r}
	p.entry, p.refusal = r.plan(a, now)
	a.parts = append(a.parts, p)
}

// account returns an account as the attempt leaves it so far, or nil if there is no account.
func (a *attempt) account(id AccountID) *Account {
	for i := range a.changes {
		c := &a.changes[i]
		if c.lane.id != id {
			continue
		}
		if c.after.ID == "" {
			return nil
		}
		return &c.after
	}
	return nil
}

// plan returns the entry of a request and changes the accounts of the attempt, or returns the
// problem that the books have with it and changes nothing.
func (r *request) plan(a *attempt, now time.Time) (Entry, error) {
	var space [8]*Account // Enough for most postings; longer ones move to the heap.
	accounts := space[:0]
	for i := range r.posting.Legs {
		accounts = append(accounts, a.account(r.posting.Legs[i].AccountID))
	}
	if err := r.posting.refusal(accounts); err != nil {
		return Entry{}, err
	}
	if a := lastAhead(accounts, now); a != nil {
		return Entry{}, ErrAccountFromFuture.With("account", a.ID).
			With("last", a.LastPostedAt.Format(time.RFC3339)).
			With("now", now.UTC().Format(time.RFC3339)).With("limit", ClockSkewMax)
	}
	legs := r.posting.apply(legPlace{transaction: r.id, mark: a.mark, at: now}, accounts)
	debits, _, _ := r.posting.sums(r.posting.Currency)
	e := Entry{Legs: legs, Transaction: Transaction{
		ID:             r.id,
		IdempotencyKey: r.posting.IdempotencyKey,
		Type:           r.posting.Type,
		Status:         Completed,
		MerchantID:     r.posting.MerchantID,
		Description:    r.posting.Description,
		Amount:         debits,
		Metadata:       r.posting.Metadata,
		CreatedAt:      legs[0].CreatedAt,
		requestHash:    r.hash,
	}}
	if r.original != nil {
		e.Transaction.ReversalOf = r.original.ID
	}
	slices.SortFunc(legs, func(a, b Leg) int { return cmp.Compare(a.ID, b.ID) })
	return e, nil
}

// planned reports whether the attempt has anything to write.
func (a *attempt) planned() bool {
	return slices.ContainsFunc(a.parts, func(p part) bool { return p.refusal == nil })
}

// commit writes what an attempt has planned, and marks the parts that are written.
func (l *Ledger) commit(ctx context.Context, a *attempt) error {
	id := a.parts[0].id
	if err := l.makeRoom(ctx, a); err != nil {
		return fmt.Errorf("post transaction %s: %w", id, err)
	}
	tx := l.store.NewTx()
	tx.WithoutToken() // The header shows whether the write happened.
	l.fill(tx, a)
	if tx.Len() == 0 {
		return fmt.Errorf("post transaction %s: %w", id, errNotWritten)
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("post transaction %s: %w", id, err)
	}
	for i := range a.parts {
		p := &a.parts[i]
		p.written = p.refusal == nil
	}
	return nil
}

// makeRoom opens the ledger's own accounts in a write before the posting's, in the one case in
// which they do not fit into it: a posting of the maximum size, which alone is in its attempt.
func (l *Ledger) makeRoom(ctx context.Context, a *attempt) error {
	actions, tx := 0, l.store.NewTx()
	for i := range a.parts {
		if p := &a.parts[i]; p.refusal == nil {
			actions += p.actions()
		}
	}
	for i := range a.changes {
		switch c := &a.changes[i]; {
		case c.touched() && c.opens:
			modelOf(l).openTx(tx, &c.before)
			actions += 2
		case c.touched():
			actions++
		}
	}
	if actions <= actionsMax || tx.Len() == 0 {
		return nil
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	for i := range a.changes {
		a.changes[i].opens = false
	}
	return nil
}

// fill adds what is planned to a transaction of the store: headers and legs, the marks on reversed
// transactions, and one change of each account.
func (l *Ledger) fill(tx *singletable.Tx, a *attempt) {
	m := modelOf(l)
	for i := range a.parts {
		p := &a.parts[i]
		if p.refusal != nil {
			continue
		}
		m.transactions.CreateTx(tx, itemOfTransaction(&p.entry.Transaction))
		for i := range p.entry.Legs {
			m.legs.PutTx(tx, itemOfLeg(&p.entry.Legs[i])) // New, as their header is.
		}
		if p.original != nil {
			m.markReversed(tx, p.original, p.id)
		}
		if p.with.Add != nil {
			p.with.Add(tx, p.entry.clone())
		}
	}
	for i := range a.changes {
		c := &a.changes[i]
		switch {
		case !c.touched():
		case c.opens:
			m.openTx(tx, &c.after)
		case c.drafted:
			m.addToBalance(tx, &c.before, &c.after)
		default:
			m.changeBalance(tx, &c.before, &c.after)
		}
	}
}

// remember keeps the accounts of an attempt as they are after its write, or forgets them if the
// write failed.
func (a *attempt) remember(err error) {
	for i := range a.changes {
		c := &a.changes[i]
		switch {
		case err != nil:
			c.lane.known = false
		case c.lane.known || c.opens && c.touched():
			c.lane.account, c.lane.known = c.after, true
		}
	}
}

// receipt returns the answer to the request of a part whose write succeeded. settled is false if
// nothing was written for the request.
func (a *attempt) receipt(at int) (r Receipt, settled bool) {
	p := &a.parts[at]
	return Receipt{Entry: p.entry}, p.written
}

// same reports whether a stored entry was written by the attempt that planned this one. The ids of
// its legs are proof: keys, times and balances of two processes can be equal.
func (e Entry) same(stored Entry) bool {
	return slices.EqualFunc(e.Legs, stored.Legs, func(a, b Leg) bool { return a.ID == b.ID })
}

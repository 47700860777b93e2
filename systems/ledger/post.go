package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Post carries a posting out, exactly once for its idempotency key, by one write that happens
// completely or not at all. An equal request with the same key gets the first answer again, with
// Replayed set, however much later it comes; another request with the same key gets
// ErrIdempotencyConflict. A refusal writes nothing and its key may be tried again. A transaction
// that another program wrote holds its key as well; see Options.SoleWriter. When the context ends
// first, the posting may have happened or not: send it again with the same key.
func (l *Ledger) Post(ctx context.Context, p Posting) (Receipt, error) {
	r, err := l.newRequest(ctx, p, OwnerCaller)
	if err != nil {
		return Receipt{}, err
	}
	if held, found, err := l.heldByOther(ctx, p.IdempotencyKey, r); found || err != nil {
		return held, err
	}
	return l.carry(ctx, r)
}

// newRequest checks a posting in itself and prepares it. A problem with its merchant is noted in
// the request.
func (l *Ledger) newRequest(ctx context.Context, p Posting, owner Owner) (*request, error) {
	r := &request{posting: p.normal()}
	if err := r.posting.check(); err != nil {
		return nil, err
	}
	r.asked = r.posting
	r.hash = requestDigests.Of(&r.asked)
	if r.posting.IdempotencyKey == "" {
		// The key is shown with the transaction, and is not one that a caller can use again.
		r.posting.IdempotencyKey, owner = l.opts.NewID(), ownerRandom
	}
	r.id = owner.transactionID(l.opts.Tenant, r.posting.IdempotencyKey)
	if r.posting.MerchantID != "" {
		m, err := l.knownMerchant(ctx, r.posting.MerchantID)
		if err == nil {
			err = r.payTo(m)
		}
		if err != nil && !errors.Is(err, ErrMerchantNotFound) &&
			!errors.Is(err, ErrNoSettlementAccount) {
			return nil, err
		}
		r.objection = err
	}
	r.list()
	return r, nil
}

// transactionID returns the id of the transaction that the idempotency key of a caller makes.
func (l *Ledger) transactionID(key string) TransactionID {
	return OwnerCaller.transactionID(l.opts.Tenant, key)
}

// payTo puts a merchant's settlement account in place.
func (r *request) payTo(m Merchant) error {
	r.posting.Legs = slices.Clone(r.posting.Legs) // What was asked stays as it is.
	for i := range r.posting.Legs {
		leg := &r.posting.Legs[i]
		if leg.AccountID != MerchantSettlement {
			continue
		}
		if m.SettlementAccountID == "" {
			return ErrNoSettlementAccount.With("merchant", m.ID).
				Field(legField(i, "accountId"), "must name an account")
		}
		leg.AccountID = m.SettlementAccountID
	}
	return nil
}

// list fills in the ids of the request's accounts.
func (r *request) list() {
	r.ids = make([]AccountID, 0, len(r.posting.Legs))
	for i := range r.posting.Legs {
		r.ids = append(r.ids, r.posting.Legs[i].AccountID)
	}
	slices.Sort(r.ids)
	r.ids = slices.Compact(r.ids)
}

// replay answers a request whose transaction exists: with the first answer when the request is the
// same, and with a conflict when it is not.
func (r *request) replay(found Entry) (Receipt, error) {
	t := &found.Transaction
	if field := r.difference(requestDigests, &found); field != "" && !r.reverses(t) {
		if r.original != nil {
			return Receipt{}, ErrAlreadyReversed.With("transaction", r.original.ID).
				With("reversal", t.ID).With("field", field).Field(field, "is another one")
		}
		return Receipt{}, ErrIdempotencyConflict.With("first", t.ID).With("field", field).
			Field(field, "is not that of the first request")
	}
	return Receipt{Entry: found.clone(), Replayed: true}, nil
}

// difference names the first member in which a request differs from the one that made an entry, or
// returns "". A transaction whose digest is absent or of an unknown version was written by another
// program or a later release; it is compared member by member.
func (r *request) difference(
	versions singletable.Digests[*Posting], found *Entry,
) string {
	t := &found.Transaction
	digest, beyond, ok := versions.Like(t.requestHash, &r.asked)
	switch {
	case ok && beyond != "":
		return beyond
	case ok && digest == t.requestHash:
		return ""
	}
	field := r.posting.difference(t)
	if !ok && field == "legs" && sameLegs(r.posting.Legs, found.Legs) {
		return ""
	}
	return field
}

// sameLegs reports whether the legs of a request are those of an entry, in any order.
func sameLegs(asked []PostingLeg, found []Leg) bool {
	if len(asked) != len(found) {
		return false
	}
	rest := slices.Clone(found)
	for _, a := range asked {
		i := slices.IndexFunc(rest, func(f Leg) bool {
			return f.AccountID == a.AccountID && f.Type == a.Type && f.Amount == a.Amount
		})
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

// reverses reports whether a transaction is the reversal that a request asks for. The terms of a
// reversal are its description and metadata; everything else follows from the original.
func (r *request) reverses(t *Transaction) bool {
	return r.original != nil && t.ReversalOf == r.original.ID &&
		t.Description == r.posting.Description && maps.Equal(t.Metadata, r.posting.Metadata)
}

// refuse returns a refusal of a request, unless its key is in use: that comes first.
func (l *Ledger) refuse(ctx context.Context, r *request, refusal error) (Receipt, error) {
	found, exists, err := l.entry(ctx, r.id)
	switch {
	case err != nil:
		return Receipt{}, err
	case exists:
		return r.replay(found)
	}
	return Receipt{}, refusal
}

// Waits between attempts of one request. The first is as long as one write takes, the last is short
// compared with what a person notices.
const (
	waitFirst = 2 * time.Millisecond
	waitLast  = 250 * time.Millisecond
	// insistTime bounds the attempts of a caller who gave no deadline.
	insistTime = 10 * time.Second
)

// insist tries a request alone, from fresh reads, until it is settled or the time is over. before
// is the outcome of the batch that did not settle it.
func (l *Ledger) insist(ctx context.Context, r *request, before outcome) (Receipt, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	j := &job{request: r, solo: true}
	if _, err := l.lanes.acquire(ctx, j); err != nil {
		return Receipt{}, err
	}
	defer func() { l.lanes.release(j.held) }()
	cause, doubts := before.cause, doubts{}.add(before.tried, before.cause)
	for wait := waitFirst; ; wait = min(2*wait, waitLast) {
		receipt, tried, err := l.alone(ctx, j)
		switch {
		case err == nil:
			return doubts.settle(receipt), nil
		case ctx.Err() != nil && cause != nil:
			return Receipt{}, outOfTime(err, cause)
		case !retryAlone(err):
			return Receipt{}, err
		case l.foreign(err):
			return Receipt{}, ErrJoined.Wrap(err)
		}
		cause, doubts = err, doubts.add(tried, err)
		if err := l.pause(ctx, wait, err); err != nil {
			return Receipt{}, err
		}
	}
}

// doubts are the entries that writes of unknown outcome would have posted.
type doubts []Entry

func (d doubts) add(tried Entry, err error) doubts {
	if tried.Transaction.ID == "" || !errors.Is(err, singletable.ErrUnknown) {
		return d
	}
	return append(d, tried)
}

// settle returns the receipt of a request whose writes were of unknown outcome. The transaction
// that is in the store counts as new if one of those writes posted it: only its answer was lost.
func (d doubts) settle(r Receipt) Receipt {
	if r.Replayed && slices.ContainsFunc(d, func(e Entry) bool { return e.same(r.Entry) }) {
		r.Replayed = false
	}
	return r
}

// alone reads what the request of a job needs, and writes it unless it is stored already or
// refused. tried is the entry of a write that failed.
func (l *Ledger) alone(ctx context.Context, j *job) (receipt Receipt, tried Entry, err error) {
	found, exists, err := l.entry(ctx, j.id)
	if err != nil {
		return Receipt{}, Entry{}, err
	}
	if exists {
		receipt, err = j.replay(found)
		return receipt, Entry{}, err
	}
	original, err := l.checkOriginal(ctx, j.request)
	if errors.Is(err, ErrNotCompleted) {
		// It may have been reversed just now, by this very reversal.
		receipt, err = l.refuse(ctx, j.request, err)
		return receipt, Entry{}, err
	} else if err != nil {
		return Receipt{}, Entry{}, err
	}
	request := *j.request
	request.original = original
	for _, lane := range j.held {
		lane.known = false
	}
	if err := l.load(ctx, j.held); err != nil {
		return Receipt{}, Entry{}, err
	}
	a := newAttempt(j.held, l.opts.Now(), &request)
	if refusal := a.parts[0].refusal; refusal != nil {
		// Another process may have posted this very request after it was looked for, and so have
		// caused the refusal. If it is still not stored, the refusal is true of the moment at
		// which the accounts were read.
		receipt, err = l.refuse(ctx, j.request, refusal)
		return receipt, Entry{}, err
	}
	err = l.commit(ctx, a)
	a.remember(err)
	if err != nil {
		return Receipt{}, a.parts[0].entry, err
	}
	receipt, settled := a.receipt(0)
	if !settled {
		err = fmt.Errorf("post transaction %s: %w", j.id, errNotWritten)
	}
	return receipt, Entry{}, err
}

// retryAlone reports whether a write failed only because another writer was there first.
func retryAlone(err error) bool {
	return errors.Is(err, singletable.ErrConditionFailed) ||
		errors.Is(err, singletable.ErrUnknown) || errors.Is(err, singletable.ErrBusy)
}

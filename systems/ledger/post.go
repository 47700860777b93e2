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

// Post carries a posting out, exactly once for its idempotency key, by one write that happens
// completely or not at all. An equal request with the same key gets the first answer again, with
// Replayed set, however much later it comes; another request with the same key gets
// ErrIdempotencyConflict. A refusal writes nothing and its key may be tried again. When the
// context ends first, the posting may have happened or not: send it again with the same key.
func (l *Ledger) Post(ctx context.Context, p Posting) (Receipt, error) {
	j, err := l.newJob(ctx, p)
	if err != nil {
		return Receipt{}, err
	}
	if j.err != nil {
		return l.refuse(ctx, j)
	}
	return l.carry(ctx, j)
}

// newJob checks a posting in itself and prepares it. The error in the job, if there is one, is what
// the books say against the merchant: it counts only if the key is not in use.
func (l *Ledger) newJob(ctx context.Context, p Posting) (*job, error) {
	j := &job{posting: p.normal()}
	if err := j.posting.check(); err != nil {
		return nil, err
	}
	j.hash = requestHash(&j.posting)
	if j.posting.IdempotencyKey == "" {
		j.posting.IdempotencyKey = l.opts.NewID()
	}
	j.id = l.transactionID(j.posting.IdempotencyKey)
	if j.posting.MerchantID != "" {
		m, err := l.knownMerchant(ctx, j.posting.MerchantID)
		if err == nil {
			err = j.payTo(m)
		}
		if err != nil && !errors.Is(err, ErrMerchantNotFound) &&
			!errors.Is(err, ErrNoSettlementAccount) {
			return nil, err
		}
		j.err = err
	}
	j.list()
	return j, nil
}

// transactionID returns the id of the transaction that an idempotency key stands for.
func (l *Ledger) transactionID(key string) TransactionID {
	return TransactionID(derive(transactionSpace, l.opts.Tenant, key))
}

// payTo puts a merchant's settlement account in place.
func (j *job) payTo(m Merchant) error {
	for i := range j.posting.Legs {
		leg := &j.posting.Legs[i]
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

// list fills in the ids of the job's accounts.
func (j *job) list() {
	j.ids = make([]AccountID, 0, len(j.posting.Legs))
	for i := range j.posting.Legs {
		j.ids = append(j.ids, j.posting.Legs[i].AccountID)
	}
	slices.Sort(j.ids)
	j.ids = slices.Compact(j.ids)
	j.held = make([]*lane, 0, len(j.ids))
}

// plan works out the entry of the posting on the accounts of the lanes as they will be, and changes
// them. It returns what the books say against it.
func (j *job) plan(lanes []*lane, now time.Time) error {
	var space [8]*Account // Enough for most postings; longer ones move to the heap.
	accounts := space[:0]
	for i := range j.posting.Legs {
		accounts = append(accounts, nextOf(lanes, j.posting.Legs[i].AccountID))
	}
	if err := j.posting.refusal(accounts); err != nil {
		return err
	}
	legs := j.posting.apply(j.id, accounts, now)
	debits, _, _ := j.posting.sums(j.posting.Currency)
	j.entry = Entry{Legs: legs, Transaction: Transaction{
		ID:             j.id,
		IdempotencyKey: j.posting.IdempotencyKey,
		Type:           j.posting.Type,
		Status:         Completed,
		MerchantID:     j.posting.MerchantID,
		Description:    j.posting.Description,
		Amount:         debits,
		Metadata:       j.posting.Metadata,
		CreatedAt:      legs[0].CreatedAt,
		requestHash:    j.hash,
	}}
	if j.original != nil {
		j.entry.Transaction.ReversalOf = j.original.ID
	}
	slices.SortFunc(legs, func(a, b Leg) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// nextOf returns the account of a lane as it will be, or nil where there is no account.
func nextOf(lanes []*lane, id AccountID) *Account {
	for _, lane := range lanes {
		if lane.id == id {
			if lane.next.ID == "" {
				return nil
			}
			return &lane.next
		}
	}
	return nil
}

// replay answers a job whose transaction exists: with the first answer when the request is the
// same, and with a conflict when it is not.
func (j *job) replay(found Entry) (Receipt, error) {
	if t := &found.Transaction; t.requestHash != j.hash {
		field := j.posting.difference(t)
		if j.original != nil {
			return Receipt{}, ErrAlreadyReversed.With("transaction", j.original.ID).
				With("reversal", t.ID).With("field", field).Field(field, "is another one")
		}
		return Receipt{}, ErrIdempotencyConflict.With("first", t.ID).With("field", field).
			Field(field, "is not that of the first request")
	}
	return Receipt{Entry: found.clone(), Replayed: true}, nil
}

// refuse returns the problem that a job has with its merchant, unless its key is in use: that comes
// first.
func (l *Ledger) refuse(ctx context.Context, j *job) (Receipt, error) {
	found, exists, err := l.entry(ctx, j.id)
	switch {
	case err != nil:
		return Receipt{}, err
	case exists:
		return j.replay(found)
	}
	return Receipt{}, j.err
}

// Waits between attempts of one job. The first is as long as one write takes, the last is short
// beside what a person notices.
const (
	waitFirst = 2 * time.Millisecond
	waitLast  = 250 * time.Millisecond
	// insistTime bounds the attempts of a caller who gave no deadline.
	insistTime = 10 * time.Second
)

// insist tries a job alone, from fresh reads, until it is settled or the time is over.
func (l *Ledger) insist(ctx context.Context, j *job) (Receipt, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	j.alone, j.held = true, j.held[:0]
	if _, err := l.lanes.acquire(ctx, j); err != nil {
		return Receipt{}, err
	}
	defer func() { l.lanes.release(j.held) }()
	for wait := waitFirst; ; wait = min(2*wait, waitLast) {
		receipt, err := l.attempt(ctx, j)
		switch {
		case err != nil && ctx.Err() != nil && j.cause != nil:
			return Receipt{}, ErrContended.Wrap(errors.Join(err, j.cause))
		case err == nil || !retryAlone(err):
			return receipt, err
		case l.foreign(err):
			return Receipt{}, ErrJoined.Wrap(err)
		}
		j.cause = err
		if err := l.pause(ctx, wait, err); err != nil {
			return Receipt{}, err
		}
	}
}

// attempt reads what a job needs, and writes it unless it is there already or refused.
func (l *Ledger) attempt(ctx context.Context, j *job) (Receipt, error) {
	found, exists, err := l.entry(ctx, j.id)
	if err != nil {
		return Receipt{}, err
	}
	if exists {
		return j.replay(found)
	}
	if err := l.checkOriginal(ctx, j); errors.Is(err, ErrNotCompleted) {
		j.err = err // It may have been reversed just now, by this very reversal.
		return l.refuse(ctx, j)
	} else if err != nil {
		return Receipt{}, err
	}
	for _, lane := range j.held {
		lane.known = false
	}
	if err := l.load(ctx, j.held); err != nil {
		return Receipt{}, err
	}
	for _, lane := range j.held {
		lane.next = lane.account
	}
	if err := j.plan(j.held, l.opts.Now()); err != nil {
		// Another process may have posted this very job after it was looked for, and so have
		// caused what is now held against it. If it is still not there, the refusal is true of
		// the moment at which the accounts were read.
		j.err = err
		return l.refuse(ctx, j)
	}
	j.planned = true
	b := &batch{jobs: []*job{j}, owned: j.held}
	err = l.commit(ctx, b)
	l.remember(b, err)
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Entry: j.entry}, nil
}

// retryAlone tells whether a write failed only because somebody else was there first.
func retryAlone(err error) bool {
	return errors.Is(err, singletable.ErrConditionFailed) ||
		errors.Is(err, singletable.ErrUnknown) || errors.Is(err, singletable.ErrBusy)
}

// commit writes what is planned of a batch.
func (l *Ledger) commit(ctx context.Context, b *batch) error {
	tx := l.store.NewTx()
	if !l.fill(tx, b) {
		return nil
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("post transaction %s: %w", b.jobs[0].id, err)
	}
	return nil
}

// fill adds what is planned of a batch to a transaction of the store: headers and legs, the marks
// on reversed transactions, and one change of each account. It reports whether there is anything.
func (l *Ledger) fill(tx *singletable.Tx, b *batch) bool {
	m, some := modelOf(l), false
	for _, j := range b.jobs {
		if !j.planned || j.twin != nil {
			continue
		}
		some = true
		m.transactions.CreateTx(tx, itemOfTransaction(&j.entry.Transaction))
		for i := range j.entry.Legs {
			m.legs.PutTx(tx, itemOfLeg(&j.entry.Legs[i])) // New, as their header is.
		}
		if j.original != nil {
			m.markReversed(tx, j.original, j.id)
		}
		if j.with.Add != nil {
			j.with.Add(tx, j.entry.clone())
		}
	}
	for _, lane := range b.owned {
		switch {
		case lane.next.Version == lane.account.Version:
		case lane.drafted:
			m.addToBalance(tx, &lane.account, &lane.next)
		default:
			m.changeBalance(tx, &lane.account, &lane.next)
		}
	}
	return some
}

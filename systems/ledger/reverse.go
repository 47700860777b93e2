package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/problem"
)

// Reversing asks for the reversal of a transaction.
type Reversing struct {
	TransactionID TransactionID
	// Description of the reversal; empty means that of the original.
	Description string
	Metadata    map[string]string
}

func (r Reversing) check() error {
	var wrong problem.Fields
	checkID(&wrong, "transactionId", string(r.TransactionID), required)
	if err := wrong.Err(ErrInvalidRequest); err != nil {
		return err
	}
	return checkTexts(r.Description, r.Metadata)
}

// Reverse undoes a completed transaction, whole, by another transaction: what each account gained
// is taken back, and what it lost is given back. It happens once: the reversal's id follows from
// the original's, so an equal second request gets the first answer, with Replayed set, and another
// one ErrAlreadyReversed. The two point at each other, and the original's status becomes reversed.
// A reversal cannot be reversed.
func (l *Ledger) Reverse(ctx context.Context, r Reversing) (Receipt, error) {
	q, err := l.newReversal(ctx, r)
	if err != nil {
		return Receipt{}, err
	}
	return l.carry(ctx, q)
}

// newReversal reads the original and prepares its reversal. An original that is not completed is
// noted in the request: it may be reversed already, by an equal request.
func (l *Ledger) newReversal(ctx context.Context, r Reversing) (*request, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	original, err := l.Entry(ctx, r.TransactionID)
	if err != nil {
		return nil, err
	}
	t := &original.Transaction
	if t.ReversalOf != "" {
		return nil, ErrReversalOfReversal.With("transaction", t.ID)
	}
	q := &request{posting: original.reversal(), original: t}
	q.id = TransactionID(derive(reversalSpace, l.opts.Tenant, string(t.ID)))
	q.asked = Posting{Type: Reversal, Description: r.Description, Metadata: r.Metadata}
	q.hash = requestDigests.Of(&q.asked)
	// The key is for people and for the look-up by key. No request can take its id by any key,
	// because ids of reversals are derived in a name space of their own.
	q.posting.IdempotencyKey = "reversal:" + string(t.ID)
	if r.Description != "" {
		q.posting.Description = r.Description
	}
	q.posting.Metadata = r.Metadata
	q.posting = q.posting.normal()
	q.objection = notCompleted(t)
	q.list()
	return q, nil
}

// notCompleted returns why there can be no reversal of a transaction.
func notCompleted(t *Transaction) error {
	if t.Status == Completed {
		return nil
	}
	return ErrNotCompleted.With("transaction", t.ID).With("status", t.Status)
}

// checkOriginal reads the original of a reversal again, in case its status or, by RepairDates, its
// date has changed. It returns nil if the request is no reversal.
func (l *Ledger) checkOriginal(ctx context.Context, r *request) (*Transaction, error) {
	if r.original == nil {
		return nil, nil
	}
	t, err := l.Transaction(ctx, r.original.ID)
	if err != nil {
		return nil, err
	}
	return &t, notCompleted(&t)
}

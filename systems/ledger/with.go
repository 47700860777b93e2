package ledger

import (
	"context"
	"strings"

	"github.com/exchequer-dev/exchequer/singletable"
)

// With is what a caller writes in the same write as a posting: either all of it happens or none.
type With struct {
	// Owner is the part of the product that derives the key of the posting; see [Owner]. Earlier
	// releases posted such keys in the space of callers. A transaction that one of them posted for
	// an equal request is the answer to it, so that money moves once.
	Owner Owner
	// Actions is how many items Add touches.
	Actions int
	// Add adds writes of other tables to the write that brings an entry into the books. It is
	// called once for each attempt, each time with a new Tx, and must not touch the ledger's items.
	Add func(tx *singletable.Tx, e Entry)
}

// PostWith is Post with writes of the caller's own that happen together with it. It waits and
// joins like Post, so that postings to one account do not collide, which a caller of PostTx has to
// see to. A replay writes nothing: neither the transaction, which is there, nor what the caller
// adds. A condition of the caller's that does not hold is ErrJoined.
func (l *Ledger) PostWith(ctx context.Context, p Posting, with With) (Receipt, error) {
	r, err := l.newRequest(ctx, p, with.Owner)
	if err != nil {
		return Receipt{}, err
	}
	earlier, found, err := l.postedBefore(ctx, p.IdempotencyKey, with.Owner, r)
	if found || err != nil {
		return earlier, err
	}
	r.with = with
	if actions := r.actions() + len(r.ids); actions > actionsMax {
		return Receipt{}, ErrTooManyLegs.With("legs", len(r.posting.Legs)).
			With("accounts", len(r.ids)).With("actions", actions).With("limit", actionsMax)
	}
	return l.carry(ctx, r)
}

// postedBefore returns the answer to a request of an owner that an earlier release carried out in
// the space of callers. A transaction of this release there was posted by a caller, even if it is
// equal, and so was one of any release that is not.
func (l *Ledger) postedBefore(
	ctx context.Context, key string, owner Owner, r *request,
) (Receipt, bool, error) {
	if owner == OwnerCaller || key == "" {
		return Receipt{}, false, nil
	}
	item, exists, err := modelOf(l).transactions.Get(ctx, l.store,
		transactionItem{ID: l.transactionID(key)}, singletable.Consistent())
	if err != nil {
		return Receipt{}, false, failed("read transaction of", key, err)
	}
	if !exists || !strings.HasPrefix(item.RequestHash, digestShared) {
		return Receipt{}, false, nil
	}
	found, exists, err := l.entry(ctx, item.ID)
	if err != nil || !exists || r.difference(requestDigests, &found) != "" {
		return Receipt{}, false, err
	}
	return Receipt{Entry: found.clone(), Replayed: true}, true, nil
}

// foreign reports whether a write failed because of a condition on an item of another table.
func (l *Ledger) foreign(err error) bool {
	for _, f := range singletable.FailuresOf(err) {
		if f.Kind == singletable.FailedCondition && f.Table != modelOf(l).table.Name() {
			return true
		}
	}
	return false
}

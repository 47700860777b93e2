package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/singletable"
)

// With is what a caller writes in the same write as a posting: either all of it happens or none.
type With struct {
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
	r, err := l.newRequest(ctx, p)
	if err != nil {
		return Receipt{}, err
	}
	r.with = with
	if actions := r.actions() + len(r.ids); actions > actionsMax {
		return Receipt{}, ErrTooManyLegs.With("legs", len(r.posting.Legs)).
			With("accounts", len(r.ids)).With("actions", actions).With("limit", actionsMax)
	}
	if r.objection != nil {
		return l.refuse(ctx, r, r.objection)
	}
	return l.carry(ctx, r)
}

// foreign tells whether a write failed because of a condition on an item that is not the ledger's.
func (l *Ledger) foreign(err error) bool {
	for _, f := range singletable.FailuresOf(err) {
		if f.Kind == singletable.FailedCondition && f.Table != modelOf(l).table.Name() {
			return true
		}
	}
	return false
}

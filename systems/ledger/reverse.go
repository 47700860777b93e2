package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Reversing asks for the reversal of a transaction.
type Reversing struct {
	TransactionID TransactionID
	// Description of the reversal; empty means "Reversal of" and the original's description.
	Description string
	Metadata    map[string]string
}

// Reverse undoes a completed transaction, whole, by another transaction: what each account gained is
// taken back, and what it lost is given back. It happens once: the reversal's id follows from the
// original's, so an equal second request gets the first answer, with Replayed set, and another
// one ErrAlreadyReversed. The two point at each other, and the original's status becomes reversed. A
// reversal cannot be reversed.
func (l *Ledger) Reverse(ctx context.Context, r Reversing) (Receipt, error) {
	return Receipt{}, nil
}

// ReverseTx adds a reversal to a transaction of the store that the caller commits; see PostTx.
func (l *Ledger) ReverseTx(
	ctx context.Context, tx *singletable.Tx, r Reversing,
) (Receipt, error) {
	return Receipt{}, nil
}

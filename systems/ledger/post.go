package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Post carries a posting out, exactly once for its idempotency key, by one write that happens
// completely or not at all. An equal request with the same key gets the first answer again, with
// Replayed set, however much later it comes; another request with the same key gets
// ErrIdempotencyConflict. A refusal writes nothing and its key may be tried again. When the
// context ends first, the posting may have happened or not: send it again with the same key.
func (l *Ledger) Post(ctx context.Context, p Posting) (Receipt, error) { return Receipt{}, nil }

// PostTx adds a posting to a transaction of the store that the caller commits. It reads what it
// needs and makes the same checks as Post; a replay adds nothing. If Commit then fails because a
// condition did not hold, someone else was faster: begin again with a new Tx.
func (l *Ledger) PostTx(
	ctx context.Context, tx *singletable.Tx, p Posting,
) (Receipt, error) {
	return Receipt{}, nil
}

package ledger

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/exchequer-dev/exchequer/singletable"
)

// PostTx adds a posting to a transaction of the store that the caller commits. It reads what it
// needs and makes the same checks as Post; a replay adds nothing. Several postings in one Tx count
// on each other, also where they share accounts. If Commit then fails because a condition did not
// hold, another writer was faster: begin again with a new Tx.
func (l *Ledger) PostTx(
	ctx context.Context, tx *singletable.Tx, p Posting,
) (Receipt, error) {
	r, err := l.newRequest(ctx, p, OwnerCaller)
	if err != nil {
		return Receipt{}, err
	}
	if held, found, err := l.heldByOther(ctx, p.IdempotencyKey, r); found || err != nil {
		return held, err
	}
	if r.objection != nil {
		return l.refuse(ctx, r, r.objection)
	}
	return l.join(ctx, tx, r)
}

// ReverseTx adds a reversal to a transaction of the store that the caller commits; see PostTx.
func (l *Ledger) ReverseTx(
	ctx context.Context, tx *singletable.Tx, r Reversing,
) (Receipt, error) {
	q, err := l.newReversal(ctx, r)
	if err != nil {
		return Receipt{}, err
	}
	if q.objection != nil {
		return l.refuse(ctx, q, q.objection)
	}
	return l.join(ctx, tx, q)
}

// drafts remembers what was added to transactions that are not committed yet, as long as their
// callers hold them.
type drafts struct {
	mu   sync.Mutex
	byTx map[weak.Pointer[singletable.Tx]]*draft
}

// draft is what the postings of one Tx come to so far. Like the Tx, it belongs to one goroutine.
type draft struct {
	accounts map[AccountID]Account
	entries  map[TransactionID]Entry
	// at is the instant of all of them: an account has one time of its last posting to write.
	at time.Time
}

func (d *drafts) of(tx *singletable.Tx) *draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := weak.Make(tx)
	if found := d.byTx[key]; found != nil {
		return found
	}
	made := &draft{accounts: map[AccountID]Account{}, entries: map[TransactionID]Entry{}}
	if d.byTx == nil {
		d.byTx = map[weak.Pointer[singletable.Tx]]*draft{}
	}
	d.byTx[key] = made
	runtime.AddCleanup(tx, d.drop, key)
	return made
}

func (d *drafts) drop(key weak.Pointer[singletable.Tx]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byTx, key)
}

// join adds a request to a transaction that the caller commits.
func (l *Ledger) join(ctx context.Context, tx *singletable.Tx, r *request) (Receipt, error) {
	if err := l.prepare(ctx); err != nil {
		return Receipt{}, err
	}
	d := l.drafts.of(tx)
	found, exists := d.entries[r.id]
	if !exists {
		var err error
		if found, exists, err = l.entry(ctx, r.id); err != nil {
			return Receipt{}, err
		}
	}
	if exists {
		return r.replay(found)
	}
	// These lanes are this call's own: no caller waits for them and they are not remembered.
	lanes := make([]*lane, 0, len(r.ids))
	for _, id := range r.ids {
		account, known := d.accounts[id]
		lanes = append(lanes, &lane{id: id, known: known, drafted: known, account: account})
	}
	if err := l.load(ctx, lanes); err != nil {
		return Receipt{}, err
	}
	now := d.at
	if now.IsZero() {
		now = l.opts.Now()
	}
	a := newAttempt(lanes, now, r)
	p := &a.parts[0]
	if p.refusal != nil {
		return l.refuse(ctx, r, p.refusal)
	}
	l.fill(tx, a)
	if err := tx.Err(); err != nil {
		return Receipt{}, fmt.Errorf("add transaction %s: %w", r.id, err)
	}
	for i := range a.changes {
		d.accounts[a.changes[i].after.ID] = a.changes[i].after
	}
	d.entries[r.id], d.at = p.entry, p.entry.Transaction.CreatedAt
	return Receipt{Entry: p.entry.clone()}, nil
}

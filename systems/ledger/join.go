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
// hold, someone else was faster: begin again with a new Tx.
func (l *Ledger) PostTx(
	ctx context.Context, tx *singletable.Tx, p Posting,
) (Receipt, error) {
	j, err := l.newJob(ctx, p)
	if err != nil {
		return Receipt{}, err
	}
	if j.err != nil {
		return l.refuse(ctx, j)
	}
	return l.join(ctx, tx, j)
}

// ReverseTx adds a reversal to a transaction of the store that the caller commits; see PostTx.
func (l *Ledger) ReverseTx(
	ctx context.Context, tx *singletable.Tx, r Reversing,
) (Receipt, error) {
	j, err := l.newReversal(ctx, r)
	if err != nil {
		return Receipt{}, err
	}
	if j.err != nil {
		return l.refuse(ctx, j)
	}
	return l.join(ctx, tx, j)
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

// join adds a job to a transaction that the caller commits.
func (l *Ledger) join(ctx context.Context, tx *singletable.Tx, j *job) (Receipt, error) {
	d := l.drafts.of(tx)
	found, exists := d.entries[j.id]
	if !exists {
		var err error
		if found, exists, err = l.entry(ctx, j.id); err != nil {
			return Receipt{}, err
		}
	}
	if exists {
		return j.replay(found)
	}
	// These lanes are this call's own: nothing waits for them and nobody else remembers them.
	for _, id := range j.ids {
		account, known := d.accounts[id]
		j.held = append(j.held, &lane{id: id, known: known, drafted: known, account: account})
	}
	if err := l.load(ctx, j.held); err != nil {
		return Receipt{}, err
	}
	for _, lane := range j.held {
		lane.next = lane.account
	}
	now := d.at
	if now.IsZero() {
		now = l.opts.Now()
	}
	if err := j.plan(j.held, now); err != nil {
		j.err = err
		return l.refuse(ctx, j)
	}
	j.planned = true
	l.fill(tx, &batch{jobs: []*job{j}, owned: j.held})
	if err := tx.Err(); err != nil {
		return Receipt{}, fmt.Errorf("add transaction %s: %w", j.id, err)
	}
	for _, lane := range j.held {
		d.accounts[lane.id] = lane.next
	}
	d.entries[j.id], d.at = j.entry, j.entry.Transaction.CreatedAt
	return Receipt{Entry: j.entry.clone()}, nil
}

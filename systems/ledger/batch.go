package ledger

import (
	"context"
	"time"
)

// commitTime bounds the write of a batch. It serves several callers, so it must not end with the
// context of the one that happens to carry it out.
const commitTime = 10 * time.Second

// job is a posting on its way into the books.
type job struct {
	waiter
	posting Posting // Normal, with the merchant's account in place.
	id      TransactionID
	hash    string
	// original is the header of the transaction that this one reverses.
	original *Transaction
	// with is what the caller writes in the same write.
	with With

	// planned tells that entry is what the write in hand makes of the posting.
	planned bool
	entry   Entry
	// twin is another job of the same batch with the same id.
	twin *job

	// The outcome: a receipt or an error, unless the job has to be tried alone.
	receipt Receipt
	err     error
	alone   bool
	// cause is why the write of a batch failed, for a job that has to be tried alone.
	cause error
}

// actions counts the writes that a job needs besides those of the accounts.
func (j *job) actions() int {
	n := 1 + len(j.posting.Legs) + j.with.Actions
	if j.original != nil {
		n++
	}
	return n
}

// batch is a write that is being put together.
type batch struct {
	jobs    []*job
	owned   []*lane
	actions int
}

// fits tells whether another job may join, and counts it if it does.
func (b *batch) fits(j *job) bool {
	if j.alone {
		return false
	}
	more := j.actions()
	for _, other := range b.jobs {
		if other.id == j.id {
			more = 0 // It will get the answer of the other.
			break
		}
	}
	for _, id := range j.ids {
		if !b.owns(id) {
			more++
		}
	}
	return b.actions+more <= actionsMax
}

func (b *batch) owns(id AccountID) bool {
	for _, o := range b.owned {
		if o.id == id {
			return true
		}
	}
	return false
}

func (b *batch) add(j *job) {
	for _, other := range b.jobs {
		if other.id == j.id && other.twin == nil {
			j.twin = other
			break
		}
	}
	if j.twin == nil {
		b.actions += j.actions()
	}
	b.jobs = append(b.jobs, j)
}

// carry brings a job into the books, together with those of other callers that wait for the same
// accounts, or lets itself be carried along by one of them. What a batch cannot settle is tried
// alone.
func (l *Ledger) carry(ctx context.Context, j *job) (Receipt, error) {
	owner, err := l.lanes.acquire(ctx, j)
	if err != nil {
		return Receipt{}, err
	}
	if owner {
		l.lead(ctx, j)
	}
	if j.alone {
		return l.insist(ctx, j)
	}
	return j.receipt, j.err
}

// lead puts a batch together, writes it, and tells everyone in it what came out.
func (l *Ledger) lead(ctx context.Context, j *job) {
	b := &batch{owned: j.held, actions: len(j.held)}
	b.add(j)
	if !l.opts.Unbatched {
		b.gather(l.lanes)
	}
	if len(b.jobs) > 1 {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		defer cancel()
		ctx = detached
	}
	l.settle(b, l.write(ctx, b))
	l.lanes.release(b.owned)
	for _, follower := range b.jobs[1:] {
		follower.wake <- struct{}{}
	}
}

// gather takes in what waits for the lanes of the batch, and for the lanes that come with it.
func (b *batch) gather(lanes *lanes) {
	for i := 0; i < len(b.owned); i++ {
		for {
			before := len(b.owned)
			j := lanes.follower(b.owned[i], &b.owned, b.fits)
			if j == nil {
				break
			}
			b.actions += len(b.owned) - before
			b.add(j)
		}
	}
}

// write plans the jobs of a batch one after the other, on the accounts as they are remembered, and
// writes what can be written. A job that is refused is left out: what is remembered may be old, so
// a refusal must be confirmed.
func (l *Ledger) write(ctx context.Context, b *batch) error {
	if err := l.load(ctx, b.owned); err != nil {
		return err
	}
	for _, lane := range b.owned {
		lane.next = lane.account
	}
	now := l.opts.Now()
	for _, j := range b.jobs {
		if j.twin == nil {
			j.planned = j.plan(b.owned, now) == nil
		}
	}
	return l.commit(ctx, b)
}

// remember keeps the accounts of a batch as they are after its write.
func (l *Ledger) remember(b *batch, err error) {
	for _, lane := range b.owned {
		if err != nil {
			lane.known = false
		} else if lane.known {
			lane.account = lane.next
		}
	}
}

// settle gives every job of a batch its outcome, and remembers the accounts.
func (l *Ledger) settle(b *batch, err error) {
	l.remember(b, err)
	for i, j := range b.jobs {
		switch first := j.twin; {
		case err != nil && i == 0 && !retryAlone(err):
			j.err = err
		case err != nil:
			j.alone, j.cause = true, err
		case first == nil && j.planned:
			j.receipt = Receipt{Entry: j.entry}
		case first != nil && first.planned:
			j.receipt, j.err = j.replay(first.entry)
		default:
			j.alone = true
		}
	}
}

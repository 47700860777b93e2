package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// commitTime bounds the write of a batch. It serves several callers, so it must not end with the
// context of the caller whose goroutine carries it out.
const commitTime = 10 * time.Second

// request is what a caller wants to have posted. It is prepared once and not changed afterwards, so
// any number of attempts can work with it.
type request struct {
	posting Posting // Normal, with the merchant's account in place.
	id      TransactionID
	// asked is what the client sent, which is what digests are of, and hash is its newest digest.
	asked Posting
	hash  string
	// ids are the accounts of the posting, each once and in order.
	ids []AccountID
	// original is the header of the transaction that this one reverses.
	original *Transaction
	// with is what the caller writes in the same write.
	with With
	// objection is the problem with the merchant or the original, which counts only if the key is
	// not in use.
	objection error
}

// job is a request on its way through the queues, once. A request that has to be tried alone gets
// another job.
type job struct {
	*request
	waiter
	// solo keeps the job out of the writes of others.
	solo bool
	// out is set by the job that carries this one along, before it wakes the caller.
	out outcome
}

// outcome is the result of a batch for one of its jobs. The zero value is a job that was not
// settled, which has to be tried alone.
type outcome struct {
	settled bool
	receipt Receipt
	err     error
	// cause is the reason why the write of the batch failed, and tried is what that write would
	// have posted, for a job that has to be tried alone.
	cause error
	tried Entry
}

// actions counts the writes that a request needs in addition to those of the accounts.
func (r *request) actions() int {
	n := 1 + len(r.posting.Legs) + r.with.Actions
	if r.original != nil {
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

// fits reports whether another job may join.
func (b *batch) fits(j *job) bool {
	if j.solo || b.meets(j) {
		return false
	}
	more := j.actions()
	for _, id := range j.ids {
		if !b.owns(id) {
			more += writesOf(id)
		}
	}
	return b.actions+more <= actionsMax
}

// writesOf returns how many writes an account may need: one of the ledger's own may have to be
// opened, which takes an entry in the directory as well.
func writesOf(id AccountID) int {
	if id.System() {
		return 2
	}
	return 1
}

// meets reports whether a job reverses a transaction that a job of the batch posts, or the other
// way round: a repeat of an old key can meet the reversal of its transaction. Both write the header
// of the transaction, which cannot be in one write twice.
func (b *batch) meets(j *job) bool {
	return slices.ContainsFunc(b.jobs, func(other *job) bool {
		return j.original != nil && j.original.ID == other.id ||
			other.original != nil && other.original.ID == j.id
	})
}

func (b *batch) owns(id AccountID) bool {
	return slices.ContainsFunc(b.owned, func(o *lane) bool { return o.id == id })
}

// count takes the writes of accounts into account.
func (b *batch) count(lanes []*lane) {
	for _, lane := range lanes {
		b.actions += writesOf(lane.id)
	}
}

func (b *batch) add(j *job) {
	b.actions += j.actions()
	b.jobs = append(b.jobs, j)
}

// carry brings a request into the books, or returns its refusal, in its turn.
func (l *Ledger) carry(ctx context.Context, r *request) (Receipt, error) {
	return l.turns.take(ctx, r, func() (Receipt, error) {
		if r.objection != nil {
			return l.refuse(ctx, r, r.objection)
		}
		return l.enqueue(ctx, r)
	})
}

// enqueue posts a request together with those of other callers that wait for the same accounts, or
// has it carried along by one of them. A request that its batch does not settle is tried alone.
func (l *Ledger) enqueue(ctx context.Context, r *request) (Receipt, error) {
	if err := l.prepare(ctx); err != nil {
		return Receipt{}, err
	}
	j := &job{request: r}
	owner, err := l.lanes.acquire(ctx, j)
	if err != nil {
		return Receipt{}, err
	}
	if owner {
		l.lead(ctx, j)
	}
	if !j.out.settled {
		return l.insist(ctx, r, j.out)
	}
	return j.out.receipt, j.out.err
}

// lead puts a batch together, writes it, and gives everyone in it the outcome. Also if the write
// panics, the accounts are released and the other callers go on.
func (l *Ledger) lead(ctx context.Context, j *job) {
	b := &batch{owned: j.held}
	b.count(j.held)
	b.add(j)
	if !l.opts.Unbatched {
		b.gather(l.lanes)
	}
	if len(b.jobs) > 1 {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		defer cancel()
		ctx = detached
	}
	defer func() {
		l.lanes.release(b.owned)
		for _, follower := range b.jobs[1:] {
			follower.wake <- struct{}{}
		}
	}()
	l.write(ctx, b)
}

// gather takes in the jobs that wait for the lanes of the batch, and for the lanes that come with
// them.
func (b *batch) gather(lanes *lanes) {
	for i := 0; i < len(b.owned); i++ {
		for {
			before := len(b.owned)
			j := lanes.follower(b.owned[i], &b.owned, b.fits)
			if j == nil {
				break
			}
			b.count(b.owned[before:])
			b.add(j)
		}
	}
}

// write makes one attempt at the jobs of a batch, on the accounts as they are remembered, and
// settles those that were written. A job that is refused stays unsettled: the remembered accounts
// may be old, so a refusal must be confirmed.
func (l *Ledger) write(ctx context.Context, b *batch) {
	requests := make([]*request, len(b.jobs))
	for i, j := range b.jobs {
		requests[i] = j.request
	}
	if err := l.load(ctx, b.owned); err != nil {
		b.failed(nil, err)
		return
	}
	a := newAttempt(b.owned, l.opts.Now(), requests...)
	var err error
	if a.planned() {
		err = l.commit(ctx, a)
	}
	a.remember(err)
	if err != nil {
		b.failed(a, err)
		return
	}
	for i, j := range b.jobs {
		j.out.receipt, j.out.settled = a.receipt(i)
	}
}

// failed gives the jobs of a batch the reason why its write failed.
func (b *batch) failed(a *attempt, err error) {
	for i, j := range b.jobs {
		j.out.cause = err
		if a != nil && errors.Is(err, singletable.ErrUnknown) {
			j.out.tried = a.parts[i].entry
		}
	}
	if leader := b.jobs[0]; !retryAlone(err) {
		leader.out.settled, leader.out.err = true, err
	}
}

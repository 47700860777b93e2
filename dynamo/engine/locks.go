package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// stripeCount is the number of locks that all items share. Two items with the same lock only delay
// each other briefly, and with 4,096 locks this is rare for the number of callers of one machine.
const stripeCount = 4096

// locks serialize the writes of each item. A write holds the stripes of its items from before it
// reads them until its batch is applied.
type locks struct {
	stripes [stripeCount]stripe
	off     bool // tests turn the locks off to show that other tests would notice
}

// stripe is one lock of the items whose keys hash to it.
type stripe struct {
	sync.Mutex
	// last is the sync ticket of the newest write under this stripe. A reader that may have seen
	// the write waits for it.
	last atomic.Uint64
	// recent is the item that the last update under this stripe wrote, guarded by the lock.
	recent recent
}

// recent caches the current state of one item, so that the next update of the item need not read
// it: an item that was updated is often updated again. Every write of an item under the lock must
// update or clear it.
type recent struct {
	key  string
	view row.View
}

// recentSizeMax is the maximum size of a cached item, which limits the cache to 36 MB. It admits a
// payment of 8 KB, because a payment is claimed and settled in quick succession.
const recentSizeMax = 9 << 10

func (r *recent) forget(rowKey []byte) {
	if r.key == string(rowKey) {
		*r = recent{}
	}
}

func stripeOf(itemKey []byte) uint16 { return uint16(xxhash.Sum64(itemKey) % stripeCount) }

// lock locks the stripes after it has sorted them and removed duplicates. All calls lock in the
// same order, so that they cannot deadlock.
func (l *locks) lock(stripes []uint16) []uint16 {
	if len(stripes) > 1 {
		slices.Sort(stripes)
		stripes = slices.Compact(stripes)
	}
	if l.off {
		return stripes
	}
	for _, s := range stripes {
		l.stripes[s].Lock()
	}
	return stripes
}

func (l *locks) unlock(stripes []uint16) {
	if l.off {
		return
	}
	for _, s := range stripes {
		l.stripes[s].Unlock()
	}
}

// markStripes records the sync ticket of a write under its locked stripes.
func (l *locks) markStripes(stripes []uint16, ticket uint64) {
	for _, s := range stripes {
		l.stripes[s].last.Store(ticket)
	}
}

// syncQueue numbers the syncs of writes. A write gets a ticket before its batch is applied, and the
// ticket completes when the sync returns. A reader waits for the tickets that it may have seen,
// because otherwise it could return data that a power failure removes.
type syncQueue struct {
	mu        sync.Mutex
	newest    uint64          // the newest ticket
	oldest    atomic.Uint64   // this ticket and all before it are complete
	completed map[uint64]bool // complete tickets after oldest
	waiting   []waiter
	failed    <-chan struct{} // closed when the disk has failed, because tickets stay pending
}

type waiter struct {
	ticket uint64
	done   chan struct{}
}

// begin returns the next ticket.
func (q *syncQueue) begin() uint64 {
	q.mu.Lock()
	q.newest++
	n := q.newest
	q.mu.Unlock()
	return n
}

// complete completes a ticket, and wakes the waiters for which it was the last one missing.
func (q *syncQueue) complete(ticket uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := q.oldest.Load()
	if ticket != oldest+1 {
		if q.completed == nil {
			q.completed = map[uint64]bool{}
		}
		q.completed[ticket] = true
		return
	}
	oldest = ticket
	for q.completed[oldest+1] {
		oldest++
		delete(q.completed, oldest)
	}
	q.oldest.Store(oldest)
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiter) bool {
		if w.ticket <= oldest {
			close(w.done)
		}
		return w.ticket <= oldest
	})
}

// wait waits until the ticket and all before it are complete. It reports false if the disk failed
// before that.
func (q *syncQueue) wait(ticket uint64) bool {
	if q.oldest.Load() >= ticket {
		return true
	}
	q.mu.Lock()
	if q.oldest.Load() >= ticket {
		q.mu.Unlock()
		return true
	}
	w := waiter{ticket: ticket, done: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	select {
	case <-w.done:
		return true
	case <-q.failed:
		return q.oldest.Load() >= ticket
	}
}

// last returns the newest ticket, complete or not.
func (q *syncQueue) last() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.newest
}

// waitAll waits until all existing tickets are complete. It reports false if the disk failed before
// that.
func (q *syncQueue) waitAll() bool {
	q.mu.Lock()
	n := q.newest
	q.mu.Unlock()
	return q.wait(n)
}

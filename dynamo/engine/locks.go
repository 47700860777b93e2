package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// stripeCount is how many locks all items share. Two items that share one only wait for each
// other a little; 4,096 make that rare at the number of callers one machine can have.
const stripeCount = 4096

// locks serialise the writes of each item: a write holds the stripes of its items from before it
// reads them until its batch is applied.
type locks struct {
	stripes [stripeCount]stripe
	off     bool // tests show that they notice when there are no locks
}

type stripe struct {
	sync.Mutex
	// last is the flight of the newest write under this stripe, so that a reader who may have
	// seen it can wait until it is on the disk.
	last atomic.Uint64
	// recent is an item that an update left here, guarded by the lock.
	recent recent
}

// recent remembers one item as it is now, so that the next update of it need not look for it:
// what was updated once is often updated again. Whoever changes an item under the lock keeps it
// true.
type recent struct {
	key  string
	view row.View
}

// recentSizeMax bounds the items that are remembered, and so all of them to 36 MB. A payment of
// 8 KB is among them, as it is claimed and settled one after the other.
const recentSizeMax = 9 << 10

func (r *recent) forget(rowKey []byte) {
	if r.key == string(rowKey) {
		*r = recent{}
	}
}

func stripeOf(itemKey []byte) uint16 { return uint16(xxhash.Sum64(itemKey) % stripeCount) }

// lock takes the stripes, which it sorts and rids of repeats, always in the same order, so that
// no two calls wait for each other.
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

// depart notes that a write under the locked stripes is on its way to the disk.
func (l *locks) depart(stripes []uint16, flight uint64) {
	for _, s := range stripes {
		l.stripes[s].last.Store(flight)
	}
}

// flights tell which writes have reached the disk. A write takes off before its batch is applied
// and lands when its sync returned; landed(n) means that n and all before it are on the disk.
// Readers wait for the flights that they may have seen, so that no answer tells of something
// that a power cut could still undo.
type flights struct {
	mu      sync.Mutex
	newest  uint64          // the last flight that took off
	oldest  atomic.Uint64   // all flights up to this one have landed
	arrived map[uint64]bool // those after it that landed before their turn
	waiting []waiter
	failed  <-chan struct{} // closed when the disk has failed: those in progress never land then
}

type waiter struct {
	flight uint64
	done   chan struct{}
}

func (f *flights) takeOff() uint64 {
	f.mu.Lock()
	f.newest++
	n := f.newest
	f.mu.Unlock()
	return n
}

func (f *flights) land(flight uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := f.oldest.Load()
	if flight != oldest+1 {
		if f.arrived == nil {
			f.arrived = map[uint64]bool{}
		}
		f.arrived[flight] = true
		return
	}
	oldest = flight
	for f.arrived[oldest+1] {
		oldest++
		delete(f.arrived, oldest)
	}
	f.oldest.Store(oldest)
	f.waiting = slices.DeleteFunc(f.waiting, func(w waiter) bool {
		if w.flight <= oldest {
			close(w.done)
		}
		return w.flight <= oldest
	})
}

// wait reports whether the flight and all before it have landed, once it is known.
func (f *flights) wait(flight uint64) bool {
	if f.oldest.Load() >= flight {
		return true
	}
	f.mu.Lock()
	if f.oldest.Load() >= flight {
		f.mu.Unlock()
		return true
	}
	w := waiter{flight: flight, done: make(chan struct{})}
	f.waiting = append(f.waiting, w)
	f.mu.Unlock()
	select {
	case <-w.done:
		return true
	case <-f.failed:
		return f.oldest.Load() >= flight
	}
}

// last returns the newest flight, landed or not.
func (f *flights) last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest
}

// waitAll reports whether every flight that took off before has landed, once it is known.
func (f *flights) waitAll() bool {
	f.mu.Lock()
	n := f.newest
	f.mu.Unlock()
	return f.wait(n)
}

package ledger

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Bounds of what is kept of accounts in memory.
const (
	// laneShards divides the locks, so that callers with different accounts seldom meet.
	laneShards = 256
	// lanesPerShardMax bounds the accounts that are remembered: 131,072 in all, about 40 MB.
	lanesPerShardMax = 512
)

// lanes gives each account a queue of one at a time, so that the postings of this process never
// collide with one another in the store. A job holds all its accounts while it is written. It takes
// them in the order of their ids and keeps what it has while it waits for the next, so that no two
// jobs wait for each other. The job that holds an account may take those that wait for it into its
// own write.
//
// A lane also remembers the account as it was last seen. That is a hint: the write demands that the
// version is still the same.
type lanes struct {
	seed   maphash.Seed
	shards [laneShards]laneShard
}

type laneShard struct {
	mu    sync.Mutex
	lanes map[AccountID]*lane
	_     [48]byte // Shards do not share a cache line.
}

// lane is one account's queue. The shard's lock guards busy and queue; the job that made it busy
// owns the rest.
type lane struct {
	id    AccountID
	shard *laneShard
	busy  bool
	queue []*job

	// known reports that account is as the store had it when this process last saw it.
	known   bool
	account Account
	// drafted reports that account is as an earlier posting of the same Tx leaves it.
	drafted bool
}

// The states of a job that waits in a queue. The goroutine that moves it from waiting acts on it.
const (
	jobWaiting   int32 = iota
	jobHanded          // It was given the lane it waited for.
	jobTaken           // Another job carries it along.
	jobGone            // It was taken, and its caller does not wait for the outcome any more.
	jobAbandoned       // Its caller gave up; it is no longer in the queue, as far as it matters.
)

func newLanes() *lanes {
	l := &lanes{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].lanes = map[AccountID]*lane{}
	}
	return l
}

func (l *lanes) shard(id AccountID) *laneShard {
	return &l.shards[maphash.String(l.seed, string(id))%laneShards]
}

// lane returns the lane of an account, making it where there is none. The shard must be locked.
func (s *laneShard) lane(id AccountID) *lane {
	if found := s.lanes[id]; found != nil {
		return found
	}
	if len(s.lanes) >= lanesPerShardMax {
		s.forget()
	}
	made := &lane{id: id, shard: s}
	s.lanes[id] = made
	return made
}

// forget drops some unused lanes: those that come first in the map, which is any.
func (s *laneShard) forget() {
	dropped := 0
	for id, old := range s.lanes {
		if !old.busy {
			delete(s.lanes, id)
			if dropped++; dropped == lanesPerShardMax/8 {
				return
			}
		}
	}
}

// waiter is the place of a job in the queues.
type waiter struct {
	// held are the lanes that the job has, those of its first accounts.
	held  []*lane
	state atomic.Int32
	wake  chan struct{}
}

// acquire makes a job the owner of all its lanes. It returns false when another job has carried it
// along instead, so that its outcome is there. On an error the job holds nothing, unless it was
// taken: then its outcome is not known.
func (l *lanes) acquire(ctx context.Context, j *job) (owner bool, err error) {
	for len(j.held) < len(j.ids) {
		s := l.shard(j.ids[len(j.held)])
		s.mu.Lock()
		lane := s.lane(j.ids[len(j.held)])
		if !lane.busy {
			lane.busy = true
			s.mu.Unlock()
			j.held = append(j.held, lane)
			continue
		}
		if j.wake == nil {
			j.wake = make(chan struct{}, 1)
		}
		j.state.Store(jobWaiting)
		lane.queue = append(lane.queue, j)
		s.mu.Unlock()

		if done, err := j.wait(ctx); err != nil || done {
			if err != nil && j.state.Load() != jobGone {
				l.release(j.held)
			}
			return false, err
		}
		j.held = append(j.held, lane)
	}
	return true, nil
}

// wait waits until the job is given a lane, or is done because another job carried it along.
func (j *job) wait(ctx context.Context) (done bool, err error) {
	select {
	case <-j.wake:
		return j.state.Load() == jobTaken, nil
	case <-ctx.Done():
	}
	for {
		switch {
		case j.state.CompareAndSwap(jobWaiting, jobAbandoned):
			return false, ctx.Err()
		case j.state.CompareAndSwap(jobTaken, jobGone):
			return false, ctx.Err()
		case j.state.Load() == jobHanded:
			<-j.wake
			return false, nil // The next wait, or the write, will see the context.
		}
	}
}

// release gives lanes to the first job that waits for each, or frees them.
func (l *lanes) release(held []*lane) {
	for _, lane := range held {
		lane.shard.mu.Lock()
		lane.busy = lane.handOver()
		lane.shard.mu.Unlock()
	}
}

// handOver gives the lane to the first job in its queue that still waits.
func (lane *lane) handOver() bool {
	for i, j := range lane.queue {
		if j.state.CompareAndSwap(jobWaiting, jobHanded) {
			lane.queue = slices.Delete(lane.queue, 0, i+1)
			j.wake <- struct{}{}
			return true
		}
	}
	lane.queue = lane.queue[:0]
	return false
}

// follower takes the first job out of a lane's queue that fits into the write of the job that owns
// the lane: fits reports it, and the job's other lanes must be owned too, or free. It returns nil
// when there is none. owned grows by the lanes that the follower brings.
func (l *lanes) follower(at *lane, owned *[]*lane, fits func(*job) bool) *job {
	for skip := 0; ; skip++ {
		at.shard.mu.Lock()
		j := at.take(skip, fits)
		at.shard.mu.Unlock()
		if j == nil {
			return nil
		}
		if l.gather(j, at, owned) {
			return j
		}
		l.putBack(at, j, skip)
	}
}

// take removes the first fitting job after the given count of them from the queue.
func (lane *lane) take(skip int, fits func(*job) bool) *job {
	for i, j := range lane.queue {
		if i < skip || !fits(j) || !j.state.CompareAndSwap(jobWaiting, jobTaken) {
			continue
		}
		lane.queue = slices.Delete(lane.queue, i, i+1)
		return j
	}
	return nil
}

// gather makes the owner of a write the owner of the lanes that a job misses, if all are free. at
// is the lane for which the job waits: it holds those before, and at is the owner's.
func (l *lanes) gather(j *job, at *lane, owned *[]*lane) bool {
	var got []*lane
	for _, id := range j.ids[len(j.held):] {
		if slices.ContainsFunc(*owned, func(o *lane) bool { return o.id == id }) {
			continue
		}
		s := l.shard(id)
		s.mu.Lock()
		other := s.lane(id)
		free := !other.busy
		if free {
			other.busy = true
		}
		s.mu.Unlock()
		if !free {
			l.release(got)
			return false
		}
		got = append(got, other)
	}
	*owned = append(*owned, j.held...)
	*owned = append(*owned, got...)
	return true
}

// putBack returns a job that could not be carried along to its place in the queue.
func (l *lanes) putBack(at *lane, j *job, place int) {
	at.shard.mu.Lock()
	back := j.state.CompareAndSwap(jobTaken, jobWaiting)
	if back {
		at.queue = slices.Insert(at.queue, min(place, len(at.queue)), j)
	}
	at.shard.mu.Unlock()
	if !back { // Its caller has left by now, and what it held is ours to free.
		l.release(j.held)
	}
}

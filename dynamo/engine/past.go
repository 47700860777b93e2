package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// past keeps older states of a database for a rule of Faults that serves reads from them.
//
// A state is kept just before a write, at most every quarter of the rule's delay. So at most five
// states exist, and a read is delayed by the requested time or up to a quarter less. A state that
// is too old is released at the next write or read.
type past struct {
	db   *DB
	age  time.Duration // the maximum delay of a read
	held bool          // the first state is kept until forget

	mu     sync.Mutex
	closed bool
	states []*state // oldest first
}

// state is the database just before a write at some time.
type state struct {
	past     *past
	at       time.Time
	snapshot *pebble.Snapshot
	users    int  // reads in progress, guarded by the lock of past
	dropped  bool // closed by its last user
}

// statesPerAge is the number of states that are kept for the maximum delay.
const statesPerAge = 4

// note keeps the present state before a write, if the last kept state is old enough.
func (p *past) note() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	now := p.db.opts.Now()
	p.prune(now)
	if n := len(p.states); n > 0 &&
		(p.held || now.Sub(p.states[n-1].at) < max(p.age/statesPerAge, 1)) {
		return
	}
	p.states = append(p.states, &state{past: p, at: now, snapshot: p.db.store.NewSnapshot()})
}

// prune drops states that are older than any read needs. An error of closing a snapshot is reported
// again when the database is closed.
func (p *past) prune(now time.Time) {
	for !p.held && len(p.states) > 0 && now.Sub(p.states[0].at) >= p.age {
		_ = p.states[0].drop()
		p.states = p.states[1:]
	}
}

// before returns the oldest state that includes every write older than age, or nil if only the
// present state does. The caller releases it.
func (p *past) before(age time.Duration) *state {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.db.opts.Now()
	p.prune(now)
	for _, s := range p.states {
		if p.held || now.Sub(s.at) < age {
			s.users++
			return s
		}
	}
	return nil
}

// forget drops all states, so that reads see the present state.
func (p *past) forget() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, s := range p.states {
		err = errors.Join(err, s.drop())
	}
	p.states = nil
	return err
}

func (p *past) close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.forget()
}

// drop closes the snapshot of the state, or leaves that to its last user. The caller holds the lock
// of past.
func (s *state) drop() error {
	s.dropped = true
	if s.users > 0 {
		return nil
	}
	return s.snapshot.Close()
}

// release ends a use of the state.
func (s *state) release() error {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	if s.users--; s.users > 0 || !s.dropped {
		return nil
	}
	return s.snapshot.Close()
}

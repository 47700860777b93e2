package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// past keeps older states of a database for a rule of Faults that serves reads from them.
//
// A state is kept just before a write, but at most one in a quarter of the time that the rule
// looks back: five states are there at most, and a read that is to be behind by some time is
// behind by that or a quarter less. What is no longer looked back on is let go at the next write
// or read.
type past struct {
	db   *DB
	age  time.Duration // how far back anybody looks
	held bool          // the first state is kept until it is forgotten

	mu     sync.Mutex
	closed bool
	states []*state // the oldest first
}

// state is the database as it was just before a write at some time.
type state struct {
	past     *past
	at       time.Time
	snapshot *pebble.Snapshot
	users    int  // reads under way, guarded by the lock of past
	dropped  bool // closed by the last user
}

// statesPerAge is how many states are kept for the time that is looked back.
const statesPerAge = 4

// note keeps the state as it is, before a write, if the last one kept is old enough.
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

// prune drops the states that are older than anybody looks back. A state that cannot be closed
// is reported when the database is closed.
func (p *past) prune(now time.Time) {
	for !p.held && len(p.states) > 0 && now.Sub(p.states[0].at) >= p.age {
		_ = p.states[0].drop()
		p.states = p.states[1:]
	}
}

// before returns the oldest state that holds every write older than age, or nil when the present
// is the only such. The caller releases it.
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

// forget drops all states, so that reads see the present.
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

// drop closes the state's snapshot, or leaves that to its last user. The lock of past is held.
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

package engine

import (
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// disturb is what the faults do to a page before it is read: they refuse it, or end it early.
func (p *page) disturb() error {
	plan := p.db.faults.Load()
	if plan == nil {
		return nil
	}
	if err := plan.throttle(p.operation(), p.table, p.index); err != nil {
		return err
	}
	if p.partition != nil && p.index == nil && len(p.sort) == 0 {
		return nil // one row at the most, and the service does not go on after it
	}
	for _, r := range plan.rules {
		if r.Kind != FaultEarlyPage || !r.at(p.site()) || !r.strikes() {
			continue
		}
		items := r.Items
		if items == 0 {
			items = itemsDefault
		}
		early := int(r.number(int64(items))) + 1
		if p.limit == 0 || early < p.limit {
			p.limit = early
		}
	}
	return nil
}

// operation is what a page is read by: a query has its partition.
func (p *page) operation() string {
	if p.partition != nil {
		return opQuery
	}
	return opScan
}

func (p *page) site() site {
	c := site{op: p.operation(), table: p.table.Name}
	if p.index != nil {
		c.index = p.index.Name
	}
	return c
}

// older returns the state that a read is served from instead of the present one, or nil.
func (p *faultPlan) older(c site, global bool) *state {
	for _, r := range p.rules {
		if r.past == nil || r.Kind == FaultIndexLag && !global || !r.at(c) {
			continue
		}
		if !r.strikes() {
			continue
		}
		if s := r.past.before(r.delay()); s != nil {
			return s
		}
	}
	return nil
}

// note keeps the state before a write for the rules that show it later.
func (p *faultPlan) note() {
	if p == nil {
		return
	}
	for _, r := range p.rules {
		if r.past != nil {
			r.past.note()
		}
	}
}

// older returns what a page is read from if that is an older state, and how to let go of it.
func (p *page) older() (pebble.Reader, func() error) {
	plan := p.db.faults.Load()
	if plan == nil || p.consistent {
		return nil, nil
	}
	s := plan.older(p.site(), p.index != nil && !p.index.Local)
	if s == nil {
		return nil, nil
	}
	return s.snapshot, s.release
}

// expiryDelay is how long after their time the expired items of a table are kept.
func (db *DB) expiryDelay(name string) (delay time.Duration) {
	p := db.faults.Load()
	if p == nil {
		return 0
	}
	for _, r := range p.rules {
		if r.Kind == FaultExpiryDelay && r.at(site{table: name}) && r.strikes() {
			delay = max(delay, r.Delay)
		}
	}
	return delay
}

// viewFor reads the row of an item for an operation, from an older state where the faults say so.
// They may refuse to, as well.
func (db *DB) viewFor(op string, r keyRead, consistent bool) (row.View, error) {
	p := db.faults.Load()
	if p == nil {
		return db.view(db.store, r.rowKey)
	}
	if op == opGet { // batches are throttled as a whole
		if err := p.throttle(op, r.table, nil); err != nil {
			return row.View{}, err
		}
	}
	if consistent {
		return db.view(db.store, r.rowKey)
	}
	s := p.older(site{op: op, table: r.table.Name}, false)
	if s == nil {
		return db.view(db.store, r.rowKey)
	}
	v, err := db.view(s.snapshot, r.rowKey)
	return v, errors.Join(err, s.release())
}

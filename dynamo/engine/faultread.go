package engine

import (
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// applyFaults applies the faults to a page before it is read: the page is refused or ends early.
func (p *page) applyFaults() error {
	plan := p.db.faults.plan.Load()
	if plan == nil {
		return nil
	}
	if err := plan.throttle(p.operation(), p.table, p.index); err != nil {
		return err
	}
	if p.partition != nil && p.index == nil && len(p.sort) == 0 {
		return nil // the page has at most one row, and the service never continues after it
	}
	for _, r := range plan.rules {
		if r.Kind != FaultEarlyPage || !r.at(p.site()) || !r.applies() {
			continue
		}
		items := r.Items
		if items == 0 {
			items = itemsDefault
		}
		early := int(r.number(int64(items))) + 1
		// A page that ends early has a LastEvaluatedKey like any other, so a caller that ignores it
		// misses items.
		if p.limit == 0 || early < p.limit {
			p.limit = early
		}
	}
	return nil
}

// operation returns the operation that reads the page. Only a query has a partition.
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

// older returns the older state that a read is served from, or nil for the present state.
func (p *faultPlan) older(c site, global bool) *state {
	for _, r := range p.rules {
		// Only global indexes lag: a local index is written with its table.
		if r.past == nil || r.Kind == FaultIndexLag && !global || !r.at(c) {
			continue
		}
		if !r.applies() {
			continue
		}
		if s := r.past.before(r.delay()); s != nil {
			return s
		}
	}
	return nil
}

// note saves the state before a write for the rules that show it later.
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

// older returns the older state that the page is read from and a function that releases it, or nil.
func (p *page) older() (pebble.Reader, func() error) {
	plan := p.db.faults.plan.Load()
	// A consistent read always returns the present state, as on the service.
	if plan == nil || p.consistent {
		return nil, nil
	}
	s := plan.older(p.site(), p.index != nil && !p.index.Local)
	if s == nil {
		return nil, nil
	}
	return s.snapshot, s.release
}

// expiryDelay returns how long the items of a table are kept after they expired.
func (f *faulting) expiryDelay(name string) (delay time.Duration) {
	p := f.plan.Load()
	if p == nil {
		return 0
	}
	for _, r := range p.rules {
		if r.Kind == FaultExpiryDelay && r.at(site{table: name}) && r.applies() {
			delay = max(delay, r.Delay)
		}
	}
	return delay
}

// viewFor reads the row of an item for an operation, from an older state or with an error if a
// fault applies.
func (f *faulting) viewFor(op string, r keyRead, consistent bool) (row.View, error) {
	p := f.plan.Load()
	if p == nil {
		return f.db.view(f.db.store, r.rowKey)
	}
	if op == opGet { // batches are throttled as a whole
		if err := p.throttle(op, r.table, nil); err != nil {
			return row.View{}, err
		}
	}
	if consistent {
		return f.db.view(f.db.store, r.rowKey)
	}
	s := p.older(site{op: op, table: r.table.Name}, false)
	if s == nil {
		return f.db.view(f.db.store, r.rowKey)
	}
	v, err := f.db.view(s.snapshot, r.rowKey)
	return v, errors.Join(err, s.release())
}

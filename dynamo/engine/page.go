package engine

import (
	"context"
	"errors"
	"maps"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// page is one page of a Query or Scan while it is read: the range of rows, what to do with each,
// and what came of it.
type page struct {
	db         *DB
	table      *table
	index      *index // nil on the table itself
	hash, sort []keyAttribute

	lower, upper []byte // rows in [lower, upper)
	partition    []byte // what all rows of a query's partition begin with
	reverse      bool
	limit        int

	filter     *expr.Condition
	projection *expr.Projection
	countOnly  bool
	consistent bool
	fetch      bool // a local index goes to the table for the whole item
	level      dynamo.ReturnConsumedCapacity
	each       func(dynamo.Attributes) // takes the items instead of the list, unless nil

	view       row.View          // the row that is looked at
	attributes dynamo.Attributes // its attributes, for each
	failed     error             // what kept attributes from its end

	items          []dynamo.Item
	count, scanned int
	size           int // of what was evaluated, in bytes
	fetched        float64
	last           dynamo.Key
}

func bounds(lower, upper []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: lower, UpperBound: upper}
}

// contextEvery is after how many rows a page looks whether its caller is still there.
const contextEvery = 256

// read fills the page from one consistent view of the store: it ends at the limit, at 1 MB of
// evaluated data, or at the end of the range.
func (p *page) read(ctx context.Context) error {
	if err := p.disturb(); err != nil {
		return err
	}
	snapshot, release := p.reader()
	err := p.walk(ctx, snapshot)
	if err := errors.Join(err, release()); err != nil {
		return err
	}
	return p.db.awaitReads()
}

// reader returns what the page reads from. Rows that point at their items are read together with
// them from one snapshot; rows that stand alone need only their iterator's view.
func (p *page) reader() (pebble.Reader, func() error) {
	if older, release := p.older(); older != nil {
		return older, release
	}
	if p.index == nil || p.index.standsAlone() && !p.fetch {
		return p.db.store, func() error { return nil }
	}
	s := p.db.store.NewSnapshot()
	return s, s.Close
}

// standsAlone reports whether the index's rows hold all that the index projects.
func (ix *index) standsAlone() bool { return ix.include != nil }

func (p *page) walk(ctx context.Context, r pebble.Reader) error {
	it, err := r.NewIter(bounds(p.lower, p.upper))
	if err != nil {
		return err
	}
	p.db.counters.seeks.Add(1)
	var ok bool
	if p.reverse {
		ok = it.Last()
	} else {
		ok = it.First()
	}
	for ok {
		if err = p.evaluate(r, it); err != nil {
			break
		}
		if p.full() {
			p.last, err = p.keysOf(it.Key())
			break
		}
		if p.scanned%contextEvery == 0 {
			if err = ctx.Err(); err != nil {
				break
			}
		}
		if p.reverse {
			ok = it.Prev()
		} else {
			ok = it.Next()
		}
	}
	p.db.counters.steps.Add(int64(p.scanned))
	return errors.Join(err, it.Close())
}

func (p *page) full() bool {
	return p.limit > 0 && p.scanned >= p.limit || p.size >= dynamo.PageSizeMax
}

// evaluate looks at one row: it counts it, filters it, and adds what is asked of it.
func (p *page) evaluate(r pebble.Reader, it *pebble.Iterator) error {
	view, item, err := p.load(r, it)
	if err != nil {
		return err
	}
	p.scanned++
	p.view = view
	if p.filter != nil && !p.filter.Holds(document(&p.view, item)) {
		return nil
	}
	p.count++
	if p.countOnly {
		return nil
	}
	if item == nil && p.each != nil && !p.narrows() {
		return p.hand()
	}
	if item == nil {
		if item, err = view.Item(); err != nil {
			return err
		}
	}
	if p.index != nil && !p.fetch && !p.index.stores() {
		item = p.index.project(item)
	}
	if p.projection != nil {
		item = p.projection.Apply(item)
	}
	if p.each != nil {
		p.each(maps.All(item))
		return nil
	}
	p.items = append(p.items, item)
	return nil
}

// narrows reports whether the page answers with less than what its rows hold.
func (p *page) narrows() bool {
	return p.projection != nil ||
		p.index != nil && !p.fetch && !p.index.stores() && p.index.include != nil
}

// hand hands over the current item as it lies in its row, without building it.
func (p *page) hand() error {
	if p.attributes == nil {
		p.attributes = func(yield func(string, dynamo.Value) bool) {
			p.failed = p.view.Each(yield)
		}
	}
	p.each(p.attributes)
	return p.failed
}

func document(view *row.View, item dynamo.Item) expr.Document {
	if item != nil {
		return item
	}
	return view
}

// load reads what a row stands for, as a view or already decoded, and counts its size: that of
// the entry as the table or index holds it.
func (p *page) load(r pebble.Reader, it *pebble.Iterator) (row.View, dynamo.Item, error) {
	if p.index == nil || p.index.stores() && !p.fetch {
		raw, err := it.ValueAndErr()
		if err != nil {
			return row.View{}, nil, err
		}
		viewOf := row.NewView
		if p.each != nil || p.countOnly {
			viewOf = row.AliasView // which lasts until the iterator moves on
		}
		view, err := viewOf(raw)
		p.size += view.Size()
		return view, nil, err
	}
	if p.index.standsAlone() && !p.fetch {
		keys, err := p.index.keysOf(p.db.hash, p.table, it.Key())
		p.size += keys.Size()
		return row.View{}, keys, err
	}
	itemKey, err := p.index.itemKeyOf(p.db.hash, p.table, it.Key())
	if err != nil {
		return row.View{}, nil, err
	}
	view, err := p.db.view(r, itemKey)
	if err != nil {
		return row.View{}, nil, err
	}
	if p.index.include == nil {
		p.size += view.Size()
		return view, nil, nil
	}
	item, err := view.Item()
	if err != nil {
		return row.View{}, nil, err
	}
	p.size += p.index.project(item).Size()
	p.fetched += dynamo.ReadUnits(view.Size(), p.consistent)
	return view, item, nil
}

// keysOf returns the key that the next page begins after.
func (p *page) keysOf(rowKey []byte) (dynamo.Key, error) {
	if p.index == nil {
		return p.table.keyOf(rowKey)
	}
	return p.index.keysOf(p.db.hash, p.table, rowKey)
}

// consumed is what the page cost: the sum of what it evaluated, rounded up once, on the line of
// the table or index; items fetched through a local index, each rounded up, on the table's.
func (p *page) consumed() *dynamo.ConsumedCapacity {
	if !metered(p.level) {
		return nil
	}
	c := newTally(p.level, meterPlain)
	units := dynamo.ReadUnits(p.size, p.consistent)
	if p.index == nil {
		c.addTable(p.table, units)
	} else {
		c.addTable(p.table, p.fetched)
		c.addIndex(p.table, p.index, units)
	}
	return c.one()
}

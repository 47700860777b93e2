package engine

import (
	"context"
	"errors"
	"maps"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// page is one page of a Query or Scan while it is read: the range of rows, the options, and the
// result.
type page struct {
	db         *DB
	table      *table
	index      *index // nil on the table itself
	hash, sort []keyAttribute

	lower, upper []byte // rows in [lower, upper)
	partition    []byte // prefix of all rows of a query's partition
	reverse      bool
	limit        int

	filter     *expr.Condition
	projection *expr.Projection
	countOnly  bool
	consistent bool
	fetch      bool // a local index reads whole items from the table
	level      dynamo.ReturnConsumedCapacity
	each       func(dynamo.Attributes) // if set, receives the items instead of the list

	view       row.View          // the current row
	attributes dynamo.Attributes // its attributes, for each
	failed     error             // the error that ended attributes early

	items          []dynamo.Item
	count, scanned int
	size           int // of the evaluated items, in bytes
	fetched        float64
	last           dynamo.Key
}

func bounds(lower, upper []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: lower, UpperBound: upper}
}

// contextEvery is the number of rows after which a page checks its context.
const contextEvery = 256

// read fills the page from one snapshot of the store. The page ends at the limit, at 1 MB of
// evaluated data, or at the end of the range.
func (p *page) read(ctx context.Context) error {
	if err := p.applyFaults(); err != nil {
		return err
	}
	snapshot, release := p.reader()
	err := p.walk(ctx, snapshot)
	if err := errors.Join(err, release()); err != nil {
		return err
	}
	return p.db.awaitReads()
}

// reader returns the store or a snapshot for the page. Index rows that refer to items are read from
// the same snapshot as the items. Rows that contain all their data need only an iterator, which is
// a snapshot itself.
func (p *page) reader() (pebble.Reader, func() error) {
	if older, release := p.older(); older != nil {
		return older, release
	}
	if p.index == nil || p.index.covering() && !p.fetch {
		return p.db.store, func() error { return nil }
	}
	s := p.db.store.NewSnapshot()
	return s, s.Close
}

// covering reports whether the index is covering: its rows hold all attributes that it projects.
func (ix *index) covering() bool { return ix.include != nil }

// walk reads rows from the store until the page is full or the range ends. A full page records the
// key of its last row, from which the next page continues.
func (p *page) walk(ctx context.Context, r pebble.Reader) (err error) {
	defer p.db.reading(&err)
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

// evaluate counts one row, filters it, and adds the requested attributes to the result.
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
	// Without a projection the item is passed on as it is encoded, which avoids building a map.
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

// narrows reports whether the page returns fewer attributes than its rows hold.
func (p *page) narrows() bool {
	return p.projection != nil ||
		p.index != nil && !p.fetch && !p.index.stores() && p.index.include != nil
}

// hand passes the current item to each as it is encoded in its row, without building a map.
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

// load reads the item of a row, either as a view or decoded, and adds the size of the entry as the
// table or index holds it.
func (p *page) load(r pebble.Reader, it *pebble.Iterator) (row.View, dynamo.Item, error) {
	if p.index == nil || p.index.stores() && !p.fetch {
		raw, err := it.ValueAndErr()
		if err != nil {
			return row.View{}, nil, err
		}
		viewOf := row.NewView
		if p.each != nil || p.countOnly {
			viewOf = row.AliasView // valid until the iterator moves
		}
		view, err := viewOf(raw)
		p.size += view.Size()
		return view, nil, err
	}
	if p.index.covering() && !p.fetch {
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

// keysOf returns the key after which the next page begins.
func (p *page) keysOf(rowKey []byte) (dynamo.Key, error) {
	if p.index == nil {
		return p.table.keyOf(rowKey)
	}
	return p.index.keysOf(p.db.hash, p.table, rowKey)
}

// consumed returns the cost of the page. The sizes of all evaluated entries are added up and
// rounded up once, for the table or the index. Items that a local index reads from the table are
// each rounded up and charged to the table.
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

package engine

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Stats are counters of the calls to the storage library since the database was opened.
type Stats struct {
	Gets  int64 // reads of one row by key
	Seeks int64 // positionings of an iterator
	Steps int64 // rows read by iterators
}

// counters count the reads of the store for [DB.Stats].
type counters struct{ gets, seeks, steps atomic.Int64 }

// Stats returns the counters. The number that a call adds does not depend on the size of the table,
// which is how tests find accidental scans.
func (db *DB) Stats() Stats {
	return Stats{
		Gets: db.counters.gets.Load(), Seeks: db.counters.seeks.Load(),
		Steps: db.counters.steps.Load(),
	}
}

// meter calculates the capacity units of an action. The table is charged for the larger of the old
// and the new image, twice in a transaction. Each index is charged only if its entry changed.
func (a *action) meter() error {
	size := max(a.old.Size(), a.newSize)
	if a.kind == actUpdate && !a.same {
		size = max(a.old.Size(), a.chargedSize())
	}
	a.tableUnits = dynamo.WriteUnits(size)
	if a.transact {
		a.tableUnits *= 2
	}
	if a.same || len(a.table.indexes) == 0 {
		return nil
	}
	before, err := a.before()
	if err != nil {
		return err
	}
	after, err := a.afterwards()
	if err != nil {
		return err
	}
	for _, ix := range a.table.indexes {
		if units := ix.writeUnits(before, after); units > 0 {
			a.indexUnits = append(a.indexUnits, indexUnits{ix, units})
		}
	}
	return nil
}

// writeUnits returns the cost of a change of an item on the index: one write if the entry is added
// or removed, two writes if its key changes, the larger image if another attribute of the entry
// changes, and zero if the entry is unchanged.
func (ix *index) writeUnits(old, new dynamo.Item) float64 {
	before, after := ix.entry(old), ix.entry(new)
	switch {
	case before == nil && after == nil:
		return 0
	case before == nil:
		return dynamo.WriteUnits(after.Size())
	case after == nil:
		return dynamo.WriteUnits(before.Size())
	// An index cannot change a key in place: the entry is deleted and a new one is added.
	case !ix.sameKey(before, after):
		return dynamo.WriteUnits(before.Size()) + dynamo.WriteUnits(after.Size())
	case before.Equal(after):
		return 0
	}
	return dynamo.WriteUnits(max(before.Size(), after.Size()))
}

// entry returns the attributes that the index holds of an item, or nil if the item is not in the
// index.
func (ix *index) entry(item dynamo.Item) dynamo.Item {
	if item == nil {
		return nil
	}
	// An item without one of the key attributes, or with one of another type, is not in the index.
	for _, k := range ix.hash {
		if v, ok := item[k.name]; !ok || !fits(k, v, hashKeySizeMax) {
			return nil
		}
	}
	for _, k := range ix.sort {
		if v, ok := item[k.name]; !ok || !fits(k, v, rangeKeySizeMax) {
			return nil
		}
	}
	return ix.project(item)
}

func (ix *index) sameKey(a, b dynamo.Item) bool {
	same := func(k keyAttribute) bool { return a[k.name].Equal(b[k.name]) }
	return !slices.ContainsFunc(ix.hash, func(k keyAttribute) bool { return !same(k) }) &&
		!slices.ContainsFunc(ix.sort, func(k keyAttribute) bool { return !same(k) })
}

// meterKind is the kind of units that a call consumes. Only for transactions the service also
// returns them as read or write units.
type meterKind uint8

const (
	meterPlain meterKind = iota
	meterTransactRead
	meterTransactWrite
)

// tally adds up the capacity units of a call for each table and index.
type tally struct {
	level  dynamo.ReturnConsumedCapacity
	kind   meterKind
	tables map[string]*tableTally
}

// tableTally is the capacity that one table and its indexes consumed.
type tableTally struct {
	table         float64
	global, local map[string]float64
}

func newTally(level dynamo.ReturnConsumedCapacity, kind meterKind) *tally {
	return &tally{level: level, kind: kind, tables: map[string]*tableTally{}}
}

func metered(level dynamo.ReturnConsumedCapacity) bool {
	return level == dynamo.CapacityTotal || level == dynamo.CapacityIndexes
}

func (c *tally) of(t *table) *tableTally {
	tt := c.tables[t.Name]
	if tt == nil {
		tt = &tableTally{}
		c.tables[t.Name] = tt
	}
	return tt
}

func (c *tally) addTable(t *table, units float64) { c.of(t).table += units }

func (c *tally) addIndex(t *table, ix *index, units float64) {
	tt := c.of(t)
	lines := &tt.global
	if ix.Local {
		lines = &tt.local
	}
	if *lines == nil {
		*lines = map[string]float64{}
	}
	(*lines)[ix.Name] += units
}

func (c *tally) addActions(actions []action) {
	for i := range actions {
		a := &actions[i]
		c.addTable(a.table, a.tableUnits)
		for _, u := range a.indexUnits {
			c.addIndex(a.table, u.index, u.units)
		}
	}
}

// all returns one entry for each table, sorted by name.
func (c *tally) all() []dynamo.ConsumedCapacity {
	var out []dynamo.ConsumedCapacity
	for name, tt := range c.tables {
		out = append(out, c.consumed(name, tt))
	}
	slices.SortFunc(out, func(a, b dynamo.ConsumedCapacity) int {
		return strings.Compare(a.TableName, b.TableName)
	})
	return out
}

// one returns the entry of a call on a single table.
func (c *tally) one() *dynamo.ConsumedCapacity {
	for name, tt := range c.tables {
		out := c.consumed(name, tt)
		return &out
	}
	return nil
}

// consumed returns the entry of one table in the response. Only the level INDEXES lists table and
// indexes separately.
func (c *tally) consumed(name string, tt *tableTally) dynamo.ConsumedCapacity {
	total := tt.table
	for _, units := range tt.global {
		total += units
	}
	for _, units := range tt.local {
		total += units
	}
	out := dynamo.ConsumedCapacity{TableName: name, Capacity: c.capacity(total)}
	if c.level != dynamo.CapacityIndexes {
		return out
	}
	line := c.capacity(tt.table)
	out.Table = &line
	out.GlobalSecondaryIndexes = c.lines(tt.global)
	out.LocalSecondaryIndexes = c.lines(tt.local)
	return out
}

func (c *tally) lines(units map[string]float64) map[string]dynamo.Capacity {
	if units == nil {
		return nil
	}
	out := make(map[string]dynamo.Capacity, len(units))
	for name, u := range units {
		out[name] = dynamo.Capacity{CapacityUnits: u}
	}
	return out
}

// capacity sets the read or write units only for transactions, because DynamoDB omits them from all
// other responses.
func (c *tally) capacity(units float64) dynamo.Capacity {
	out := dynamo.Capacity{CapacityUnits: units}
	switch c.kind {
	case meterTransactRead:
		out.ReadCapacityUnits = units
	case meterTransactWrite:
		out.WriteCapacityUnits = units
	}
	return out
}

package engine

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Stats counts what the database asked of its storage since it was opened.
type Stats struct {
	Gets  int64 // rows read by key
	Seeks int64 // ranges entered
	Steps int64 // rows passed in ranges
}

type counters struct{ gets, seeks, steps atomic.Int64 }

// Stats returns the counts. What one call adds to them does not depend on how much is stored.
func (db *DB) Stats() Stats {
	return Stats{
		Gets: db.counters.gets.Load(), Seeks: db.counters.seeks.Load(),
		Steps: db.counters.steps.Load(),
	}
}

// meter works out the capacity units that an action used. The table pays for the larger image,
// twice in a transaction; each index pays for what changed of the entry that it holds.
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

// writeUnits is what the change of an item costs on the index: one write of the entry that
// comes or goes, two when its key changes, the larger image when something it holds changes, and
// nothing when nothing does.
func (ix *index) writeUnits(old, new dynamo.Item) float64 {
	before, after := ix.entry(old), ix.entry(new)
	switch {
	case before == nil && after == nil:
		return 0
	case before == nil:
		return dynamo.WriteUnits(after.Size())
	case after == nil:
		return dynamo.WriteUnits(before.Size())
	case !ix.sameKey(before, after):
		return dynamo.WriteUnits(before.Size()) + dynamo.WriteUnits(after.Size())
	case before.Equal(after):
		return 0
	}
	return dynamo.WriteUnits(max(before.Size(), after.Size()))
}

// entry returns what the index holds of an item, nil when that is nothing.
func (ix *index) entry(item dynamo.Item) dynamo.Item {
	if item == nil {
		return nil
	}
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

// meterKind says whether the units of a call are reads or writes of a transaction, which the
// service then tells apart.
type meterKind uint8

const (
	meterPlain meterKind = iota
	meterTransactRead
	meterTransactWrite
)

// tally adds up the units of a call by table.
type tally struct {
	level  dynamo.ReturnConsumedCapacity
	kind   meterKind
	tables map[string]*tableTally
}

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

// all returns one entry for each table, in order of their names.
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

// one returns the entry of a call on one table.
func (c *tally) one() *dynamo.ConsumedCapacity {
	for name, tt := range c.tables {
		out := c.consumed(name, tt)
		return &out
	}
	return nil
}

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

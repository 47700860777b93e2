package singletable

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// addressOf is the address of a value, which the value's owner keeps alive.
func addressOf[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// rowsDefault is how many rows plans assume where nothing is said.
const rowsDefault = 100

func (c *patternCore) plan(s *Store, p unsafe.Pointer, size int) (Plan, error) {
	q, err := c.prepare(s, p)
	if err != nil {
		return Plan{}, err
	}
	if c.kind == kindLookup {
		return c.members[0].planGet(c.name, q.key, readOptions{c.consistent}), nil
	}
	out := Plan{Name: c.name}
	sources := 0
	widest := 0
	for _, stage := range q.stages {
		sources += len(stage)
		widest = max(widest, len(stage))
		for _, src := range stage {
			out.Requests = append(out.Requests, c.planRequest(q, src, size, len(stage)))
		}
	}
	if q.empty {
		out.Requests = nil
		out.Notes = append(out.Notes, "the range is empty: nothing is asked")
		return out, nil
	}
	rows := c.rows
	if rows == 0 {
		rows = rowsDefault
	}
	if size > 0 {
		rows = min(rows, size)
	}
	c.planCost(&out, sources, widest, len(q.stages), rows, size)
	return out, nil
}

func (c *patternCore) planRequest(q *query, src *source, size, width int) Request {
	r := Request{Operation: "Query", Table: c.table.name, KeyCondition: src.keyCond,
		Filter: src.filter, Descending: q.back, Consistent: c.consistent}
	if c.kind == kindScan {
		r.Operation = "Scan"
	}
	if c.index != nil {
		r.Index = c.index.name
	}
	if size > 0 {
		w := &walk{q: q, readers: make([]*reader, width)}
		r.Limit = w.limitFor(&reader{src: src, grow: 1}, size)
	}
	r.fill(src.ph)
	return r
}

// planCost estimates calls and units. Rows are thought to be spread evenly over the shards of a
// bucket; a page stops in the first bucket that fills it.
func (c *patternCore) planCost(out *Plan, sources, widest, stages, rows, size int) {
	bytes := c.rowSize()
	perSource := float64(rows*bytes) / float64(max(widest, 1))
	callsPer := math.Ceil(max(perSource, 1) / dynamo.PageSizeMax)
	unitsPer := dynamo.ReadUnits(int(perSource), c.consistent)
	least := dynamo.ReadUnits(0, c.consistent)
	out.Calls = Span{float64(widest), float64(widest) * callsPer, float64(max(c.callsMax, widest))}
	if size == 0 {
		out.Calls.Least = float64(sources)
		out.Calls.Typical = float64(sources-widest) + out.Calls.Typical
		out.Calls.Most = math.Inf(1)
	}
	out.Read = Span{least * out.Calls.Least, unitsPer * float64(widest), 0}
	if size == 0 {
		out.Read.Typical += least * float64(sources-widest)
	}
	out.Read.Most = pageUnitsMax(c.consistent) * out.Calls.Most
	out.Notes = append(out.Notes, fmt.Sprintf("assumes %d rows of %d bytes", rows, bytes))
	if widest > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d shards are read side by side and merged",
			widest))
	}
	if stages > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d buckets are read one after the other, an "+
			"empty one for %s units; a page stops when it is full", stages, number(least)))
	}
	if c.kind == kindScan {
		out.Notes = append(out.Notes, "a scan reads the whole table, whatever it keeps")
	} else if len(c.filters) > 0 || len(c.filterBy) > 0 {
		out.Notes = append(out.Notes, "rows that the filter drops are read, and charged, too")
	}
	if c.hydrate {
		batches := math.Ceil(float64(rows) / batchGetMax)
		out.Calls = out.Calls.plus(Span{1, batches, batches})
		each := dynamo.ReadUnits(c.members[0].typicalSize(), false)
		out.Read = out.Read.plus(Span{0.5, each * float64(rows),
			dynamo.ReadUnits(dynamo.ItemSizeMax, false) * float64(rows)})
		out.Notes = append(out.Notes, "each row's item is fetched from the table")
	}
}

// keysOnlySize is what plans assume of an entry that holds keys alone.
const keysOnlySize = 200

// rowSize is what plans assume of a row, in bytes: the largest member.
func (c *patternCore) rowSize() int {
	n := 0
	for _, m := range c.members {
		n = max(n, m.typicalSize())
	}
	if c.index != nil && c.index.projection.ProjectionType != dynamo.ProjectAll {
		n = min(n, keysOnlySize)
	}
	return n
}

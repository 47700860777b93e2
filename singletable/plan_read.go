package singletable

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// addressOf returns the address of a value that its owner keeps alive.
func addressOf[T any](v *T) unsafe.Pointer { return unsafe.Pointer(v) }

// rowsDefault is the assumed number of rows without a Rows option.
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
		out.Notes = append(out.Notes, "the range is empty: no request is made")
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

// planCost estimates calls and units for a number of rows. In the typical case the rows have their
// typical size and are spread evenly over the shards of one bucket, and a page ends in the first
// bucket that fills it. In the worst case each row has the maximum size, and all buckets are read.
func (c *patternCore) planCost(out *Plan, sources, widest, stages, rows, size int) {
	bytes := c.rowSize()
	least := dynamo.ReadUnits(0, c.consistent)
	perSource := rows * bytes / max(widest, 1)
	typicalCalls := float64(widest) * math.Ceil(float64(max(perSource, 1))/dynamo.PageSizeMax)
	typicalUnits := float64(widest) * dynamo.ReadUnits(perSource, c.consistent)
	largest := float64(rows) * dynamo.ItemSizeMax
	mostCalls := float64(sources) + math.Floor(largest/dynamo.PageSizeMax)
	mostUnits := float64(sources)*least + dynamo.ReadUnits(int(largest), c.consistent)
	if filtered := len(c.filters)+len(c.filterBy) > 0 || c.live; filtered || c.kind == kindScan {
		mostCalls = max(mostCalls, float64(c.callsMax))
		mostUnits = max(mostUnits, pageUnitsMax(c.consistent)*mostCalls)
	}
	out.Calls = Span{float64(widest), typicalCalls, mostCalls}
	out.Read = Span{float64(widest) * least, typicalUnits, mostUnits}
	if size == 0 { // all buckets are read, not only those that fill a page
		rest := float64(sources - widest)
		out.Calls = out.Calls.plus(Span{rest, rest, 0})
		out.Read = out.Read.plus(Span{rest * least, rest * least, 0})
	}
	out.Notes = append(out.Notes, fmt.Sprintf("assumes %d rows of %d bytes", rows, bytes))
	if c.parallel > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d buckets are read in parallel and merged",
			min(c.parallel, sources)))
	} else if widest > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d shards are read in parallel and merged",
			widest))
	}
	if stages > 1 && c.parallel == 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d buckets are read one after the other, an "+
			"empty one for %s units; a page stops when it is full", stages, number(least)))
	}
	if c.kind == kindScan {
		out.Notes = append(
			out.Notes,
			"a scan reads the whole table, even if a filter drops most items",
		)
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

// keysOnlySize is the assumed size of an entry that holds only keys.
const keysOnlySize = 200

// rowSize returns the assumed size of a row in bytes: that of the largest member.
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

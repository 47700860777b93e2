package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

// spansPerPage is the maximum number of ranges that one page of a SELECT reads: with an IN,
// "results are returned in pages of up to 10 items" ("PartiQL arithmetic, comparison, and logical
// operators" in the developer guide).
const spansPerPage = 10

// selection is a validated SELECT.
type selection struct {
	page    page // the initial state of the pages of all ranges
	spans   []span
	columns []column
}

// column is a path that a SELECT returns, and its name in the result.
type column struct {
	name string
	path partiql.Path
}

// selectPage reads one page of a SELECT.
func (db *DB) selectPage(ctx context.Context, in *dynamo.ExecuteStatementInput, st *stated) (
	*dynamo.ExecuteStatementOutput, error,
) {
	s, err := db.newSelection(st, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	var from resume
	if in.NextToken != "" {
		if from, err = decodeToken(in); err != nil {
			return nil, err
		}
	}
	c := newTally(in.ReturnConsumedCapacity, meterPlain)
	out, err := s.read(ctx, from, in.Limit, c)
	if err != nil {
		return nil, err
	}
	answer := &dynamo.ExecuteStatementOutput{Items: out.items}
	if metered(in.ReturnConsumedCapacity) {
		answer.ConsumedCapacity = c.one()
	}
	if out.more {
		answer.NextToken, answer.LastEvaluatedKey = encodeToken(in, out.next), out.next.after
	}
	return answer, nil
}

// newSelection finds and validates the ranges and columns of a SELECT.
func (db *DB) newSelection(st *stated, consistent bool) (*selection, error) {
	t, err := db.tableFor(st)
	if err != nil {
		return nil, err
	}
	s := &selection{page: page{
		db: db, table: t, hash: t.keys[:1], sort: t.keys[1:], consistent: consistent,
		filter: st.exprs.Filter,
	}}
	prefix := t.prefix
	if st.Index != "" {
		ix := t.index(st.Index)
		switch {
		case ix == nil:
			return nil, dynamo.Invalid(messageNoSuchIndex)
		case !ix.ready():
			return nil, dynamo.Invalid(fmt.Sprintf(messageBackfilling, ix.Name))
		case consistent && !ix.Local:
			return nil, dynamo.Invalid(messageStrongIndex)
		}
		s.page.index, s.page.hash, s.page.sort, prefix = ix, ix.hash, ix.sort, ix.prefix
	}
	if err := s.find(st, prefix); err != nil {
		return nil, err
	}
	if err := s.project(st); err != nil {
		return nil, err
	}
	return s, s.order(st)
}

// project prepares the columns. A global index refuses columns that it does not hold; a local index
// reads them from the table.
func (s *selection) project(st *stated) error {
	s.columns = columnsOf(st.Columns)
	var absent []string
	for _, e := range st.Columns {
		if name := e.Path[0].Name; !s.page.index.holds(name) && !slices.Contains(absent, name) {
			absent = append(absent, name)
		}
	}
	switch {
	case len(absent) == 0:
	case s.page.index.Local:
		s.page.fetch = true
	default:
		return dynamo.Invalid(fmt.Sprintf("One or more parameter values were invalid: Global "+
			"secondary index %s does not project [%s]", s.page.index.Name,
			strings.Join(absent, ", ")))
	}
	return nil
}

// holds reports whether an index projects an attribute. A nil index is the table, which has all.
func (ix *index) holds(name string) bool {
	return ix == nil || ix.include == nil || ix.include[name]
}

// columnsOf returns the columns of a SELECT, or nil for all attributes.
func columnsOf(columns []*partiql.Expr) (out []column) {
	for _, e := range columns {
		out = append(out, column{name: columnName(e.Path), path: e.Path})
	}
	return out
}

// columnName returns the name of a path in the result: its last name, followed by the indexes after
// that name.
func columnName(path partiql.Path) string {
	name := ""
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Index == partiql.NotIndexed {
			return path[i].Name + name
		}
		name = "[" + strconv.Itoa(path[i].Index) + "]" + name
	}
	return name
}

// pick returns the columns of an item. A path that does not exist is omitted.
func (s *selection) pick(item dynamo.Item) dynamo.Item {
	if s.columns == nil {
		return item
	}
	out := make(dynamo.Item, len(s.columns))
	for _, c := range s.columns {
		v := item[c.path[0].Name]
		for _, step := range c.path[1:] {
			if step.Index == partiql.NotIndexed {
				v = v.M()[step.Name]
			} else if elems := v.L(); step.Index < len(elems) {
				v = elems[step.Index]
			} else {
				v = dynamo.Value{}
			}
		}
		if !v.IsAbsent() {
			out[c.name] = v
		}
	}
	return out
}

// selected is a page of a SELECT.
type selected struct {
	items []dynamo.Item // never nil
	more  bool
	next  resume // set if more is true
}

// read reads a page. It reads one range after another until the limit or 1 MB of evaluated items is
// reached. It adds the cost to c.
func (s *selection) read(ctx context.Context, from resume, limit int, c *tally) (
	*selected, error,
) {
	out := &selected{items: []dynamo.Item{}}
	size, scanned := 0, 0
	for i := from.span; i < len(s.spans); i++ {
		if i == from.span+spansPerPage || limit > 0 && scanned >= limit ||
			size >= dynamo.PageSizeMax {
			out.more, out.next = true, resume{span: i}
			break
		}
		p := s.page
		s.spans[i].narrow(&p)
		if p.size = size; limit > 0 {
			p.limit = limit - scanned
		}
		if i == from.span {
			if err := p.startAfter(from.after, p.partition != nil); err != nil {
				return nil, err
			}
		}
		if err := p.read(ctx); err != nil {
			return nil, err
		}
		for _, item := range p.items {
			out.items = append(out.items, s.pick(item))
		}
		p.charge(c, size)
		size, scanned = p.size, scanned+p.scanned
		if p.last != nil && !s.spans[i].single {
			out.more, out.next = true, resume{span: i, after: p.last}
			break
		}
	}
	return out, nil
}

// charge adds the cost of a page. p.size includes a size of previous pages, which are already
// charged.
func (p *page) charge(c *tally, before int) {
	units := dynamo.ReadUnits(p.size-before, p.consistent)
	if p.index == nil {
		c.addTable(p.table, units)
		return
	}
	c.addTable(p.table, p.fetched)
	c.addIndex(p.table, p.index, units)
}

package partiql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

// spansPerPage is the maximum number of ranges that one page of a SELECT reads: with an IN,
// "results are returned in pages of up to 10 items" ("PartiQL arithmetic, comparison, and logical
// operators" in the developer guide).
const spansPerPage = 10

// selection is a validated SELECT.
type selection struct {
	db         Store
	st         *stated
	table      *table
	index      *index // nil on the table itself
	hash       keyAttribute
	sort       *keyAttribute // nil if the key has none
	consistent bool
	reverse    bool
	fetch      bool            // a local index reads whole items from the table
	filter     *expr.Condition // nil if the ranges have no other items
	spans      []span
	columns    []column
}

// column is a path that a SELECT returns, and its name in the result.
type column struct {
	name string
	path syntax.Path
}

// selectPage reads one page of a SELECT.
func (x *Executor) selectPage(ctx context.Context, ts *tables,
	in *dynamo.ExecuteStatementInput, st *stated,
) (*dynamo.ExecuteStatementOutput, error) {
	s, err := x.newSelection(ctx, ts, st, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	var from resume
	if in.NextToken != "" {
		if from, err = decodeToken(in); err != nil {
			return nil, err
		}
	}
	b := &bill{level: in.ReturnConsumedCapacity}
	out, err := s.read(ctx, from, in.Limit, b)
	if err != nil {
		return nil, err
	}
	answer := &dynamo.ExecuteStatementOutput{Items: out.items, ConsumedCapacity: b.one()}
	if out.more {
		answer.NextToken, answer.LastEvaluatedKey = encodeToken(in, out.next), out.next.after
	}
	return answer, nil
}

// newSelection finds and validates the ranges and columns of a SELECT.
func (x *Executor) newSelection(ctx context.Context, ts *tables, st *stated, consistent bool) (
	*selection, error,
) {
	t, err := ts.tableFor(ctx, st)
	if err != nil {
		return nil, err
	}
	s := &selection{
		db: x.db, st: st, table: t, consistent: consistent, filter: st.exprs.Filter,
	}
	hash, sort := t.keys[:1], t.keys[1:]
	if st.Index != "" {
		ix := t.index(st.Index)
		switch {
		case ix == nil:
			return nil, dynamo.Invalid(messageNoSuchIndex)
		case !ix.ready:
			return nil, dynamo.Invalid(fmt.Sprintf(messageBackfilling, ix.name))
		case consistent && !ix.local:
			return nil, dynamo.Invalid(messageStrongIndex)
		}
		s.index, hash, sort = ix, ix.hash, ix.sort
	}
	s.hash = hash[0]
	if len(sort) > 0 {
		s.sort = &sort[0]
	}
	if err := s.find(); err != nil {
		return nil, err
	}
	if err := s.project(); err != nil {
		return nil, err
	}
	return s, s.order()
}

// project prepares the columns. A global index refuses columns that it does not hold; a local index
// reads them from the table.
func (s *selection) project() error {
	s.columns = columnsOf(s.st.Columns)
	var absent []string
	for _, e := range s.st.Columns {
		if name := e.Path[0].Name; !s.index.holds(name) && !slices.Contains(absent, name) {
			absent = append(absent, name)
		}
	}
	switch {
	case len(absent) == 0:
	case s.index.local:
		s.fetch = true
	default:
		return dynamo.Invalid(fmt.Sprintf("One or more parameter values were invalid: Global "+
			"secondary index %s does not project [%s]", s.index.name,
			strings.Join(absent, ", ")))
	}
	return nil
}

// columnsOf returns the columns of a SELECT, or nil for all attributes.
func columnsOf(columns []*syntax.Expr) (out []column) {
	for _, e := range columns {
		out = append(out, column{name: columnName(e.Path), path: e.Path})
	}
	return out
}

// columnName returns the name of a path in the result: its last name, followed by the indexes after
// that name.
func columnName(path syntax.Path) string {
	name := ""
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Index == syntax.NotIndexed {
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
			if step.Index == syntax.NotIndexed {
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
// reached. It adds the cost to b.
func (s *selection) read(ctx context.Context, from resume, limit int, b *bill) (
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
		sp := &s.spans[i]
		r := &request{span: sp, level: b.level}
		if i == from.span {
			r.after = from.after
		}
		if limit > 0 {
			r.limit = limit - scanned
		}
		p, err := s.ask(ctx, r)
		if err != nil {
			return nil, err
		}
		b.add(p.consumed)
		last := s.take(sp, p, &size, out)
		scanned += p.scanned
		if last != nil && !sp.single {
			out.more, out.next = true, resume{span: i, after: last}
			break
		}
	}
	return out, nil
}

// take adds the items of one range to a page of several. It returns the key after which the next
// page begins, or nil if the range is complete. A page that is full before the end of the items
// drops the rest of them, because the next page reads them again.
func (s *selection) take(sp *span, p *part, size *int, out *selected) dynamo.Key {
	for _, item := range p.items {
		*size += s.index.size(item)
		if sp.holds(s.sort, item) && (p.filtered || s.filter == nil || s.filter.Holds(item)) {
			out.items = append(out.items, s.pick(item))
		}
		if *size >= dynamo.PageSizeMax && !p.filtered && !sp.single {
			return s.keyOf(item)
		}
	}
	return p.last
}

// keyOf returns the key after which a page begins that continues after an item.
func (s *selection) keyOf(item dynamo.Item) dynamo.Key {
	key := dynamo.Key{s.hash.name: item[s.hash.name]}
	if s.sort != nil {
		key[s.sort.name] = item[s.sort.name]
	}
	for _, k := range s.table.keys {
		key[k.name] = item[k.name]
	}
	return key
}

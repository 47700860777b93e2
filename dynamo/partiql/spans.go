package partiql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

const (
	// hashValuesMax is the maximum number of partition key values in a SELECT ("PartiQL arithmetic,
	// comparison, and logical operators" in the developer guide).
	hashValuesMax = 50
)

const (
	messageOverlap       = "Overlapping conditions with range keys are not supported in where clause"
	messageFilterAbsent  = "One or more parameter values were invalid: Secondary index %s does not project one or more filter attributes: [%s]"
	messageOrderNoWhere  = "Must have WHERE clause in the statement when using ORDER BY clause."
	messageOrderNoHash   = "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
	messageOrderNotKey   = "Attribute %s in ORDER BY clause must be part of the primary key"
	messageOrderSeveral  = "ORDER BY must begin with the hash key when the WHERE clause has several values of it"
	messageOrderRepeated = "Attribute %s appears more than once in the ORDER BY clause"
)

// span is one range of items that a SELECT reads.
type span struct {
	scan   bool           // it is the whole table or index
	hash   dynamo.Value   // the value of the partition key
	term   []expr.KeyTerm // its condition on the sort key, unless it was merged
	lower  bound          // the range of the sort key, [lower, upper)
	upper  bound
	merged bool // it is the union of several ranges
	single bool // it has at most one item, and no page ends within it
	branch *branch
}

// holds reports whether the range has an item of its partition. The operation for a union may read
// more than the union.
func (sp *span) holds(sort *keyAttribute, item dynamo.Item) bool {
	if !sp.merged || sort == nil {
		return true
	}
	at := boundAt(item[sort.name], false)
	return sp.lower.compare(at) <= 0 && at.compare(sp.upper) < 0
}

// branch holds the key conditions of one alternative of an OR at the top of a WHERE, or of the
// whole WHERE.
type branch struct {
	hash []dynamo.Value
	sort []expr.KeyTerm // alternatives, one of which must hold; nil for any sort key
	// rest reports whether there are other conditions, and otherwise whether a condition on the
	// sort key is not a range.
	rest, otherwise bool
}

// find decides which rows a SELECT reads. If each alternative of the WHERE fixes the partition key,
// it reads those partitions, restricted by the conditions on the sort key; otherwise it scans. The
// whole WHERE is then evaluated as a filter.
func (s *selection) find() error {
	st, scan := s.st, span{scan: true}
	var branches []*branch
	for _, e := range st.Where.Branches() {
		b, err := s.branch(e)
		if err != nil {
			return err
		}
		if len(b.hash) == 0 {
			s.spans = []span{scan}
			return nil
		}
		branches = append(branches, b)
	}
	if branches == nil {
		s.spans = []span{scan}
		return nil
	}
	if len(branches) == 1 {
		if err := s.checkFilter(); err != nil {
			return err
		}
		if !branches[0].rest {
			s.filter = nil
		}
	}
	values := 0
	for _, b := range branches {
		if values += len(b.hash); values > hashValuesMax {
			return dynamo.Invalid("The IN operator is provided with too many operands; number " +
				"of operands: " + fmt.Sprint(values))
		}
		if err := s.add(b); err != nil {
			return err
		}
	}
	if err := s.checkOverlap(); err != nil {
		return err
	}
	s.merge()
	return nil
}

// checkFilter refuses conditions on attributes that the index does not hold.
func (s *selection) checkFilter() error {
	var absent []string
	for _, name := range s.st.exprs.Filter.TopLevel() {
		if !s.index.holds(name) {
			absent = append(absent, name)
		}
	}
	if absent == nil {
		return nil
	}
	return dynamo.Invalid(fmt.Sprintf(messageFilterAbsent, s.index.name,
		strings.Join(absent, ", ")))
}

// branch extracts the key conditions of an alternative.
func (s *selection) branch(e *syntax.Expr) (*branch, error) {
	b := &branch{}
	hash := s.hash.name
	sort := ""
	if s.sort != nil {
		sort = s.sort.name
	}
	for _, c := range e.Conjuncts() {
		terms, err := keyTerms(s.st.bound, c)
		if err != nil {
			return nil, err
		}
		switch {
		case len(terms) == 0:
			b.rest = true
			b.otherwise = b.otherwise || mentions(c, sort)
		case terms[0].Attribute == hash && terms[0].Op == expr.OpEqual && b.hash == nil:
			for _, term := range terms {
				b.hash = append(b.hash, term.Values[0])
			}
		case terms[0].Attribute == sort && b.sort == nil:
			b.sort = terms
		default:
			b.rest = true
		}
	}
	return b, nil
}

// mentions reports whether a condition contains an attribute.
func mentions(e *syntax.Expr, name string) bool {
	if e.Op == syntax.OpPath {
		return e.Path[0].Name == name
	}
	return slices.ContainsFunc(e.Args, func(part *syntax.Expr) bool {
		return mentions(part, name)
	})
}

// keyTerms translates a condition to alternative key conditions, one of which must hold. It returns
// none if keys do not support the condition.
func keyTerms(bound *syntax.Binding, c *syntax.Expr) ([]expr.KeyTerm, error) {
	if path, value := sides(c); path != nil && c.Op != syntax.OpUnequal {
		v, err := bound.Value(value)
		if err != nil {
			return nil, err
		}
		op := keyOp(c.Op, c.Args[0] == value)
		return []expr.KeyTerm{{Attribute: path[0].Name, Op: op, Values: []dynamo.Value{v}}}, nil
	}
	if len(c.Args) < 2 || c.Args[0].Op != syntax.OpPath || len(c.Args[0].Path) != 1 {
		return nil, nil
	}
	name := c.Args[0].Path[0].Name
	var terms []expr.KeyTerm
	switch {
	case c.Op == syntax.OpIn:
		elems, ok, err := bound.Elements(c.Args[1])
		if err != nil || !ok {
			return nil, err
		}
		for _, v := range elems {
			terms = append(terms, expr.KeyTerm{Attribute: name, Values: []dynamo.Value{v}})
		}
		return terms, nil
	case c.Op == syntax.OpBetween || c.Op == syntax.OpCall && c.Name == "begins_with":
		term := expr.KeyTerm{Attribute: name, Op: expr.OpBetween}
		if c.Op == syntax.OpCall {
			term.Op = expr.OpBeginsWith
		}
		for _, e := range c.Args[1:] {
			if !e.Constant() {
				return nil, nil
			}
			v, err := bound.Value(e)
			if err != nil {
				return nil, err
			}
			term.Values = append(term.Values, v)
		}
		return []expr.KeyTerm{term}, nil
	}
	return nil, nil
}

// keyOp returns the key condition of a comparison, with the attribute on the left.
func keyOp(op syntax.Op, turned bool) expr.KeyOp {
	switch {
	case op == syntax.OpLess && !turned, op == syntax.OpGreater && turned:
		return expr.OpLess
	case op == syntax.OpLessEqual && !turned, op == syntax.OpGreaterEqual && turned:
		return expr.OpLessEqual
	case op == syntax.OpGreater, op == syntax.OpLess:
		return expr.OpGreater
	case op == syntax.OpGreaterEqual, op == syntax.OpLessEqual:
		return expr.OpGreaterEqual
	}
	return expr.OpEqual
}

// add adds the ranges of an alternative: one for each value of the partition key and each condition
// on the sort key.
func (s *selection) add(b *branch) error {
	whole := s.index == nil && s.sort == nil
	for _, v := range b.hash {
		if err := s.hash.check(v); err != nil {
			return err
		}
		if b.sort == nil {
			s.spans = append(s.spans, span{
				hash: v, lower: below, upper: above, branch: b, single: whole,
			})
			continue
		}
		for i := range b.sort {
			term := b.sort[i : i+1]
			for _, v := range term[0].Values {
				if err := s.sort.check(v); err != nil {
					return err
				}
			}
			sp := span{hash: v, term: term, branch: b}
			sp.lower, sp.upper = boundsOf(&term[0])
			sp.single = s.index == nil && term[0].Op == expr.OpEqual
			s.spans = append(s.spans, sp)
		}
	}
	return nil
}

// checkOverlap refuses alternatives whose sort key ranges overlap, as the service does, unless one
// of them has a condition on the sort key that is not a range.
func (s *selection) checkOverlap() error {
	for i := range s.spans {
		for j := range i {
			a, b := &s.spans[j], &s.spans[i]
			if a.branch == b.branch || a.branch.otherwise || b.branch.otherwise ||
				a.branch.sort == nil && b.branch.sort == nil || !a.hash.Equal(b.hash) {
				continue
			}
			if a.lower.compare(b.upper) < 0 && b.lower.compare(a.upper) < 0 {
				return dynamo.Invalid(messageOverlap)
			}
		}
	}
	return nil
}

// merge sorts the ranges of each partition and merges those that overlap, so that no item is
// returned twice. The partitions keep the order of the statement.
func (s *selection) merge() {
	place := map[string]int{}
	for i := range s.spans {
		id := string(appendValue(nil, s.spans[i].hash))
		if _, ok := place[id]; !ok {
			place[id] = i
		}
	}
	at := func(sp *span) int { return place[string(appendValue(nil, sp.hash))] }
	slices.SortStableFunc(s.spans, func(a, b span) int {
		if n := at(&a) - at(&b); n != 0 {
			return n
		}
		return a.lower.compare(b.lower)
	})
	merged := s.spans[:1]
	for _, next := range s.spans[1:] {
		last := &merged[len(merged)-1]
		if !last.hash.Equal(next.hash) || next.lower.compare(last.upper) >= 0 {
			merged = append(merged, next)
			continue
		}
		if last.lower.compare(next.lower) != 0 || last.upper.compare(next.upper) != 0 {
			last.term, last.merged = nil, true
		}
		if next.upper.compare(last.upper) > 0 {
			last.upper = next.upper
		}
		last.single = last.single && next.single
	}
	s.spans = merged
}

// order sorts the ranges as ORDER BY requires: by the partition key, and by the sort key within
// each partition.
func (s *selection) order() error {
	st := s.st
	if len(st.Order) == 0 {
		return nil
	}
	if st.Where == nil {
		return dynamo.Invalid(messageOrderNoWhere)
	}
	var byHash, descendingHash bool
	seen := map[string]bool{}
	for i, o := range st.Order {
		name := o.Key.Path[0].Name
		switch {
		case seen[name]:
			return dynamo.Invalid(fmt.Sprintf(messageOrderRepeated, name))
		case name == s.hash.name:
			byHash, descendingHash = byHash || i == 0, o.Descending
		case s.sort != nil && name == s.sort.name:
			s.reverse = o.Descending
		default:
			return dynamo.Invalid(fmt.Sprintf(messageOrderNotKey, name))
		}
		seen[name] = true
	}
	if s.spans[0].scan {
		return dynamo.Invalid(messageOrderNoHash)
	}
	if s.reverse {
		slices.Reverse(s.spans)
	}
	several := slices.ContainsFunc(s.spans, func(sp span) bool {
		return !sp.hash.Equal(s.spans[0].hash)
	})
	if !several {
		return nil
	}
	if !byHash {
		return dynamo.Invalid(messageOrderSeveral)
	}
	slices.SortStableFunc(s.spans, func(a, b span) int {
		order, _ := a.hash.Compare(b.hash) // key values of one type always have an order
		if descendingHash {
			return -order
		}
		return order
	})
	return nil
}

package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

const (
	// hashValuesMax is the maximum number of partition key values in a SELECT ("PartiQL arithmetic,
	// comparison, and logical operators" in the developer guide).
	hashValuesMax = 50
	// spansMax is larger than the number of ranges that the limits of a statement allow.
	spansMax = 1 << 20
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

// span is one range of rows that a SELECT reads.
type span struct {
	partition    []byte // prefix of its rows; nil for a scan
	lower, upper []byte
	hash         dynamo.Value // the value of the partition key
	single       bool         // it has at most one item, and no page ends within it
	branch       *branch
}

func (sp *span) narrow(p *page) { p.partition, p.lower, p.upper = sp.partition, sp.lower, sp.upper }

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
func (s *selection) find(st *stated, prefix []byte) error {
	s.page.lower, s.page.upper = prefix, keyspace.After(prefix)
	scan := span{lower: s.page.lower, upper: s.page.upper}
	var branches []*branch
	for _, e := range st.Where.Branches() {
		b, err := s.branch(st, e)
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
		if err := s.checkFilter(st); err != nil {
			return err
		}
		if !branches[0].rest {
			s.page.filter = nil
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
func (s *selection) checkFilter(st *stated) error {
	var absent []string
	for _, name := range st.exprs.Filter.TopLevel() {
		if !s.page.index.holds(name) {
			absent = append(absent, name)
		}
	}
	if absent == nil {
		return nil
	}
	return dynamo.Invalid(fmt.Sprintf(messageFilterAbsent, s.page.index.Name,
		strings.Join(absent, ", ")))
}

// branch extracts the key conditions of an alternative.
func (s *selection) branch(st *stated, e *partiql.Expr) (*branch, error) {
	b := &branch{}
	hash := s.page.hash[0].name
	sort := ""
	if len(s.page.sort) > 0 {
		sort = s.page.sort[0].name
	}
	for _, c := range e.Conjuncts() {
		terms, err := keyTerms(st.bound, c)
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
func mentions(e *partiql.Expr, name string) bool {
	if e.Op == partiql.OpPath {
		return e.Path[0].Name == name
	}
	return slices.ContainsFunc(e.Args, func(part *partiql.Expr) bool {
		return mentions(part, name)
	})
}

// keyTerms translates a condition to alternative key conditions, one of which must hold. It returns
// none if keys do not support the condition.
func keyTerms(bound *partiql.Binding, c *partiql.Expr) ([]expr.KeyTerm, error) {
	if path, value := sides(c); path != nil && c.Op != partiql.OpUnequal {
		v, err := bound.Value(value)
		if err != nil {
			return nil, err
		}
		op := keyOp(c.Op, c.Args[0] == value)
		return []expr.KeyTerm{{Attribute: path[0].Name, Op: op, Values: []dynamo.Value{v}}}, nil
	}
	if len(c.Args) < 2 || c.Args[0].Op != partiql.OpPath || len(c.Args[0].Path) != 1 {
		return nil, nil
	}
	name := c.Args[0].Path[0].Name
	var terms []expr.KeyTerm
	switch {
	case c.Op == partiql.OpIn:
		elems, ok, err := bound.Elements(c.Args[1])
		if err != nil || !ok {
			return nil, err
		}
		for _, v := range elems {
			terms = append(terms, expr.KeyTerm{Attribute: name, Values: []dynamo.Value{v}})
		}
		return terms, nil
	case c.Op == partiql.OpBetween || c.Op == partiql.OpCall && c.Name == "begins_with":
		term := expr.KeyTerm{Attribute: name, Op: expr.OpBetween}
		if c.Op == partiql.OpCall {
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
func keyOp(op partiql.Op, turned bool) expr.KeyOp {
	switch {
	case op == partiql.OpLess && !turned, op == partiql.OpGreater && turned:
		return expr.OpLess
	case op == partiql.OpLessEqual && !turned, op == partiql.OpGreaterEqual && turned:
		return expr.OpLessEqual
	case op == partiql.OpGreater, op == partiql.OpLess:
		return expr.OpGreater
	case op == partiql.OpGreaterEqual, op == partiql.OpLessEqual:
		return expr.OpGreaterEqual
	}
	return expr.OpEqual
}

// add adds the ranges of an alternative: one for each value of the partition key and each condition
// on the sort key.
func (s *selection) add(b *branch) error {
	whole := s.page.index == nil && len(s.page.sort) == 0
	for _, v := range b.hash {
		terms := []expr.KeyTerm{{Attribute: s.page.hash[0].name, Values: []dynamo.Value{v}}}
		sorts := [][]expr.KeyTerm{terms}
		if b.sort != nil {
			sorts = nil
			for _, term := range b.sort {
				sorts = append(sorts, append(slices.Clone(terms), term))
			}
		}
		for _, terms := range sorts {
			p := s.page
			p.filter = nil // the conditions on the key are not a filter
			if err := p.restrict(&expr.KeyCondition{Terms: terms}); err != nil {
				return err
			}
			equal := len(terms) == 2 && terms[1].Op == expr.OpEqual && s.page.index == nil
			s.spans = append(s.spans, span{
				partition: p.partition, lower: p.lower, upper: p.upper, hash: v, branch: b,
				single: whole || equal,
			})
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
				a.branch.sort == nil && b.branch.sort == nil {
				continue
			}
			if bytes.Compare(a.lower, b.upper) < 0 && bytes.Compare(b.lower, a.upper) < 0 {
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
		if _, ok := place[string(s.spans[i].partition)]; !ok {
			place[string(s.spans[i].partition)] = i
		}
	}
	slices.SortStableFunc(s.spans, func(a, b span) int {
		if n := place[string(a.partition)] - place[string(b.partition)]; n != 0 {
			return n
		}
		return bytes.Compare(a.lower, b.lower)
	})
	merged := s.spans[:1]
	for _, next := range s.spans[1:] {
		last := &merged[len(merged)-1]
		if !bytes.Equal(last.partition, next.partition) ||
			bytes.Compare(next.lower, last.upper) >= 0 {
			merged = append(merged, next)
			continue
		}
		if bytes.Compare(next.upper, last.upper) > 0 {
			last.upper = next.upper
		}
		last.single = last.single && next.single
	}
	s.spans = merged
}

// order sorts the ranges as ORDER BY requires: by the partition key, and by the sort key within
// each partition.
func (s *selection) order(st *stated) error {
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
		case name == s.page.hash[0].name:
			byHash, descendingHash = byHash || i == 0, o.Descending
		case len(s.page.sort) > 0 && name == s.page.sort[0].name:
			s.page.reverse = o.Descending
		default:
			return dynamo.Invalid(fmt.Sprintf(messageOrderNotKey, name))
		}
		seen[name] = true
	}
	if s.spans[0].partition == nil {
		return dynamo.Invalid(messageOrderNoHash)
	}
	if s.page.reverse {
		slices.Reverse(s.spans)
	}
	several := slices.ContainsFunc(s.spans, func(sp span) bool {
		return !bytes.Equal(sp.partition, s.spans[0].partition)
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

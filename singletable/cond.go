package singletable

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Cond is a condition on an item before a write, or a filter of a pattern.
type Cond[T any] struct {
	n *cond
}

// Predicate is a [Cond] of any entity.
type Predicate interface{ condition() *cond }

func (c Cond[T]) condition() *cond { return c.n }

// condOp is the operator of a condition.
type condOp uint8

const (
	opTrue condOp = iota // no condition
	opAnd
	opOr
	opNot
	opEqual
	opNotEqual
	opLess
	opAtMost
	opMore
	opAtLeast
	opWithin
	opIn
	opExists
	opMissing
	opBeginsWith
	opContains
)

// cond is a condition as a tree.
type cond struct {
	op   condOp
	attr string
	vals []dynamo.Value
	kids []*cond
	// reason is the error that a failure of this condition means, if it has a name.
	reason error
	err    error

	one [1]dynamo.Value // storage of vals while there is only one
}

// If is [And]; it reads well among the steps of an update.
func If[T any](conds ...Cond[T]) Cond[T] { return And(conds...) }

// And is true if all conditions are.
func And[T any](conds ...Cond[T]) Cond[T] { return join(opAnd, conds) }

// Or is true if at least one of the conditions is.
func Or[T any](conds ...Cond[T]) Cond[T] { return join(opOr, conds) }

// Not is true if the condition is false.
func Not[T any](c Cond[T]) Cond[T] {
	if c.n == nil {
		return c
	}
	return Cond[T]{&cond{op: opNot, kids: []*cond{c.n}, err: c.n.err}}
}

func join[T any](op condOp, conds []Cond[T]) Cond[T] {
	if len(conds) == 1 {
		return conds[0]
	}
	n := &cond{op: op}
	for _, c := range conds {
		if c.n == nil || c.n.op == opTrue {
			continue
		}
		if c.n.err != nil && n.err == nil {
			n.err = c.n.err
		}
		n.kids = append(n.kids, c.n)
	}
	if len(n.kids) == 0 {
		n.op = opTrue
	}
	return Cond[T]{n}
}

// Exists means that an item exists at the key.
func (e *Entity[T]) Exists() Cond[T] { return Cond[T]{e.c.present} }

// Missing means that no item exists at the key.
func (e *Entity[T]) Missing() Cond[T] { return Cond[T]{e.c.absent} }

// setPresence creates the two conditions on the existence of the item, which most writes share.
func (c *core) setPresence() {
	c.present = &cond{op: opExists, attr: c.table.keys.Partition, reason: ErrMissing}
	c.absent = &cond{op: opMissing, attr: c.table.keys.Partition, reason: ErrExists}
}

// AtVersion means that a versioned item has that version.
func (e *Entity[T]) AtVersion(version int64) Cond[T] { return Cond[T]{e.c.atVersion(version)} }

func (c *core) atVersion(version int64) *cond {
	if c.version < 0 {
		return &cond{err: fmt.Errorf("%s has no version", c.name)}
	}
	return &cond{op: opEqual, attr: c.shape.Fields[c.version].Attr,
		vals: []dynamo.Value{dynamo.Int(version)}, reason: ErrChanged}
}

// all joins conditions and omits empty and duplicate ones.
func all(conds []*cond) *cond {
	out := &cond{op: opAnd, kids: make([]*cond, 0, len(conds))}
	for _, c := range conds {
		if c == nil || c.op == opTrue && c.err == nil {
			continue
		}
		if c.op == opAnd && c.err == nil {
			for _, kid := range c.kids {
				out.addOnce(kid)
			}
			continue
		}
		out.addOnce(c)
	}
	switch len(out.kids) {
	case 0:
		return nil
	case 1:
		return out.kids[0]
	}
	return out
}

func (c *cond) addOnce(kid *cond) {
	for _, k := range c.kids {
		if k.same(kid) {
			return
		}
	}
	c.kids = append(c.kids, kid)
}

func (c *cond) same(d *cond) bool {
	if c.op != d.op || c.attr != d.attr || len(c.vals) != len(d.vals) ||
		len(c.kids) != len(d.kids) || c.err != d.err {
		return false
	}
	for i := range c.vals {
		if !c.vals[i].Equal(d.vals[i]) {
			return false
		}
	}
	for i := range c.kids {
		if !c.kids[i].same(d.kids[i]) {
			return false
		}
	}
	return true
}

// firstErr returns the first error in the tree.
func (c *cond) firstErr() error {
	if c == nil {
		return nil
	}
	if c.err != nil {
		return c.err
	}
	for _, kid := range c.kids {
		if err := kid.firstErr(); err != nil {
			return err
		}
	}
	return nil
}

// operators maps comparisons to the operators of the store's language.
var operators = map[condOp]string{
	opEqual: "=", opNotEqual: "<>", opLess: "<", opAtMost: "<=", opMore: ">", opAtLeast: ">=",
}

// render writes the condition in the store's language.
func (c *cond) render(b *strings.Builder, x *expressions) {
	switch c.op {
	case opAnd, opOr:
		word := " AND "
		if c.op == opOr {
			word = " OR "
		}
		for i, kid := range c.kids {
			if i > 0 {
				b.WriteString(word)
			}
			kid.renderInner(b, x)
		}
	case opNot:
		b.WriteString("NOT ")
		c.kids[0].renderInner(b, x)
	case opExists, opMissing, opBeginsWith, opContains:
		b.WriteString(map[condOp]string{opExists: "attribute_exists(",
			opMissing: "attribute_not_exists(", opBeginsWith: "begins_with(",
			opContains: "contains("}[c.op])
		b.WriteString(x.name(c.attr))
		for _, v := range c.vals {
			b.WriteString(", ")
			b.WriteString(x.value(c.attr, v))
		}
		b.WriteByte(')')
	case opWithin:
		b.WriteString(x.name(c.attr) + " BETWEEN " + x.value(c.attr, c.vals[0]) + " AND " +
			x.value(c.attr, c.vals[1]))
	case opIn:
		b.WriteString(x.name(c.attr) + " IN (")
		for i, v := range c.vals {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(x.value(c.attr, v))
		}
		b.WriteByte(')')
	default:
		b.WriteString(x.name(c.attr))
		b.WriteByte(' ')
		b.WriteString(operators[c.op])
		b.WriteByte(' ')
		b.WriteString(x.value(c.attr, c.vals[0]))
	}
}

// renderInner adds parentheses only where they are required, because the store refuses redundant
// ones.
func (c *cond) renderInner(b *strings.Builder, x *expressions) {
	if c.op == opAnd || c.op == opOr || c.op == opNot {
		b.WriteByte('(')
		c.render(b, x)
		b.WriteByte(')')
		return
	}
	c.render(b, x)
}

// holds evaluates the condition for an item as the store does; nil means that no item exists. It is
// used to find which of several conditions failed.
func (c *cond) holds(item dynamo.Item) bool {
	v, present := item[c.attr]
	switch c.op {
	case opTrue:
		return true
	case opAnd:
		for _, kid := range c.kids {
			if !kid.holds(item) {
				return false
			}
		}
		return true
	case opOr:
		for _, kid := range c.kids {
			if kid.holds(item) {
				return true
			}
		}
		return false
	case opNot:
		return !c.kids[0].holds(item)
	case opExists:
		return present
	case opMissing:
		return !present
	case opNotEqual:
		return !present || !v.Equal(c.vals[0])
	}
	return present && compare(c.op, v, c.vals)
}

// compare evaluates a comparison with a value that is present.
func compare(op condOp, v dynamo.Value, vals []dynamo.Value) bool {
	order := func(w dynamo.Value) (int, bool) { return canonical(v).Compare(canonical(w)) }
	switch op {
	case opEqual:
		return v.Equal(vals[0])
	case opNotEqual:
		return !v.Equal(vals[0])
	case opIn:
		for _, w := range vals {
			if v.Equal(w) {
				return true
			}
		}
		return false
	case opWithin:
		low, ok1 := order(vals[0])
		high, ok2 := order(vals[1])
		return ok1 && ok2 && low >= 0 && high <= 0
	case opBeginsWith:
		return strings.HasPrefix(v.S(), vals[0].S())
	case opContains:
		return contains(v, vals[0])
	}
	n, ok := order(vals[0])
	if !ok {
		return false
	}
	switch op {
	case opLess:
		return n < 0
	case opAtMost:
		return n <= 0
	case opMore:
		return n > 0
	}
	return n >= 0
}

func contains(v, w dynamo.Value) bool {
	if v.Kind() == dynamo.KindS {
		return strings.Contains(v.S(), w.S())
	}
	for _, e := range append(layout.ElementsOf(v), v.L()...) {
		if e.Equal(w) {
			return true
		}
	}
	return false
}

// canonical returns a number in the form that comparisons need.
func canonical(v dynamo.Value) dynamo.Value {
	if v.Kind() != dynamo.KindN || v.Checked() {
		return v
	}
	text, err := dynamo.CanonicalNumber(v.N())
	if err != nil {
		return v
	}
	return dynamo.CanonicalN(text)
}

package expr

import (
	"bytes"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Condition is a condition or filter expression with its names and values. It is safe for
// concurrent use.
type Condition struct {
	expr  *parsed
	scope *scope
}

// Holds reports whether the condition is true for a document. An item that does not exist is an
// empty document. Holds never fails: a comparison with a missing operand or one of the wrong type
// is false, and `<>` is true.
func (c *Condition) Holds(doc Document) bool { return c.expr.root.holds(doc, c.scope) }

// TopLevel returns the names of the attributes that the condition reads, completely or in part,
// without duplicates.
func (c *Condition) TopLevel() []string { return topLevel(c.expr.paths, c.scope, nil) }

// Nested returns the names of the attributes that the condition reads in part.
func (c *Condition) Nested() []string { return topLevel(c.expr.paths, c.scope, isNested) }

// Reads reports whether the condition reads the attribute of that name, completely or in part.
func (c *Condition) Reads(name string) bool { return begins(c.expr.paths, c.scope, name) }

func (n *node) holds(doc Document, sc *scope) bool {
	switch n.op {
	case opAnd:
		for _, kid := range n.kids {
			if !kid.holds(doc, sc) {
				return false
			}
		}
		return true
	case opOr:
		for _, kid := range n.kids {
			if kid.holds(doc, sc) {
				return true
			}
		}
		return false
	case opNot:
		return n.kids[0].holds(doc, sc) != n.not
	case opCall:
		return n.args[0].call.holds(doc, sc)
	}
	return n.compares(doc, sc)
}

// compares evaluates a comparison, BETWEEN or IN.
func (n *node) compares(doc Document, sc *scope) bool {
	first := n.args[0].value(doc, sc)
	switch n.op {
	case opEqual:
		return first.Equal(n.args[1].value(doc, sc))
	case opUnequal:
		return !first.Equal(n.args[1].value(doc, sc))
	case opIn:
		for i := range n.args[1:] {
			if first.Equal(n.args[i+1].value(doc, sc)) {
				return true
			}
		}
		return false
	case opBetween:
		return ordered(first, n.args[1].value(doc, sc), opGreaterEqual) &&
			ordered(first, n.args[2].value(doc, sc), opLessEqual)
	}
	return ordered(first, n.args[1].value(doc, sc), n.op)
}

// ordered reports whether two values are in the given order. It is false for values of different
// types or of a type without an order.
func ordered(v, w dynamo.Value, op operation) bool {
	order, ok := canonical(v).Compare(canonical(w))
	if !ok {
		return false
	}
	switch op {
	case opLess:
		return order < 0
	case opLessEqual:
		return order <= 0
	case opGreater:
		return order > 0
	}
	return order >= 0
}

// canonical returns a number in canonical form. A stored number already has that form.
func canonical(v dynamo.Value) dynamo.Value {
	if v.Kind() != dynamo.KindN || v.Checked() {
		return v
	}
	text, err := dynamo.CanonicalNumber(v.N())
	if err != nil {
		return dynamo.Value{}
	}
	return dynamo.CanonicalN(text)
}

// value returns the value of the operand, or the absent value.
func (o *operand) value(doc Document, sc *scope) dynamo.Value {
	switch o.kind {
	case operandPath:
		return o.path.find(doc, sc)
	case operandValue:
		return sc.values[o.slot]
	}
	size, ok := sizeOf(o.call.args[0].value(doc, sc))
	if !ok {
		return dynamo.Value{}
	}
	return dynamo.Int(int64(size))
}

// sizeOf implements the function size: the UTF-16 units of a string, the bytes of a binary, or the
// number of elements of a set, list or map.
func sizeOf(v dynamo.Value) (size int, ok bool) {
	switch v.Kind() {
	case dynamo.KindS:
		return utf16Length(v.S()), true
	case dynamo.KindB:
		return len(v.B()), true
	case dynamo.KindL:
		return len(v.L()), true
	case dynamo.KindM:
		return len(v.M()), true
	case dynamo.KindSS:
		return len(v.SS()), true
	case dynamo.KindNS:
		return len(v.NS()), true
	case dynamo.KindBS:
		return len(v.BS()), true
	}
	return 0, false
}

func utf16Length(s string) int {
	units := 0
	for _, r := range s {
		units++
		if r >= 1<<16 {
			units++
		}
	}
	return units
}

func (c *call) holds(doc Document, sc *scope) bool {
	first := c.args[0].value(doc, sc)
	switch c.function {
	case functionExists:
		return !first.IsAbsent()
	case functionNotExists:
		return first.IsAbsent()
	}
	second := c.args[1].value(doc, sc)
	switch c.function {
	case functionType:
		return !first.IsAbsent() && first.Kind() == dynamo.KindOf(second.S())
	case functionBeginsWith:
		return beginsWith(first, second)
	case functionContains:
		return contains(first, second)
	}
	return false
}

func beginsWith(v, prefix dynamo.Value) bool {
	if v.Kind() != prefix.Kind() {
		return false
	}
	switch v.Kind() {
	case dynamo.KindS:
		return strings.HasPrefix(v.S(), prefix.S())
	case dynamo.KindB:
		return bytes.HasPrefix(v.B(), prefix.B())
	}
	return false
}

// contains reports whether a string or binary has a part, or a set or list has an element. It is
// false for a map.
func contains(v, part dynamo.Value) bool {
	switch v.Kind() {
	case dynamo.KindS:
		return part.Kind() == dynamo.KindS && strings.Contains(v.S(), part.S())
	case dynamo.KindB:
		return part.Kind() == dynamo.KindB && bytes.Contains(v.B(), part.B())
	case dynamo.KindSS:
		return part.Kind() == dynamo.KindS && slices.Contains(v.SS(), part.S())
	case dynamo.KindNS:
		return part.Kind() == dynamo.KindN && containsNumber(v, part)
	case dynamo.KindBS:
		return part.Kind() == dynamo.KindB && slices.ContainsFunc(v.BS(), func(e []byte) bool {
			return bytes.Equal(e, part.B())
		})
	case dynamo.KindL:
		return slices.ContainsFunc(v.L(), part.Equal)
	}
	return false
}

func containsNumber(set, number dynamo.Value) bool {
	if set.Checked() && number.Checked() {
		return slices.Contains(set.NS(), number.N())
	}
	return slices.ContainsFunc(set.NS(), func(e string) bool { return dynamo.N(e).Equal(number) })
}

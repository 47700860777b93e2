package partiql

import (
	"bytes"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// bound is a position between the sort keys of a partition. All keys of a partition have one type.
type bound struct {
	end   int // -1 is before all keys, 1 after all of them
	v     dynamo.Value
	text  []byte // of a string or of binary data, which are ordered by their bytes
	after bool   // it is after the key v, otherwise before it
}

// The bounds of a whole partition.
var below, above = bound{end: -1}, bound{end: 1}

// boundAt returns the bound before or after a key.
func boundAt(v dynamo.Value, after bool) bound {
	b := bound{v: v, after: after}
	switch v.Kind() {
	case dynamo.KindS:
		b.text = []byte(v.S())
	case dynamo.KindB:
		b.text = v.B()
	}
	return b
}

// beyond returns the bound after all keys that begin with a text.
func beyond(v dynamo.Value) bound {
	b := boundAt(v, false)
	b.text = bytes.Clone(b.text)
	for i := len(b.text) - 1; i >= 0; i-- {
		if b.text[i]++; b.text[i] != 0 {
			b.text = b.text[:i+1]
			b.v = dynamo.Value{} // the text is a position, it need not be a valid key
			return b
		}
	}
	return above
}

// compare returns whether a is before b (-1), equal (0), or after it (1).
func (a bound) compare(b bound) int {
	if a.end != b.end {
		return a.end - b.end
	}
	if a.end != 0 {
		return 0
	}
	order := 0
	if a.v.Kind() == dynamo.KindN {
		order, _ = a.v.Compare(b.v) // numbers always have an order
	} else {
		order = bytes.Compare(a.text, b.text)
	}
	switch {
	case order != 0 || a.after == b.after:
		return order
	case a.after:
		return 1
	}
	return -1
}

// boundsOf returns the range of a condition on the sort key.
func boundsOf(term *expr.KeyTerm) (lower, upper bound) {
	v := term.Values
	switch term.Op {
	case expr.OpLess:
		return below, boundAt(v[0], false)
	case expr.OpLessEqual:
		return below, boundAt(v[0], true)
	case expr.OpGreater:
		return boundAt(v[0], true), above
	case expr.OpGreaterEqual:
		return boundAt(v[0], false), above
	case expr.OpBetween:
		return boundAt(v[0], false), boundAt(v[1], true)
	case expr.OpBeginsWith:
		return boundAt(v[0], false), beyond(v[0])
	}
	return boundAt(v[0], false), boundAt(v[0], true)
}

package expr_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// The naive evaluator knows conditions as trees that were never text, and values as plain Go
// data. It has nothing in common with the package but the rules.

// plain is a value as Go data: a string, *big.Rat, binary, bool, nothing, list, members or set.
type plain any

type (
	binary  string
	nothing struct{}
	set     struct {
		kind  dynamo.Kind
		elems []plain
	}
	list    []plain
	members map[string]plain
)

func plainOf(v dynamo.Value) plain {
	switch v.Kind() {
	case dynamo.KindS:
		return v.S()
	case dynamo.KindN:
		n, ok := new(big.Rat).SetString(v.N())
		if !ok {
			panic("no number: " + v.N())
		}
		return n
	case dynamo.KindB:
		return binary(v.B())
	case dynamo.KindBOOL:
		return v.Bool()
	case dynamo.KindNULL:
		return nothing{}
	case dynamo.KindL:
		out := list{}
		for _, e := range v.L() {
			out = append(out, plainOf(e))
		}
		return out
	case dynamo.KindM:
		out := members{}
		for name, e := range v.M() {
			out[name] = plainOf(e)
		}
		return out
	}
	out := set{kind: v.Kind()}
	for _, e := range v.SS() {
		out.elems = append(out.elems, plain(e))
	}
	for _, e := range v.NS() {
		out.elems = append(out.elems, plainOf(dynamo.N(e)))
	}
	for _, e := range v.BS() {
		out.elems = append(out.elems, plain(binary(e)))
	}
	return out
}

func kindOf(p plain) string {
	switch p := p.(type) {
	case string:
		return "S"
	case *big.Rat:
		return "N"
	case binary:
		return "B"
	case bool:
		return "BOOL"
	case nothing:
		return "NULL"
	case list:
		return "L"
	case members:
		return "M"
	case set:
		return p.kind.String()
	}
	return ""
}

func same(p, q plain) bool {
	if p == nil || q == nil || kindOf(p) != kindOf(q) {
		return false
	}
	switch p := p.(type) {
	case *big.Rat:
		return p.Cmp(q.(*big.Rat)) == 0
	case list:
		return slices.EqualFunc(p, q.(list), same)
	case members:
		for name := range p {
			if !same(p[name], q.(members)[name]) {
				return false
			}
		}
		return len(p) == len(q.(members))
	case set:
		for _, e := range p.elems {
			if !slices.ContainsFunc(q.(set).elems, func(f plain) bool { return same(e, f) }) {
				return false
			}
		}
		return len(p.elems) == len(q.(set).elems)
	}
	return p == q
}

func less(p, q plain) bool {
	switch p := p.(type) {
	case string:
		q, ok := q.(string)
		return ok && p < q
	case binary:
		q, ok := q.(binary)
		return ok && p < q
	case *big.Rat:
		q, ok := q.(*big.Rat)
		return ok && p.Cmp(q) < 0
	}
	return false
}

func scalar(p plain) bool { return slices.Contains([]string{"S", "N", "B"}, kindOf(p)) }

func atMost(p, q plain) bool { return less(p, q) || scalar(p) && same(p, q) }

// naiveOperand is a path, a value, or the size of one of these.
type naiveOperand struct {
	path  []any // names and indexes
	value plain // with no path
	size  *naiveOperand
	text  string
}

func (o *naiveOperand) eval(item members) plain {
	switch {
	case o.size != nil:
		switch v := o.size.eval(item).(type) {
		case string:
			return big.NewRat(int64(len(utf16.Encode([]rune(v)))), 1)
		case binary:
			return big.NewRat(int64(len(v)), 1)
		case list:
			return big.NewRat(int64(len(v)), 1)
		case members:
			return big.NewRat(int64(len(v)), 1)
		case set:
			return big.NewRat(int64(len(v.elems)), 1)
		}
		return nil
	case o.path == nil:
		return o.value
	}
	return at(item, o.path)
}

func at(p plain, path []any) plain {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := p.(members)
			p = m[step]
		case int:
			l, _ := p.(list)
			if step >= len(l) {
				return nil
			}
			p = l[step]
		}
	}
	return p
}

// literalKind is the type that an operand has whatever the item, or "".
func (o *naiveOperand) literalKind() string {
	switch {
	case o.size != nil:
		return "N"
	case o.path == nil:
		return kindOf(o.value)
	}
	return ""
}

func (o *naiveOperand) valid() bool {
	return o.size == nil || !slices.Contains([]string{"N", "BOOL", "NULL"}, o.size.literalKind())
}

// naive is a condition.
type naive struct {
	op   string // AND, OR, NOT, an operator or a function
	kids []*naive
	args []*naiveOperand
}

func (n *naive) eval(item members) bool {
	switch n.op {
	case "AND":
		return n.kids[0].eval(item) && n.kids[1].eval(item)
	case "OR":
		return n.kids[0].eval(item) || n.kids[1].eval(item)
	case "NOT":
		return !n.kids[0].eval(item)
	}
	var args []plain
	for _, o := range n.args {
		args = append(args, o.eval(item))
	}
	switch n.op {
	case "=":
		return same(args[0], args[1])
	case "<>":
		return !same(args[0], args[1])
	case "<":
		return less(args[0], args[1])
	case "<=":
		return atMost(args[0], args[1])
	case ">":
		return less(args[1], args[0])
	case ">=":
		return atMost(args[1], args[0])
	case "BETWEEN":
		return atMost(args[1], args[0]) && atMost(args[0], args[2])
	case "IN":
		return slices.ContainsFunc(args[1:], func(p plain) bool { return same(args[0], p) })
	case "attribute_exists":
		return args[0] != nil
	case "attribute_not_exists":
		return args[0] == nil
	case "attribute_type":
		return args[0] != nil && kindOf(args[0]) == args[1]
	case "begins_with":
		return isPart(args[0], args[1], strings.HasPrefix)
	}
	switch v := args[0].(type) {
	case list:
		return slices.ContainsFunc(v, func(p plain) bool { return same(p, args[1]) })
	case set:
		return slices.ContainsFunc(v.elems, func(p plain) bool { return same(p, args[1]) })
	}
	return isPart(args[0], args[1], strings.Contains)
}

func isPart(p, q plain, is func(string, string) bool) bool {
	switch p := p.(type) {
	case string:
		q, ok := q.(string)
		return ok && is(p, q)
	case binary:
		q, ok := q.(binary)
		return ok && is(string(p), string(q))
	}
	return false
}

// valid tells whether the condition can be asked at all.
func (n *naive) valid() bool {
	for _, kid := range n.kids {
		if !kid.valid() {
			return false
		}
	}
	for i, o := range n.args {
		if !o.valid() {
			return false
		}
		if i > 0 && o.path != nil && fmt.Sprint(o.path) == fmt.Sprint(n.args[0].path) {
			return false
		}
		kind := o.literalKind()
		switch n.op {
		case "<", "<=", ">", ">=", "BETWEEN":
			if kind != "" && kind != "S" && kind != "N" && kind != "B" {
				return false
			}
		case "begins_with":
			if kind != "" && kind != "S" && kind != "B" {
				return false
			}
		case "attribute_exists", "attribute_not_exists":
			if kind != "" {
				return false
			}
		}
	}
	if n.op == "BETWEEN" {
		low, high := n.args[1], n.args[2]
		if low.size == nil && high.size == nil && low.path == nil && high.path == nil {
			return atMost(low.value, high.value)
		}
	}
	return true
}

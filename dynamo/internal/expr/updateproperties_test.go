package expr_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// thawed is a list that is being changed: elements keep their positions until the end.
type thawed struct {
	elems []plain
	gone  map[int]bool
	extra map[int]plain
}

func thaw(p plain) plain {
	switch p := p.(type) {
	case list:
		out := &thawed{gone: map[int]bool{}, extra: map[int]plain{}}
		for _, e := range p {
			out.elems = append(out.elems, thaw(e))
		}
		return out
	case members:
		out := members{}
		for name, e := range p {
			out[name] = thaw(e)
		}
		return out
	}
	return p
}

func freeze(p plain) plain {
	switch p := p.(type) {
	case *thawed:
		out := list{}
		for i, e := range p.elems {
			if !p.gone[i] {
				out = append(out, freeze(e))
			}
		}
		for _, i := range slices.Sorted(maps.Keys(p.extra)) {
			out = append(out, p.extra[i])
		}
		return out
	case members:
		out := members{}
		for name, e := range p {
			out[name] = freeze(e)
		}
		return out
	}
	return p
}

// put changes the place that a path leads to; a nil value removes what is there. It returns false
// when no map or list is where the path needs one.
func put(tree plain, path []any, v plain) bool {
	for _, step := range path[:len(path)-1] {
		switch at := tree.(type) {
		case members:
			name, _ := step.(string)
			tree = at[name]
		case *thawed:
			index, ok := step.(int)
			if !ok || index >= len(at.elems) {
				return false
			}
			tree = at.elems[index]
		default:
			return false
		}
	}
	switch at := tree.(type) {
	case members:
		name, ok := path[len(path)-1].(string)
		if ok && v == nil {
			delete(at, name)
		} else if ok {
			at[name] = v
		}
		return ok
	case *thawed:
		index, ok := path[len(path)-1].(int)
		switch {
		case !ok:
		case index >= len(at.elems) && v != nil:
			at.extra[index] = v
		case index >= len(at.elems):
		case v == nil:
			at.gone[index] = true
		default:
			at.elems[index] = v
		}
		return ok
	}
	return false
}

// assigned is the right side of a SET: its text, and what it gives, or nil for an error.
type assigned struct {
	text string
	eval func(members) plain
}

func (w *writer) read(path []any) assigned {
	return assigned{w.path(path), func(item members) plain { return at(item, path) }}
}

func (w *writer) given(v dynamo.Value) assigned {
	return assigned{w.value(v), func(members) plain { return plainOf(v) }}
}

// source draws an operand; literal says which values it may be.
func (w *writer) source(literal *rapid.Generator[dynamo.Value], depth int) assigned {
	switch rapid.IntRange(0, 4).Draw(w.T, "source") {
	case 0, 1:
		return w.given(literal.Draw(w.T, "literal"))
	case 2:
		if depth > 0 {
			path, other := paths.Draw(w.T, "if missing"), w.source(literal, depth-1)
			return assigned{
				"if_not_exists(" + w.path(path) + ", " + other.text + ")",
				func(item members) plain {
					if v := at(item, path); v != nil {
						return v
					}
					return other.eval(item)
				},
			}
		}
	}
	return w.read(paths.Draw(w.T, "path"))
}

var (
	numbers = rapid.Map(rapid.IntRange(-20, 20), func(n int) dynamo.Value {
		return dynamo.N(fmt.Sprintf("%de-1", n))
	})
	lists = rapid.Map(rapid.SliceOfN(scalars, 0, 3), func(e []dynamo.Value) dynamo.Value {
		return dynamo.L(e...)
	})
	sets = rapid.SampledFrom([]dynamo.Value{
		dynamo.SS("a"), dynamo.SS("b", "c"), dynamo.SS("a", "b"), dynamo.NS("1.0"),
		dynamo.NS("3", "2"), dynamo.NS("1", "2"), dynamo.BS([]byte("a")),
		dynamo.BS([]byte("b"), []byte("c"), []byte("a")),
	})
)

func (w *writer) rightSide() assigned {
	switch rapid.IntRange(0, 4).Draw(w.T, "right side") {
	case 0:
		x, y := w.source(numbers, 1), w.source(numbers, 1)
		op := rapid.SampledFrom([]string{"+", "-"}).Draw(w.T, "sum")
		return assigned{w.wrap(w.wrap(x.text) + op + w.wrap(y.text)), func(item members) plain {
			a, _ := x.eval(item).(*big.Rat)
			b, _ := y.eval(item).(*big.Rat)
			switch {
			case a == nil || b == nil:
				return nil
			case op == "+":
				return new(big.Rat).Add(a, b)
			}
			return new(big.Rat).Sub(a, b)
		}}
	case 1:
		x, y := w.source(lists, 1), w.source(lists, 1)
		return assigned{"list_append(" + x.text + "," + y.text + ")", func(item members) plain {
			a, aList := x.eval(item).(list)
			b, bList := y.eval(item).(list)
			if !aList || !bList {
				return nil
			}
			return slices.Concat(list{}, a, b)
		}}
	}
	return w.source(values(1), 2)
}

// step is one action: what it makes of what is at its path, or an error.
type step struct {
	path   []any
	clears bool
	eval   func(members) (plain, bool)
}

func (w *writer) action(clause string, path []any) (step, string) {
	text := w.path(path)
	switch clause {
	case "SET":
		right := w.rightSide()
		return step{path, false, func(item members) (plain, bool) {
			v := right.eval(item)
			return v, v != nil
		}}, text + " = " + right.text
	case "REMOVE":
		return step{path, true, func(members) (plain, bool) { return nil, true }}, text
	case "DELETE":
		v := sets.Draw(w.T, "deleted")
		return step{path, true, func(item members) (plain, bool) {
			return subtracted(at(item, path), plainOf(v).(set))
		}}, text + " " + w.value(v)
	}
	v := rapid.OneOf(numbers, sets).Draw(w.T, "added")
	return step{path, false, func(item members) (plain, bool) {
		return added(at(item, path), plainOf(v))
	}}, text + " " + w.value(v)
}

func has(s set, e plain) bool {
	return slices.ContainsFunc(s.elems, func(f plain) bool { return same(e, f) })
}

func subtracted(p plain, taken set) (plain, bool) {
	from, isSet := p.(set)
	if p == nil || !isSet || from.kind != taken.kind {
		return nil, p == nil
	}
	out := set{kind: from.kind}
	for _, e := range from.elems {
		if !has(taken, e) {
			out.elems = append(out.elems, e)
		}
	}
	if out.elems == nil {
		return nil, true
	}
	return out, true
}

func added(p, q plain) (plain, bool) {
	if p == nil {
		return q, true
	}
	if kindOf(p) != kindOf(q) {
		return nil, false
	}
	if n, ok := p.(*big.Rat); ok {
		return new(big.Rat).Add(n, q.(*big.Rat)), true
	}
	out := set{p.(set).kind, slices.Clone(p.(set).elems)}
	for _, e := range q.(set).elems {
		if !has(out, e) {
			out.elems = append(out.elems, e)
		}
	}
	return out, true
}

func TestUpdatesAgreeWithTheNaiveEvaluator(t *testing.T) {
	var parser expr.Parser
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t}
		clauses := rapid.Permutation([]string{"SET", "REMOVE", "ADD", "DELETE"}).Draw(t, "clauses")
		targets := apart(rapid.SliceOfN(paths, 1, 5).Draw(t, "targets"))
		parts, steps := map[string][]string{}, []step{}
		for _, target := range targets {
			clause := rapid.SampledFrom(clauses).Draw(t, "clause")
			s, text := w.action(clause, target)
			steps = append(steps, s)
			parts[clause] = append(parts[clause], text)
		}
		for _, clause := range clauses {
			if parts[clause] != nil {
				w.Update += w.keyword(clause) + " " + strings.Join(parts[clause], " , ") + " "
			}
		}
		prepared, err := parser.Prepare(&w.Request)
		if err != nil {
			t.Fatalf("%s with %v: %v", w.Update, w.Values, err)
		}
		item := partlyChecked(t, items.Draw(t, "item"))
		want, ok := applied(plainOf(dynamo.M(item)).(members), steps)
		before := item.String()
		got, err := prepared.Update.Apply(item)
		if ok != (err == nil) || ok && !same(plainOf(dynamo.M(got)), want) {
			t.Fatalf("%s\nwith %v %v\non %v\nis %v, %v; want %v, %v",
				w.Update, w.Names, w.Values, item, got, err, want, ok)
		}
		if item.String() != before {
			t.Fatalf("%s changed the old item from %s to %v", w.Update, before, item)
		}
		mustMarkRightly(t, w.Update, got)
	})
}

// applied is what the steps make of an item, and whether all of them can be done.
func applied(item members, steps []step) (plain, bool) {
	tree := thaw(item)
	for _, s := range steps {
		v, ok := s.eval(item)
		if !ok {
			return nil, false
		}
		if len(item) == 0 && len(s.path) > 1 && s.clears {
			continue
		}
		if !put(tree, s.path, v) {
			return nil, false
		}
	}
	return freeze(tree), true
}

// partlyChecked returns the item with some of its attributes checked and marked as such.
func partlyChecked(t *rapid.T, item dynamo.Item) dynamo.Item {
	out := item.Clone()
	for _, name := range slices.Sorted(maps.Keys(item)) {
		if rapid.Bool().Draw(t, "checked") {
			v, err := expr.CheckValue(item[name])
			if err != nil {
				t.Fatal(err)
			}
			out[name] = v
		}
	}
	return out
}

// mustMarkRightly fails if a value is marked as checked that a check would change.
func mustMarkRightly(t *rapid.T, what string, item dynamo.Item) {
	for name, v := range item {
		checked, err := expr.CheckValue(unmarked(v))
		if v.Checked() && (err != nil || checked.String() != v.String()) {
			t.Fatalf("%s: %s is %v, marked as checked, but should be %v, %v",
				what, name, v, checked, err)
		}
	}
}

// unmarked returns a copy of a value without any mark.
func unmarked(v dynamo.Value) dynamo.Value {
	switch v.Kind() {
	case dynamo.KindN:
		return dynamo.N(v.N())
	case dynamo.KindL:
		var elems []dynamo.Value
		for _, e := range v.L() {
			elems = append(elems, unmarked(e))
		}
		return dynamo.L(elems...)
	case dynamo.KindM:
		out := map[string]dynamo.Value{}
		for name, e := range v.M() {
			out[name] = unmarked(e)
		}
		return dynamo.M(out)
	case dynamo.KindSS:
		return dynamo.SS(v.SS()...)
	case dynamo.KindNS:
		return dynamo.NS(v.NS()...)
	case dynamo.KindBS:
		return dynamo.BS(v.BS()...)
	}
	return v
}

package engine_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// placeholders collects the names and values of the expressions of one call.
type placeholders struct {
	*rapid.T
	dynamo.Expressions
	// sample is an item that the values are often taken from, so that comparisons meet equals.
	sample dynamo.Item
}

func newPlaceholders(t *rapid.T, sample dynamo.Item) *placeholders {
	return &placeholders{T: t, sample: sample}
}

// like returns what the path leads to in the sample, now and then, if it is of one of the kinds;
// otherwise what draw draws.
func (p *placeholders) like(path modelPath, kinds []dynamo.Kind,
	draw func(*rapid.T) dynamo.Value,
) dynamo.Value {
	v := path.read(p.sample)
	if !v.IsAbsent() && (kinds == nil || slices.Contains(kinds, v.Kind())) &&
		rapid.Bool().Draw(p.T, "as it is") {
		return v
	}
	return draw(p.T)
}

func (p *placeholders) value(v dynamo.Value) string {
	if p.ExpressionAttributeValues == nil {
		p.ExpressionAttributeValues = map[string]dynamo.Value{}
	}
	name := fmt.Sprint(":v", len(p.ExpressionAttributeValues))
	p.ExpressionAttributeValues[name] = v
	return name
}

// name writes an attribute's name, now and then as a placeholder.
func (p *placeholders) name(name string) string {
	if !rapid.Bool().Draw(p.T, "placeholder") {
		return name
	}
	if p.ExpressionAttributeNames == nil {
		p.ExpressionAttributeNames = map[string]string{}
	}
	p.ExpressionAttributeNames["#"+name] = name
	return "#" + name
}

// modelPath leads to an attribute, or to a member or element of one.
type modelPath struct {
	attribute string
	member    string // "" for none
	index     int    // -1 for none
}

func (p modelPath) render(ph *placeholders) string {
	text := ph.name(p.attribute)
	switch {
	case p.member != "":
		text += "." + ph.name(p.member)
	case p.index >= 0:
		text += fmt.Sprintf("[%d]", p.index)
	}
	return text
}

func (p modelPath) nested() bool { return p.member != "" || p.index >= 0 }

func (p modelPath) read(item dynamo.Item) dynamo.Value {
	v := item[p.attribute]
	switch {
	case p.member != "":
		return v.M()[p.member]
	case p.index >= 0:
		if l := v.L(); p.index < len(l) {
			return l[p.index]
		}
		return dynamo.Value{}
	}
	return v
}

// The attributes that items have, and the places in them that expressions name.
var (
	attributeNames = []string{"g", "h", "x", "y", "m", "l", "s", "n", "b"}
	modelPaths     = []modelPath{
		{"g", "", -1}, {"h", "", -1}, {"x", "", -1}, {"y", "", -1}, {"m", "", -1}, {"l", "", -1},
		{"s", "", -1}, {"n", "", -1}, {"b", "", -1}, {"m", "a", -1}, {"m", "b", -1},
		{"l", "", 0}, {"l", "", 1}, {"l", "", 4},
	}
)

func drawPath(t *rapid.T) modelPath { return rapid.SampledFrom(modelPaths).Draw(t, "path") }

func drawNumber(t *rapid.T) dynamo.Value {
	text := rapid.SampledFrom([]string{"0", "1", "2", "-1", "1.5", "10", "0.25"}).Draw(t, "number")
	return dynamo.N(text)
}

func drawText(t *rapid.T) dynamo.Value {
	return dynamo.S(rapid.SampledFrom([]string{"a", "b", "ab", "a\x00", "ä"}).Draw(t, "text"))
}

func drawBytes(t *rapid.T) dynamo.Value {
	return dynamo.B([]byte(rapid.SampledFrom([]string{"a", "\x00", "\xff", "\xff\x00"}).
		Draw(t, "bytes")))
}

// drawScalar draws a value of a type that has an order.
func drawScalar(t *rapid.T, kind dynamo.Kind) dynamo.Value {
	switch kind {
	case dynamo.KindN:
		return drawNumber(t)
	case dynamo.KindB:
		return drawBytes(t)
	}
	return drawText(t)
}

var orderedKinds = []dynamo.Kind{dynamo.KindS, dynamo.KindN, dynamo.KindB}

func drawOrdered(t *rapid.T) dynamo.Value {
	return drawScalar(t, rapid.SampledFrom(orderedKinds).Draw(t, "kind"))
}

func drawSet(t *rapid.T) dynamo.Value {
	if rapid.Bool().Draw(t, "of texts") {
		return dynamo.SS(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3,
			rapid.ID).Draw(t, "set")...)
	}
	return dynamo.NS(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "1.5"}), 1, 3,
		rapid.ID).Draw(t, "set")...)
}

func drawValue(t *rapid.T) dynamo.Value {
	switch rapid.IntRange(0, 7).Draw(t, "type") {
	case 0:
		return dynamo.Bool(rapid.Bool().Draw(t, "bool"))
	case 1:
		return dynamo.Null()
	case 2:
		return dynamo.L(rapid.SliceOfN(rapid.Custom(drawOrdered), 0, 3).Draw(t, "list")...)
	case 3:
		return dynamo.M(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}),
			rapid.Custom(drawOrdered), 0, 2).Draw(t, "map"))
	case 4:
		return drawSet(t)
	}
	return drawOrdered(t)
}

// modelCondition is a condition as a text and as what it means.
type modelCondition struct {
	text  string
	holds func(item dynamo.Item) bool
}

func drawCondition(p *placeholders, depth int) modelCondition {
	kind := rapid.IntRange(0, 9).Draw(p.T, "condition")
	if depth == 0 && kind < 3 {
		kind += 3
	}
	switch kind {
	case 0, 1:
		a, b := drawCondition(p, depth-1), drawCondition(p, depth-1)
		if kind == 0 {
			return modelCondition{"(" + a.text + ") and (" + b.text + ")",
				func(i dynamo.Item) bool { return a.holds(i) && b.holds(i) }}
		}
		return modelCondition{"(" + a.text + ") OR (" + b.text + ")",
			func(i dynamo.Item) bool { return a.holds(i) || b.holds(i) }}
	case 2:
		a := drawCondition(p, depth-1)
		return modelCondition{"NOT (" + a.text + ")",
			func(i dynamo.Item) bool { return !a.holds(i) }}
	case 3, 4:
		return drawComparison(p)
	case 5:
		return drawSetCondition(p)
	}
	return drawFunction(p)
}

// compare is what a comparison says of two values.
func compare(op string, a, b dynamo.Value) bool {
	switch op {
	case "=":
		return same(a, b)
	case "<>":
		return !same(a, b)
	}
	if a.Kind() != b.Kind() || !slices.Contains(orderedKinds, a.Kind()) {
		return false
	}
	order := modelOrder(a, b)
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func drawComparison(p *placeholders) modelCondition {
	op := rapid.SampledFrom([]string{"=", "<>", "<", "<=", ">", ">="}).Draw(p.T, "operator")
	left := drawPath(p.T)
	if rapid.Bool().Draw(p.T, "with a path") {
		if right := drawPath(p.T); right != left {
			return modelCondition{left.render(p) + " " + op + " " + right.render(p),
				func(i dynamo.Item) bool { return compare(op, left.read(i), right.read(i)) }}
		}
	}
	v := p.like(left, orderedKinds, drawOrdered)
	if op == "=" || op == "<>" {
		v = p.like(left, nil, drawValue)
	}
	text := left.render(p) + " " + op + " " + p.value(v)
	v = canonicalValue(v)
	return modelCondition{text,
		func(i dynamo.Item) bool { return compare(op, left.read(i), v) }}
}

// canonicalValue writes the numbers of a value as the database will.
func canonicalValue(v dynamo.Value) dynamo.Value {
	if v.Kind() == dynamo.KindN {
		return numberOf(ratOf(v))
	}
	return v
}

// drawSetCondition draws a BETWEEN or an IN.
func drawSetCondition(p *placeholders) modelCondition {
	left := drawPath(p.T)
	v := p.like(left, orderedKinds, drawOrdered)
	w := drawScalar(p.T, v.Kind())
	if rapid.Bool().Draw(p.T, "between") {
		if modelOrder(v, w) > 0 {
			v, w = w, v
		}
		return modelCondition{
			left.render(p) + " BETWEEN " + p.value(v) + " AND " + p.value(w),
			func(i dynamo.Item) bool {
				return compare(">=", left.read(i), v) && compare("<=", left.read(i), w)
			}}
	}
	return modelCondition{
		left.render(p) + " in (" + p.value(v) + ", " + p.value(w) + ")",
		func(i dynamo.Item) bool {
			return same(left.read(i), canonicalValue(v)) || same(left.read(i), canonicalValue(w))
		}}
}

func drawFunction(p *placeholders) modelCondition {
	path := drawPath(p.T)
	at := path.render(p)
	switch rapid.IntRange(0, 5).Draw(p.T, "function") {
	case 0:
		return modelCondition{"attribute_exists(" + at + ")",
			func(i dynamo.Item) bool { return !path.read(i).IsAbsent() }}
	case 1:
		return modelCondition{"attribute_not_exists(" + at + ")",
			func(i dynamo.Item) bool { return path.read(i).IsAbsent() }}
	case 2:
		kind := rapid.SampledFrom([]string{"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS"}).
			Draw(p.T, "type")
		return modelCondition{"attribute_type(" + at + ", " + p.value(dynamo.S(kind)) + ")",
			func(i dynamo.Item) bool { return path.read(i).Kind().String() == kind }}
	case 3:
		v := drawScalar(p.T, rapid.SampledFrom([]dynamo.Kind{dynamo.KindS, dynamo.KindB}).
			Draw(p.T, "kind"))
		return modelCondition{"begins_with(" + at + ", " + p.value(v) + ")",
			func(i dynamo.Item) bool {
				w := path.read(i)
				return w.Kind() == v.Kind() && strings.HasPrefix(w.S(), v.S()) &&
					bytes.HasPrefix(w.B(), v.B())
			}}
	case 4:
		v := drawOrdered(p.T)
		return modelCondition{"contains(" + at + ", " + p.value(v) + ")",
			func(i dynamo.Item) bool { return modelContains(path.read(i), canonicalValue(v)) }}
	}
	op := rapid.SampledFrom([]string{"=", "<", ">="}).Draw(p.T, "operator")
	v := drawNumber(p.T)
	return modelCondition{"size(" + at + ") " + op + " " + p.value(v),
		func(i dynamo.Item) bool {
			return compare(op, modelSize(path.read(i)), canonicalValue(v))
		}}
}

func modelContains(v, part dynamo.Value) bool {
	switch v.Kind() {
	case dynamo.KindS:
		return part.Kind() == dynamo.KindS && strings.Contains(v.S(), part.S())
	case dynamo.KindB:
		return part.Kind() == dynamo.KindB && bytes.Contains(v.B(), part.B())
	case dynamo.KindSS:
		return part.Kind() == dynamo.KindS && slices.Contains(v.SS(), part.S())
	case dynamo.KindNS:
		return part.Kind() == dynamo.KindN && slices.Contains(v.NS(), part.N())
	}
	return slices.ContainsFunc(v.L(), func(e dynamo.Value) bool { return same(e, part) })
}

func modelSize(v dynamo.Value) dynamo.Value {
	switch v.Kind() {
	case dynamo.KindS:
		return dynamo.Int(int64(len([]rune(v.S()))))
	case dynamo.KindB:
		return dynamo.Int(int64(len(v.B())))
	case dynamo.KindL, dynamo.KindM, dynamo.KindSS, dynamo.KindNS:
		return dynamo.Int(int64(len(v.L()) + len(v.M()) + len(v.SS()) + len(v.NS())))
	}
	return dynamo.Value{}
}

// drawProjection draws paths of which none leads into another, and what they keep.
func drawProjection(p *placeholders) (text string, keep func(dynamo.Item) dynamo.Item) {
	paths := drawApart(p.T)
	text = strings.Join(rendered(p, paths), ", ")
	return text, func(item dynamo.Item) dynamo.Item {
		out := dynamo.Item{}
		members := map[string]map[string]dynamo.Value{}
		elems := map[string][]dynamo.Value{}
		slices.SortFunc(paths, func(a, b modelPath) int { return a.index - b.index })
		for _, path := range paths {
			v := path.read(item)
			switch {
			case v.IsAbsent():
			case path.member != "":
				if members[path.attribute] == nil {
					members[path.attribute] = map[string]dynamo.Value{}
				}
				members[path.attribute][path.member] = v
				out[path.attribute] = dynamo.M(members[path.attribute])
			case path.index >= 0:
				elems[path.attribute] = append(elems[path.attribute], v)
				out[path.attribute] = dynamo.L(elems[path.attribute]...)
			default:
				out[path.attribute] = v
			}
		}
		return out
	}
}

func rendered(p *placeholders, paths []modelPath) (texts []string) {
	for _, path := range paths {
		texts = append(texts, path.render(p))
	}
	return texts
}

// drawApart draws some different paths of which none leads into another.
func drawApart(t *rapid.T) []modelPath {
	var out []modelPath
	for range rapid.IntRange(1, 4).Draw(t, "paths") {
		path := drawPath(t)
		if !slices.ContainsFunc(out, func(o modelPath) bool {
			return o == path || o.attribute == path.attribute && (!o.nested() || !path.nested())
		}) {
			out = append(out, path)
		}
	}
	return out
}

// modelAction is one action of an update: its clause, its text, and what it makes of its place.
type modelAction struct {
	clause string
	text   string
	path   modelPath
	// result returns what stands there afterwards, absent for nothing; ok is false when the
	// item, as it was, does not allow it.
	result func(old dynamo.Item) (v dynamo.Value, ok bool)
}

func drawAction(p *placeholders, path modelPath) modelAction {
	clause := rapid.SampledFrom([]string{"SET", "SET", "SET", "REMOVE", "ADD", "DELETE"}).
		Draw(p.T, "clause")
	if path.nested() && (clause == "ADD" || clause == "DELETE") {
		clause = "SET"
	}
	a := modelAction{clause: clause, path: path}
	at := path.render(p)
	switch clause {
	case "REMOVE":
		a.text = at
		a.result = func(dynamo.Item) (dynamo.Value, bool) { return dynamo.Value{}, true }
	case "ADD":
		v := drawNumber(p.T)
		if rapid.Bool().Draw(p.T, "a set") {
			v = drawSet(p.T)
		}
		a.text = at + " " + p.value(v)
		a.result = func(old dynamo.Item) (dynamo.Value, bool) {
			return modelAdd(path.read(old), canonicalValue(v))
		}
	case "DELETE":
		v := drawSet(p.T)
		a.text = at + " " + p.value(v)
		a.result = func(old dynamo.Item) (dynamo.Value, bool) {
			return modelTake(path.read(old), v)
		}
	default:
		text, result := drawAssigned(p)
		a.text, a.result = at+" = "+text, result
	}
	return a
}

func modelAdd(have, v dynamo.Value) (dynamo.Value, bool) {
	switch {
	case have.IsAbsent():
		return v, true
	case have.Kind() != v.Kind():
		return have, false
	case v.Kind() == dynamo.KindN:
		return numberOf(new(big.Rat).Add(ratOf(have), ratOf(v))), true
	}
	elems := map[string]bool{}
	for _, e := range slices.Concat(have.SS(), have.NS(), v.SS(), v.NS()) {
		elems[e] = true
	}
	return setOf(v.Kind(), slices.Collect(maps.Keys(elems))), true
}

func modelTake(have, v dynamo.Value) (dynamo.Value, bool) {
	if have.IsAbsent() || have.Kind() != v.Kind() {
		return have, have.IsAbsent()
	}
	var left []string
	for _, e := range slices.Concat(have.SS(), have.NS()) {
		if !slices.Contains(slices.Concat(v.SS(), v.NS()), e) {
			left = append(left, e)
		}
	}
	if left == nil {
		return dynamo.Value{}, true
	}
	return setOf(v.Kind(), left), true
}

func setOf(kind dynamo.Kind, elems []string) dynamo.Value {
	if kind == dynamo.KindSS {
		return dynamo.SS(elems...)
	}
	return dynamo.NS(elems...)
}

type modelResult = func(old dynamo.Item) (v dynamo.Value, ok bool)

// drawAssigned draws the right side of a SET.
func drawAssigned(p *placeholders) (string, modelResult) {
	from := drawPath(p.T)
	read := func(old dynamo.Item) (dynamo.Value, bool) {
		v := from.read(old)
		return v, !v.IsAbsent()
	}
	switch rapid.IntRange(0, 5).Draw(p.T, "assigned") {
	case 0:
		return from.render(p), read
	case 1:
		v := drawValue(p.T)
		return "if_not_exists(" + from.render(p) + ", " + p.value(v) + ")",
			func(old dynamo.Item) (dynamo.Value, bool) {
				if have, ok := read(old); ok {
					return have, true
				}
				return canonicalValue(v), true
			}
	case 2:
		l := dynamo.L(rapid.SliceOfN(rapid.Custom(drawText), 0, 2).Draw(p.T, "list")...)
		return "list_append(" + from.render(p) + ", " + p.value(l) + ")",
			func(old dynamo.Item) (dynamo.Value, bool) {
				have, ok := read(old)
				if !ok || have.Kind() != dynamo.KindL {
					return have, false
				}
				return dynamo.L(slices.Concat(have.L(), l.L())...), true
			}
	case 3:
		v := drawNumber(p.T)
		sign := rapid.SampledFrom([]string{"+", "-"}).Draw(p.T, "sign")
		return from.render(p) + " " + sign + " " + p.value(v),
			func(old dynamo.Item) (dynamo.Value, bool) {
				have, ok := read(old)
				if !ok || have.Kind() != dynamo.KindN {
					return have, false
				}
				if sign == "-" {
					return numberOf(new(big.Rat).Sub(ratOf(have), ratOf(v))), true
				}
				return numberOf(new(big.Rat).Add(ratOf(have), ratOf(v))), true
			}
	}
	v := drawValue(p.T)
	return p.value(v), func(dynamo.Item) (dynamo.Value, bool) { return canonicalValue(v), true }
}

// modelUpdate is a whole update.
type modelUpdate struct {
	text    string
	actions []modelAction
}

func drawUpdate(p *placeholders) modelUpdate {
	var u modelUpdate
	for _, path := range drawApart(p.T) {
		u.actions = append(u.actions, drawAction(p, path))
	}
	for _, clause := range []string{"REMOVE", "SET", "ADD", "DELETE"} {
		var texts []string
		for _, a := range u.actions {
			if a.clause == clause {
				texts = append(texts, a.text)
			}
		}
		if texts != nil {
			u.text += clause + " " + strings.Join(texts, ", ") + " "
		}
	}
	return u
}

func (u modelUpdate) changes(name string) bool {
	return slices.ContainsFunc(u.actions, func(a modelAction) bool {
		return a.path.attribute == name
	})
}

// apply returns what becomes of an item, nil for one that stays missing.
func (u modelUpdate) apply(key, old dynamo.Item) (next dynamo.Item, ok bool) {
	onlyTakes := true
	for _, a := range u.actions {
		onlyTakes = onlyTakes && (a.clause == "REMOVE" || a.clause == "DELETE")
	}
	if old == nil && onlyTakes {
		return nil, true
	}
	missing := old == nil
	next = maps.Clone(old)
	if missing {
		next = maps.Clone(key)
	}
	var inLists []modelChange
	for _, a := range u.actions {
		v, ok := a.result(old)
		if !ok {
			return nil, false
		}
		switch {
		case missing && a.path.nested() && a.clause == "REMOVE":
		case a.path.member != "":
			if next[a.path.attribute].Kind() != dynamo.KindM {
				return nil, false
			}
			members := maps.Clone(next[a.path.attribute].M())
			if members == nil {
				members = map[string]dynamo.Value{}
			}
			if members[a.path.member] = v; v.IsAbsent() {
				delete(members, a.path.member)
			}
			next[a.path.attribute] = dynamo.M(members)
		case a.path.index >= 0:
			if old[a.path.attribute].Kind() != dynamo.KindL {
				return nil, false
			}
			inLists = append(inLists, modelChange{a.path, v})
		case v.IsAbsent():
			delete(next, a.path.attribute)
		default:
			next[a.path.attribute] = v
		}
	}
	for name, list := range changedLists(old, inLists) {
		next[name] = list
	}
	return next, true
}

type modelChange struct {
	path  modelPath
	value dynamo.Value
}

// changedLists sets and removes elements at their places before the update; what is set beyond
// the end is appended in the order of the indexes.
func changedLists(old dynamo.Item, changes []modelChange) map[string]dynamo.Value {
	out := map[string]dynamo.Value{}
	slices.SortFunc(changes, func(a, b modelChange) int { return a.path.index - b.path.index })
	for _, c := range changes {
		if _, done := out[c.path.attribute]; done {
			continue
		}
		elems := slices.Clone(old[c.path.attribute].L())
		for _, d := range changes {
			switch {
			case d.path.attribute != c.path.attribute:
			case d.path.index < len(old[c.path.attribute].L()):
				elems[d.path.index] = d.value
			case !d.value.IsAbsent():
				elems = append(elems, d.value)
			}
		}
		elems = slices.DeleteFunc(elems, dynamo.Value.IsAbsent)
		out[c.path.attribute] = dynamo.L(elems...)
	}
	return out
}

package expr

import (
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// result returns the value of the action's target after the action, or the absent value if the
// target is removed. It reads only values of the item before the update.
func (a *action) result(old Document, sc *scope) (v dynamo.Value, refusal string) {
	switch a.clause {
	case clauseRemove:
		return dynamo.Value{}, ""
	case clauseSet:
		return a.assigns(old, sc)
	}
	current, amount := a.target.find(old, sc), a.left.literal(sc)
	if a.clause == clauseDelete {
		return without(current, amount)
	}
	if current.IsAbsent() {
		return amount, ""
	}
	if amount.Kind() == dynamo.KindN {
		return sum(current, amount, arithmeticPlus)
	}
	return union(current, amount)
}

// assigns returns the value that a SET assigns.
func (a *action) assigns(old Document, sc *scope) (dynamo.Value, string) {
	left, refusal := a.left.read(old, sc)
	if refusal != "" || a.sum == arithmeticNone {
		return left, refusal
	}
	right, refusal := a.right.read(old, sc)
	if refusal != "" {
		return right, refusal
	}
	return sum(left, right, a.sum)
}

// read returns the value of an operand of an update. The value must exist.
func (o *operand) read(old Document, sc *scope) (dynamo.Value, string) {
	switch o.kind {
	case operandValue:
		return sc.values[o.slot], ""
	case operandPath:
		if v := o.path.find(old, sc); !v.IsAbsent() {
			return v, ""
		}
		return dynamo.Value{}, attributeMissing
	}
	args := o.call.args
	if o.call.function == functionIfNotExists {
		if v := args[0].path.find(old, sc); !v.IsAbsent() {
			return v, ""
		}
		return args[1].read(old, sc)
	}
	first, refusal := args[0].read(old, sc)
	if refusal != "" {
		return first, refusal
	}
	second, refusal := args[1].read(old, sc)
	if refusal != "" {
		return second, refusal
	}
	if first.Kind() != dynamo.KindL || second.Kind() != dynamo.KindL {
		return dynamo.Value{}, operandInvalid
	}
	joined := dynamo.L(slices.Concat(first.L(), second.L())...)
	if first.Checked() && second.Checked() {
		joined = dynamo.MarkChecked(joined)
	}
	return joined, ""
}

// sum adds or subtracts two numbers exactly.
func sum(v, w dynamo.Value, op arithmetic) (dynamo.Value, string) {
	v, w = canonical(v), canonical(w)
	if v.Kind() != dynamo.KindN || w.Kind() != dynamo.KindN {
		return dynamo.Value{}, operandInvalid
	}
	calculate := dynamo.AddNumbers
	if op == arithmeticMinus {
		calculate = dynamo.SubtractNumbers
	}
	text, err := calculate(v.N(), w.N())
	if err != nil {
		return dynamo.Value{}, err.Error()
	}
	return dynamo.CanonicalN(text), ""
}

// union adds to a set the elements of another set that it does not have.
func union(set, added dynamo.Value) (dynamo.Value, string) {
	if set.Kind() != added.Kind() {
		return dynamo.Value{}, operandInvalid
	}
	set, refusal := checkValue(set, 1)
	if refusal != "" {
		return set, refusal
	}
	switch set.Kind() {
	case dynamo.KindSS:
		return dynamo.MarkChecked(dynamo.SS(joined(set.SS(), added.SS(), text)...)), ""
	case dynamo.KindNS:
		return dynamo.MarkChecked(dynamo.NS(joined(set.NS(), added.NS(), text)...)), ""
	}
	return dynamo.MarkChecked(dynamo.BS(joined(set.BS(), added.BS(), textOfBytes)...)), ""
}

// without removes the elements of one set from another. An empty result is absent, because sets
// cannot be empty.
func without(set, taken dynamo.Value) (dynamo.Value, string) {
	if set.IsAbsent() {
		return set, ""
	}
	if set.Kind() != taken.Kind() {
		return dynamo.Value{}, operandInvalid
	}
	set, refusal := checkValue(set, 1)
	if refusal != "" {
		return set, refusal
	}
	var left dynamo.Value
	empty := false
	switch set.Kind() {
	case dynamo.KindSS:
		elems := remaining(set.SS(), taken.SS(), text)
		left, empty = dynamo.SS(elems...), len(elems) == 0
	case dynamo.KindNS:
		elems := remaining(set.NS(), taken.NS(), text)
		left, empty = dynamo.NS(elems...), len(elems) == 0
	default:
		elems := remaining(set.BS(), taken.BS(), textOfBytes)
		left, empty = dynamo.BS(elems...), len(elems) == 0
	}
	if empty {
		return dynamo.Value{}, ""
	}
	return dynamo.MarkChecked(left), ""
}

func text(s string) string { return s }

func textOfBytes(b []byte) string { return string(b) }

// joined returns a new slice with the elements of a and those of b that are not in a.
func joined[E any](a, b []E, key func(E) string) []E {
	return append(slices.Clone(a), remaining(b, a, key)...)
}

// remaining returns a new slice with the elements of a that are not in b.
func remaining[E any](a, b []E, key func(E) string) []E {
	in := make(map[string]struct{}, len(b))
	for _, e := range b {
		in[key(e)] = struct{}{}
	}
	var out []E
	for _, e := range a {
		if _, found := in[key(e)]; !found {
			out = append(out, e)
		}
	}
	return out
}

// change is the new value of the place that a path leads to.
type change struct {
	path  path
	value dynamo.Value // absent if the place is removed
}

func (c change) unchecked() bool { return !c.value.IsAbsent() && !c.value.Checked() }

// applyNested makes changes within attributes of an item. Each list or map on the paths is copied
// only once, independent of the number of changes in it.
func applyNested(item dynamo.Item, changes []change, sc *scope) string {
	for _, c := range changes {
		depth := ValueLevelsMax + 1 - len(c.path)
		if !c.value.IsAbsent() && deeper(c.value, depth) {
			return tooDeep
		}
	}
	// After sorting, the changes of one attribute are adjacent, and so are those of one part of it.
	slices.SortStableFunc(changes, func(a, b change) int {
		return comparePaths(a.path, b.path, sc)
	})
	for len(changes) > 0 {
		same := sameStep(changes, 0, sc)
		name := changes[0].path[0].resolve(sc)
		v, refusal := changed(item[name], changes[:same], 1, sc)
		if refusal != "" {
			return refusal
		}
		item[name] = v
		changes = changes[same:]
	}
	return ""
}

// sameStep counts the changes at the start that have the same step at the given level.
func sameStep(changes []change, level int, sc *scope) int {
	count := 1
	for count < len(changes) && changes[count].path[level].equal(changes[0].path[level], sc) {
		count++
	}
	return count
}

// changed returns a copy of a map or list with the changes, which share all steps above the given
// level.
func changed(v dynamo.Value, changes []change, level int, sc *scope) (dynamo.Value, string) {
	var out dynamo.Value
	var refusal string
	switch index := changes[0].path[level].isIndex(); {
	case index && v.Kind() == dynamo.KindL:
		out, refusal = changedList(v.L(), changes, level, sc)
	case !index && v.Kind() == dynamo.KindM:
		out, refusal = changedMap(v.M(), changes, level, sc)
	default:
		return dynamo.Value{}, pathInvalid
	}
	if v.Checked() && refusal == "" && !slices.ContainsFunc(changes, change.unchecked) {
		out = dynamo.MarkChecked(out)
	}
	return out, refusal
}

// after returns the new value of the place that the first changes lead to, and their number.
func after(
	v dynamo.Value, changes []change, level int, sc *scope,
) (out dynamo.Value, count int, refusal string) {
	if len(changes[0].path) == level+1 {
		return changes[0].value, 1, ""
	}
	count = sameStep(changes, level, sc)
	out, refusal = changed(v, changes[:count], level+1, sc)
	return out, count, refusal
}

func changedMap(
	members map[string]dynamo.Value, changes []change, level int, sc *scope,
) (dynamo.Value, string) {
	out := maps.Clone(members)
	if out == nil {
		out = make(map[string]dynamo.Value, len(changes))
	}
	for len(changes) > 0 {
		name := changes[0].path[level].resolve(sc)
		v, count, refusal := after(members[name], changes, level, sc)
		if refusal != "" {
			return v, refusal
		}
		if v.IsAbsent() {
			delete(out, name)
		} else {
			out[name] = v
		}
		changes = changes[count:]
	}
	return dynamo.M(out), ""
}

// changedList interprets indexes as positions before the update. Values that are set beyond the end
// are appended in the order of their indexes; elements that are removed beyond the end are ignored.
func changedList(
	elems []dynamo.Value, changes []change, level int, sc *scope,
) (dynamo.Value, string) {
	out := make([]dynamo.Value, 0, len(elems)+len(changes))
	next := 0 // the first element that is not in out
	for len(changes) > 0 {
		index := changes[0].path[level].index
		old := dynamo.Value{}
		if index < len(elems) {
			old = elems[index]
		}
		v, count, refusal := after(old, changes, level, sc)
		if refusal != "" {
			return v, refusal
		}
		upTo := min(index, len(elems))
		out = append(out, elems[next:upTo]...)
		next = min(upTo+1, len(elems))
		if !v.IsAbsent() {
			out = append(out, v)
		}
		changes = changes[count:]
	}
	return dynamo.L(append(out, elems[next:]...)...), ""
}

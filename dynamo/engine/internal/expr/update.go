package expr

import (
	"maps"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// What the actions of an update add to the size that an UpdateItem is measured by, in bytes, as
// measured on the service.
const (
	updateCost       = 3  // once for an update
	writeCost        = 19 // an action that writes
	clearCost        = 2  // an action that only takes away
	indexCost        = 1  // a path with a list index, on top of that
	arithmeticCost   = 50 // a SET of a sum, on top of that
	pathInvalid      = "The document path provided in the update expression is invalid for update"
	attributeMissing = "The provided expression refers to an attribute that does not exist in " +
		"the item"
	operandInvalid = "An operand in the update expression has an incorrect data type"
)

// Update is an update expression with its names and values. It is safe for concurrent use.
type Update struct {
	expr  *parsed
	scope *scope
}

// Apply returns what becomes of an item that exists. All actions read the item as it was. The
// result is a new item that shares the values that did not change; old is not changed. The error
// is a *dynamo.Error: the item lacks an attribute that is read, or the map or list that a path
// leads through, or holds a value of the wrong type, or a result is no longer a valid value.
//
// An item without attributes is one that does not exist; see [Update.Create].
func (u *Update) Apply(old dynamo.Item) (dynamo.Item, error) {
	return u.apply(old, len(old) == 0)
}

// Create is Apply for an item that does not exist, with its key: the actions can read the key, and
// it is part of the result. To take away something from a missing item is no error, wherever it
// would be; see [Update.WritesNothing].
func (u *Update) Create(key dynamo.Key) (dynamo.Item, error) {
	return u.apply(key, true)
}

func (u *Update) apply(old dynamo.Item, missing bool) (dynamo.Item, error) {
	item := maps.Clone(old)
	if item == nil {
		item = make(dynamo.Item, len(u.expr.actions))
	}
	var nested []change
	for i := range u.expr.actions {
		a := &u.expr.actions[i]
		v, refusal := a.result(old, u.scope)
		if refusal != "" {
			return nil, dynamo.Invalid(refusal)
		}
		switch {
		case isNested(a.target):
			if !missing || !a.clause.clears() {
				nested = append(nested, change{path: a.target, value: v})
			}
		case v.IsAbsent():
			delete(item, a.target[0].resolve(u.scope))
		default:
			item[a.target[0].resolve(u.scope)] = v
		}
	}
	if len(nested) > 0 {
		if refusal := applyNested(item, nested, u.scope); refusal != "" {
			return nil, dynamo.Invalid(refusal)
		}
	}
	return item, nil
}

// Flat reports whether all actions are about whole attributes, none about a part of one. Then
// [Update.Result] tells all that the update does.
func (u *Update) Flat() bool {
	for i := range u.expr.actions {
		if isNested(u.expr.actions[i].target) {
			return false
		}
	}
	return true
}

// Actions returns the number of actions.
func (u *Update) Actions() int { return len(u.expr.actions) }

// Result returns the attribute that an action of a flat update is about and its value afterwards,
// absent when it is taken away. Errors are those of [Update.Apply].
func (u *Update) Result(i int, old Document) (name string, v dynamo.Value, err error) {
	a := &u.expr.actions[i]
	v, refusal := a.result(old, u.scope)
	if refusal != "" {
		return "", v, dynamo.Invalid(refusal)
	}
	return a.target[0].resolve(u.scope), v, nil
}

// TopLevel returns the names of the attributes that the update changes, or changes a part of, once
// each.
func (u *Update) TopLevel() []string { return topLevel(u.expr.paths, u.scope, nil) }

// Nested returns those of them that the update looks into.
func (u *Update) Nested() []string { return topLevel(u.expr.paths, u.scope, isNested) }

// Changes reports whether the update changes the attribute of that name or a part of it.
func (u *Update) Changes(name string) bool { return begins(u.expr.paths, u.scope, name) }

// WritesNothing reports whether all actions only take away, so that the update does not create an
// item that is missing.
func (u *Update) WritesNothing() bool {
	for i := range u.expr.actions {
		if !u.expr.actions[i].clause.clears() {
			return false
		}
	}
	return true
}

// Old returns what the update's paths led to in the item before it (UPDATED_OLD), or nil if that
// is nothing.
func (u *Update) Old(old dynamo.Item) dynamo.Item { return u.touched(old) }

// New returns what the update's paths lead to in the item after it (UPDATED_NEW), or nil if that
// is nothing. List indexes are those of the expression, even where the element was appended
// further down or another one has moved up.
func (u *Update) New(updated dynamo.Item) dynamo.Item { return u.touched(updated) }

func (u *Update) touched(item dynamo.Item) dynamo.Item {
	out := project(u.expr.branches(u.scope), item)
	if len(out) == 0 {
		return nil
	}
	return out
}

// ActionCost returns what the actions add to the size that an UpdateItem is measured by, in bytes.
func (u *Update) ActionCost() int {
	cost := updateCost
	for i := range u.expr.actions {
		a := &u.expr.actions[i]
		if a.clause.clears() {
			cost += clearCost
		} else {
			cost += writeCost
		}
		if a.target.indexed() {
			cost += indexCost
		}
		if a.sum != arithmeticNone {
			cost += arithmeticCost
		}
	}
	return cost
}

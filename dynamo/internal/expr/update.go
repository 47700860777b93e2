package expr

import (
	"maps"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Sizes in bytes that the actions of an update add to the charged size of an UpdateItem, as
// measured on the service.
const (
	updateCost       = 3  // once for each update
	writeCost        = 19 // for an action that writes
	clearCost        = 2  // for an action that only removes
	indexCost        = 1  // for a path with a list index, in addition
	arithmeticCost   = 50 // for a SET of a sum, in addition
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

// Apply returns the result of the update for an existing item. All actions read the item before the
// update. The result is a new item that shares unchanged values; old is not changed. The error is a
// *dynamo.Error: the item lacks an attribute that is read or the map or list of a path, has a value
// of the wrong type, or a result is invalid.
//
// An item without attributes is treated as one that does not exist; see [Update.Create].
func (u *Update) Apply(old dynamo.Item) (dynamo.Item, error) {
	return u.apply(old, len(old) == 0)
}

// Create returns the result of the update for an item that does not exist. Its actions can read the
// key, and the key is part of the result. Removing a part of a missing item is not an error, at any
// path; see [Update.WritesNothing].
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

// Flat reports whether all actions apply to whole attributes. Then [Update.Result] describes the
// whole update.
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

// Result returns the attribute of an action of a flat update, and its new value, which is absent if
// the attribute is removed. The errors are those of [Update.Apply].
func (u *Update) Result(i int, old Document) (name string, v dynamo.Value, err error) {
	a := &u.expr.actions[i]
	v, refusal := a.result(old, u.scope)
	if refusal != "" {
		return "", v, dynamo.Invalid(refusal)
	}
	return a.target[0].resolve(u.scope), v, nil
}

// TopLevel returns the names of the attributes that the update changes, completely or in part,
// without duplicates.
func (u *Update) TopLevel() []string { return topLevel(u.expr.paths, u.scope, nil) }

// Nested returns the names of the attributes that the update changes in part.
func (u *Update) Nested() []string { return topLevel(u.expr.paths, u.scope, isNested) }

// Changes reports whether the update changes the attribute of that name, completely or in part.
func (u *Update) Changes(name string) bool { return begins(u.expr.paths, u.scope, name) }

// WritesNothing reports whether all actions only remove data. Such an update does not create a
// missing item.
func (u *Update) WritesNothing() bool {
	for i := range u.expr.actions {
		if !u.expr.actions[i].clause.clears() {
			return false
		}
	}
	return true
}

// Old returns the values at the update's paths in the item before the update (UPDATED_OLD), or nil
// if there are none.
func (u *Update) Old(old dynamo.Item) dynamo.Item { return u.touched(old) }

// New returns the values at the update's paths in the item after the update (UPDATED_NEW), or nil
// if there are none. List indexes are those of the expression, even if the element was appended at
// another index or the next element has moved up.
func (u *Update) New(updated dynamo.Item) dynamo.Item { return u.touched(updated) }

func (u *Update) touched(item dynamo.Item) dynamo.Item {
	out := project(u.expr.branches(u.scope), item)
	if len(out) == 0 {
		return nil
	}
	return out
}

// ActionCost returns the number of bytes that the actions add to the charged size of an UpdateItem.
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

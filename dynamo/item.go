package dynamo

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Item is a set of named attributes: a stored item or a part of one.
type Item map[string]Value

// Key is the primary key of an item: its partition key attribute and, if the table has one, its
// sort key attribute. For an index it also contains the index's key attributes.
type Key = Item

// Attribute returns the attribute of that name and reports whether it exists.
func (it Item) Attribute(name string) (Value, bool) {
	v, ok := it[name]
	return v, ok
}

// Equal reports whether both items have the same attributes with equal values.
func (it Item) Equal(other Item) bool {
	if len(it) != len(other) {
		return false
	}
	for name, v := range it {
		w, ok := other[name]
		if !ok || !v.Equal(w) {
			return false
		}
	}
	return true
}

// Clone returns a copy of the item. The values are shared, because they are immutable.
func (it Item) Clone() Item { return maps.Clone(it) }

// String formats the item in DynamoDB's JSON notation, sorted by name.
func (it Item) String() string {
	var b strings.Builder
	it.render(&b)
	return b.String()
}

func (it Item) render(b *strings.Builder) {
	renderEach(b, "{", "}", slices.Sorted(maps.Keys(it)), func(name string) {
		b.WriteString(strconv.Quote(name))
		b.WriteByte(':')
		it[name].render(b)
	})
}

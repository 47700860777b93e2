package dynamo

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Item is a set of named attributes: what a table stores, or a part of it.
type Item map[string]Value

// Key is the primary key of an item: its partition key attribute and, where the table has one,
// its sort key attribute. For an index it holds the index's key attributes as well.
type Key = Item

// Attribute returns the attribute of that name and whether it is present.
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

// Clone returns a copy of the item. The values are shared, which is safe as they are immutable.
func (it Item) Clone() Item { return maps.Clone(it) }

// String renders the item in DynamoDB's JSON notation with its names in order.
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

package singletable

import (
	"errors"
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// ErrUnreadable means that a stored item cannot be decoded. The error itself is an
// [*UnreadableError].
var ErrUnreadable = errors.New("the item cannot be read")

// UnreadableError reports a stored item that cannot be decoded, because a required attribute is
// absent or has a wrong type or value. Such an item is never decoded in part, because a zero value
// would be mistaken for the stored one.
type UnreadableError struct {
	// Table and Key identify the item.
	Table string
	Key   dynamo.Key
	// Entity is the name of the entity to which the item should belong.
	Entity string
	// Attribute is the invalid attribute.
	Attribute string
	// Reason is the reason why it is invalid.
	Reason error
}

// Error names the item and the attribute.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s %s in table %s cannot be read: attribute %s %v", e.Entity,
		e.KeyText(), e.Table, e.Attribute, e.Reason)
}

// KeyText returns the key of the item in one line.
func (e *UnreadableError) KeyText() string { return keyText(e.Key) }

// Unwrap returns the reason.
func (e *UnreadableError) Unwrap() error { return e.Reason }

// Is reports whether target is ErrUnreadable.
func (e *UnreadableError) Is(target error) bool { return target == ErrUnreadable }

// AsUnreadable returns the [*UnreadableError] in err and reports whether there is one.
func AsUnreadable(err error) (*UnreadableError, bool) {
	var bad *UnreadableError
	ok := errors.As(err, &bad)
	return bad, ok
}

// Unreadable returns the error of an item of the entity at the key of at, for reasons that only the
// caller knows: an amount without a currency, a reference to an item that does not exist.
func (e *Entity[T]) Unreadable(at T, attribute string, reason error) *UnreadableError {
	bad := &UnreadableError{Table: e.c.table.name, Entity: e.c.name, Attribute: attribute,
		Reason: reason}
	bad.Key, _ = e.Key(at) // without a key the error still names the attribute
	return bad
}

// Unreadable returns the error of an item that should belong to an entity, by its key as text. sort
// is empty for a table without a sort key.
func (t *Table) Unreadable(
	entity, partition, sort, attribute string, reason error,
) *UnreadableError {
	key := dynamo.Key{t.keys.Partition: dynamo.S(partition)}
	if t.keys.Sort != "" {
		key[t.keys.Sort] = dynamo.S(sort)
	}
	return &UnreadableError{Table: t.name, Key: key, Entity: entity, Attribute: attribute,
		Reason: reason}
}

// UnreadableRows are the unreadable items of a list, as an error that a function returns together
// with the readable rows.
type UnreadableRows []*UnreadableError

// Error names the items.
func (r UnreadableRows) Error() string {
	lines := make([]string, len(r))
	for i, bad := range r {
		lines[i] = bad.Error()
	}
	return strings.Join(lines, "; ")
}

// Unwrap returns the errors of the items.
func (r UnreadableRows) Unwrap() []error {
	errs := make([]error, len(r))
	for i, bad := range r {
		errs[i] = bad
	}
	return errs
}

// Err returns the rows as an error, or nil if there are none.
func (r UnreadableRows) Err() error {
	if len(r) == 0 {
		return nil
	}
	return r
}

// RowsOf splits an error that was returned together with rows into the unreadable items and any
// other error, after which the rows must not be used.
func RowsOf(err error) (UnreadableRows, error) {
	var rows UnreadableRows
	if errors.As(err, &rows) {
		return rows, nil
	}
	return nil, err
}

// UnreadableList collects unreadable items without duplicates. The zero value is empty. It is not
// safe for concurrent use.
type UnreadableList struct {
	// Items are the first [UnreadableListMax] items, and Count is the number of all.
	Items []*UnreadableError
	Count int
	seen  map[string]bool
}

// UnreadableListMax is the maximum number of items that a list keeps.
const UnreadableListMax = 100

// Len returns Count, or 0 for a nil list.
func (l *UnreadableList) Len() int {
	if l == nil {
		return 0
	}
	return l.Count
}

// Add adds an item unless it is in the list.
func (l *UnreadableList) Add(bad *UnreadableError) {
	id := bad.Table + "\x00" + bad.KeyText()
	if l.seen[id] {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[id] = true
	l.Count++
	if len(l.Items) < UnreadableListMax {
		l.Items = append(l.Items, bad)
	}
}

// Sound adds a check of the entity's items when they are read, in addition to the types of
// attributes. It returns nil for a valid item, and otherwise the invalid attribute.
func Sound[T any](check func(v *T) *AttributeError) EntityOption {
	return func(c *core) {
		c.sound = append(c.sound, newSoundCheck(check))
	}
}

// MapPage converts the rows of a page. A row that f refuses with an [*UnreadableError] is added to
// the page's unreadable items; any other error is returned.
func MapPage[A, B any](p Page[A], f func(A) (B, error)) (Page[B], error) {
	out := Page[B]{Next: p.Next, Prev: p.Prev, Resume: p.Resume, Calls: p.Calls,
		Capacity: p.Capacity, Unreadable: p.Unreadable, Items: make([]B, 0, len(p.Items))}
	for _, a := range p.Items {
		b, err := f(a)
		if bad, ok := AsUnreadable(err); ok {
			out.Unreadable = append(out.Unreadable, bad)
			continue
		}
		if err != nil {
			return Page[B]{}, err
		}
		out.Items = append(out.Items, b)
	}
	return out, nil
}

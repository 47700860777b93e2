package singletable

import (
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// ErrUnreadable means that an item is stored that cannot be understood. The error itself is an
// [*UnreadableError].
var ErrUnreadable = errors.New("the item cannot be read")

// UnreadableError is an item that cannot be understood, because an attribute that it needs is
// absent or has a wrong type or value. Such an item is never decoded in part: a zero value would
// pass for what is stored.
type UnreadableError struct {
	// Table and Key say which item it is.
	Table string
	Key   dynamo.Key
	// Entity is the name of the entity whose item it would be.
	Entity string
	// Attribute is the attribute that cannot be understood.
	Attribute string
	// Reason says why.
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

// AsUnreadable returns the item that err says cannot be read, and whether there is one.
func AsUnreadable(err error) (*UnreadableError, bool) {
	var bad *UnreadableError
	ok := errors.As(err, &bad)
	return bad, ok
}

// Unreadable returns the error of an item of the entity at the key of at, for what only the
// caller knows: an amount in no currency, a reference to an item that does not exist.
func (e *Entity[T]) Unreadable(at T, attribute string, reason error) *UnreadableError {
	bad := &UnreadableError{Table: e.c.table.name, Entity: e.c.name, Attribute: attribute,
		Reason: reason}
	bad.Key, _ = e.Key(at) // Without a key the error still names the attribute.
	return bad
}

// AttributeError is what is wrong with one attribute of an item. Functions that are given to
// [Sound] return it.
type AttributeError struct {
	Attribute string
	Reason    error
}

// Error names the attribute.
func (e *AttributeError) Error() string {
	return fmt.Sprintf("attribute %s %v", e.Attribute, e.Reason)
}

// Unwrap returns the reason.
func (e *AttributeError) Unwrap() error { return e.Reason }

// Sound gives the entity a check of its items that are read, besides the types of attributes. It
// returns nil for an item that can be understood, and otherwise the attribute that cannot.
func Sound[T any](check func(v *T) *AttributeError) EntityOption {
	return func(c *core) {
		c.sound = append(c.sound, newSoundCheck(check))
	}
}

// The reasons of what is not there.
var (
	errAbsent = errors.New("is absent")
	errEmpty  = errors.New("is empty")
)

// MapPage turns the rows of a page into others. A row that f refuses with an [*UnreadableError]
// joins those of the page that cannot be read; any other error is returned.
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

package layout

import (
	"errors"
	"fmt"
)

// AttributeError reports an invalid attribute of an item. Functions that are passed to [Sound]
// return it.
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

// MissingPartError reports a key that cannot be built because a required field is empty.
type MissingPartError struct {
	Entity string
	// Index is empty for the table's own key.
	Index string
	// Template is the key's template, and Field the attribute that is empty or absent.
	Template, Field string
}

// Error names the template and the field.
func (e *MissingPartError) Error() string {
	where := "key"
	if e.Index != "" {
		where = "key of index " + e.Index
	}
	return fmt.Sprintf("%s: %s %q needs %s, which is empty", e.Entity, where, e.Template, e.Field)
}

// The reasons for missing values.
var (
	ErrAbsent = errors.New("is absent")
	ErrEmpty  = errors.New("is empty")
)

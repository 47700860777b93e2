package singletable

import (
	"fmt"
	"strings"
)

// ModelError is a definition that cannot be used, with all that is wrong with it.
type ModelError struct {
	// Subject is the name of the table, entity or pattern.
	Subject  string
	Problems []string
}

// Error lists the problems.
func (e *ModelError) Error() string {
	return fmt.Sprintf("%s is not well defined: %s", e.Subject, strings.Join(e.Problems, "; "))
}

// MergeError is two changes of one attribute in one transaction or update that cannot be made
// one without losing one of them.
type MergeError struct {
	Attribute     string
	First, Second string
}

// Error names the attribute and both changes.
func (e *MergeError) Error() string {
	return fmt.Sprintf("two changes of %s cannot be merged: %s, then %s", e.Attribute, e.First,
		e.Second)
}

package singletable

import (
	"fmt"
	"strings"
)

// ModelError reports an invalid definition with all its problems.
type ModelError struct {
	// Subject is the name of the table, entity or pattern.
	Subject  string
	Problems []string
}

// Error lists the problems.
func (e *ModelError) Error() string {
	return fmt.Sprintf("%s is not defined correctly: %s", e.Subject, strings.Join(e.Problems, "; "))
}

// MergeError reports two changes of one attribute in one transaction or update that cannot be
// merged without losing one of them.
type MergeError struct {
	Attribute     string
	First, Second string
}

// Error names the attribute and both changes.
func (e *MergeError) Error() string {
	return fmt.Sprintf("two changes of %s cannot be merged: %s, then %s", e.Attribute, e.First,
		e.Second)
}

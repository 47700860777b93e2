package singletable

import "fmt"

// LayoutError reports that a setting of a process differs from what is stored with the data. Such a
// setting decides under which keys items are written and looked for, so what is stored holds, and
// only a command changes it.
type LayoutError struct {
	// Setting is the name of the setting, as its flag has it.
	Setting string
	// Stored and Given are the two values.
	Stored, Given string
	// Change is the command that changes what is stored; empty means that none does.
	Change string
}

// Error says what is stored, what was given and what to do.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("the store has %s %s, and %s was given: %s", e.Setting, e.Stored,
		e.Given, e.Hint())
}

// Hint returns what to do.
func (e *LayoutError) Hint() string {
	if e.Change == "" {
		return "leave the setting out"
	}
	return "leave the setting out, or change what is stored with " + e.Change
}

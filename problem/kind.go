package problem

import (
	"errors"
	"slices"
)

// Kind is what sort of trouble a problem is. Kinds cross the wire and are only ever added.
type Kind string

// The kinds. What the caller can do about a problem follows from its kind.
const (
	// Invalid input can never succeed; the caller must change it.
	Invalid Kind = "invalid"
	// Unauthenticated means that the caller did not say who they are, or could not prove it.
	Unauthenticated Kind = "unauthenticated"
	// Forbidden means that the caller is known and may not do this.
	Forbidden Kind = "forbidden"
	// NotFound means that the thing named does not exist.
	NotFound Kind = "not_found"
	// Conflict means that the request contradicts something that exists already, such as a name
	// that is taken or a key that was used with another body.
	Conflict Kind = "conflict"
	// Changed means that the thing was altered since the caller read it; read again and decide.
	Changed Kind = "changed"
	// Refused means that the input is valid and a rule of the business forbids it now.
	Refused Kind = "refused"
	// TooLarge means that the input exceeds a limit; send less at once.
	TooLarge Kind = "too_large"
	// Throttled means too many requests for now; wait and try again.
	Throttled Kind = "throttled"
	// Unavailable means that something needed does not answer; try again.
	Unavailable Kind = "unavailable"
	// Internal means a fault of ours. It is also the kind of every error that is no problem of
	// this package's.
	Internal Kind = "internal"
)

var kinds = []Kind{
	Invalid, Unauthenticated, Forbidden, NotFound, Conflict, Changed, Refused, TooLarge, Throttled,
	Unavailable, Internal,
}

// Kinds returns all kinds, in the order of their declaration.
func Kinds() []Kind {
	return slices.Clone(kinds)
}

// Known tells whether k is one of Kinds. A client may receive a kind that is newer than itself.
func (k Kind) Known() bool {
	return slices.Contains(kinds, k)
}

// Retryable tells whether the same request may succeed later without any change.
func (k Kind) Retryable() bool {
	return k == Throttled || k == Unavailable
}

// KindOf returns the kind of an error: that of the first *Error or *Definition it wraps, Internal
// when there is none, and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Code says which problem it is, for programs: lower-case words joined by "_", such as
// "insufficient_funds". Codes cross the wire and are only ever added.
type Code string

// CodeInternal is the code of the error that From makes of an unknown one.
const CodeInternal Code = "internal"

// valid tells whether a code is written as it should be.
func (c Code) valid() bool {
	if c == "" || c[0] < 'a' || c[0] > 'z' || c[len(c)-1] == '_' {
		return false
	}
	for _, r := range c {
		if r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}

package problem

import (
	"errors"
	"slices"
)

// Kind is the category of a problem. Kinds are part of the wire format and are only ever added.
type Kind string

// The kinds. The kind determines how a caller can react to a problem.
const (
	// Invalid input can never succeed; the caller must change it.
	Invalid Kind = "invalid"
	// Unauthenticated means that the caller did not identify itself, or could not prove its
	// identity.
	Unauthenticated Kind = "unauthenticated"
	// Forbidden means that the caller is known and has no permission.
	Forbidden Kind = "forbidden"
	// NotFound means that the named thing does not exist.
	NotFound Kind = "not_found"
	// Conflict means that the request contradicts something that exists, such as a name that is
	// taken or a key that was used with a different body.
	Conflict Kind = "conflict"
	// Changed means that the thing was changed after the caller read it; read it again.
	Changed Kind = "changed"
	// Refused means that the input is valid, but a business rule forbids it at present.
	Refused Kind = "refused"
	// TooLarge means that the input exceeds a limit; send less in one request.
	TooLarge Kind = "too_large"
	// Throttled means that there are too many requests at present; wait and retry.
	Throttled Kind = "throttled"
	// Unavailable means that a dependency does not answer; retry.
	Unavailable Kind = "unavailable"
	// Internal means a bug or failure of the server. It is also the kind of every error that is not
	// a problem of this package.
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

// Known reports whether k is one of Kinds. A client may receive a newer kind.
func (k Kind) Known() bool {
	return slices.Contains(kinds, k)
}

// Retryable reports whether the same request may succeed later without a change.
func (k Kind) Retryable() bool {
	return k == Throttled || k == Unavailable
}

// KindOf returns the kind of an error: that of the first *Error or *Definition that it wraps,
// Internal if there is none, and "" for nil.
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

// Code identifies a problem, for programs: lower-case words joined by "_", such as
// "insufficient_funds". Codes are part of the wire format and are only ever added.
type Code string

// CodeInternal is the code of the error that From returns for an unknown error.
const CodeInternal Code = "internal"

// valid reports whether a code has the required form.
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

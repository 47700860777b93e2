// Package person names people to the server: whose data it is that a request may see.
//
// A person is the subject of a token, the claim "sub", and nothing else: no name, no address, and
// nothing that a caller can type. The server without authentication has one person, set when it
// starts. An API key represents a person only if it was bound to one when it was made.
package person

import (
	"errors"
	"fmt"
)

// Subject is the id of a person: what the issuer of tokens calls them. Two that differ in one
// letter's case are two persons.
type Subject string

const (
	// SubjectMax is the maximum length of a subject in bytes: OpenID Connect Core 1.0, section 2,
	// allows 255 ASCII characters.
	SubjectMax = 255

	// SubjectLocal is the one person of a server without authentication.
	SubjectLocal Subject = "local"
)

var (
	errEmpty = errors.New("is missing")
	errLong  = fmt.Errorf("must have at most %d characters", SubjectMax)
	errPlain = errors.New("must have visible ASCII characters only, and no blanks")
)

// Check returns what is wrong with a subject, in words that complete a sentence that begins with
// its name, or nil. Characters that nobody sees, or that look like others, would let one person
// pass for another in a list, so only visible ASCII is taken.
func (s Subject) Check() error {
	switch {
	case s == "":
		return errEmpty
	case len(s) > SubjectMax:
		return errLong
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return errPlain
		}
	}
	return nil
}

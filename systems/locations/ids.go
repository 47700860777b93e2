package locations

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// ID identifies a location: a ULID, 26 characters of Crockford's base 32, whose first ten encode
// when it was made, so that ids sort by creation.
type ID string

// newID makes a ULID of an instant: 48 bits of milliseconds and 80 random ones.
func newID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String()
}

// ParseID reads an id in either case.
func ParseID(text string) (ID, error) {
	id, err := ulid.ParseStrict(strings.ToUpper(text))
	if err != nil {
		return "", fmt.Errorf("must be a ULID of %d characters: %w", ulid.EncodedSize, err)
	}
	return ID(id.String()), nil
}

// Created returns the instant that the id was made, to the millisecond.
func (id ID) Created() time.Time {
	made, err := ulid.ParseStrict(string(id))
	if err != nil {
		return time.UnixMilli(0).UTC()
	}
	return made.Timestamp().UTC()
}

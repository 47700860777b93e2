package locations

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// ID identifies a location: a ULID, 26 characters of Crockford's base 32, whose first ten tell
// when it was made, so that ids sort by creation.
type ID string

const (
	idLength = 26
	// crockford is base 32 without letters that are taken for digits.
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// newID makes a ULID of an instant: 48 bits of milliseconds and 80 random ones.
func newID(now time.Time) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(now.UnixMilli())<<16)
	_, _ = rand.Read(id[6:]) // It never fails, by its documentation.
	return encodeID(id)
}

// encodeID writes 128 bits as 26 characters; the first holds three of them.
func encodeID(id [16]byte) string {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	var text [idLength]byte
	for i := idLength - 1; i >= 0; i-- {
		text[i] = crockford[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return string(text[:])
}

// ParseID reads an id in either case.
func ParseID(text string) (ID, error) {
	id := strings.ToUpper(text)
	if len(id) != idLength || id[0] > '7' {
		return "", fmt.Errorf("must be a ULID of %d characters", idLength)
	}
	for i := range idLength {
		if strings.IndexByte(crockford, id[i]) < 0 {
			return "", fmt.Errorf("must be a ULID, which has no %q", text[i])
		}
	}
	return ID(id), nil
}

// Created returns the instant that the id was made, to the millisecond.
func (id ID) Created() time.Time {
	var ms int64
	for i := range min(10, len(id)) {
		ms = ms<<5 | int64(max(0, strings.IndexByte(crockford, id[i])))
	}
	return time.UnixMilli(ms).UTC()
}

package ledger

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/problem"
)

// Bounds of what callers name. Keys of the store hold at most 1,024 bytes, in which a character
// may take four bytes, or three for each byte that is escaped.
const (
	// idMax is the greatest length of an id; UUIDs have 36 characters.
	idMax = 64
	// idempotencyKeyMax is the greatest length of an idempotency key in characters.
	idempotencyKeyMax = 255
	// userIDMax is the greatest length of a user's id in bytes: a token's subject has up to 255.
	userIDMax = 255
)

const (
	required = true
	optional = false
)

// checkID refuses ids with characters that would have to be escaped in keys, URLs or shells.
func checkID(wrong *problem.Fields, field, id string, need bool) {
	if bad := wrongID(id, need); bad != "" {
		wrong.Add(field, bad)
	}
}

// wrongID says what is wrong with an id, or "".
func wrongID(id string, need bool) string {
	switch {
	case id == "" && need:
		return "is missing"
	case len(id) > idMax:
		return fmt.Sprintf("must have at most %d characters", idMax)
	case !plainID(id):
		return "must consist of letters, digits and . _ : -"
	}
	return ""
}

func plainID(id string) bool {
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':':
		case c == '@' && i == 0: // The ledger's own accounts.
		default:
			return false
		}
	}
	return true
}

func checkText(wrong *problem.Fields, field, text string, limit int, need bool) {
	switch {
	case text == "" && need:
		wrong.Add(field, "is missing")
	case len(text) > limit:
		wrong.Addf(field, "must have at most %d bytes", limit)
	case !utf8.ValidString(text):
		wrong.Add(field, "must be UTF-8")
	}
}

// checkKey refuses an idempotency key that is too long or no text. An empty key is none at all.
func checkKey(key string, need bool) error {
	switch {
	case key == "" && need:
		return ErrInvalidIdempotencyKey.Field("idempotencyKey", "is missing")
	case !utf8.ValidString(key):
		return ErrInvalidIdempotencyKey.Field("idempotencyKey", "must be UTF-8")
	case utf8.RuneCountInString(key) > idempotencyKeyMax:
		return ErrInvalidIdempotencyKey.Field("idempotencyKey", "is too long")
	}
	return nil
}

// instant cuts a time to what is stored.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Date is a calendar day, written 2026-01-31.
type Date string

// dateLayout is ISO 8601's form of a day.
const dateLayout = "2006-01-02"

// DateOf returns the day on which t falls in its own location.
func DateOf(t time.Time) Date { return Date(t.Format(dateLayout)) }

// start returns the first instant of the day in a location, and false when d is no day.
func (d Date) start(in *time.Location) (time.Time, bool) {
	t, err := time.ParseInLocation(dateLayout, string(d), in)
	return t, err == nil
}

// next returns the first instant after the day, and false when d is no day.
func (d Date) next(in *time.Location) (time.Time, bool) {
	t, ok := d.start(in)
	if !ok {
		return t, false
	}
	// Midnight of the following day, however many hours this day has.
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, in), true
}

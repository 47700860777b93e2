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
	// idMax is the maximum length of an id; UUIDs have 36 characters.
	idMax = 64
	// idempotencyKeyMax is the maximum length of an idempotency key in characters.
	idempotencyKeyMax = 255
	// userIDMax is the maximum length of a user's id in bytes: a token's subject has up to 255.
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

// checkNewID is checkID for the id of what is made, which is a part of a path from then on.
func checkNewID(wrong *problem.Fields, field, id string, need bool) {
	checkID(wrong, field, id, need)
	checkPathPart(wrong, field, id)
}

// checkPathPart refuses the two texts that cannot be a part of a URL: clients and proxies resolve
// them, also when they are percent-encoded (RFC 3986, 6.2.2.3).
func checkPathPart(wrong *problem.Fields, field, text string) {
	if text == "." || text == ".." {
		wrong.Add(field, "must not be . or .., which no URL can carry")
	}
}

// wrongID returns what is wrong with an id, or "".
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
	return d.midnight(0, in)
}

// next returns the first instant after the day, and false when d is no day.
func (d Date) next(in *time.Location) (time.Time, bool) {
	return d.midnight(1, in)
}

// midnight returns when the day so many days later begins.
func (d Date) midnight(later int, in *time.Location) (time.Time, bool) {
	t, err := time.Parse(dateLayout, string(d))
	if err != nil {
		return time.Time{}, false
	}
	return Midnight(t.Year(), t.Month(), t.Day()+later, in), true
}

// storable cuts a time to the years that keys can hold, and the moment before it.
func storable(t time.Time) time.Time {
	switch year := t.UTC().Year(); {
	case year < 1:
		return time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	}
	return t.UTC()
}

// Midnight returns the first instant of a calendar day in a zone; a day beyond the end of its month
// is one of the next. Where the clocks are put forward over midnight, the day begins at that
// moment, and where they are put back over it, at the first of its two midnights.
func Midnight(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	want := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(dateLayout)
	began, ends := t.ZoneBounds()
	switch got := t.Format(dateLayout); {
	case got < want:
		return ends
	case got > want || t.Hour()+t.Minute()+t.Second() > 0:
		return began
	}
	if !began.IsZero() {
		_, before := began.Add(-time.Second).Zone()
		_, now := t.Zone()
		first := t.Add(-time.Duration(before-now) * time.Second)
		if first.Before(began) && before > now {
			return first
		}
	}
	return t
}

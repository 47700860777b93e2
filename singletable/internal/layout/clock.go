package layout

import (
	"fmt"
	"time"
)

// The stored form of an instant is in UTC and has a fixed width, so that text order is time order.
const (
	layoutMillis  = "2006-01-02T15:04:05.000Z"
	LayoutSeconds = "2006-01-02T15:04:05Z"
	LayoutBare    = "2006-01-02T15:04:05" // the common beginning of all forms of an instant
	layoutDay     = "2006-01-02"
	layoutMonth   = "2006-01"
)

// appendMillis appends t in the stored form with milliseconds and truncates the rest.
func appendMillis(dst []byte, t time.Time) []byte { return appendInstant(dst, t, 3) }

// appendInstant appends t with the given number of fraction digits. It is faster than AppendFormat,
// which parses a layout, and is called for every key and time attribute.
func appendInstant(dst []byte, t time.Time, digits int) []byte {
	t = t.UTC()
	dst = appendDay(dst, t)
	hour, minute, second := t.Clock()
	dst = append(dst, 'T')
	dst = appendTwo(dst, hour)
	dst = append(dst, ':')
	dst = appendTwo(dst, minute)
	dst = append(dst, ':')
	dst = appendTwo(dst, second)
	if digits > 0 {
		dst = append(dst, '.')
		nanos := t.Nanosecond()
		for scale := 100_000_000; digits > 0; digits-- {
			dst = append(dst, '0'+byte(nanos/scale%10))
			scale /= 10
		}
	}
	return append(dst, 'Z')
}

// appendDay appends the calendar day of t in UTC.
func appendDay(dst []byte, t time.Time) []byte {
	year, month, day := t.UTC().Date()
	dst = appendTwo(dst, year/100)
	dst = appendTwo(dst, year%100)
	dst = append(dst, '-')
	dst = appendTwo(dst, int(month))
	dst = append(dst, '-')
	return appendTwo(dst, day)
}

func appendTwo(dst []byte, n int) []byte { return append(dst, '0'+byte(n/10), '0'+byte(n%10)) }

// checkYear refuses times that do not fit in the fixed width.
func checkYear(t time.Time) error {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the year %d does not fit into four digits", y)
	}
	return nil
}

// ParseInstant parses an RFC 3339 time with any number of fraction digits, one without a zone,
// which means UTC, or a calendar day or month, which means its first instant.
func ParseInstant(text string) (time.Time, error) {
	layout := time.RFC3339Nano
	switch len(text) {
	case len(layoutDay):
		layout = layoutDay
	case len(layoutMonth):
		layout = layoutMonth
	}
	t, err := time.Parse(layout, text)
	if err != nil && len(text) >= len(LayoutBare) {
		t, err = time.Parse(LayoutBare, text) // Go accepts a fraction that is not in the layout.
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither a date nor an RFC 3339 time", text)
	}
	return t.UTC(), nil
}

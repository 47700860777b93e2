package layout

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/when"
)

// Instant returns the time of a scalar; dates and times may be text. A text from a caller is parsed
// strictly, because the more tolerant form is only for stored texts of other programs.
func (v Scalar) Instant() (time.Time, error) {
	if v.Form == FormTime {
		return v.Time, checkYear(v.Time)
	}
	if len(v.Text) > len(layoutDay) {
		t, err := when.Instant(v.Text)
		if err != nil {
			return t, fmt.Errorf("%q is neither a date nor an RFC 3339 time: it %w", v.Text, err)
		}
		return t, nil
	}
	return ParseInstant(v.Text)
}

func timeMaker(layout string, g Grain) formatMaker {
	return formatMaker{temporal, func(string) (format, error) {
		return timeFormat(layout, g, true), nil
	}}
}

// timeFormat writes a time in UTC with a layout of fixed width.
func timeFormat(layout string, g Grain, ordered bool) format {
	f := format{width: len(layout), max: len(layout), Grain: g}
	f.loose = ordered && strings.HasPrefix(layout, LayoutBare) && strings.HasSuffix(layout, "Z")
	// A layout with less precision than the stored form cannot restore the value.
	f.Lossless = g <= GrainMilli
	if ordered {
		f.Order, f.OrderLast = 1, 1
		f.Below = beforeInstant
	}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		t, err := v.Instant()
		if err != nil {
			return dst, err
		}
		switch layout {
		case layoutMillis:
			return appendMillis(dst, t), nil
		case layoutDay:
			return appendDay(dst, t), nil
		case layoutMonth:
			n := len(dst)
			return appendDay(dst, t)[:n+len(layoutMonth)], nil
		}
		return t.UTC().AppendFormat(dst, layout), nil
	}
	f.parse = func(text string) (Scalar, error) {
		t, err := time.Parse(layout, text)
		if err != nil && f.loose {
			t, err = parseKeyInstant(text)
		}
		if err != nil {
			return Scalar{}, fmt.Errorf("%q is not a time of the form %s", text, layout)
		}
		return Scalar{Form: FormTime, Time: t.UTC(), Text: text}, nil
	}
	return f
}

// parseKeyInstant parses an instant of a key in the forms of other programs: with any fraction or
// none, and without a zone, which means UTC.
func parseKeyInstant(text string) (time.Time, error) {
	if len(text) < len(LayoutBare) {
		return time.Time{}, fmt.Errorf("%q is not an instant", text)
	}
	return ParseInstant(text)
}

// beforeInstant returns the instant just before v. A format truncates it to its largest time below
// v.
func beforeInstant(v Scalar) (Scalar, bool) {
	t, err := v.Instant()
	return Scalar{Form: FormTime, Time: t.Add(-1)}, err == nil
}

// layoutFormat returns the format of a layout of Go's time package. Its precision and whether it
// sorts are determined by formatting samples.
func layoutFormat(layout string) (format, error) {
	if layout == "" {
		return format{}, fmt.Errorf("needs a layout, as in layout(2006-01-02T150405)")
	}
	samples := sampleTimes()
	width := len(samples[0].Format(layout))
	ordered := true
	for i, t := range samples {
		text := t.Format(layout)
		if len(text) != width {
			return format{}, fmt.Errorf("the layout %q does not have a fixed width", layout)
		}
		if i > 0 && text < samples[i-1].Format(layout) {
			ordered = false
		}
	}
	f := timeFormat(layout, layoutGrain(layout), ordered)
	f.width, f.max = width, width
	return f, nil
}

// sampleTimes returns increasing times that differ by every unit, including carries between units.
func sampleTimes() []time.Time {
	var out []time.Time
	t := time.Date(2019, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	for range 3 {
		for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond, time.Second,
			9 * time.Minute, 11 * time.Hour, 24 * time.Hour, 9 * 24 * time.Hour,
			40 * 24 * time.Hour, 300 * 24 * time.Hour} {
			out = append(out, t)
			t = t.Add(d)
		}
	}
	return out
}

// layoutGrain returns the smallest unit that changes the formatted text.
func layoutGrain(layout string) Grain {
	base := time.Date(2000, 2, 3, 4, 5, 6, 0, time.UTC)
	shown := base.Format(layout)
	for g := grainNano; g < grainYear; g++ {
		if g.Next(base).Format(layout) != shown {
			return g
		}
	}
	return grainYear
}

// reverseEnd is the last millisecond of the year 9999. A reversed time counts down from it, so that
// ascending keys are newest first.
const (
	reverseEnd   = 253402300799999
	reverseWidth = 15
)

func reverseFormat() format {
	f := format{Order: -1, OrderLast: -1, Lossless: true, width: reverseWidth, max: reverseWidth,
		Grain: GrainMilli, Below: beforeInstant}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		t, err := v.Instant()
		if err != nil {
			return dst, err
		}
		return fmt.Appendf(dst, "%015d", reverseEnd-t.UnixMilli()), nil
	}
	f.parse = func(text string) (Scalar, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || len(text) != reverseWidth {
			return Scalar{}, fmt.Errorf("%q is not a reversed time", text)
		}
		t := time.UnixMilli(reverseEnd - n).UTC()
		return Scalar{Form: FormTime, Time: t, Text: string(appendMillis(nil, t))}, nil
	}
	return f
}

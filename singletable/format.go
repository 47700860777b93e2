package singletable

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// format converts a scalar to the text of a key part and, if possible, back.
type format struct {
	name string
	// order is 1 if larger values have larger texts before any next part, -1 if they have
	// smaller ones, and 0 if the order of texts is not that of values. orderLast is the same for a
	// part at the end.
	order, orderLast int
	// lossless reports whether parse returns the value as it is stored.
	lossless bool
	// width is the exact length in bytes, or 0 if it varies. max is the maximum length, or 0 if
	// there is none.
	width, max int
	// loose reports that an instant can be read in other forms than it is written, with other
	// widths.
	loose bool
	// grain is the unit to which a time format truncates.
	grain grain
	// few is the number of distinct texts, or 0 if it is unknown or large.
	few int

	append func(dst []byte, v scalar, escape string) ([]byte, error)
	parse  func(text string) (scalar, error)
	// below returns the largest value under v that the format distinguishes, for half-open ranges.
	// ok is false if there is none.
	below func(v scalar) (w scalar, ok bool)
}

// grain is the precision of a time format.
type grain uint8

const (
	grainNone grain = iota
	grainNano
	grainMicro
	grainMilli
	grainSecond
	grainMinute
	grainHour
	grainDay
	grainMonth
	grainYear
)

// truncate truncates t to the grain.
func (g grain) truncate(t time.Time) time.Time {
	t = t.UTC()
	switch g {
	case grainMonth:
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	case grainYear:
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case grainDay:
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return t.Truncate(g.step())
}

func (g grain) step() time.Duration {
	switch g {
	case grainMicro:
		return time.Microsecond
	case grainMilli:
		return time.Millisecond
	case grainSecond:
		return time.Second
	case grainMinute:
		return time.Minute
	case grainHour:
		return time.Hour
	}
	return time.Nanosecond
}

// next returns the first instant of the unit that follows the one of t.
func (g grain) next(t time.Time) time.Time {
	t = g.truncate(t)
	switch g {
	case grainYear:
		return t.AddDate(1, 0, 0)
	case grainMonth:
		return t.AddDate(0, 1, 0)
	case grainDay:
		return t.AddDate(0, 0, 1)
	}
	return t.Add(g.step())
}

// maxRune is larger than every rune with which a key part can begin, because text with it is
// escaped. It is the upper end of all keys with a prefix.
const maxRune = "\U0010FFFF"

// newFormat returns the format with the given name and argument for a form. An empty name means the
// default format of the form.
func newFormat(name, arg string, f form) (format, error) {
	if name == "" {
		name = defaultFormat(f)
	}
	make, ok := formats[name]
	if !ok {
		return format{}, fmt.Errorf("unknown format %q; use one of %s",
			name, strings.Join(formatNames(), ", "))
	}
	if !slices.Contains(make.forms, f) {
		return format{}, fmt.Errorf("format %q does not take %s", name, f)
	}
	out, err := make.make(arg)
	if err != nil {
		return format{}, fmt.Errorf("format %q: %w", name, err)
	}
	out.name = name
	return out, nil
}

func defaultFormat(f form) string {
	switch f {
	case formInt, formNumber:
		return "digits"
	case formTime:
		return "millis"
	case formBool:
		return "bool"
	case formBytes:
		return "hex"
	}
	return "text"
}

type formatMaker struct {
	forms []form
	make  func(arg string) (format, error)
}

func formatNames() []string {
	names := []string{"shard", "shardSuffix"}
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var (
	textual  = []form{formText}
	numeric  = []form{formInt, formNumber}
	temporal = []form{formTime, formText}
)

// formats maps names to formats. The two shard formats are not among them, because they need the
// rings of the entity.
var formats = map[string]formatMaker{
	"text":    {textual, func(string) (format, error) { return textFormat(nil), nil }},
	"lower":   {textual, func(string) (format, error) { return textFormat(strings.ToLower), nil }},
	"upper":   {textual, func(string) (format, error) { return textFormat(strings.ToUpper), nil }},
	"plain":   {textual, func(string) (format, error) { return plainFormat(), nil }},
	"digits":  {numeric, func(string) (format, error) { return digitsFormat(), nil }},
	"int":     {[]form{formInt}, intFormat},
	"decimal": {numeric, decimalFormat},
	"bool":    {[]form{formBool}, func(string) (format, error) { return boolFormat(), nil }},
	"hex":     {[]form{formBytes}, func(string) (format, error) { return hexFormat(), nil }},
	"nanos":   timeMaker("2006-01-02T15:04:05.000000000Z", grainNano),
	"micros":  timeMaker("2006-01-02T15:04:05.000000Z", grainMicro),
	"millis":  timeMaker(layoutMillis, grainMilli),
	"seconds": timeMaker(layoutSeconds, grainSecond),
	"hour":    timeMaker("2006-01-02T15", grainHour),
	"day":     timeMaker(layoutDay, grainDay),
	"month":   timeMaker(layoutMonth, grainMonth),
	"year":    timeMaker("2006", grainYear),
	"layout":  {temporal, layoutFormat},
	"reverse": {temporal, func(string) (format, error) { return reverseFormat(), nil }},
}

// textFormat writes text with `%`, `#`, the separator that follows and the largest rune
// percent-encoded. Its order is that of the values only at the end of a key, and only if the values
// have none of these characters. A text that is normalised first cannot be restored.
func textFormat(normal func(string) string) format {
	f := format{orderLast: 1, lossless: normal == nil}
	f.append = func(dst []byte, v scalar, escape string) ([]byte, error) {
		text := v.text
		if normal != nil {
			text = normal(text)
		}
		if !utf8.ValidString(text) {
			return dst, fmt.Errorf("%q is not valid UTF-8", text)
		}
		return appendEscaped(dst, text, escape), nil
	}
	f.parse = func(text string) (scalar, error) {
		plain, err := unescape(text)
		return scalar{form: formText, text: plain}, err
	}
	return f
}

const upperHex = "0123456789ABCDEF"

func appendEscaped(dst []byte, text, escape string) []byte {
	clean := true
	for i := range len(text) {
		if c := text[i]; c == '%' || c == '#' || c >= 0xF4 || strings.IndexByte(escape, c) >= 0 {
			clean = false
			break
		}
	}
	if clean {
		return append(dst, text...)
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case strings.HasPrefix(text[i:], maxRune):
			dst = append(dst, "%F4%8F%BF%BF"...)
			i += len(maxRune) - 1
		case c == '%' || c == '#' || strings.IndexByte(escape, c) >= 0:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func unescape(text string) (string, error) {
	if strings.IndexByte(text, '%') < 0 {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			out = append(out, text[i])
			continue
		}
		if i+2 >= len(text) {
			return "", fmt.Errorf("%q ends within an escape", text)
		}
		b, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q has an escape that is no hexadecimal byte", text)
		}
		out = append(out, byte(b))
		i += 2
	}
	return string(out), nil
}

// plainFormat refuses text that textFormat would escape.
func plainFormat() format {
	f := textFormat(nil)
	quoted := f.append
	f.append = func(dst []byte, v scalar, escape string) ([]byte, error) {
		out, err := quoted(dst, v, escape)
		if err == nil && string(out[len(dst):]) != v.text {
			err = fmt.Errorf("%q holds a separator", v.text)
		}
		return out, err
	}
	return f
}

// digitsFormat writes a number as it is. 10 sorts before 9.
func digitsFormat() format {
	f := format{lossless: true, max: 45}
	f.append = func(dst []byte, v scalar, _ string) ([]byte, error) {
		return appendScalar(dst, v), nil
	}
	f.parse = parseDigits
	return f
}

func parseDigits(text string) (scalar, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return scalar{form: formInt, i: i, text: strconv.FormatInt(i, 10)}, nil
	}
	c, err := dynamo.CanonicalNumber(text)
	return scalar{form: formNumber, text: c}, err
}

// intFormat has a fixed width: digits with leading zeros, so that text order is number order. A
// negative number is a minus sign, which sorts before digits, followed by the complement of its
// digits.
func intFormat(arg string) (format, error) {
	width, err := strconv.Atoi(arg)
	if err != nil || width < 1 || width > 19 {
		return format{}, fmt.Errorf("needs a width from 1 to 19, as in int(10)")
	}
	f := format{order: 1, orderLast: 1, lossless: true, max: width + 1}
	f.append = func(dst []byte, v scalar, _ string) ([]byte, error) {
		return appendOrdered(dst, strconv.FormatInt(v.i, 10), width, 0)
	}
	f.parse = func(text string) (scalar, error) {
		s, err := parseOrdered(text, width, 0)
		if err != nil {
			return scalar{}, err
		}
		i, err := strconv.ParseInt(s, 10, 64)
		return scalar{form: formInt, i: i}, err
	}
	f.below = func(v scalar) (scalar, bool) {
		ok := v.i > -1<<63
		v.i--
		return v, ok
	}
	return f, nil
}

// decimalFormat is intFormat with fraction digits: decimal(12.2) has twelve digits before and two
// after the point, decimal(12) none after it.
func decimalFormat(arg string) (format, error) {
	whole, fraction, _ := strings.Cut(arg, ".")
	w, err := strconv.Atoi(whole)
	d := 0
	if err == nil && fraction != "" {
		d, err = strconv.Atoi(fraction)
	}
	if err != nil || w < 1 || d < 0 || w+d > 38 {
		return format{}, fmt.Errorf("needs digits before and after the point, up to 38 " +
			"together, as in decimal(12.2)")
	}
	unit := "1"
	if d > 0 {
		unit = "0." + strings.Repeat("0", d-1) + "1"
	}
	f := format{order: 1, orderLast: 1, lossless: true, max: w + d + 2}
	f.append = func(dst []byte, v scalar, _ string) ([]byte, error) {
		return appendOrdered(dst, string(appendScalar(nil, v)), w, d)
	}
	f.parse = func(text string) (scalar, error) {
		s, err := parseOrdered(text, w, d)
		if err != nil {
			return scalar{}, err
		}
		return parseDigits(s)
	}
	f.below = func(v scalar) (scalar, bool) {
		text, err := dynamo.SubtractNumbers(string(appendScalar(nil, v)), unit)
		return scalar{form: formNumber, text: text}, err == nil
	}
	return f, nil
}

// appendOrdered appends canonical decimal text with fixed numbers of digits on both sides of the
// point. It refuses numbers with more digits, because truncation would change the value.
func appendOrdered(dst []byte, text string, whole, fraction int) ([]byte, error) {
	magnitude, negative := strings.CutPrefix(text, "-")
	w, d, _ := strings.Cut(magnitude, ".")
	if len(w) > whole || len(d) > fraction {
		return dst, fmt.Errorf("%s has more digits than fit in the key (%d.%d)",
			text, whole, fraction)
	}
	start := len(dst)
	dst = append(dst, strings.Repeat("0", whole-len(w))...)
	dst = append(dst, w...)
	if fraction > 0 {
		dst = append(dst, '.')
		dst = append(dst, d...)
		dst = append(dst, strings.Repeat("0", fraction-len(d))...)
	}
	if negative {
		complement(dst[start:])
		dst = slices.Insert(dst, start, '-')
	}
	return dst, nil
}

func complement(digits []byte) {
	for i, c := range digits {
		if c != '.' {
			digits[i] = '0' + '9' - c
		}
	}
}

// parseOrdered converts a text of appendOrdered to canonical decimal text.
func parseOrdered(text string, whole, fraction int) (string, error) {
	magnitude, negative := strings.CutPrefix(text, "-")
	digits := []byte(magnitude)
	want := whole
	if fraction > 0 {
		want += 1 + fraction
	}
	if len(digits) != want {
		return "", fmt.Errorf("%q is not %d characters long", text, want)
	}
	if negative {
		complement(digits)
		digits = slices.Insert(digits, 0, '-')
	}
	return dynamo.CanonicalNumber(string(digits))
}

func boolFormat() format {
	f := format{lossless: true, max: len("false"), few: 2}
	f.append = func(dst []byte, v scalar, _ string) ([]byte, error) {
		return strconv.AppendBool(dst, v.b), nil
	}
	f.parse = func(text string) (scalar, error) {
		b, err := strconv.ParseBool(text)
		return scalar{form: formBool, b: b}, err
	}
	return f
}

func hexFormat() format {
	f := format{orderLast: 1, lossless: true}
	f.append = func(dst []byte, v scalar, _ string) ([]byte, error) {
		return hex.AppendEncode(dst, []byte(v.text)), nil
	}
	f.parse = func(text string) (scalar, error) {
		b, err := hex.DecodeString(text)
		return scalar{form: formBytes, text: string(b)}, err
	}
	return f
}

package layout

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

// Format converts a scalar to the text of a key part and, if possible, back.
type format struct {
	Name string
	// Order is 1 if larger values have larger texts before any next part, -1 if they have
	// smaller ones, and 0 if the order of texts is not that of values. OrderLast is the same for a
	// Part at the end.
	Order, OrderLast int
	// Lossless reports whether parse returns the value as it is stored.
	Lossless bool
	// width is the exact length in bytes, or 0 if it varies. max is the maximum length, or 0 if
	// there is none.
	width, max int
	// loose reports that an instant can be read in other forms than it is written, with other
	// widths.
	loose bool
	// Grain is the unit to which a time format truncates.
	Grain Grain
	// Few is the number of distinct texts, or 0 if it is unknown or large.
	Few int

	Append func(dst []byte, v Scalar, escape string) ([]byte, error)
	parse  func(text string) (Scalar, error)
	// Below returns the largest value under v that the format distinguishes, for half-open ranges.
	// ok is false if there is none.
	Below func(v Scalar) (w Scalar, ok bool)
}

// Grain is the precision of a time format.
type Grain uint8

// The grains, from the finest to the coarsest. GrainNone is that of formats that are no times.
const (
	GrainNone Grain = iota
	grainNano
	grainMicro
	GrainMilli
	grainSecond
	grainMinute
	grainHour
	GrainDay
	grainMonth
	grainYear
)

// Truncate truncates t to the grain.
func (g Grain) Truncate(t time.Time) time.Time {
	t = t.UTC()
	switch g {
	case grainMonth:
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	case grainYear:
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case GrainDay:
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return t.Truncate(g.step())
}

func (g Grain) step() time.Duration {
	switch g {
	case grainMicro:
		return time.Microsecond
	case GrainMilli:
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

// Next returns the first instant of the unit that follows the one of t.
func (g Grain) Next(t time.Time) time.Time {
	t = g.Truncate(t)
	switch g {
	case grainYear:
		return t.AddDate(1, 0, 0)
	case grainMonth:
		return t.AddDate(0, 1, 0)
	case GrainDay:
		return t.AddDate(0, 0, 1)
	}
	return t.Add(g.step())
}

// MaxRune is larger than every rune with which a key part can begin, because text with it is
// escaped. It is the upper end of all keys with a prefix.
const MaxRune = "\U0010FFFF"

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
	out.Name = name
	return out, nil
}

func defaultFormat(f form) string {
	switch f {
	case FormInt, FormNumber:
		return "digits"
	case FormTime:
		return "millis"
	case FormBool:
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
	textual  = []form{FormText}
	numeric  = []form{FormInt, FormNumber}
	temporal = []form{FormTime, FormText}
)

// formats maps names to formats. The two shard formats are not among them, because they need the
// rings of the entity.
var formats = map[string]formatMaker{
	"text":    {textual, func(string) (format, error) { return textFormat(nil), nil }},
	"lower":   {textual, func(string) (format, error) { return textFormat(strings.ToLower), nil }},
	"upper":   {textual, func(string) (format, error) { return textFormat(strings.ToUpper), nil }},
	"plain":   {textual, func(string) (format, error) { return plainFormat(), nil }},
	"digits":  {numeric, func(string) (format, error) { return digitsFormat(), nil }},
	"int":     {[]form{FormInt}, intFormat},
	"decimal": {numeric, decimalFormat},
	"bool":    {[]form{FormBool}, func(string) (format, error) { return boolFormat(), nil }},
	"hex":     {[]form{formBytes}, func(string) (format, error) { return hexFormat(), nil }},
	"nanos":   timeMaker("2006-01-02T15:04:05.000000000Z", grainNano),
	"micros":  timeMaker("2006-01-02T15:04:05.000000Z", grainMicro),
	"millis":  timeMaker(layoutMillis, GrainMilli),
	"seconds": timeMaker(LayoutSeconds, grainSecond),
	"hour":    timeMaker("2006-01-02T15", grainHour),
	"day":     timeMaker(layoutDay, GrainDay),
	"month":   timeMaker(layoutMonth, grainMonth),
	"year":    timeMaker("2006", grainYear),
	"layout":  {temporal, layoutFormat},
	"reverse": {temporal, func(string) (format, error) { return reverseFormat(), nil }},
}

// textFormat writes text with `%`, `#`, the separator that follows and the largest rune
// percent-encoded. Its order is that of the values only at the end of a key, and only if the values
// have none of these characters. A text that is normalised first cannot be restored.
func textFormat(normal func(string) string) format {
	f := format{OrderLast: 1, Lossless: normal == nil}
	f.Append = func(dst []byte, v Scalar, escape string) ([]byte, error) {
		text := v.Text
		if normal != nil {
			text = normal(text)
		}
		if !utf8.ValidString(text) {
			return dst, fmt.Errorf("%q is not valid UTF-8", text)
		}
		return AppendEscaped(dst, text, escape), nil
	}
	f.parse = func(text string) (Scalar, error) {
		plain, err := unescape(text)
		return Scalar{Form: FormText, Text: plain}, err
	}
	return f
}

const upperHex = "0123456789ABCDEF"

// AppendEscaped appends a text with the characters encoded that separate the parts of a key.
func AppendEscaped(dst []byte, text, escape string) []byte {
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
		case strings.HasPrefix(text[i:], MaxRune):
			dst = append(dst, "%F4%8F%BF%BF"...)
			i += len(MaxRune) - 1
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
	quoted := f.Append
	f.Append = func(dst []byte, v Scalar, escape string) ([]byte, error) {
		out, err := quoted(dst, v, escape)
		if err == nil && string(out[len(dst):]) != v.Text {
			err = fmt.Errorf("%q holds a separator", v.Text)
		}
		return out, err
	}
	return f
}

// digitsFormat writes a number as it is. 10 sorts before 9.
func digitsFormat() format {
	f := format{Lossless: true, max: 45}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		return AppendText(dst, v), nil
	}
	f.parse = parseDigits
	return f
}

func parseDigits(text string) (Scalar, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Scalar{Form: FormInt, Int: i, Text: strconv.FormatInt(i, 10)}, nil
	}
	c, err := dynamo.CanonicalNumber(text)
	return Scalar{Form: FormNumber, Text: c}, err
}

// intFormat has a fixed width: digits with leading zeros, so that text order is number order. A
// negative number is a minus sign, which sorts before digits, followed by the complement of its
// digits.
func intFormat(arg string) (format, error) {
	width, err := strconv.Atoi(arg)
	if err != nil || width < 1 || width > 19 {
		return format{}, fmt.Errorf("needs a width from 1 to 19, as in int(10)")
	}
	f := format{Order: 1, OrderLast: 1, Lossless: true, max: width + 1}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		return appendOrdered(dst, strconv.FormatInt(v.Int, 10), width, 0)
	}
	f.parse = func(text string) (Scalar, error) {
		s, err := parseOrdered(text, width, 0)
		if err != nil {
			return Scalar{}, err
		}
		i, err := strconv.ParseInt(s, 10, 64)
		return Scalar{Form: FormInt, Int: i}, err
	}
	f.Below = func(v Scalar) (Scalar, bool) {
		ok := v.Int > -1<<63
		v.Int--
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
	f := format{Order: 1, OrderLast: 1, Lossless: true, max: w + d + 2}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		return appendOrdered(dst, string(AppendText(nil, v)), w, d)
	}
	f.parse = func(text string) (Scalar, error) {
		s, err := parseOrdered(text, w, d)
		if err != nil {
			return Scalar{}, err
		}
		return parseDigits(s)
	}
	f.Below = func(v Scalar) (Scalar, bool) {
		text, err := dynamo.SubtractNumbers(string(AppendText(nil, v)), unit)
		return Scalar{Form: FormNumber, Text: text}, err == nil
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
	f := format{Lossless: true, max: len("false"), Few: 2}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		return strconv.AppendBool(dst, v.Bool), nil
	}
	f.parse = func(text string) (Scalar, error) {
		b, err := strconv.ParseBool(text)
		return Scalar{Form: FormBool, Bool: b}, err
	}
	return f
}

func hexFormat() format {
	f := format{OrderLast: 1, Lossless: true}
	f.Append = func(dst []byte, v Scalar, _ string) ([]byte, error) {
		return hex.AppendEncode(dst, []byte(v.Text)), nil
	}
	f.parse = func(text string) (Scalar, error) {
		b, err := hex.DecodeString(text)
		return Scalar{Form: formBytes, Text: string(b)}, err
	}
	return f
}

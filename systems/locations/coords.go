package locations

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// axis is what a coordinate measures.
type axis struct {
	name               string
	positive, negative byte // letters of the hemispheres
	limit              float64
}

var (
	latitude  = axis{"latitude", 'N', 'S', 90}
	longitude = axis{"longitude", 'E', 'W', 180}
)

// angle is a coordinate as it was written.
type angle struct {
	degrees float64
	letter  byte // of the hemisphere, 0 without one
}

// of returns the coordinate on an axis.
func (a angle) of(x axis) (float64, error) {
	switch {
	case a.letter != 0 && a.letter != x.positive && a.letter != x.negative:
		return 0, fmt.Errorf("has the letter %c, which no %s has", a.letter, x.name)
	case math.Abs(a.degrees) > x.limit:
		hint := ""
		if x == latitude && math.Abs(a.degrees) <= longitude.limit {
			hint = "; are latitude and longitude swapped?"
		}
		return 0, fmt.Errorf("is %s degrees, outside %v to %v%s", degrees(a.degrees), -x.limit,
			x.limit, hint)
	}
	return a.degrees, nil
}

// ParsePoint reads a point from two texts, in any form that people write coordinates in: decimal
// degrees with a point or a comma, degrees with minutes and seconds, and a letter of the hemisphere
// before or after in place of a sign.
func ParsePoint(lat, lng string) (Point, error) {
	a, err := parseAngle(lat)
	if err != nil {
		return Point{}, fmt.Errorf("the latitude %q %w", lat, err)
	}
	b, err := parseAngle(lng)
	if err != nil {
		return Point{}, fmt.Errorf("the longitude %q %w", lng, err)
	}
	var p Point
	if p.Lat, err = a.of(latitude); err != nil {
		return Point{}, fmt.Errorf("the latitude %q %w", lat, err)
	}
	if p.Lng, err = b.of(longitude); err != nil {
		return Point{}, fmt.Errorf("the longitude %q %w", lng, err)
	}
	return p, nil
}

// ParsePair reads a point from one text, such as "45.69, -87.51", "S41.28 E174.77",
// "geo:45.69,-87.51" or the address of a map that has "@45.69,-87.51" in it. Latitude comes first
// unless letters give another order.
func ParsePair(text string) (Point, error) {
	whole := text
	text = strings.TrimSpace(text)
	if _, after, ok := strings.Cut(text, "/@"); ok && strings.HasPrefix(text, "http") {
		parts := strings.Split(after, ",") // What follows the two is the zoom.
		text = strings.Join(parts[:min(2, len(parts))], ",")
	}
	text = strings.TrimPrefix(text, "geo:")
	text, _, _ = strings.Cut(text, "?")
	text = strings.Trim(text, "()[] ")
	for _, cut := range pairs(text) {
		first, second := cut[0], cut[1]
		if a, err := parseAngle(first); err == nil && (a.letter == 'E' || a.letter == 'W') {
			first, second = second, first
		}
		if _, err := parseAngle(first); err != nil {
			continue
		}
		if _, err := parseAngle(second); err != nil {
			continue
		}
		return ParsePoint(first, second)
	}
	return Point{}, fmt.Errorf("%q is no pair of coordinates such as 45.69, -87.51", whole)
}

// pairs returns the ways to cut a text into two coordinates, the likeliest first.
func pairs(text string) (cuts [][2]string) {
	add := func(i, width int) {
		cuts = append(cuts, [2]string{text[:i], text[i+width:]})
	}
	for _, separator := range []string{";", ", ", "|", "/"} {
		if strings.Count(text, separator) == 1 {
			add(strings.Index(text, separator), len(separator))
		}
	}
	// With several commas, such as "45,69,-87,51", the middle one separates.
	if n := strings.Count(text, ","); n%2 == 1 {
		at := -1
		for range n/2 + 1 {
			at += 1 + strings.IndexByte(text[at+1:], ',')
		}
		add(at, 1)
	}
	// A letter of the hemisphere ends the first coordinate, or begins the second.
	letters := 0
	for i := range len(text) {
		if strings.IndexByte("NSEWnsew", text[i]) >= 0 {
			letters++
			if i > 0 && letters == 1 {
				add(i+1, 0)
			}
			if i > 0 && letters == 2 {
				add(i, 0)
			}
		}
	}
	if fields := strings.Fields(text); len(fields)%2 == 0 && len(fields) > 0 {
		half := len(fields) / 2
		cuts = append(cuts, [2]string{strings.Join(fields[:half], " "),
			strings.Join(fields[half:], " ")})
	}
	return cuts
}

var (
	errNoCoordinate = errors.New("is no coordinate")
	errTwoSigns     = errors.New("has both a sign and a letter of the hemisphere")
)

// marks turns the signs that people write after degrees, minutes and seconds into blanks, and every
// minus sign into the plain one.
var marks = strings.NewReplacer(
	"°", " ", "º", " ", "˚", " ", "′", " ", "'", " ", "’", " ", "‘", " ", "´", " ", "`", " ",
	"″", " ", "\"", " ", "”", " ", "“", " ", ":", " ", "−", "-", "–", "-", "\u00a0", " ",
	"deg", " ", "d", " ", "m", " ",
)

// secondsMark is an s that marks seconds, behind minutes that an m marks: it is no south.
var secondsMark = regexp.MustCompile(`(m\s*[\d.,]+)\s*s\s*([NSEWnsew]?)$`)

// parseAngle reads one coordinate.
func parseAngle(text string) (a angle, err error) {
	text = secondsMark.ReplaceAllString(strings.TrimSpace(text), "$1 $2")
	text = strings.ToUpper(marks.Replace(text))
	text = strings.TrimSpace(text)
	if text == "" {
		return a, errNoCoordinate
	}
	// An S that ends seconds is the south only where nothing else can be: 41°17'20s S has both.
	if fields := strings.Fields(text); len(fields) > 1 && len(fields[len(fields)-1]) == 1 {
		if last := fields[len(fields)-2]; strings.HasSuffix(last, "S") {
			fields[len(fields)-2] = strings.TrimSuffix(last, "S")
			text = strings.Join(fields, " ")
		}
	}
	const letters = "NSEW"
	if i := strings.IndexByte(letters, text[0]); i >= 0 {
		a.letter, text = text[0], text[1:]
	}
	if n := len(text); n > 0 && strings.IndexByte(letters, text[n-1]) >= 0 {
		if a.letter != 0 {
			return a, errNoCoordinate
		}
		a.letter, text = text[n-1], text[:n-1]
	}
	text = strings.TrimSpace(text)
	negative := strings.HasPrefix(text, "-")
	if signed := strings.TrimLeft(text, "+-"); len(signed) < len(text) {
		if len(text)-len(signed) > 1 {
			return a, errNoCoordinate
		}
		if a.letter != 0 {
			return a, errTwoSigns
		}
		text = signed
	}
	if a.degrees, err = parseDegrees(strings.Fields(text)); err != nil {
		return a, err
	}
	if negative || a.letter == 'S' || a.letter == 'W' {
		a.degrees = -a.degrees
	}
	return a, nil
}

// parseDegrees reads degrees, minutes and seconds, of which the last may have a fraction.
func parseDegrees(parts []string) (sum float64, err error) {
	if len(parts) == 0 || len(parts) > 3 {
		return 0, errNoCoordinate
	}
	unit := 1.0
	for i, part := range parts {
		part = strings.Replace(part, ",", ".", 1)
		last := i == len(parts)-1
		if strings.Trim(part, "0123456789.") != "" || !last && strings.Contains(part, ".") {
			return 0, errNoCoordinate
		}
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || i > 0 && v >= 60 {
			return 0, errNoCoordinate
		}
		sum += v / unit
		unit *= 60
	}
	return sum, nil
}

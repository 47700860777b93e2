package when

import "time"

// Time is a time that a caller gave: an instant, or a day or local time that is an instant only in
// a zone. The zero Time is none; the zero [time.Time], if it was given, is one.
type Time struct {
	given, local bool
	// at is the instant. Of a local time it is the one at which clocks of UTC show it.
	at time.Time
}

// At returns the time of an instant.
func At(t time.Time) Time { return Time{given: true, at: t} }

// Parse reads an instant, a day or a local time. The error completes a sentence that begins with
// the name of the time.
func Parse(text string) (Time, error) {
	if len(text) == len(time.DateOnly) {
		day := scanner{text: text}
		w := day.date()
		day.end()
		return Time{given: day.err == nil, local: true, at: w.utc()}, day.err
	}
	local := scanner{text: text}
	w := local.wall(false)
	if local.end(); local.err == nil {
		return Time{given: true, local: true, at: w.utc()}, nil
	}
	t, err := Instant(text)
	return Time{given: err == nil, at: t}, err
}

// Given reports whether there is a time at all.
func (t Time) Given() bool { return t.given }

// Local reports whether the time needs a zone to be an instant.
func (t Time) Local() bool { return t.local }

// In returns the instant of the time. A local time is one of the zone.
func (t Time) In(zone *time.Location) time.Time {
	if !t.local {
		return t.at
	}
	return inZone(t.at, zone)
}

// Text returns the canonical form of the time: an instant in UTC and a local time without an
// offset, both without trailing zeros of the fraction.
func (t Time) Text() string {
	switch {
	case !t.given:
		return ""
	case t.local:
		return t.at.Format("2006-01-02T15:04:05.999999999")
	}
	return t.at.UTC().Format(time.RFC3339Nano)
}

// reach is further than any zone ever was from UTC.
const reach = 26 * time.Hour

// inZone returns the first instant at which clocks of the zone show what those of UTC show at wall,
// or else the first instant at which they show more.
func inZone(wall time.Time, zone *time.Location) time.Time {
	wall = wall.UTC()
	for t := wall.Add(-reach).In(zone); ; {
		_, ahead := t.Zone()
		starts, ends := t.ZoneBounds()
		found := wall.Add(-time.Duration(ahead) * time.Second)
		if !starts.IsZero() && found.Before(starts) {
			return starts.UTC() // The clocks were put forward over it.
		}
		if ends.IsZero() || found.Before(ends) {
			return found
		}
		t = ends
	}
}

package when

import (
	"errors"
	"fmt"
	"time"
)

// Instant reads a time in the form of RFC 3339, section 5.6, as it is described above. The error
// completes a sentence that begins with the name of the time.
func Instant(text string) (time.Time, error) {
	s := scanner{text: text}
	w := s.wall(true)
	offset := s.offset()
	s.end()
	if s.err != nil {
		return time.Time{}, s.err
	}
	t := w.utc().Add(-offset)
	if w.second == 60 {
		if !leapSecond(t.Add(-time.Second)) {
			return time.Time{}, errors.New("has the second 60, and no leap second can be then")
		}
		t = t.Truncate(time.Second)
	}
	if year := t.Year(); year < 0 || year > 9999 {
		return time.Time{}, errors.New("is not in the years 0000 to 9999 of UTC")
	}
	return t, nil
}

// leapSecond reports whether the second after t may be a leap second.
func leapSecond(t time.Time) bool {
	hour, minute, second := t.Clock()
	last := t.Month() == time.June && t.Day() == 30 || t.Month() == time.December && t.Day() == 31
	return last && hour == 23 && minute == 59 && second == 59
}

// wall is what calendar and clock on a wall show.
type wall struct {
	year, month, day, hour, minute, second, nanos int
}

// utc returns the instant at which clocks of UTC show w.
func (w wall) utc() time.Time {
	return time.Date(w.year, time.Month(w.month), w.day, w.hour, w.minute, w.second, w.nanos,
		time.UTC)
}

// scanner reads a text from its front. After the first error it reads nothing more.
type scanner struct {
	text string
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// number reads a number of so many digits that lies between two bounds.
func (s *scanner) number(what string, digits, least, most int) int {
	if s.err != nil {
		return 0
	}
	if len(s.text) < digits {
		s.fail("has no %s of %d digits", what, digits)
		return 0
	}
	n := 0
	for i := range digits {
		c := s.text[i]
		if c < '0' || c > '9' {
			s.fail("has no %s of %d digits", what, digits)
			return 0
		}
		n = 10*n + int(c-'0')
	}
	s.text = s.text[digits:]
	if n < least || n > most {
		s.fail("has the %s %0*d, which is not %0*d to %0*d", what, digits, n, digits, least, digits,
			most)
	}
	return n
}

// literal reads one character, or its other form.
func (s *scanner) literal(c, other byte, before string) {
	switch {
	case s.err != nil:
	case s.text == "" || s.text[0] != c && s.text[0] != other:
		s.fail("has no %q before the %s", c, before)
	default:
		s.text = s.text[1:]
	}
}

// next reports whether the text continues with a character, and reads it.
func (s *scanner) next(c byte) bool {
	if s.err != nil || s.text == "" || s.text[0] != c {
		return false
	}
	s.text = s.text[1:]
	return true
}

// date reads a day of the calendar.
func (s *scanner) date() wall {
	var w wall
	w.year = s.number("year", 4, 0, 9999)
	s.literal('-', '-', "month")
	w.month = s.number("month", 2, 1, 12)
	s.literal('-', '-', "day")
	w.day = s.number("day", 2, 1, 31)
	if s.err == nil && w.utc().Day() != w.day {
		s.fail("has the day %02d, which month %02d of %04d does not have", w.day, w.month, w.year)
	}
	return w
}

// wall reads a day and a time of it. Seconds may be absent from a local time.
func (s *scanner) wall(instant bool) wall {
	w := s.date()
	s.literal('T', 't', "hour")
	w.hour = s.number("hour", 2, 0, 23)
	s.literal(':', ':', "minute")
	w.minute = s.number("minute", 2, 0, 59)
	seconds := 59
	if instant {
		s.literal(':', ':', "second")
		seconds = 60
	} else if !s.next(':') {
		return w
	}
	w.second = s.number("second", 2, 0, seconds)
	if s.next('.') {
		w.nanos = s.fraction()
	}
	return w
}

// fraction reads the digits of a fraction of a second, and returns nanoseconds.
func (s *scanner) fraction() int {
	nanos, unit, digits := 0, 100_000_000, 0
	for s.text != "" && s.text[0] >= '0' && s.text[0] <= '9' {
		nanos += int(s.text[0]-'0') * unit
		unit /= 10
		s.text = s.text[1:]
		digits++
	}
	if digits == 0 {
		s.fail("has no digit after its point")
	}
	return nanos
}

// offset reads how far a local time is ahead of UTC.
func (s *scanner) offset() time.Duration {
	if s.err != nil || s.next('Z') || s.next('z') {
		return 0
	}
	sign := time.Duration(1)
	switch {
	case s.next('+'):
	case s.next('-'):
		sign = -1
	default:
		s.fail("has no offset from UTC at its end, such as Z or +13:00")
		return 0
	}
	hours := s.number("hour of the offset", 2, 0, 23)
	s.literal(':', ':', "minute of the offset")
	minutes := s.number("minute of the offset", 2, 0, 59)
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
}

// end refuses what is left of the text.
func (s *scanner) end() {
	if s.err == nil && s.text != "" {
		s.fail("continues with %.20q", s.text)
	}
}

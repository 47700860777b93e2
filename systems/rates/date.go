package rates

import "time"

// Date is a calendar day, written 2026-01-31. It has no zone: it is the day that the publisher of a
// rate gave it.
type Date string

// dateLayout is ISO 8601's form of a day.
const dateLayout = "2006-01-02"

// DateOf returns the day on which t falls in its own location.
func DateOf(t time.Time) Date { return Date(t.Format(dateLayout)) }

// start returns the day's beginning in UTC, and false when d is no day.
func (d Date) start() (time.Time, bool) {
	t, err := time.Parse(dateLayout, string(d))
	return t, err == nil
}

// Valid reports whether d is a day of the calendar.
func (d Date) Valid() bool {
	_, ok := d.start()
	return ok
}

// plus returns the day n days later.
func (d Date) plus(n int) Date {
	t, _ := d.start()
	return DateOf(t.AddDate(0, 0, n))
}

// daysTo counts the days from d to a later day.
func (d Date) daysTo(later Date) int {
	a, _ := d.start()
	b, _ := later.start()
	return int(b.Sub(a) / (24 * time.Hour))
}

// eastmost is the zone where a day begins first: a date that has not begun there is in the future
// everywhere.
const eastmost = 14 * time.Hour

// today returns the latest day that has begun anywhere on earth.
func today(now time.Time) Date { return DateOf(now.UTC().Add(eastmost)) }

package rates

import "time"

// The European Central Bank publishes about four o'clock in the afternoon of Frankfurt, by the
// clock on that day there, and now and then an hour or two later.
const (
	publicationHour = 16
	lateness        = 2 * time.Hour
)

// frankfurt returns an instant by the clock of Central Europe: an hour ahead of UTC, and two from
// the last Sunday of March to that of October, at one o'clock UTC. The rule is written out so that
// the answer does not hang on the zones that a machine happens to have.
func frankfurt(t time.Time) time.Time {
	t = t.UTC()
	summer := !t.Before(lastSunday(t.Year(), time.March)) &&
		t.Before(lastSunday(t.Year(), time.October))
	if summer {
		return t.In(time.FixedZone("CEST", 2*60*60))
	}
	return t.In(time.FixedZone("CET", 60*60))
}

// lastSunday returns one o'clock UTC of the last Sunday of a month.
func lastSunday(year int, month time.Month) time.Time {
	last := time.Date(year, month+1, 0, 1, 0, 0, 0, time.UTC)
	return last.AddDate(0, 0, -int(last.Weekday()))
}

// publicationOf returns the instant at which the rates of a day are published.
func publicationOf(day Date) time.Time {
	start, _ := day.start()
	// The clocks change at night, so that noon already has the hour of the afternoon.
	_, offset := frankfurt(start.Add(12 * time.Hour)).Zone()
	return start.Add(publicationHour*time.Hour - time.Duration(offset)*time.Second)
}

// Publishes reports whether the European Central Bank publishes rates on a day: every working day
// but the closing days of its payment system.
func Publishes(day Date) bool {
	t, ok := day.start()
	if !ok || t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
		return false
	}
	switch t.Format("01-02") {
	case "01-01", "05-01", "12-25", "12-26":
		return false
	}
	easter := easterSunday(t.Year())
	return !t.Equal(easter.AddDate(0, 0, -2)) && !t.Equal(easter.AddDate(0, 0, 1))
}

// easterSunday returns the day of Easter by the Gregorian reckoning, in the form that Meeus and
// Butcher gave it.
func easterSunday(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e, f := b/4, b%4, (b+8)/25
	g := (b - f + 1) / 3
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	month, day := (h+l-7*m+114)/31, (h+l-7*m+114)%31+1
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}

// NextPublication returns the first instant after t at which the European Central Bank publishes,
// and the day of those rates.
func NextPublication(t time.Time) (time.Time, Date) {
	day := DateOf(frankfurt(t))
	for !Publishes(day) || !publicationOf(day).After(t) {
		day = day.plus(1)
	}
	return publicationOf(day), day
}

// LastPublication returns the day of the newest rates that are published at t.
func LastPublication(t time.Time) Date {
	day := DateOf(frankfurt(t))
	for !Publishes(day) || publicationOf(day).After(t) {
		day = day.plus(-1)
	}
	return day
}

// freshUntil returns when the rates of a day stop being fresh: when the next are sure to be there.
func (d Date) freshUntil() time.Time {
	next, _ := NextPublication(publicationOf(d))
	return next.Add(lateness)
}

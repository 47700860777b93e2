package locations_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

func TestOpen(t *testing.T) {
	bar := &locations.Hours{
		Weekly: []locations.Period{
			{Day: "friday", Open: "18:00", Close: "02:00"},
			{Day: "saturday", Open: "09:00", Close: "12:00"},
			{Day: "saturday", Open: "13:00", Close: "24:00"},
			{Day: "sunday", Open: "00:00", Close: "24:00"},
		},
		Special: []locations.SpecialDay{
			{Date: "2026-12-25"}, // A Friday
			{Date: "2026-12-28", Periods: []locations.Period{{Open: "10:00", Close: "11:00"}}},
		},
	}
	for _, c := range []struct {
		why, at, zone string
		hours         *locations.Hours
		open, known   bool
	}{
		{"before it opens", "2026-06-05T17:59:59+12:00", "Pacific/Auckland", bar, false, true},
		{"as it opens", "2026-06-05T18:00:00+12:00", "Pacific/Auckland", bar, true, true},
		{"past midnight", "2026-06-06T01:00:00+12:00", "Pacific/Auckland", bar, true, true},
		{"the same instant, in UTC", "2026-06-05T13:00:00Z", "Pacific/Auckland", bar, true, true},
		{"as it closes", "2026-06-06T02:00:00+12:00", "Pacific/Auckland", bar, false, true},
		{"by another clock", "2026-06-05T13:00:00Z", "Europe/London", bar, false, true},
		{"between two periods", "2026-06-06T12:30:00+12:00", "Pacific/Auckland", bar, false, true},
		{"in the second period", "2026-06-06T23:59:59+12:00", "Pacific/Auckland", bar, true, true},
		{"all day", "2026-06-07T04:00:00+12:00", "Pacific/Auckland", bar, true, true},
		{"a day without periods", "2026-06-08T12:00:00+12:00", "Pacific/Auckland", bar, false,
			true},
		{"a holiday", "2026-12-25T20:00:00+13:00", "Pacific/Auckland", bar, false, true},
		{"the night after a holiday", "2026-12-26T01:00:00+13:00", "Pacific/Auckland", bar, false,
			true},
		{"a day that differs", "2026-12-28T10:30:00+13:00", "Pacific/Auckland", bar, true, true},
		// Clocks in Auckland went from 2 to 3 in the night of Sunday, 27 September 2026.
		{"the night of a change", "2026-09-26T13:59:00Z", "Pacific/Auckland", bar, true, true},
		{"the hour after it", "2026-09-26T14:30:00Z", "Pacific/Auckland", bar, true, true},
		{"no hours", "2026-06-05T18:00:00Z", "Pacific/Auckland", nil, false, false},
		{"no zone", "2026-06-05T18:00:00Z", "", bar, false, false},
		{"hours that make no sense", "2026-06-05T18:00:00Z", "UTC", &locations.Hours{
			Weekly: []locations.Period{{Day: "friday", Open: "six", Close: "late"}}}, false, false},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		d := locations.Details{TimeZone: c.zone, Hours: c.hours}
		if open, known := d.Open(at); open != c.open || known != c.known {
			t.Errorf("%s: open %t, known %t", c.why, open, known)
		}
	}
}

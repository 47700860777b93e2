package when_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // The zones of these tests, wherever they run.

	"github.com/exchequer-dev/exchequer/when"
)

// TestInstant has a line for each rule of the grammar of RFC 3339: the text, and the same instant
// in UTC, or "" where the text is refused.
func TestInstant(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-29T09:00:00Z":                "2026-12-29T09:00:00Z",
		"2026-12-29t09:00:00z":                "2026-12-29T09:00:00Z",
		"2026-12-29T09:00:00+00:00":           "2026-12-29T09:00:00Z",
		"2026-12-29T09:00:00-00:00":           "2026-12-29T09:00:00Z",
		"2026-12-29T09:00:00+13:45":           "2026-12-28T19:15:00Z",
		"2026-12-29T09:00:00+23:59":           "2026-12-28T09:01:00Z",
		"2026-12-29T09:00:00-23:59":           "2026-12-30T08:59:00Z",
		"2026-12-29T09:00:00.5Z":              "2026-12-29T09:00:00.5Z",
		"2026-12-29T09:00:00.000000001Z":      "2026-12-29T09:00:00.000000001Z",
		"2026-12-29T09:00:00.1234567899999Z":  "2026-12-29T09:00:00.123456789Z",
		"0001-01-01T00:00:00Z":                "0001-01-01T00:00:00Z",
		"0000-01-01T00:00:00Z":                "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999Z":            "9999-12-31T23:59:59.999Z",
		"2024-02-29T00:00:00Z":                "2024-02-29T00:00:00Z",
		"2000-02-29T23:59:59Z":                "2000-02-29T23:59:59Z",
		"2016-12-31T23:59:60Z":                "2017-01-01T00:00:00Z",
		"2016-12-31T23:59:60.75Z":             "2017-01-01T00:00:00Z",
		"2015-06-30T23:59:60Z":                "2015-07-01T00:00:00Z",
		"1990-12-31T15:59:60-08:00":           "1991-01-01T00:00:00Z",
		"2017-01-01T12:59:60+13:00":           "2017-01-01T00:00:00Z",
		"2026-12-29T23:59:60Z":                "", // No leap second can be then.
		"2026-12-31T22:59:60Z":                "",
		"2026-12-31T23:58:60Z":                "",
		"2026-12-31T23:59:61Z":                "",
		"2026-12-31T23:59:60+01:00":           "",
		"2026-12-29T09:00:00+24:00":           "",
		"2026-12-29T09:00:00-24:00":           "",
		"2026-12-29T09:00:00+99:00":           "",
		"2026-12-29T09:00:00+12:60":           "",
		"2026-12-29T09:00:00+1:00":            "",
		"2026-12-29T09:00:00+0100":            "",
		"2026-12-29T09:00:00+01":              "",
		"2026-12-29T09:00:00\u221201:00":      "", // A minus sign that is not ASCII.
		"2026-12-29T09:00:00 01:00":           "", // A query lost the plus sign.
		"2026-12-29T09:00:00":                 "",
		"2026-12-29T09:00Z":                   "",
		"2026-12-29T09Z":                      "",
		"2026-12-29":                          "",
		"2026-12-29T24:00:00Z":                "",
		"2026-12-29T9:00:00Z":                 "",
		"2026-12-29T09:60:00Z":                "",
		"2026-12-29T09:0:00Z":                 "",
		"2026-12-29T09:00:0Z":                 "",
		"2026-12-29T09:00:00,5Z":              "",
		"2026-12-29T09:00:00.Z":               "",
		"2026-12-29T09:00:00.5":               "",
		"2026-12-29 09:00:00Z":                "",
		"2026-12-29_09:00:00Z":                "",
		"2026-1-29T09:00:00Z":                 "",
		"2026-12-9T09:00:00Z":                 "",
		"26-12-29T09:00:00Z":                  "",
		"12026-12-29T09:00:00Z":               "",
		"+2026-12-29T09:00:00Z":               "",
		"-2026-12-29T09:00:00Z":               "",
		"20261229T090000Z":                    "",
		"2026-W53-2T09:00:00Z":                "",
		"2026-363T09:00:00Z":                  "",
		"2026/12/29T09:00:00Z":                "",
		"2026-00-29T09:00:00Z":                "",
		"2026-13-29T09:00:00Z":                "",
		"2026-12-00T09:00:00Z":                "",
		"2026-12-32T09:00:00Z":                "",
		"2026-02-29T09:00:00Z":                "",
		"1900-02-29T09:00:00Z":                "",
		"2026-04-31T09:00:00Z":                "",
		"2026-12-29T09:00:00ZZ":               "",
		"2026-12-29T09:00:00Z ":               "",
		" 2026-12-29T09:00:00Z":               "",
		"2026-12-29T09:00:00Z\n":              "",
		"2026-12-29T09:00:00[Europe/Berlin]":  "",
		"2026-12-29T09:00:00Z[Europe/Berlin]": "",
		"2026-12-29T09:00:00 UTC":             "",
		"2026-12-29T09:00:00\uff3a":           "",
		"\u0662026-12-29T09:00:00Z":           "",
		"0000-01-01T00:00:00+00:01":           "", // The year before 0000.
		"9999-12-31T23:59:59-00:01":           "", // The year after 9999.
		"9999-12-31T23:59:60Z":                "",
		"":                                    "",
		"now":                                 "",
		"1798534800":                          "",
	} {
		got, err := when.Instant(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was read as %s and must be refused", text, got.Format(time.RFC3339Nano))
		case want != "" && err != nil:
			t.Errorf("%q was refused: it %v", text, err)
		case want != "" && got.Format(time.RFC3339Nano) != want:
			t.Errorf("%q was read as %s, not as %s", text, got.Format(time.RFC3339Nano), want)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%q was refused without a reason", text)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, zone, want string }{
		{"2027-10-01", "America/Los_Angeles", "2027-10-01T07:00:00Z"},
		{"2027-10-01", "Pacific/Auckland", "2027-09-30T11:00:00Z"},
		{"2027-10-01", "UTC", "2027-10-01T00:00:00Z"},
		{"2027-10-01T09:00", "America/Los_Angeles", "2027-10-01T16:00:00Z"},
		{"2027-10-01t09:00", "America/Los_Angeles", "2027-10-01T16:00:00Z"},
		{"2027-10-01T09:00:30", "Asia/Kathmandu", "2027-10-01T03:15:30Z"},
		{"2027-10-01T09:00:30.25", "Asia/Kathmandu", "2027-10-01T03:15:30.25Z"},
		{"2027-10-01T09:00:00Z", "America/Los_Angeles", "2027-10-01T09:00:00Z"},
		{"2027-10-01T09:00:00+02:00", "America/Los_Angeles", "2027-10-01T07:00:00Z"},
		// The clocks are put forward from 02:00 to 03:00, and back from 03:00 to 02:00.
		{"2027-03-28T01:59:59", "Europe/Berlin", "2027-03-28T00:59:59Z"},
		{"2027-03-28T02:00", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		{"2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		{"2027-03-28T02:59:59.999", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		{"2027-03-28T03:00", "Europe/Berlin", "2027-03-28T01:00:00Z"},
		{"2027-10-31T02:00", "Europe/Berlin", "2027-10-31T00:00:00Z"},
		{"2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"},
		{"2027-10-31T03:00", "Europe/Berlin", "2027-10-31T02:00:00Z"},
		// A day whose midnight does not exist, one with two midnights, and one that does not exist.
		{"2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"},
		{"2018-11-04T00:30", "America/Sao_Paulo", "2018-11-04T03:00:00Z"},
		{"2027-11-07", "America/Havana", "2027-11-07T04:00:00Z"},
		{"2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"2011-12-30T15:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"0001-01-01", "UTC", "0001-01-01T00:00:00Z"},
		{"2027-02-29", "UTC", ""}, {"2027-10-01T24:00", "UTC", ""},
		{"2027-10-01T23:59:60", "UTC", ""},
		{"2027-10-01T9:00", "UTC", ""}, {"2027-10-01 09:00", "UTC", ""},
		{"2027-10-01T09", "UTC", ""},
		{"2027-10-01T09:00+24:00", "UTC", ""}, {"2027-10-01T09:00Z", "UTC", ""},
		{"2027-10", "UTC", ""},
		{"27-10-01", "UTC", ""}, {"2027-10-1", "UTC", ""}, {"2027/10/01", "UTC", ""},
		{"", "UTC", ""},
		{"2027-10-01T09:00,5", "UTC", ""}, {"2027-10-01T09:00.5", "UTC", ""}, {"36h", "UTC", ""},
		{"2027-10-01T09:00:00+24:00", "UTC", ""}, {"2027-10-01\n", "UTC", ""},
		{"2027-10-0x", "UTC", ""},
	} {
		zone := load(t, c.zone)
		got, err := when.Parse(c.text)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%q was read as %s and must be refused", c.text, got.Text())
		case c.want == "" && got.Given():
			t.Errorf("%q was refused, and there is a time", c.text)
		case c.want != "" && err != nil:
			t.Errorf("%q was refused: it %v", c.text, err)
		case c.want != "" && got.In(zone).Format(time.RFC3339Nano) != c.want:
			t.Errorf("%q in %s: %s, not %s", c.text, c.zone, got.In(zone).Format(time.RFC3339Nano),
				c.want)
		case c.want != "" && !got.Given():
			t.Errorf("%q was read as no time", c.text)
		}
	}
	if (when.Time{}).Given() || (when.Time{}).Text() != "" {
		t.Error("the zero Time is a time")
	}
	if first := when.At(time.Time{}); !first.Given() || first.Text() != "0001-01-01T00:00:00Z" {
		t.Errorf("the first instant of the year 1 was given and is %q", first.Text())
	}
}

// TestLocalTimesKeepTheirOrder walks through the days around each change of the clocks, minute by
// minute, in zones east and west: a local time that exists is shown by the zone's clocks at the
// instant found and at no earlier one, and a later local time is never an earlier instant.
func TestLocalTimesKeepTheirOrder(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland", "Asia/Kathmandu",
		"America/St_Johns", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia",
		"Pacific/Kwajalein", "America/Havana", "Africa/Casablanca", "Antarctica/Troll",
	} {
		zone := load(t, name)
		changes := 0
		at := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).In(zone)
		for {
			_, next := at.ZoneBounds()
			if next.IsZero() || next.Year() > 2030 {
				break
			}
			at = next
			if changes++; changes%7 != 0 && next.Year() != 2011 && next.Year() != 1993 {
				continue
			}
			checkOrder(t, zone, next)
		}
		if name != "UTC" && name != "Asia/Kathmandu" && changes == 0 {
			t.Errorf("%s changed its clocks %d times", name, changes)
		}
	}
}

func checkOrder(t *testing.T, zone *time.Location, change time.Time) {
	t.Helper()
	// What the clocks show at each minute, and when they show it first.
	first := make(map[string]time.Time)
	begin := change.Add(-40 * time.Hour)
	for at := begin; at.Before(change.Add(40 * time.Hour)); at = at.Add(time.Minute) {
		shown := at.In(zone).Format("2006-01-02T15:04")
		if _, seen := first[shown]; !seen {
			first[shown] = at
		}
	}
	var last time.Time
	_, ahead := change.Add(-time.Second).In(zone).Zone()
	wall := change.UTC().Add(time.Duration(ahead)*time.Second - 3*time.Hour).Truncate(time.Minute)
	for n := range 6*60 + 24*60*btoi(zone.String() == "Pacific/Apia") {
		text := wall.Add(time.Duration(n) * time.Minute).Format("2006-01-02T15:04")
		given, err := when.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := given.In(zone)
		if want, exists := first[text]; exists && !got.Equal(want) {
			t.Fatalf("%s in %s is %s, not %s", text, zone, got, want)
		} else if !exists && !got.Equal(change) {
			t.Fatalf("%s does not exist in %s, and is %s, not %s", text, zone, got, change)
		}
		if got.Before(last) {
			t.Fatalf("%s in %s is %s, before the minute before it", text, zone, got)
		}
		last = got
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// FuzzParse compares with the parser of the standard library: what is accepted here is accepted
// there, but for leap seconds, and is the same instant; and the text that a time is written as is
// read as the same time.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"2026-12-29T09:00:00+24:00", "2016-12-31t23:59:60.5z", "2027-10-01", "2027-10-01T09:00",
		"2027-10-01T09:00:00.123-07:00", "2026-12-29T9:00:00,5Z", "0000-01-01T00:00:00+23:59",
	} {
		f.Add(text)
	}
	zone := time.FixedZone("somewhere", -9*3600-1800)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := when.Parse(text)
		if err != nil {
			if got.Given() {
				t.Errorf("%q was refused, and there is a time", text)
			}
			return
		}
		again, err := when.Parse(got.Text())
		if err != nil || again.In(zone) != got.In(zone) || again.Local() != got.Local() {
			t.Errorf("%q is written %q and read as %v: %v", text, got.Text(), again.In(zone), err)
		}
		if got.Local() {
			return
		}
		upper := strings.ToUpper(text)
		if text[17:19] == "60" {
			upper = fmt.Sprint(upper[:17], "59", upper[19:])
		}
		want, err := time.Parse(time.RFC3339Nano, upper)
		if err != nil {
			t.Errorf("%q was read as %s, and the standard library says %v", text, got.Text(), err)
		}
		if text[17:19] == "60" {
			want = want.Truncate(time.Second).Add(time.Second)
		}
		if !want.Equal(got.In(zone)) {
			t.Errorf("%q was read as %s, not as %s", text, got.Text(), want)
		}
	})
}

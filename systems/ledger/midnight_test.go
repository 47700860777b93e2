package ledger_test

import (
	"testing"
	"time"
	_ "time/tzdata" // The zones of this test, wherever it runs.

	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func TestMidnight(t *testing.T) {
	for _, c := range []struct{ name, zone, day, want string }{
		{"any day", "Pacific/Auckland", "2026-01-31", "2026-01-30T11:00:00Z"},
		{"clocks forward over midnight", "America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"},
		{"the day before", "America/Santiago", "2026-09-05", "2026-09-05T04:00:00Z"},
		{"the day after", "America/Santiago", "2026-09-07", "2026-09-07T03:00:00Z"},
		{"another", "America/Havana", "2026-03-08", "2026-03-08T05:00:00Z"},
		{"east of Greenwich", "Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z"},
		{"clocks back at midnight", "Asia/Beirut", "2025-10-26", "2025-10-25T22:00:00Z"},
		{"clocks back to midnight", "America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},
		{"a day that never was", "Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},
		{"the one after that", "Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},
		{"beyond the month", "UTC", "2026-02-28", "2026-02-28T00:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		got := ledger.Midnight(day.Year(), day.Month(), day.Day(), zone).UTC()
		if got.Format(time.RFC3339) != c.want {
			t.Errorf("%s, %s in %s: %s, want %s", c.name, c.day, c.zone, got, c.want)
		}
	}
}

// Every instant is in one day, whatever the clocks do: days follow each other without a gap.
func TestDaysLeaveNothingOut(t *testing.T) {
	for _, name := range []string{
		"America/Santiago", "America/Havana", "Asia/Beirut", "Pacific/Apia", "Pacific/Auckland",
		"Asia/Tehran", "America/Sao_Paulo", "Africa/Cairo", "Atlantic/Azores", "Asia/Amman",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		before := ledger.Midnight(2010, 1, 1, zone)
		for day := 2; day < 366*17; day++ {
			begins := ledger.Midnight(2010, 1, day, zone)
			last := begins.Add(-time.Millisecond).In(zone)
			want := time.Date(2010, 1, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			if begins.Before(before) || last.Format(time.DateOnly) >= want ||
				begins.In(zone).Format(time.DateOnly) < want {
				t.Fatalf("%s: the day %s begins at %s", name, want, begins.In(zone))
			}
			before = begins
		}
	}
}

func TestStatementsReachToTheEndsOfTime(t *testing.T) {
	for _, zone := range []string{"UTC", "Pacific/Auckland", "America/Havana"} {
		b := openBooks(t, ledger.Options{})
		b.account("alice", nzd("0"))
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		there, err := ledger.New(b.store, ledger.Options{Now: b.clock.Now, Zone: location})
		if err != nil {
			t.Fatal(err)
		}
		_, err = there.Statement(t.Context(), ledger.StatementQuery{
			AccountID: "alice", From: "0000-01-01", To: "9999-12-31",
		})
		if err != nil {
			t.Errorf("in %s: %v", zone, err)
		}
	}
}

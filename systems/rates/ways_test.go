package rates_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/systems/rates"
)

// dayOf is day with another base, as another source publishes it.
func dayOf(base, date, prices string) rates.Day {
	d := day(date, prices)
	d.Base, d.Source = pairOf(base+"/"+base).Base, "other"
	return d
}

// A day may have several ways from one currency to another, of which each has rates of other days.
func TestTheRateOfADateIsTheNewestOfAllWays(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-26T12:00:00Z")
	b.load(day("2026-11-10", "GBP 0.88, JPY 180, CAD 1.6, AUD 1.8"),
		dayOf("USD", "2026-11-24", "GBP 0.75, JPY 155"),
		dayOf("USD", "2026-11-12", "EUR 0.86, CHF 0.8"),
		day("2026-11-22", "USD 1.17"),
		dayOf("CAD", "2026-11-20", "AUD 1.1"),
		day("2026-11-20", "CAD 1.61"),
		// What lies too far apart to be combined is no better than what is older.
		dayOf("SEK", "2026-11-10", "NOK 1.05"), day("2026-11-12", "SEK 11"),
		day("2026-11-24", "NOK 11.5"))
	for _, c := range []struct{ pair, on, want string }{
		{"JPY/GBP", "2026-11-24", "2026-11-24 via [USD]"},
		{"JPY/GBP", "2026-11-26", "2026-11-24 via [USD]"},
		{"JPY/GBP", "2026-11-23", "2026-11-10 via [EUR]"},
		{"USD/EUR", "2026-11-22", "2026-11-22 via []"}, // Its inverse is newer.
		{"USD/EUR", "2026-11-21", "2026-11-12 via []"},
		{"EUR/USD", "2026-11-22", "2026-11-22 via []"},
		{"CAD/AUD", "2026-11-19", "2026-11-10 via [EUR]"},
		{"CAD/AUD", "2026-11-20", "2026-11-20 via []"},
		{"SEK/NOK", "2026-11-24", "2026-11-10 via []"},
	} {
		q := b.quoteOn(c.pair, c.on)
		if got := fmt.Sprintf("%s via %s", q.Date, q.Via); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.pair, c.on, got, c.want)
		}
	}
}

// A range has all days that any way has a rate of, whatever else is stored.
func TestARangeHasTheDaysOfAllWays(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-26T12:00:00Z")
	b.load(day("2026-11-10", "USD 1.16, GBP 0.88"), day("2026-11-11", "USD 1.17, GBP 0.88"),
		day("2026-11-12", "USD 1.18, GBP 0.88"), dayOf("USD", "2026-11-11", "GBP 0.75, EUR 0.85"),
		dayOf("USD", "2026-11-13", "GBP 0.76"))
	for _, c := range []struct {
		pair string
		want []string
	}{
		{"USD/GBP", []string{"2026-11-10 0.758620689655", "2026-11-11 0.75",
			"2026-11-12 0.745762711864", "2026-11-13 0.76"}},
		{"GBP/USD", []string{"2026-11-10 1.31818181818", "2026-11-11 1.33333333333",
			"2026-11-12 1.34090909091", "2026-11-13 1.31578947368"}},
		{"USD/EUR", []string{"2026-11-10 0.862068965517", "2026-11-11 0.85",
			"2026-11-12 0.847457627119"}},
	} {
		var got []string
		for _, q := range must[[]rates.Quote](t)(b.Range(t.Context(), ask(c.pair), "2026-11-10",
			"2026-11-14")) {
			got = append(got, fmt.Sprintf("%s %s", q.Date, q.Rate))
			if on := b.quoteOn(c.pair, string(q.Date)); on.Ratio != q.Ratio {
				t.Errorf("%s on %s by itself is %s", c.pair, q.Date, on.Rate)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.pair, diff)
		}
	}
}

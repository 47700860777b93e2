package rates_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/rates/feed"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func (b *board) load(days ...rates.Day) rates.Loaded {
	b.t.Helper()
	return must[rates.Loaded](b.t)(b.Load(b.t.Context(), days, rates.LoadOptions{}))
}

func TestTheRateOfADateHasItsOwnDate(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	b.load(day("2021-06-11", "USD 1.2125"), day("2021-04-30", "USD 1.2082"),
		day("2021-04-01", "USD 1.1746"), day("2021-06-14", "USD 1.2112"))
	for _, c := range []struct{ on, want, rate string }{
		{"2021-06-11", "2021-06-11", "1.2125"},
		{"2021-06-12", "2021-06-11", "1.2125"}, // A Saturday.
		{"2021-06-13", "2021-06-11", "1.2125"},
		{"2021-06-14", "2021-06-14", "1.2112"},
		{"2021-05-01", "2021-04-30", "1.2082"},
		{"2021-04-02", "2021-04-01", "1.1746"}, // Good Friday.
		{"2021-04-05", "2021-04-01", "1.1746"}, // Easter Monday.
		{"2021-05-14", "2021-04-30", "1.2082"}, // The last day that looks back far enough.
	} {
		for _, pair := range []string{"EUR/USD", "USD/EUR"} {
			q := b.quoteOn(pair, c.on)
			if string(q.Date) != c.want || string(q.On) != c.on ||
				q.Legs[0].Rate != decimal(c.rate) {
				t.Errorf("%s on %s: %s of %s", pair, c.on, q.Legs[0].Rate, q.Date)
			}
		}
	}
	a := ask("EUR/USD")
	a.On = "2021-05-15"
	_, err := b.Quote(t.Context(), a)
	wants(t, err, rates.ErrNotFound, "last", "2021-04-30", "days", "14", "date", "2021-05-15")
	a.On = "2020-01-01"
	_, err = b.Quote(t.Context(), a)
	wants(t, err, rates.ErrNotFound, "last", "")
}

func TestTheRateOfADateTakesOneCall(t *testing.T) {
	b := open(t, rates.Options{})
	b.load(day("2023-12-29", "USD 1.105"))
	b.made()
	b.quoteOn("EUR/USD", "2023-12-31")
	// The pair and its inverse are asked for side by side.
	if calls := b.made(); !storetest.Strict() && !slices.Equal(calls, []string{"Query", "Query"}) {
		t.Errorf("%v", calls)
	}
}

func TestTheFutureHasNoRate(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	b.load(day("2026-10-30", "USD 1.2"))
	a := ask("EUR/USD")
	a.On = "2057-12-13"
	_, err := b.Quote(t.Context(), a)
	wants(t, err, rates.ErrFutureDate)
	if problem.KindOf(err) != problem.Invalid {
		t.Errorf("%v is no 400", err)
	}
	// On a day that has begun in the east of the world there is one already.
	if q := b.quoteOn("EUR/USD", "2026-11-02"); q.Date != "2026-10-30" {
		t.Errorf("%+v", q)
	}
	a.On = "2026-11-03"
	_, err = b.Quote(t.Context(), a)
	wants(t, err, rates.ErrFutureDate)
	_, err = b.Load(t.Context(), []rates.Day{day("2026-11-03", "USD 1.2")}, rates.LoadOptions{})
	wants(t, err, rates.ErrFutureDate)
}

func TestRetiredCurrenciesStayConvertible(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	b.load(day("2022-12-29", "HRK 7.5365, USD 1.0649"), day("2022-12-30", "HRK 7.5365, USD 1.0666"),
		day("2025-12-31", "BGN 1.9558, USD 1.175"), day("2026-01-02", "USD 1.1721"),
		day("2026-10-30", "USD 1.2"))
	for _, c := range []struct{ pair, on, rate, date string }{
		{"EUR/HRK", "2022-12-29", "7.5365", "2022-12-29"},
		{"EUR/HRK", "2022-12-31", "7.5365", "2022-12-30"}, // The last day of the kuna, a Saturday.
		{"EUR/HRK", "2023-01-01", "7.5345", ""},
		{"EUR/HRK", "2023-06-15", "7.5345", ""},
		{"EUR/BGN", "2025-12-31", "1.9558", "2025-12-31"},
		{"EUR/BGN", "2026-01-01", "1.95583", ""},
		{"EUR/BGN", "", "1.95583", ""},
		{"BGN/HRK", "2026-01-02", "3.85232867887", ""},
		{"USD/BGN", "2026-01-02", "1.66865455166", "2026-01-02"},
	} {
		a := ask(c.pair)
		a.On = rates.Date(c.on)
		q := must[rates.Quote](t)(b.Quote(t.Context(), a))
		if q.Rate.String() != c.rate || string(q.Date) != c.date {
			t.Errorf("%s on %s: %s of %q, want %s of %q", c.pair, c.on, q.Rate, q.Date, c.rate,
				c.date)
		}
	}
	if q := b.quoteOn("EUR/HRK", "2023-06-15"); q.Source != rates.SourceFixed || q.Derived {
		t.Errorf("%+v", q)
	}
}

// The new lira had its first rate on the third day of its life.
func TestANewCurrencyLivesOnTheRatesOfItsPredecessor(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	b.load(day("2004-12-31", "TRL 1836200"), day("2005-01-03", "TRY 1.829"))
	for on, want := range map[string]string{
		"2004-12-31": "1836200", "2005-01-02": "1836200", "2005-01-03": "1829000",
	} {
		if q := b.quoteOn("EUR/TRL", on); q.Rate.String() != want {
			t.Errorf("on %s: %s, want %s", on, q.Rate, want)
		}
	}
}

func TestAllFixedRatesAreRead(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	for _, code := range []string{
		"ATS", "BEF", "BGN", "CYP", "DEM", "EEK", "ESP", "FIM", "FRF", "GRD", "HRK", "IEP", "ITL",
		"LTL", "LUF", "LVL", "MTL", "NLG", "PTE", "SIT", "SKK",
	} {
		q := b.quote("EUR/" + code)
		if len(q.Rate.String()) < 5 || !q.Legs[0].Fixed {
			t.Errorf("%s: %+v", code, q)
		}
		if !money.Currency(code).Retired() {
			t.Errorf("%s has no amounts", code)
		}
	}
}

func TestRangesBeginWithTheRateOfTheirFirstDay(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	b.load(day("2026-04-10", "USD 1.1711, JPY 186.43"), day("2026-04-13", "USD 1.1684, JPY 186.75"),
		day("2026-04-14", "USD 1.17"), day("2026-04-15", "USD 1.16, JPY 187"))
	points := func(pair, from, to string) []string {
		t.Helper()
		quotes := must[[]rates.Quote](t)(b.Range(t.Context(), ask(pair), rates.Date(from),
			rates.Date(to)))
		var got []string
		for _, q := range quotes {
			got = append(got, fmt.Sprintf("%s %s", q.Date, q.Rate))
		}
		return got
	}
	for _, c := range []struct {
		pair, from, to string
		want           []string
	}{
		{"EUR/USD", "2026-04-11", "2026-04-14", // From a Saturday on.
			[]string{"2026-04-10 1.1711", "2026-04-13 1.1684", "2026-04-14 1.17"}},
		{"EUR/USD", "2026-04-13", "2026-04-13", []string{"2026-04-13 1.1684"}},
		{"EUR/USD", "2026-04-01", "2026-04-12", []string{"2026-04-10 1.1711"}},
		{"USD/EUR", "2026-04-14", "2026-04-14", []string{"2026-04-14 0.854700854701"}},
		// The day on which one of two legs has no rate is left out.
		{"USD/JPY", "2026-04-13", "2026-04-30",
			[]string{"2026-04-13 159.833960972", "2026-04-15 161.206896552"}},
		{"EUR/EUR", "2026-04-13", "2026-04-30", []string{" 1"}},
		{"HRK/EUR", "2026-04-13", "2026-04-30", []string{" 0.132722808415"}},
	} {
		if diff := cmp.Diff(c.want, points(c.pair, c.from, c.to)); diff != "" {
			t.Errorf("%s from %s to %s: %s", c.pair, c.from, c.to, diff)
		}
	}
	_, err := b.Range(t.Context(), ask("EUR/USD"), "2020-01-01", "2020-02-01")
	wants(t, err, rates.ErrNotFound)
	_, err = b.Range(t.Context(), ask("EUR/USD"), "2020-02-01", "2020-01-01")
	wants(t, err, rates.ErrInvalid)
	_, err = b.Range(t.Context(), ask("EUR/USD"), "1920-02-01", "2020-01-01")
	wants(t, err, rates.ErrTooManyDays)
	_, err = b.Range(t.Context(), ask("EUR/USD"), "2030-02-01", "2031-01-01")
	wants(t, err, rates.ErrFutureDate)
}

func TestARangeCrossesTheEndOfACurrency(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	b.load(day("2022-12-30", "HRK 7.5365, USD 1.0666"), day("2023-01-02", "USD 1.0683"))
	var got []string
	for _, q := range must[[]rates.Quote](t)(b.Range(t.Context(), ask("USD/HRK"), "2022-12-30",
		"2023-01-05")) {
		got = append(got, fmt.Sprintf("%s %s %s", q.On, q.Date, q.Rate))
	}
	want := []string{
		"2022-12-30 2022-12-30 7.0659103694",
		"2023-01-02 2023-01-02 7.05279415894",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadingAgainChangesNothing(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-04-13T15:00:00Z")
	days := []rates.Day{day("2026-04-13", "USD 1.1684"), day("2026-04-10", "USD 1.1711, JPY 186")}
	first := b.load(days...)
	want := rates.Loaded{Days: 2, Rates: 3, First: "2026-04-10", Last: "2026-04-13", Current: 1}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, b.load(days...)); diff != "" {
		t.Error(diff)
	}
	// An older file leaves the rates of now alone.
	older := b.load(day("2026-04-10", "USD 1.1711"))
	if older.Current != 0 || older.Kept != 1 {
		t.Errorf("%+v", older)
	}
	b.at("2026-08-01T00:00:00Z")
	if old := b.load(day("2026-04-10", "USD 1.1711")); !old.TooOld || old.Current != 0 {
		t.Errorf("%+v", old)
	}
	r := must[rates.Rate](t)(b.Save(t.Context(), b.rate("EUR/USD", "1.2"), dayLong))
	if r.Value != decimal("1.2") {
		t.Errorf("%+v", r)
	}
}

func TestLoadRefusesSingleRates(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-04-14T15:00:00Z")
	b.load(day("2026-04-10", "USD 1.1711"))
	report := b.load(day("2026-04-13", "USD 11.684, JPY 186.75, XBT 0.00001, EUR 1, GBP 0"),
		day("2026-04-14", "USD 1.17, JPY 0.005"))
	got := map[string]*problem.Definition{}
	for _, r := range report.Refused {
		for _, d := range []*problem.Definition{
			rates.ErrJump, rates.ErrUnknownCode, rates.ErrNotPositive,
		} {
			if problem.From(r.Err).Is(d) {
				got[string(r.Date)+" "+r.Pair.String()] = d
			}
		}
	}
	want := map[string]*problem.Definition{
		"2026-04-13 EUR/USD": rates.ErrJump, "2026-04-13 EUR/XBT": rates.ErrUnknownCode,
		"2026-04-13 EUR/GBP": rates.ErrNotPositive, "2026-04-14 EUR/JPY": rates.ErrJump,
	}
	for name, d := range want {
		if got[name] != d {
			t.Errorf("%s: %v", name, got[name])
		}
	}
	if len(got) != len(want) || report.RefusedCount != 4 || report.Rates != 2 ||
		report.Current != 1 {
		t.Errorf("%+v", report)
	}
	if q := b.quoteOn("EUR/USD", "2026-04-13"); q.Date != "2026-04-10" {
		t.Errorf("%+v", q)
	}
	forced := must[rates.Loaded](t)(b.Load(t.Context(),
		[]rates.Day{day("2026-04-14", "USD 1.17, JPY 0.005")}, rates.LoadOptions{Force: true}))
	if forced.RefusedCount != 0 || forced.Rates != 2 {
		t.Errorf("%+v", forced)
	}
}

// However much of a file the history refuses, none of it becomes a rate of now.
func TestWhatTheHistoryRefusesIsNoRateOfNow(t *testing.T) {
	b := open(t, rates.Options{})
	b.at("2026-04-14T15:00:00Z")
	codes := []string{"AED", "ARS", "AUD", "BRL", "CAD", "CHF", "CNY", "COP", "CZK", "DKK", "EGP",
		"GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KRW", "MXN", "MYR", "NOK", "NZD",
		"PHP", "PLN", "RON", "SEK", "USD", "ZAR"}
	prices := func(rate string) string {
		return strings.Join(codes, " "+rate+", ") + " " + rate
	}
	must[rates.Loaded](t)(b.Load(t.Context(), []rates.Day{day("2026-04-07", prices("4"))},
		rates.LoadOptions{HistoryOnly: true}))
	var days []rates.Day // They are upside down.
	for _, date := range []string{
		"2026-04-08", "2026-04-09", "2026-04-10", "2026-04-13", "2026-04-14",
	} {
		days = append(days, day(date, prices("0.25")))
	}
	report := b.load(days...)
	if report.Current != 0 || report.RefusedCount != 150 || len(report.Refused) != 100 {
		t.Errorf("%d are current, %d are refused and %d listed", report.Current,
			report.RefusedCount, len(report.Refused))
	}
	_, err := b.Get(t.Context(), pairOf("EUR/USD"))
	wants(t, err, rates.ErrNotFound)
}

func TestPublishedRatesAreFreshUntilTheNextOnesShouldBeThere(t *testing.T) {
	b := open(t, rates.Options{StaleFor: 14 * dayLong})
	b.at("2026-04-10T14:30:00Z") // Friday, half past four in Frankfurt.
	b.load(day("2026-04-10", "USD 1.1711"))
	q := b.quote("EUR/USD")
	if !q.AsOf.Equal(time.Date(2026, 4, 10, 14, 0, 0, 0, time.UTC)) || q.Stale {
		t.Errorf("%+v", q)
	}
	b.at("2026-04-13T15:59:59Z") // Monday, when the new rates may be two hours late.
	if q := b.quote("EUR/USD"); q.Stale {
		t.Errorf("%+v", q)
	}
	b.at("2026-04-13T16:00:00Z")
	if q := b.quote("EUR/USD"); !q.Stale {
		t.Errorf("%+v", q)
	}
}

func TestPublicationsAreOnWorkingDaysByTheClockOfFrankfurt(t *testing.T) {
	for _, c := range []struct{ after, at, day string }{
		{"2026-04-10T13:59:59Z", "2026-04-10T14:00:00Z", "2026-04-10"}, // Summer time.
		{"2026-04-10T14:00:00Z", "2026-04-13T14:00:00Z", "2026-04-13"}, // Over a weekend.
		{"2026-03-27T15:00:00Z", "2026-03-30T14:00:00Z", "2026-03-30"}, // The clocks change.
		{"2026-10-23T14:00:00Z", "2026-10-26T15:00:00Z", "2026-10-26"}, // And change back.
		{"2026-04-02T14:00:00Z", "2026-04-07T14:00:00Z", "2026-04-07"}, // Easter.
		{"2026-04-30T14:00:00Z", "2026-05-04T14:00:00Z", "2026-05-04"}, // 1 May, a Friday.
		{"2026-12-24T15:00:00Z", "2026-12-28T15:00:00Z", "2026-12-28"},
		{"2026-12-31T15:00:00Z", "2027-01-04T15:00:00Z", "2027-01-04"},
		{"2026-01-05T00:00:00Z", "2026-01-05T15:00:00Z", "2026-01-05"}, // Polled at one at night.
	} {
		after := must[time.Time](t)(time.Parse(time.RFC3339, c.after))
		at, day := rates.NextPublication(after)
		if at.Format(time.RFC3339) != c.at || string(day) != c.day {
			t.Errorf("after %s: %s for %s, want %s for %s", c.after, at.Format(time.RFC3339), day,
				c.at, c.day)
		}
		if last := rates.LastPublication(at); last != day {
			t.Errorf("the newest at %s is %s", c.at, last)
		}
		if last := rates.LastPublication(at.Add(-time.Second)); last >= day {
			t.Errorf("the newest before %s is %s", c.at, last)
		}
	}
	// The closing days of four years with an early and a late Easter.
	for _, day := range []rates.Date{
		"2024-03-29", "2024-04-01", "2025-04-18", "2025-04-21", "2026-04-03", "2026-04-06",
		"2027-03-26", "2027-03-29", "2025-12-25", "2025-12-26", "2027-01-01",
	} {
		if rates.Publishes(day) {
			t.Errorf("there are rates on %s", day)
		}
	}
	for _, day := range []rates.Date{"2025-12-24", "2025-12-31", "2025-05-29", "2024-04-02"} {
		if !rates.Publishes(day) {
			t.Errorf("there are no rates on %s", day)
		}
	}
}

// generated returns a history in the form of the European Central Bank, newest day first, with
// currencies that come and go, and the rows that it has.
func generated(seed uint64, first, last rates.Date) (csv []byte, rows []rates.Date) {
	random := rand.New(rand.NewPCG(seed, 0))
	codes := []string{"USD", "JPY", "GBP", "CHF", "ISK", "NZD"}
	values := []float64{1.1, 130, 0.8, 1.5, 90, 1.9}
	var lines [][]byte
	day, _ := time.Parse("2006-01-02", string(first))
	end, _ := time.Parse("2006-01-02", string(last))
	for ; !day.After(end); day = day.AddDate(0, 0, 1) {
		date := rates.DateOf(day)
		if !rates.Publishes(date) {
			continue
		}
		rows = append(rows, date)
		line := fmt.Appendf(nil, "%s,", date)
		for i := range codes {
			values[i] *= 1 + (random.Float64()-0.5)/50
			// One currency is away for some years, as the króna was.
			if codes[i] == "ISK" && date > "2008-12-03" && date < "2018-02-01" {
				line = append(line, "N/A,"...)
				continue
			}
			line = fmt.Appendf(line, "%.4f,", values[i])
		}
		lines = append(lines, append(line, '\n'))
	}
	slices.Reverse(lines)
	return append([]byte("Date,USD,JPY,GBP,CHF,ISK,NZD,\n"), bytes.Join(lines, nil)...), rows
}

// A history of full length answers each of its days, and those within fourteen days after one.
func TestAGeneratedHistoryAnswersAnyDate(t *testing.T) {
	first, last := rates.Date("1999-01-04"), rates.Date("2026-04-13")
	if testing.Short() || storetest.Strict() {
		first = "2023-01-02"
	}
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	csv, rows := generated(seed, first, last)
	days := must[[]rates.Day](t)(feed.Read(csv))
	if len(days) != len(rows) {
		t.Fatalf("%d days are read of %d", len(days), len(rows))
	}
	b := open(t, rates.Options{})
	b.at("2026-11-01T12:00:00Z")
	report := b.load(days...)
	if report.Days != len(rows) || report.RefusedCount > 0 {
		t.Fatalf("%+v", report)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	begin, _ := time.Parse("2006-01-02", string(first))
	end, _ := time.Parse("2006-01-02", string(last))
	span := int(end.Sub(begin)/dayLong) + 20
	for range storetest.Rounds(400) {
		on := rates.DateOf(begin.AddDate(0, 0, random.IntN(span)-2))
		i, exact := slices.BinarySearch(rows, on)
		if !exact {
			i--
		}
		a := ask([]string{"EUR/USD", "JPY/GBP", "NZD/EUR"}[random.IntN(3)])
		a.On = on
		q, err := b.Quote(t.Context(), a)
		switch {
		case i < 0, on > rates.DateOf(lastLooked(rows[i])):
			wants(t, err, rates.ErrNotFound)
		case err != nil || q.Date != rows[i]:
			t.Fatalf("%s on %s is of %s, %v; want %s", a.Pair(), on, q.Date, err, rows[i])
		}
	}
	if first == "1999-01-04" {
		for on, want := range map[rates.Date]rates.Date{
			"2008-12-05": "2008-12-03", "2008-12-17": "2008-12-03", "2018-02-01": "2018-02-01",
		} {
			if q := b.quoteOn("EUR/ISK", string(on)); q.Date != want {
				t.Errorf("ISK on %s is of %s", on, q.Date)
			}
		}
		a := ask("EUR/ISK")
		a.On = "2012-06-01"
		_, err := b.Quote(t.Context(), a)
		wants(t, err, rates.ErrNotFound, "last", "2008-12-03")
		quotes := must[[]rates.Quote](t)(b.Range(t.Context(), ask("USD/JPY"), first, last))
		if len(quotes) != len(rows) {
			t.Errorf("the whole range has %d points of %d", len(quotes), len(rows))
		}
	}
}

// lastLooked returns the last day that looks back to a row.
func lastLooked(row rates.Date) time.Time {
	t, _ := time.Parse("2006-01-02", string(row))
	return t.AddDate(0, 0, rates.LookBackDays)
}

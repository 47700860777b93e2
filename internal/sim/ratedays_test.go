package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// The days of the history that are loaded: in all more rates than one batch of the store takes.
const (
	loadedDays    = 16
	loadedAtOnce  = 10
	historyBase   = money.Currency("USD")
	historyBefore = client.Date("2026-03-01")
)

var historyTargets = []money.Currency{"NZD", "AUD", "CHF"}

func historyDate(n int) client.Date {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n)
	return client.Date(day.Format(time.DateOnly))
}

// loadRates loads days into the history. Each load has values of its own, so that what is read
// shows which load it is of.
func loadRates(c *caller, s step) {
	w, value := c.w, fmt.Sprintf("1.%05d1", s.ID)
	x := &rateSave{value: value, outcome: outcome{begin: time.Since(w.began), end: forever,
		err: client.ErrNoAnswer, doubt: true}}
	load := api.RateDays{HistoryOnly: true}
	w.mu.Lock()
	for n := range loadedAtOnce {
		date := historyDate((s.C + n) % loadedDays)
		rates := map[money.Currency]money.Decimal{}
		for _, target := range historyTargets {
			rates[target] = money.MustParse(value, "USD").Units()
			day := rateDay{ratePair{historyBase, target}, date}
			w.rates.days[day] = append(w.rates.days[day], x)
		}
		load.Days = append(load.Days, api.RateDay{Date: date, Base: historyBase, Rates: rates})
	}
	w.mu.Unlock()
	var got api.LoadedRates
	o := c.call(s, "load days with "+value, func(ctx context.Context) (string, error) {
		var err error
		got, err = c.Rates().Load(ctx, load)
		return fmt.Sprintf("%d rates of %d days", got.Rates, got.Days), err
	})
	w.mu.Lock()
	x.outcome = o
	w.mu.Unlock()
	if o.ok() && got.Rates != loadedAtOnce*len(historyTargets) {
		w.fail("%v: %d rates were loaded, and %d were asked for: %+v", s, got.Rates,
			loadedAtOnce*len(historyTargets), got)
	}
}

// rateHistory reads the history of a pair while others load days. It need not have the days of the
// last moments, because it reads what may be stale.
func rateHistory(c *caller, s step) {
	w, pair := c.w, ratePair{historyBase, historyTargets[s.C%len(historyTargets)]}
	until := time.Since(w.began) - lagMax
	expected := map[client.Date]bool{}
	w.mu.Lock()
	for day, loads := range w.rates.days {
		for _, x := range loads {
			sure := day.ratePair == pair && x.ok() && x.end < until
			expected[day.date] = expected[day.date] || sure
		}
	}
	w.mu.Unlock()
	var got map[client.Date]string
	o := c.call(s, fmt.Sprintf("history of %v", pair), func(ctx context.Context) (string, error) {
		var err error
		got, err = c.history(ctx, pair)
		return fmt.Sprintf("%d days", len(got)), err
	})
	for date, sure := range expected {
		if _, is := got[date]; o.ok() && sure && !is {
			w.fail("%v: the rate of %v on %s was loaded, and is not in the history", s, pair, date)
		}
	}
}

// history returns the days of a pair's history that have a rate.
func (c *caller) history(ctx context.Context, pair ratePair) (map[client.Date]string, error) {
	all, err := c.Rates().History(ctx, api.RateHistoryQuery{
		Base: pair.base, Target: pair.target, From: historyBefore, To: historyDate(loadedDays),
	})
	found := map[client.Date]string{}
	var e *problem.Error
	if errors.As(err, &e) && e.Code == "rate_not_found" {
		return found, nil // No day has one.
	}
	for _, q := range all {
		if q.Date == q.On {
			found[q.Date] = q.Rate.String()
		}
	}
	return found, err
}

// compareHistory checks that each day has a rate of a load that may have been the last one.
func (w *world) compareHistory(c *caller) error {
	for _, target := range historyTargets {
		pair := ratePair{historyBase, target}
		got, err := c.history(w.ctx, pair)
		if err != nil {
			return cannotTell("read the history of rates", err)
		}
		for n := range loadedDays {
			date := historyDate(n)
			loads := w.rates.days[rateDay{pair, date}]
			if err := compareDay(loads, got[date]); err != nil {
				return fmt.Errorf("the rate of %v on %s: %w", pair, date, err)
			}
		}
	}
	return nil
}

// compareDay checks the rate of one day against all loads that have it.
func compareDay(loads []*rateSave, got string) error {
	var of *rateSave
	for _, x := range loads {
		if x.value == got && !x.refused() {
			of = x
		}
	}
	if of == nil && got != "" {
		return fmt.Errorf("no load has %s", got)
	}
	for _, x := range loads {
		switch {
		case !x.ok():
		case of == nil:
			return fmt.Errorf("%s was loaded and is gone", x.value)
		case !of.doubt && of.end < x.begin:
			return fmt.Errorf("it is %s, and %s was loaded after that", got, x.value)
		}
	}
	return nil
}

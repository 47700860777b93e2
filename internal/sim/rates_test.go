package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// rateModel is what is known of exchange rates. The lock of the world guards it.
type rateModel struct {
	saves map[ratePair][]*rateSave
	days  map[rateDay][]*rateSave // Those that were loaded into the history.
}

// rateDay is a rate of the history.
type rateDay struct {
	ratePair
	date client.Date
}

type ratePair struct{ base, target money.Currency }

// rateSave is an attempt to save a rate. Each has a value of its own.
type rateSave struct {
	value string
	asOf  time.Time
	outcome
}

var rateDeeds = map[string]deed{
	"save rate": saveRate, "read rate": readRate, "list rates": listRates,
	"load rates": loadRates, "rate history": rateHistory,
}

var rateTheme = []weight{
	{"save rate", 8}, {"read rate", 4}, {"list rates", 2}, {"load rates", 3}, {"rate history", 2},
}

var ratePairs = []ratePair{{"USD", "NZD"}, {"EUR", "USD"}, {"EUR", "NZD"}}

func saveRate(c *caller, s step) {
	w, pair := c.w, ratePairs[s.A%len(ratePairs)]
	value := fmt.Sprintf("1.%05d1", s.ID) // It ends in a digit other than zero.
	// Most are newer than those of earlier steps.
	asOf := startOfTime.Add(-time.Hour + time.Duration(10*s.ID+s.C%60)*time.Second)
	x := &rateSave{value: value, asOf: asOf,
		outcome: outcome{begin: time.Since(w.began), end: forever, err: client.ErrNoAnswer,
			doubt: true}}
	w.mu.Lock()
	w.rates.saves[pair] = append(w.rates.saves[pair], x)
	w.mu.Unlock()
	var got api.Rate
	o := c.call(s, fmt.Sprintf("rate of %v is %s as of %s", pair, value,
		x.asOf.Format(time.TimeOnly)), func(ctx context.Context) (string, error) {
		var err error
		got, err = c.Rates().Save(ctx, pair.base, pair.target, api.NewRate{
			Rate: money.MustParse(value, "USD").Units(), AsOf: api.At(x.asOf), TTLSeconds: 1 << 22,
		})
		return fmt.Sprintf("%s as of %v", got.Rate, got.AsOf), err
	})
	w.mu.Lock()
	x.outcome = o
	w.mu.Unlock()
	if o.ok() && (got.Rate.String() != value || !got.AsOf.Time.Equal(x.asOf)) {
		w.fail("%v: rate %s as of %v was saved, and the answer is %+v", s, value, x.asOf, got)
	}
}

// asked reports whether a rate of a pair is one that a client asked for, and may be there.
func (m *rateModel) asked(pair ratePair, value string, asOf time.Time) bool {
	for _, x := range m.saves[pair] {
		if x.value == value && x.asOf.Equal(asOf) && !x.refused() {
			return true
		}
	}
	return false
}

func readRate(c *caller, s step) {
	w, pair := c.w, ratePairs[s.A%len(ratePairs)]
	var got api.Quote
	o := c.call(s, fmt.Sprintf("read the rate of %v", pair),
		func(ctx context.Context) (string, error) {
			var err error
			got, err = c.Rates().Get(ctx, api.RateQuery{Base: pair.base, Target: pair.target})
			return fmt.Sprintf("%s as of %v, derived %v", got.Rate, got.AsOf, got.Derived), err
		})
	w.mu.Lock()
	known := w.rates.asked(pair, got.Rate.String(), got.AsOf.Time)
	w.mu.Unlock()
	if o.ok() && !got.Derived && !known {
		w.fail("%v: no client saved the rate %s of %v as of %v", s, got.Rate, pair, got.AsOf)
	}
}

// listRates follows the list to its end while others save.
func listRates(c *caller, s step) {
	w, until := c.w, time.Since(c.w.began)-lagMax
	expected := map[ratePair]bool{}
	w.mu.Lock()
	for pair, saves := range w.rates.saves {
		for _, x := range saves {
			expected[pair] = expected[pair] || x.ok() && x.end < until
		}
	}
	w.mu.Unlock()
	seen := map[ratePair]bool{}
	o := c.call(s, "list rates", func(ctx context.Context) (string, error) {
		clear(seen)
		for r, err := range c.Rates().All(ctx, client.PageQuery{Limit: 1 + s.B%3}) {
			if err != nil {
				return "", err
			}
			pair := ratePair{r.Base, r.Target}
			if seen[pair] {
				return "", fmt.Errorf("rate of %v is listed twice", pair)
			}
			seen[pair] = true
		}
		return fmt.Sprintf("%d rates", len(seen)), nil
	})
	for pair, sure := range expected {
		if o.ok() && sure && !seen[pair] {
			w.fail("%v: the rate of %v is not in the list, and was acknowledged", s, pair)
		}
	}
}

// compareRates checks that each rate that is stored was asked for, and that none is older than one
// that was acknowledged.
func (w *world) compareRates(c *caller) error {
	listed := map[ratePair]api.Rate{}
	for r, err := range c.Rates().All(w.ctx, client.PageQuery{}) {
		if err != nil {
			return cannotTell("list rates", err)
		}
		pair := ratePair{r.Base, r.Target}
		if _, twice := listed[pair]; twice {
			return fmt.Errorf("the rate of %v is listed twice", pair)
		}
		listed[pair] = r
		if !w.rates.asked(pair, r.Rate.String(), r.AsOf.Time) {
			return fmt.Errorf("the rate of %v is %s as of %v, which no client saved", pair, r.Rate,
				r.AsOf)
		}
	}
	for pair, saves := range w.rates.saves {
		for _, x := range saves {
			got, is := listed[pair]
			switch {
			case !x.ok():
			case !is:
				return fmt.Errorf("the rate %s of %v was saved and is gone", x.value, pair)
			case got.AsOf.Before(x.asOf):
				return fmt.Errorf("the rate %s of %v as of %v was saved, and that of %v is there",
					x.value, pair, x.asOf, got.AsOf)
			case got.AsOf.Time.Equal(x.asOf) && got.Rate.String() != x.value &&
				!w.laterRate(pair, x, got):
				return fmt.Errorf("the rate %s of %v was saved after %s, which is there", x.value,
					pair, got.Rate)
			}
		}
	}
	if err := w.compareRateLists(c, listed); err != nil {
		return err
	}
	return w.compareHistory(c)
}

// laterRate reports whether the rate that is stored can have been saved after x, which has the same
// instant.
func (w *world) laterRate(pair ratePair, x *rateSave, got api.Rate) bool {
	for _, y := range w.rates.saves[pair] {
		if y.value == got.Rate.String() && (y.end > x.begin || y.doubt) {
			return true
		}
	}
	return false
}

package rates

import (
	"maps"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

func (h *handlers) rateOf(r rates.Rate) api.Rate {
	return api.Rate{
		Base: r.Base, Target: r.Target, Rate: r.Value, AsOf: api.At(r.AsOf),
		State: api.RateState(r.StateAt(h.now())), FreshUntil: api.At(r.FreshUntil),
		Expires: api.At(r.Expires), Source: r.Source,
	}
}

func quoteOf(q rates.Quote) api.Quote {
	return api.Quote{
		Base: q.Base, Target: q.Target, Rate: q.Rate, Above: q.Ratio.Above, Below: q.Ratio.Below,
		On: api.Date(q.On), Date: api.Date(q.Date), AsOf: api.At(q.AsOf),
		AgeSeconds: int(q.Age / time.Second), Stale: q.Stale, FreshUntil: api.At(q.FreshUntil),
		Source: q.Source, Derived: q.Derived, Via: q.Via, DaysApart: q.Apart,
		Legs: rest.All(q.Legs, func(l rates.Leg) api.QuoteLeg {
			return api.QuoteLeg{
				Base: l.Pair.Base, Target: l.Pair.Target, Rate: l.Rate, Inverted: l.Inverted,
				Fixed: l.Fixed, Date: api.Date(l.Date), AsOf: api.At(l.AsOf), Stale: l.Stale,
				Source: l.Source,
			}
		}),
	}
}

func loadedOf(l rates.Loaded) api.LoadedRates {
	return api.LoadedRates{
		Days: l.Days, Rates: l.Rates, First: api.Date(l.First), Last: api.Date(l.Last),
		Current: l.Current, Kept: l.Kept, TooOld: l.TooOld, RefusedCount: l.RefusedCount,
		Refused: rest.All(l.Refused, func(r rates.Refusal) api.RefusedRate {
			e := problem.From(r.Err)
			return api.RefusedRate{
				Base: r.Pair.Base, Target: r.Pair.Target, Date: api.Date(r.Date), Code: e.Code,
				Reason: e.Sentence,
			}
		}),
	}
}

func dayOf(d api.RateDay) rates.Day {
	day := rates.Day{Date: rates.Date(d.Date), At: d.At.Time, Base: d.Base, Source: d.Source}
	for _, code := range slices.Sorted(maps.Keys(d.Rates)) {
		day.Prices = append(day.Prices, rates.Price{Currency: code, Value: d.Rates[code]})
	}
	return day
}

package client

import (
	"context"
	"iter"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
)

// Rates are the operations of exchange rates.
type Rates struct{ client *Client }

// Rates returns the operations of exchange rates.
func (c *Client) Rates() Rates { return Rates{c} }

// Get returns the rate of a pair, stored or derived.
func (r Rates) Get(ctx context.Context, q api.RateQuery) (api.Quote, error) {
	return call(ctx, r.client, api.GetRate, q)
}

// Convert returns an amount in another currency, rounded once, at the end.
func (r Rates) Convert(ctx context.Context, q api.ConvertQuery) (api.Conversion, error) {
	return call(ctx, r.client, api.Convert, q)
}

// History returns the rates of a pair over days, both included, one for each day that has its own.
// The first is the rate of the first day.
func (r Rates) History(ctx context.Context, q api.RateHistoryQuery) ([]api.Quote, error) {
	list, err := call(ctx, r.client, api.ListRatesOfDays, q)
	return list.Rows(err)
}

// OfBase returns the fresh stored rates of a base, and on request also the stale ones.
func (r Rates) OfBase(ctx context.Context, q api.BaseQuery) ([]api.Rate, error) {
	list, err := call(ctx, r.client, api.ListRatesOfBase, q)
	return list.Rows(err)
}

// List returns a page of all stored rates in no particular order.
func (r Rates) List(ctx context.Context, q api.Page) (api.List[api.Rate], error) {
	return call(ctx, r.client, api.ListRates, q)
}

// All returns all stored rates.
func (r Rates) All(ctx context.Context, q api.Page) iter.Seq2[api.Rate, error] {
	return allFrom(q, func(p api.Page) (api.List[api.Rate], error) { return r.List(ctx, p) })
}

// Save saves a rate.
func (r Rates) Save(
	ctx context.Context, base, target money.Currency, n api.NewRate,
) (api.Rate, error) {
	return call(ctx, r.client, api.SaveRate,
		api.SaveRateRequest{Base: base, Target: target, NewRate: n})
}

// Delete deletes the stored rate of a pair, if there is one.
func (r Rates) Delete(ctx context.Context, base, target money.Currency) error {
	_, err := call(ctx, r.client, api.DeleteRate, api.Pair{Base: base, Target: target})
	return err
}

// Load loads days that a source published, at most a thousand in one call.
func (r Rates) Load(ctx context.Context, days api.RateDays) (api.LoadedRates, error) {
	return call(ctx, r.client, api.LoadRates, api.LoadRatesRequest{Days: days})
}

// Fetch makes the server fetch rates from its source now.
func (r Rates) Fetch(ctx context.Context) (api.LoadedRates, error) {
	return call(ctx, r.client, api.FetchRates, api.None{})
}

// Health returns whether the rates are fresh, and the state of fetching them.
func (r Rates) Health(ctx context.Context) (api.RatesHealth, error) {
	return call(ctx, r.client, api.GetRatesHealth, api.None{})
}

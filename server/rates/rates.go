// Package rates serves the operations of exchange rates.
package rates

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// Options of the operations.
type Options struct {
	// Fetch, if set, fetches rates now, and Fetches returns the state of fetching.
	Fetch   func(context.Context) (rates.Loaded, error)
	Fetches func() api.RateFetches
}

type handlers struct {
	board *rates.Board
	opts  Options
	now   func() time.Time
}

// Mount adds the operations to a router.
func Mount(r *rest.Router, board *rates.Board, opts Options) {
	h := &handlers{board, opts, r.Now}
	rest.Serve(r, api.ListRates, h.list)
	rest.Serve(r, api.GetRatesHealth, h.health)
	rest.Serve(r, api.ListRatesOfBase, h.ofBase)
	rest.Serve(r, api.GetRate, h.quote)
	rest.Serve(r, api.Convert, h.convert)
	rest.Serve(r, api.ListRatesOfDays, h.history)
	rest.Serve(r, api.SaveRate, h.save)
	rest.Serve(r, api.DeleteRate, h.delete)
	rest.Serve(r, api.LoadRates, h.load)
	rest.Serve(r, api.FetchRates, h.fetch)
}

func (h *handlers) list(
	ctx context.Context, in api.Page,
) (rest.Answer[api.List[api.Rate]], error) {
	page, err := h.board.Rates(ctx, in.Limit, in.Cursor)
	return rest.OK(rest.List(page, h.rateOf)), err
}

func (h *handlers) ofBase(
	ctx context.Context, in api.BaseQuery,
) (rest.Answer[api.List[api.Rate]], error) {
	read := h.board.GetByBase
	if in.Stale {
		read = h.board.GetStaleByBase
	}
	found, err := read(ctx, in.Base)
	bad, err := singletable.RowsOf(err)
	page := singletable.Page[rates.Rate]{Items: found, Unreadable: bad}
	return rest.OK(rest.List(page, h.rateOf)), err
}

func (h *handlers) health(
	ctx context.Context, _ api.None,
) (rest.Answer[api.RatesHealth], error) {
	found, err := h.board.Health(ctx)
	if err != nil {
		return rest.Answer[api.RatesHealth]{}, err
	}
	out := api.RatesHealth{
		Status: "ok", Fresh: found.Fresh, Stale: found.Stale, Gone: found.Gone,
		Newest: api.At(found.Newest), AgeSeconds: int(found.Age / time.Second),
		Unreadable: rest.Unreadable(found.Unreadable),
	}
	switch {
	case len(found.Unreadable) > 0:
		out.Status = "unreadable"
	case found.Newest.IsZero():
		out.Status = "empty"
	case !found.OK():
		out.Status = "stale"
	}
	if h.opts.Fetches != nil {
		fetches := h.opts.Fetches()
		out.Fetches = &fetches
	}
	return rest.OK(out), nil
}

// ask returns what the board is asked for.
func ask(in api.RateQuery) rates.Ask {
	return rates.Ask{
		Base: in.Base, Target: in.Target, On: rates.Date(in.On), FreshOnly: in.Fresh,
	}
}

func (h *handlers) quote(
	ctx context.Context, in api.RateQuery,
) (rest.Answer[api.Quote], error) {
	q, err := h.board.Quote(ctx, ask(in))
	return rest.OK(quoteOf(q)), err
}

func (h *handlers) convert(
	ctx context.Context, in api.ConvertQuery,
) (out rest.Answer[api.Conversion], err error) {
	q, err := h.board.Quote(ctx, ask(in.RateQuery))
	if err != nil {
		return out, err
	}
	amount, err := in.Amount.In(in.Base)
	if err != nil {
		return out, rates.ErrUnknownCode.With("code", in.Base).Wrap(err)
	}
	rounding := api.Roundings[in.Rounding]
	into := q.Convert
	if in.Cash {
		into = q.ConvertCash
	}
	converted, err := into(amount, rounding)
	if err != nil {
		return out, err
	}
	return rest.OK(api.Conversion{
		Amount: api.AmountOf(amount), Currency: in.Base, Converted: api.AmountOf(converted),
		Into: in.Target, Rounding: rounding.String(), Cash: in.Cash, Quote: quoteOf(q),
	}), nil
}

func (h *handlers) history(
	ctx context.Context, in api.RateHistoryQuery,
) (rest.Answer[api.List[api.Quote]], error) {
	quotes, err := h.board.Range(ctx, rates.Ask{Base: in.Base, Target: in.Target},
		rates.Date(in.From), rates.Date(in.To))
	return rest.OK(rest.List(singletable.Page[rates.Quote]{Items: quotes}, quoteOf)), err
}

// ttlDefault is how long a saved rate is fresh unless the request has another time. The maximum, in
// the tags of the bodies, is ten years, for rates that are pegged.
const ttlDefault = 24 * time.Hour

func (h *handlers) save(
	ctx context.Context, in api.SaveRateRequest,
) (rest.Answer[api.Rate], error) {
	body := in.NewRate
	r := rates.Rate{
		Base: in.Base, Target: in.Target, Value: body.Rate, Stale: body.Stale,
		Source: body.Source, AsOf: h.now(),
	}
	if !body.AsOf.IsZero() {
		r.AsOf = body.AsOf.Time
	}
	ttl := ttlDefault
	if body.TTLSeconds > 0 {
		ttl = time.Duration(body.TTLSeconds) * time.Second
	}
	var options []rates.SaveOption
	if body.Force {
		options = append(options, rates.Force())
	}
	saved, err := h.board.Save(ctx, r, ttl, options...)
	return rest.OK(h.rateOf(saved)), err
}

func (h *handlers) delete(ctx context.Context, in api.Pair) (rest.Answer[api.None], error) {
	pair := rates.Pair{Base: in.Base, Target: in.Target}
	return rest.Answer[api.None]{}, h.board.Delete(ctx, pair)
}

// daysMax is the maximum number of days of one request. A client sends a longer file in several.
const daysMax = 1000

func (h *handlers) load(
	ctx context.Context, in api.LoadRatesRequest,
) (out rest.Answer[api.LoadedRates], err error) {
	if n := len(in.Days.Days); n > daysMax {
		return out, rates.ErrTooManyDays.With("days", n).With("limit", daysMax)
	}
	loaded, err := h.board.Load(ctx, rest.All(in.Days.Days, dayOf), rates.LoadOptions{
		TTL: time.Duration(in.Days.TTLSeconds) * time.Second, Force: in.Days.Force,
		HistoryOnly: in.Days.HistoryOnly,
	})
	return rest.OK(loadedOf(loaded)), err
}

// ErrNoSource reports that the server has no source of rates.
var ErrNoSource = rest.Problems.Define(problem.Refused, "rate_source_missing",
	"This server fetches no rates",
	"Start it with --rates-source, or load a file")

func (h *handlers) fetch(
	ctx context.Context, _ api.None,
) (out rest.Answer[api.LoadedRates], err error) {
	if h.opts.Fetch == nil {
		return out, ErrNoSource.New()
	}
	loaded, err := h.opts.Fetch(ctx)
	return rest.OK(loadedOf(loaded)), err
}

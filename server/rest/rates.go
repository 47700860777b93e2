package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

const tagRates = "Exchange rates"

// ErrNoRateSource says that the server was told of no source of rates.
var ErrNoRateSource = Problems.Define(problem.Refused, "rate_source_missing",
	"This server fetches no rates",
	"Start it with --rates-source, or load a file")

// The forms of rates in bodies and answers.
type (
	rate struct {
		Base       money.Currency `json:"base" example:"USD"`
		Target     money.Currency `json:"target" example:"EUR"`
		Rate       string         `json:"rate" doc:"How much of the target one of the base costs" example:"0.85"`
		AsOf       instant        `json:"asOf" doc:"When it was so"`
		State      rates.State    `json:"state" enum:"fresh,stale,gone" doc:"What may be done with it now; one that is gone is served nowhere else"`
		FreshUntil instant        `json:"freshUntil,omitzero" doc:"When it stops being fresh"`
		Expires    instant        `json:"expires,omitzero" doc:"When the store may remove it"`
		Source     string         `json:"source,omitempty" doc:"Where it is from" example:"ecb"`
	}

	quote struct {
		Base       money.Currency   `json:"base" example:"USD"`
		Target     money.Currency   `json:"target" example:"JPY"`
		Rate       string           `json:"rate" doc:"For reading: a derived rate has twelve significant digits" example:"159.833960972"`
		Above      string           `json:"above" doc:"The exact rate is above / below" example:"186.75"`
		Below      string           `json:"below" example:"1.1684"`
		On         rates.Date       `json:"on,omitempty" format:"date" doc:"The day that was asked for"`
		Date       rates.Date       `json:"date,omitempty" format:"date" doc:"The day of the rate itself, of the older leg where there are two; absent for fixed rates"`
		AsOf       instant          `json:"asOf,omitzero" doc:"When a rate of now was so, the older leg of two"`
		AgeSeconds int              `json:"ageSeconds,omitempty" doc:"How long ago that is"`
		Stale      bool             `json:"stale" doc:"Whether a rate of now is no longer fresh"`
		FreshUntil instant          `json:"freshUntil,omitzero" doc:"When it stops, or stopped, being fresh"`
		Source     string           `json:"source,omitempty" doc:"Where it is from" example:"ecb"`
		Derived    bool             `json:"derived" doc:"Whether it is not stored as such but follows from the legs"`
		Via        []money.Currency `json:"via,omitempty" nullable:"false" doc:"The currencies in between"`
		Legs       []quoteLeg       `json:"legs" nullable:"false" doc:"The rates it is made of; none for a currency to itself"`
		DaysApart  int              `json:"daysApart,omitempty" doc:"How many days lie between the legs"`
	}

	quoteLeg struct {
		Base     money.Currency `json:"base" example:"EUR"`
		Target   money.Currency `json:"target" example:"USD"`
		Rate     string         `json:"rate" doc:"As it is stored" example:"1.1684"`
		Inverted bool           `json:"inverted" doc:"Whether it is used as 1 / rate"`
		Fixed    bool           `json:"fixed,omitempty" doc:"Whether it is irrevocable, as that of a currency which the euro has replaced"`
		Date     rates.Date     `json:"date,omitempty" format:"date"`
		AsOf     instant        `json:"asOf,omitzero"`
		Stale    bool           `json:"stale,omitempty"`
		Source   string         `json:"source,omitempty"`
	}

	conversion struct {
		Amount    string         `json:"amount" example:"100.00"`
		Currency  money.Currency `json:"currency" example:"USD"`
		Converted string         `json:"converted" doc:"Rounded once, at the end" example:"15983"`
		Into      money.Currency `json:"into" example:"JPY"`
		Rounding  string         `json:"rounding" example:"half up"`
		Cash      bool           `json:"cash,omitempty" doc:"Whether it is rounded to what can be paid in coins"`
		Quote     quote          `json:"quote"`
	}
)

// The bodies.
type (
	newRate struct {
		Rate       payload.Decimal `json:"rate" doc:"How much of the target one of the base costs" example:"0.85"`
		AsOf       string          `json:"asOf,omitempty" doc:"When it was so; now, if left out" example:"2026-01-02T10:30:00Z"`
		TTLSeconds int             `json:"ttlSeconds,omitempty" minimum:"1" maximum:"316224000" doc:"How long it is fresh; a day, if left out" example:"86400"`
		Stale      bool            `json:"stale,omitempty" doc:"A mark that it could not be renewed"`
		Source     string          `json:"source,omitempty" doc:"Where it is from"`
		Force      bool            `json:"force,omitempty" doc:"Saves it though a check speaks against it"`
	}

	newDays struct {
		Days        []newDay `json:"days" nullable:"false" doc:"What a source has published, at most 1000 days"`
		TTLSeconds  int      `json:"ttlSeconds,omitempty" minimum:"1" maximum:"316224000" doc:"How long the newest rates are fresh; until the next publication of the European Central Bank, if left out"`
		Force       bool     `json:"force,omitempty" doc:"Takes rates in though checks speak against them"`
		HistoryOnly bool     `json:"historyOnly,omitempty" doc:"Leaves the rates of now alone"`
	}

	newDay struct {
		Date   rates.Date        `json:"date" format:"date" example:"2025-12-31"`
		At     string            `json:"at,omitempty" doc:"The instant of the rates, where the source tells it" example:"2025-12-31T15:00:00Z"`
		Base   money.Currency    `json:"base" example:"EUR"`
		Source string            `json:"source,omitempty" example:"ecb"`
		Rates  map[string]string `json:"rates" doc:"How much of each currency one of the base costs"`
	}
)

// The answers to what takes rates in, and to how it goes.
type (
	loadedRates struct {
		Days         int           `json:"days" doc:"Days that the history has now"`
		Rates        int           `json:"rates" doc:"Rates that the history has now"`
		First        rates.Date    `json:"first,omitempty" format:"date"`
		Last         rates.Date    `json:"last,omitempty" format:"date"`
		Current      int           `json:"current" doc:"Rates of the newest day that are those of now as well"`
		Kept         int           `json:"kept" doc:"Rates of now that were newer already"`
		TooOld       bool          `json:"tooOld" doc:"Whether the newest day is too old to be anything but history"`
		Refused      []refusedRate `json:"refused" nullable:"false" doc:"The first hundred that were not taken in"`
		RefusedCount int           `json:"refusedCount"`
	}

	refusedRate struct {
		Base   money.Currency `json:"base"`
		Target money.Currency `json:"target"`
		Date   rates.Date     `json:"date" format:"date"`
		Code   problem.Code   `json:"code" example:"rate_jump_too_large"`
		Reason string         `json:"reason"`
	}

	// RateFetches is how the fetching of rates goes, for the answer about the health of rates.
	RateFetches struct {
		Source      string     `json:"source" doc:"The address, without what may be secret in it"`
		Tried       time.Time  `json:"tried,omitzero"`
		Succeeded   time.Time  `json:"succeeded,omitzero"`
		Failures    int        `json:"failures" doc:"Those since the last success"`
		Problem     string     `json:"problem,omitempty" doc:"The last one's"`
		PausedUntil time.Time  `json:"pausedUntil,omitzero" doc:"When the source is asked again at the earliest"`
		Newest      rates.Date `json:"newest,omitempty" format:"date" doc:"The newest day that was taken in"`
	}

	ratesHealth struct {
		Status     string       `json:"status" enum:"ok,stale,empty,unreadable" doc:"ok while every rate can be read and is fresh"`
		Fresh      int          `json:"fresh"`
		Stale      int          `json:"stale"`
		Gone       int          `json:"gone"`
		Newest     instant      `json:"newest,omitzero"`
		AgeSeconds int          `json:"ageSeconds,omitempty"`
		Fetches    *RateFetches `json:"fetches,omitempty" doc:"Absent where no rates are fetched"`
		Unreadable []unreadable `json:"unreadable,omitempty" nullable:"false" doc:"The stored rates that cannot be read, which are in none of the counts; absent if all can"`
	}
)

func (a *API) rateOf(r rates.Rate) rate {
	return rate{
		Base: r.Base, Target: r.Target, Rate: r.Value.String(), AsOf: instant(r.AsOf),
		State: r.StateAt(a.opts.Now()), FreshUntil: instant(r.FreshUntil),
		Expires: instant(r.Expires), Source: r.Source,
	}
}

func quoteOf(q rates.Quote) quote {
	return quote{
		Base: q.Base, Target: q.Target, Rate: q.Rate.String(), Above: q.Ratio.Above.String(),
		Below: q.Ratio.Below.String(), On: q.On, Date: q.Date, AsOf: instant(q.AsOf),
		AgeSeconds: int(q.Age / time.Second), Stale: q.Stale, FreshUntil: instant(q.FreshUntil),
		Source: q.Source, Derived: q.Derived, Via: q.Via, DaysApart: q.Apart,
		Legs: convertAll(q.Legs, func(l rates.Leg) quoteLeg {
			return quoteLeg{
				Base: l.Pair.Base, Target: l.Pair.Target, Rate: l.Rate.String(),
				Inverted: l.Inverted, Fixed: l.Fixed, Date: l.Date, AsOf: instant(l.AsOf),
				Stale: l.Stale, Source: l.Source,
			}
		}),
	}
}

func loadedOf(l rates.Loaded) loadedRates {
	return loadedRates{
		Days: l.Days, Rates: l.Rates, First: l.First, Last: l.Last, Current: l.Current,
		Kept: l.Kept, TooOld: l.TooOld, RefusedCount: l.RefusedCount,
		Refused: convertAll(l.Refused, func(r rates.Refusal) refusedRate {
			e := problem.From(r.Err)
			return refusedRate{r.Pair.Base, r.Pair.Target, r.Date, e.Code, e.Sentence}
		}),
	}
}

// The parameters.
type (
	// PairPath names a pair of currencies.
	PairPath struct {
		Base   money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Target money.Currency `path:"target" doc:"A code of ISO 4217" example:"EUR"`
	}
	quoteParams struct {
		PairPath
		On    rates.Date `query:"date" doc:"The day whose rate is wanted; now without it" example:"2025-12-31"`
		Fresh bool       `query:"fresh" doc:"Whether a stale rate is refused"`
	}
	convertParams struct {
		PairPath
		On       rates.Date `query:"date" doc:"The day whose rate is wanted; now without it" example:"2025-12-31"`
		Fresh    bool       `query:"fresh" doc:"Whether a stale rate is refused"`
		Amount   string     `query:"amount" required:"true" doc:"In the base" example:"100.00"`
		Rounding string     `query:"rounding" enum:"half-up,half-even,down,up" default:"half-up" doc:"How the converted amount is rounded"`
		Cash     bool       `query:"cash" doc:"Whether it is rounded to what can be paid in coins"`
	}
	rangeParams struct {
		PairPath
		From rates.Date `query:"from" required:"true" doc:"The first day" example:"2026-01-01"`
		To   rates.Date `query:"to" required:"true" doc:"The last day, which is included" example:"2026-01-31"`
	}
	baseParams struct {
		Base  money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Stale bool           `query:"stale" doc:"Whether stale rates are listed as well"`
	}
	saveRateParams struct {
		WithBody
		PairPath
	}
	loadRatesParams struct{ WithBody }
)

// roundings are the names of ways to round in parameters.
var roundings = map[string]money.Rounding{
	"half-up": money.HalfUp, "half-even": money.HalfEven, "down": money.Down, "up": money.Up,
}

// quoteProblems are those of every question for a rate.
func quoteProblems(more ...*problem.Definition) []*problem.Definition {
	return append([]*problem.Definition{
		rates.ErrInvalid, rates.ErrFutureDate, rates.ErrNotFound,
		rates.ErrNotFresh, rates.ErrLegsApart, rates.ErrUnavailable, rates.ErrSourceDown,
	}, more...)
}

func (a *API) registerRates() {
	const tag, read, write = tagRates, apikey.RatesRead, apikey.RatesWrite
	register(a.Router, operation{
		id: "list-rates", method: http.MethodGet, path: "/v1/rates", tag: tag, scope: read,
		summary:     "List all stored rates",
		description: "Those of now, in no order, and in every state.",
		problems:    []*problem.Definition{rates.ErrInvalidCursor},
	}, a.listRates)
	register(a.Router, operation{
		id: "get-rates-health", method: http.MethodGet, path: "/v1/rates/health", tag: tag,
		scope: read, summary: "Tell whether the rates are fresh",
		description: "And how the fetching of them goes, where there is any.",
	}, a.ratesHealth)
	register(a.Router, operation{
		id: "list-rates-of-base", method: http.MethodGet, path: "/v1/rates/{base}", tag: tag,
		scope: read, summary: "List the stored rates of a base",
		description: "Those that are fresh, sorted by target. Expired ones are left out, whether the " +
			"store has removed them or not.",
		problems: []*problem.Definition{rates.ErrInvalid},
	}, a.ratesOfBase)
	register(a.Router, operation{
		id: "get-rate", method: http.MethodGet, path: "/v1/rates/{base}/{target}", tag: tag,
		scope: read, summary: "Get the rate of a pair",
		description: "Stored or derived: as the inverse, or through a third currency. A rate of now " +
			"that is no longer fresh is served as stale for a time, and then no more. The rate of a " +
			"day is that of the last day with one, at most 14 days before, and comes with its own date.",
		problems: quoteProblems(),
	}, a.quote)
	register(a.Router, operation{
		id: "convert", method: http.MethodGet, path: "/v1/rates/{base}/{target}/convert", tag: tag,
		scope: read, summary: "Convert an amount",
		description: "It is rounded once, at the end, to the digits of the target. The rate that was " +
			"used comes with it.",
		problems: quoteProblems(rates.ErrUnknownCode, rates.ErrTooLarge),
	}, a.convertAmount)
	register(a.Router, operation{
		id: "list-rates-of-days", method: http.MethodGet,
		path: "/v1/rates/{base}/{target}/history", tag: tag, scope: read,
		summary: "List the rates of a pair day by day",
		description: "One for each day that has its own. The first one is the rate of the first day, " +
			"though it may be older.",
		problems: quoteProblems(rates.ErrTooManyDays),
	}, a.history)
	registerBody(a.Router, operation{
		id: "save-rate", method: http.MethodPut, path: "/v1/rates/{base}/{target}", tag: tag,
		scope: write, summary: "Save a rate",
		description: "A rate never replaces one that is newer. An unknown code, a date far ahead, and " +
			"a jump are refused unless forced.",
		example: newRate{Rate: "0.85", TTLSeconds: 86400},
		problems: []*problem.Definition{
			rates.ErrInvalid, rates.ErrNotPositive, rates.ErrUnknownCode, rates.ErrFarFuture,
			rates.ErrJump, rates.ErrOlder, rates.ErrContended,
		},
	}, a.saveRate)
	register(a.Router, operation{
		id: "delete-rate", method: http.MethodDelete, path: "/v1/rates/{base}/{target}", tag: tag,
		scope: write, summary: "Delete the stored rate of a pair", status: http.StatusNoContent,
		description: "Whether there is one or not. The history stays.",
		problems:    []*problem.Definition{rates.ErrInvalid, rates.ErrContended},
	}, a.deleteRate)
	registerBody(a.Router, operation{
		id: "load-rates", method: http.MethodPost, path: "/v1/rates/days", tag: tag, scope: write,
		summary: "Take in what a source has published",
		description: "Each day goes into the history, and the newest one becomes the rates of now " +
			"unless it is too old for that. Doing it again changes nothing.",
		example: newDays{Days: []newDay{{
			Date: "2025-12-31", Base: "EUR", Source: "ecb",
			Rates: map[string]string{"USD": "1.1684"},
		}}},
		problems: []*problem.Definition{
			rates.ErrInvalid, rates.ErrFutureDate, rates.ErrTooManyDays, rates.ErrContended,
		},
	}, a.loadRates)
	register(a.Router, operation{
		id: "fetch-rates", method: http.MethodPost, path: "/v1/rates/fetch", tag: tag, scope: write,
		summary:     "Fetch rates from the server's source now",
		description: "As the server does by itself. When it fails, the rates that are there stay.",
		problems: []*problem.Definition{
			ErrNoRateSource, rates.ErrFetchFailed, rates.ErrFetchPaused, rates.ErrContended,
		},
	}, a.fetchRates)
}

func (a *API) listRates(ctx context.Context, in *PageParams) (*answer[list[rate]], error) {
	page, err := a.deps.Rates.Rates(ctx, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	return convert(page, a.rateOf), nil
}

func (a *API) ratesHealth(ctx context.Context, _ *struct{}) (*answer[ratesHealth], error) {
	h, err := a.deps.Rates.Health(ctx)
	if err != nil {
		return nil, err
	}
	out := ratesHealth{
		Status: "ok", Fresh: h.Fresh, Stale: h.Stale, Gone: h.Gone, Newest: instant(h.Newest),
		AgeSeconds: int(h.Age / time.Second), Unreadable: unreadables(h.Unreadable),
	}
	switch {
	case len(h.Unreadable) > 0:
		out.Status = "unreadable"
	case h.Newest.IsZero():
		out.Status = "empty"
	case !h.OK():
		out.Status = "stale"
	}
	if a.opts.RateFetches != nil {
		f := a.opts.RateFetches()
		out.Fetches = &f
	}
	return &answer[ratesHealth]{Body: out}, nil
}

func (a *API) ratesOfBase(ctx context.Context, in *baseParams) (*answer[list[rate]], error) {
	read := a.deps.Rates.GetByBase
	if in.Stale {
		read = a.deps.Rates.GetStaleByBase
	}
	found, err := read(ctx, in.Base)
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	return convert(singletable.Page[rates.Rate]{Items: found, Unreadable: bad}, a.rateOf), nil
}

func (a *API) quote(ctx context.Context, in *quoteParams) (*answer[quote], error) {
	q, err := a.deps.Rates.Quote(ctx, rates.Ask{
		Base: in.Base, Target: in.Target, On: in.On, FreshOnly: in.Fresh,
	})
	if err != nil {
		return nil, err
	}
	return &answer[quote]{Body: quoteOf(q)}, nil
}

func (a *API) convertAmount(
	ctx context.Context, in *convertParams,
) (*answer[conversion], error) {
	var wrong problem.Fields
	units, err := money.ParseDecimal(in.Amount)
	if err != nil {
		wrong.Add("amount", `must be a plain decimal such as "5.50": `+err.Error())
	}
	if err := wrong.Err(rates.ErrInvalid); err != nil {
		return nil, err
	}
	q, err := a.deps.Rates.Quote(ctx, rates.Ask{
		Base: in.Base, Target: in.Target, On: in.On, FreshOnly: in.Fresh,
	})
	if err != nil {
		return nil, err
	}
	amount, err := money.New(units, in.Base)
	if err != nil {
		return nil, rates.ErrUnknownCode.With("code", in.Base).Wrap(err)
	}
	rounding := roundings[in.Rounding]
	into := q.Convert
	if in.Cash {
		into = q.ConvertCash
	}
	converted, err := into(amount, rounding)
	if err != nil {
		return nil, err
	}
	return &answer[conversion]{Body: conversion{
		Amount: amount.Text(), Currency: in.Base, Converted: converted.Text(), Into: in.Target,
		Rounding: rounding.String(), Cash: in.Cash, Quote: quoteOf(q),
	}}, nil
}

func (a *API) history(ctx context.Context, in *rangeParams) (*answer[list[quote]], error) {
	quotes, err := a.deps.Rates.Range(ctx, rates.Ask{Base: in.Base, Target: in.Target}, in.From,
		in.To)
	if err != nil {
		return nil, err
	}
	return &answer[list[quote]]{Body: list[quote]{Items: convertAll(quotes, quoteOf)}}, nil
}

// rateTTL is how long a saved rate is fresh unless the caller says otherwise. The maximum, in the
// tags of the bodies, is ten years, for rates that are pegged.
const rateTTL = 24 * time.Hour

func (a *API) saveRate(
	ctx context.Context, in *saveRateParams, body *newRate,
) (*answer[rate], error) {
	var wrong problem.Fields
	r := rates.Rate{
		Base: in.Base, Target: in.Target, Stale: body.Stale, Source: body.Source,
		AsOf: a.opts.Now(),
	}
	var err error
	if r.Value, err = money.ParseDecimal(string(body.Rate)); err != nil {
		wrong.Add("rate", `must be a plain decimal such as "0.85": `+err.Error())
	}
	if body.AsOf != "" {
		r.AsOf = readInstant(&wrong, "asOf", body.AsOf)
	}
	ttl := rateTTL
	if body.TTLSeconds > 0 {
		ttl = time.Duration(body.TTLSeconds) * time.Second
	}
	if err := wrong.Err(rates.ErrInvalid); err != nil {
		return nil, err
	}
	var options []rates.SaveOption
	if body.Force {
		options = append(options, rates.Force())
	}
	saved, err := a.deps.Rates.Save(ctx, r, ttl, options...)
	if err != nil {
		return nil, err
	}
	return &answer[rate]{Body: a.rateOf(saved)}, nil
}

func (a *API) deleteRate(ctx context.Context, in *PairPath) (*struct{}, error) {
	return nil, a.deps.Rates.Delete(ctx, rates.Pair{Base: in.Base, Target: in.Target})
}

// daysMax bounds the days of one request; a client sends a longer file in several.
const daysMax = 1000

func (a *API) loadRates(
	ctx context.Context, _ *loadRatesParams, body *newDays,
) (*answer[loadedRates], error) {
	if len(body.Days) > daysMax {
		return nil, rates.ErrTooManyDays.With("days", len(body.Days)).
			With("limit", daysMax).With("unit", "days")
	}
	days, err := body.read()
	if err != nil {
		return nil, err
	}
	loaded, err := a.deps.Rates.Load(ctx, days, rates.LoadOptions{
		TTL: time.Duration(body.TTLSeconds) * time.Second, Force: body.Force,
		HistoryOnly: body.HistoryOnly,
	})
	if err != nil {
		return nil, err
	}
	return &answer[loadedRates]{Body: loadedOf(loaded)}, nil
}

func (a *API) fetchRates(ctx context.Context, _ *struct{}) (*answer[loadedRates], error) {
	if a.opts.FetchRates == nil {
		return nil, ErrNoRateSource.New()
	}
	loaded, err := a.opts.FetchRates(ctx)
	if err != nil {
		return nil, err
	}
	return &answer[loadedRates]{Body: loadedOf(loaded)}, nil
}

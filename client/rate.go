package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// RateState is the state of a stored rate.
type RateState string

// The states of a rate.
const (
	RateFresh RateState = "fresh"
	RateStale RateState = "stale"
	RateGone  RateState = "gone"
)

// Rate is a stored exchange rate: the number of units of Target for one unit of Base.
type Rate struct {
	Base   money.Currency `json:"base"`
	Target money.Currency `json:"target"`
	Rate   money.Decimal  `json:"rate"`
	AsOf   time.Time      `json:"asOf,omitzero"`
	State  RateState      `json:"state"`
	// FreshUntil is zero for a rate that is fresh until it expires.
	FreshUntil time.Time `json:"freshUntil,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`
	Source     string    `json:"source,omitempty"`
}

// RateQuery selects the rate of a pair.
type RateQuery struct {
	Base, Target money.Currency
	// On is the day of the rate; empty means now.
	On Date
	// Fresh refuses a current rate that is stale.
	Fresh bool
}

// Quote is the rate of a pair, stored or derived, with its sources.
type Quote struct {
	Base   money.Currency `json:"base"`
	Target money.Currency `json:"target"`
	// Rate is for display; the exact rate is Above / Below.
	Rate  money.Decimal `json:"rate"`
	Above money.Decimal `json:"above"`
	Below money.Decimal `json:"below"`
	// On is the requested day and Date that of the rate; AsOf is for current rates.
	On         Date             `json:"on,omitempty"`
	Date       Date             `json:"date,omitempty"`
	AsOf       time.Time        `json:"asOf,omitzero"`
	AgeSeconds int              `json:"ageSeconds,omitempty"`
	Stale      bool             `json:"stale"`
	FreshUntil time.Time        `json:"freshUntil,omitzero"`
	Source     string           `json:"source,omitempty"`
	Derived    bool             `json:"derived"`
	Via        []money.Currency `json:"via,omitempty"`
	Legs       []QuoteLeg       `json:"legs"`
	DaysApart  int              `json:"daysApart,omitempty"`
}

// QuoteLeg is a stored or fixed rate from which a quote is computed.
type QuoteLeg struct {
	Base     money.Currency `json:"base"`
	Target   money.Currency `json:"target"`
	Rate     money.Decimal  `json:"rate"`
	Inverted bool           `json:"inverted"`
	Fixed    bool           `json:"fixed,omitempty"`
	Date     Date           `json:"date,omitempty"`
	AsOf     time.Time      `json:"asOf,omitzero"`
	Stale    bool           `json:"stale,omitempty"`
	Source   string         `json:"source,omitempty"`
}

// ConvertQuery is a request to convert an amount.
type ConvertQuery struct {
	RateQuery
	// Amount is in the base currency.
	Amount money.Amount
	// Rounding is half-up, half-even, down or up; empty means half-up.
	Rounding string
	// Cash rounds to an amount that can be paid in cash.
	Cash bool
}

// Conversion is an amount in another currency.
type Conversion struct {
	Amount    string         `json:"amount"`
	Currency  money.Currency `json:"currency"`
	Converted string         `json:"converted"`
	Into      money.Currency `json:"into"`
	Rounding  string         `json:"rounding"`
	Cash      bool           `json:"cash,omitempty"`
	Quote     Quote          `json:"quote"`
}

// NewRate is a request to save a rate.
type NewRate struct {
	Base   money.Currency `json:"-"`
	Target money.Currency `json:"-"`
	Rate   money.Decimal  `json:"rate"`
	// AsOf is the time of the rate; zero means now.
	AsOf time.Time `json:"asOf,omitzero"`
	// TTLSeconds is the time for which it is fresh; 0 means a day.
	TTLSeconds int    `json:"ttlSeconds,omitempty"`
	Stale      bool   `json:"stale,omitempty"`
	Source     string `json:"source,omitempty"`
	// Force saves the rate although a check fails.
	Force bool `json:"force,omitempty"`
}

// RateDay is the rates that a source published for a day.
type RateDay struct {
	Date Date `json:"date"`
	// At is the instant of the rates, if the source has one.
	At     time.Time                 `json:"at,omitzero"`
	Base   money.Currency            `json:"base"`
	Source string                    `json:"source,omitempty"`
	Rates  map[money.Currency]string `json:"rates"`
}

// RateDays is a request to load days of rates.
type RateDays struct {
	Days        []RateDay `json:"days"`
	TTLSeconds  int       `json:"ttlSeconds,omitempty"`
	Force       bool      `json:"force,omitempty"`
	HistoryOnly bool      `json:"historyOnly,omitempty"`
}

// LoadedRates is the result of a load.
type LoadedRates struct {
	Days  int  `json:"days"`
	Rates int  `json:"rates"`
	First Date `json:"first,omitempty"`
	Last  Date `json:"last,omitempty"`
	// Current is the number of rates that became current rates, and Kept the number of those for
	// which a newer one was stored. TooOld reports whether the newest day is too old for current
	// rates.
	Current int  `json:"current"`
	Kept    int  `json:"kept"`
	TooOld  bool `json:"tooOld"`
	// Refused are the first refused rates.
	Refused      []RefusedRate `json:"refused"`
	RefusedCount int           `json:"refusedCount"`
}

// RefusedRate is a refused rate with the reason.
type RefusedRate struct {
	Base   money.Currency `json:"base"`
	Target money.Currency `json:"target"`
	Date   Date           `json:"date"`
	Code   problem.Code   `json:"code"`
	Reason string         `json:"reason"`
}

// RatesHealth is the result of a check of the stored rates. Status is ok if each can be read and
// is fresh, stale if one is not fresh, unreadable if one cannot be read, and empty if there is
// none, so that nothing could be checked.
type RatesHealth struct {
	Status     string    `json:"status"`
	Fresh      int       `json:"fresh"`
	Stale      int       `json:"stale"`
	Gone       int       `json:"gone"`
	Newest     time.Time `json:"newest,omitzero"`
	AgeSeconds int       `json:"ageSeconds,omitempty"`
	// Fetches is nil if the server does not fetch rates.
	Fetches *RateFetches `json:"fetches,omitempty"`
	// Unreadable are the stored rates that cannot be read. They are not counted.
	Unreadable []UnreadableItem `json:"unreadable,omitempty"`
}

// RateFetches is the status of fetching rates.
type RateFetches struct {
	Source      string    `json:"source"`
	Tried       time.Time `json:"tried,omitzero"`
	Succeeded   time.Time `json:"succeeded,omitzero"`
	Failures    int       `json:"failures"`
	Problem     string    `json:"problem,omitempty"`
	PausedUntil time.Time `json:"pausedUntil,omitzero"`
	Newest      Date      `json:"newest,omitempty"`
}

func pairPath(base, target money.Currency) string {
	return "/v1/rates/" + segment(base) + "/" + segment(target)
}

func (q RateQuery) values() url.Values {
	values := url.Values{}
	if q.On != "" {
		values.Set("date", string(q.On))
	}
	if q.Fresh {
		values.Set("fresh", "true")
	}
	return values
}

// Rate returns the rate of a pair, stored or derived.
func (c *Client) Rate(ctx context.Context, q RateQuery) (Quote, error) {
	return answer[Quote](ctx, c.get(pairPath(q.Base, q.Target), q.values()))
}

// Convert returns an amount in another currency, rounded once, at the end.
func (c *Client) Convert(ctx context.Context, q ConvertQuery) (Conversion, error) {
	q.Base = q.Amount.Currency()
	values := q.values()
	values.Set("amount", q.Amount.Decimal())
	if q.Rounding != "" {
		values.Set("rounding", q.Rounding)
	}
	if q.Cash {
		values.Set("cash", "true")
	}
	return answer[Conversion](ctx, c.get(pairPath(q.Base, q.Target)+"/convert", values))
}

// RateHistory returns the rates of a pair over days, both included, one for each day that has its
// own. The first is the rate of the first day.
func (c *Client) RateHistory(
	ctx context.Context, base, target money.Currency, from, to Date,
) ([]Quote, error) {
	values := url.Values{"from": {string(from)}, "to": {string(to)}}
	page, err := answer[Page[Quote]](ctx, c.get(pairPath(base, target)+"/history", values))
	return page.rows(err)
}

// RatesOfBase returns the fresh stored rates of a base, or with stale also the stale ones.
func (c *Client) RatesOfBase(
	ctx context.Context, base money.Currency, stale bool,
) ([]Rate, error) {
	values := url.Values{}
	if stale {
		values.Set("stale", strconv.FormatBool(stale))
	}
	page, err := answer[Page[Rate]](ctx, c.get("/v1/rates/"+segment(base), values))
	return page.rows(err)
}

// Rates returns a page of all stored rates in no particular order.
func (c *Client) Rates(ctx context.Context, q PageQuery) (Page[Rate], error) {
	return answer[Page[Rate]](ctx, c.get("/v1/rates", q.values(nil)))
}

// AllRates returns all stored rates.
func (c *Client) AllRates(ctx context.Context, q PageQuery) iter.Seq2[Rate, error] {
	return allFrom(q, func(p PageQuery) (Page[Rate], error) { return c.Rates(ctx, p) })
}

// SaveRate saves a rate.
func (c *Client) SaveRate(ctx context.Context, n NewRate) (Rate, error) {
	r := c.post(pairPath(n.Base, n.Target), n)
	r.method = http.MethodPut
	// With the same instant a repeat replaces the rate by itself; without one it would be another
	// rate.
	r.safe = !n.AsOf.IsZero()
	return answer[Rate](ctx, r)
}

// DeleteRate deletes the stored rate of a pair, if there is one.
func (c *Client) DeleteRate(ctx context.Context, base, target money.Currency) error {
	r := c.get(pairPath(base, target), nil)
	r.method = http.MethodDelete
	response, err := r.send(ctx)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return r.broken(err)
	}
	return nil
}

// LoadRates loads days that a source published, at most a thousand in one call.
func (c *Client) LoadRates(ctx context.Context, days RateDays) (LoadedRates, error) {
	r := c.post("/v1/rates/days", days)
	r.safe = true // loading the same days again changes nothing
	return answer[LoadedRates](ctx, r)
}

// FetchRates makes the server fetch rates from its source now.
func (c *Client) FetchRates(ctx context.Context) (LoadedRates, error) {
	return answer[LoadedRates](ctx, c.post("/v1/rates/fetch", nil))
}

// RatesHealth returns whether the rates are fresh, and the status of fetching them.
func (c *Client) RatesHealth(ctx context.Context) (RatesHealth, error) {
	return answer[RatesHealth](ctx, c.get("/v1/rates/health", nil))
}

// Exchanging is a request to exchange money for another currency.
type Exchanging struct {
	// IdempotencyKey makes the request safe to repeat at any time. A repeat without a rate is the
	// same request even if the stored rate has changed; a Rate, On or Bought must be that of the
	// first request. If the key is empty, the client generates one.
	IdempotencyKey string
	From, To       AccountID
	// Sold is debited from From, in its currency.
	Sold money.Amount
	// Into is the currency that is bought; empty means that of To.
	Into money.Currency
	// Rate is the agreed rate, and On the day of the stored rate to use. Without either, the
	// current stored rate is used, which must be fresh unless AllowStale is set.
	Rate       money.Decimal
	On         Date
	AllowStale bool
	// Bought, if it is not zero, is the agreed amount. It may differ from the converted one by the
	// smallest unit of its currency.
	Bought money.Amount
	// Rounding is half-up, half-even, down or up; empty means half-up.
	Rounding    string
	Description string
	Metadata    map[string]string
}

type exchangingJSON struct {
	From        AccountID         `json:"from"`
	To          AccountID         `json:"to"`
	Amount      string            `json:"amount"`
	Currency    money.Currency    `json:"currency"`
	Into        money.Currency    `json:"into,omitempty"`
	Rate        string            `json:"rate,omitempty"`
	On          Date              `json:"date,omitempty"`
	AllowStale  bool              `json:"allowStale,omitempty"`
	Bought      string            `json:"bought,omitempty"`
	Rounding    string            `json:"rounding,omitempty"`
	Description string            `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// Exchange exchanges money of one currency for another, exactly once for its idempotency key.
func (c *Client) Exchange(ctx context.Context, e Exchanging) (Receipt, error) {
	body := exchangingJSON{
		From: e.From, To: e.To, Amount: e.Sold.Text(), Currency: e.Sold.Currency(), Into: e.Into,
		On: e.On, AllowStale: e.AllowStale, Bought: optionalText(e.Bought), Rounding: e.Rounding,
		Description: e.Description, Metadata: e.Metadata,
	}
	if !e.Rate.IsZero() {
		body.Rate = e.Rate.String()
	}
	r := c.post("/v1/transactions/exchange", body)
	r.key, r.safe = e.IdempotencyKey, true
	if r.key == "" {
		r.key = newKey()
	}
	return receipt(ctx, r)
}

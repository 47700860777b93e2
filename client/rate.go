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

// RateState says what may be done with a stored rate.
type RateState string

// The states of a rate.
const (
	RateFresh RateState = "fresh"
	RateStale RateState = "stale"
	RateGone  RateState = "gone"
)

// Rate is a stored exchange rate: so many units of Target for one of Base.
type Rate struct {
	Base   money.Currency `json:"base"`
	Target money.Currency `json:"target"`
	Rate   money.Decimal  `json:"rate"`
	AsOf   time.Time      `json:"asOf"`
	State  RateState      `json:"state"`
	// FreshUntil is zero for a rate that is fresh until it expires.
	FreshUntil time.Time `json:"freshUntil,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`
	Source     string    `json:"source,omitempty"`
}

// RateQuery asks for the rate of a pair.
type RateQuery struct {
	Base, Target money.Currency
	// On is the day whose rate is wanted; empty means now.
	On Date
	// Fresh refuses a rate of now that is stale.
	Fresh bool
}

// Quote is the rate of a pair, stored or derived, and what it rests on.
type Quote struct {
	Base   money.Currency `json:"base"`
	Target money.Currency `json:"target"`
	// Rate is for reading; the exact rate is Above / Below.
	Rate  money.Decimal `json:"rate"`
	Above money.Decimal `json:"above"`
	Below money.Decimal `json:"below"`
	// On is the day that was asked for and Date that of the rate itself; AsOf is for rates of now.
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

// QuoteLeg is a stored or fixed rate that a quote is made of.
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

// ConvertQuery asks for an amount in another currency.
type ConvertQuery struct {
	RateQuery
	// Amount is in the base, which its currency is.
	Amount money.Amount
	// Rounding is half-up, half-even, down or up; empty means half-up.
	Rounding string
	// Cash rounds to what can be paid in coins.
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

// NewRate asks for a rate to be saved.
type NewRate struct {
	Base   money.Currency `json:"-"`
	Target money.Currency `json:"-"`
	Rate   money.Decimal  `json:"rate"`
	// AsOf is when the rate was so; zero means now.
	AsOf time.Time `json:"asOf,omitzero"`
	// TTLSeconds is how long it is fresh; 0 means a day.
	TTLSeconds int    `json:"ttlSeconds,omitempty"`
	Stale      bool   `json:"stale,omitempty"`
	Source     string `json:"source,omitempty"`
	// Force saves it though a check speaks against it.
	Force bool `json:"force,omitempty"`
}

// RateDay is what a source has published for a day.
type RateDay struct {
	Date Date `json:"date"`
	// At is the instant of the rates, where the source tells it.
	At     time.Time                 `json:"at,omitzero"`
	Base   money.Currency            `json:"base"`
	Source string                    `json:"source,omitempty"`
	Rates  map[money.Currency]string `json:"rates"`
}

// RateDays asks for days to be taken in.
type RateDays struct {
	Days        []RateDay `json:"days"`
	TTLSeconds  int       `json:"ttlSeconds,omitempty"`
	Force       bool      `json:"force,omitempty"`
	HistoryOnly bool      `json:"historyOnly,omitempty"`
}

// LoadedRates tells what was taken in.
type LoadedRates struct {
	Days  int  `json:"days"`
	Rates int  `json:"rates"`
	First Date `json:"first,omitempty"`
	Last  Date `json:"last,omitempty"`
	// Current counts the rates that are those of now as well, Kept those that were newer already;
	// TooOld tells that the newest day is too old for that.
	Current int  `json:"current"`
	Kept    int  `json:"kept"`
	TooOld  bool `json:"tooOld"`
	// Refused are the first of those that were not taken in.
	Refused      []RefusedRate `json:"refused"`
	RefusedCount int           `json:"refusedCount"`
}

// RefusedRate is a rate that was not taken in, and why.
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
	// Fetches is nil where the server fetches no rates.
	Fetches *RateFetches `json:"fetches,omitempty"`
	// Unreadable are the stored rates that cannot be read. They are in none of the counts.
	Unreadable []UnreadableItem `json:"unreadable,omitempty"`
}

// RateFetches tells how the fetching of rates goes.
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
		values.Set("on", string(q.On))
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

// RateHistory returns the rates of a pair over days, both ends included, one for each day that has
// its own; the first is that of the first day.
func (c *Client) RateHistory(
	ctx context.Context, base, target money.Currency, from, to Date,
) ([]Quote, error) {
	values := url.Values{"from": {string(from)}, "to": {string(to)}}
	page, err := answer[Page[Quote]](ctx, c.get(pairPath(base, target)+"/history", values))
	return page.rows(err)
}

// RatesOfBase returns the stored rates of a base that are fresh, or the stale ones too.
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

// Rates returns a page of all stored rates, in no order.
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
	// A repeat at the same instant replaces the rate by itself; without one it would be another.
	r.safe = !n.AsOf.IsZero()
	return answer[Rate](ctx, r)
}

// DeleteRate deletes the stored rate of a pair, whether there is one or not.
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

// LoadRates takes in days that a source has published, at most a thousand at once.
func (c *Client) LoadRates(ctx context.Context, days RateDays) (LoadedRates, error) {
	r := c.post("/v1/rates/days", days)
	r.safe = true // Taking the same days in again changes nothing.
	return answer[LoadedRates](ctx, r)
}

// FetchRates makes the server fetch rates from its source now.
func (c *Client) FetchRates(ctx context.Context) (LoadedRates, error) {
	return answer[LoadedRates](ctx, c.post("/v1/rates/fetch", nil))
}

// RatesHealth tells whether the rates are fresh, and how the fetching of them goes.
func (c *Client) RatesHealth(ctx context.Context) (RatesHealth, error) {
	return answer[RatesHealth](ctx, c.get("/v1/rates/health", nil))
}

// Exchanging asks for money of one currency to be exchanged for another.
type Exchanging struct {
	// IdempotencyKey makes the request safe to repeat at any time. A repeat that names no rate is
	// the same request though the stored rate has moved; a Rate, On or Bought that it names must be
	// the one of the first request. Empty means that the client makes one up.
	IdempotencyKey string
	From, To       AccountID
	// Sold is debited from From, in its currency.
	Sold money.Amount
	// Into is the currency that is bought; empty means that of To.
	Into money.Currency
	// Rate is the rate that was agreed on, On the day whose stored rate is taken; without either
	// it is the stored rate of now, which must be fresh unless AllowStale is set.
	Rate       money.Decimal
	On         Date
	AllowStale bool
	// Bought, if it is not zero, is the amount that was agreed on. It may differ from the converted
	// one by the smallest unit of its currency.
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
	On          Date              `json:"on,omitempty"`
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

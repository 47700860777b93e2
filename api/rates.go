package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

var ratesChapter = &Chapter{
	Name: "Exchange rates", System: "rates",
	Description: "What currencies cost in each other, now and on each day",
}

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
	Base       money.Currency `json:"base" example:"USD"`
	Target     money.Currency `json:"target" example:"EUR"`
	Rate       money.Decimal  `json:"rate" doc:"How much of the target one of the base costs" example:"0.85"`
	AsOf       Instant        `json:"asOf" doc:"When it was so"`
	State      RateState      `json:"state" enum:"fresh,stale,gone" doc:"What may be done with it now; one that is gone is served nowhere else"`
	FreshUntil Instant        `json:"freshUntil,omitzero" doc:"When it stops being fresh"`
	Expires    Instant        `json:"expires,omitzero" doc:"When the store may remove it"`
	Source     string         `json:"source,omitempty" doc:"Where it is from" example:"ecb"`
}

// Quote is the rate of a pair, stored or derived, with its sources.
type Quote struct {
	Base       money.Currency   `json:"base" example:"USD"`
	Target     money.Currency   `json:"target" example:"JPY"`
	Rate       money.Decimal    `json:"rate" doc:"For reading: a derived rate has twelve significant digits" example:"159.833960972"`
	Above      money.Decimal    `json:"above" doc:"The exact rate is above / below" example:"186.75"`
	Below      money.Decimal    `json:"below" example:"1.1684"`
	On         Date             `json:"on,omitempty" format:"date" doc:"The day that was asked for"`
	Date       Date             `json:"date,omitempty" format:"date" doc:"The day of the rate itself, of the older leg where there are two; absent for fixed rates"`
	AsOf       Instant          `json:"asOf,omitzero" doc:"When a rate of now was so, the older leg of two"`
	AgeSeconds int              `json:"ageSeconds,omitempty" doc:"How long ago that is"`
	Stale      bool             `json:"stale" doc:"Whether a rate of now is no longer fresh"`
	FreshUntil Instant          `json:"freshUntil,omitzero" doc:"When it stops, or stopped, being fresh"`
	Source     string           `json:"source,omitempty" doc:"Where it is from" example:"ecb"`
	Derived    bool             `json:"derived" doc:"Whether it is not stored as such but follows from the legs"`
	Via        []money.Currency `json:"via,omitempty" nullable:"false" doc:"The currencies in between"`
	Legs       []QuoteLeg       `json:"legs" nullable:"false" doc:"The rates it is made of; none for a currency to itself"`
	DaysApart  int              `json:"daysApart,omitempty" doc:"How many days lie between the legs"`
}

// QuoteLeg is a stored or fixed rate from which a quote is computed.
type QuoteLeg struct {
	Base     money.Currency `json:"base" example:"EUR"`
	Target   money.Currency `json:"target" example:"USD"`
	Rate     money.Decimal  `json:"rate" doc:"As it is stored" example:"1.1684"`
	Inverted bool           `json:"inverted" doc:"Whether it is used as 1 / rate"`
	Fixed    bool           `json:"fixed,omitempty" doc:"Whether it is irrevocable, as that of a currency which the euro has replaced"`
	Date     Date           `json:"date,omitempty" format:"date"`
	AsOf     Instant        `json:"asOf,omitzero"`
	Stale    bool           `json:"stale,omitempty"`
	Source   string         `json:"source,omitempty"`
}

// Conversion is an amount in another currency.
type Conversion struct {
	Amount    Amount         `json:"amount" example:"100.00"`
	Currency  money.Currency `json:"currency" example:"USD"`
	Converted Amount         `json:"converted" doc:"Rounded once, at the end" example:"15983"`
	Into      money.Currency `json:"into" example:"JPY"`
	Rounding  string         `json:"rounding" example:"half up"`
	Cash      bool           `json:"cash,omitempty" doc:"Whether it is rounded to what can be paid in coins"`
	Quote     Quote          `json:"quote"`
}

// NewRate is the body that saves a rate.
type NewRate struct {
	Rate       money.Decimal `json:"rate" doc:"How much of the target one of the base costs" example:"0.85"`
	AsOf       Instant       `json:"asOf,omitzero" doc:"When it was so; now, if left out" example:"2026-01-02T10:30:00Z"`
	TTLSeconds int           `json:"ttlSeconds,omitempty" minimum:"1" maximum:"316224000" doc:"How long it is fresh; a day, if left out" example:"86400"`
	Stale      bool          `json:"stale,omitempty" doc:"A mark that it could not be renewed"`
	Source     string        `json:"source,omitempty" doc:"Where it is from"`
	Force      bool          `json:"force,omitempty" doc:"Saves it though a check speaks against it"`
}

// RateDay is the rates that a source published for a day.
type RateDay struct {
	Date   Date                             `json:"date" format:"date" example:"2025-12-31"`
	At     Instant                          `json:"at,omitzero" doc:"The instant of the rates, where the source tells it" example:"2025-12-31T15:00:00Z"`
	Base   money.Currency                   `json:"base" example:"EUR"`
	Source string                           `json:"source,omitempty" example:"ecb"`
	Rates  map[money.Currency]money.Decimal `json:"rates" doc:"How much of each currency one of the base costs"`
}

// RateDays is the body that loads days of rates.
type RateDays struct {
	Days        []RateDay `json:"days" nullable:"false" doc:"What a source has published, at most 1000 days"`
	TTLSeconds  int       `json:"ttlSeconds,omitempty" minimum:"1" maximum:"316224000" doc:"How long the newest rates are fresh; until the next publication of the European Central Bank, if left out"`
	Force       bool      `json:"force,omitempty" doc:"Takes rates in though checks speak against them"`
	HistoryOnly bool      `json:"historyOnly,omitempty" doc:"Leaves the rates of now alone"`
}

// LoadedRates is the result of a load.
type LoadedRates struct {
	Days         int           `json:"days" doc:"Days that the history has now"`
	Rates        int           `json:"rates" doc:"Rates that the history has now"`
	First        Date          `json:"first,omitempty" format:"date"`
	Last         Date          `json:"last,omitempty" format:"date"`
	Current      int           `json:"current" doc:"Rates of the newest day that are those of now as well"`
	Kept         int           `json:"kept" doc:"Rates of now that were newer already"`
	TooOld       bool          `json:"tooOld" doc:"Whether the newest day is too old to be anything but history"`
	Refused      []RefusedRate `json:"refused" nullable:"false" doc:"The first hundred that were not taken in"`
	RefusedCount int           `json:"refusedCount"`
}

// RefusedRate is a refused rate with the reason.
type RefusedRate struct {
	Base   money.Currency `json:"base"`
	Target money.Currency `json:"target"`
	Date   Date           `json:"date" format:"date"`
	Code   problem.Code   `json:"code" example:"rate_jump_too_large"`
	Reason string         `json:"reason"`
}

// RatesHealth is the result of a check of the stored rates.
type RatesHealth struct {
	Status     string           `json:"status" enum:"ok,stale,empty,unreadable" doc:"ok while every rate can be read and is fresh"`
	Fresh      int              `json:"fresh"`
	Stale      int              `json:"stale"`
	Gone       int              `json:"gone"`
	Newest     Instant          `json:"newest,omitzero"`
	AgeSeconds int              `json:"ageSeconds,omitempty"`
	Fetches    *RateFetches     `json:"fetches,omitempty" doc:"Absent where no rates are fetched"`
	Unreadable []UnreadableItem `json:"unreadable,omitempty" nullable:"false" doc:"The stored rates that cannot be read, which are in none of the counts; absent if all can"`
}

// RateFetches is the state of fetching rates.
type RateFetches struct {
	Source      string  `json:"source" doc:"The address, without what may be secret in it"`
	Tried       Instant `json:"tried,omitzero"`
	Succeeded   Instant `json:"succeeded,omitzero"`
	Failures    int     `json:"failures" doc:"Those since the last success"`
	Problem     string  `json:"problem,omitempty" doc:"The last one's"`
	PausedUntil Instant `json:"pausedUntil,omitzero" doc:"When the source is asked again at the earliest"`
	Newest      Date    `json:"newest,omitempty" format:"date" doc:"The newest day that was taken in"`
}

// Roundings are the ways to round, by their names in requests.
var Roundings = map[string]money.Rounding{
	"half-up": money.HalfUp, "half-even": money.HalfEven, "down": money.Down, "up": money.Up,
}

// The requests.
type (
	// Pair names a pair of currencies.
	Pair struct {
		Base   money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Target money.Currency `path:"target" doc:"A code of ISO 4217" example:"EUR"`
	}

	// RateQuery selects the rate of a pair.
	RateQuery struct {
		Base   money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Target money.Currency `path:"target" doc:"A code of ISO 4217" example:"EUR"`
		On     Date           `query:"date" doc:"The day whose rate is wanted; now without it" example:"2025-12-31"`
		Fresh  bool           `query:"fresh" doc:"Whether a stale rate is refused"`
	}

	// ConvertQuery converts an amount of the base.
	ConvertQuery struct {
		RateQuery
		Amount   Amount `query:"amount" required:"true" doc:"In the base" example:"100.00"`
		Rounding string `query:"rounding" enum:"half-up,half-even,down,up" default:"half-up" doc:"How the converted amount is rounded"`
		Cash     bool   `query:"cash" doc:"Whether it is rounded to what can be paid in coins"`
	}

	// RateHistoryQuery selects the rates of a pair over days.
	RateHistoryQuery struct {
		Base   money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Target money.Currency `path:"target" doc:"A code of ISO 4217" example:"EUR"`
		From   Date           `query:"from" required:"true" doc:"The first day" example:"2026-01-01"`
		To     Date           `query:"to" required:"true" doc:"The last day, which is included" example:"2026-01-31"`
	}

	// BaseQuery selects the stored rates of a base.
	BaseQuery struct {
		Base  money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Stale bool           `query:"stale" doc:"Whether stale rates are listed as well"`
	}

	// SaveRateRequest saves the rate of a pair.
	SaveRateRequest struct {
		Base    money.Currency `path:"base" doc:"A code of ISO 4217" example:"USD"`
		Target  money.Currency `path:"target" doc:"A code of ISO 4217" example:"EUR"`
		NewRate NewRate        `body:""`
	}

	// LoadRatesRequest loads days of rates.
	LoadRatesRequest struct {
		Days RateDays `body:""`
	}
)

// quoteProblems are those of every operation that looks up a rate.
func quoteProblems(more ...problem.Code) []problem.Code {
	return append([]problem.Code{
		"request_invalid", "rate_date_in_future", "rate_not_found",
		"rate_not_fresh", "rate_dates_too_far_apart", "rate_unavailable", "rate_source_unavailable",
	}, more...)
}

// The operations.
var (
	ListRates = op[Page, List[Rate]](Operation{
		ID: "list-rates", Method: http.MethodGet, Path: "/v1/rates", Chapter: ratesChapter,
		Scope: RatesRead, Summary: "List all stored rates",
		Description: "Those of now, in no order, and in every state.",
		Problems:    []problem.Code{"cursor_invalid"},
	})
	GetRatesHealth = op[None, RatesHealth](Operation{
		ID: "get-rates-health", Method: http.MethodGet, Path: "/v1/rates/health",
		Chapter: ratesChapter, Scope: RatesRead, Summary: "Tell whether the rates are fresh",
		Description: "And how the fetching of them goes, where there is any.",
	})
	ListRatesOfBase = op[BaseQuery, List[Rate]](Operation{
		ID: "list-rates-of-base", Method: http.MethodGet, Path: "/v1/rates/{base}",
		Chapter: ratesChapter, Scope: RatesRead, Summary: "List the stored rates of a base",
		Description: "Those that are fresh, sorted by target. Expired ones are left out, whether the " +
			"store has removed them or not.",
		Problems: []problem.Code{"request_invalid"},
	})
	GetRate = op[RateQuery, Quote](Operation{
		ID: "get-rate", Method: http.MethodGet, Path: "/v1/rates/{base}/{target}",
		Chapter: ratesChapter, Scope: RatesRead, Summary: "Get the rate of a pair",
		Description: "Stored or derived: as the inverse, or through a third currency. A rate of now " +
			"that is no longer fresh is served as stale for a time, and then no more. The rate of a " +
			"day is that of the last day with one, at most 14 days before, and comes with its own date.",
		Problems: quoteProblems(),
	})
	Convert = op[ConvertQuery, Conversion](Operation{
		ID: "convert", Method: http.MethodGet, Path: "/v1/rates/{base}/{target}/convert",
		Chapter: ratesChapter, Scope: RatesRead, Summary: "Convert an amount",
		Description: "It is rounded once, at the end, to the digits of the target. The rate that was " +
			"used comes with it.",
		Problems: quoteProblems("rate_code_unknown", "amount_too_large"),
	})
	ListRatesOfDays = op[RateHistoryQuery, List[Quote]](Operation{
		ID: "list-rates-of-days", Method: http.MethodGet,
		Path: "/v1/rates/{base}/{target}/history", Chapter: ratesChapter, Scope: RatesRead,
		Summary: "List the rates of a pair day by day",
		Description: "One for each day that has its own. The first one is the rate of the first day, " +
			"though it may be older.",
		Problems: quoteProblems("date_range_too_long"),
	})
	SaveRate = op[SaveRateRequest, Rate](Operation{
		ID: "save-rate", Method: http.MethodPut, Path: "/v1/rates/{base}/{target}",
		Chapter: ratesChapter, Scope: RatesWrite, Summary: "Save a rate",
		Description: "A rate never replaces one that is newer. An unknown code, a date far ahead, and " +
			"a jump are refused unless forced.",
		Example: map[string]any{"rate": "0.85", "ttlSeconds": 86400},
		Problems: []problem.Code{
			"request_invalid", "rate_not_positive", "rate_code_unknown", "rate_time_in_future",
			"rate_jump_too_large", "rate_outdated", "contended",
		},
		// With the same instant a repeat replaces the rate by itself; without one it would be
		// another rate.
		Safe: func(in any) bool { return !in.(SaveRateRequest).NewRate.AsOf.IsZero() },
	})
	DeleteRate = op[Pair, None](Operation{
		ID: "delete-rate", Method: http.MethodDelete, Path: "/v1/rates/{base}/{target}",
		Chapter: ratesChapter, Scope: RatesWrite, Status: http.StatusNoContent,
		Summary:     "Delete the stored rate of a pair",
		Description: "Whether there is one or not. The history stays.",
		Problems:    []problem.Code{"request_invalid", "contended"},
	})
	LoadRates = op[LoadRatesRequest, LoadedRates](Operation{
		ID: "load-rates", Method: http.MethodPost, Path: "/v1/rates/days", Chapter: ratesChapter,
		Scope: RatesWrite, Summary: "Take in what a source has published",
		Description: "Each day goes into the history, and the newest one becomes the rates of now " +
			"unless it is too old for that. Doing it again changes nothing.",
		Example: map[string]any{"days": []any{map[string]any{
			"date": "2025-12-31", "base": "EUR", "source": "ecb",
			"rates": map[string]string{"USD": "1.1684"},
		}}},
		Problems: []problem.Code{
			"request_invalid", "rate_date_in_future", "date_range_too_long", "contended",
		},
		Safe: always, // Loading the same days again changes nothing.
	})
	FetchRates = op[None, LoadedRates](Operation{
		ID: "fetch-rates", Method: http.MethodPost, Path: "/v1/rates/fetch", Chapter: ratesChapter,
		Scope: RatesWrite, Summary: "Fetch rates from the server's source now",
		Description: "As the server does by itself. When it fails, the rates that are there stay.",
		Problems: []problem.Code{
			"rate_source_missing", "rate_fetch_failed", "rate_fetch_paused", "contended",
		},
	})
)

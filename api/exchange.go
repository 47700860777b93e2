package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/money"
)

// NewExchange is the body that exchanges money of one currency for another.
type NewExchange struct {
	From        AccountID         `json:"from" doc:"The account to debit" example:"alice-usd"`
	To          AccountID         `json:"to" doc:"The account to credit, in another currency" example:"alice-eur"`
	Amount      Amount            `json:"amount" doc:"How much is sold" example:"100.00"`
	Currency    money.Currency    `json:"currency" doc:"That of the amount" example:"USD"`
	Into        money.Currency    `json:"into,omitempty" doc:"The currency that is bought; without it that of the account to credit" example:"EUR"`
	Rate        Amount            `json:"rate,omitempty" doc:"The rate that was agreed on; without it the stored one" example:"0.8559"`
	On          Date              `json:"date,omitempty" doc:"The day whose stored rate is taken; now without it" example:"2025-12-31"`
	AllowStale  bool              `json:"allowStale,omitempty" doc:"Whether a stored rate that is no longer fresh will do"`
	Bought      Amount            `json:"bought,omitempty" doc:"The amount that was agreed on. It may differ from the converted one by the smallest unit of its currency, which is posted to @rounding" example:"85.60"`
	Rounding    string            `json:"rounding,omitempty" enum:"half-up,half-even,down,up" doc:"How the bought amount is rounded; half-up without it"`
	Description string            `json:"description,omitempty" doc:"At most 1,024 bytes"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 50 pairs and 4,096 bytes, with those that the exchange notes itself: exchange.rate, exchange.asOf, exchange.source, exchange.on, exchange.rounding"`
}

// ExchangeRequest exchanges money.
type ExchangeRequest struct {
	IdempotencyKey string      `header:"Idempotency-Key" doc:"1 to 255 characters that name this request for ever; required" example:"order-1"`
	Exchange       NewExchange `body:""`
}

// Exchange exchanges money of one currency for another.
var Exchange = op[ExchangeRequest, Transaction](Operation{
	ID: "exchange", Method: http.MethodPost, Path: "/v1/transactions/exchange",
	Chapter: transactionsChapter, Scope: LedgerWrite, Status: http.StatusCreated, Replays: true,
	NeedsKey: true,
	Summary:  "Exchange money of one currency for another",
	Description: "Posts one transaction that balances in each currency: what is sold goes to " +
		"@exchange of its currency, what is bought comes from that of the other. It happens " +
		"once for its Idempotency-Key: an equal request gets the first answer, with status " +
		"200 and Idempotent-Replayed: true. A term that a repeat names must be the one of " +
		"the first request; a repeat that names no rate is equal though the stored rate has " +
		"moved since.",
	Example: NewExchange{
		From: "alice-usd", To: "alice-eur", Amount: "100.00", Currency: "USD", Into: "EUR",
	},
	Problems: append(postingProblems("bought_out_of_range"), quoteProblems()...),
	Safe:     always, // The key makes it so.
})

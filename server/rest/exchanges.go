package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// exchanging is the body that asks for money to be exchanged.
type exchanging struct {
	From        ledger.AccountID  `json:"from" doc:"The account to debit" example:"alice-usd"`
	To          ledger.AccountID  `json:"to" doc:"The account to credit, in another currency" example:"alice-eur"`
	Amount      payload.Decimal   `json:"amount" doc:"How much is sold" example:"100.00"`
	Currency    money.Currency    `json:"currency" doc:"That of the amount" example:"USD"`
	Into        money.Currency    `json:"into,omitempty" doc:"The currency that is bought; without it that of the account to credit" example:"EUR"`
	Rate        payload.Decimal   `json:"rate,omitempty" doc:"The rate that was agreed on; without it the stored one" example:"0.8559"`
	On          rates.Date        `json:"date,omitempty" doc:"The day whose stored rate is taken; now without it" example:"2025-12-31"`
	AllowStale  bool              `json:"allowStale,omitempty" doc:"Whether a stored rate that is no longer fresh will do"`
	Bought      payload.Decimal   `json:"bought,omitempty" doc:"The amount that was agreed on. It may differ from the converted one by the smallest unit of its currency, which is posted to @rounding" example:"85.60"`
	Rounding    string            `json:"rounding,omitempty" enum:"half-up,half-even,down,up" doc:"How the bought amount is rounded; half-up without it"`
	Description string            `json:"description,omitempty" doc:"At most 1,024 bytes"`
	Metadata    map[string]string `json:"metadata,omitempty" doc:"At most 50 pairs and 4,096 bytes, with those that the exchange notes itself: exchange.rate, exchange.asOf, exchange.source, exchange.on, exchange.rounding"`
}

func (a *API) registerExchanges() {
	registerBody(a.Router, operation{
		id: "exchange", method: http.MethodPost, path: "/v1/transactions/exchange",
		tag: "Transactions", scope: api.LedgerWrite, status: http.StatusCreated,
		summary: "Exchange money of one currency for another",
		description: "Posts one transaction that balances in each currency: what is sold goes to " +
			"@exchange of its currency, what is bought comes from that of the other. It happens " +
			"once for its Idempotency-Key: an equal request gets the first answer, with status " +
			"200 and Idempotent-Replayed: true. A term that a repeat names must be the one of " +
			"the first request; a repeat that names no rate is equal though the stored rate has " +
			"moved since.",
		example: exchanging{
			From: "alice-usd", To: "alice-eur", Amount: "100.00", Currency: "USD", Into: "EUR",
		},
		problems: append(append(postingProblems(), ledger.ErrBoughtOutOfRange),
			quoteProblems()...),
	}, a.exchange)
}

// read reads the body but for the rate.
func (x *exchanging) read(key string) (ledger.Exchanging, error) {
	e := ledger.Exchanging{
		IdempotencyKey: key, From: x.From, To: x.To, Currency: x.Into,
		On: string(x.On), Description: x.Description, Metadata: x.Metadata,
	}
	var wrong problem.Fields
	checkCurrency(&wrong, "currency", x.Currency)
	checkCurrency(&wrong, "into", x.Into)
	e.Sold = readAmount(&wrong, "amount", x.Amount, x.Currency)
	if x.Bought != "" {
		e.Bought = readAmount(&wrong, "bought", x.Bought, x.Into)
		if e.Bought.Sign() <= 0 {
			wrong.Add("bought", "must be more than zero")
		}
	}
	rounding, ok := roundings[x.Rounding]
	if !ok && x.Rounding != "" {
		wrong.Add("rounding", "must be half-up, half-even, down or up")
	}
	e.Rounding = rounding
	if x.Rate != "" {
		above, err := money.ParseDecimal(string(x.Rate))
		if err != nil || above.Sign() <= 0 {
			wrong.Add("rate", `must be a plain decimal above zero such as "0.85"`)
		}
		if x.On != "" {
			wrong.Add("date", "must be left out where there is a rate")
		}
		e.Rate = ledger.ExchangeRate{Above: above, Below: money.DecimalFromInt(1), Source: "agreed"}
	}
	return e, refused(wrong, ledger.ErrInvalidRequest)
}

func (a *API) exchange(ctx context.Context, in *postParams, body *exchanging) (*receipt, error) {
	if in.IdempotencyKey == "" {
		return nil, missingKey()
	}
	if body.Into == "" && body.To != "" {
		account, err := a.deps.Ledger.Account(ctx, body.To)
		if err != nil && !errors.Is(err, ledger.ErrAccountNotFound) {
			return nil, err
		}
		body.Into = account.Currency()
	}
	e, err := body.read(in.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	r, err := a.exchangeOnce(ctx, e, body)
	a.posted(ledger.CurrencyExchange, r, err)
	if err != nil {
		return nil, err
	}
	return newReceipt(r), nil
}

// exchangeOnce looks for an earlier answer before it asks for a rate, which may be gone by now.
func (a *API) exchangeOnce(
	ctx context.Context, e ledger.Exchanging, body *exchanging,
) (ledger.Receipt, error) {
	r, found, err := a.deps.Ledger.Exchanged(ctx, e)
	if found || err != nil {
		return r, err
	}
	if body.Rate == "" {
		q, err := a.deps.Rates.Quote(ctx, rates.Ask{
			Base: e.Sold.Currency(), Target: e.Currency, On: body.On, FreshOnly: !body.AllowStale,
		})
		if err != nil {
			return ledger.Receipt{}, err
		}
		e.Quote = ledger.ExchangeRate{
			Above: q.Ratio.Above, Below: q.Ratio.Below, AsOf: string(q.Date), Source: q.Source,
		}
		if !q.AsOf.IsZero() {
			e.Quote.AsOf = q.AsOf.Format(time.RFC3339)
		}
	}
	return a.deps.Ledger.Exchange(ctx, e)
}

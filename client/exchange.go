package client

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

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

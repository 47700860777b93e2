package client

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// ReconcileQuery asks whether the books are right over calendar days, both included.
type ReconcileQuery struct {
	From, To Date
	// Cursor continues an earlier run of the same days, from the Cursor of its last Progress.
	Cursor string
	// Progress, if set, is called now and then, by the goroutine of the caller.
	Progress func(ReconcileProgress)
}

// ReconcileProgress tells how far a reconciliation has come.
type ReconcileProgress struct {
	Transactions int `json:"transactions"`
	Legs         int `json:"legs"`
	Accounts     int `json:"accounts"`
	// Found is how many divergences there are so far.
	Found int `json:"found"`
	// Cursor lets another run continue from here.
	Cursor string `json:"cursor,omitempty"`
}

// Reconciliation is the outcome.
type Reconciliation struct {
	From Date `json:"from"`
	To   Date `json:"to"`
	// Balanced tells that nothing diverges.
	Balanced bool `json:"balanced"`
	// Moving tells that postings went on meanwhile, so that totals could not be compared. Run it
	// again, or over days that are past.
	Moving bool `json:"moving"`
	// Until is the instant before which transactions were looked at.
	Until        time.Time `json:"until"`
	Transactions int       `json:"transactions"`
	Legs         int       `json:"legs"`
	Accounts     int       `json:"accounts"`
	// Totals has one entry for each currency, by its code.
	Totals []CurrencyTotal `json:"totals"`
	// Divergences are the first findings, in the order in which they were met; Found counts all.
	Divergences []Divergence `json:"divergences"`
	Found       int          `json:"found"`
}

// CurrencyTotal sums up one currency.
type CurrencyTotal struct {
	Currency money.Currency
	// Debits and Credits are the sums over the days.
	Debits, Credits money.Amount
	// Balances is the sum of all balances at the end of the days, those of the ledger's own
	// accounts included.
	Balances money.Amount
}

// Divergence is one thing that is not as it should be.
type Divergence struct {
	Kind          string         `json:"kind"`
	TransactionID TransactionID  `json:"transactionId,omitempty"`
	AccountID     AccountID      `json:"accountId,omitempty"`
	LegID         LegID          `json:"legId,omitempty"`
	Currency      money.Currency `json:"currency,omitempty"`
	// Want and Got are what should be there and what is, in words of the kind.
	Want string `json:"want"`
	Got  string `json:"got"`
}

// Reconcile checks the books over some days. It may take long; the context ends it.
func (c *Client) Reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	return c.reconcile(ctx, q)
}

package client

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// ReconcileQuery asks whether the books are right: all of them, or the transactions of calendar
// days.
type ReconcileQuery struct {
	// From and To are the first and the last day. An empty day leaves that end open.
	From, To Date
	// Skip and Limit choose the divergences that are listed: Limit of them, or 100, after the first
	// Skip.
	Skip, Limit int
	// Cursor continues an earlier run of the same query, from the Cursor of its last Progress.
	Cursor string
	// Progress, if set, is called now and then, by the goroutine of the caller.
	Progress func(ReconcileProgress)
}

// ReconcileProgress says how far a reconciliation has come.
type ReconcileProgress struct {
	// Step is the part of the run: table, GSI1, GSI2 and, where these disagree, locate and recount.
	Step         string `json:"step"`
	Items        int    `json:"items"`
	Transactions int    `json:"transactions"`
	Legs         int    `json:"legs"`
	Accounts     int    `json:"accounts"`
	// Found is how many divergences there are so far.
	Found int `json:"found"`
	// Cursor lets another run continue from here.
	Cursor string `json:"cursor,omitempty"`
}

// The verdicts of checks.
const (
	// VerdictSound means that everything was compared and nothing is wrong.
	VerdictSound = "sound"
	// VerdictFaulty means that something is wrong.
	VerdictFaulty = "faulty"
	// VerdictBalanced means that all books were compared and nothing diverges.
	VerdictBalanced = "balanced"
	// VerdictDiverges means that something diverges.
	VerdictDiverges = "diverges"
	// VerdictUndecided means that nothing was found, but not everything could be compared.
	VerdictUndecided = "undecided"
)

// Reconciliation is the result of a check of the books.
type Reconciliation struct {
	// From and To are the days that were asked for; an end that was open is empty.
	From Date `json:"from,omitempty"`
	To   Date `json:"to,omitempty"`
	// Verdict is one of the constants.
	Verdict string `json:"verdict"`
	// Balanced reports whether the verdict is VerdictBalanced.
	Balanced bool `json:"balanced"`
	// Until is the instant that the sums are pinned to. What was posted later changes none of them.
	Until time.Time `json:"until"`
	// Items counts all items of the table; Others those that are not the ledger's.
	Items        int `json:"items"`
	Others       int `json:"others"`
	Transactions int `json:"transactions"`
	Legs         int `json:"legs"`
	Accounts     int `json:"accounts"`
	// Totals has one entry for each currency, by its code.
	Totals []CurrencyTotal `json:"totals"`
	// Divergences are those that Skip and Limit choose, in the order in which they were met; Found
	// counts all.
	Divergences []Divergence `json:"divergences"`
	Found       int          `json:"found"`
	// Undecided are the first things that could not be compared, and why; Open counts all.
	Undecided []Divergence `json:"undecided"`
	Open      int          `json:"open"`
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
	// Entry is the primary key of the item in the table.
	Entry string `json:"entry,omitempty"`
	// Want and Got are what should be there and what is, in words of the kind.
	Want string `json:"want"`
	Got  string `json:"got"`
}

// Reconcile checks the books over some days. It may take long; the context ends it.
func (c *Client) Reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	return c.reconcile(ctx, q)
}

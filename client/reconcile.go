package client

import (
	"context"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// ReconcileQuery selects the part of the ledger to check: all of it, or the transactions of
// calendar days.
type ReconcileQuery struct {
	// From and To are the first and the last day. An empty day leaves that end open.
	From, To Date
	// Skip and Limit select the divergences in the result: Limit of them, or 100, after the first
	// Skip.
	Skip, Limit int
	// Cursor continues an earlier run of the same query, from the Cursor of its last Progress.
	Cursor string
	// Progress, if it is set, is called from time to time, on the caller's goroutine.
	Progress func(ReconcileProgress)
}

// ReconcileProgress is the progress of a reconciliation.
type ReconcileProgress struct {
	// Step is the step of the run: table, GSI1, GSI2 and, if these disagree, locate and recount.
	Step         string `json:"step"`
	Items        int    `json:"items"`
	Transactions int    `json:"transactions"`
	Legs         int    `json:"legs"`
	Accounts     int    `json:"accounts"`
	// Found is the number of divergences so far.
	Found int `json:"found"`
	// Cursor lets another run continue from here.
	Cursor string `json:"cursor,omitempty"`
}

// The verdicts of checks.
const (
	// VerdictSound means that everything was compared and no error was found.
	VerdictSound = "sound"
	// VerdictFaulty means that an error was found.
	VerdictFaulty = "faulty"
	// VerdictBalanced means that the whole ledger was compared and nothing diverges.
	VerdictBalanced = "balanced"
	// VerdictDiverges means that something diverges.
	VerdictDiverges = "diverges"
	// VerdictUndecided means that no error was found, but not everything could be compared.
	VerdictUndecided = "undecided"
)

// Reconciliation is the result of a check of the ledger.
type Reconciliation struct {
	// From and To are the requested days; an open end is empty.
	From Date `json:"from,omitempty"`
	To   Date `json:"to,omitempty"`
	// Verdict is one of the constants.
	Verdict string `json:"verdict"`
	// Balanced reports whether the verdict is VerdictBalanced.
	Balanced bool `json:"balanced"`
	// Until is the instant of the sums. Later postings do not change them.
	Until time.Time `json:"until,omitzero"`
	// Items is the number of all items of the table, and Others the number of those that are not
	// the ledger's.
	Items        int `json:"items"`
	Others       int `json:"others"`
	Transactions int `json:"transactions"`
	Legs         int `json:"legs"`
	Accounts     int `json:"accounts"`
	// Totals has one entry for each currency, by its code.
	Totals []CurrencyTotal `json:"totals"`
	// Divergences are those that Skip and Limit select, in the order in which they were found;
	// Found is the number of all.
	Divergences []Divergence `json:"divergences"`
	Found       int          `json:"found"`
	// Undecided are the first things that could not be compared, with the reasons; Open is the
	// number of all.
	Undecided []Divergence `json:"undecided"`
	Open      int          `json:"open"`
}

// CurrencyTotal is the totals of one currency.
type CurrencyTotal struct {
	Currency money.Currency
	// Debits and Credits are the sums over the days.
	Debits, Credits money.Amount
	// Balances is the sum of all balances at the end of the days, including system accounts.
	Balances money.Amount
}

// Divergence is one error that was found.
type Divergence struct {
	Kind          string         `json:"kind"`
	TransactionID TransactionID  `json:"transactionId,omitempty"`
	AccountID     AccountID      `json:"accountId,omitempty"`
	LegID         LegID          `json:"legId,omitempty"`
	Currency      money.Currency `json:"currency,omitempty"`
	// Entry is the primary key of the item in the table.
	Entry string `json:"entry,omitempty"`
	// Want and Got are the expected and the actual value, as text.
	Want string `json:"want"`
	Got  string `json:"got"`
}

// Reconcile checks the ledger over some days. It may take long; the context ends it.
func (c *Client) Reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	return c.reconcile(ctx, q)
}

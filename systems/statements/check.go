package statements

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

// CheckOptions say how totals are checked.
type CheckOptions struct {
	// Repair writes the sheets that differ anew.
	Repair bool
	// Progress, if set, is told after each part of the work.
	Progress func(Checked)
}

// Checked is what a check of totals found.
type Checked struct {
	Months, Rows int // What was read, by month.
	Differences  []Difference
	Repaired     int
}

// Difference is a sheet that is not what the rows add up to.
type Difference struct {
	Month    string
	Currency money.Currency
	// What names the first total that differs: "all", "transfers", "tag tag-001", "merchant
	// Market", "untagged", "unnamed" or "rest".
	What        string
	Sheet, Rows Flow
}

// CheckTotals compares the sheets of an account with what its rows add up to, in every month. Rows
// may be written meanwhile. The error is ErrNoAccount.
func (p *Person) CheckTotals(
	ctx context.Context, account string, o CheckOptions,
) (Checked, error) {
	return Checked{}, errUnbuilt
}

package statements

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/money"
)

// errUnbuilt stands in the place of what follows.
var errUnbuilt = errors.New("not there yet")

// By says what spending is divided by.
type By string

// What spending is divided by.
const (
	ByTag      By = "tag"
	ByMerchant By = "merchant"
	ByAccount  By = "account"
)

// SeriesKind says what a series is of.
type SeriesKind string

// The kinds of series.
const (
	SeriesTag      SeriesKind = "tag"
	SeriesMerchant SeriesKind = "merchant"
	SeriesAccount  SeriesKind = "account"
	SeriesUntagged SeriesKind = "untagged" // Rows, or parts of rows, without a tag.
	SeriesUnnamed  SeriesKind = "unnamed"  // Rows without a merchant.
	SeriesOthers   SeriesKind = "others"   // All that the others do not tell apart.
)

// SpendingQuery asks where the money went, by whole months.
type SpendingQuery struct {
	// From and To are any days of the first and the last month.
	From, To Date
	// Accounts are the accounts to look at; none means all.
	Accounts []string
	// By is ByTag unless it is set.
	By By
	// Currency is the home currency to convert to; empty gives each currency apart.
	Currency money.Currency
	// Top is how many series are told apart, the greatest first; the others are summed up as one.
	// 0 means all.
	Top int
}

// Spending says where the money went. Transfers between the person's own accounts are no part of
// it.
type Spending struct {
	// Months are all months of the range in order, "2026-01". Flows of series are by month, one for
	// each, and zero where there was nothing.
	Months []string
	// Currencies are in the order of their codes; with a home currency there is one.
	Currencies []CurrencySpending
	// Converted tells how amounts came to be in the home currency; nil without one.
	Converted *Conversion
}

// CurrencySpending is spending in one currency.
type CurrencySpending struct {
	Currency money.Currency
	// Series begin with the one that most was spent on. A row with two tags counts for both, so
	// that series by tag may add up to more than the total.
	Series []Series
	// Flows is what all rows add up to, each counted once, by month; Total is their sum.
	Flows []Flow
	Total Flow
}

// Series is one line, or one colour, of a chart.
type Series struct {
	Kind SeriesKind
	// ID is the id of the tag or account; empty for other kinds.
	ID string
	// Label is the tag's text, the merchant's name or the account's.
	Label string
	Flows []Flow // By month.
	Total Flow
}

// Spending sums up what was spent and earned by tag, merchant or account over months. Without a
// home currency, or where accounts are kept in it, only sheets are read. The error is
// ErrInvalidRange, ErrInvalid or ErrNoAccount.
func (p *Person) Spending(ctx context.Context, q SpendingQuery) (Spending, error) {
	return Spending{}, errUnbuilt
}

// CashFlowQuery asks what came in and went out, by whole months; see SpendingQuery.
type CashFlowQuery struct {
	From, To Date
	Accounts []string
	Currency money.Currency
}

// CashFlow is what came in and went out.
type CashFlow struct {
	Months     []string
	Currencies []CurrencyFlow
	Converted  *Conversion
}

// CurrencyFlow is the cash flow in one currency.
type CurrencyFlow struct {
	Currency money.Currency
	// Accounts are those with rows in this currency, in the order of their names.
	Accounts []AccountFlow
	// Months is of all accounts, by month; Total is their sum.
	Months []MonthFlow
	Total  MonthFlow
}

// AccountFlow is the cash flow of one account.
type AccountFlow struct {
	ID, Label string
	Months    []MonthFlow
	Total     MonthFlow
}

// MonthFlow is the cash flow of a month.
type MonthFlow struct {
	// In and Out are of rows that are no transfers; Out is zero or less. Net is their sum.
	In, Out, Net money.Decimal
	Count        int
	// Transfers are between the person's own accounts.
	Transfers Flow
}

// CashFlow sums up what came in and went out, by month and account.
func (p *Person) CashFlow(ctx context.Context, q CashFlowQuery) (CashFlow, error) {
	return CashFlow{}, errUnbuilt
}

package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/exchequer-dev/exchequer/money"
)

// Flow is the sums of money in and out: In is zero or more, Out is zero or less.
type Flow struct {
	In    money.Decimal `json:"in"`
	Out   money.Decimal `json:"out"`
	Count int           `json:"count"`
}

// ReportQuery selects a report over whole months.
type ReportQuery struct {
	// From and To are any days of the first and the last month.
	From, To Date
	// Accounts are the accounts of the report; none means all.
	Accounts []BankAccountID
	// By is tag, merchant or account; empty means tag. It is only for spending.
	By string
	// Currency converts everything to it; empty reports each currency separately.
	Currency money.Currency
	// Top is the number of separate series; 0 means all. It is only for spending.
	Top int
}

func (q ReportQuery) values() url.Values {
	v := url.Values{"from": {string(q.From)}, "to": {string(q.To)}}
	setEach(v, "account", q.Accounts)
	setText(v, "by", q.By)
	setText(v, "currency", string(q.Currency))
	if q.Top != 0 {
		v.Set("top", strconv.Itoa(q.Top))
	}
	return v
}

// Spending is a report of money spent.
type Spending struct {
	// Months are all months of the range, such as 2026-01. Flows of series are by month.
	Months     []string           `json:"months"`
	Currencies []CurrencySpending `json:"currencies"`
	// Converted describes the conversion to one currency; nil if there was none.
	Converted *HomeConversion `json:"converted,omitempty"`
}

// CurrencySpending is spending in one currency.
type CurrencySpending struct {
	Currency money.Currency `json:"currency"`
	// Series begin with the largest spending.
	Series []SpendingSeries `json:"series"`
	// Flows are the sums of all rows by month, each row counted once.
	Flows []Flow `json:"flows"`
	Total Flow   `json:"total"`
}

// SpendingSeries is one series of a chart.
type SpendingSeries struct {
	// Kind is tag, merchant, account, untagged, unnamed or others.
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Label string `json:"label"`
	Flows []Flow `json:"flows"`
	Total Flow   `json:"total"`
}

// HomeConversion describes a conversion to one currency: each row at the rate of its own day.
type HomeConversion struct {
	To    money.Currency `json:"to"`
	Rates []struct {
		From money.Currency `json:"from"`
		On   Date           `json:"on"` // the day of the rows
		Rate money.Decimal  `json:"rate"`
		Of   Date           `json:"of"` // the day of the rate
		Rows int            `json:"rows"`
	} `json:"rates"`
	// Unrated are rows without a rate for their day; they are in no sum.
	Unrated []struct {
		Currency money.Currency `json:"currency"`
		Month    string         `json:"month"`
		Flow     Flow           `json:"flow"`
		First    Date           `json:"first"`
	} `json:"unrated"`
}

// Spending returns the spending of the caller by month.
func (c *Client) Spending(ctx context.Context, q ReportQuery) (Spending, error) {
	return answer[Spending](ctx, c.get("/v1/me/reports/spending", q.values()))
}

// CashFlow is a report of money in and out.
type CashFlow struct {
	Months     []string       `json:"months"`
	Currencies []CurrencyFlow `json:"currencies"`
	// Converted describes the conversion to one currency; nil if there was none.
	Converted *HomeConversion `json:"converted,omitempty"`
}

// CurrencyFlow is the cash flow in one currency.
type CurrencyFlow struct {
	Currency money.Currency `json:"currency"`
	Accounts []AccountFlow  `json:"accounts"`
	// Months is of all accounts.
	Months []MonthFlow `json:"months"`
	Total  MonthFlow   `json:"total"`
}

// AccountFlow is the cash flow of one account.
type AccountFlow struct {
	ID     BankAccountID `json:"id"`
	Label  string        `json:"label"`
	Months []MonthFlow   `json:"months"`
	Total  MonthFlow     `json:"total"`
}

// MonthFlow is the cash flow of a month. Transfers are between the person's own accounts, and in
// none of the other sums.
type MonthFlow struct {
	In        money.Decimal `json:"in"`
	Out       money.Decimal `json:"out"`
	Net       money.Decimal `json:"net"`
	Count     int           `json:"count"`
	Transfers Flow          `json:"transfers"`
}

// CashFlow returns the money in and out by month.
func (c *Client) CashFlow(ctx context.Context, q ReportQuery) (CashFlow, error) {
	q.By, q.Top = "", 0
	return answer[CashFlow](ctx, c.get("/v1/me/reports/cash-flow", q.values()))
}

// MonthTotal is the totals of an account in a month, for the rows of one currency.
type MonthTotal struct {
	AccountID BankAccountID  `json:"accountId"`
	Month     string         `json:"month"`
	Currency  money.Currency `json:"currency"`
	All       Flow           `json:"all"`
	// Transfers are between the person's own accounts; the following fields are without them.
	Transfers Flow        `json:"transfers"`
	Tags      []NamedFlow `json:"tags"` // by the id of the tag
	Untagged  Flow        `json:"untagged"`
	Merchants []NamedFlow `json:"merchants"` // by name
	Unnamed   Flow        `json:"unnamed"`
	Rest      Flow        `json:"rest"`
}

// NamedFlow is the flow of a tag, by its id, or of a merchant.
type NamedFlow struct {
	Name string `json:"name"`
	Flow
}

// MonthTotals returns the totals of an account by month. Any day selects its month. An empty date
// leaves that end open.
func (c *Client) MonthTotals(
	ctx context.Context, account BankAccountID, from, to Date,
) ([]MonthTotal, error) {
	v := url.Values{}
	setText(v, "from", string(from))
	setText(v, "to", string(to))
	page, err := answer[Page[MonthTotal]](ctx, c.get(bankPath(account)+"/totals", v))
	return page.Rows(err)
}

// TotalsCheck is the result of a comparison of totals and rows.
type TotalsCheck struct {
	// Verdict is VerdictSound, VerdictFaulty or VerdictUndecided.
	Verdict string `json:"verdict"`
	Months  int    `json:"months"`
	Rows    int    `json:"rows"`
	// Differences are the first differences, and Differ is the number of all.
	Differences []TotalDifference `json:"differences"`
	Differ      int               `json:"differ"`
	Repaired    int               `json:"repaired"`
	// Undecided are the months that could not be compared, because other writers changed them each
	// time.
	Undecided []string `json:"undecided"`
	// Unreadable are the first stored items that cannot be read, whose months were not compared.
	Unreadable      []UnreadableItem `json:"unreadable,omitempty"`
	UnreadableCount int              `json:"unreadableCount,omitempty"`
}

// TotalDifference is a total that differs from the sum of its rows.
type TotalDifference struct {
	Month    string         `json:"month"`
	Currency money.Currency `json:"currency"`
	What     string         `json:"what"`
	Total    Flow           `json:"total"`
	Rows     Flow           `json:"rows"`
}

// CheckTotals compares the totals of an account with its rows and, with repair, rewrites those that
// differ. progress may be nil.
func (c *Client) CheckTotals(
	ctx context.Context, account BankAccountID, repair bool, progress func(TotalsCheck),
) (TotalsCheck, error) {
	r := c.post(bankPath(account)+"/totals/check", nil)
	r.values = url.Values{"repair": {strconv.FormatBool(repair)}}
	r.safe = true
	return streamed[TotalsCheck](ctx, r, progress)
}

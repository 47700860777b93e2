package statements

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// By is what spending is divided by.
type By string

// What spending is divided by.
const (
	ByTag      By = "tag"
	ByMerchant By = "merchant"
	ByAccount  By = "account"
)

// SeriesKind is what a series is of.
type SeriesKind string

// The kinds of series.
const (
	SeriesTag      SeriesKind = "tag"
	SeriesMerchant SeriesKind = "merchant"
	SeriesAccount  SeriesKind = "account"
	SeriesUntagged SeriesKind = "untagged" // Rows, or parts of rows, without a tag.
	SeriesUnnamed  SeriesKind = "unnamed"  // Rows without a merchant.
	SeriesOthers   SeriesKind = "others"   // All that the others do not list.
)

// SpendingQuery asks where the money went, by whole months.
type SpendingQuery struct {
	// From and To are any days of the first and the last month, at most MonthsMax of them.
	From, To Date
	// Accounts are the accounts to look at; none means all.
	Accounts []string
	// By is ByTag unless it is set.
	By By
	// Currency is the home currency to convert to; empty gives each currency apart.
	Currency money.Currency
	// Top is how many series are listed, those with the most spent first; the others are summed
	// up as one. 0 means all.
	Top int
}

// Spending is where the money went. Transfers between the person's own accounts are no part of
// it.
type Spending struct {
	// Months are all months of the range in order, "2026-01". Flows of series are by month, one for
	// each, and zero where there was nothing.
	Months []string
	// Currencies are in the order of their codes; with a home currency there is one.
	Currencies []CurrencySpending
	// Converted is how amounts came to be in the home currency; nil without one.
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
	// Label is the tag's text, the merchant's name or the account's; empty for rows without any.
	Label string
	Flows []Flow // By month.
	Total Flow
}

// Spending sums up what was spent and earned by tag, merchant or account over months. Without a
// home currency, and for rows that are in it, only sheets are read. The error is ErrRangeTooLong,
// ErrInvalid or ErrNoAccount.
func (p *Person) Spending(ctx context.Context, q SpendingQuery) (Spending, error) {
	if q.By == "" {
		q.By = ByTag
	}
	var wrong problem.Fields
	if q.By != ByTag && q.By != ByMerchant && q.By != ByAccount {
		wrong.Addf("by", "%q is none of tag, merchant and account", q.By)
	}
	if q.Top < 0 {
		wrong.Add("top", "is negative")
	}
	p.checkHome(&wrong, q.Currency)
	if err := checkRange(q.From, q.To); err != nil {
		return Spending{}, err
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return Spending{}, err
	}
	start, err := p.Start(ctx)
	if err != nil {
		return Spending{}, err
	}
	accounts, err := chosen(start.Accounts, q.Accounts)
	if err != nil {
		return Spending{}, err
	}
	months := monthsOf(q.From, q.To)
	sheets, converted, err := p.months().sheetsIn(ctx, accounts, months, q.Currency)
	if err != nil {
		return Spending{}, err
	}
	r := spendingSums{by: q.By, months: months, labels: labelsOf(start)}
	for _, of := range sheets {
		for i := range of {
			if err := r.add(&of[i]); err != nil {
				return Spending{}, err
			}
		}
	}
	out := Spending{Months: months, Converted: converted}
	for _, currency := range inOrder(r.sums) {
		of, err := r.sums[currency].finish(currency, q.Top)
		if err != nil {
			return Spending{}, err
		}
		out.Currencies = append(out.Currencies, of)
	}
	return out, nil
}

// seriesKey names a series while it is summed up.
type seriesKey struct {
	kind SeriesKind
	id   string // Of a tag or account, or a merchant's name.
}

// spendingSums adds up sheets.
type spendingSums struct {
	by     By
	months []string
	labels map[string]string
	sums   map[money.Currency]*currencySums
}

// currencySums is what was added up in one currency.
type currencySums struct {
	series map[seriesKey]*Series
	flows  []Flow
}

// add counts a sheet in.
func (r *spendingSums) add(s *Sheet) error {
	month, ok := slices.BinarySearch(r.months, book.MonthOf(s.Month))
	if !ok {
		return nil
	}
	if r.sums == nil {
		r.sums = map[money.Currency]*currencySums{}
	}
	of := r.sums[s.Currency]
	if of == nil {
		of = &currencySums{map[seriesKey]*Series{}, make([]Flow, len(r.months))}
		r.sums[s.Currency] = of
	}
	own, err := s.own()
	if err != nil {
		return err
	}
	if err := of.flows[month].join(own); err != nil {
		return err
	}
	put := func(kind SeriesKind, id, label string, f Flow) error {
		if f.Count == 0 {
			return nil
		}
		key := seriesKey{kind, cmp.Or(id, label)}
		series := of.series[key]
		if series == nil {
			series = &Series{Kind: kind, ID: id, Label: label, Flows: make([]Flow, len(r.months))}
			of.series[key] = series
		}
		return series.Flows[month].join(f)
	}
	switch r.by {
	case ByAccount:
		return put(SeriesAccount, s.AccountID, cmp.Or(r.labels[s.AccountID], s.AccountID), own)
	case ByMerchant:
		for _, name := range inOrder(s.Merchants) {
			if err := put(SeriesMerchant, "", name, s.Merchants[name]); err != nil {
				return err
			}
		}
		if err := put(SeriesUnnamed, "", "", s.Unnamed); err != nil {
			return err
		}
		return put(SeriesOthers, "", "", s.Rest)
	}
	for _, id := range inOrder(s.Tags) {
		if err := put(SeriesTag, id, cmp.Or(r.labels[id], id), s.Tags[id]); err != nil {
			return err
		}
	}
	return put(SeriesUntagged, "", "", s.Untagged)
}

// finish sums the months up, sorts the series and joins those beyond the first so many.
func (c *currencySums) finish(currency money.Currency, top int) (CurrencySpending, error) {
	out := CurrencySpending{Currency: currency, Flows: c.flows}
	var err error
	if out.Total, err = sumOf(c.flows); err != nil {
		return out, err
	}
	for _, s := range c.series {
		if s.Total, err = sumOf(s.Flows); err != nil {
			return out, err
		}
		out.Series = append(out.Series, *s)
	}
	slices.SortFunc(out.Series, func(a, b Series) int {
		return cmp.Or(
			cmp.Compare(rank(a.Kind), rank(b.Kind)), a.Total.Out.Cmp(b.Total.Out),
			b.Total.In.Cmp(a.Total.In), strings.Compare(a.Label, b.Label),
			strings.Compare(a.ID, b.ID))
	})
	if top == 0 || len(out.Series) <= top {
		return out, nil
	}
	others := Series{Kind: SeriesOthers, Flows: make([]Flow, len(c.flows))}
	for _, s := range out.Series[top:] {
		for i := range s.Flows {
			if err := others.Flows[i].join(s.Flows[i]); err != nil {
				return out, err
			}
		}
	}
	if others.Total, err = sumOf(others.Flows); err != nil {
		return out, err
	}
	out.Series = append(out.Series[:top:top], others)
	return out, nil
}

// rank puts what is no series of its own behind those that are.
func rank(k SeriesKind) int {
	if k == SeriesOthers {
		return 1
	}
	return 0
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

// CashFlow sums up what came in and went out, by month and account. The error is ErrRangeTooLong,
// ErrInvalid or ErrNoAccount.
func (p *Person) CashFlow(ctx context.Context, q CashFlowQuery) (CashFlow, error) {
	if err := checkRange(q.From, q.To); err != nil {
		return CashFlow{}, err
	}
	var wrong problem.Fields
	p.checkHome(&wrong, q.Currency)
	if err := wrong.Err(ErrInvalid); err != nil {
		return CashFlow{}, err
	}
	accounts, err := p.accountsNamed(ctx, q.Accounts)
	if err != nil {
		return CashFlow{}, err
	}
	months := monthsOf(q.From, q.To)
	sheets, converted, err := p.months().sheetsIn(ctx, accounts, months, q.Currency)
	if err != nil {
		return CashFlow{}, err
	}
	out := CashFlow{Months: months, Converted: converted}
	all := map[money.Currency]*CurrencyFlow{}
	for i, a := range accounts {
		of := map[money.Currency]*AccountFlow{}
		for j := range sheets[i] {
			s := &sheets[i][j]
			month, ok := slices.BinarySearch(months, book.MonthOf(s.Month))
			if !ok || s.All.Count == 0 {
				continue
			}
			if of[s.Currency] == nil {
				of[s.Currency] = &AccountFlow{ID: a.ID, Label: a.Name,
					Months: make([]MonthFlow, len(months))}
			}
			if err := of[s.Currency].Months[month].add(s); err != nil {
				return CashFlow{}, err
			}
		}
		for currency, flow := range of {
			c := all[currency]
			if c == nil {
				c = &CurrencyFlow{Currency: currency, Months: make([]MonthFlow, len(months))}
				all[currency] = c
			}
			c.Accounts = append(c.Accounts, *flow)
		}
	}
	for _, currency := range inOrder(all) {
		if err := all[currency].finish(); err != nil {
			return CashFlow{}, err
		}
		out.Currencies = append(out.Currencies, *all[currency])
	}
	return out, nil
}

// finish sums up months and accounts.
func (c *CurrencyFlow) finish() error {
	slices.SortFunc(c.Accounts, func(a, b AccountFlow) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.ID, b.ID))
	})
	for i := range c.Accounts {
		a := &c.Accounts[i]
		for j := range a.Months {
			if err := a.Total.join(a.Months[j]); err != nil {
				return err
			}
			if err := c.Months[j].join(a.Months[j]); err != nil {
				return err
			}
		}
		if err := c.Total.join(a.Total); err != nil {
			return err
		}
	}
	return nil
}

// add counts a sheet in.
func (m *MonthFlow) add(s *Sheet) error {
	own, err := s.own()
	if err != nil {
		return err
	}
	return m.join(MonthFlow{In: own.In, Out: own.Out, Count: own.Count, Transfers: s.Transfers})
}

// join adds another flow and works the net out again.
func (m *MonthFlow) join(other MonthFlow) error {
	f := Flow{m.In, m.Out, m.Count}
	if err := f.join(Flow{other.In, other.Out, other.Count}); err != nil {
		return err
	}
	net, err := f.net()
	if err != nil {
		return err
	}
	m.In, m.Out, m.Net, m.Count = f.In, f.Out, net, f.Count
	return m.Transfers.join(other.Transfers)
}

package statements

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Conversion is how amounts came to be in the home currency: each row at the rate of its own
// day, rounded to the currency's digits.
type Conversion struct {
	// To is the home currency.
	To money.Currency
	// Rates are those that were used, by currency and day.
	Rates []UsedRate
	// Unrated are rows for whose day there is no rate. They are in no sum.
	Unrated []Unrated
}

// UsedRate is a rate that was used for the rows of a day.
type UsedRate struct {
	From money.Currency
	On   Date // The day of the rows.
	Quote
	Rows int // How many rows were converted with it.
}

// Unrated are the rows of a currency and month that could not be converted.
type Unrated struct {
	Currency money.Currency
	Month    string
	Flow     Flow // In their own currency, transfers included.
	First    Date // The first day without a rate.
}

// checkHome refuses a home currency that there is none of, or no rates for.
func (p *Person) checkHome(wrong *problem.Fields, home money.Currency) {
	switch {
	case home == "":
	case !home.Known():
		wrong.Addf("currency", "%q is no currency of ISO 4217", home)
	case p.books.opts.Rate == nil:
		wrong.Add("currency", "cannot be chosen, as there are no exchange rates here")
	}
}

// sheetsIn returns the sheets of accounts for some months, in the order of the accounts. With a
// home currency those of others are made again of their rows, each at the rate of its day. What
// is in the home currency already is not read again.
func (p monthReader) sheetsIn(
	ctx context.Context, accounts []Account, months []string, home money.Currency,
) ([][]Sheet, *Conversion, error) {
	from, to := firstDay(months[0]), lastDay(months[len(months)-1])
	sheets, err := p.sheetsOfAll(ctx, idsOf(accounts), from, to)
	if err != nil || home == "" {
		return sheets, nil, err
	}
	c := &converter{p: p.Person, to: home, rates: map[rateKey]*UsedRate{},
		unrated: map[unratedKey]*Unrated{}}
	for i := range sheets {
		if sheets[i], err = c.sheets(ctx, accounts[i].ID, sheets[i]); err != nil {
			return nil, nil, err
		}
	}
	return sheets, c.answer(), nil
}

type (
	rateKey struct {
		from money.Currency
		on   Date
	}
	unratedKey struct {
		currency money.Currency
		month    string
	}
)

// converter converts rows and remembers what it did. It asks for each pair and day once.
type converter struct {
	p       *Person
	to      money.Currency
	rates   map[rateKey]*UsedRate // Nil where there is none.
	unrated map[unratedKey]*Unrated
}

// sheets makes the sheets of an account in the home currency.
func (c *converter) sheets(ctx context.Context, account string, of []Sheet) ([]Sheet, error) {
	var out []Sheet
	foreign := map[string]bool{}
	for _, s := range of {
		if s.Currency == c.to {
			out = append(out, s)
		} else if s.All.Count > 0 {
			foreign[book.MonthOf(s.Month)] = true
		}
	}
	read := func(ctx context.Context, month string) ([]Transaction, error) {
		return c.p.months().monthRows(ctx, account, month)
	}
	err := eachMonth(ctx, inOrder(foreign), read, func(month string, rows []Transaction) error {
		made := Sheet{UserID: c.p.id, AccountID: account, Month: firstDay(month), Currency: c.to}
		for i := range rows {
			t := &rows[i]
			if t.Currency == c.to {
				continue
			}
			ok, err := c.convert(ctx, t)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := made.count(t, 1); err != nil {
				return err
			}
		}
		if made.All.Count > 0 {
			out = append(out, made)
		}
		return nil
	})
	return out, err
}

// convert turns a row into the home currency; it is not ok where there is no rate for its day. The
// parts of a divided row are converted so that they still add up to it.
func (c *converter) convert(ctx context.Context, t *Transaction) (ok bool, err error) {
	rate, err := c.rate(ctx, t.Currency, t.Date)
	if err != nil {
		return false, err
	}
	if rate == nil {
		return false, c.leave(t)
	}
	rate.Rows++
	above, below := rate.Above, rate.Below
	if below.IsZero() {
		above, below = rate.Rate, money.DecimalFromInt(1)
	}
	convert := func(amount money.Decimal) (money.Decimal, error) {
		return amount.MulQuo(above, below, c.to.Digits(), money.HalfEven)
	}
	if t.Amount, err = convert(t.Amount); err != nil {
		return false, err
	}
	t.Currency = c.to
	t.Splits = slices.Clone(t.Splits)
	rest := t.Amount
	for i := range t.Splits {
		if i == len(t.Splits)-1 {
			t.Splits[i].Amount = rest
			break
		}
		if t.Splits[i].Amount, err = convert(t.Splits[i].Amount); err != nil {
			return false, err
		}
		if rest, err = rest.Sub(t.Splits[i].Amount); err != nil {
			return false, err
		}
	}
	return true, nil
}

// rate returns the rate of a day, nil where there is none.
func (c *converter) rate(
	ctx context.Context, from money.Currency, on Date,
) (*UsedRate, error) {
	key := rateKey{from, on}
	if r, asked := c.rates[key]; asked {
		return r, nil
	}
	quote, err := c.p.books.opts.Rate(ctx, from, c.to, on)
	switch {
	case errors.Is(err, ErrNoRate):
		c.rates[key] = nil
	case err != nil:
		return nil, failed("rate of "+string(from)+" on "+string(on), err)
	default:
		c.rates[key] = &UsedRate{From: from, On: on, Quote: quote}
	}
	return c.rates[key], nil
}

// leave counts a row that cannot be converted.
func (c *converter) leave(t *Transaction) error {
	key := unratedKey{t.Currency, book.MonthOf(t.Date)}
	u := c.unrated[key]
	if u == nil {
		u = &Unrated{Currency: t.Currency, Month: key.month, First: t.Date}
		c.unrated[key] = u
	}
	u.First = min(u.First, t.Date)
	return u.Flow.add(t.Amount, 1)
}

func (c *converter) answer() *Conversion {
	out := &Conversion{To: c.to}
	for _, r := range c.rates {
		if r != nil {
			out.Rates = append(out.Rates, *r)
		}
	}
	slices.SortFunc(out.Rates, func(a, b UsedRate) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.On, b.On))
	})
	for _, u := range c.unrated {
		out.Unrated = append(out.Unrated, *u)
	}
	slices.SortFunc(out.Unrated, func(a, b Unrated) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Month, b.Month))
	})
	return out
}

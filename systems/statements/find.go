package statements

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// Page is a page of transactions.
type Page struct {
	Transactions []Transaction
	Next         string // The cursor of the next page; empty at the end.
	// Unreadable are the items among the rows of the page that cannot be read.
	Unreadable []*singletable.UnreadableError
}

// Range is days of an account, both included, in an order.
type Range struct {
	AccountID string
	From, To  Date
	// Latest gives the latest first.
	Latest bool
}

// checkRange refuses what is no range of days, or too long a one.
func checkRange(from, to Date) error {
	if err := checkEnds(from, to, false); err != nil {
		return err
	}
	if monthsBetween(from, to) > MonthsMax {
		return ErrRangeTooLong.With("limit", MonthsMax).With("unit", "months")
	}
	return nil
}

// checkEnds refuses what is no range of days. If it is open, either end may be missing.
func checkEnds(from, to Date, open bool) error {
	var wrong problem.Fields
	check := func(name string, day Date) {
		if !book.ValidDate(day) && !(open && day == "") {
			wrong.Add(name, "must be a day such as 2026-01-31")
		}
	}
	check("from", from)
	check("to", to)
	if len(wrong) == 0 && to != "" && from > to {
		wrong.Add("to", "must not be before from")
	}
	return wrong.Err(ErrInvalid)
}

// monthsBetween counts the months that two days and what is between them touch.
func monthsBetween(from, to Date) int {
	a, _ := time.Parse(time.DateOnly, string(from))
	b, _ := time.Parse(time.DateOnly, string(to))
	return (b.Year()-a.Year())*12 + int(b.Month()-a.Month()) + 1
}

// Transactions returns a page of the transactions of a range; each month is a partition, and a few
// are asked in parallel. Size is 1 to PageMax. The error is ErrRangeTooLong, ErrInvalid or
// ErrInvalidCursor.
func (p *Person) Transactions(
	ctx context.Context, r Range, size int, cursor string,
) (Page, error) {
	if err := checkRange(r.From, r.To); err != nil {
		return Page{}, err
	}
	if size < 1 || size > PageMax {
		return Page{}, ErrInvalid.Field("limit",
			fmt.Sprintf("is %d, outside 1 to %d", size, PageMax))
	}
	pattern := modelOf(p).days
	if r.Latest {
		pattern = modelOf(p).latest
	}
	page, err := pattern.Page(ctx, p.store(), OfDays{p.id, r.AccountID, r.From, r.To}, size, cursor)
	if err != nil {
		return Page{}, failed("list transactions", err)
	}
	return Page{page.Items, page.Next, page.Unreadable}, nil
}

// All yields the transactions of a range one by one. One that cannot be read is yielded as a
// *singletable.UnreadableError, and the next ones follow. Any other failure is yielded once, at the
// end.
func (p *Person) All(ctx context.Context, r Range) iter.Seq2[Transaction, error] {
	return func(yield func(Transaction, error) bool) {
		if err := checkRange(r.From, r.To); err != nil {
			yield(Transaction{}, err)
			return
		}
		pattern := modelOf(p).days
		if r.Latest {
			pattern = modelOf(p).latest
		}
		in := OfDays{p.id, r.AccountID, r.From, r.To}
		for t, err := range pattern.All(ctx, p.store(), in) {
			if bad, unreadable := singletable.AsUnreadable(err); unreadable {
				if !yield(Transaction{}, bad) {
					return
				}
				continue
			}
			if err != nil {
				yield(Transaction{}, failed("read transactions", err))
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Transaction returns one transaction: its entry has the day, which leads to the item. The error
// is ErrNoTransaction.
func (p *Person) Transaction(ctx context.Context, account, id string) (Transaction, error) {
	t, _, err := p.rows().transaction(ctx, account, id)
	return t, err
}

// TransactionOf returns one transaction by its day, as any program can find it.
func (p *Person) TransactionOf(
	ctx context.Context, account string, date Date, id string,
) (Transaction, error) {
	at := Transaction{UserID: p.id, AccountID: account, Date: date, ID: id}
	if !book.ValidDate(date) {
		return Transaction{}, noTransaction(account, id)
	}
	t, found, err := modelOf(p).transactions.Get(ctx, p.store(), at, singletable.Consistent())
	if err != nil {
		return Transaction{}, failed("read transaction", err)
	}
	if !found {
		return Transaction{}, noTransaction(account, id)
	}
	return t, nil
}

// transaction returns a transaction with its entry. One that moves between the two reads is found
// by the next attempt.
func (p rowStore) transaction(
	ctx context.Context, account, id string,
) (Transaction, Entry, error) {
	var err error
	for range 3 {
		var e Entry
		var found bool
		if e, found, err = p.entry(ctx, account, id); err != nil {
			return Transaction{}, Entry{}, err
		}
		if !found || e.State == Deleted || e.State == Undone {
			break
		}
		if e.State == Merged {
			id = e.Of
			continue
		}
		var t Transaction
		if t, err = p.TransactionOf(ctx, account, e.Date, id); err == nil {
			return t, e, nil
		}
		if !errors.Is(err, ErrNoTransaction) {
			return Transaction{}, Entry{}, err
		}
	}
	return Transaction{}, Entry{}, noTransaction(account, id)
}

// entry returns what is remembered of a row.
func (p rowStore) entry(ctx context.Context, account, id string) (Entry, bool, error) {
	if id == "" {
		return Entry{}, false, nil
	}
	at := Entry{UserID: p.id, AccountID: account, Month: book.MonthOfID(id), ID: id}
	e, found, err := modelOf(p.Person).entries.Get(ctx, p.store(), at, singletable.Consistent())
	if err != nil {
		return Entry{}, false, failed("read entry", err)
	}
	return e, found, nil
}

func noTransaction(account, id string) error {
	return ErrNoTransaction.With("transaction", id).With("account", account)
}

// Sheets returns the totals of an account from one month to another, both included, in order of
// month and currency. Any day of a month selects it, and no day leaves that end open. The error
// is ErrRangeTooLong or ErrNoAccount.
func (p *Person) Sheets(ctx context.Context, account string, from, to Date) ([]Sheet, error) {
	if err := checkEnds(from, to, true); err != nil {
		return nil, err
	}
	if _, err := p.Account(ctx, account); err != nil {
		return nil, err
	}
	return p.months().sheets(ctx, account, from, to)
}

// sheets is Sheets of days that are known to be right, and of an account that may be gone.
func (p monthReader) sheets(ctx context.Context, account string, from, to Date) ([]Sheet, error) {
	var out []Sheet
	var bad singletable.UnreadableRows
	in := OfMonths{p.id, account, from, to}
	for s, err := range modelOf(p.Person).sheetsOf.All(ctx, p.store(), in) {
		if item, unreadable := singletable.AsUnreadable(err); unreadable {
			bad = append(bad, item)
			continue
		}
		if err != nil {
			return nil, failed("read totals", err)
		}
		out = append(out, s)
	}
	return out, bad.Err()
}

package statements

import (
	"context"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// monthFirst is the earliest month that is searched for rows without an index: no bank's
// files are older.
const monthFirst = "1970-01"

// monthsAhead is how many months after the present one are looked into as well, for rows that are
// dated ahead.
const monthsAhead = 24

// everyMonth returns the months of an account that may hold rows or entries: those that its sheets
// and uploads name with their neighbours, and, since another program may have written rows that
// no sheet shows, each one of the past. To look into an empty month is the least that can be
// asked of the store. Sheets and uploads that cannot be read are returned as
// [singletable.UnreadableRows], together with the months.
func (p monthReader) everyMonth(ctx context.Context, account string) ([]string, error) {
	known := map[string]bool{}
	add := func(month string) {
		// A row may be booked in one month and merged into another one of the adjacent month.
		for _, m := range []string{monthBefore(month), month, nextMonth(month)} {
			if book.ValidDate(firstDay(m)) { // The first year and the last have one neighbour.
				known[m] = true
			}
		}
	}
	sheets, err := p.sheets(ctx, account, "", "")
	bad, err := singletable.RowsOf(err)
	if err != nil {
		return nil, err
	}
	for i := range sheets {
		add(book.MonthOf(sheets[i].Month))
	}
	for u, err := range modelOf(p.Person).uploadsOf.All(ctx, p.store(), OfAccount{p.id, account}) {
		if item, unreadable := singletable.AsUnreadable(err); unreadable {
			bad = append(bad, item)
			continue
		}
		if err != nil {
			return nil, failed("list uploads", err)
		}
		for _, month := range u.Months {
			add(month)
		}
	}
	for m := monthFirst; p.isNear(m); m = nextMonth(m) {
		known[m] = true
	}
	return inOrder(known), bad.Err()
}

// isNear reports whether a month is searched though it has no sheet.
func (p monthReader) isNear(month string) bool {
	return monthFirst <= month && month <= monthFrom(p.now().Format(monthLayout), monthsAhead)
}

// eachMonth reads something of each month, a few months in parallel, and gives it to take in the
// order of the months. What is read ahead is a few months at most.
func eachMonth[T any](
	ctx context.Context, months []string, read func(ctx context.Context, month string) (T, error),
	take func(month string, v T) error,
) error {
	for len(months) > 0 {
		window := months[:min(len(months), accountsAbreast)]
		months = months[len(window):]
		found := make([]T, len(window))
		err := sideBySide(ctx, len(window), func(ctx context.Context, i int) error {
			var err error
			found[i], err = read(ctx, window[i])
			return err
		})
		if err != nil {
			return err
		}
		for i, month := range window {
			if err := take(month, found[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// monthRows reads the rows of one month.
func (p monthReader) monthRows(ctx context.Context, account, month string) ([]Transaction, error) {
	var rows []Transaction
	in := OfDays{p.id, account, firstDay(month), lastDay(month)}
	for t, err := range modelOf(p.Person).days.All(ctx, p.store(), in) {
		if err != nil {
			return nil, failed("read transactions", err)
		}
		rows = append(rows, t)
	}
	return rows, nil
}

// monthEntries reads what is remembered of the rows that a bank booked in a month.
func (p monthReader) monthEntries(ctx context.Context, account, month string) ([]Entry, error) {
	var entries []Entry
	in := OfMonth{p.id, account, month}
	for e, err := range modelOf(p.Person).entriesOf.All(ctx, p.store(), in) {
		if err != nil {
			return nil, failed("read entries", err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

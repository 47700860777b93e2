package statements

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/match"
)

// known reads the entries of the months of a file and of those before and after them, for rows are
// looked for some days around their own. With them come rows of other months that a person typed in
// for those days by correcting a date, and what rows of these months became part of.
func (p uploader) known(ctx context.Context, u Upload) (*match.KnownRows, error) {
	k := match.NewKnownRows()
	var merged []int32
	var of []string // Ids of the transactions that those rows became part of.
	months := monthsAround(u.Months)
	for _, month := range months {
		in := OfMonth{p.id, u.AccountID, month}
		for e, err := range modelOf(p.Person).entriesOf.All(ctx, p.store(), in) {
			if err != nil {
				return nil, failed("read entries", err)
			}
			if err := roomFor(k); err != nil {
				return nil, err
			}
			if k.Add(&e, u.ID) && e.State == Merged {
				merged, of = append(merged, int32(k.Len()-1)), append(of, e.Of)
			}
		}
	}
	if err := p.addTyped(ctx, k, u, months); err != nil {
		return nil, err
	}
	far := map[string]bool{}
	for _, id := range of {
		if far[id] || !isFar(id, months) {
			continue
		}
		far[id] = true
		e, found, err := p.rows().entry(ctx, u.AccountID, id)
		if err = errors.Join(err, roomFor(k)); err != nil {
			return nil, err
		}
		if found {
			k.Add(&e, u.ID)
		}
	}
	k.Resolve(merged, of)
	return k, nil
}

// isFar reports whether the entry of a transaction is in none of some months, which are in
// order.
func isFar(id string, months []string) bool {
	month := book.MonthOfID(id)
	_, near := slices.BinarySearch(months, month)
	return !near && month != book.MonthNone
}

// addTyped adds the rows that a person typed in for the days of a file, or some days before or
// after them, and whose ids are of other months: a date that was wrong at first is in the id
// for good.
func (p uploader) addTyped(
	ctx context.Context,
	k *match.KnownRows,
	u Upload,
	months []string,
) error {
	first, last := addDays(
		u.DateRange.Start,
		-match.TypedDays,
	), addDays(
		u.DateRange.End,
		match.TypedDays,
	)
	read := func(ctx context.Context, month string) ([]Entry, error) {
		in := OfDays{p.id, u.AccountID, max(first, firstDay(month)), min(last, lastDay(month))}
		var typed []Entry
		if in.From > in.To || !book.ValidDate(in.From) || !book.ValidDate(in.To) {
			return nil, nil
		}
		for t, err := range modelOf(p.Person).days.All(ctx, p.store(), in) {
			if err != nil {
				return nil, failed("read transactions", err)
			}
			if t.Source == FromPerson && isFar(t.ID, months) {
				typed = append(typed, *entryOf(&t))
			}
		}
		return typed, nil
	}
	return eachMonth(ctx, months, read, func(_ string, typed []Entry) error {
		for i := range typed {
			if err := roomFor(k); err != nil {
				return err
			}
			k.Add(&typed[i], u.ID)
		}
		return nil
	})
}

// roomFor demands that one more row may be known.
func roomFor(k *match.KnownRows) error {
	if k.Len() < KnownMax {
		return nil
	}
	return ErrTooMany.With("what", "transactions in the months of the file").
		With("limit", KnownMax)
}

// addDays returns the day some days later; of text that is no day, that text.
func addDays(d Date, days int) Date {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return d
	}
	return Date(t.AddDate(0, 0, days).Format(time.DateOnly))
}

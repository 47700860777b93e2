package rates

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// Day is what a source has published for a day: so much of each currency for one of the base.
// Package feed makes days of what sources send.
type Day struct {
	Date Date
	// At is the instant of the rates where the source has one; zero means the publication of
	// the day by the European Central Bank.
	At     time.Time
	Base   money.Currency
	Source string
	Prices []Price
}

// Price is the rate of a currency against the base of its day.
type Price struct {
	Currency money.Currency
	Value    money.Decimal
}

// asOf returns the instant of the day's rates.
func (d Day) asOf() time.Time {
	if !d.At.IsZero() {
		return d.At.UTC()
	}
	return publicationOf(d.Date)
}

// rate returns the rate of the day that a price is.
func (d Day) rate(p Price) DayRate {
	return DayRate{d.Base, p.Currency, d.Date, p.Value, d.Source}
}

// TimedTTL is how long rates with an instant of their own are fresh: those who publish them do so
// every hour or every day.
const TimedTTL = 24 * time.Hour

// freshUntil returns when the day's rates stop being fresh, given a ttl or zero.
func (d Day) freshUntil(ttl time.Duration) time.Time {
	switch {
	case ttl > 0:
		return d.asOf().Add(ttl)
	case !d.At.IsZero():
		return d.asOf().Add(TimedTTL)
	}
	return d.Date.freshUntil()
}

// LoadOptions are the choices of Load.
type LoadOptions struct {
	// TTL is how long after their instant the newest rates are fresh; 0 means until the next
	// publication should be there, or a day where rates have an instant.
	TTL time.Duration
	// Force takes in what the checks speak against.
	Force bool
	// HistoryOnly leaves the rates of now alone.
	HistoryOnly bool
	// Progress, if set, is called with how many of the days are written.
	Progress func(done, all int)
}

// Refusal is a rate that was not taken in, and why.
type Refusal struct {
	Pair Pair
	Date Date
	Err  error
}

// refusalsMax bounds the refusals that a report lists; the rest is counted.
const refusalsMax = 100

// Loaded reports what Load did.
type Loaded struct {
	// Days and Rates count what is in the history now of what was given; First and Last are the
	// ends of it.
	Days, Rates int
	First, Last Date
	// Current counts the rates of the newest day that are those of now as well.
	Current int
	// Kept counts the rates of now that were newer already.
	Kept int
	// TooOld reports that the newest day is too old to be anything but history.
	TooOld bool
	// Refused are those that were not taken in; RefusedCount counts all of them.
	Refused      []Refusal
	RefusedCount int
}

func (l *Loaded) refuse(pair Pair, date Date, err error) {
	l.RefusedCount++
	if len(l.Refused) < refusalsMax {
		l.Refused = append(l.Refused, Refusal{pair, date, err})
	}
}

// chunkDays is how many days are written between two reports of progress: some thousand rates.
const chunkDays = 50

// Load takes in what a source has published: each day into the history, and the newest one as the
// rates of now unless it is too old for that. Doing it again changes nothing, so that what was
// interrupted may be repeated. Rates that the checks speak against are left out and reported. Days
// of more than one base are loaded as if given one base after the other.
func (b *Board) Load(ctx context.Context, days []Day, opts LoadOptions) (Loaded, error) {
	var report Loaded
	if err := checkDays(days, b.opts.Now()); err != nil {
		return report, err
	}
	days = slices.Clone(days)
	slices.SortStableFunc(days, func(x, y Day) int {
		return cmp.Or(cmp.Compare(x.Date, y.Date), x.asOf().Compare(y.asOf()))
	})
	before := map[Pair]DayRate{}
	for begin := 0; begin < len(days); begin += chunkDays {
		chunk := days[begin:min(begin+chunkDays, len(days))]
		items, err := b.take(ctx, chunk, before, opts.Force, &report)
		if err != nil {
			return report, err
		}
		if err := modelOf(b).history.PutAll(ctx, b.store, items); err != nil {
			return report, notWritten("record", Pair{chunk[0].Base, chunk[0].Base}, err)
		}
		report.Days += len(chunk)
		report.Rates += len(items)
		if opts.Progress != nil {
			opts.Progress(report.Days, len(days))
		}
	}
	if len(days) > 0 {
		report.First, report.Last = days[0].Date, days[len(days)-1].Date
	}
	if opts.HistoryOnly {
		return report, nil
	}
	return report, b.setCurrent(ctx, days, before, opts, &report)
}

// checkDays finds what is wrong with days in themselves.
func checkDays(days []Day, now time.Time) error {
	var wrong problem.Fields
	for _, d := range days {
		if !d.Date.Valid() {
			wrong.Add("date", "must be a day such as 2026-01-31")
		}
		checkCode(&wrong, "base", d.Base)
		for _, p := range d.Prices {
			checkCode(&wrong, "currency", p.Currency)
		}
		if len(d.Source) > sourceMax {
			wrong.Addf("source", "must have at most %d bytes", sourceMax)
		}
		if err := wrong.Err(ErrInvalid); err != nil {
			return err
		}
		if d.Date > today(now) {
			return ErrFutureDate.With("date", d.Date).Field("date", "must not be in the future")
		}
	}
	return nil
}

// take checks the rates of days, the oldest day first, and returns those that pass. Before has the
// last rate of each pair that passed.
func (b *Board) take(
	ctx context.Context, days []Day, before map[Pair]DayRate, force bool, report *Loaded,
) ([]dayItem, error) {
	var items []dayItem
	if !force {
		if err := b.recallDays(ctx, days, before); err != nil {
			return nil, err
		}
	}
	for _, d := range days {
		for _, p := range d.Prices {
			if p.Currency == d.Base {
				continue // Some sources list a currency as worth one of itself.
			}
			r := d.rate(p)
			if err := b.doubtDay(r, before, force); err != nil {
				report.refuse(r.Pair(), r.Date, err)
				continue
			}
			before[r.Pair()] = r
			items = append(items, dayItem{r.Base, r.Target, r.Date, r.Value, r.Source})
		}
	}
	return items, nil
}

// recallDays reads what the history has of the pairs in days that have not been seen before, up to
// the day before their first.
func (b *Board) recallDays(ctx context.Context, days []Day, before map[Pair]DayRate) error {
	first := map[Date][]Pair{}
	seen := map[Pair]bool{}
	for _, d := range days {
		for _, p := range d.Prices {
			pair := Pair{d.Base, p.Currency}
			if _, ok := before[pair]; !ok && !seen[pair] && pair.Base != pair.Target {
				seen[pair] = true
				first[d.Date] = append(first[d.Date], pair)
			}
		}
	}
	for date, pairs := range first {
		rows, err := b.lastOf(ctx, pairs, date.plus(-1))
		if err != nil {
			return err
		}
		for pair, row := range rows {
			before[pair] = DayRate{row.Base, row.Target, row.Date, row.Rate, row.Source}
		}
	}
	return nil
}

// doubtDay returns what speaks against the rate of a day.
func (b *Board) doubtDay(r DayRate, before map[Pair]DayRate, force bool) error {
	at := Rate{Base: r.Base, Target: r.Target, Value: r.Value, AsOf: publicationOf(r.Date)}
	if err := at.check(); err != nil {
		return err
	}
	if force {
		return nil
	}
	if err := at.doubtful(b.now().Add(eastmost)); err != nil {
		return err
	}
	last, ok := before[r.Pair()]
	if !ok || last.Date.plus(LookBackDays) < r.Date {
		return nil // What came before is too old to be compared with.
	}
	return jump(r.Pair(), last.Value, r.Value, money.DecimalFromInt(dayJumpFactor))
}

// setCurrent makes the newest day of each base the rates of now, as far as the history has taken
// it. Taken has the last rate of each pair that it took.
func (b *Board) setCurrent(
	ctx context.Context, days []Day, taken map[Pair]DayRate, opts LoadOptions, report *Loaded,
) error {
	newest := map[money.Currency]Day{}
	for _, d := range days {
		newest[d.Base] = d // The days are in order, so the last one stays.
	}
	var options []SaveOption
	if opts.Force {
		options = append(options, Force())
	}
	for _, d := range newest {
		fresh := d.freshUntil(opts.TTL)
		if !b.now().Before(fresh.Add(b.opts.StaleFor)) {
			report.TooOld = true
			continue
		}
		for _, p := range d.Prices {
			r := d.rate(p)
			if taken[r.Pair()] != r {
				continue
			}
			_, err := b.saveUntil(ctx, Rate{
				Base: d.Base, Target: p.Currency, Value: p.Value, AsOf: d.asOf(), Source: d.Source,
			}, fresh, options...)
			switch {
			case err == nil:
				report.Current++
			case errors.Is(err, ErrOlder):
				report.Kept++
			case intake(err):
				report.refuse(r.Pair(), r.Date, err)
			default:
				return err
			}
		}
	}
	return nil
}

// intake reports whether an error is that of a check at intake.
func intake(err error) bool {
	for _, d := range []*problem.Definition{
		ErrInvalid, ErrNotPositive, ErrUnknownCode, ErrFarFuture, ErrJump,
	} {
		if errors.Is(err, d) {
			return true
		}
	}
	return false
}

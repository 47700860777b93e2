package rates

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// dayReads is how many pairs of the history are read at the same time.
const dayReads = 4

// quoteOn answers a question about a day.
func (b *Board) quoteOn(ctx context.Context, ask Ask) (Quote, error) {
	var last Date
	q, found, err := b.resolve(ctx, ask, ask.On, b.onDay(ask.On, &last))
	if err != nil {
		return Quote{}, err
	}
	if !found {
		return Quote{}, noRateOf(ask, last)
	}
	return q, q.apartCheck()
}

// noRateOf reports that a day has no rate, and which one was the last, if any.
func noRateOf(ask Ask, last Date) error {
	reason := fmt.Sprintf("none is stored for %s or earlier", ask.On)
	e := ErrNotFound.With("pair", ask.Pair()).With("date", ask.On).With("days", LookBackDays)
	if last != "" {
		reason = fmt.Sprintf("none is stored for %s or the %d days before; the last one is of %s",
			ask.On, LookBackDays, last)
		e = e.With("last", last)
	}
	return e.With("reason", reason)
}

// onDay is the finder of the rates of a day or of the last one before it that has one. A pair takes
// one call: the last row up to the day reports whether it is near enough, too. What is too old is
// left out, and the newest of it noted in last.
func (b *Board) onDay(on Date, last *Date) finder {
	earliest := on.plus(-LookBackDays)
	return func(ctx context.Context, pairs []Pair) (map[Pair]Leg, error) {
		rows, err := b.lastOf(ctx, pairs, on)
		if err != nil {
			return nil, err
		}
		legs := make(map[Pair]Leg, len(rows))
		for p, row := range rows {
			switch {
			case row.Date >= earliest:
				legs[p] = legOfDay(p, row)
			case row.Date > *last:
				*last = row.Date
			}
		}
		return legs, nil
	}
}

func legOfDay(p Pair, row dayItem) Leg {
	return Leg{Pair: p, Rate: row.Rate, Date: row.Date, Source: row.Source}
}

// lastOf reads the last row of each pair up to a day, several pairs at the same time.
func (b *Board) lastOf(ctx context.Context, pairs []Pair, on Date) (map[Pair]dayItem, error) {
	return eachPair(pairs, func(p Pair) (dayItem, bool, error) {
		row, found, err := modelOf(b).last.First(ctx, b.store,
			OfDays{Base: p.Base, Target: p.Target, To: on})
		if err != nil {
			return row, false, failed("read the history of", p, err)
		}
		return row, found && row.Rate.Sign() > 0, nil
	})
}

// eachPair asks about several pairs at the same time and gathers what there is.
func eachPair[V any](
	pairs []Pair, ask func(Pair) (V, bool, error),
) (map[Pair]V, error) {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		found = make(map[Pair]V, len(pairs))
		first error
		slots = make(chan struct{}, dayReads)
	)
	for _, p := range pairs {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			v, ok, err := ask(p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
			}
			if ok {
				found[p] = v
			}
		}()
	}
	wg.Wait()
	return found, first
}

// Range returns the rates of a pair over days, both ends included: one for each day that has its
// own, in order, derived where it is not stored. The first one is the rate of the first day, though
// it be older, so that a plot which begins on a weekend has a beginning; if that day has no rate,
// the first one within the range is. ErrNotFound when there is none at all.
func (b *Board) Range(ctx context.Context, ask Ask, from, to Date) ([]Quote, error) {
	if err := ask.checkRange(from, to); err != nil {
		return nil, err
	}
	ask.On = from
	if _, err := ask.check(b.now()); err != nil {
		return nil, err
	}
	find, days, last, err := b.series(ctx, ask, from, to)
	if err != nil {
		return nil, err
	}
	var quotes []Quote
	for i, day := range days {
		ask.On = day
		q, found, err := b.resolve(ctx, ask, day, find(day))
		if err != nil {
			return nil, err
		}
		// A day on which only one of two legs has a rate has no rate of its own.
		if !found || i > 0 && q.Date != "" && q.Date != day || q.apartCheck() != nil {
			continue
		}
		quotes = append(quotes, q)
	}
	if len(quotes) == 0 {
		ask.On = to
		return nil, noRateOf(ask, last)
	}
	return quotes, nil
}

func (a Ask) checkRange(from, to Date) error {
	var wrong problem.Fields
	if !from.Valid() {
		wrong.Add("from", "must be a day such as 2026-01-31")
	}
	if !to.Valid() {
		wrong.Add("to", "must be a day such as 2026-01-31")
	}
	if len(wrong) == 0 && to < from {
		wrong.Add("to", "must not be before from")
	}
	if err := wrong.Err(ErrInvalid); err != nil {
		return err
	}
	if days := from.daysTo(to) + 1; days > rangeDaysMax {
		return ErrTooManyDays.With("days", days).With("limit", rangeDaysMax).With("unit", "days")
	}
	return nil
}

// series reads what a range of days can need into memory. It returns a finder for each day, and
// the days in order on which something may have changed, the first day of the range among them.
func (b *Board) series(
	ctx context.Context, ask Ask, from, to Date,
) (find func(Date) finder, days []Date, last Date, err error) {
	changes := map[Date]bool{from: true}
	rows := map[Pair][]dayItem{}
	earliest := from.plus(-LookBackDays)
	read := func(p Pair) ([]dayItem, bool, error) {
		var found []dayItem
		for row, err := range modelOf(b).span.All(ctx, b.store,
			OfDays{Base: p.Base, Target: p.Target, From: earliest, To: to}) {
			if err != nil {
				return nil, false, failed("read the history of", p, err)
			}
			if row.Rate.Sign() > 0 {
				found = append(found, row)
			}
		}
		return found, true, nil
	}
	for _, p := range successions(ask.Pair(), from, to, changes) {
		for _, ways := range b.ways(p) {
			stage, err := eachPair(pairsOf(ways), read)
			if err != nil {
				return nil, nil, "", fmt.Errorf("read the range: %w", err)
			}
			for pair, found := range stage {
				rows[pair] = found
				for _, row := range found {
					if row.Date >= from {
						changes[row.Date] = true
					}
					last = max(last, row.Date)
				}
			}
		}
	}
	for day := range changes {
		days = append(days, day)
	}
	sort.Slice(days, func(i, j int) bool { return days[i] < days[j] })
	find = func(on Date) finder {
		return func(_ context.Context, pairs []Pair) (map[Pair]Leg, error) {
			legs := make(map[Pair]Leg, len(pairs))
			for _, p := range pairs {
				all := rows[p]
				after := sort.Search(len(all), func(i int) bool { return all[i].Date > on })
				if after > 0 && all[after-1].Date >= on.plus(-LookBackDays) {
					legs[p] = legOfDay(p, all[after-1])
				}
			}
			return legs, nil
		}
	}
	return find, days, last, nil
}

// successions returns the pairs that a pair is over a range of days: itself, and what it becomes
// when its currencies are replaced, the days of which are noted.
func successions(pair Pair, from, to Date, changes map[Date]bool) []Pair {
	bases, targets := []money.Currency{pair.Base}, []money.Currency{pair.Target}
	for _, end := range []*[]money.Currency{&bases, &targets} {
		f, ok := fixedRates[(*end)[0]]
		switch {
		case !ok || f.from > to:
		case f.from.plus(LookBackDays) < from:
			*end = []money.Currency{f.into}
		default:
			if f.from >= from {
				changes[f.from] = true
			}
			*end = append(*end, f.into)
		}
	}
	var pairs []Pair
	for _, base := range bases {
		for _, target := range targets {
			if base != target {
				pairs = append(pairs, Pair{base, target})
			}
		}
	}
	return pairs
}

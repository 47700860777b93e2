package payments

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/money"
)

// This file notes how far the move of a day has come, and reads it.

// note writes down how far the move is.
func (mv *move) note(ctx context.Context, phase string, t totals) error {
	item := dayItem{Day: mv.day, Phase: phase, Totals: map[string]total{}}
	for key, value := range t {
		item.Totals[string(key.status)+"/"+string(key.currency)] = value
	}
	if phase == phaseMoved {
		item.MovedAt = instant(mv.s.opts.Now())
	}
	if err := mv.m.days.Put(ctx, mv.s.store, item); err != nil {
		return failed("note the move of", mv.day, err)
	}
	return nil
}

// listTotals lists totals by status, in the order of life, and currency.
func listTotals(t totals) []Total {
	var out []Total
	for _, status := range Statuses() {
		var of []Total
		for key, value := range t {
			if key.status == status {
				sum, _ := money.New(value.Sum, key.currency)
				of = append(of, Total{status, value.Count, sum})
			}
		}
		sortTotals(of)
		out = append(out, of...)
	}
	return out
}

// dayName names a day of a zone; in UTC the zone is left out.
func dayName(day string, zone *time.Location) string {
	if zone == time.UTC {
		return day
	}
	return day + "@" + zone.String()
}

// MovedDay returns how far the move of a day has come, and whether it was begun at all: the day as
// it was noted last. A day to which payments came back since is not moved until it is moved again:
// by a replay, or as they were scheduled or put late. Its totals are those of the move. The same
// date in another zone is another day.
func (s *Scheduler) MovedDay(
	ctx context.Context, day string, zone *time.Location,
) (MovedDay, bool, error) {
	name := dayName(day, zone)
	item, exists, err := modelOf(s).dayByName.First(ctx, s.store, ByDay{name})
	if err != nil {
		return MovedDay{}, false, failed("read the move of", day, err)
	}
	t := totals{}
	for name, value := range item.Totals {
		t[parseTotalKey(name)] = value
	}
	out := MovedDay{Day: day, Totals: listTotals(t)}
	if item.Phase != phaseMoved {
		return out, exists, nil // How many wait may be dear to count, as nothing may be moved yet.
	}
	mv := &move{s: s, day: name}
	if mv.span, err = Day(day, zone); err != nil {
		return MovedDay{}, false, err
	}
	if mv.m, err = current(ctx, s); err != nil {
		return MovedDay{}, false, err
	}
	var ended int
	if out.Waiting, ended, err = mv.rest(ctx); err != nil {
		return MovedDay{}, false, err
	}
	out.Moved = out.Waiting+ended == 0
	return out, exists, nil
}

func parseTotalKey(name string) totalKey {
	status, currency, _ := strings.Cut(name, "/")
	return totalKey{Status(status), money.Currency(currency)}
}

func sortTotals(t []Total) {
	slices.SortFunc(t, func(a, b Total) int {
		return strings.Compare(string(a.Sum.Currency()), string(b.Sum.Currency()))
	})
}

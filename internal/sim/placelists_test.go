package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// locationOptions are those of the processes: every second seed has the optional indexes.
func (p *plan) locationOptions() locations.Options {
	with := p.hasLocationIndexes()
	return locations.Options{CreatedIndex: with, CodeIndex: with, NameIndex: with, CellIndex: with}
}

func (p *plan) hasLocationIndexes() bool { return p.Seed/2%2 == 0 }

// compareLocationLists compares lists by status, tag, order, beginning and distance, and the
// directory, with the list of all locations.
func (w *world) compareLocationLists(
	c *caller, listed map[client.LocationID]client.Location,
) error {
	all := slices.Collect(maps.Values(listed))
	compare := func(q client.LocationQuery, in func(client.Location) bool) error {
		q.Limit = 3
		want := selected(slices.Values(all), toldPlace, in)
		name := fmt.Sprintf("locations %+v", q)
		return sameRows(name, c.AllLocations(w.ctx, q), toldPlace, want)
	}
	active := func(l client.Location) bool { return l.Status == client.LocationActive }
	tag := placeTag(int(w.plan.Seed))
	tagged := func(l client.Location) bool { return active(l) && slices.Contains(l.Tags, tag) }
	err := firstError(
		func() error { return compare(client.LocationQuery{}, active) },
		func() error {
			return compare(client.LocationQuery{Status: "inactive"},
				func(l client.Location) bool { return !active(l) })
		},
		func() error { return compare(client.LocationQuery{Tag: tag}, tagged) },
		func() error { return w.compareDirectory(c, all) },
		func() error { return w.compareNear(c, all) },
	)
	if err != nil || !w.plan.hasLocationIndexes() {
		return err
	}
	for _, order := range []string{"created", "code", "name"} {
		for status, in := range map[string]func(client.Location) bool{
			"": active, "all": func(client.Location) bool { return true },
		} {
			q := client.LocationQuery{Status: status, Order: order}
			err := compare(q, func(l client.Location) bool {
				return in(l) && (order != "code" || l.Code != "")
			})
			if err != nil {
				return err
			}
		}
	}
	return compare(client.LocationQuery{Order: "code", Prefix: "code-1"},
		func(l client.Location) bool {
			return active(l) && strings.HasPrefix(strings.ToLower(l.Code), "code-1")
		})
}

// compareDirectory compares the list that a process keeps for a minute, after that minute.
func (w *world) compareDirectory(c *caller, all []client.Location) error {
	time.Sleep(directoryTime)
	want := selected(slices.Values(all), toldPlace, func(l client.Location) bool {
		return l.Status == client.LocationActive
	})
	return sameRows("the directory", rowsOf(c.Directory(w.ctx)), toldPlace, want)
}

// directoryTime is longer than a process serves the directory that it has read.
const directoryTime = 2 * time.Minute

// compareNear looks for the locations that are near the first one.
func (w *world) compareNear(c *caller, all []client.Location) error {
	lat, lng := placePoint(0)
	const radius = 20_000 // In metres; each location is about 4.5 km east of the previous one.
	want := selected(slices.Values(all), toldPlace, func(l client.Location) bool {
		return l.Status == client.LocationActive && l.Lng != nil && *l.Lng < 174.0+0.05*4.4
	})
	got, err := c.LocationsNear(w.ctx, client.NearQuery{Lat: lat, Lng: lng, Radius: radius})
	return sameRows("locations nearby", rowsOf(got.Items, err), toldPlace, want)
}

func rateKey(r api.Rate) string {
	return fmt.Sprintf("%s/%s %s as of %v", r.Base, r.Target, r.Rate, r.AsOf)
}

// compareRateLists compares the rates of each base that are not gone, and what the health counts,
// with all rates.
func (w *world) compareRateLists(c *caller, listed map[ratePair]api.Rate) error {
	for _, base := range []money.Currency{"USD", "EUR", "NZD"} {
		want := selected(maps.Values(listed), rateKey, func(r api.Rate) bool {
			return r.Base == base && r.State != api.RateGone
		})
		rows := rowsOf(c.Rates().OfBase(w.ctx, api.BaseQuery{Base: base, Stale: true}))
		if err := sameRows("rates of "+string(base), rows, rateKey, want); err != nil {
			return err
		}
	}
	health, err := c.Rates().Health(w.ctx)
	if err != nil {
		return cannotTell("read the health of the rates", err)
	}
	if health.Fresh+health.Stale+health.Gone != len(listed) || len(health.Unreadable) > 0 {
		return fmt.Errorf("there are %d rates, and the health counts %+v", len(listed), health)
	}
	return nil
}

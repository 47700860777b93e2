package locations_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// arc is the distance by another formula than the product's: the angle between two vectors.
func arc(a, b locations.Point) float64 {
	v := func(p locations.Point) [3]float64 {
		lat, lng := p.Lat*math.Pi/180, p.Lng*math.Pi/180
		return [3]float64{math.Cos(lat) * math.Cos(lng), math.Cos(lat) * math.Sin(lng),
			math.Sin(lat)}
	}
	x, y := v(a), v(b)
	cross := [3]float64{x[1]*y[2] - x[2]*y[1], x[2]*y[0] - x[0]*y[2], x[0]*y[1] - x[1]*y[0]}
	dot := x[0]*y[0] + x[1]*y[1] + x[2]*y[2]
	return locations.EarthRadius * math.Atan2(math.Sqrt(cross[0]*cross[0]+cross[1]*cross[1]+
		cross[2]*cross[2]), dot)
}

// point draws points of all the earth, and many at its seams.
func point() *rapid.Generator[locations.Point] {
	return rapid.Custom(func(r *rapid.T) locations.Point {
		lat := rapid.Float64Range(-90, 90).Draw(r, "lat")
		lng := rapid.Float64Range(-180, 180).Draw(r, "lng")
		switch rapid.IntRange(0, 5).Draw(r, "seam") {
		case 0:
			lng = math.Copysign(180-math.Abs(lng)/1000, lng) // The antimeridian.
		case 1:
			lat = math.Copysign(90-math.Abs(lat)/1000, lat) // The poles.
		case 2:
			lat, lng = math.Round(lat), math.Round(lng) // Edges of cells.
		case 3:
			lat, lng = lat/1000, lng/1000 // Around 0, 0.
		}
		return locations.Point{Lat: lat, Lng: lng}
	})
}

func TestDistanceAgreesWithAnotherFormula(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := point().Draw(r, "a"), point().Draw(r, "b")
		got, want := locations.Distance(a, b), arc(a, b)
		if math.Abs(got-want) > 1e-3+want*1e-7 { // Haversine is weak at antipodes alone.
			r.Fatalf("%v to %v is %v, want %v", a, b, got, want)
		}
	})
	auckland := locations.Point{Lat: -36.8485, Lng: 174.7633}
	wellington := locations.Point{Lat: -41.2866, Lng: 174.7756}
	if d := locations.Distance(auckland, wellington); math.Abs(d-493_500) > 1000 {
		t.Errorf("Auckland to Wellington is %v", d)
	}
}

// TestEveryPointOfACircleIsInItsCells is what the cell index stands on: a point that is near enough
// lies in the box around the circle, and its cell begins with one of the box's cover.
func TestEveryPointOfACircleIsInItsCells(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		centre := point().Draw(r, "centre")
		radius := math.Pow(10, rapid.Float64Range(0, 6).Draw(r, "log of the radius"))
		box := locations.Around(centre, radius)
		cells, n := locations.Cover(box)
		if cells == nil && n <= 128 || len(cells) > 128 {
			r.Fatalf("%d cells, %d of them", len(cells), n)
		}
		for range 50 {
			p := point().Draw(r, "point")
			if rapid.Bool().Draw(r, "close") {
				wide := radius / 111_195 // in degrees
				north := wide * rapid.Float64Range(-1, 1).Draw(r, "north")
				east := wide * rapid.Float64Range(-2, 2).Draw(r, "east")
				p = locations.Point{Lat: max(-90, min(90, centre.Lat+north)),
					Lng: wrap(centre.Lng + east)}
			}
			if arc(centre, p) > radius*(1-1e-9)-1e-6 {
				continue
			}
			if !box.Contains(p) {
				r.Fatalf("%v is %v m from %v and not in %+v", p, arc(centre, p), centre, box)
			}
			cell := locations.CellOf(p)
			in := slices.ContainsFunc(cells,
				func(c string) bool { return strings.HasPrefix(cell, c) })
			if cells != nil && !in {
				r.Fatalf("the cell %s of %v is not in %v", cell, p, cells)
			}
		}
	})
}

func wrap(lng float64) float64 {
	switch {
	case lng > 180:
		return lng - 360
	case lng < -180:
		return lng + 360
	}
	return lng
}

// TestNearAgreesWithBruteForce asks a directory with the cell index and one without for circles and
// boxes, and compares with a look at every location.
func TestNearAgreesWithBruteForce(t *testing.T) {
	indexed := open(t, locations.Options{CellIndex: true})
	plain := open(t, locations.Options{})
	var all []locations.Location
	rapid.Check(t, func(r *rapid.T) {
		for range 2 {
			n := named(fmt.Sprintf("p%d", len(all)), "P")
			n.Point = ref(point().Draw(r, "point"))
			n.ID = locations.ID(fmt.Sprintf("01ARZ3NDEKTSV4RRFFQ6%06d", len(all)))
			indexed.create(n)
			all = append(all, plain.create(n))
		}
		q := locations.NearQuery{Point: point().Draw(r, "centre"), Limit: 1000,
			Radius: math.Pow(10, rapid.Float64Range(2, 7.5).Draw(r, "log of the radius"))}
		if rapid.Bool().Draw(r, "box") {
			a, b := point().Draw(r, "a"), point().Draw(r, "b")
			q.Box = &locations.Box{South: min(a.Lat, b.Lat), North: max(a.Lat, b.Lat),
				West: meridian(a.Lng), East: meridian(b.Lng)}
		}
		var want []locations.ID
		for _, l := range all {
			distance := arc(q.Point, *l.Point)
			if q.Box == nil && math.Abs(distance-q.Radius) < 1e-3+q.Radius*1e-7 {
				return // Too close to the edge to tell by two formulas.
			}
			if q.Box != nil && inBox(*q.Box, *l.Point, edge) != inBox(*q.Box, *l.Point, -edge) {
				return // Likewise; the edge itself is a test of its own.
			}
			if q.Box == nil && distance <= q.Radius || q.Box != nil && inBox(*q.Box, *l.Point, 0) {
				want = append(want, l.ID)
			}
		}
		slices.Sort(want)
		for name, d := range map[string]*directory{"cells": indexed, "list": plain} {
			var got []locations.ID
			eventually(t, func() bool {
				found, err := d.Near(t.Context(), q)
				if err != nil {
					r.Fatal(err)
				}
				got = got[:0]
				for i, l := range found.Items {
					got = append(got, l.ID)
					if i > 0 && found.Items[i-1].Distance > l.Distance {
						r.Fatal("not by distance")
					}
				}
				slices.Sort(got)
				late := storetest.Strict() || storetest.Remote()
				return slices.Equal(got, want) || name == "list" || !late
			})
			if !slices.Equal(got, want) {
				r.Fatalf("%s: %+v, box %+v, finds %v, want %v", name, q, q.Box, got, want)
			}
		}
	})
}

// meridian moves a meridian to where no drawn point lies by design, so that the two ways to tell do
// not differ in what they lose to rounding.
func meridian(lng float64) float64 {
	if math.Abs(lng) > 179.9 {
		return math.Round(lng)
	}
	return math.Round(lng*100)/100 + 0.005
}

// edge is how close to the side of a box two formulas may disagree, in degrees.
const edge = 1e-9

// inBox says in its own way whether a point lies in a box.
func inBox(b locations.Box, p locations.Point, slack float64) bool {
	if p.Lat < b.South || p.Lat > b.North {
		return false
	}
	width := b.East - b.West
	if width < 0 {
		width += 360
	}
	for _, lng := range []float64{p.Lng - 360, p.Lng, p.Lng + 360} {
		if lng >= b.West-slack && lng-b.West <= width+slack {
			return true
		}
	}
	return false
}

func TestNearAtTheEdges(t *testing.T) {
	for name, opts := range map[string]locations.Options{"cells": {CellIndex: true}, "list": {}} {
		t.Run(name, func(t *testing.T) {
			d := open(t, opts)
			for code, p := range map[string]locations.Point{
				"suva": {Lat: -18.1416, Lng: 178.4419}, "taveuni": {Lat: -16.85, Lng: -179.97},
				"chatham": {Lat: -43.95, Lng: -176.56}, "auckland": {Lat: -36.85, Lng: 174.76},
				"lisbon": {Lat: 38.72, Lng: -9.14}, "west": {Lat: 0, Lng: -13.6},
				"east": {Lat: 0, Lng: -13.4}, "pole": {Lat: 90, Lng: 12},
			} {
				n := named(code, code)
				n.Point = &p
				d.create(n)
			}
			blank := d.create(named("nowhere", "Nowhere"))
			if blank.Point != nil {
				t.Error("a location without coordinates lies at", blank.Point)
			}
			find := func(q locations.NearQuery, want ...string) {
				t.Helper()
				var codes []string
				eventually(t, func() bool {
					found, err := d.Near(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					codes = nil
					for _, l := range found.Items {
						codes = append(codes, l.Code)
					}
					slices.Sort(codes)
					slices.Sort(want)
					return slices.Equal(codes, want) || !(storetest.Strict() || storetest.Remote())
				})
				if !slices.Equal(codes, want) {
					t.Errorf("%+v finds %v, want %v", q, codes, want)
				}
			}
			fiji := locations.Point{Lat: -17.5, Lng: 179.5}
			find(locations.NearQuery{Point: fiji, Radius: 200_000}, "suva", "taveuni")
			find(locations.NearQuery{Point: fiji, Box: &locations.Box{South: -50, West: 170,
				North: -10, East: -170}}, "suva", "taveuni", "chatham", "auckland")
			find(locations.NearQuery{Point: fiji, Box: &locations.Box{South: -50, West: -180,
				North: -10, East: -170}}, "taveuni", "chatham")
			find(locations.NearQuery{Point: locations.Point{Lat: 0, Lng: -13.5}, Radius: 12_000},
				"west", "east")
			find(locations.NearQuery{Point: locations.Point{Lat: 89.9, Lng: -100}, Radius: 20_000},
				"pole")
			// A radius that is larger than the earth finds everything that lies somewhere.
			find(locations.NearQuery{Point: fiji, Radius: 1e9}, "suva", "taveuni", "chatham",
				"auckland", "lisbon", "west", "east", "pole")
			find(locations.NearQuery{Point: locations.Point{}, Radius: 1000})
			for _, q := range []locations.NearQuery{
				{Radius: -1}, {Radius: math.NaN()}, {Radius: math.Inf(1)}, {Limit: 1001},
				{Point: locations.Point{Lat: 91}}, {Point: locations.Point{Lng: math.NaN()}},
				{Box: &locations.Box{South: 1, North: 0}}, {Box: &locations.Box{East: 181}},
			} {
				_, err := d.Near(t.Context(), q)
				wants(t, err, locations.ErrInvalid)
			}
			found, err := d.Near(t.Context(), locations.NearQuery{Point: fiji, Radius: 1e9,
				Limit: 3})
			if err != nil || len(found.Items) != 3 || !found.More {
				t.Error(found, err)
			}
		})
	}
}

// TestADeletedOrMovedLocationIsNotFoundWhereItWas covers the cells that a change leaves.
func TestADeletedOrMovedLocationIsNotFoundWhereItWas(t *testing.T) {
	d := open(t, locations.Options{CellIndex: true})
	ctx := t.Context()
	l := d.create(austin())
	here := locations.NearQuery{Point: *austin().Point, Radius: 100}
	there := locations.NearQuery{Point: locations.Point{Lat: 10, Lng: 10}, Radius: 100}
	count := func(q locations.NearQuery) int {
		found, err := d.Near(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return len(found.Items)
	}
	must(t, l, must2(d.Update(ctx, l.ID, "", locations.Change{Point: &there.Point})))
	eventually(t, func() bool { return count(here) == 0 && count(there) == 1 })
	must(t, l, must2(d.Update(ctx, l.ID, "", locations.Change{Clear: []string{"point"}})))
	eventually(t, func() bool { return count(there) == 0 })
	must(t, l, must2(d.Update(ctx, l.ID, "", locations.Change{Point: &here.Point})))
	must(t, l, must2(d.Delete(ctx, l.ID, "")))
	eventually(t, func() bool { return count(here) == 0 })
}

func TestMiddleOfABox(t *testing.T) {
	for box, want := range map[locations.Box]locations.Point{
		{South: -48, West: 166, North: -34, East: 180}: {Lat: -41, Lng: 173},
		{South: -20, West: 170, North: 0, East: -160}:  {Lat: -10, Lng: -175},
		{South: 0, West: 160, North: 0, East: -170}:    {Lat: 0, Lng: 175},
		{South: -90, West: -180, North: 90, East: 180}: {Lat: 0, Lng: 0},
		{South: 10, West: -90, North: 10.5, East: -90}: {Lat: 10.25, Lng: -90},
		{South: -1, West: 179, North: 1, East: -179}:   {Lat: 0, Lng: 180},
	} {
		if got := box.Middle(); got != want || !box.Contains(got) {
			t.Errorf("the middle of %+v is %v", box, got)
		}
	}
}

package locations_test

import (
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

// TestPublicCases are cases about codes, lists and distances that users of other projects ran into,
// by the projects in which they can be read, each with what should have come of it.
func TestPublicCases(t *testing.T) {
	t.Run("dynamodb-onetable 317: what never had a code can be changed and deleted",
		TestALocationWithoutACode)
	t.Run("dynamodb-onetable 323: saving twice is no taken code", func(t *testing.T) {
		d := open(t, locations.Options{})
		l := d.create(named("akl-01", "Auckland"))
		for _, name := range []string{"One", "Two"} {
			_, err := d.Update(t.Context(), l.ID, "", locations.Change{Code: ref("akl-01"),
				Name: &name})
			must(t, l, err)
		}
		if l = d.get(l.ID); l.Name != "Two" {
			t.Error(l)
		}
	})
	t.Run("typedorm 345: a change of case alone", func(t *testing.T) {
		d := open(t, locations.Options{})
		l := d.create(named("akl-01", "Auckland"))
		l, err := d.Update(t.Context(), l.ID, "", locations.Change{Code: ref("AKL-01")})
		if err != nil || l.Code != "AKL-01" {
			t.Error(l, err)
		}
		d.sound()
		if d.item("LOCATION_CODE#akl-01")["locationCode"].S() != "AKL-01" {
			t.Error("the lookup item keeps the old form")
		}
	})
	t.Run("directus 2468 and eight others: the code of a deleted one", func(t *testing.T) {
		d := open(t, locations.Options{})
		l := d.create(named("akl-01", "Auckland"))
		must(t, l, must2(d.Delete(t.Context(), l.ID, "")))
		_, _, err := d.Create(t.Context(), named("akl-01", "Albany"))
		wants(t, err, locations.ErrCodeReserved, "location", string(l.ID))
		if !strings.Contains(locations.ErrCodeReserved.Hint(), "Restore") {
			t.Error("nothing is offered")
		}
	})
	t.Run("open-msupply 11352: a code is unique in its table and nowhere else", func(t *testing.T) {
		d := open(t, locations.Options{})
		other, err := locations.New(d.store, locations.Options{TableName: "others"})
		must(t, d, err)
		must(t, d, other.Table().Ensure(t.Context(), d.db))
		d.create(named("akl-01", "Auckland"))
		_, _, err = other.Create(t.Context(), named("akl-01", "Auckland"))
		must(t, d, err)
		_, _, err = d.Create(t.Context(), named("akl-01", "Albany"))
		wants(t, err, locations.ErrCodeTaken)
	})
	t.Run("open-msupply 7666: the same file again is no success with nothing said",
		TestImportCreatesChangesAndLeavesAlone)
	t.Run("amplify-cli 7975: no empty page with a token", TestListPagesAreFilledAndLoseNothing)
	t.Run("dynamodb-geo.js 4: 500 km in time", func(t *testing.T) {
		for _, lat := range []float64{0, -41, 60, 85} {
			cells, n := locations.Cover(locations.Around(locations.Point{Lat: lat, Lng: 174},
				500_000))
			if n > 128 || cells == nil {
				t.Logf("at %v degrees it is refused, as it needs %d queries", lat, n)
			}
			if lat < 45 && n > 64 {
				t.Errorf("500 km at %v degrees take %d queries", lat, n)
			}
		}
	})
	t.Run("dynamodb-geo.js 31, 66: longitudes above -13.5", TestNearAgreesWithBruteForce)
	t.Run("dynamodb-geo.py 48, tile38 64: a box across the antimeridian, the edge of a radius",
		TestNearAtTheEdges)
}

// TestPublicCasesOfFiles are those about files and what is in them.
func TestPublicCasesOfFiles(t *testing.T) {
	t.Run("card 31: blank coordinates are none", func(t *testing.T) {
		d := open(t, locations.Options{})
		d.imported("code,name,lat,lng\na,A,,\n", "", false)
		if l, err := d.ByCode(t.Context(), "a"); err != nil || l.Point != nil {
			t.Error(l.Point, err)
		}
	})
	t.Run("webtrees 4967, dplace 53: letters, swapped columns, an odd encoding", func(t *testing.T) {
		d := open(t, locations.Options{})
		same(t, d.imported("Code;Name;Longitude;Latitude;Country\n"+
			"k;K\xf6ln;E53.51;N12.35;DE\n", "", false),
			"2 k create (the point lies outside DE: latitude and longitude look swapped)")
		if l, err := d.ByCode(t.Context(), "k"); err != nil || l.Name != "Köln" {
			t.Error(l, err)
		}
		same(t, d.imported("code,name\nx,X\ny,Y\n", locations.UpdateOnly, false),
			"2 x error: No location has the code x", "3 y error: No location has the code y")
	})
	t.Run("snipe-it 7021: a blank cell keeps the old value", func(t *testing.T) {
		d := open(t, locations.Options{})
		d.create(austin())
		same(t, d.imported("code,name,formattedAddress\naustin-main-01,,\n", "", false),
			"2 austin-main-01 same")
	})
	t.Run("prox 124, opening_hours.js 420, spatie 157: past midnight, change of clocks, UTC",
		TestOpen)
	t.Run("contao-storelocator 4: a row without coordinates is saved and listed", func(t *testing.T) {
		d := open(t, locations.Options{})
		same(t, d.imported("code,name,point\na,A,\n", "", false),
			"2 a create (there are no coordinates)")
	})
	t.Run("contao-storelocator 13: a code in two rows is wrong in both",
		TestImportReportsEveryBadRowAndSavesTheOthers)
	t.Run("DeskcommCRM 482: a long code is refused, not cut", func(t *testing.T) {
		_, _, err := locations.Code(strings.Repeat("a", locations.CodeMax+1))
		wants(t, err, locations.ErrInvalidCode)
	})
	t.Run("ushahidi 3886: an upload that is tried again makes no doubles",
		TestImportGoesOnWhereItWasBrokenOff)
	t.Run("Google: a place id is stale after twelve months", func(t *testing.T) {
		p := locations.Place{ID: "x", CheckedAt: clockStart}
		if p.Stale(clockStart.Add(300*24*time.Hour)) || !p.Stale(clockStart.Add(370*24*time.Hour)) {
			t.Error("stale at another time")
		}
	})
}

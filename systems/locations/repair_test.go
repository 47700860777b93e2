package locations_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

// TestRepairFindsAndMendsWhatFaultsLeave makes every disagreement that a program which writes the
// two items apart can leave behind.
func TestRepairFindsAndMendsWhatFaultsLeave(t *testing.T) {
	d := open(t, locations.Options{NewID: ids()})
	ctx := t.Context()
	a, b, c := d.create(named("a", "A")), d.create(named("b", "B")), d.create(named("C", "C"))
	twin, healthy := d.create(named("e", "E")), d.create(named("f", "F"))
	const gone = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	lookup := func(key, owner string) {
		d.put(dynamo.Item{"PK": dynamo.S("LOCATION_CODE#" + key), "SK": dynamo.S("META"),
			"itemType": dynamo.S("LocationCodeLookup"), "locationId": dynamo.S(owner),
			"locationCode": dynamo.S(key)})
	}
	recode := func(l locations.Location, code string) {
		item := d.item("LOCATION#" + string(l.ID))
		item["locationCode"] = dynamo.S(code)
		d.put(item)
	}
	d.remove("LOCATION_CODE#a")   // a location without its lookup item
	lookup("b", gone)             // one whose lookup item names nobody
	lookup("c", string(a.ID))     // one whose lookup item names another
	lookup("d", gone)             // a lookup item of nobody
	lookup("z", string(a.ID))     // a lookup item of a location with another code
	lookup("odd", "no id at all") // a lookup item of what cannot be a location
	recode(twin, "F")             // two locations with one code, and the first's lookup item alone

	want := []locations.Fault{
		{Kind: locations.LookupMissing, Code: "a", Location: a.ID},
		{Kind: locations.LookupForeign, Code: "b", Location: b.ID, Other: gone},
		{Kind: locations.LookupForeign, Code: "C", Location: c.ID, Other: a.ID},
		{Kind: locations.LookupStray, Code: "d", Location: gone},
		{Kind: locations.LookupStray, Code: "e", Location: twin.ID},
		{Kind: locations.CodeTwice, Code: "F", Location: twin.ID, Other: healthy.ID},
		{Kind: locations.LookupStray, Code: "odd", Location: "no id at all"},
		{Kind: locations.LookupStray, Code: "z", Location: a.ID},
	}
	r, err := d.Repair(ctx, false)
	if err != nil || r.Locations != 5 || r.Lookups != 7 || r.Mended() {
		t.Fatal(r, err)
	}
	if diff := cmp.Diff(want, r.Faults); diff != "" {
		t.Error(diff)
	}
	_, err = d.ByCode(ctx, "b")
	wants(t, err, locations.ErrUnsettled, "location", gone)

	if r, err = d.Repair(ctx, true); err != nil || len(r.Faults) != len(want) || !r.Mended() {
		t.Fatal(r, err)
	}
	d.sound()
	if l := d.get(twin.ID); l.Code != "" || l.FormerCode != "F" || l.Status != locations.Active {
		t.Error(l)
	}
	if _, err := d.Update(ctx, twin.ID, "", locations.Change{Code: ref("g")}); err != nil {
		t.Fatal(err)
	}
	d.sound()
	for code, id := range map[string]locations.ID{"a": a.ID, "b": b.ID, "c": c.ID, "f": healthy.ID,
		"g": twin.ID} {
		if l, err := d.ByCode(ctx, code); err != nil || l.ID != id {
			t.Error(code, l, err)
		}
	}
	d.create(named("odd", "Odd"))
	d.create(named("z", "Z"))
	d.sound()
}

// TestALocationTakesUpALookupItemThatNamesIt is a half that a fault left of its own creation.
func TestALocationTakesUpALookupItemThatNamesIt(t *testing.T) {
	d := open(t, locations.Options{})
	l := d.create(austin())
	d.remove("LOCATION#" + string(l.ID))
	if again := d.create(austin()); again.ID != l.ID {
		t.Error(again)
	}
	d.sound()
}

// TestALocationWithoutACode was written by a program that knows no codes.
func TestALocationWithoutACode(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	l := d.create(austin())
	item := d.item("LOCATION#" + string(l.ID))
	delete(item, "locationCode")
	d.put(item)
	d.remove("LOCATION_CODE#austin-main-01")
	l, err := d.Update(ctx, l.ID, "", locations.Change{Name: ref("Austin")})
	if err != nil || l.Code != "" {
		t.Fatal(l, err)
	}
	if l, err = d.Delete(ctx, l.ID, l.Tag()); err != nil {
		t.Fatal(err)
	}
	_, err = d.Restore(ctx, l.ID, "", "")
	wants(t, err, locations.ErrNoCode)
	_, err = d.Release(ctx, l.ID, "")
	wants(t, err, locations.ErrNoCode)
	if l, err = d.Restore(ctx, l.ID, "", "austin-1"); err != nil || l.Code != "austin-1" {
		t.Fatal(l, err)
	}
	d.sound()
}

// TestReindexTakesInWhatWasThereBefore writes by the seed's own design into a table that has all
// indexes.
func TestReindexTakesInWhatWasThereBefore(t *testing.T) {
	opts := everything
	opts.Shards = 0
	d := open(t, opts)
	plain, err := locations.New(d.store, locations.Options{Now: d.clock})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	a, b := austin(), named("b", "Bee")
	for _, n := range []locations.NewLocation{a, b} {
		if _, _, err := plain.Create(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	count := func(order locations.Order) int {
		page, err := d.List(ctx, locations.ListQuery{Order: order})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	near := locations.NearQuery{Point: *a.Point, Radius: 10}
	found, err := d.Near(ctx, near)
	if err != nil || len(found.Items) != 0 || count(locations.ByCode) != 0 {
		t.Fatal("the indexes have what they cannot have", found, err)
	}
	eventually(t, func() bool { return count(locations.ByCreation) == 2 }) // By the seed's index.
	if n, err := d.Reindex(ctx); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	eventually(t, func() bool {
		found, err = d.Near(ctx, near)
		return err == nil && len(found.Items) == 1 && count(locations.ByCode) == 2 &&
			count(locations.ByName) == 2
	})
	d.sound()
}

// eventually waits until something that follows later holds.
func eventually(t testing.TB, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatal("it never holds")
		case <-time.After(time.Millisecond):
		}
		if deadline, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
			if at, ok := deadline.Deadline(); ok && time.Until(at) < time.Minute {
				t.Fatal("it does not come to hold")
			}
		}
	}
}

package locations_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// startedWith returns the directory of a process that was started with a number of shards.
func (d *directory) startedWith(shards int) *directory {
	d.t.Helper()
	opts := d.opts
	opts.Shards = shards
	return openOn(d.t, d.db, opts)
}

// forgetShards deletes what says how many shards there are, as in a table of an earlier release.
func (d *directory) forgetShards() {
	d.t.Helper()
	err := storetest.Retry(func() error {
		_, err := d.db.Delete(d.t.Context(), &dynamo.DeleteInput{
			TableName: locations.TableNameDefault, Key: dynamo.Key{
				"PK": dynamo.S("@locations#control#shards"), "SK": dynamo.S("META")},
		})
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// catchUp lets the indexes catch up.
func (d *directory) catchUp() {
	d.t.Helper()
	if err := d.db.CatchUp(); err != nil {
		d.t.Fatal(err)
	}
}

// wantFound fails unless all locations are found by id, by code and in each list.
func (d *directory) wantFound(all []locations.Location) {
	d.t.Helper()
	ctx := d.t.Context()
	for _, l := range all {
		if _, err := d.Location(ctx, l.ID); err != nil {
			d.t.Errorf("by id: %v", err)
		}
		if got, err := d.ByCode(ctx, l.Code); err != nil || got.ID != l.ID {
			d.t.Errorf("by code %s: %v", l.Code, err)
		}
	}
	for _, order := range []locations.Order{locations.Unordered, locations.ByCode,
		locations.ByName} {
		n, cursor := 0, ""
		for {
			page, err := d.List(ctx, locations.ListQuery{Order: order, Cursor: cursor})
			if err != nil {
				d.t.Errorf("by %q: %v", order, err)
			}
			n += len(page.Items)
			if cursor = page.Next; cursor == "" || err != nil {
				break
			}
		}
		if n != len(all) {
			d.t.Errorf("by %q: %d of %d", order, n, len(all))
		}
	}
}

var bothIndexes = locations.Options{CodeIndex: true, NameIndex: true}

// Whatever number of shards a later process is started with, it finds, changes and creates under
// the number of the table, whether that is stored or was never said.
func TestAnotherStartHidesNoLocation(t *testing.T) {
	for _, forget := range []bool{false, true} {
		for name, test := range map[string]struct{ first, later int }{
			"none, then some": {0, 8}, "some, then none": {8, 0}, "more": {3, 9},
			"fewer": {64, 2}, "one": {1, 0}, "none, then one": {0, 1},
		} {
			t.Run(fmt.Sprintf("%s, forgotten %t", name, forget), func(t *testing.T) {
				opts := bothIndexes
				opts.Shards = test.first
				d := open(t, opts)
				var all []locations.Location
				for i := range 12 {
					all = append(all, d.create(named(fmt.Sprint("P-", i), "Place")))
				}
				if forget {
					d.forgetShards()
				}
				later := d.startedWith(test.later)
				d.catchUp()
				later.wantFound(all)
				if n, err := later.Shards(t.Context()); err != nil || n != test.first {
					t.Errorf("%d shards, %v, want %d", n, err, test.first)
				}
				var layout *singletable.LayoutError
				err := later.CheckLayout(t.Context())
				if differs := errors.As(err, &layout); differs != (test.later != 0) {
					t.Errorf("the layout: %v", err)
				}
				name := "Other"
				_, err = later.Update(t.Context(), all[0].ID, "", locations.Change{Name: &name})
				if err != nil {
					t.Error(err)
				}
				if _, err := later.Delete(t.Context(), all[1].ID, ""); err != nil {
					t.Error(err)
				}
				if _, err := later.Restore(t.Context(), all[1].ID, "", ""); err != nil {
					t.Error(err)
				}
				all = append(all, later.create(named("new", "New")))
				d.catchUp()
				d.wantFound(all)
				later.wantFound(all)
				r, err := d.Repair(t.Context(), false)
				if err != nil || r.Verdict() != locations.VerdictSound || r.Locations != 13 {
					t.Errorf("the repair: %+v, %v", r, err)
				}
			})
		}
	}
}

// Two processes that begin at the same time, with other numbers, agree on one.
func TestTwoFirstStartsAgreeOnTheShards(t *testing.T) {
	d := open(t, bothIndexes)
	one, two := d.startedWith(5), d.startedWith(7)
	if _, err := one.List(t.Context(), locations.ListQuery{}); err != nil {
		t.Fatal(err)
	}
	all := []locations.Location{two.create(named("a", "A")), one.create(named("b", "B")),
		d.create(named("c", "C"))}
	d.catchUp()
	for _, each := range []*directory{d, one, two} {
		each.wantFound(all)
		if n, err := each.Shards(t.Context()); err != nil || n != 7 {
			t.Errorf("%d shards, %v", n, err)
		}
	}
}

// Locations that earlier releases wrote under several numbers are named by a repair and moved.
func TestMisplacedLocationsAreMoved(t *testing.T) {
	ctx := t.Context()
	d := open(t, bothIndexes)
	var all []locations.Location
	written := []int{8, 8, 8, 0, 8, 3, 0}
	for i, shards := range written {
		opts := bothIndexes
		opts.Shards = shards
		alone := open(t, opts) // That release thought that all keys were as its own.
		all = append(all, alone.create(named(fmt.Sprint("P-", i), "Place")))
		alone.forgetShards()
		for _, item := range storetest.Items(t, alone.db, locations.TableNameDefault) {
			if item["itemType"].S() == "Location" {
				item["colour"] = dynamo.S("red")
			}
			d.put(item)
		}
	}
	later := d.startedWith(8)
	n, err := later.Shards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := later.Repair(ctx, false)
	if err != nil || r.Verdict() != locations.VerdictFaulty {
		t.Errorf("the repair: %+v, %v", r, err)
	}
	var misplaced []string
	for _, f := range r.Faults {
		if f.Kind != locations.KeyMisplaced || f.Mended {
			t.Errorf("fault %+v", f)
		}
		misplaced = append(misplaced, f.Code)
	}
	// The number that fits most of them is found, usually 8, but the ids may fit another one
	// better. If the scan begins with a location that has no shard, it is 0.
	place := func(id locations.ID, shards int) string {
		if shards == 0 {
			return "none"
		}
		return fmt.Sprint(singletable.ShardOf(string(id), shards))
	}
	var want []string
	for i, shards := range written {
		if place(all[i].ID, shards) != place(all[i].ID, n) {
			want = append(want, all[i].Code)
		}
	}
	slices.Sort(misplaced)
	slices.Sort(want)
	if !slices.Equal(misplaced, want) {
		t.Errorf("%d shards, misplaced %v, want %v", n, misplaced, want)
	}
	if r, err = later.Repair(ctx, true); err != nil || !r.Mended() {
		t.Errorf("the mending: %+v, %v", r, err)
	}
	if r, err = later.Repair(ctx, false); err != nil || len(r.Faults) != 0 || r.Locations != 7 {
		t.Errorf("after it: %+v, %v", r, err)
	}
	d.catchUp()
	later.wantFound(all)
	for _, item := range storetest.Items(t, d.db, locations.TableNameDefault) {
		if item["itemType"].S() == "Location" && item["colour"].S() != "red" {
			t.Errorf("another program's attribute is lost: %v", item)
		}
	}
}

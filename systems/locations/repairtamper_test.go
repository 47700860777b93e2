package locations_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// saysNothing lists the attributes of which a repair claims nothing: their values are nowhere else,
// and no key is made of them.
var saysNothing = map[string]bool{
	"formerCode": true, "status": true, "phone": true, "timeZone": true, "version": true,
	"updatedAt": true, "tags": true, "lat": true, "lng": true, "name": true,
}

// leaveOut lists the attributes that another program may leave out, because the key or the other
// item has them.
var leaveOut = map[string]bool{
	"Location locationId": true, "LocationCodeLookup locationCode": true,
	"LocationCodeLookup createdAt": true,
}

// indexKeys are the attributes that are keys of an index, besides those named after it.
var indexKeys = map[string]bool{"itemType": true, "createdAt": true}

// tamperings returns each way to change an item: to delete it, to move it to another key, and for
// each attribute to remove it, to give it another value, and to give it another type.
func tamperings(item dynamo.Item, indexed bool) map[string]dynamo.Item {
	kind := item["itemType"].S()
	out := map[string]dynamo.Item{"deleted": nil}
	for name, v := range item {
		if name == "PK" || name == "SK" {
			continue
		}
		without, other, typed := maps.Clone(item), maps.Clone(item), maps.Clone(item)
		delete(without, name)
		typed[name] = dynamo.M(map[string]dynamo.Value{"a": dynamo.S("b")})
		free := saysNothing[name]
		switch {
		case name == "createdAt":
			other[name] = dynamo.S("2020-02-02T02:02:02.000Z")
		case v.Kind() == dynamo.KindS:
			other[name] = dynamo.S(v.S() + "x")
		default:
			other[name] = dynamo.Int(77)
		}
		if !free && !leaveOut[kind+" "+name] {
			out["without "+name] = without
		}
		if !free {
			out["another "+name] = other
		}
		// The store refuses an index key of another type.
		if !strings.HasPrefix(name, "GSI") && !(indexed && indexKeys[name]) {
			out[name+" of another type"] = typed
		}
	}
	moved := maps.Clone(item)
	moved["PK"] = dynamo.S(item["PK"].S() + "0")
	out["copied to another key"] = moved
	return out
}

// TestTamperingIsFound changes each item of a directory in every way, one at a time. A repair
// names what it finds, and the directory is sound again once the change is undone.
func TestTamperingIsFound(t *testing.T) {
	for name, opts := range map[string]locations.Options{
		"plain":   {},
		"indexed": {CodeIndex: true, NameIndex: true, CreatedIndex: true},
	} {
		t.Run(name, func(t *testing.T) { tamperWithAll(t, opts) })
	}
}

func tamperWithAll(t *testing.T, opts locations.Options) {
	opts.NewID = ids()
	d := open(t, opts)
	n := named("AKL-01", "Auckland")
	n.TimeZone, n.Phone = "Pacific/Auckland", "+64 9 123 4567"
	d.create(n)
	d.create(named("wlg-01", "Wellington"))
	items := 0
	for _, item := range storetest.Items(t, d.db, d.Table().Name()) {
		if item["itemType"].S() == "LocationShards" {
			continue // No repair begins without it: its error names the item.
		}
		items++
		for _, way := range slices.Sorted(maps.Keys(tamperings(item, opts.CodeIndex))) {
			made := tamperings(item, opts.CodeIndex)[way]
			pk := item["PK"].S()
			if made == nil {
				d.remove(pk)
			} else {
				d.put(made)
			}
			r, err := d.Repair(t.Context(), false)
			if err != nil || r.Verdict() != locations.VerdictFaulty || r.Mended() {
				t.Errorf("%s %s: %s, %v", pk, way, r.Verdict(), err)
			}
			for _, f := range r.Faults {
				if f.Code == "" && f.Location == "" && f.Entry == "" {
					t.Errorf("%s %s: %+v names nothing", pk, way, f)
				}
			}
			if made != nil && made["PK"].S() != pk {
				d.remove(made["PK"].S())
			}
			d.put(item)
			d.sound()
		}
	}
	if items != 4 {
		t.Fatalf("%d items", items)
	}
}

// TestMendingChangesNothingThatDependsOnAnUnreadableItem leaves a lookup item alone whose location
// cannot be read, and a location whose lookup item cannot.
func TestMendingChangesNothingThatDependsOnAnUnreadableItem(t *testing.T) {
	for _, broken := range []string{"location", "lookup item"} {
		t.Run(broken, func(t *testing.T) {
			d := open(t, locations.Options{})
			l := d.create(named("akl-01", "Auckland"))
			d.create(named("wlg-01", "Wellington"))
			bad := d.item("LOCATION#" + string(l.ID))
			other := d.item("LOCATION_CODE#akl-01")
			if broken == "location" {
				bad["name"] = dynamo.Int(1)
			} else {
				bad, other = other, bad
				delete(bad, "locationId")
			}
			d.put(bad)
			r, err := d.Repair(t.Context(), true)
			if err != nil || r.Verdict() != locations.VerdictFaulty || len(r.Faults) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			f := r.Faults[0]
			if f.Kind != locations.ItemUnreadable || f.Mended ||
				!strings.Contains(f.Entry, bad["PK"].S()) || !strings.Contains(f.Why, "attribute") {
				t.Errorf("%+v", f)
			}
			for _, item := range []dynamo.Item{bad, other} {
				if now := d.item(item["PK"].S()); !now.Equal(item) {
					t.Errorf("%v became %v", item, now)
				}
			}
		})
	}
}

// restless is a store on which a location is changed after each time that it is read.
type restless struct {
	storetest.Database
	on      atomic.Bool
	changes atomic.Int64
}

func (r *restless) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	out, err := r.Database.Get(ctx, in)
	if err == nil && out.Item["itemType"].S() == "Location" && r.on.Load() {
		_, err := r.Update(ctx, &dynamo.UpdateInput{TableName: in.TableName, Key: in.Key,
			UpdateExpression: "ADD #v :one",
			Expressions: dynamo.Expressions{
				ExpressionAttributeNames:  map[string]string{"#v": "version"},
				ExpressionAttributeValues: map[string]dynamo.Value{":one": dynamo.Int(1)},
			}})
		if err != nil {
			return nil, err
		}
		r.changes.Add(1)
	}
	return out, err
}

// TestWhatChangesEachTimeIsUndecided has a fault that cannot be told from a change in progress.
func TestWhatChangesEachTimeIsUndecided(t *testing.T) {
	db := &restless{Database: storetest.OpenFor(t, engine.Options{})}
	d := openOn(t, db, locations.Options{})
	l := d.create(named("akl-01", "Auckland"))
	d.remove("LOCATION_CODE#akl-01")
	for _, mend := range []bool{false, true} {
		db.on.Store(true)
		r, err := d.Repair(t.Context(), mend)
		db.on.Store(false)
		if err != nil || r.Verdict() != locations.VerdictUndecided || r.Mended() ||
			len(r.Undecided) != 1 || r.Undecided[0].Location != l.ID || len(r.Faults) != 0 {
			t.Fatalf("mend %t: %+v, %v", mend, r, err)
		}
	}
	if db.changes.Load() == 0 {
		t.Fatal("nothing was changed in the meantime")
	}
	r, err := d.Repair(t.Context(), false)
	if err != nil || r.Verdict() != locations.VerdictFaulty {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestARepairOfAStoreThatEndsEarly reads pages that end early, and then gets no answer at all.
func TestARepairOfAStoreThatEndsEarly(t *testing.T) {
	d := open(t, locations.Options{})
	for i := range 30 {
		d.create(named(fmt.Sprintf("c-%02d", i), "Place"))
	}
	d.remove("LOCATION_CODE#c-29")
	storetest.SetFaults(t, d.db, engine.Faults{Seed: 1, Rules: []engine.Fault{
		{Kind: engine.FaultEarlyPage, Items: 2},
		{Kind: engine.FaultThrottle, Rate: 0.2},
	}})
	r, err := d.Repair(t.Context(), false)
	if err != nil || r.Locations != 30 || r.Lookups != 29 || len(r.Faults) != 1 ||
		r.Verdict() != locations.VerdictFaulty {
		t.Errorf("%+v, %v", r, err)
	}
	storetest.SetFaults(t, d.db, engine.Faults{Rules: []engine.Fault{
		{Kind: engine.FaultThrottle},
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r, err := d.Repair(ctx, false); err == nil {
		t.Errorf("a store that refuses everything: %+v", r)
	}
}

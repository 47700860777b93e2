package locations_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// austin is the seed's own example.
func austin() locations.NewLocation {
	return locations.NewLocation{
		ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Code: "austin-main-01",
		Details: locations.Details{
			Name: "Austin Main Center",
			Place: locations.Place{
				ID:               "ChIJN1t_tDeuEmsRUsoyG83frY4",
				FormattedAddress: "123 Main St, Austin, TX 78701",
			},
			Point: &locations.Point{Lat: 30.2672, Lng: -97.7431},
		},
	}
}

func TestItemsAreThoseOfTheSeed(t *testing.T) {
	d := open(t, locations.Options{})
	d.create(austin())
	const at = "2024-01-15T10:30:00.000Z"
	s := dynamo.S
	location := dynamo.Item{
		"PK": s("LOCATION#01ARZ3NDEKTSV4RRFFQ69G5FAV"), "SK": s("META"),
		"itemType": s("Location"), "locationId": s("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
		"locationCode": s("austin-main-01"), "name": s("Austin Main Center"),
		"placeId":          s("ChIJN1t_tDeuEmsRUsoyG83frY4"),
		"formattedAddress": s("123 Main St, Austin, TX 78701"),
		"lat":              dynamo.CanonicalN("30.2672"), "lng": dynamo.CanonicalN("-97.7431"),
		"status": s("active"), "createdAt": s(at), "updatedAt": s(at),
		// What the seed does not have.
		"placeIdCheckedAt": s(at), "version": dynamo.Int(1),
	}
	if diff := cmp.Diff(location.String(),
		d.item("LOCATION#01ARZ3NDEKTSV4RRFFQ69G5FAV").String()); diff != "" {
		t.Error(diff)
	}
	lookup := dynamo.Item{
		"PK": s("LOCATION_CODE#austin-main-01"), "SK": s("META"),
		"itemType": s("LocationCodeLookup"), "locationId": s("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
		"locationCode": s("austin-main-01"), "createdAt": s(at),
	}
	if diff := cmp.Diff(lookup.String(),
		d.item("LOCATION_CODE#austin-main-01").String()); diff != "" {
		t.Error(diff)
	}
}

func TestOperationsAreThoseOfTheSeed(t *testing.T) {
	d := open(t, locations.Options{})
	storetest.SetFaults(d.t, d.db, engine.Faults{})
	expect := func(what string, want ...string) {
		t.Helper()
		if got := d.made(); !slices.Equal(got, want) {
			t.Errorf("%s takes %v, want %v", what, got, want)
		}
	}
	ctx := t.Context()
	// The first location stores the number of shards, once for the table.
	first := d.create(named("first", "First"))
	d.remove("LOCATION#" + string(first.ID))
	d.remove("LOCATION_CODE#first")
	d.made()
	d.create(austin())
	expect("create", "TransactWriteItems")
	l := d.get(austin().ID)
	expect("get by id", "GetItem")
	if _, err := d.ByCode(ctx, "Austin-Main-01"); err != nil {
		t.Error(err)
	}
	expect("get by code", "GetItem", "GetItem")
	page, err := d.List(ctx, locations.ListQuery{})
	if err != nil || len(page.Items) != 1 || page.Next != "" {
		t.Error(page, err)
	}
	expect("list", "Scan")
	before := d.item("LOCATION_CODE#austin-main-01")
	d.pass(time.Hour)
	deleted, err := d.Delete(ctx, l.ID, "")
	if err != nil || deleted.Status != locations.Inactive ||
		!deleted.UpdatedAt.Equal(clockStart.Add(time.Hour)) {
		t.Error(deleted, err)
	}
	expect("soft delete", "UpdateItem")
	if after := d.item("LOCATION_CODE#austin-main-01"); !after.Equal(before) {
		t.Errorf("soft delete changes the lookup item to %v", after)
	}
	item := d.item("LOCATION#01ARZ3NDEKTSV4RRFFQ69G5FAV")
	if item["status"].S() != "inactive" || item["updatedAt"].S() != "2024-01-15T11:30:00.000Z" ||
		item["locationCode"].S() != "austin-main-01" {
		t.Error(item)
	}
}

func TestTheTableIsNamedByTheEnvironment(t *testing.T) {
	name := func(opts locations.Options) string {
		d, err := locations.New(singletable.NewStore(nil, singletable.Options{}), opts)
		return must(t, d, err).Table().Name()
	}
	t.Setenv(locations.TableNameEnv, "")
	if got := name(locations.Options{}); got != "aolfclub-entities" {
		t.Error(got)
	}
	t.Setenv(locations.TableNameEnv, "places")
	if got := name(locations.Options{}); got != "places" {
		t.Error(got)
	}
	if got := name(locations.Options{TableName: "mine"}); got != "mine" {
		t.Error(got)
	}
}

func TestModelsOfAllOptionsAreSound(t *testing.T) {
	for _, opts := range []locations.Options{
		{}, {Shards: 1}, {Shards: 8}, everything,
	} {
		d, err := locations.New(singletable.NewStore(nil, singletable.Options{}), opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Model().Check().Err(); err != nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	for _, opts := range []locations.Options{{Shards: -1}, {Shards: 65}, {CacheTime: -1}} {
		if _, err := locations.New(nil, opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
}

// everything is a directory with all that is optional.
var everything = locations.Options{
	Shards: 4, CreatedIndex: true, CodeIndex: true, NameIndex: true, CellIndex: true,
}

// TestItemsOfOtherProgramsAreUnderstood reads and changes what the seed's own program wrote: it
// knows no version, and times may have no fraction.
func TestItemsOfOtherProgramsAreUnderstood(t *testing.T) {
	d := open(t, locations.Options{})
	s := dynamo.S
	const id = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
	d.put(dynamo.Item{
		"PK": s("LOCATION#" + id), "SK": s("META"), "itemType": s("Location"),
		"locationId": s(id), "locationCode": s("dallas-01"), "name": s("Dallas"),
		"addressComponents": dynamo.M(map[string]dynamo.Value{"city": s("Dallas"),
			"types": dynamo.L(s("locality"))}),
		"status": s("active"), "manager": s("Ann"),
		"createdAt": s("2024-01-15T10:30:00Z"), "updatedAt": s("2024-01-15T10:30:00Z"),
	})
	d.put(dynamo.Item{"PK": s("LOCATION_CODE#dallas-01"), "SK": s("META"),
		"itemType": s("LocationCodeLookup"), "locationId": s(id), "locationCode": s("dallas-01"),
		"createdAt": s("2024-01-15T10:30:00Z")})
	l, err := d.ByCode(t.Context(), "dallas-01")
	if err != nil || l.Version != 0 || !l.UpdatedAt.Equal(clockStart) || l.Point != nil ||
		l.Place.Components["city"] != "Dallas" {
		t.Fatalf("%+v, %v", l, err)
	}
	l, err = d.Update(t.Context(), id, l.Tag(), locations.Change{Name: ref("Dallas Centre"),
		Code: ref("DAL-1")})
	if err != nil || l.Version != 1 || l.Code != "DAL-1" {
		t.Fatalf("%+v, %v", l, err)
	}
	if item := d.item("LOCATION#" + id); item["manager"].S() != "Ann" {
		t.Errorf("what this package does not know is lost: %v", item)
	}
	d.sound()
	// A change that leaves the version alone, as that program makes it, is noticed all the same.
	item := d.item("LOCATION#" + id)
	item["updatedAt"] = s("2024-02-01T00:00:00.000Z")
	d.put(item)
	_, err = d.Update(t.Context(), id, l.Tag(), locations.Change{Name: ref("x")})
	wants(t, err, locations.ErrChanged)
}

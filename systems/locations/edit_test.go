package locations_test

import (
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

func TestWhatIsOneLineHasNoControlCharacters(t *testing.T) {
	d := open(t, locations.Options{})
	for field, n := range map[string]locations.Details{
		"name":             {Name: "A\nB"},
		"placeId":          {Name: "A", Place: locations.Place{ID: "a\tb"}},
		"address.lines[0]": {Name: "A", Address: &locations.Address{Lines: []string{"a\nb"}}},
		"address.locality": {Name: "A", Address: &locations.Address{Locality: "a\u0085"}},
		"tags[0]":          {Name: "A", Tags: []string{"a\nb"}},
		"formattedAddress": {Name: "A", Place: locations.Place{FormattedAddress: "a\r"}},
	} {
		_, _, err := d.Create(t.Context(), locations.NewLocation{Code: "a", Details: n})
		wants(t, err, locations.ErrInvalid)
		if fields := fieldsOf(err); len(fields) != 1 || fields[0].Name != field {
			t.Errorf("%s: %v", field, fields)
		}
	}
	n := named("a", "A")
	n.Place = locations.Place{FormattedAddress: "1 Queen St\nAuckland"}
	d.create(n)
}

// TestAnEditDoesNotSayThatAPlaceIDWasLookedUp edits what another program wrote, which keeps no time
// of the last look.
func TestAnEditDoesNotSayThatAPlaceIDWasLookedUp(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	l := d.create(austin())
	item := d.item("LOCATION#" + string(l.ID))
	delete(item, "placeIdCheckedAt")
	d.put(item)
	d.made()
	now, err := d.Update(ctx, l.ID, "", locations.Change{})
	if err != nil || now.Tag() != l.Tag() || !now.Place.Stale(d.clock()) {
		t.Errorf("%+v, %v", now, err)
	}
	if calls := d.made(); len(calls) != 1 {
		t.Errorf("a change of nothing makes the calls %v", calls)
	}
	for _, c := range []locations.Change{{Phone: ref("+6491234567")}, {PlaceID: &l.Place.ID}} {
		if now, err = d.Update(ctx, l.ID, "", c); err != nil || !now.Place.CheckedAt.IsZero() ||
			!d.get(l.ID).Place.CheckedAt.IsZero() {
			t.Errorf("%+v, %v", now, err)
		}
	}
	for _, c := range []locations.Change{
		{PlaceID: ref("other")}, {PlaceID: ref("other"), Clear: []string{"placeId"}},
	} {
		d.pass(time.Hour)
		if now, err = d.Update(ctx, l.ID, "", c); err != nil ||
			!now.Place.CheckedAt.Equal(d.clock()) {
			t.Errorf("%+v, %v", now, err)
		}
	}
}

// TestIDsAreTakenInEitherCase does everything that names a location, by its id in lower case.
func TestIDsAreTakenInEitherCase(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	l, other := d.create(named("a", "A")), d.create(named("b", "B"))
	lower := locations.ID(strings.ToLower(string(l.ID)))
	_, _, err := d.Swap(ctx, lower, l.ID)
	wants(t, err, locations.ErrInvalid)
	first, second, err := d.Swap(ctx, lower, other.ID)
	if err != nil || first.ID != l.ID || first.Code != "b" || second.Code != "a" {
		t.Error(first, second, err)
	}
	for _, guarded := range []bool{false, true} {
		tag := ""
		if guarded {
			tag = d.get(lower).Tag()
		}
		deleted, err := d.Delete(ctx, lower, tag)
		if err != nil || deleted.ID != l.ID || deleted.Status != locations.Inactive {
			t.Error(deleted, err)
		}
		restored, err := d.Restore(ctx, lower, "", "")
		if err != nil || restored.ID != l.ID {
			t.Error(restored, err)
		}
	}
	must(t, l, must2(d.Delete(ctx, lower, "")))
	if released, err := d.Release(ctx, lower, ""); err != nil || released.ID != l.ID {
		t.Error(released, err)
	}
	d.sound()
}

package locations_test

import (
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/systems/locations"
)

func TestCreateSaysWhyACodeIsTaken(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	first := d.create(named("akl-01", "Auckland"))
	_, _, err := d.Create(ctx, named("AKL-01", "Albany"))
	wants(t, err, locations.ErrCodeTaken, "location", string(first.ID), "name", "Auckland",
		"code", "AKL-01")
	_, _, err = d.Create(ctx, named("akl-01", "Auckland"))
	wants(t, err, locations.ErrCodeYours, "location", string(first.ID))
	must(t, first, must2(d.Delete(ctx, first.ID, "")))
	_, _, err = d.Create(ctx, named("akl-01", "Albany"))
	wants(t, err, locations.ErrCodeReserved, "location", string(first.ID), "name", "Auckland")
	_, err = d.ByCode(ctx, "akl-01")
	wants(t, err, locations.ErrDeleted, "location", string(first.ID))
	d.sound()
}

// must2 drops a value and keeps its error.
func must2[T any](_ T, err error) error { return err }

func TestCreateMayBeRepeatedWithAnID(t *testing.T) {
	d := open(t, locations.Options{})
	n := austin()
	first := d.create(n)
	d.pass(time.Minute)
	again, made, err := d.Create(t.Context(), n)
	if err != nil || made || again.Tag() != first.Tag() {
		t.Error(again, made, err)
	}
	n.Name = "Another"
	_, _, err = d.Create(t.Context(), n)
	wants(t, err, locations.ErrExists, "field", "name")
	n.Name, n.Code = "Austin Main Center", "austin-02"
	_, _, err = d.Create(t.Context(), n)
	wants(t, err, locations.ErrExists, "field", "code")
	d.sound()
}

func TestUpdate(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	l := d.create(named("akl-01", "Auckland"))
	other := d.create(named("wlg-01", "Wellington"))

	t.Run("a change of code gives up the old one", func(t *testing.T) {
		changed, err := d.Update(ctx, l.ID, l.Tag(), locations.Change{Code: ref("AKL-02")})
		if err != nil || changed.Code != "AKL-02" || changed.Version != l.Version+1 {
			t.Fatal(changed, err)
		}
		_, err = d.ByCode(ctx, "akl-01")
		wants(t, err, locations.ErrCodeNotFound)
		if found, err := d.ByCode(ctx, "akl-02"); err != nil || found.ID != l.ID {
			t.Error(found, err)
		}
		l = changed
	})
	t.Run("a tag that is no longer right is refused", func(t *testing.T) {
		_, err := d.Update(ctx, l.ID, "1-0", locations.Change{Name: ref("x")})
		wants(t, err, locations.ErrChanged, "location", string(l.ID))
		_, err = d.Delete(ctx, l.ID, "1-0")
		wants(t, err, locations.ErrChanged)
	})
	t.Run("a code that another has is refused, and nothing is changed", func(t *testing.T) {
		_, err := d.Update(ctx, l.ID, "", locations.Change{Code: ref("WLG-01"), Name: ref("x")})
		wants(t, err, locations.ErrCodeTaken, "location", string(other.ID))
		if now := d.get(l.ID); now.Tag() != l.Tag() || now.Name != "Auckland" {
			t.Error(now)
		}
	})
	t.Run("a change that changes nothing writes nothing", func(t *testing.T) {
		d.made()
		now, err := d.Update(ctx, l.ID, "", locations.Change{Name: ref("Auckland"),
			Code: ref(" AKL-02")})
		if err != nil || now.Tag() != l.Tag() {
			t.Error(now, err)
		}
		if calls := d.made(); len(calls) != 1 || calls[0] != "GetItem" {
			t.Error(calls)
		}
	})
	t.Run("what is named in clear is emptied", func(t *testing.T) {
		full, err := d.Update(ctx, l.ID, "", locations.Change{
			PlaceID: ref("p1"), Phone: ref("+64 9 123-4567"), TimeZone: ref("Pacific/Auckland"),
			Point: &locations.Point{Lat: -36.8, Lng: 174.7}, Tags: []string{"b", "a", "b"},
			Address: &locations.Address{Lines: []string{"1 Queen St"}, Country: "nz"},
			Hours: &locations.Hours{Weekly: []locations.Period{{Day: "monday", Open: "09:00",
				Close: "17:00"}}},
			Components: map[string]any{"city": "Auckland"}, FormattedAddress: ref("1 Queen St"),
		})
		if err != nil || full.Phone != "+6491234567" || len(full.Tags) != 2 ||
			full.Address.Country != "NZ" || !full.Place.CheckedAt.Equal(clockStart) {
			t.Fatalf("%+v, %v", full, err)
		}
		if stored := d.get(l.ID); stored.Tag() != full.Tag() ||
			stored.Hours.Weekly[0].Open != "09:00" || *stored.Point != *full.Point {
			t.Errorf("%+v", stored)
		}
		empty, err := d.Update(ctx, l.ID, "", locations.Change{Clear: []string{"placeId",
			"formattedAddress", "addressComponents", "address", "point", "phone", "hours",
			"timeZone", "tags"}})
		if err != nil {
			t.Fatal(err)
		}
		item := d.item("LOCATION#" + string(l.ID))
		if len(item) != 10 || empty.Point != nil {
			t.Errorf("%d attributes are left: %v", len(item), item)
		}
	})
	t.Run("every wrong field is named", func(t *testing.T) {
		_, err := d.Update(ctx, l.ID, "", locations.Change{
			Name: ref(" "), Phone: ref("0800"), TimeZone: ref("Mars/Olympus"),
			Point: &locations.Point{Lat: 91, Lng: -181}, Tags: []string{""},
			Address: &locations.Address{Country: "New Zealand"}, Clear: []string{"name"},
			Hours: &locations.Hours{Weekly: []locations.Period{{Day: "mon", Open: "24:00",
				Close: "25:00"}}},
		})
		wants(t, err, locations.ErrInvalid)
		var fields []string
		for _, f := range fieldsOf(err) {
			fields = append(fields, f.Name)
		}
		want := []string{"clear", "name", "address.country", "lat", "lng", "phone", "timeZone",
			"hours.weekly[0].day", "hours.weekly[0].open", "hours.weekly[0].close", "tags[0]"}
		if len(fields) != len(want) {
			t.Errorf("%v, want %v", fields, want)
		}
	})
	d.sound()
}

func TestSwapExchangesCodes(t *testing.T) {
	d := open(t, locations.Options{CodeIndex: true})
	ctx := t.Context()
	a, b := d.create(named("a", "A")), d.create(named("B", "B"))
	first, second, err := d.Swap(ctx, a.ID, b.ID)
	if err != nil || first.ID != a.ID || first.Code != "B" || second.Code != "a" {
		t.Fatal(first, second, err)
	}
	if found, err := d.ByCode(ctx, "b"); err != nil || found.ID != a.ID {
		t.Error(found, err)
	}
	if found, err := d.ByCode(ctx, "A"); err != nil || found.ID != b.ID {
		t.Error(found, err)
	}
	d.sound()
	_, _, err = d.Swap(ctx, a.ID, a.ID)
	wants(t, err, locations.ErrInvalid)
	_, _, err = d.Swap(ctx, a.ID, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
	wants(t, err, locations.ErrNotFound)
	must(t, b, must2(d.Delete(ctx, b.ID, "")))
	_, _, err = d.Swap(ctx, a.ID, b.ID)
	wants(t, err, locations.ErrInactive, "location", string(b.ID))
}

func TestRestoreReleaseAndReuse(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	l := d.create(named("Akl-01", "Auckland"))
	_, err := d.Release(ctx, l.ID, "")
	wants(t, err, locations.ErrActive)
	deleted, err := d.Delete(ctx, l.ID, l.Tag())
	if err != nil || deleted.Version != 2 {
		t.Fatal(deleted, err)
	}
	d.pass(time.Hour)
	twice, err := d.Delete(ctx, l.ID, "")
	if err != nil || twice.Tag() != deleted.Tag() {
		t.Error("a second deletion changes", twice, err)
	}
	_, err = d.Update(ctx, l.ID, "", locations.Change{Name: ref("x")})
	wants(t, err, locations.ErrInactive)
	restored, err := d.Restore(ctx, l.ID, deleted.Tag(), "")
	if err != nil || restored.Status != locations.Active || restored.Code != "Akl-01" {
		t.Fatal(restored, err)
	}
	d.sound()

	// Of one that is in use only its own code can be meant, or none.
	must(t, l, must2(d.Restore(ctx, l.ID, "", "AKL-01")))
	_, err = d.Restore(ctx, l.ID, "", "akl-02")
	wants(t, err, locations.ErrActive, "location", string(l.ID))

	must(t, l, must2(d.Delete(ctx, l.ID, "")))
	released, err := d.Release(ctx, l.ID, "")
	if err != nil || released.Code != "" || released.FormerCode != "Akl-01" {
		t.Fatal(released, err)
	}
	must(t, l, must2(d.Release(ctx, l.ID, ""))) // Again is no harm.
	d.sound()
	second := d.create(named("akl-01", "Albany"))
	_, err = d.Restore(ctx, l.ID, "", "")
	wants(t, err, locations.ErrCodeTaken, "location", string(second.ID))
	restored, err = d.Restore(ctx, l.ID, "", "akl-00")
	if err != nil || restored.Code != "akl-00" || restored.FormerCode != "" {
		t.Fatal(restored, err)
	}
	d.sound()

	must(t, l, must2(d.Delete(ctx, second.ID, "")))
	n := named("AKL-01", "Newmarket")
	n.Reuse = true
	third := d.create(n)
	if before := d.get(second.ID); before.Code != "" || before.FormerCode != "akl-01" ||
		before.Status != locations.Inactive {
		t.Error(before)
	}
	if found, err := d.ByCode(ctx, "akl-01"); err != nil || found.ID != third.ID {
		t.Error(found, err)
	}
	// What is in use is not taken over.
	_, _, err = d.Create(ctx, n)
	wants(t, err, locations.ErrCodeYours)
	n.Name = "Onehunga"
	_, _, err = d.Create(ctx, n)
	wants(t, err, locations.ErrCodeTaken)
	// What was released comes back by itself once nobody has it.
	if _, err := d.Update(ctx, third.ID, "", locations.Change{Code: ref("akl-03")}); err != nil {
		t.Fatal(err)
	}
	if back, err := d.Restore(ctx, second.ID, "", ""); err != nil || back.Code != "akl-01" {
		t.Error(back, err)
	}
	d.sound()
}

func TestPlaceIDsAreStaleAfterAYear(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	l := d.create(austin())
	d.pass(364 * 24 * time.Hour)
	if l.Place.Stale(d.clock()) {
		t.Error("stale too early")
	}
	d.pass(48 * time.Hour)
	if !l.Place.Stale(d.clock()) {
		t.Error("not stale after a year")
	}
	// The same id, looked up again.
	now := d.clock()
	l, err := d.Update(ctx, l.ID, "", locations.Change{PlaceIDCheckedAt: &now})
	if err != nil || l.Place.Stale(now) || l.Place.FormattedAddress == "" {
		t.Error(l, err)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	d := open(t, locations.Options{})
	ctx := t.Context()
	for _, id := range []locations.ID{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", ""} {
		_, err := d.Location(ctx, id)
		wants(t, err, locations.ErrNotFound)
		_, err = d.Update(ctx, id, "", locations.Change{})
		wants(t, err, locations.ErrNotFound)
		_, err = d.Restore(ctx, id, "", "")
		wants(t, err, locations.ErrNotFound)
	}
	_, err := d.Delete(ctx, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "")
	wants(t, err, locations.ErrNotFound)
	_, err = d.ByCode(ctx, "nowhere")
	wants(t, err, locations.ErrCodeNotFound)
	_, err = d.ByCode(ctx, "no where")
	wants(t, err, locations.ErrInvalidCode)
}

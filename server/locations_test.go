package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
)

func place(code, name string) client.NewLocation {
	return client.NewLocation{Code: code, LocationFields: client.LocationFields{Name: &name}}
}

func text(s string) *string { return &s }

func TestLocationsOverTheAPI(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	made := must[client.LocationReceipt](t)(w.CreateLocation(ctx, place("AKL-01", "Auckland")))
	if made.Code != "AKL-01" || made.Status != client.LocationActive || made.Tag == "" ||
		made.CreatedAt.IsZero() || len(made.ID) != 26 {
		t.Fatalf("%+v", made)
	}
	t.Run("a code is found in any case", func(t *testing.T) {
		found := must[client.Location](t)(w.LocationByCode(ctx, "akl-01"))
		byID := must[client.Location](t)(w.Location(ctx, made.ID))
		if found.ID != made.ID || byID.Name != "Auckland" {
			t.Error(found)
		}
		_, err := w.LocationByCode(ctx, "akl-99")
		if !errors.Is(err, locations.ErrCodeNotFound) {
			t.Error(err)
		}
	})
	t.Run("a code that is taken says by whom", func(t *testing.T) {
		_, err := w.CreateLocation(ctx, place("akl-01", "Albany"))
		if !errors.Is(err, locations.ErrCodeTaken) ||
			!strings.Contains(err.Error(), string(made.ID)) {
			t.Error(err)
		}
	})
	t.Run("a create with an id may be repeated", func(t *testing.T) {
		n := place("wlg-01", "Wellington")
		n.ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
		must[client.LocationReceipt](t)(w.CreateLocation(ctx, n))
		again := w.send(http.MethodPost, "/v1/locations",
			`{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","code":"wlg-01","name":"Wellington"}`)
		if again.status != http.StatusOK || again.header.Get("Location") !=
			"/v1/locations/01ARZ3NDEKTSV4RRFFQ69G5FAV" || again.header.Get("ETag") == "" {
			t.Errorf("%+v", again)
		}
	})
	t.Run("ETags guard reads and changes", func(t *testing.T) {
		path := "/v1/locations/" + string(made.ID)
		tag := `"` + made.Tag + `"`
		known := w.send(get, path, "", "If-None-Match", tag)
		if known.status != http.StatusNotModified {
			t.Errorf("%+v", known)
		}
		lat, lng := -36.8485, 174.7633
		fields := client.LocationFields{
			Lat: &lat, Lng: &lng, TimeZone: text("Pacific/Auckland"), Tags: []string{"depot"},
			Hours: &client.LocationHours{
				Weekly: []client.LocationPeriod{{Day: "monday", Open: "00:00", Close: "24:00"}},
			},
		}
		changed := must[client.Location](t)(w.UpdateLocation(ctx, made.ID, made.Tag,
			client.LocationChange{LocationFields: fields}))
		if changed.Tag == made.Tag || *changed.Lat != lat || changed.Open == nil {
			t.Errorf("%+v", changed)
		}
		_, err := w.UpdateLocation(ctx, made.ID, made.Tag, client.LocationChange{Code: text("x")})
		if !errors.Is(err, locations.ErrChanged) {
			t.Error(err)
		}
		refused := w.send(http.MethodPatch, path, `{"name":"x"}`, "If-Match", tag)
		if refused.status != http.StatusPreconditionFailed {
			t.Errorf("%+v", refused)
		}
		if bad := w.send(http.MethodPatch, path, `{"name":"x"}`, "If-Match", "x"); bad.status !=
			http.StatusBadRequest {
			t.Errorf("%+v", bad)
		}
		half := w.send(http.MethodPatch, path, `{"lat":1}`)
		if half.status != http.StatusBadRequest || !strings.Contains(half.body, `"lng"`) {
			t.Errorf("%+v", half)
		}
		odd := w.send(http.MethodPatch, path, `{"lat":"1","lng":true,"colour":"red"}`)
		if odd.status != http.StatusBadRequest || strings.Count(odd.body, `"wrong"`) != 3 {
			t.Errorf("%+v", odd)
		}
		cleared := must[client.Location](t)(w.UpdateLocation(ctx, made.ID, "",
			client.LocationChange{Clear: []string{"hours", "tags"}}))
		if cleared.Hours != nil || cleared.Tags != nil || cleared.Lat == nil {
			t.Errorf("%+v", cleared)
		}
	})
	t.Run("the whole life", func(t *testing.T) { w.lifeOfLocation(t, made.Location) })
	t.Run("lists", func(t *testing.T) { w.listsOfLocations(t, made.Location) })
	t.Run("what is near", func(t *testing.T) { w.locationsNear(t, made.Location) })
	t.Run("imports, repairs and plans", w.dutiesOfLocations)
}

// TestTheClockChangesWhatIsKnownOfLocations wants no answer to be "as you know it" that tells of
// another time whether a location is open and whether its place id is stale.
func TestTheClockChangesWhatIsKnownOfLocations(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	n := place("akl-01", "Auckland")
	n.TimeZone, n.PlaceID = text("UTC"), text("p1")
	days := []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	n.Hours = &client.LocationHours{}
	for _, day := range days {
		n.Hours.Weekly = append(n.Hours.Weekly,
			client.LocationPeriod{Day: day, Open: "00:00", Close: "12:00"})
	}
	made := must[client.LocationReceipt](t)(w.CreateLocation(ctx, n))
	must[client.LocationReceipt](t)(w.CreateLocation(ctx, place("wlg-01", "Wellington")))
	path := "/v1/locations/" + string(made.ID)
	paths := []string{path, "/v1/locations/by-code/akl-01", "/v1/locations/directory"}
	known := map[string]string{}
	for _, by := range []time.Duration{0, 12 * time.Hour, 366 * 24 * time.Hour} {
		w.clock.set(w.clock.Now().Add(by))
		for _, p := range paths {
			fresh := w.send(get, p, "", "If-None-Match", known[p])
			if fresh.status != http.StatusOK {
				t.Errorf("%s after %s: %+v", p, by, fresh)
			}
			known[p] = fresh.header.Get("ETag")
			if same := w.send(get, p, "", "If-None-Match", known[p]); same.status !=
				http.StatusNotModified || same.header.Get("ETag") != known[p] {
				t.Errorf("%s after %s: %+v", p, by, same)
			}
		}
	}
	// None of this is a change of the location.
	for _, tag := range []string{known[path], `"` + made.Tag + `"`} {
		now := w.send(http.MethodPatch, path, `{"name":"Auckland"}`, "If-Match", tag)
		if now.status != http.StatusOK || now.header.Get("ETag") != known[path] {
			t.Errorf("%s: %+v, want %s", tag, now, known[path])
		}
	}
	must[client.Location](t)(w.DeleteLocation(ctx, made.ID, made.Tag))
}

func (w *world) lifeOfLocation(t *testing.T, made client.Location) {
	ctx := t.Context()
	gone := must[client.Location](t)(w.DeleteLocation(ctx, made.ID, ""))
	if gone.Status != client.LocationInactive {
		t.Error(gone)
	}
	_, err := w.CreateLocation(ctx, place("akl-01", "Albany"))
	if !errors.Is(err, locations.ErrCodeReserved) {
		t.Error(err)
	}
	released := must[client.Location](t)(w.ReleaseLocation(ctx, made.ID, gone.Tag))
	if released.Code != "" || released.FormerCode != "AKL-01" {
		t.Error(released)
	}
	back := must[client.Location](t)(w.RestoreLocation(ctx, made.ID, "", ""))
	if back.Code != "AKL-01" || back.Status != client.LocationActive {
		t.Error(back)
	}
	both := must[[]client.Location](t)(w.SwapLocations(ctx, made.ID,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV"))
	if len(both) != 2 || both[0].Code != "wlg-01" || both[1].Code != "AKL-01" {
		t.Error(both)
	}
}

func (w *world) listsOfLocations(t *testing.T, made client.Location) {
	ctx := t.Context()
	for i := range 5 {
		must[client.LocationReceipt](t)(w.CreateLocation(ctx, place(fmt.Sprint("x", i), "X")))
	}
	must[client.Location](t)(w.DeleteLocation(ctx, made.ID, ""))
	count := func(status string) (n int) {
		q := client.LocationQuery{Status: status, PageQuery: client.PageQuery{Limit: 2}}
		for _, err := range w.AllLocations(ctx, q) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if count("") != 6 || count("inactive") != 1 || count("all") != 7 {
		t.Error(count(""), count("inactive"), count("all"))
	}
	whole := w.send(get, "/v1/locations/directory", "")
	if whole.status != http.StatusOK || strings.Count(whole.body, `"tag"`) != 6 {
		t.Errorf("%+v", whole)
	}
	known := w.send(get, "/v1/locations/directory", "", "If-None-Match",
		whole.header.Get("ETag"))
	if known.status != http.StatusNotModified {
		t.Errorf("%+v", known)
	}
	if list := must[[]client.Location](t)(w.Directory(ctx)); len(list) != 6 {
		t.Error(list)
	}
	if _, err := w.Locations(ctx, client.LocationQuery{Order: "name"}); !errors.Is(err,
		locations.ErrOrderMissing) {
		t.Error(err)
	}
}

func (w *world) locationsNear(t *testing.T, made client.Location) {
	ctx := t.Context()
	must[client.Location](t)(w.RestoreLocation(ctx, made.ID, "", ""))
	found := must[client.Neighbours](t)(w.LocationsNear(ctx, client.NearQuery{
		Lat: -36.84, Lng: 174.76, Radius: 5000}))
	if len(found.Items) != 1 || found.Items[0].Distance < 900 ||
		found.Items[0].Distance > 1100 {
		t.Errorf("%+v", found)
	}
	found = must[client.Neighbours](t)(w.LocationsNear(ctx, client.NearQuery{
		Box: &client.LocationBox{South: -48, West: 166, North: -34, East: -176}}))
	if len(found.Items) != 1 || found.More {
		t.Errorf("%+v", found)
	}
	if found.Items[0].Distance != 0 {
		t.Errorf("a box without a point tells the distance %v", found.Items[0].Distance)
	}
	const box = "south=-48&west=166&north=-34&east=-176"
	for query, distance := range map[string]bool{
		box: false, box + "&lat=0&lng=0": true,
		"lat=-36.84&lng=174.76&radius=5000": true,
	} {
		got := w.send(get, "/v1/locations/near?"+query, "")
		if got.status != http.StatusOK || !strings.Contains(got.body, `"tag"`) ||
			strings.Contains(got.body, `"distance"`) != distance {
			t.Errorf("%s: %+v", query, got)
		}
	}
	for query, fields := range map[string]string{
		"": "lat lng radius", "lat=1&lng=1": "radius", "south=1": "west north east",
		"lat=91&lng=0&radius=1": "lat", "radius=1": "lat lng", "lat=1&radius=1": "lng",
		"lng=1&radius=1": "lat", "lat=x&lng=1e&radius=1": "lat lng", box + "&lat=1": "lng",
		"lat=NaN&lng=0&radius=1": "lat",
	} {
		got := w.send(get, "/v1/locations/near?"+query, "")
		if got.status != 400 || strings.Count(got.body, `"wrong"`) != len(strings.Fields(fields)) {
			t.Errorf("%s: %+v", query, got)
		}
		for field := range strings.FieldsSeq(fields) {
			if !strings.Contains(got.body, `"name":"`+field+`"`) {
				t.Errorf("%s: %+v does not name %s", query, got, field)
			}
		}
	}
}

func (w *world) dutiesOfLocations(t *testing.T) {
	ctx := t.Context()
	rows := []client.LocationRow{
		{Line: 2, Cells: map[string]string{"code": "new", "name": "New", "point": "1N 2E"}},
		{Line: 3, Cells: map[string]string{"code": "x1", "name": "Changed"}},
		{Line: 4, Cells: map[string]string{"code": "bad code", "name": "Bad"}},
	}
	for _, preview := range []bool{true, false} {
		got := must[[]client.RowOutcome](t)(w.ImportLocations(ctx, rows, "", preview))
		if len(got) != 3 || got[0].Action != "create" || got[1].Action != "change" ||
			got[1].Changes[0].From != "X" || got[2].Action != "error" ||
			!errors.Is(got[2].Problem, locations.ErrInvalidCode) {
			t.Errorf("%+v", got)
		}
	}
	r := must[client.LocationRepair](t)(w.RepairLocations(ctx, true))
	if r.Locations != 8 || r.Lookups != 8 || len(r.Faults) != 0 || !r.Mended ||
		r.Verdict != client.VerdictSound {
		t.Errorf("%+v", r)
	}
	if n := must[int](t)(w.ReindexLocations(ctx)); n != 8 {
		t.Error(n)
	}
	p := must[client.LocationPlan](t)(w.PlanLocations(ctx))
	if p.Locations != 8 || p.Calls < 1 || len(p.Advice) == 0 {
		t.Errorf("%+v", p)
	}
}

func TestOptionsReachTheDirectory(t *testing.T) {
	w := start(t, func(o *server.Options) {
		o.Locations = locations.Options{TableName: "Places", NameIndex: true, Shards: 3}
	})
	ctx := t.Context()
	for _, name := range []string{"B", "A", "C"} {
		must[client.LocationReceipt](t)(w.CreateLocation(ctx, place("code-"+name, name)))
	}
	page := must[client.Page[client.Location]](t)(w.Locations(ctx,
		client.LocationQuery{Order: "name"}))
	if len(page.Items) != 3 || page.Items[0].Name != "A" || page.Items[2].Name != "C" {
		t.Errorf("%+v", page)
	}
	if table := must[client.Table](t)(w.Table(ctx, "Places")); len(table.Indexes) != 1 {
		t.Errorf("%+v", table)
	}
}

func TestMerchantsAndAccountsPointToLocations(t *testing.T) {
	w := start(t)
	ctx := t.Context()
	at := must[client.LocationReceipt](t)(w.CreateLocation(ctx, place("akl-01", "Auckland"))).ID
	account := client.NewAccount{ID: "till", UserID: "shop", AccountType: "till", Currency: "NZD",
		LocationID: at}
	merchant := client.NewMerchant{ID: "shop", Name: "Shop", LocationID: at}
	if a := must[client.AccountReceipt](t)(w.OpenAccount(ctx, account)); a.LocationID != at {
		t.Error(a)
	}
	if m := must[client.MerchantReceipt](t)(w.CreateMerchant(ctx, merchant)); m.LocationID != at {
		t.Error(m)
	}
	account.ID, account.LocationID = "other", "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	if _, err := w.OpenAccount(ctx, account); !errors.Is(err, ledger.ErrLocationNotFound) {
		t.Error(err)
	}
	merchant.ID, merchant.LocationID = "other", "nowhere"
	if _, err := w.CreateMerchant(ctx, merchant); !errors.Is(err, ledger.ErrLocationNotFound) {
		t.Error(err)
	}
	// What was deleted is still pointed at.
	must[client.Location](t)(w.DeleteLocation(ctx, at, ""))
	account.ID, account.LocationID = "till", at
	must[client.AccountReceipt](t)(w.OpenAccount(ctx, account))
}

package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// locationModel is what is known of locations. The lock of the world guards it.
type locationModel struct {
	places map[client.LocationID]*place
	// made counts creations whose id nobody was told, by code.
	imports map[string]bool // Codes, in lower case, that an import may have created.
}

// place is a location that was asked for.
type place struct {
	id    client.LocationID
	sure  bool          // It was acknowledged.
	ended time.Duration // When.
	doubt bool
	// deeds are all attempts to create or change it.
	deeds []*placeDeed
}

// placeDeed is an attempt to change a location, with the state that its answer says.
type placeDeed struct {
	what   string
	answer client.Location
	// name, code and status are what it makes of the location, if it does; nil and "" for nothing.
	name, code *string
	status     client.LocationStatus
	outcome
	// creates is set if the change makes the location.
	creates bool
}

var locationDeeds = map[string]deed{
	"create location": createLocation, "rename location": renameLocation,
	"recode location": recodeLocation, "swap locations": swapLocations,
	"delete location": deleteLocation, "release location": releaseLocation,
	"restore location": restoreLocation, "import locations": importLocations,
	"location by code": locationByCode, "list locations": listLocations,
	"directory": readDirectory, "read location": readLocation,
}

var locationTheme = []weight{
	{"create location", 10}, {"rename location", 8}, {"recode location", 8}, {"swap locations", 6},
	{"delete location", 6}, {"release location", 3}, {"restore location", 4},
	{"import locations", 4}, {"location by code", 4}, {"list locations", 3}, {"directory", 2},
	{"read location", 3},
}

// placeID is a ULID for each number; few, so that clients meet.
func placeID(n int) client.LocationID {
	return client.LocationID(fmt.Sprintf("01HZZZZZZZZZZZZZZZZZZZZ%03d", n%placeCount))
}

const (
	placeCount = 8
	codeCount  = 7
)

// placeTag is the tag of a location, which some of them have in common.
func placeTag(n int) string { return fmt.Sprintf("tag-%d", n%placeCount%3) }

// placePoint is where a location is: each some kilometres east of the previous one.
func placePoint(n int) (lat, lng float64) { return -36.8, 174.0 + 0.05*float64(n%placeCount) }

// placeCode is a code, in one of two spellings that are the same code.
func placeCode(n int) string {
	if n%2 == 0 {
		return fmt.Sprintf("Code-%d", n/2%codeCount)
	}
	return fmt.Sprintf("CODE-%d", n/2%codeCount)
}

// changePlace makes an attempt and notes it.
func (c *caller) changePlace(s step, id client.LocationID, d *placeDeed,
	f func(context.Context) (client.Location, error),
) outcome {
	w := c.w
	d.outcome = outcome{
		begin: time.Since(w.began),
		end:   forever,
		err:   client.ErrNoAnswer,
		doubt: true,
	}
	w.mu.Lock()
	x := w.locations.places[id]
	if x == nil {
		x = &place{id: id}
		w.locations.places[id] = x
	}
	x.deeds = append(x.deeds, d)
	x.doubt = true
	w.mu.Unlock()
	var got client.Location
	o := c.call(s, fmt.Sprintf("%s %s", d.what, id), func(ctx context.Context) (string, error) {
		var err error
		got, err = f(ctx)
		return toldPlace(got), err
	})
	w.mu.Lock()
	d.outcome, d.answer = o, got
	if o.ok() && !x.sure {
		x.sure, x.ended = true, o.end
	}
	w.mu.Unlock()
	if o.ok() {
		if err := d.fits(got); err != nil {
			w.fail("%v: location %s: the answer does not fit: %w", s, id, err)
		}
	}
	return o
}

// fits reports how a location differs from what a change makes of it.
func (d *placeDeed) fits(l client.Location) error {
	if d.creates && l.Version > 1 {
		return nil // A repeat of a create is answered with the location as it is by then.
	}
	if d.name != nil && *d.name != l.Name || d.code != nil && !strings.EqualFold(*d.code, l.Code) ||
		d.status != "" && d.status != l.Status {
		return fmt.Errorf("%s leaves %s", d.what, toldPlace(l))
	}
	return nil
}

func toldPlace(l client.Location) string {
	return fmt.Sprintf("%s %s %q code %q former %q version %d", l.ID, l.Status, l.Name, l.Code,
		l.FormerCode, l.Version)
}

func createLocation(c *caller, s step) {
	id, code, name := placeID(s.A), placeCode(s.B), fmt.Sprintf("place %d", s.ID)
	d := &placeDeed{what: fmt.Sprintf("create with %q", code), name: &name, code: &code,
		status: client.LocationActive, creates: true}
	c.changePlace(s, id, d, func(ctx context.Context) (client.Location, error) {
		// The tag and the place follow from the id, so that a repeat is equal in them.
		lat, lng := placePoint(s.A)
		made, err := c.CreateLocation(ctx, client.NewLocation{ID: id, Code: code,
			Reuse: s.C%4 == 0, LocationFields: client.LocationFields{Name: &name,
				Tags: []string{placeTag(s.A)}, Lat: &lat, Lng: &lng}})
		return made.Location, err
	})
}

// tagOf reads the tag of a location for a change that is made to no other state.
func (c *caller) tagOf(s step, id client.LocationID) string {
	if s.C%2 == 0 {
		return ""
	}
	l, err := c.Location(c.w.ctx, id)
	if err != nil {
		return ""
	}
	return l.Tag
}

func renameLocation(c *caller, s step) {
	id, name := placeID(s.A), fmt.Sprintf("name %d", s.ID)
	tag := c.tagOf(s, id)
	d := &placeDeed{what: fmt.Sprintf("rename to %q, if %q", name, tag), name: &name}
	c.changePlace(s, id, d, func(ctx context.Context) (client.Location, error) {
		return c.UpdateLocation(ctx, id, tag, client.LocationChange{
			LocationFields: client.LocationFields{Name: &name}})
	})
}

func recodeLocation(c *caller, s step) {
	id, code := placeID(s.A), placeCode(s.B)
	tag := c.tagOf(s, id)
	d := &placeDeed{what: fmt.Sprintf("give code %q, if %q", code, tag), code: &code}
	c.changePlace(s, id, d, func(ctx context.Context) (client.Location, error) {
		return c.UpdateLocation(ctx, id, tag, client.LocationChange{Code: &code})
	})
}

// swapLocations exchanges the codes of two locations. The answer does not say who had which before,
// so each of both may have either.
func swapLocations(c *caller, s step) {
	id, with := placeID(s.A), placeID(s.A+1+s.B%(placeCount-1))
	w := c.w
	one := &placeDeed{what: "swap with " + string(with)}
	other := &placeDeed{what: "swap with " + string(id)}
	other.outcome = outcome{begin: time.Since(w.began), end: forever, err: client.ErrNoAnswer,
		doubt: true}
	w.mu.Lock()
	x := w.locations.places[with]
	if x != nil {
		x.deeds = append(x.deeds, other)
	}
	w.mu.Unlock()
	var both []client.Location
	o := c.changePlace(s, id, one, func(ctx context.Context) (client.Location, error) {
		var err error
		both, err = c.SwapLocations(ctx, id, with)
		if err != nil || len(both) != 2 {
			return client.Location{}, err
		}
		return both[0], nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	other.outcome = o
	if o.ok() && len(both) == 2 {
		other.answer = both[1]
	}
}

func deleteLocation(c *caller, s step) {
	id := placeID(s.A)
	tag := c.tagOf(s, id)
	d := &placeDeed{what: fmt.Sprintf("delete, if %q", tag), status: client.LocationInactive}
	c.changePlace(s, id, d, func(ctx context.Context) (client.Location, error) {
		return c.DeleteLocation(ctx, id, tag)
	})
}

func releaseLocation(c *caller, s step) {
	id, none := placeID(s.A), ""
	d := &placeDeed{what: "release", code: &none}
	c.changePlace(s, id, d, func(ctx context.Context) (client.Location, error) {
		return c.ReleaseLocation(ctx, id, "")
	})
}

func restoreLocation(c *caller, s step) {
	id, code := placeID(s.A), ""
	d := &placeDeed{what: "restore", status: client.LocationActive}
	if s.B%2 == 0 {
		code = placeCode(s.B)
		d.code, d.what = &code, fmt.Sprintf("restore with %q", code)
	}
	c.changePlace(s, id, d, func(ctx context.Context) (client.Location, error) {
		return c.RestoreLocation(ctx, id, "", code)
	})
}

// importLocations takes in two rows. What it creates has an id of its own, and what it changes is
// found by its code.
func importLocations(c *caller, s step) {
	w := c.w
	var rows []client.LocationRow
	for n := range 2 {
		code := placeCode(s.A + 2*n)
		rows = append(rows, client.LocationRow{Line: n + 1, Cells: map[string]string{
			"code": code, "name": fmt.Sprintf("import %d row %d", s.ID, n)}})
		w.mu.Lock()
		w.locations.imports[fmt.Sprintf("import %d row %d", s.ID, n)] = true
		w.mu.Unlock()
	}
	c.call(s, "import locations", func(ctx context.Context) (string, error) {
		got, err := c.ImportLocations(ctx, rows, "upsert", false)
		return fmt.Sprintf("%+v", got), err
	})
}

func readLocation(c *caller, s step) {
	id := placeID(s.A)
	c.w.mu.Lock()
	x := c.w.locations.places[id]
	sure := x != nil && x.sure
	c.w.mu.Unlock()
	o := c.call(s, "location "+string(id), func(ctx context.Context) (string, error) {
		got, err := c.Location(ctx, id)
		return toldPlace(got), err
	})
	if sure && o.refused() {
		c.w.fail("%v: location %s was acknowledged and cannot be read: %w", s, id, o.err)
	}
}

func locationByCode(c *caller, s step) {
	code := placeCode(s.A)
	c.call(s, "location with "+code, func(ctx context.Context) (string, error) {
		got, err := c.LocationByCode(ctx, code)
		if err == nil && !strings.EqualFold(got.Code, code) {
			c.w.fail("%v: the location with code %q is %s", s, code, toldPlace(got))
		}
		return toldPlace(got), err
	})
}

// listLocations follows the list to its end while others write.
func listLocations(c *caller, s step) {
	until := time.Since(c.w.began) - lagMax
	var expected []client.LocationID
	c.w.mu.Lock()
	for _, x := range c.w.locations.places {
		if x.sure && x.ended < until {
			expected = append(expected, x.id)
		}
	}
	c.w.mu.Unlock()
	seen := map[client.LocationID]bool{}
	o := c.call(s, "list locations", func(ctx context.Context) (string, error) {
		clear(seen)
		q := client.LocationQuery{Status: "all", PageQuery: client.PageQuery{Limit: 1 + s.B%4}}
		for l, err := range c.AllLocations(ctx, q) {
			if err != nil {
				return "", err
			}
			if seen[l.ID] {
				return "", fmt.Errorf("location %s is listed twice", l.ID)
			}
			seen[l.ID] = true
		}
		return fmt.Sprintf("%d locations", len(seen)), nil
	})
	for _, id := range expected {
		if o.ok() && !seen[id] {
			c.w.fail("%v: location %s is not in the list", s, id)
		}
	}
}

func readDirectory(c *caller, s step) {
	c.call(s, "directory", func(ctx context.Context) (string, error) {
		got, err := c.Directory(ctx)
		seen := map[string]client.LocationID{}
		for _, l := range got {
			if l.Status != client.LocationActive {
				c.w.fail("%v: the directory has %s", s, toldPlace(l))
			}
			seen[strings.ToLower(l.Code)] = l.ID
		}
		return fmt.Sprintf("%d locations", len(got)), err
	})
}

// compareLocations compares the directory with what was asked for and answered.
func (w *world) compareLocations(c *caller) error {
	listed := map[client.LocationID]client.Location{}
	owners := map[string]client.Location{}
	for l, err := range c.AllLocations(w.ctx, client.LocationQuery{Status: "all"}) {
		if err != nil {
			return cannotTell("list locations", err)
		}
		if _, twice := listed[l.ID]; twice {
			return fmt.Errorf("location %s is listed twice", l.ID)
		}
		listed[l.ID] = l
		if l.Code == "" {
			continue
		}
		code := strings.ToLower(l.Code)
		if other, taken := owners[code]; taken {
			return fmt.Errorf(
				"code %q belongs to %s and to %s",
				code,
				toldPlace(other),
				toldPlace(l),
			)
		}
		owners[code] = l
		if err := w.compareCode(c, l); err != nil {
			return err
		}
	}
	for n := range codeCount {
		if _, taken := owners[strings.ToLower(placeCode(2*n))]; taken {
			continue
		}
		if got, err := c.LocationByCode(w.ctx, placeCode(2*n)); err == nil {
			return fmt.Errorf("no location has code %q, and it leads to %s", placeCode(2*n),
				toldPlace(got))
		}
	}
	for id, l := range listed {
		if err := w.comparePlace(w.locations.places[id], l); err != nil {
			return fmt.Errorf("location %s: %w", toldPlace(l), err)
		}
	}
	for id, x := range w.locations.places {
		if _, ok := listed[id]; x.sure && !ok {
			return fmt.Errorf("location %s was acknowledged and is not in the list", id)
		}
	}
	if err := w.compareLocationLists(c, listed); err != nil {
		return err
	}
	repair, err := c.RepairLocations(w.ctx, false)
	if err != nil {
		return cannotTell("check locations", err)
	}
	if len(repair.Faults) > 0 || repair.Locations != len(listed) {
		return fmt.Errorf("there are %d locations, and the check found %+v", len(listed), repair)
	}
	return nil
}

// compareCode checks that a code leads to its owner.
func (w *world) compareCode(c *caller, l client.Location) error {
	got, err := c.LocationByCode(w.ctx, l.Code)
	switch {
	case l.Status == client.LocationActive && err != nil:
		return fmt.Errorf("code %q does not lead to %s: %w", l.Code, toldPlace(l), err)
	case l.Status == client.LocationActive && got.ID != l.ID:
		return fmt.Errorf("code %q of %s leads to %s", l.Code, toldPlace(l), toldPlace(got))
	case l.Status == client.LocationInactive && err == nil:
		return fmt.Errorf("code %q of %s leads to %s", l.Code, toldPlace(l), toldPlace(got))
	}
	return nil
}

// comparePlace checks a location against all attempts to change it.
func (w *world) comparePlace(x *place, l client.Location) error {
	if x == nil {
		if w.locations.imports[l.Name] {
			return nil
		}
		return fmt.Errorf("no client asked for it")
	}
	if !slices.ContainsFunc(x.deeds, func(d *placeDeed) bool { return !d.refused() }) {
		return fmt.Errorf("all attempts to create or to change it were refused")
	}
	if w.locations.imports[l.Name] {
		return nil // An import changed it, whose answer does not say more.
	}
	wrote := slices.ContainsFunc(x.deeds, func(d *placeDeed) bool {
		return !d.refused() && d.name != nil && *d.name == l.Name
	})
	if !wrote {
		return fmt.Errorf("no client gave it that name, or each was refused")
	}
	for _, d := range x.deeds {
		if !d.ok() || d.answer.ID != l.ID {
			continue
		}
		if d.answer.Version > l.Version {
			return fmt.Errorf(
				"version %d was acknowledged: %s",
				d.answer.Version,
				toldPlace(d.answer),
			)
		}
		if d.answer.Version == l.Version && toldPlace(d.answer) != toldPlace(l) {
			return fmt.Errorf("this version was acknowledged as %s", toldPlace(d.answer))
		}
	}
	return nil
}

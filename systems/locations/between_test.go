package locations_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// writes are the operations that change something.
var writes = []string{"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}

// openHooked opens a directory on a store that a test can come in between of.
func openHooked(t *testing.T, opts locations.Options) (*directory, *storetest.Hooked) {
	t.Helper()
	hooked := storetest.Hook(storetest.OpenFor(t, engine.Options{}))
	return openOn(t, hooked, opts), hooked
}

// A list that was being read while a write went on is not kept: it may have been read before it.
func TestAListThatWasReadDuringAWriteIsNotKept(t *testing.T) {
	d, hooked := openHooked(t, locations.Options{})
	d.create(named("a", "A"))
	var late locations.Location
	hooked.After(func() error {
		late = d.create(named("b", "B"))
		return nil
	}, "Scan")
	d.snapshot()
	if late.ID == "" {
		t.Fatal("nothing was written while the list was read")
	}
	if s := d.snapshot(); !slices.ContainsFunc(s.Locations, func(l locations.Location) bool {
		return l.ID == late.ID
	}) {
		t.Error("the list misses a write that has returned")
	}
}

// Another program knows nothing of versions: its change shows in updatedAt alone.
func TestAChangeByAnotherProgramIsNoticed(t *testing.T) {
	for name, write := range map[string]func(*directory, locations.Location) error{
		"update": func(d *directory, l locations.Location) error {
			change := locations.Change{Name: ref("mine")}
			return must2(d.Update(d.t.Context(), l.ID, l.Tag(), change))
		},
		"delete": func(d *directory, l locations.Location) error {
			return must2(d.Delete(d.t.Context(), l.ID, l.Tag()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, hooked := openHooked(t, locations.Options{})
			l := d.create(named("a", "A"))
			hooked.Before(func() error {
				item := d.item("LOCATION#" + string(l.ID))
				item["name"] = dynamo.S("theirs")
				item["updatedAt"] = dynamo.S("2030-01-01T00:00:00.000Z")
				d.put(item)
				return nil
			}, writes...)
			wants(t, write(d, l), locations.ErrChanged)
			if hooked.Waiting() {
				t.Fatal("nothing was written")
			}
			if now := d.get(l.ID); now.Name != "theirs" || now.Status != locations.Active {
				t.Errorf("the change of another program is lost: %+v", now)
			}
		})
	}
}

// An import does not overwrite a change that was made after it read the location.
func TestAnImportOverwritesNoChange(t *testing.T) {
	d, hooked := openHooked(t, locations.Options{})
	l := d.create(named("a", "A"))
	hooked.Before(func() error {
		return must2(d.Update(t.Context(), l.ID, "", locations.Change{Name: ref("theirs")}))
	}, writes...)
	rows := []locations.Row{{Cells: map[string]string{"code": "a", "name": "mine"}}}
	outcomes, err := d.Import(t.Context(), rows, "", false)
	if err != nil || len(outcomes) != 1 || hooked.Waiting() {
		t.Fatal(outcomes, err)
	}
	wants(t, outcomes[0].Problem, locations.ErrChanged)
	if now := d.get(l.ID); now.Name != "theirs" {
		t.Errorf("the name is %q", now.Name)
	}
}

// What is found near is all or an error, whichever cell could not be read.
func TestACellThatCannotBeReadIsAnError(t *testing.T) {
	d, hooked := openHooked(t, locations.Options{CellIndex: true})
	for i, code := range []string{"a", "b", "c", "d"} {
		n := named(code, code)
		n.Point = &locations.Point{Lat: 0.01 * float64(i%2), Lng: 0.01 * float64(i/2)}
		d.create(n)
	}
	q := locations.NearQuery{Radius: 5000}
	if err := d.db.CatchUp(); err != nil {
		t.Fatal(err)
	}
	all, err := d.Near(t.Context(), q)
	if err != nil || len(all.Items) != 4 {
		t.Fatal(all, err)
	}
	down := errors.New("the cell is down")
	for n := 0; ; n++ { // The n-th query fails, until there are fewer.
		left := n
		var fail func() error
		fail = func() error {
			if left == 0 {
				return down
			}
			left--
			hooked.Before(fail, "Query")
			return nil
		}
		hooked.Before(fail, "Query")
		found, err := d.Near(t.Context(), q)
		if hooked.Waiting() {
			if n < 2 {
				t.Fatalf("%d queries are made, which shows nothing", n)
			}
			break
		}
		if !errors.Is(err, down) {
			t.Errorf("query %d fails: %d locations, %v", n, len(found.Items), err)
		}
	}
}

// A write whose answer is lost has happened once, and is answered as if the answer had come.
func TestAWriteWhoseAnswerIsLostIsFoundAgain(t *testing.T) {
	type deed func(d *directory, a, b locations.Location) error
	for name, do := range map[string]deed{
		"create": func(d *directory, _, _ locations.Location) error {
			_, made, err := d.Create(d.t.Context(), named("new", "New"))
			if err == nil && !made {
				err = errors.New("it is said to have been there")
			}
			return err
		},
		"create over": func(d *directory, a, _ locations.Location) error {
			must(d.t, a, must2(d.Delete(d.t.Context(), a.ID, "")))
			n := named(a.Code, "New")
			n.Reuse = true
			_, made, err := d.Create(d.t.Context(), n)
			if err == nil && !made {
				err = errors.New("it is said to have been there")
			}
			return err
		},
		"change": func(d *directory, a, _ locations.Location) error {
			after, err := d.Update(d.t.Context(), a.ID, a.Tag(), locations.Change{Name: ref("X")})
			if err == nil && (after.Name != "X" || after.Version != a.Version+1) {
				d.t.Errorf("%+v", after)
			}
			return err
		},
		"change the code": func(d *directory, a, _ locations.Location) error {
			after, err := d.Update(d.t.Context(), a.ID, a.Tag(), locations.Change{Code: ref("x")})
			if err == nil && (after.Code != "x" || after.Version != a.Version+1) {
				d.t.Errorf("%+v", after)
			}
			return err
		},
		"delete": func(d *directory, a, _ locations.Location) error {
			return must2(d.Delete(d.t.Context(), a.ID, a.Tag()))
		},
		"swap": func(d *directory, a, b locations.Location) error {
			first, second, err := d.Swap(d.t.Context(), a.ID, b.ID, a.Tag())
			if err == nil && (first.Code != b.Code || second.Code != a.Code) {
				d.t.Errorf("%s and %s", first.Code, second.Code)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, locations.Options{})
			a, b := d.create(named("a", "A")), d.create(named("b", "B"))
			var f engine.Faults
			for _, o := range writes {
				f.Rules = append(f.Rules, engine.Fault{Kind: engine.FaultLostAnswer, Operation: o,
					Times: 1})
			}
			storetest.SetFaults(t, d.db, f)
			if err := do(d, a, b); err != nil {
				t.Error(err)
			}
			storetest.SetFaults(t, d.db, engine.Faults{})
			d.sound()
		})
	}
}

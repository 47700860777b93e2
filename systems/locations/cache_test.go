package locations_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func (d *directory) snapshot() *locations.Snapshot {
	d.t.Helper()
	s, err := d.Snapshot(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func TestTheListIsKeptUntilAWriteOrItsTime(t *testing.T) {
	d := open(t, locations.Options{})
	b, a := d.create(named("b", "B")), d.create(named("A", "A"))
	d.made()
	first := d.snapshot()
	if len(first.Locations) != 2 || first.Locations[0].ID != a.ID {
		t.Fatal(first)
	}
	d.pass(59 * time.Second)
	if scans := len(d.made()); d.snapshot() != first || len(d.made()) != 0 || scans == 0 {
		t.Error("the list is read again")
	}
	d.pass(time.Second)
	second := d.snapshot()
	if second == first || second.Tag != first.Tag || len(d.made()) == 0 {
		t.Error("the list is not read again after its time, or has another tag")
	}
	ctx := t.Context()
	for what, write := range map[string]func() error{
		"update": func() error {
			return must2(d.Update(ctx, a.ID, "", locations.Change{Name: ref(time.Now().String())}))
		},
		"create": func() error { _, _, err := d.Create(ctx, named("c", "C")); return err },
		"swap":   func() error { _, _, err := d.Swap(ctx, a.ID, b.ID); return err },
	} {
		before := d.snapshot()
		if err := write(); err != nil {
			t.Fatal(what, err)
		}
		if d.snapshot().Tag == before.Tag {
			t.Errorf("%s does not drop the list", what)
		}
	}
	before := d.snapshot()
	must(t, b, must2(d.Delete(ctx, b.ID, "")))
	if s := d.snapshot(); s.Tag == before.Tag || len(s.Locations) != 2 {
		t.Error("delete does not drop the list")
	}
	must(t, b, must2(d.Restore(ctx, b.ID, "", "")))
	if s := d.snapshot(); len(s.Locations) != 3 {
		t.Error("restore does not drop the list")
	}
	// What another process writes shows after the time.
	item := d.item("LOCATION#" + string(a.ID))
	item["updatedAt"] = dynamo.S("2030-01-01T00:00:00.000Z")
	before = d.snapshot()
	d.put(item)
	if d.snapshot() != before {
		t.Error("the list is not kept")
	}
	d.pass(time.Minute)
	if d.snapshot().Tag == before.Tag {
		t.Error("the change of another is never seen")
	}
}

// TestAListNeverMissesAWriteThatHasReturned races readers of the list with writers.
func TestAListNeverMissesAWriteThatHasReturned(t *testing.T) {
	d := open(t, locations.Options{})
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for i := range storetest.Rounds(10) {
				code := fmt.Sprintf("w%d-%d", writer, i)
				l, _, err := d.Create(t.Context(), named(code, "x"))
				if err != nil {
					t.Error(err)
					return
				}
				s, err := d.Snapshot(t.Context())
				if err != nil || !slices.ContainsFunc(s.Locations,
					func(o locations.Location) bool { return o.ID == l.ID }) {
					t.Errorf("%s is not in the list, %v", code, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestAListIsReadConsistently lets reads that do not ask for more see what was there before.
func TestAListIsReadConsistently(t *testing.T) {
	d := open(t, locations.Options{})
	storetest.SetFaults(t, d.db, engine.Faults{Rules: []engine.Fault{
		{Kind: engine.FaultStaleRead, Held: true},
	}})
	d.create(named("a", "A"))
	if s := d.snapshot(); len(s.Locations) != 1 {
		t.Error("the list misses a write that has returned")
	}
	page, err := d.List(t.Context(), locations.ListQuery{})
	if err != nil || len(page.Items) != 1 {
		t.Error(page, err)
	}
}

func TestReadersOfTheListWaitForOneRead(t *testing.T) {
	d := open(t, locations.Options{})
	d.create(named("a", "A"))
	d.made()
	var wg sync.WaitGroup
	tags := make([]string, 50)
	for i := range tags {
		wg.Go(func() { tags[i] = d.snapshot().Tag })
	}
	wg.Wait()
	if n := len(slices.Compact(tags)); n != 1 {
		t.Errorf("%d different lists", n)
	}
	if calls := len(d.made()); calls > 10 {
		t.Errorf("50 readers make %d calls", calls)
	}
	if _, err := d.Near(t.Context(), locations.NearQuery{Radius: 1}); err != nil ||
		errors.Is(err, locations.ErrTooMany) {
		t.Error(err)
	}
}

package locations_test

import (
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestAStoreThatIsBusyIsNoRaceOfWriters wants reads to say what the store says, and writes that
// others are in the way.
func TestAStoreThatIsBusyIsNoRaceOfWriters(t *testing.T) {
	d := open(t, locations.Options{})
	l := d.create(named("a", "A"))
	other := d.create(named("b", "B"))
	d.remove("LOCATION_CODE#b") // There is something to mend.
	busy, err := locations.New(singletable.NewStore(d.db, singletable.Options{
		Now: d.clock, Retry: singletable.Retry{Attempts: 1},
	}), locations.Options{Now: d.clock})
	must(t, d, err)
	ctx := t.Context()
	throttled := func(operations ...string) {
		t.Helper()
		var f engine.Faults
		for _, o := range operations {
			f.Rules = append(f.Rules, engine.Fault{Kind: engine.FaultThrottle, Operation: o})
		}
		storetest.SetFaults(t, d.db, f)
	}
	rows := []locations.Row{{Cells: map[string]string{"code": "c", "name": "C"}}}
	throttled("GetItem", "BatchGetItem", "Query", "Scan")
	for name, read := range map[string]func() error{
		"location": func() error { return must2(busy.Location(ctx, l.ID)) },
		"code":     func() error { return must2(busy.ByCode(ctx, "a")) },
		"list":     func() error { return must2(busy.List(ctx, locations.ListQuery{})) },
		"snapshot": func() error { return must2(busy.Snapshot(ctx)) },
		"near":     func() error { return must2(busy.Near(ctx, locations.NearQuery{Radius: 1})) },
		"plan":     func() error { return must2(busy.Plan(ctx)) },
		"repair":   func() error { return must2(busy.Repair(ctx, false)) },
		"import":   func() error { return must2(busy.Import(ctx, rows, "", true)) },
	} {
		if err := read(); !errors.Is(err, singletable.ErrBusy) ||
			errors.Is(err, locations.ErrContended) {
			t.Errorf("%s: %v", name, err)
		}
	}
	throttled("PutItem", "UpdateItem", "TransactWriteItems")
	for name, write := range map[string]func() error{
		"create": func() error { _, _, err := busy.Create(ctx, named("c", "C")); return err },
		"update": func() error {
			return must2(busy.Update(ctx, l.ID, "", locations.Change{Name: ref("X")}))
		},
		"delete":  func() error { return must2(busy.Delete(ctx, l.ID, "")) },
		"swap":    func() error { _, _, err := busy.Swap(ctx, l.ID, other.ID); return err },
		"reindex": func() error { return must2(busy.Reindex(ctx)) },
		"repair":  func() error { return must2(busy.Repair(ctx, true)) },
		"import": func() error {
			outcomes, err := busy.Import(ctx, rows, "", false)
			if len(outcomes) == 0 {
				return err
			}
			return errors.Join(err, outcomes[0].Problem)
		},
	} {
		if err := write(); !errors.Is(err, singletable.ErrThrottled) ||
			errors.Is(err, locations.ErrContended) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

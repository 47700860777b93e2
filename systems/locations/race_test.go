package locations_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// TestARaceForACodeHasOneWinner lets a hundred callers create a location with one code at once.
func TestARaceForACodeHasOneWinner(t *testing.T) {
	const callers = 100
	conflicts := engine.Faults{Rules: []engine.Fault{
		{Kind: engine.FaultConflict, Rate: 0.3}, {Kind: engine.FaultThrottle, Rate: 0.05},
		{Kind: engine.FaultLostAnswer, Rate: 0.1, Operation: "TransactWriteItems"},
	}}
	for _, c := range []struct {
		name   string
		faults *engine.Faults
	}{{"calm", nil}, {"with conflicts, throttles and lost answers", &conflicts}} {
		t.Run(c.name, func(t *testing.T) {
			for range storetest.Rounds(2) {
				d := open(t, locations.Options{})
				if c.faults != nil {
					f := *c.faults
					f.Seed = uint64(time.Now().UnixNano())
					t.Logf("seed %d", f.Seed)
					storetest.SetFaults(d.t, d.db, f)
				}
				var wg sync.WaitGroup
				made := make([]locations.Location, callers)
				errs := make([]error, callers)
				for i := range callers {
					code := "AKL-01"
					if i%2 == 0 {
						code = "akl-01"
					}
					wg.Go(func() {
						made[i], _, errs[i] = d.Create(t.Context(),
							named(code, fmt.Sprintf("caller %d", i)))
					})
				}
				wg.Wait()
				winner := -1
				for i, err := range errs {
					if err == nil {
						if winner >= 0 {
							t.Fatalf("callers %d and %d both have the code", winner, i)
						}
						winner = i
					}
				}
				if winner < 0 {
					t.Fatalf("nobody has the code: %v", errs[0])
				}
				for i, err := range errs {
					if i != winner {
						wants(t, err, locations.ErrCodeTaken, "location",
							string(made[winner].ID), "name", fmt.Sprintf("caller %d", winner))
					}
				}
				d.sound()
			}
		})
	}
}

// TestRacesOfAllVerbsLeaveNothingBehind lets callers do everything at once to a few locations and
// codes, on a store that refuses and loses answers.
func TestRacesOfAllVerbsLeaveNothingBehind(t *testing.T) {
	d := open(t, locations.Options{})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	storetest.SetFaults(d.t, d.db, engine.Faults{Seed: seed, Rules: []engine.Fault{
		{Kind: engine.FaultConflict, Rate: 0.1},
		{Kind: engine.FaultLostAnswer, Rate: 0.05},
	}})
	ctx := t.Context()
	var places [4]locations.Location
	for i := range places {
		places[i] = d.create(named(fmt.Sprintf("c%d", i), fmt.Sprint(i)))
	}
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() {
			for n := range storetest.Rounds(12) {
				id := places[(caller*5+n)%4].ID
				code := fmt.Sprintf("c%d", (caller+n*3)%6)
				var err error
				switch (caller + n) % 6 {
				case 0:
					_, err = d.Update(ctx, id, "", locations.Change{Code: &code})
				case 1:
					_, err = d.Delete(ctx, id, "")
				case 2:
					_, err = d.Restore(ctx, id, "", code)
				case 3:
					_, err = d.Release(ctx, id, "")
				case 4:
					_, _, err = d.Swap(ctx, id, places[n%4].ID)
				case 5:
					n := named(code, "new")
					n.Reuse = true
					_, _, err = d.Create(ctx, n)
				}
				if err != nil && !refusal(err) {
					t.Errorf("%d: %v", (caller+n)%6, err)
				}
			}
		})
	}
	wg.Wait()
	d.sound()
}

// refusal tells whether an error is one that the rules or a race explain.
func refusal(err error) bool {
	for _, p := range []error{
		locations.ErrCodeTaken, locations.ErrCodeReserved, locations.ErrCodeYours,
		locations.ErrInactive, locations.ErrActive, locations.ErrNoCode, locations.ErrInvalid,
		locations.ErrContended,
	} {
		if errors.Is(err, p) {
			return true
		}
	}
	return false
}

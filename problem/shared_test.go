package problem_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/problem"
)

// A shared problem of a system is the problem of every system, and names the one that reports it.
func TestSharedProblems(t *testing.T) {
	ledger, rates := problem.NewCatalogue("ledger"), problem.NewCatalogue("rates")
	cursor := ledger.Share(problem.ErrCursorInvalid, "")
	busy := ledger.Share(problem.ErrContended, "Post it again")
	other := rates.Share(problem.ErrContended, "")
	poor := ledger.Define(problem.Refused, "insufficient_funds", "There is too little money", "")
	if err := problem.Check(problem.Shared, ledger, rates); err != nil {
		t.Error(err)
	}

	for _, err := range []error{busy, busy.With("items", "x"), error(busy.New())} {
		for _, same := range []error{problem.ErrContended, busy, other, other.With("items", "y")} {
			if !errors.Is(err, same) {
				t.Errorf("%v is not %v", err, same)
			}
		}
		if errors.Is(err, cursor) || errors.Is(err, poor) {
			t.Errorf("%v is another problem", err)
		}
	}

	e := busy.With("items", "account a")
	want := map[string]string{"system": "ledger", "items": "account a"}
	if diff := cmp.Diff(want, e.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if e.Hint != "Post it again" || other.New().Hint != problem.ErrContended.Hint() {
		t.Errorf("hints %q and %q", e.Hint, other.New().Hint)
	}
	if got := roundTrip(t, e); got.Details[problem.DetailSystem] != "ledger" {
		t.Errorf("decoded details %v", got.Details)
	}
	if busy.System() != "ledger" || problem.ErrContended.System() != "" || poor.System() != "" {
		t.Errorf("systems %q, %q and %q", busy.System(), problem.ErrContended.System(),
			poor.System())
	}
	if !problem.Shared.Has("contended") || problem.Shared.Has("insufficient_funds") {
		t.Error("the shared catalogue has other codes")
	}
	if first := ledger.First(poor, busy.New(), cursor.New()); !errors.Is(first, cursor) {
		t.Errorf("of three the first is %v", first)
	}
}

// Place names the part of the request of the fields that have none.
func TestFieldsArePlaced(t *testing.T) {
	var wrong problem.Fields
	wrong.Add("from", "is missing")
	wrong.Place(problem.InQuery)
	wrong.Add("legs", "is missing")
	wrong.Place(problem.InBody)
	var e *problem.Error
	if !errors.As(wrong.Err(problem.ErrRequestInvalid), &e) {
		t.Fatal("no problem")
	}
	want := problem.Fields{
		{Name: "from", Wrong: "is missing", In: problem.InQuery},
		{Name: "legs", Wrong: "is missing", In: problem.InBody},
	}
	if diff := cmp.Diff(want, roundTrip(t, e).Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

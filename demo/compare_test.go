package demo

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client/bulk"
	"github.com/exchequer-dev/exchequer/problem"
)

// imported returns what an import reports that goes as it must.
func imported(t *testing.T) (*story, bulk.Result, []bulk.Outcome) {
	t.Helper()
	w, err := readWorld()
	if err != nil {
		t.Fatal(err)
	}
	result := bulk.Result{
		Posted: w.expected.Posted, There: w.expected.Repeats, Reasons: w.expected.Refused,
	}
	var refused []bulk.Outcome
	for _, row := range w.expected.RefusedRows {
		result.Refused++
		refused = append(refused, bulk.Outcome{
			Row: bulk.Row{Line: row.Line}, Status: bulk.Refused,
			Problem: &problem.Error{Code: row.Code},
		})
	}
	return &story{world: w, opts: Options{Out: io.Discard}}, result, refused
}

func TestAnImportAsItMustBeIsAccepted(t *testing.T) {
	s, result, refused := imported(t)
	s.compare(result, refused)
	if err := s.end(); err != nil {
		t.Error(err)
	}
	sum := 0
	for _, n := range s.world.expected.Refused {
		sum += n
	}
	if sum != len(refused) || result.Rows() != s.world.expected.Rows {
		t.Errorf("the expected numbers of rows do not add up: %d refused of %d, %d in all of %d",
			sum, len(refused), result.Rows(), s.world.expected.Rows)
	}
}

func TestEveryDifferenceIsFound(t *testing.T) {
	s, result, refused := imported(t)
	result.Posted--
	result.There++
	first, second, last := refused[0], refused[1], refused[len(refused)-1]
	refused[1].Problem = &problem.Error{Code: "another"}
	refused = slices.Delete(refused, 0, 1)
	refused = append(refused, bulk.Outcome{
		Row: bulk.Row{Line: last.Row.Line + 1}, Problem: &problem.Error{Code: "surplus"},
	})
	s.compare(result, refused)
	want := []string{
		"4695 rows posted, not 4696",
		"67 rows already there, not 66",
		fmt.Sprintf("line %d was refused as %q, not %q", second.Row.Line, "another",
			second.Problem.Code),
		fmt.Sprintf("line %d was refused as %q, not %q", last.Row.Line+1, "surplus", ""),
		fmt.Sprintf("line %d was not refused as %q", first.Row.Line, first.Problem.Code),
	}
	if diff := cmp.Diff(want, s.differences); diff != "" {
		t.Error(diff)
	}
	wrong, ok := s.end().(*MismatchError)
	if !ok || len(wrong.Differences) != len(want) {
		t.Errorf("the story ended with %v", wrong)
	}
}

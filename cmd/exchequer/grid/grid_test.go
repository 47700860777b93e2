package grid_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
)

func TestColumnsLineUp(t *testing.T) {
	table := grid.New(grid.Left("ACCOUNT"), grid.Right("BALANCE"), grid.Left("NOTE").UpTo(8))
	table.Add("café", "1,200.50", "short")
	table.Add("a-longer-name", "-3.00", "cut after eight")
	table.Add("寿司", "1.00")
	var got strings.Builder
	if err := table.Write(&got, "  "); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"  ACCOUNT         BALANCE  NOTE",
		"  café           1,200.50  short",
		"  a-longer-name     -3.00  cut aft…",
		"  寿司               1.00",
		"",
	}, "\n")
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestHeadsThatAreEmptyAreLeftOut(t *testing.T) {
	table := grid.New(grid.Column{}, grid.Column{})
	table.Add("id", "acc-1")
	table.Add("status", "active")
	var got strings.Builder
	if err := table.Write(&got, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("id      acc-1\nstatus  active\n", got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTextsCannotMoveTheCursor(t *testing.T) {
	if got := grid.Plain("a\x1b[2Jb\nc\u202ed"); got != "a [2Jb c d" {
		t.Errorf("got %q", got)
	}
}

func TestRowsAddedLaterLineUpWithTheFirst(t *testing.T) {
	table := grid.New(grid.Left("ID"), grid.Right("N"))
	var got strings.Builder
	for _, id := range []string{"long-one", "x"} {
		table.Add(id, "1")
		if err := table.Write(&got, ""); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff("ID        N\nlong-one  1\nx         1\n", got.String()); diff != "" {
		t.Error(diff)
	}
}

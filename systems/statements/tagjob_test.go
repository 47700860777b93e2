package statements_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// rename renames a tag and runs the job.
func (d *desk) rename(id, text string) statements.Job {
	d.t.Helper()
	_, job, err := d.RenameTag(d.t.Context(), id, text, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.run(*job)
}

// run runs a job to its end.
func (d *desk) run(j statements.Job) statements.Job {
	d.t.Helper()
	j, err := d.RunJob(d.t.Context(), j.ID, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if !j.Done {
		d.t.Fatalf("it is not done: %+v", j)
	}
	return j
}

func (d *desk) merge(from, to string) statements.Job {
	d.t.Helper()
	j, err := d.MergeTags(d.t.Context(), from, to, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	return j
}

// tagged types in a row with tags.
func (d *desk) tagged(date statements.Date, ids ...string) statements.Transaction {
	d.t.Helper()
	return d.add(statements.NewTransaction{Date: date, Amount: dec("-2"), TagIDs: ids})
}

func TestARenamedTagIsRewrittenInItsRows(t *testing.T) {
	d := newDesk(t)
	food, fun := d.tag("Food"), d.tag("Fun")
	rows := []statements.Transaction{
		d.tagged("2025-01-31", food), d.tagged("2025-03-01", fun, food),
		d.add(statements.NewTransaction{Date: "2025-05-01", Amount: dec("-2"),
			Splits: []statements.NewSplit{{Amount: dec("-2"), TagIDs: []string{food}}, {}}}),
		d.add(statements.NewTransaction{Date: "2025-06-01", Amount: dec("-2"), Transfer: true,
			Notes: "Food for a transfer", TagIDs: []string{food}}),
	}
	d.tagged("2025-04-01", fun)
	metered, meter := singletable.WithMeter(t.Context())
	tag, job, err := d.RenameTag(metered, food, " Groceries ", 1)
	if err != nil || tag.Text != "Groceries" || tag.Version != 2 {
		t.Fatal(tag, err)
	}
	start, err := d.Start(t.Context())
	if err != nil || !slices.ContainsFunc(start.Tags, func(tag statements.Tag) bool {
		return tag.ID == food && tag.Text == "Groceries"
	}) {
		t.Errorf("before the job: %v %v", start.Tags, err)
	}
	done, err := d.RunJob(metered, job.ID, nil)
	if err != nil || done.Changed != 4 || done.Read != 4 {
		t.Errorf("the job: %+v %v", done, err)
	}
	// One that begins, one for each month, and the end; months without the tag are not read.
	if n := meter.ByOperation()["TransactWriteItems"]; n != 6 {
		t.Errorf("%d writes", n)
	}
	for i, want := range [][]string{{"Groceries"}, {"Fun", "Groceries"}, nil, {"Groceries"}} {
		got := d.read(rows[i])
		if !slices.Equal(got.Tags, want) || !slices.Equal(got.TagIDs, rows[i].TagIDs) {
			t.Errorf("row %d: %v", i, got.Tags)
		}
		if diff := cmp.Diff(rows[i].Edited, got.Edited); diff != "" || got.Notes != rows[i].Notes {
			t.Errorf("row %d: %s %q", i, diff, got.Notes)
		}
	}
	if parts := d.read(rows[2]).Splits; parts[0].Tags[0] != "Groceries" {
		t.Errorf("parts: %v", parts)
	}
	if again := d.run(done); again.Version != done.Version {
		t.Error("a job that is done was run again")
	}
}

func TestARenameToATextThatIsThereAsks(t *testing.T) {
	d := newDesk(t)
	food, groceries := d.tag("Food"), d.tag("Groceries")
	row := d.add(statements.NewTransaction{Date: "2025-01-31", Amount: dec("-2"),
		Notes: "Food #Food", TagIDs: []string{food}})
	_, _, err := d.RenameTag(t.Context(), food, "GROCERIES", 0)
	var taken *problem.Error
	if !errors.Is(err, statements.ErrTagTaken) || !errors.As(err, &taken) ||
		taken.Details["tag"] != groceries || taken.Details["text"] != "Groceries" {
		t.Fatal(err)
	}
	if got := d.read(row); got.Tags[0] != "Food" {
		t.Errorf("before the person has answered: %v", got.Tags)
	}
	job := d.run(d.merge(food, taken.Details["tag"]))
	got := d.read(row)
	if !slices.Equal(got.TagIDs, []string{groceries}) || got.Tags[0] != "Groceries" {
		t.Errorf("tags: %v", got.Tags)
	}
	if got.Notes != "Food #Food" {
		t.Errorf("notes: %q", got.Notes)
	}
	if job.Changed != 1 || job.Text != "Food" {
		t.Errorf("the job: %+v", job)
	}
	if tags, err := d.Tags(t.Context()); err != nil || len(tags) != 1 {
		t.Errorf("tags: %v %v", tags, err)
	}
}

func TestATagMayGetItsTextInAnotherCase(t *testing.T) {
	d := newDesk(t)
	food := d.tag("food")
	row := d.tagged("2025-01-31", food)
	d.rename(food, "FOOD")
	if got := d.read(row).Tags[0]; got != "FOOD" {
		t.Errorf("the row has %q", got)
	}
	_, job, err := d.RenameTag(t.Context(), food, "FOOD", 0)
	if err != nil || job != nil {
		t.Errorf("the text that it has: %v %v", job, err)
	}
	again, made, err := d.CreateTag(t.Context(), "Food")
	if err != nil || made || again.ID != food {
		t.Errorf("a second tag in another case: %v %v %v", again, made, err)
	}
	if d.tag("other") == food {
		t.Error("another text is the same tag")
	}
}

func TestATextIsFreeOnceItsTagIsGone(t *testing.T) {
	d := newDesk(t)
	a, b := d.tag("A"), d.tag("B")
	d.merge(a, b)
	if next := d.tag("a"); next == a || next == b {
		t.Error("the text of a tag that was merged leads to an old tag")
	}
	d.rename(b, "C")
	if next := d.tag("b"); next == b {
		t.Error("the text that a tag had leads to it")
	}
}

func TestARowWithBothTagsKeepsOne(t *testing.T) {
	d := newDesk(t)
	a, b, c := d.tag("A"), d.tag("B"), d.tag("C")
	row := d.tagged("2025-01-31", c, a, b)
	job := d.merge(a, b)
	if again := d.merge(a, b); again.ID != job.ID {
		t.Error("a repeat began another job")
	}
	d.run(job)
	if got := d.read(row).Tags; !slices.Equal(got, []string{"C", "B"}) {
		t.Errorf("tags: %v", got)
	}
	sheet := d.sheets()["2025-01-01"]
	if len(sheet.Tags) != 2 || sheet.Tags[b].Count != 1 {
		t.Errorf("totals: %v", sheet.Tags)
	}
	if _, err := d.MergeTags(t.Context(), b, b, 0); !errors.Is(err, statements.ErrInvalid) {
		t.Errorf("a tag into itself: %v", err)
	}
	if _, err := d.MergeTags(t.Context(), b, "tag-none", 0); !errors.Is(err, statements.ErrNoTag) {
		t.Errorf("a tag into none: %v", err)
	}
}

func TestADeletedTagLeavesItsRowsAndRules(t *testing.T) {
	d := newDesk(t)
	a, b := d.tag("A"), d.tag("B")
	row := d.tagged("2025-01-31", a, b)
	both := d.rule(statements.Rule{Conditions: contains("x"),
		Set: statements.Setting{TagIDs: []string{a, b}}})
	only := d.rule(statements.Rule{Conditions: contains("x"),
		Set: statements.Setting{TagIDs: []string{a}}})
	_, err := d.DeleteTag(t.Context(), a, 7)
	if !errors.Is(err, statements.ErrChanged) {
		t.Errorf("a version that it does not have: %v", err)
	}
	job, err := d.DeleteTag(t.Context(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	d.run(job)
	if got := d.read(row).Tags; !slices.Equal(got, []string{"B"}) {
		t.Errorf("tags: %v", got)
	}
	r, err := d.Rule(t.Context(), both.ID)
	if err != nil || r.Disabled || !slices.Equal(r.Set.TagIDs, []string{b}) {
		t.Errorf("a rule that sets more: %+v %v", r, err)
	}
	r, err = d.Rule(t.Context(), only.ID)
	if err != nil || !r.Disabled || len(r.Set.TagIDs) != 0 {
		t.Errorf("a rule that set nothing else: %+v %v", r, err)
	}
}

// TestMergesThatFollowEachOtherMeet begins three merges before any is run, in a row.
func TestMergesThatFollowEachOtherMeet(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			d := newDesk(t)
			a, b, c, e := d.tag("A"), d.tag("B"), d.tag("C"), d.tag("E")
			rows := []statements.Transaction{d.tagged("2025-01-31", a),
				d.tagged("2025-02-28", b), d.tagged("2025-03-31", c)}
			r := d.rule(statements.Rule{Conditions: contains("x"),
				Set: statements.Setting{TagIDs: []string{a, b}}})
			jobs := []statements.Job{d.merge(a, b), d.merge(b, c), d.merge(c, e)}
			for _, i := range order {
				d.run(jobs[i])
			}
			for _, row := range rows {
				got := d.read(row)
				if !slices.Equal(got.TagIDs, []string{e}) || got.Tags[0] != "E" {
					t.Errorf("%s has %v", row.Date, got.TagIDs)
				}
			}
			if r, err := d.Rule(t.Context(), r.ID); err != nil ||
				!slices.Equal(r.Set.TagIDs, []string{e}) {
				t.Errorf("the rule sets %v: %v", r.Set.TagIDs, err)
			}
		})
	}
}

// TestARowThatMovesWhileAJobIsOpenHasTheTagsOfToday moves one from a month that the job has not
// visited into one that it has.
func TestARowThatMovesWhileAJobIsOpenHasTheTagsOfToday(t *testing.T) {
	d := newDesk(t)
	a, b, c, gone := d.tag("A"), d.tag("B"), d.tag("C"), d.tag("Gone")
	early := d.tagged("2025-01-31", a, c, gone)
	late := d.tagged("2025-06-30", a, c, gone)
	merging := d.merge(a, b)
	if _, err := d.DeleteTag(t.Context(), gone, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.RenameTag(t.Context(), c, "Sea", 0); err != nil {
		t.Fatal(err)
	}
	d.killed(1, func(p *statements.Person, ctx killable) {
		if j, err := p.RunJob(ctx, merging.ID, nil); err == nil || j.Month != "2025-01-01" {
			t.Errorf("stopped after a month: %+v %v", j, err)
		}
	})
	if got := d.read(early).TagIDs[0]; got != b {
		t.Errorf("the month that was visited has %s", got)
	}
	moved := d.change(late, statements.TransactionChange{Date: of(statements.Date("2025-01-01"))})
	if !slices.Equal(moved.Tags, []string{"B", "Sea"}) {
		t.Errorf("moved: %v", moved.Tags)
	}
	if err := d.RunJobs(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, row := range []statements.Transaction{early, late} {
		if got := d.read(row); !slices.Equal(got.Tags, []string{"B", "Sea"}) ||
			!slices.Equal(got.TagIDs, []string{b, c}) {
			t.Errorf("after the jobs: %v", got.Tags)
		}
	}
	if tags := d.sheets()["2025-01-01"].Tags; len(tags) != 2 || tags[b].Count != 2 {
		t.Errorf("totals: %v", tags)
	}
}

func TestJobsThatAreDoneAreKeptForAWhile(t *testing.T) {
	d := newDesk(t)
	a, b := d.tag("A"), d.tag("B")
	done, open := d.rename(a, "AA"), d.merge(a, b)
	jobs := func() string {
		t.Helper()
		found, err := d.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, j := range found {
			ids = append(ids, j.ID)
		}
		return strings.Join(ids, " ")
	}
	if got, want := jobs(), done.ID+" "+open.ID; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d.time.Move(statements.JobKeep + time.Second)
	_, last, err := d.RenameTag(t.Context(), b, "BB", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := jobs(), open.ID+" "+last.ID; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := d.Job(t.Context(), done.ID); !errors.Is(err, statements.ErrNoJob) {
		t.Errorf("one that was removed: %v", err)
	}
	for i := range statements.JobsMax - 2 {
		if _, _, err := d.RenameTag(t.Context(), b, fmt.Sprint("B", i), 0); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = d.RenameTag(t.Context(), b, "One more", 0)
	if !errors.Is(err, statements.ErrTooMany) {
		t.Errorf("one more than may be open: %v", err)
	}
	if err := d.RunJobs(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

package statements

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// meddler is a clock that lets somebody else do something in front of a write. Every write asks it.
type meddler struct {
	left atomic.Int64
	do   func()
}

func (m *meddler) now() time.Time {
	if m.left.Add(-1) == 0 {
		m.do()
	}
	return time.Date(1970, 1, 15, 12, 0, 0, 0, time.UTC)
}

// before lets something be done in front of the write after some others.
func (m *meddler) before(write int, do func()) {
	m.do = do
	m.left.Store(int64(write))
}

func newMeddled(t testing.TB) (*intake, *meddler) {
	t.Helper()
	m := &meddler{}
	files := &cabinet{files: map[string][]byte{}}
	s := newShelf(t, Options{Files: files, Now: m.now})
	return &intake{s, files, s.user(t, "someone", "a", "b"), t}, m
}

// twoWrites is a file that an undo takes back in two writes; the second one has the row of August.
func twoWrites() string {
	lines := []string{"2025-08-01,-9.00,Market"}
	for n := range rowsOfOneWrite + 10 {
		lines = append(lines, fmt.Sprintf("2025-06-%02d,-%d.00,Shop", 1+n%28, 1+n))
	}
	return csvFile(lines...)
}

// noted makes a note on the only row of August.
func (i *intake) noted(account string) {
	i.t.Helper()
	rows := i.rows(account)
	notes := "mine"
	at := At{AccountID: account, ID: rows[len(rows)-1].ID}
	_, err := i.p.ChangeTransaction(context.Background(), at, TransactionChange{Notes: &notes})
	if err != nil {
		i.t.Fatal(err)
	}
}

func TestWhatAPersonDoesWhileAnUndoRunsIsKeptUnlessTheySayOtherwise(t *testing.T) {
	const kept = "2025-08-01 -9 Market (mine)"
	for _, test := range []struct {
		name  string
		write int // Of the undo: the first one is that of the upload.
		edits Edits
		want  []string
	}{
		{"before its row is read", 2, "", []string{kept}},
		{"before its row is read, to keep", 2, KeepEdited, []string{kept}},
		{"before its row is read, to remove", 2, RemoveEdited, nil},
		{"when its row was read", 3, "", []string{kept}},
		{"when its row was read, to keep", 3, KeepEdited, []string{kept}},
		{"when its row was read, to remove", 3, RemoveEdited, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			i, clock := newMeddled(t)
			i.bring("a", "1", twoWrites())
			clock.before(test.write, func() { i.noted("a") })
			u, err := i.p.Undo(t.Context(), "a", "1", UndoOptions{Edited: test.edits})
			if err != nil || u.Status != Reverted {
				t.Fatalf("undo = %s, %v", u.Status, err)
			}
			i.want("a", test.want...)
			i.adds("a")
			o := UndoOptions{Edited: RemoveEdited}
			if _, err := i.p.Undo(t.Context(), "a", "1", o); err != nil {
				t.Fatal(err)
			}
			i.want("a")
			i.adds("a")
		})
	}
}

// tagged makes a rule that gives tags to all rows, so many that rows of one write are divided.
func (i *intake) tagged(ids ...string) {
	i.t.Helper()
	for _, id := range ids {
		makeTag(i.t, i.p, id)
	}
	zero := dec("0")
	_, _, err := i.p.CreateRule(context.Background(), Rule{Name: "r", Conditions: []Condition{
		{Field: OnAmount, Op: OpLess, Amount: &zero}}, Set: Setting{TagIDs: ids}})
	if err != nil {
		i.t.Fatal(err)
	}
}

// itemsOfAccount lists the keys of all items that name an account.
func (i *intake) itemsOfAccount(id string) []string {
	i.t.Helper()
	return slices.DeleteFunc(itemsOf(i.t, i.shelf, i.p.id), func(key string) bool {
		return !strings.Contains(key+" ", "#"+id+" ") && !strings.Contains(key, "#"+id+"#")
	})
}

// TestAnImportEndsWhenItsUploadIsUndoneOrErased does so in front of each of its writes.
func TestAnImportEndsWhenItsUploadIsUndoneOrErased(t *testing.T) {
	undo := func(i *intake) error {
		_, err := i.p.Undo(context.Background(), "a", "1", UndoOptions{Edited: RemoveEdited})
		return err
	}
	eraseAccount := func(i *intake) error {
		_, err := i.p.EraseAccount(context.Background(), "a", nil)
		return err
	}
	erase := func(i *intake) error {
		_, err := i.p.Erase(context.Background(), nil)
		return err
	}
	// The second file has rows that become part of those of the first one, beside new ones.
	first := "Date,Amount,Description,Status\n2025-07-30,-40.00,Bistro,pending\n"
	second := first[:strings.IndexByte(first, '\n')+1] + "2025-07-31,-40.00,Bistro,booked\n" +
		strings.ReplaceAll(strings.SplitAfterN(twoWrites(), "\n", 2)[1], "\n", ",booked\n")
	for _, test := range []struct {
		name string
		do   func(*intake) error
		want error
		left []string
	}{
		{"undone", undo, ErrUploadState, []string{"2025-07-30 -40 Bistro pending"}},
		{"the account is erased", eraseAccount, ErrNoUpload, nil},
		{"all is erased", erase, ErrNoUpload, nil},
	} {
		for write := 3; write < 9; write++ { // The first ones are the plan and the upload.
			t.Run(fmt.Sprintf("%s in front of write %d", test.name, write), func(t *testing.T) {
				i, clock := newMeddled(t)
				i.tagged("x", "y", "z")
				i.bring("a", "0", first)
				i.upload("a", "1", second)
				done := false
				clock.before(write, func() {
					done = true
					if err := test.do(i); err != nil {
						t.Error(err)
					}
				})
				_, err := i.p.Import(t.Context(), "a", "1", ImportOptions{})
				if !done || !errors.Is(err, test.want) {
					t.Fatalf("import = %v, want %v; meddled: %v", err, test.want, done)
				}
				i.want("a", test.left...)
				i.adds("a")
				if test.left != nil {
					i.counts("imported after all", i.again("a", "1"),
						Counts{New: rowsOfOneWrite + 11, Merged: 1})
					return
				}
				if left := i.itemsOfAccount("a"); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				if len(i.files.files) > 0 {
					t.Errorf("files left: %v", i.files.files)
				}
			})
		}
	}
}

// undone is an undo of an intake's upload, and what it leaves.
type undone struct {
	id    string
	edits Edits
	plan  UndoPlan // But for the names of edited rows.
	left  []string
}

func (u undone) run(i *intake) {
	i.t.Helper()
	ctx := context.Background()
	plan, err := i.p.PlanUndo(ctx, "a", u.id)
	if err != nil {
		i.t.Fatal(err)
	}
	plan.Edited = nil
	if d := cmp.Diff(u.plan, plan); d != "" {
		i.t.Fatalf("the plan of undoing %s (-want +got):\n%s", u.id, d)
	}
	after, err := i.p.Undo(ctx, "a", u.id, UndoOptions{Edited: u.edits})
	if u.plan.EditedOf > 0 && u.edits == "" {
		if !errors.Is(err, ErrUndoEdited) {
			i.t.Fatalf("undo of %s = %v", u.id, err)
		}
	} else if err != nil || after.Status != Reverted {
		i.t.Fatalf("undo of %s = %s, %v", u.id, after.Status, err)
	}
	i.want("a", u.left...)
	i.adds("a")
}

// TestWhatSeveralImportsMadeOfARowIsUndoneInAnyOrder undoes imports that found a row to be one of
// an earlier one.
func TestWhatSeveralImportsMadeOfARowIsUndoneInAnyOrder(t *testing.T) {
	const pending, booked = "2025-07-30 -40 Bistro pending", "2025-07-31 -40 Bistro"
	csv := func(row string) string { return "Date,Amount,Description,Status\n" + row + "\n" }
	merging := []string{csv("2025-07-30,-40.00,Bistro,pending"),
		csv("2025-07-31,-40.00,Bistro,booked")}
	const row, corrected = "2025-07-01 -5 Shop", "2025-07-01 -5.5 Shop"
	correcting := []string{ofxFile("11-1", "A,20250701,-5.00,Shop"),
		ofxFile("11-1", "B,20250701,-5.50,Shop,A,REPLACE"),
		ofxFile("11-1", "C,20250701,-5.75,Shop,B,REPLACE")}
	removing := []string{correcting[0], ofxFile("11-1", "B,20250701,-5.00,Shop,A,DELETE")}
	typed := func(i *intake) {
		_, _, err := i.p.AddTransaction(t.Context(), NewTransaction{AccountID: "a",
			Date: "2025-07-01", Amount: dec("-5"), Merchant: "Shop"})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name  string
		files []string // Their uploads are "0", "1" and so on.
		// Before are things done before each file.
		before map[int]func(*intake)
		undone []undone
	}{
		{"a booked row, the later import first", merging, nil, []undone{
			{"1", "", UndoPlan{Merged: 1}, []string{pending}},
			{"0", "", UndoPlan{New: 1}, nil}}},
		{"a booked row, the earlier import first", merging, nil, []undone{
			{"0", "", UndoPlan{Others: 1}, []string{booked}},
			{"1", "", UndoPlan{New: 1}, nil}}},
		{"a correction of a correction, from the last", correcting, nil, []undone{
			{"2", "", UndoPlan{Merged: 1}, []string{corrected}},
			{"1", "", UndoPlan{Merged: 1}, []string{row}},
			{"0", "", UndoPlan{New: 1}, nil}}},
		{"a correction of a correction, from the first", correcting, nil, []undone{
			{"0", "", UndoPlan{Others: 1}, []string{"2025-07-01 -5.75 Shop"}},
			{"1", "", UndoPlan{Others: 1}, []string{"2025-07-01 -5.75 Shop"}},
			{"2", "", UndoPlan{New: 1}, nil}}},
		{"a correction of a correction, from the middle", correcting, nil, []undone{
			{"1", "", UndoPlan{Others: 1}, []string{"2025-07-01 -5.75 Shop"}},
			{"2", "", UndoPlan{Merged: 1}, []string{row}},
			{"0", "", UndoPlan{New: 1}, nil}}},
		{"a correction of what was typed in, from the first", correcting[:2],
			map[int]func(*intake){0: typed}, []undone{
				{"0", "", UndoPlan{Others: 1}, []string{corrected}},
				{"1", "", UndoPlan{Merged: 1}, []string{row}}}},
		{"what the bank took back, the later import first", removing, nil, []undone{
			{"1", "", UndoPlan{Merged: 1}, []string{row}},
			{"0", "", UndoPlan{New: 1}, nil}}},
		{"what the bank took back, the earlier import first", removing, nil, []undone{
			{"0", "", UndoPlan{}, nil},
			{"1", "", UndoPlan{}, nil}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIntake(t)
			var counts []Counts
			for n, file := range test.files {
				if do := test.before[n]; do != nil {
					do(i)
				}
				counts = append(counts, i.bring("a", fmt.Sprint(n), file))
			}
			rows := i.lines("a")
			for _, u := range test.undone {
				u.run(i)
			}
			for n, want := range counts {
				i.counts("imported again", i.again("a", fmt.Sprint(n)), want)
			}
			i.want("a", rows...)
		})
	}
}

func TestWhatTheBankTookBackOfAPersonsRowIsUndone(t *testing.T) {
	const row = "2025-07-01 -5 Shop (mine)"
	for _, test := range []struct {
		name   string
		undone []undone
	}{
		{"the later import first", []undone{
			{"1", "", UndoPlan{Merged: 1}, []string{row}},
			{"0", "", UndoPlan{New: 1, EditedOf: 1}, []string{row}},
			{"0", RemoveEdited, UndoPlan{New: 1, EditedOf: 1}, nil}}},
		{"the earlier import first", []undone{
			{"0", "", UndoPlan{Others: 1}, []string{row}},
			{"1", "", UndoPlan{New: 1, EditedOf: 1}, []string{row}},
			{"1", KeepEdited, UndoPlan{New: 1, EditedOf: 1}, []string{row}},
			{"1", RemoveEdited, UndoPlan{New: 1, EditedOf: 1}, nil}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := newIntake(t)
			i.bring("a", "0", ofxFile("11-1", "A,20250701,-5.00,Shop"))
			i.noted("a")
			i.upload("a", "1", ofxFile("11-1", "B,20250701,-5.00,Shop,A,DELETE"))
			if _, err := i.p.Import(t.Context(), "a", "1", ImportOptions{}); err != nil {
				t.Fatal(err)
			}
			if left := i.rows("a"); len(left) != 1 || len(left[0].Annotations) != 1 {
				t.Fatalf("without a remark: %+v", left)
			}
			for _, u := range test.undone {
				u.run(i)
			}
		})
	}
}

func TestAPreviewLeavesWhatAnUndoKeptToTheNextOne(t *testing.T) {
	i := newIntake(t)
	i.bring("a", "1", csvFile("2025-07-01,-9.00,Shop", "2025-08-01,-1.00,Coffee"))
	i.noted("a")
	const kept = "2025-08-01 -1 Coffee (mine)"
	undone{"1", KeepEdited, UndoPlan{New: 2, EditedOf: 1}, []string{kept}}.run(i)
	shown, err := i.p.Preview(t.Context(), "a", "1", nil)
	if err != nil || shown.Status != Reverted || shown.Digest == "" {
		t.Fatalf("the preview: %+v, %v", shown, err)
	}
	i.counts("the preview", shown.Counts, Counts{New: 2})
	mapping := bankfile.Mapping{Version: bankfile.MappingVersion, Invert: true}
	invert := map[bankfile.Topic]string{AskInvert: "true"}
	if _, err := i.p.Remap(t.Context(), "a", "1", mapping); !errors.Is(err, ErrUploadState) {
		t.Errorf("remap = %v", err)
	}
	if _, err := i.p.Answer(t.Context(), "a", "1", invert); !errors.Is(err, ErrUploadState) {
		t.Errorf("answer = %v", err)
	}
	undone{"1", KeepEdited, UndoPlan{New: 1, EditedOf: 1}, []string{kept}}.run(i)
	i.counts("imported again", i.again("a", "1"), Counts{New: 2})
	i.want("a", "2025-07-01 -9 Shop", kept)
	undone{"1", RemoveEdited, UndoPlan{New: 2, EditedOf: 1}, nil}.run(i)
	r, err := i.p.Answer(t.Context(), "a", "1", invert)
	if err != nil || r.Upload.Status != Parsed {
		t.Fatalf("answer = %+v, %v", r, err)
	}
	i.counts("read anew", i.again("a", "1"), Counts{New: 2})
	i.want("a", "2025-07-01 9 Shop", "2025-08-01 1 Coffee")
}

package statements

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/exchequer-dev/exchequer/test/storetest"
)

// itemCalls are all operations of the store on items.
var itemCalls = append([]string{"GetItem", "Query", "Scan", "BatchGetItem"}, itemWrites...)

// beforeCall calls do before the n-th call from now on, counted from 1, unless it is called before
// that to forget it.
func beforeCall(hooked *storetest.Hooked, n int, do func()) (forget func()) {
	var hook func() error
	hook = func() error {
		switch n--; {
		case n > 0:
			hooked.Before(hook, itemCalls...)
		case n == 0:
			do()
		}
		return nil
	}
	hooked.Before(hook, itemCalls...)
	return func() { n = 0 }
}

// longFile is a file of one month whose import and undo take two writes each.
func longFile() string {
	var lines []string
	for n := range rowsOfOneWrite + 4 {
		lines = append(lines, fmt.Sprintf("2025-06-%02d,-%d.00,Shop", 1+n%28, 1+n))
	}
	return csvFile(lines...)
}

// stalls calls do once for each call of the store that it makes, in short mode for some of them.
// Before that call it stalls until meanwhile has ended.
func stalls(
	t *testing.T, prepare func(*intake), do func(*intake) error, meanwhile, check func(*intake),
) {
	t.Helper()
	met, call := true, 1
	defer func() {
		if t.Failed() {
			t.Logf("stalled before call %d", call)
		}
	}()
	for ; met; call += storetest.Stride() {
		i, hooked := newHooked(t)
		prepare(i)
		met = false
		forget := beforeCall(hooked, call, func() {
			met = true
			meanwhile(i)
		})
		err := do(i)
		forget()
		if err != nil && !errors.Is(err, ErrUploadState) &&
			!errors.Is(err, ErrChanged) {
			t.Fatalf("stalled before call %d: %v", call, err)
		}
		check(i)
		i.adds("a")
	}
}

// whole checks that an upload has all its rows if it is imported, and none if it is not.
func (i *intake) whole(id string) {
	i.t.Helper()
	u, err := i.p.UploadOf(context.Background(), "a", id)
	if err != nil {
		i.t.Fatal(err)
	}
	want := 0
	if u.Status == Processed {
		want = rowsOfOneWrite + 4
	}
	got := 0
	for _, row := range i.rows("a") {
		if row.UploadID == id {
			got++
		}
	}
	if got != want {
		i.t.Fatalf("upload %s is %s and has %d rows, want %d", id, u.Status, got, want)
	}
}

func (i *intake) undoNow(id string) error {
	_, err := i.p.Undo(context.Background(), "a", id, UndoOptions{Edited: RemoveEdited})
	return err
}

// undoIfImported undoes an upload, unless its import has not begun.
func (i *intake) undoIfImported(id string) {
	i.t.Helper()
	if err := i.undoNow(id); err != nil && !errors.Is(err, ErrUploadState) {
		i.t.Fatal(err)
	}
}

func importOf(id string) func(*intake) error {
	return func(i *intake) error {
		_, err := i.p.Import(context.Background(), "a", id, ImportOptions{})
		return err
	}
}

func TestAnImportThatStallsLeavesNoRowsAfterItsUndo(t *testing.T) {
	for name, test := range map[string]struct{ again bool }{
		"undone": {}, "undone and imported again": {again: true},
	} {
		for first, imports := range map[string]int{"first import": 0, "repeated import": 1} {
			t.Run(name+", "+first, func(t *testing.T) {
				stalls(t, func(i *intake) {
					i.upload("a", "1", longFile())
					for range imports {
						i.again("a", "1")
					}
				}, importOf("1"), func(i *intake) {
					i.undoIfImported("1")
					if test.again {
						i.again("a", "1")
					}
				}, func(i *intake) { i.whole("1") })
			})
		}
	}
}

func TestAnUndoThatStallsRemovesNoRowsOfALaterImport(t *testing.T) {
	stalls(t, func(i *intake) { i.bring("a", "1", longFile()) },
		func(i *intake) error { return i.undoNow("1") },
		func(i *intake) {
			i.undoIfImported("1")
			i.again("a", "1")
		},
		func(i *intake) {
			i.whole("1")
			if err := i.undoNow("1"); err != nil {
				i.t.Fatal(err)
			}
			i.whole("1")
		})
}

// TestAWriterThatStallsLeavesRowsToTheImportThatBroughtThemBack lets rows go and come back while a
// writer, which has read them, has not written yet.
func TestAWriterThatStallsLeavesRowsToTheImportThatBroughtThemBack(t *testing.T) {
	const file = "2025-07-01,-5.00,Coffee"
	row := ""
	for name, do := range map[string]func(*intake) error{
		"the job of a renamed tag": func(i *intake) error {
			_, err := i.p.RunJob(context.Background(), i.job(), nil)
			return err
		},
		"a person": func(i *intake) error {
			notes := "mine"
			_, err := i.p.ChangeTransaction(context.Background(),
				At{AccountID: "a", ID: row}, TransactionChange{Notes: &notes})
			if errors.Is(err, ErrNoTransaction) {
				err = nil // It looked while the row was away.
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			stalls(t, func(i *intake) {
				ctx := context.Background()
				tag, _, err := i.p.CreateTag(ctx, "before")
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = i.p.CreateRule(ctx, Rule{Name: "coffee", Conditions: []Condition{
					{Field: "text", Op: "contains", Text: "coffee"}},
					Set: Setting{TagIDs: []string{tag.ID}}})
				if err != nil {
					t.Fatal(err)
				}
				i.bring("a", "1", csvFile(file))
				row = i.rows("a")[0].ID
				if _, _, err := i.p.RenameTag(ctx, tag.ID, "after", 0); err != nil {
					t.Fatal(err)
				}
				i.upload("a", "2", csvFile(file, "2025-07-02,-6.00,Bread"))
			}, do, func(i *intake) {
				i.undoIfImported("1")
				i.again("a", "2")
			}, func(i *intake) {
				for _, row := range i.rows("a") {
					want := "2"
					if u, err := i.p.UploadOf(context.Background(), "a", "2"); err != nil {
						t.Fatal(err)
					} else if u.Status != Processed {
						want = "1"
					}
					if row.UploadID != want {
						t.Fatalf("row %s is of upload %s, want %s", row.ID, row.UploadID, want)
					}
				}
			})
		})
	}
}

// job returns the id of the only job that is not done.
func (i *intake) job() string {
	i.t.Helper()
	jobs, err := i.p.Jobs(context.Background())
	if err != nil || len(jobs) != 1 {
		i.t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	return jobs[0].ID
}

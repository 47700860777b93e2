package statements

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
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
	_, err := i.p.ChangeTransaction(context.Background(), At{AccountID: account, ID: rows[len(rows)-1].ID},
		TransactionChange{Notes: &notes})
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

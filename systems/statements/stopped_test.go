package statements

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// anyFile makes a file whose rows are alike often: by chance equal, pending, with ids of the bank
// that repeat, or without.
func anyFile(r *rand.Rand, most int) string {
	var b strings.Builder
	b.WriteString("Date,Amount,Description,Status,Transaction ID\n")
	withIDs := r.IntN(3)
	for n := range 1 + r.IntN(most) {
		day := []string{"2025-06-27", "2025-06-30", "2025-07-01", "2025-07-02", "2025-07-06",
			"2025-08-01"}[r.IntN(6)]
		status, id := "booked", ""
		if r.IntN(4) == 0 {
			status = "pending"
		}
		if withIDs == 1 || withIDs == 2 && r.IntN(2) == 0 {
			id = fmt.Sprintf("id-%d", r.IntN(most+n))
		}
		fmt.Fprintf(&b, "%s,%s,%s %d,%s,%s\n", day,
			[]string{"-1.00", "-2.00", "-40.00", "-46.00", "100.00"}[r.IntN(5)],
			[]string{"Coffee", "Market", "Bistro", "Garage"}[r.IntN(4)], r.IntN(3), status, id)
	}
	return b.String()
}

// anyTyped makes rows that a person typed in, some with ids of a month far away, for their dates
// were corrected since.
func anyTyped(r *rand.Rand, most int) []Transaction {
	rows := make([]Transaction, r.IntN(most))
	for n := range rows {
		first := []Date{"2025-06-28", "2025-07-03", "2025-07-30"}[r.IntN(3)]
		rows[n] = Transaction{AccountID: "a", Date: first,
			Amount:   dec([]string{"-1", "-2", "-40", "100"}[r.IntN(4)]),
			Merchant: []string{"Coffee", "Market", "Bistro", "Garage"}[r.IntN(4)]}
		if r.IntN(4) == 0 {
			first = "2025-11-06"
		}
		rows[n].ID = book.RowID("a", first, fmt.Sprint("typed ", n))
	}
	return rows
}

// stops counts the writes of a person and stops what is going on after some of them.
type stops struct {
	left   atomic.Int64
	cancel atomic.Pointer[context.CancelFunc]
	files  *cabinet
}

// now is a clock that stands still. Every write asks it.
func (s *stops) now() time.Time {
	if s.left.Add(-1) == 0 {
		if cancel := s.cancel.Load(); cancel != nil {
			(*cancel)()
		} else {
			s.files.set(true)
		}
	}
	return time.Date(1970, 1, 15, 12, 0, 0, 0, time.UTC)
}

func (c *cabinet) set(stuck bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stuck = stuck
}

// TestWhatIsStoppedAndRepeatedEndsAsIfItHadNot imports and undoes files of chance over rows of
// chance, for one person without a stop, for another with some: by a request that nobody waits for
// any more, or a place for files that fails.
func TestWhatIsStoppedAndRepeatedEndsAsIfItHadNot(t *testing.T) {
	files := &cabinet{files: map[string][]byte{}}
	stop := &stops{files: files}
	s := newShelf(t, Options{Files: files, Now: stop.now})
	for round := range storetest.Rounds(25) {
		seed := uint64(round)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			calm := &intake{s, files, s.user(t, fmt.Sprintf("calm-%d", round), "a"), t}
			other := &intake{s, files, s.user(t, fmt.Sprintf("other-%d", round), "a"), t}
			typed := anyTyped(r, 20)
			putTagged(t, calm.p, typed...)
			putTagged(t, other.p, typed...)
			for n := range r.IntN(3) {
				text, id := anyFile(r, 60), fmt.Sprintf("before-%d", n)
				calm.bring("a", id, text)
				other.bring("a", id, text)
				undo, deleted := r.IntN(4) == 0, r.IntN(8)
				for _, i := range []*intake{calm, other} {
					i.disturb(id, undo, deleted)
				}
			}
			text := anyFile(r, 300)
			want := calm.bring("a", "last", text)
			other.upload("a", "last", text)
			shown, decisions := other.preview("last")
			other.counts("the preview", shown.Counts, want)
			rows, entries := calm.state("a")

			stopped := 0
			for try := range 1 + r.IntN(4) {
				var digest string
				if try == 0 {
					digest = shown.Digest
				}
				stuck := r.IntN(3) == 0
				if other.stopped(stop, 1+r.IntN(12), stuck, func(ctx context.Context) error {
					_, err := other.p.Import(ctx, "a", "last", ImportOptions{Digest: digest})
					return err
				}) {
					stopped++
				}
				other.adds("a")
				if _, now := other.preview("last"); !cmp.Equal(decisions, now) {
					t.Fatalf("decisions after a stop (-before +now):\n%s", cmp.Diff(decisions, now))
				}
			}
			done, err := other.p.Import(t.Context(), "a", "last",
				ImportOptions{Digest: shown.Digest})
			if err != nil {
				t.Fatal(err)
			}
			other.counts(fmt.Sprintf("after %d stops", stopped), done.Counts, want)
			same(t, "imported", other, rows, entries)

			undo := func(i *intake) {
				_, err := i.p.Undo(t.Context(), "a", "last", UndoOptions{Edited: RemoveEdited})
				if err != nil {
					t.Fatal(err)
				}
				i.adds("a")
			}
			undo(calm)
			undone, undoneEntries := calm.state("a")
			for range 1 + r.IntN(3) {
				other.stopped(stop, 1+r.IntN(6), false, func(ctx context.Context) error {
					_, err := other.p.Undo(ctx, "a", "last", UndoOptions{Edited: RemoveEdited})
					return err
				})
			}
			undo(other)
			same(t, "undone", other, undone, undoneEntries)
			if _, now := calm.preview("last"); !cmp.Equal(decisions, now) {
				t.Fatalf("decisions after undoing (-before +now):\n%s", cmp.Diff(decisions, now))
			}
			calm.counts("imported again", calm.again("a", "last"), want)
			other.counts("imported again", other.again("a", "last"), want)
			same(t, "imported again", calm, rows, entries)
			same(t, "imported again", other, rows, entries)
		})
	}
}

// preview returns what would become of each row.
func (i *intake) preview(id string) (Upload, []string) {
	i.t.Helper()
	var decisions []string
	u, err := i.p.Preview(context.Background(), "a", id, func(d Decision) bool {
		decisions = append(decisions, fmt.Sprintf("%d %s %s", d.Line, d.Verdict, d.ID))
		return true
	})
	if err != nil {
		i.t.Fatal(err)
	}
	return u, decisions
}

// disturb deletes every so many rows, and undoes an import.
func (i *intake) disturb(id string, undo bool, deleted int) {
	i.t.Helper()
	for n, row := range i.rows("a") {
		if deleted > 0 && n%10 == deleted {
			at := At{AccountID: "a", ID: row.ID}
			if err := i.p.DeleteTransaction(context.Background(), at, 0); err != nil {
				i.t.Fatal(err)
			}
		}
	}
	if undo {
		if _, err := i.p.Undo(context.Background(), "a", id, UndoOptions{}); err != nil {
			i.t.Fatal(err)
		}
	}
}

// landing is how long a request that was given up may still be at work.
const landing = 200 * time.Millisecond

// stopped does something that is stopped after some writes, if it comes so far.
func (i *intake) stopped(
	s *stops, after int, stuck bool, do func(context.Context) error,
) bool {
	i.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.cancel.Store(&cancel)
	if stuck {
		s.cancel.Store(nil)
	}
	s.left.Store(int64(after))
	err := do(ctx)
	s.left.Store(0)
	s.files.set(false)
	if err != nil && storetest.Remote() {
		// A store at the other end of a connection may still be at work on what nobody waits for
		// any more. The checks come after that, or they see half of it.
		time.Sleep(landing)
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errCabinet) {
		i.t.Fatal(err)
	}
	return err != nil
}

func same(t *testing.T, what string, i *intake, rows []Transaction, entries []Entry) {
	t.Helper()
	got, gotEntries := i.state("a")
	for n := range got {
		got[n].UserID = ""
	}
	for n := range gotEntries {
		gotEntries[n].UserID = ""
	}
	rows, entries = append([]Transaction{}, rows...), append([]Entry{}, entries...)
	for n := range rows {
		rows[n].UserID = ""
	}
	for n := range entries {
		entries[n].UserID = ""
	}
	clean := func(entries []Entry) {
		for n := range entries {
			entries[n].Before = strings.NewReplacer(`"UserID":"calm-`, `"UserID":"`,
				`"UserID":"other-`, `"UserID":"`).Replace(entries[n].Before)
			if at := strings.LastIndex(entries[n].Before, `"Version":`); at >= 0 {
				entries[n].Before = entries[n].Before[:at]
			}
		}
	}
	clean(entries)
	clean(gotEntries)
	if d := cmp.Diff(rows, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s: rows (-want +got):\n%s", what, d)
	}
	if d := cmp.Diff(entries, gotEntries); d != "" {
		t.Fatalf("%s: entries (-want +got):\n%s", what, d)
	}
}

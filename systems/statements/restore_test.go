package statements

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/systems/statements/book"
)

// TestWhatWasImportedIsKnownAfterARestore imports the same file before and after.
func TestWhatWasImportedIsKnownAfterARestore(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files, Now: spring})
	const text = "Date,Amount,Payee\n2026-01-31,-5.00,Café\n2026-01-31,-5.00,Café\n" +
		"2026-02-01,-7.50,Market\n"
	imported := func(p *Person) Counts {
		t.Helper()
		r, err := p.Upload(t.Context(), "a", UploadRequest{FileName: "bank.csv",
			Body: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.Preview(t.Context(), "a", r.Upload.ID, func(Decision) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if u, err = p.Import(t.Context(), "a", u.ID, ImportOptions{Digest: u.Digest}); err != nil {
			t.Fatal(err)
		}
		return u.Counts
	}
	from, to := s.user(t, "from", "a"), s.user(t, "to")
	if c := imported(from); c.New != 3 {
		t.Fatalf("at first: %+v", c)
	}
	page, err := from.Search(t.Context(),
		Search{From: "2026-02-01", To: "2026-02-28"}, 10, "")
	if err != nil || len(page.Transactions) != 1 {
		t.Fatal(page, err)
	}
	gone := page.Transactions[0]
	if err := from.DeleteTransaction(t.Context(), At{AccountID: "a", ID: gone.ID}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(to, archiveOf(t, from)); err != nil {
		t.Fatal(err)
	}
	if c := imported(to); c.New != 0 || c.Known != 2 || c.Deleted != 1 {
		t.Errorf("after the restore: %+v", c)
	}
	if c := checkTotals(t, to, "a", CheckOptions{}); c.Differ != 0 || c.Rows != 2 {
		t.Errorf("totals: %+v", c)
	}
	if _, err := to.Erase(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if left := itemsOf(t, s, "to"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for key := range files {
		if strings.HasPrefix(key, "uploads/to/") {
			t.Errorf("left: %s", key)
		}
	}
}

// brittle is a place for files where one writing fails.
type brittle struct {
	memory
	left int // How many are written before it.
}

func (b *brittle) Put(ctx context.Context, key string, r io.Reader) error {
	if b.left--; b.left == -1 {
		return errCabinet
	}
	return b.memory.Put(ctx, key, r)
}

// TestAFileThatIsNotWrittenIsWrittenByAnotherRestore fails the writing of each file in turn. An
// erasure leaves none behind, whether there was another restore or not.
func TestAFileThatIsNotWrittenIsWrittenByAnotherRestore(t *testing.T) {
	files := &brittle{memory: memory{}, left: -1}
	s := newShelf(t, Options{Files: files})
	from := s.user(t, "from", "a")
	for _, id := range []string{"1", "2", "3"} {
		u := Upload{UserID: from.id, AccountID: "a", ID: id, Status: Processed,
			FileKey: "uploads/from/a/" + id + "/bank.csv", UploadedAt: from.now(), Version: 1}
		for _, key := range u.files() {
			files.memory[key] = []byte(key)
		}
		if err := modelOf(from).uploads.Put(t.Context(), s.store, u); err != nil {
			t.Fatal(err)
		}
	}
	archive := archiveOf(t, from)
	for n, whole := 0, false; !whole; n++ {
		user := fmt.Sprintf("to-%d", n)
		to := s.user(t, user)
		files.left = n
		_, err := restore(to, archive)
		if whole = err == nil; !whole {
			if !errors.Is(err, errCabinet) {
				t.Fatalf("file %d: %v", n, err)
			}
			given := s.user(t, user+"-given-up")
			files.left = n
			if _, err := restore(given, archive); !errors.Is(err, errCabinet) {
				t.Fatalf("file %d: %v", n, err)
			}
			if _, err := given.Erase(t.Context(), nil); err != nil || len(files.memory) != 6+n {
				t.Errorf("file %d: given up: %v, %d files left", n, err, len(files.memory)-6)
			}
			if _, err := restore(to, archive); err != nil {
				t.Fatalf("file %d: %v", n, err)
			}
		}
		page, err := to.Uploads(t.Context(), "a", 10, "")
		if err != nil || len(page.Uploads) != 3 {
			t.Fatal(page, err)
		}
		for _, u := range page.Uploads {
			want := "uploads/from/a/" + u.ID + "/bank.csv"
			if u.FileKey != strings.Replace(want, "from", user, 1) ||
				string(files.memory[u.FileKey]) != want {
				t.Errorf("file %d: upload %s has the key %s", n, u.ID, u.FileKey)
			}
		}
		if e, err := to.Erase(t.Context(), nil); err != nil || e.Files != 3 {
			t.Errorf("file %d: erased %+v, %v", n, e, err)
		}
		if len(files.memory) != 6 {
			t.Errorf("file %d: files left: %v", n, slices.Sorted(maps.Keys(files.memory)))
		}
	}
}

// TestWhatStandsInFarMonthsIsRestored has entries, and a row of another program, in months that
// only an empty sheet tells of.
func TestWhatStandsInFarMonthsIsRestored(t *testing.T) {
	s := newShelf(t, Options{Now: spring})
	dates := []Date{"1969-12-31", "2062-01-31", "2028-03-31", "2028-04-01"}
	if testing.Short() { // Every archive and erasure looks through all months.
		dates = dates[:2]
	}
	for _, date := range dates {
		t.Run(string(date), func(t *testing.T) {
			from := s.user(t, "from "+string(date), "a", "b")
			moved, _, err := from.AddTransaction(t.Context(),
				NewTransaction{AccountID: "a", Date: date, Amount: dec("-1")})
			if err != nil {
				t.Fatal(err)
			}
			gone, _, err := from.AddTransaction(t.Context(),
				NewTransaction{AccountID: "b", Date: date, Amount: dec("-1")})
			if err != nil {
				t.Fatal(err)
			}
			right := Date("2026-01-31")
			_, err = from.ChangeTransaction(t.Context(), At{AccountID: "a", ID: moved.ID},
				TransactionChange{Date: &right})
			if err != nil {
				t.Fatal(err)
			}
			at := At{AccountID: "b", ID: gone.ID}
			if err := from.DeleteTransaction(t.Context(), at, 0); err != nil {
				t.Fatal(err)
			}
			// It is found by the sheet of the month before.
			foreign(t, from, Transaction{AccountID: "b", ID: "foreign", Currency: "NZD",
				Date: firstDay(nextMonth(book.MonthOf(date)))})
			archive := archiveOf(t, from)
			for _, user := range []string{"to ", "from there to "} {
				to := s.user(t, user+string(date))
				counts, err := restore(to, archive)
				if err != nil || counts.Entries != 2 || counts.Transactions != 2 {
					t.Fatal(counts, err)
				}
				row, err := to.Transaction(t.Context(), "a", moved.ID)
				if err != nil || row.Date != right {
					t.Errorf("%sthe row: %+v, %v", user, row, err)
				}
				if c := checkTotals(t, to, "a", CheckOptions{}); c.Differ != 0 || c.Rows != 1 {
					t.Errorf("%stotals: %+v", user, c)
				}
				archive = archiveOf(t, to)
				if _, err := to.Erase(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if left := itemsOf(t, s, user+string(date)); len(left) > 0 {
					t.Errorf("%sleft: %v", user, left)
				}
			}
		})
	}
}

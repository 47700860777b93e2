package statements

import (
	"strings"
	"testing"
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

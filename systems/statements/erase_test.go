package statements

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func manyRows(n int) []Transaction {
	rows := []Transaction{rich()}
	for i := range n {
		rows = append(rows, Transaction{AccountID: []string{"a", "b"}[i%2], Amount: dec("-1"),
			Date: Date(fmt.Sprintf("2025-%02d-10", 1+i%12)), TagIDs: []string{"x", "y"}})
	}
	return rows
}

func TestErasureLeavesNothingOfAUserAndTouchesNobodyElse(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	p, other := s.user(t, "someone"), s.user(t, "someone-else")
	furnish(t, s, files, p, manyRows(60)...)
	furnish(t, s, files, other, manyRows(5)...)
	foreign(t, p, Transaction{AccountID: "b", ID: "foreign", Date: "1971-05-05", Currency: "NZD"})
	others, kept := itemsOf(t, s, "someone-else"), archiveOf(t, other)
	var last Erased
	got, err := p.Erase(t.Context(), func(e Erased) { last = e })
	if err != nil {
		t.Fatal(err)
	}
	want := Erased{Profiles: 1, Accounts: 3, Tags: 2, Rules: 1, Jobs: 1, Uploads: 2, Files: 1,
		Transactions: 62, Entries: 63, Sheets: 13}
	if diff := cmp.Diff(want, got); diff != "" || last != got {
		t.Error(diff, last)
	}
	if left := itemsOf(t, s, "someone"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if diff := cmp.Diff(others, itemsOf(t, s, "someone-else")); diff != "" {
		t.Error(diff)
	}
	if len(files) != 2 || !bytes.Equal(kept, archiveOf(t, other)) {
		t.Errorf("files left: %v", files)
	}
	if got, err := p.Erase(t.Context(), nil); err != nil || got != (Erased{}) {
		t.Errorf("again: %+v %v", got, err)
	}
}

func TestErasureOfAnAccountLeavesTheOthers(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	p := s.user(t, "someone")
	furnish(t, s, files, p, manyRows(20)...)
	got, err := p.EraseAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Erased{Accounts: 1, Uploads: 1, Files: 1, Transactions: 10, Entries: 11, Sheets: 6}
	if diff := cmp.Diff(want, got); diff != "" || len(files) != 0 {
		t.Error(diff, files)
	}
	for account, rows := range map[string]int{"b": 10, "a#%": 1} {
		if c := checkTotals(t, p, account, CheckOptions{}); c.Rows != rows || c.Differ != 0 {
			t.Errorf("account %s: %+v", account, c)
		}
	}
	if _, err := p.EraseAccount(t.Context(), "a", nil); !errors.Is(err, ErrNoAccount) {
		t.Error(err)
	}
	start, err := p.Start(t.Context())
	if err != nil || start.Profile == nil || len(start.Accounts) != 2 || len(start.Tags) != 2 {
		t.Error(start, err)
	}
}

// TestAnErasureThatIsCutOffIsFinishedByAnother cuts it off at each place where it tells how far it
// is.
func TestAnErasureThatIsCutOffIsFinishedByAnother(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	for cut, whole := 1, false; !whole; cut++ {
		user := fmt.Sprintf("user-%d", cut)
		p := s.user(t, user)
		furnish(t, s, files, p, manyRows(6)...)
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		first, err := p.Erase(ctx, func(Erased) {
			if told++; told == cut {
				cancel()
			}
		})
		cancel()
		second := Erased{}
		if whole = err == nil; !whole {
			if second, err = p.Erase(t.Context(), nil); err != nil {
				t.Fatalf("cut %d: %v", cut, err)
			}
		}
		if n := first.Transactions + second.Transactions; n != 7 {
			t.Errorf("cut %d: %d transactions", cut, n)
		}
		if left := itemsOf(t, s, user); len(left)+len(files) > 0 {
			t.Errorf("cut %d: left: %v %v", cut, left, files)
		}
	}
}

func TestNothingIsErasedWhereFilesCannotBe(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files})
	p := s.user(t, "someone")
	furnish(t, s, files, p)
	s.opts.Files = nil
	if _, err := p.Erase(t.Context(), nil); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
	if _, err := p.Archive(t.Context(), &bytes.Buffer{}, nil); !errors.Is(err, ErrNoFiles) {
		t.Error(err)
	}
}

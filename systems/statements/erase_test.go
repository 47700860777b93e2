package statements

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
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

// interrupted is a place for files where something else happens at its next writing or removal.
type interrupted struct {
	*cabinet
	put, remove func()
	after       int // How many files are put before put is called.
}

func (i *interrupted) Put(ctx context.Context, key string, r io.Reader) error {
	if meanwhile := i.put; meanwhile != nil && i.after == 0 {
		i.put = nil
		meanwhile()
	}
	i.after = max(i.after-1, 0)
	return i.cabinet.Put(ctx, key, r)
}

func (i *interrupted) Delete(ctx context.Context, key string) error {
	err := i.cabinet.Delete(ctx, key)
	if meanwhile := i.remove; meanwhile != nil {
		i.remove = nil
		meanwhile()
	}
	return err
}

func TestAnErasureAmidAReadingLeavesNoFile(t *testing.T) {
	for name, read := range map[string]func(p *Person) error{
		"preview": func(p *Person) error {
			_, err := p.Preview(t.Context(), "a", "1", nil)
			return err
		},
		"import": func(p *Person) error {
			_, err := p.Import(t.Context(), "a", "1", ImportOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := &interrupted{cabinet: &cabinet{files: map[string][]byte{}}}
			s := newShelf(t, Options{Files: files})
			p := s.user(t, "someone", "a")
			_, err := p.Upload(t.Context(), "a", UploadRequest{ID: "1",
				Body: strings.NewReader(csvFile("2025-07-01,-9.00,Shop"))})
			if err == nil {
				err = read(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			// The second time an import writes no row, so nothing stops it before its end.
			files.put = func() { _, _ = p.EraseAccount(t.Context(), "a", nil) }
			if err := read(p); !errors.Is(err, ErrNoUpload) {
				t.Errorf("got %v", err)
			}
			if left := slices.Sorted(maps.Keys(files.files)); len(left) > 0 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

// TestAnErasureAmidAnUploadLeavesNoFile lets them meet where one of them has half of its work done.
func TestAnErasureAmidAnUploadLeavesNoFile(t *testing.T) {
	for name, c := range map[string]struct {
		meet func(files *interrupted, upload, erase func() error) error
		want error // Of what was interrupted.
		left int
	}{
		"the file arrives after the erasure": {
			func(files *interrupted, upload, erase func() error) error {
				files.put = func() { _ = erase() }
				return upload()
			}, ErrChanged, 0},
		"the file arrives amid the erasure": {
			func(files *interrupted, upload, erase func() error) error {
				files.remove = func() { _ = upload() }
				return erase()
			}, nil, 0},
		"the file arrives by another request": {
			func(files *interrupted, upload, _ func() error) error {
				files.put = func() { _ = upload() }
				return upload()
			}, nil, 2}, // The two requests are equal: a file and its rows.
		"the rows are stored after the erasure": {
			func(files *interrupted, upload, erase func() error) error {
				files.after, files.put = 1, func() { _ = erase() }
				return upload()
			}, ErrNoUpload, 0},
	} {
		t.Run(name, func(t *testing.T) {
			files := &interrupted{cabinet: &cabinet{files: map[string][]byte{}}}
			s := newShelf(t, Options{Files: files})
			p := s.user(t, "someone", "a")
			u, err := p.files().newUpload("a", UploadRequest{ID: "1", Body: strings.NewReader("")})
			if err != nil {
				t.Fatal(err)
			}
			u.Version = 1
			if err := modelOf(p).uploads.Create(t.Context(), p.store(), u); err != nil {
				t.Fatal(err)
			}
			err = c.meet(files, func() error {
				_, err := p.Upload(t.Context(), "a", UploadRequest{ID: "1",
					Body: strings.NewReader(csvFile("2025-07-01,-9.00,Shop"))})
				return err
			}, func() error {
				_, err := p.EraseAccount(t.Context(), "a", nil)
				return err
			})
			if !errors.Is(err, c.want) || len(files.files) != c.left {
				t.Errorf("got %v, files left: %v", err, slices.Sorted(maps.Keys(files.files)))
			}
			_, err = p.UploadOf(t.Context(), "a", "1")
			if (err == nil) != (c.left > 0) {
				t.Errorf("the upload: %v", err)
			}
		})
	}
}

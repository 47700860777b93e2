package statements

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// changing is a place for files in which a file is another one from some opening of a reader on.
type changing struct {
	memory
	reads  int // The number of readings that still see the file as it was.
	change func([]byte) []byte
}

func (c *changing) Open(ctx context.Context, key string) (File, error) {
	f, err := c.memory.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	return &changingFile{f, c}, nil
}

type changingFile struct {
	File
	c *changing
}

func (f *changingFile) ReadAt(p []byte, from int64) (int, error) {
	if f.c.change == nil {
		return f.File.ReadAt(p, from)
	}
	if f.c.reads > 0 {
		f.c.reads--
		return f.File.ReadAt(p, from)
	}
	whole := make([]byte, f.Size())
	if _, err := f.File.ReadAt(whole, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return bytes.NewReader(f.c.change(whole)).ReadAt(p, from)
}

// TestAFileThatChangesWhileItIsReadIsNotImported changes a file after each number of readings: an
// import is of the file that was uploaded, or refused.
func TestAFileThatChangesWhileItIsReadIsNotImported(t *testing.T) {
	var text strings.Builder
	text.WriteString("Date,Amount,Payee\n")
	const rows = 100 // More than a block.
	long := strings.Repeat(" of the town", 80)
	for i := range rows {
		fmt.Fprintf(&text, "2026-01-%02d,-5.00,Shop %d%s\n", 1+i%28, i, long)
	}
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	other := func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("-5.00"), []byte("-6.00"))
	}
	for name, c := range map[string]struct {
		change func([]byte) []byte
		parse  bool // Its rows are not stored.
		least  int  // How many imports meet the change.
	}{
		"cut, of stored rows":            {cut, false, 1},
		"cut, of the file":               {cut, true, 3},
		"another amount, of stored rows": {other, false, 1},
		"another amount, of the file":    {other, true, 3},
	} {
		change := c.change
		t.Run(name, func(t *testing.T) {
			files, refused := &changing{memory: memory{}}, 0
			s := newShelf(t, Options{Files: files, Now: spring})
			for reads := 0; ; reads += 1 + reads/2 {
				files.change = nil
				p := s.user(t, fmt.Sprint("someone-", reads), "a")
				r, err := p.Upload(t.Context(), "a", UploadRequest{FileName: "bank.csv",
					Body: strings.NewReader(text.String())})
				if err != nil {
					t.Fatal(err)
				}
				if c.parse {
					delete(files.memory, r.Upload.rowsKey())
				}
				files.reads, files.change = reads, change
				u, err := p.Import(t.Context(), "a", r.Upload.ID, ImportOptions{})
				if err == nil {
					if files.reads < 0 || u.Counts.New != rows {
						t.Fatalf("imported %+v", u)
					}
					break
				}
				if !errors.Is(err, ErrFileDamaged) {
					t.Fatalf("after %d readings: %v", reads, err)
				}
				refused++
				files.change = nil
				for _, row := range listed(t, p) {
					if row.Amount.String() != "-5" {
						t.Fatalf("after %d readings a row has %s", reads, row.Amount)
					}
				}
				u, err = p.Import(t.Context(), "a", r.Upload.ID, ImportOptions{})
				if err != nil || u.Counts.New+u.Counts.Known != rows {
					t.Fatalf("after the repair: %+v, %v", u, err)
				}
			}
			if refused < c.least {
				t.Errorf("only %d imports met the change", refused)
			}
		})
	}
}

// listed returns the rows of January 2026.
func listed(t *testing.T, p *Person) []Transaction {
	t.Helper()
	page, err := p.Search(t.Context(), Search{From: "2026-01-01", To: "2026-01-31"}, 10, "")
	if err != nil {
		t.Fatal(err)
	}
	return page.Transactions
}

func TestAVerifiedFileIsReadAtAnyPlace(t *testing.T) {
	want := make([]byte, 3*blockSize+17)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	files := memory{"k": want}
	file, err := files.Open(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(want)
	u := &Upload{ID: "u", Size: int64(len(want)), Hash: hex.EncodeToString(sum[:])}
	v, err := u.verify(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		from, size := random.IntN(len(want)), 1+random.IntN(2*blockSize)
		part := make([]byte, size)
		n, err := v.ReadAt(part, int64(from))
		left := min(size, len(want)-from)
		if n != left || (n < size) != (err == io.EOF) || n == size && err != nil ||
			!bytes.Equal(part[:n], want[from:from+n]) {
			t.Fatalf("ReadAt(%d bytes, %d) = %d, %v", size, from, n, err)
		}
	}
	if n, err := v.ReadAt(make([]byte, 1), v.Size()); n != 0 || err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
	if _, err := v.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read before the beginning")
	}
}

// TestARestoreCountsTheFilesOfTheArchive restores an archive whose uploads have smaller sizes than
// their files.
func TestARestoreCountsTheFilesOfTheArchive(t *testing.T) {
	files := memory{}
	s := newShelf(t, Options{Files: files, Quota: Quota{Files: 10, Bytes: 100}})
	furnish(t, s, files, s.user(t, "someone"), rich())
	good := archiveOf(t, s.user(t, "someone"))
	large := strings.Repeat("x", 101)
	lie := `{"accountId":"a","uploadId":"u","s3ObjectKey":"1/a/u/bank.csv","status":"processed"}` +
		"\n" + `{"accountId":"a","uploadId":"v","s3ObjectKey":"0/a/v/bank.csv"}` + "\n"
	archive := repack(t, good, map[string]*string{archiveUploads: &lie, archiveFiles + "1": &large},
		true)
	if _, err := restore(s.user(t, "reader"), archive); !errors.Is(err, ErrQuota) {
		t.Errorf("got %v", err)
	}
}

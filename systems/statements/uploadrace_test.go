package statements

import (
	"errors"
	"strings"
	"testing"
)

// The first whole file of an id wins: another file that was on its way at the same moment does not
// replace it, and is refused.
func TestAnotherFileUnderOneIDDoesNotReplaceTheFirst(t *testing.T) {
	files := &interrupted{cabinet: &cabinet{files: map[string][]byte{}}}
	s := newShelf(t, Options{Files: files})
	p := s.user(t, "someone", "a")
	upload := func(row string) (Received, error) {
		return p.Upload(t.Context(), "a", UploadRequest{ID: "1",
			Body: strings.NewReader(csvFile(row))})
	}
	const first, second = "2025-07-01,-9.00,Shop", "2025-07-01,-8.00,Shop"
	files.put = func() {
		if r, err := upload(first); err != nil || !r.Made {
			t.Errorf("the first: made %t, %v", r.Made, err)
		}
	}
	if r, err := upload(second); !errors.Is(err, ErrKeyUsed) {
		t.Errorf("another file: made %t, %v", r.Made, err)
	}
	if r, err := upload(first); err != nil || r.Made {
		t.Errorf("a repeat: made %t, %v", r.Made, err)
	}
	u, err := p.UploadOf(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := p.files().intact(t.Context(), &u); err != nil || !whole {
		t.Errorf("the file is the one that was noted: %t, %v", whole, err)
	}
}

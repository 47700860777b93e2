package payload_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
)

// wire is a connection that notes its deadlines.
type wire struct {
	http.ResponseWriter
	deadlines []time.Time
}

// SetReadDeadline is what http.ResponseController looks for.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.deadlines = append(w.deadlines, t)
	return nil
}

// A file may take longer to arrive than other requests may take in all, as long as it goes on.
func TestEachPieceOfAFileHasTimeOfItsOwn(t *testing.T) {
	w := &wire{}
	pieces := iotest.OneByteReader(strings.NewReader("abc"))
	got, err := io.ReadAll(payload.NewFile(pieces, 3, time.Hour, w))
	if err != nil || string(got) != "abc" {
		t.Fatalf("read %q, %v", got, err)
	}
	if len(w.deadlines) < 4 {
		t.Fatalf("deadlines %v", w.deadlines)
	}
	last := len(w.deadlines) - 1
	for i, at := range w.deadlines {
		if i > 0 && i < last && at.Before(w.deadlines[i-1]) {
			t.Errorf("deadline %d is before the one before", i)
		}
		// Once there is nothing more to read, the work on it is not bound by the time to read.
		if at.IsZero() != (i == last) {
			t.Errorf("deadline %d of %d is %v", i, last, at)
		}
	}
}

func TestAFileOverTheLimitIsRefusedWhereItGoesOver(t *testing.T) {
	for _, c := range []struct {
		name  string
		body  io.Reader
		limit int64
		want  error
	}{
		{"one that just fits", strings.NewReader("abc"), 3, nil},
		{"one byte more", strings.NewReader("abcd"), 3, problem.ErrBodyTooLarge},
		{"none at all", strings.NewReader(""), 3, nil},
		{"one that breaks off", iotest.ErrReader(errors.New("gone")), 3, payload.ErrTooSlow},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := payload.NewFile(c.body, c.limit, time.Hour, &wire{})
			if _, err := io.ReadAll(body); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

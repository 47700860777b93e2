package payload

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// File reads a body up to a limit. A caller may take long over a large file, as long as something
// arrives again and again.
type File struct {
	from        io.Reader
	left, limit int64
	patience    time.Duration
	connection  *http.ResponseController
	wrong       error // What ended it, unless it is the end of the body.
}

// NewFile returns the body of a file of at most limit bytes, of which each piece may take as long
// as patience. The writer is that of the answer: it knows the connection.
func NewFile(
	from io.Reader, limit int64, patience time.Duration, w http.ResponseWriter,
) *File {
	return &File{
		from: from, left: limit, limit: limit, patience: patience,
		connection: http.NewResponseController(w),
	}
}

// Read reads on. It fails with problem.ErrBodyTooLarge and ErrTooSlow.
func (b *File) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.wrong
	}
	// One byte more than the limit shows that a file is too large. Where
	// there is no connection, as in one process, there is no deadline to set.
	_ = b.connection.SetReadDeadline(time.Now().Add(b.patience))
	n, err := b.from.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		b.wrong = problem.ErrBodyTooLarge.With("limit", b.limit)
		return 0, b.wrong
	}
	if err != nil {
		// What is left to do is not bound by the time to read.
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.wrong = ErrTooSlow.Wrap(err)
		return n, b.wrong
	}
	return n, err
}

// Because returns what ended the reading of the body, which is the cause of whatever came of it.
func (b *File) Because(err error) error {
	if err != nil && b.wrong != nil {
		return b.wrong
	}
	return err
}

package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// rowBytesMax is the greatest size of one row, quoted newlines included. A posting with the longest
// description and the most metadata has some 6 kB; a row that is ten times as long is no row, but
// the rest of the file behind a quote that nobody closed.
const rowBytesMax = 64 << 10

// byteOrderMarks begin files that are no UTF-8, as spreadsheets save them on request.
var (
	utf8Mark     = []byte("\xef\xbb\xbf")
	utf16LEMark  = []byte("\xff\xfe")
	utf16BEMark  = []byte("\xfe\xff")
	errLongRow   = errors.New("is longer than a row can be")
	errNotUTF8   = errors.New("is not UTF-8")
	errZeroBytes = errors.New("has a zero byte, so the file is not text")
)

// FileError says that a file as a whole cannot be read as payments. Nothing of it is posted.
type FileError struct {
	// Line is where reading stopped, from 1; 0 when it is about no line.
	Line int
	// Wrong says what is wrong, as a sentence without its full stop.
	Wrong string
	// Try says what to do about it, in the same form.
	Try string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.Wrong
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Wrong)
}

// lineReader gives the lines of a text without what ends them, and counts them.
type lineReader struct {
	in   *bufio.Reader
	line int // the number of the line last read, from 1
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, rowBytesMax)}
}

// checkMark skips the mark of UTF-8 and refuses those of UTF-16.
func (l *lineReader) checkMark() error {
	head, err := l.in.Peek(len(utf8Mark))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(head, utf8Mark):
		_, err = l.in.Discard(len(utf8Mark))
		return err
	case bytes.HasPrefix(head, utf16LEMark), bytes.HasPrefix(head, utf16BEMark):
		return &FileError{Wrong: "The file is UTF-16", Try: "Save it as UTF-8"}
	}
	return nil
}

// next returns the next line. It is valid until the call after. A line that is too long, or no
// text, is an error of that line alone, after which reading goes on with the next line.
func (l *lineReader) next() ([]byte, error) {
	text, err := l.in.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.in.ReadSlice('\n')
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case err != nil && len(text) == 0:
		return nil, io.EOF
	}
	l.line++
	switch {
	case long:
		return nil, errLongRow
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errZeroBytes
	case !utf8.Valid(text):
		return nil, errNotUTF8
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	return bytes.TrimRight(text, "\r"), nil
}

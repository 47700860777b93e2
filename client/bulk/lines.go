package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// rowBytesMax is the maximum size of one row, including quoted newlines. A posting with the longest
// description and the most metadata has some 6 kB. A row of ten times that size is the rest of the
// file after a quote that was not closed.
const rowBytesMax = 64 << 10

// Byte order marks. Those of UTF-16 begin files that spreadsheets save in that encoding.
var (
	utf8Mark     = []byte("\xef\xbb\xbf")
	utf16LEMark  = []byte("\xff\xfe")
	utf16BEMark  = []byte("\xfe\xff")
	errLongRow   = errors.New("is longer than a row can be")
	errNotUTF8   = errors.New("is not UTF-8")
	errZeroBytes = errors.New("has a zero byte, so the file is not text")
)

// FileError reports a file that cannot be parsed as a whole. Nothing of it is posted.
type FileError struct {
	// Line is the line at which parsing stopped, from 1; 0 if the error concerns no line.
	Line int
	// Wrong is the error, as a sentence without its full stop.
	Wrong string
	// Try is the next step, in the same form.
	Try string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.Wrong
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Wrong)
}

// lineReader returns the lines of a text without their ends, and counts them.
type lineReader struct {
	in   *bufio.Reader
	line int // number of the last line, from 1
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, rowBytesMax)}
}

// checkMark skips the byte order mark of UTF-8 and refuses those of UTF-16.
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

// next returns the next line, which is valid until the following call. A line that is too long or
// not text is an error of that line only; the next call continues after it.
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

package scan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines reads a text line by line. Lines end with LF, CR, CR LF or CR CR LF.
type Lines struct {
	r    *bufio.Reader
	Line int  // Number of the line that Next returned, from 1.
	Cut  bool // That line was longer than LineMax, and only its beginning was returned.
	buf  []byte
}

// NewLines returns a reader of the lines of a text.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 32<<10)}
}

// Next returns the next line without its end; the bytes are good until the next call. At the end
// it returns io.EOF.
func (l *Lines) Next() ([]byte, error) {
	l.buf, l.Cut = l.buf[:0], false
	for {
		piece, err := l.r.Peek(max(1, l.r.Buffered()))
		if len(piece) == 0 {
			if errors.Is(err, io.EOF) && len(l.buf) > 0 {
				l.Line++
				return l.buf, nil
			}
			return nil, err
		}
		end := lineEnd(piece)
		take := piece
		if end >= 0 {
			take = piece[:end]
		}
		if room := LineMax - len(l.buf); len(take) > room {
			l.Cut = true
			l.buf = append(l.buf, take[:room]...)
		} else {
			l.buf = append(l.buf, take...)
		}
		if end < 0 {
			l.discard(len(piece))
			continue
		}
		cr := piece[end] == '\r'
		l.discard(end + 1)
		if cr {
			l.afterCR()
		}
		l.Line++
		return l.buf, nil
	}
}

// lineEnd returns the index of the first LF or CR, or -1.
func lineEnd(piece []byte) int {
	lf := bytes.IndexByte(piece, '\n')
	if lf >= 0 {
		piece = piece[:lf]
	}
	if cr := bytes.IndexByte(piece, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (l *Lines) discard(n int) { _, _ = l.r.Discard(n) } // Never fails for peeked bytes.

// afterCR skips the rest of a line end that began with CR.
func (l *Lines) afterCR() {
	next, _ := l.r.Peek(2)
	switch {
	case len(next) > 0 && next[0] == '\n':
		l.discard(1)
	case len(next) > 1 && next[0] == '\r' && next[1] == '\n':
		l.discard(2)
	}
}

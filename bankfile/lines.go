package bankfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Limits of what one file may make us hold. Real statements stay far below; beyond them a file is
// damaged, or made to do harm.
const (
	// LineMax is the greatest length of a line in bytes. Longer lines are refused.
	LineMax = 64 << 10
	// FieldMax is the greatest length of one value in bytes.
	FieldMax = 64 << 10
	// NameMax is the greatest length in bytes of what is held of a statement for the whole file,
	// such as its account.
	NameMax = 256
	// RecordMax is the greatest length in bytes of one entry with all that belongs to it.
	RecordMax = 256 << 10
	// RawMax is how much of an entry's own text is kept for showing it again.
	RawMax = 8 << 10
	// DepthMax is how deep elements may be nested. camt files have a depth of about 15.
	DepthMax = 64
	// DetailsMax is the greatest number of details or splits of one entry that are read one by
	// one. An entry with more is booked whole.
	DetailsMax = 20_000
	// StatementsMax is the greatest number of statements in one file, whose balances are held.
	StatementsMax = 50_000
	// RefusedMax is after how many refused rows a file is given up: it is not what it seems.
	RefusedMax = 10_000
	// IDsMax is the greatest number of bank ids that are compared within a file, 16 bytes each at
	// most. In a file with more, no id is trusted.
	IDsMax = 4 << 20
)

// lines reads a text line by line. Lines end with LF, CR, CR LF or CR CR LF.
type lines struct {
	r    *bufio.Reader
	line int  // Number of the line that next returned, from 1.
	cut  bool // That line was longer than LineMax, and only its beginning was returned.
	buf  []byte
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 32<<10)}
}

// next returns the next line without its end; the bytes are good until the next call. At the end
// it returns io.EOF.
func (l *lines) next() ([]byte, error) {
	l.buf, l.cut = l.buf[:0], false
	for {
		piece, err := l.r.Peek(max(1, l.r.Buffered()))
		if len(piece) == 0 {
			if errors.Is(err, io.EOF) && len(l.buf) > 0 {
				l.line++
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
			l.cut = true
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
		l.line++
		return l.buf, nil
	}
}

// lineEnd finds the first LF or CR.
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

func (l *lines) discard(n int) { _, _ = l.r.Discard(n) } // What was peeked can be discarded.

// afterCR passes over the rest of a line end that began with CR.
func (l *lines) afterCR() {
	next, _ := l.r.Peek(2)
	switch {
	case len(next) > 0 && next[0] == '\n':
		l.discard(1)
	case len(next) > 1 && next[0] == '\r' && next[1] == '\n':
		l.discard(2)
	}
}

package parsed

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// Header is what was decided for a whole file.
type Header struct {
	// Key identifies the file and the program that read it.
	Key string
	// Given is the mapping with which the file was opened, in a form of the caller, and Older
	// identifies the older mappings of which rows have contents.
	Given          string
	Older          []string
	Format         bankfile.Format
	Encoding       bankfile.Encoding
	EncodingSure   bool
	EncodingSample string
	Statements     []bankfile.Statement
	Doubts         []string
	Mapping        bankfile.Mapping
}

// HeaderOf returns the header of an opened file, without a key.
func HeaderOf(f *bankfile.File) Header {
	return Header{Format: f.Format, Encoding: f.Encoding, EncodingSure: f.EncodingSure,
		EncodingSample: f.EncodingSample, Statements: f.Statements, Doubts: f.Doubts,
		Mapping: f.Mapping()}
}

// ErrOutdated means that rows were stored under a different key, or by a different program.
var ErrOutdated = errors.New("the stored rows are of a different reading")

// magic begins a stored file. Its number is the version of the format.
const magic = "exchequer rows 1\n"

const (
	bufferSize = 32 << 10
	// headerMax bounds the header in bytes. A file has at most bankfile.StatementsMax statements.
	headerMax = 256 << 20
	// rowMax bounds the stored form of one row in bytes. The texts of a row are bounded by
	// bankfile.
	rowMax = 64 << 20
)

// Writer stores a file. The caller writes the rows in the order of the file, then the totals.
type Writer struct {
	out  io.Writer
	pack *flate.Writer
	row  []byte
	size []byte
	err  error
}

// NewWriter begins to store a file.
func NewWriter(w io.Writer, h Header) *Writer {
	buf := bufio.NewWriterSize(w, bufferSize)
	pack, err := flate.NewWriter(buf, flate.BestSpeed)
	p := &Writer{out: buf, pack: pack, err: err}
	if p.err == nil {
		_, p.err = io.WriteString(buf, magic)
	}
	p.json(h)
	return p
}

// Write stores a row.
func (w *Writer) Write(r *Row) error {
	w.row = appendRow(w.row[:0], r)
	w.block(w.row)
	return w.err
}

// Close writes the totals of the statements, and everything that is still buffered. It does not
// close the underlying writer.
func (w *Writer) Close(totals []bankfile.Total) error {
	w.block(nil)
	w.json(totals)
	if w.err == nil {
		w.err = w.pack.Close()
	}
	if w.err == nil {
		w.err = w.out.(*bufio.Writer).Flush()
	}
	return w.err
}

func (w *Writer) json(v any) {
	text, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.block(text)
}

// block writes bytes behind their length. The block after the last row is empty.
func (w *Writer) block(b []byte) {
	w.size = binary.AppendUvarint(w.size[:0], uint64(len(b)))
	for _, part := range [...][]byte{w.size, b} {
		if w.err == nil {
			_, w.err = w.pack.Write(part)
		}
	}
}

// File is a stored file. It can be read any number of times.
type File struct {
	Header Header
	src    io.ReaderAt
	size   int64
}

// Open opens a stored file that has a key. The error is ErrOutdated if it has a different one.
func Open(r io.ReaderAt, size int64, key string) (*File, error) {
	f := &File{src: r, size: size}
	in, err := f.begin()
	if err != nil {
		return nil, err
	}
	if err := in.json(&f.Header, headerMax); err != nil {
		return nil, err
	}
	if f.Header.Key != key {
		return nil, ErrOutdated
	}
	return f, nil
}

// Each passes every row to take until take returns false, and returns the totals of the statements
// if all rows were taken. The texts of a row are its own and may be kept.
func (f *File) Each(take func(*Row) bool) ([]bankfile.Total, error) {
	in, err := f.begin()
	if err != nil {
		return nil, err
	}
	if _, err := in.block(headerMax); err != nil {
		return nil, err
	}
	for {
		b, err := in.block(rowMax)
		if err != nil {
			return nil, err
		}
		if len(b) == 0 {
			break
		}
		d := decoder{text: string(b)}
		row := d.row()
		if d.err != nil {
			return nil, d.err
		}
		if !take(&row) {
			return nil, nil
		}
	}
	var totals []bankfile.Total
	if err := in.json(&totals, headerMax); err != nil {
		return nil, err
	}
	if _, err := in.in.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errDamaged
	}
	return totals, nil
}

// begin returns the blocks of a stored file.
func (f *File) begin() (*blocks, error) {
	raw := bufio.NewReaderSize(io.NewSectionReader(f.src, 0, f.size), bufferSize)
	start := make([]byte, len(magic))
	switch _, err := io.ReadFull(raw, start); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		err == nil && string(start) != magic:
		return nil, ErrOutdated
	case err != nil:
		return nil, err
	}
	return &blocks{in: bufio.NewReaderSize(flate.NewReader(raw), bufferSize)}, nil
}

// blocks reads the blocks of a stored file.
type blocks struct {
	in  *bufio.Reader
	buf []byte
}

// block returns the next block, which is valid until the one after it is read.
func (b *blocks) block(most uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(b.in)
	if err != nil {
		return nil, damaged(err)
	}
	if n > most {
		return nil, errDamaged
	}
	if uint64(cap(b.buf)) < n {
		b.buf = make([]byte, n)
	}
	b.buf = b.buf[:n]
	if _, err := io.ReadFull(b.in, b.buf); err != nil {
		return nil, damaged(err)
	}
	return b.buf, nil
}

func (b *blocks) json(v any, most uint64) error {
	text, err := b.block(most)
	if err == nil && json.Unmarshal(text, v) != nil {
		err = errDamaged
	}
	return err
}

// damaged returns the error of a stored file that ends too early or cannot be unpacked. Other
// errors are those of the reader.
func damaged(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

package bulk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/internal/tempfile"
)

// File is a file of payments that was read once from end to end, so that nothing is posted from one
// that breaks in the middle.
type File struct {
	in   io.ReadSeekCloser // a file, or a copy of what could be read only once
	form *form
	keep []string
	// keyColumn is the name of the column that has the keys; empty means that it is called key.
	keyColumn string

	// Rows is the number of rows, blank ones not counted.
	Rows int
	// Keyless is the number of rows, of those that can be read, without a key of their own.
	Keyless int
	// Keyed reports whether the file has keys: CSV a column for them, JSON at least one key.
	Keyed bool
	// Unused are columns that mean nothing here and are not kept.
	Unused []string
	// Hash is the SHA-256 of the file's bytes in hexadecimal digits.
	Hash string
}

// Reading is how a file is read. The zero value is a file of transactions.
type Reading struct {
	// Payments is set for a file of payments to schedule.
	Payments bool
	// Keep are the columns that become metadata of the transactions.
	Keep []string
	// KeyColumn is the column that has the keys; empty means the one that is called key.
	KeyColumn string
}

func (r Reading) file() *File {
	f := &File{form: &postings, keep: r.Keep, keyColumn: strings.TrimSpace(r.KeyColumn)}
	if r.Payments {
		f.form = &orders
	}
	return f
}

// Open opens and checks a file. A file that can be read only once, such as a pipe, is copied to a
// temporary one first. The error is a *FileError if the contents are wrong.
func (r Reading) Open(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return open(in, r.file())
}

// OpenReader is Open for what comes from a reader, such as standard input.
func (r Reading) OpenReader(in io.Reader) (*File, error) { return openReader(in, r.file()) }

// Open opens and checks a file. Columns named in keep become metadata of the transactions. A file
// that can be read only once, such as a pipe, is copied to a temporary one first. The error is a
// *FileError where the contents are wrong.
func Open(path string, keep ...string) (*File, error) { return Reading{Keep: keep}.Open(path) }

// OpenPayments is Open for a file of payments to schedule.
func OpenPayments(path string) (*File, error) { return Reading{Payments: true}.Open(path) }

// OpenReader is Open for what comes from a reader, such as standard input.
func OpenReader(r io.Reader, keep ...string) (*File, error) {
	return Reading{Keep: keep}.OpenReader(r)
}

// OpenPaymentsReader is OpenPayments for what comes from a reader.
func OpenPaymentsReader(r io.Reader) (*File, error) { return Reading{Payments: true}.OpenReader(r) }

func openReader(r io.Reader, f *File) (*File, error) {
	in, err := spool(r)
	if err != nil {
		return nil, err
	}
	f.in = in
	if err := check(f); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return f, nil
}

func open(in *os.File, f *File) (*File, error) {
	info, err := in.Stat()
	if err == nil && info.IsDir() {
		err = &FileError{Wrong: "A directory is no file of payments", Try: "Name a file"}
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if !info.Mode().IsRegular() {
		f, err := openReader(in, f)
		return f, errors.Join(err, in.Close())
	}
	f.in = in
	if err := check(f); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return f, nil
}

const (
	// spoolPattern is the pattern of the names of temporary files.
	spoolPattern = "exchequer-import-*"
	// spoolAge is when a temporary file of an earlier version was left by a kill: later than any
	// import takes.
	spoolAge = 24 * time.Hour
)

// spool copies what can be read only once into a temporary file.
func spool(r io.Reader) (*tempfile.File, error) {
	tempfile.Clean("", spoolPattern, spoolAge)
	out, err := tempfile.Create("", spoolPattern)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(out, r); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// Close closes the file.
func (f *File) Close() error { return f.in.Close() }

// check reads the file from end to end.
func check(f *File) error {
	unused := make(map[string]bool)
	sum := sha256.New()
	for row, err := range f.read(sum, unused) {
		if err != nil {
			return err
		}
		f.Rows++
		f.Keyed = f.Keyed || row.key != ""
		if row.keyless() {
			f.Keyless++
		}
	}
	f.Hash = hex.EncodeToString(sum.Sum(nil))
	f.Unused = slices.Sorted(maps.Keys(unused))
	return nil
}

// Read returns the rows in order. A row without a key of its own has one that follows from its
// content and its occurrence, so that the file can be read again after a program saved it in
// another format.
func (f *File) Read() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var equal occurrences
		for row, err := range f.read(io.Discard, make(map[string]bool)) {
			if err == nil && row.keyless() {
				row = row.withKey(equal.key(row))
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// source gives the fields of one row after the other; see csvReader.next for errors.
type source func() (*fields, int, error)

// read reads the file from its beginning. All bytes go through sum as well.
func (f *File) read(sum io.Writer, unused map[string]bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		next, err := f.source(io.TeeReader(f.in, sum), unused)
		if err != nil {
			yield(Row{}, err)
			return
		}
		for {
			var fatal *FileError
			fields, line, err := next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &fatal), errors.As(err, new(*os.PathError)):
				yield(Row{}, err)
				return
			case err != nil:
				if !yield((Row{Line: line}).malformed(err), nil) {
					return
				}
			case !yield(f.form.row(fields), nil):
				return
			}
		}
	}
}

// source finds out what kind of file it is.
func (f *File) source(r io.Reader, unused map[string]bool) (source, error) {
	if _, err := f.in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	lines := newLineReader(r)
	if err := lines.checkMark(); err != nil {
		return nil, err
	}
	head, err := lines.in.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return nil, emptyFile()
	case err != nil:
		return nil, err
	}
	switch head[0] {
	case '[':
		return nil, &FileError{
			Wrong: "The file is an array of JSON", Try: "Write one object a line",
		}
	case '{':
		keep := make(map[string]bool, len(f.keep))
		for _, name := range f.keep {
			keep[name] = true
		}
		r := &jsonReader{file: f, form: f.form, lines: lines, keep: keep, unused: unused}
		return r.next, nil
	}
	return f.csvSource(lines, unused)
}

func (f *File) csvSource(lines *lineReader, unused map[string]bool) (source, error) {
	records := &csvReader{lines: lines, separator: separators[0]}
	first, err := lines.next()
	for err == nil && len(first) == 0 {
		first, err = lines.next()
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, emptyFile()
	case err != nil:
		return nil, f.headerError(lines.line, err)
	case bytes.ContainsRune(first, '\r'):
		return nil, &FileError{
			Line: lines.line, Wrong: "Lines end in carriage returns alone",
			Try: "Save the file with newlines",
		}
	}
	line := lines.line
	records.separator = separatorOf(string(first))
	if err := records.split(first, line); err != nil {
		return nil, f.headerError(line, err)
	}
	h, err := parseHeader(f, records.fields, line)
	if err != nil {
		return nil, err
	}
	f.Keyed = f.Keyed || slices.ContainsFunc(h.names, func(name string) bool {
		return f.named(name) == colKey
	})
	for _, name := range h.unused {
		unused[name] = true
	}
	return func() (*fields, int, error) {
		for {
			record, line, err := records.next()
			if err != nil {
				return nil, line, err
			}
			if !blank(record) {
				fields, err := h.fields(record, line)
				return fields, line, err
			}
		}
	}, nil
}

func emptyFile() error {
	return &FileError{Wrong: "The file is empty", Try: "Begin it with a line of column names"}
}

func (f *File) headerError(line int, err error) error {
	var fatal *FileError
	if errors.As(err, &fatal) {
		return err
	}
	return &FileError{
		Line: line, Wrong: "The header " + err.Error(),
		Try: headerHint(f.form),
	}
}

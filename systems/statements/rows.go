package statements

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// A file is parsed when it is uploaded, and its rows are stored next to it until they are imported.
// The preview and the import read those rows. They parse the file again if the stored rows are
// outdated, damaged or missing, so losing them costs time only.

// errStoredRows means that the stored rows of a file could not be read to their end. The file must
// be parsed.
var errStoredRows = errors.New("the stored rows of the file cannot be read")

// reading is how open reads the file of an upload.
type reading struct {
	parse bool // Parse the file even if its rows are stored.
	store bool // Store the rows of a file that is parsed.
}

// fileKey identifies the file of an upload, without its mapping. It contains the build of the
// program, because another one may read rows differently.
func fileKey(a *Account, u *Upload) string {
	return digestOf(buildOf(), u.Hash, string(a.Currency))
}

func digestOf(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d %s\n", len(part), part) // It never fails.
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// buildOf identifies the build of the program.
var buildOf = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	build := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			build += " " + s.Value
		}
	}
	return build
})

// givenMapping identifies the mapping that a file is opened with.
func givenMapping(a *Account, u *Upload) string {
	if u.MappingText != "" {
		return "upload " + u.MappingText
	}
	return "account " + a.MappingText
}

// open opens the file of an upload. Open questions are no error. The error is ErrUnreadable where
// the file is none that can be read, ErrFileMissing where there is none, ErrFileDamaged where it is
// not the one that was uploaded, or ErrNoFiles.
//
// Stored rows and questions are used if they are those of the file and of the mapping. Otherwise
// the file is parsed, and the upload gets what identifies its rows or its questions; the caller
// saves it.
func (p uploader) open(ctx context.Context, a Account, u *Upload, r reading) (*source, error) {
	file, err := p.stored(ctx, u)
	if err != nil {
		return nil, err
	}
	s := &source{file: file}
	if err = p.read(ctx, s, &a, u, r); err == nil && s.found != nil {
		err = p.choose(ctx, s, a, *u)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// read finds out what the file of a source is, from what is stored or by parsing it.
func (p uploader) read(ctx context.Context, s *source, a *Account, u *Upload, r reading) error {
	if !r.parse {
		if s.useQuestions(a, u) {
			return nil
		}
		if ok, err := p.useRows(ctx, s, a, u); ok || err != nil {
			return err
		}
	}
	u.RowsHash, u.RowsSize, u.Asked = "", 0, ""
	bank, err := s.parse(a, u)
	if err != nil {
		return err
	}
	if bank == nil {
		return s.keepQuestions(a, u)
	}
	header := parsed.HeaderOf(bank)
	header.Key, header.Given = fileKey(a, u), givenMapping(a, u)
	mappings, err := p.olderMappings(ctx, u, &header)
	if err != nil {
		return err
	}
	older, err := s.openOlder(a, &header, mappings)
	if err != nil {
		return err
	}
	header.Older = readingsOf(mappings)
	s.found, s.mapping = &header, header.Mapping
	s.rows = func(take func(*parsed.Row) bool) ([]bankfile.Total, error) {
		return eachRow(bank, older, take)
	}
	if r.store {
		return p.storeRows(ctx, s, a, u)
	}
	return nil
}

// eachRow passes the rows of a file to take, with their contents by older mappings.
func eachRow(
	bank *bankfile.File, files []*bankfile.File, take func(*parsed.Row) bool,
) ([]bankfile.Total, error) {
	older := follow(files)
	defer older.stop()
	return bank.Each(func(row bankfile.Row) bool {
		r := &parsed.Row{Row: row}
		if row.Outcome == bankfile.Read {
			r.Older = older.at(row.Line)
		}
		return take(r)
	})
}

// keptQuestions are the questions about a file, as its upload stores them.
type keptQuestions struct {
	Key       string              `json:"key"`
	Mapping   bankfile.Mapping    `json:"mapping"`
	Questions []bankfile.Question `json:"questions"`
}

// questionsMax bounds the stored questions of an upload in bytes, because an item has at most 400
// KB. More are found out again by parsing the file.
const questionsMax = 64 << 10

func (s *source) keepQuestions(a *Account, u *Upload) error {
	text, err := json.Marshal(keptQuestions{
		Key: digestOf(
			fileKey(a, u),
			givenMapping(a, u),
		), Mapping: s.mapping, Questions: s.questions,
	})
	if err != nil {
		return fmt.Errorf("questions of upload %s: %w", u.ID, err)
	}
	if len(text) <= questionsMax {
		u.Asked = string(text)
	}
	return nil
}

// useQuestions takes the questions that an upload stores, if they are still those of its file and
// its mapping, and reports whether it did.
func (s *source) useQuestions(a *Account, u *Upload) bool {
	var kept keptQuestions
	if u.Asked == "" || json.Unmarshal([]byte(u.Asked), &kept) != nil ||
		kept.Key != digestOf(fileKey(a, u), givenMapping(a, u)) {
		return false
	}
	s.mapping, s.questions = kept.Mapping, kept.Questions
	return true
}

// useRows makes the stored rows of an upload those of a source, if they are the rows of its file by
// its mapping, and reports whether it did.
func (p uploader) useRows(ctx context.Context, s *source, a *Account, u *Upload) (bool, error) {
	if u.RowsHash == "" {
		return false, nil
	}
	file, err := p.openRows(ctx, u)
	if err != nil {
		// The rows can be parsed again, so only an end of the request is an error.
		return false, ctx.Err()
	}
	rows, err := parsed.Open(file, file.Size(), fileKey(a, u))
	if err != nil {
		_ = file.Close() // It was only read.
		return false, ctx.Err()
	}
	h := &rows.Header
	text, err := json.Marshal(h.Mapping)
	current := err == nil && (string(text) == u.MappingText || h.Given == givenMapping(a, u))
	if current {
		mappings, err := p.olderMappings(ctx, u, h)
		if err != nil {
			_ = file.Close() // It was only read.
			return false, err
		}
		current = slices.Equal(readingsOf(mappings), h.Older)
	}
	if !current {
		_ = file.Close() // It was only read.
		return false, nil
	}
	s.found, s.mapping, s.stored, s.rows = h, h.Mapping, file, rows.Each
	return true, nil
}

// openRows opens the stored rows of an upload, and compares them with their hash.
func (p uploader) openRows(ctx context.Context, u *Upload) (File, error) {
	file, err := p.books.opts.Files.Open(ctx, u.rowsKey())
	if err != nil {
		return nil, err
	}
	// They are verified as the file itself is, so that damage is found before a row is used.
	of := &Upload{ID: u.ID, Size: u.RowsSize, Hash: u.RowsHash}
	verified, err := of.verify(ctx, file)
	if err != nil {
		_ = file.Close() // It was only read.
		return nil, err
	}
	return verified, nil
}

// errManyRows ends the storing of a file with too many rows, which survey refuses.
var errManyRows = errors.New("too many rows")

// storeRows parses the rows of a source, stores them, and makes the stored ones those of the
// source. A place for files that refuses them, because it is full for example, is not an error: the
// source then parses its file each time.
func (p uploader) storeRows(ctx context.Context, s *source, a *Account, u *Upload) error {
	r, w := io.Pipe()
	put, sum, size := make(chan error, 1), sha256.New(), &counted{}
	go func() {
		err := p.books.opts.Files.Put(ctx, u.rowsKey(), r)
		// A Put that gave up must not leave the writer waiting.
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		put <- err
	}()
	out := parsed.NewWriter(io.MultiWriter(w, sum, size), *s.found)
	rows := 0
	totals, err := s.Each(ctx, func(_ int, row *parsed.Row) error {
		if row.Outcome != bankfile.Warned {
			rows++
		}
		if rows > RowsMax {
			return errManyRows
		}
		return out.Write(row)
	})
	if err == nil {
		err = out.Close(totals)
	}
	_ = w.CloseWithError(err) // CloseWithError(nil) is a plain end.
	if err = errors.Join(err, <-put); err != nil {
		return ctx.Err()
	}
	next := *u
	next.RowsHash, next.RowsSize = hex.EncodeToString(sum.Sum(nil)), size.n
	if ok, err := p.useRows(ctx, s, a, &next); err != nil || !ok {
		return err
	}
	u.RowsHash, u.RowsSize = next.RowsHash, next.RowsSize
	return nil
}

// counted counts the bytes that are written to it.
type counted struct{ n int64 }

func (c *counted) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// dropRows deletes the stored rows of an upload that is imported. Rows that cannot be deleted now
// are deleted with the file.
func (p uploader) dropRows(ctx context.Context, u *Upload) {
	_ = p.books.opts.Files.Delete(ctx, u.rowsKey())
}

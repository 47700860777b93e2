package statements

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	digest "hash"
	"io"
	"slices"

	"github.com/exchequer-dev/exchequer/systems/statements/match"
)

// OutcomePage is a page of the outcomes of the rows of a file.
type OutcomePage struct {
	Outcomes []match.Decision
	// Next is the From of the next page; 0 at the end.
	Next int
}

// outcomes writes the outcomes of rows to the object store while they are decided. Nothing is kept
// of an import that fails. A nil outcomes keeps nothing.
type outcomes struct {
	pipe *io.PipeWriter
	buf  *bufio.Writer
	put  chan error
	sum  digest.Hash // Of the lines so far.
	n    int
	err  error
}

// keepOutcomes begins to keep the outcomes of the rows of an upload.
func (p uploader) keepOutcomes(ctx context.Context, u *Upload) *outcomes {
	r, w := io.Pipe()
	o := &outcomes{pipe: w, put: make(chan error, 1), sum: sha256.New()}
	o.buf = bufio.NewWriter(io.MultiWriter(w, o.sum))
	key := u.outcomesKey()
	go func() {
		err := p.books.opts.Files.Put(ctx, key, r)
		// A Put that gave up must not leave the writer waiting.
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		o.put <- err
	}()
	o.err = writeLine(o.buf, outcomesStart{outcomesVersion})
	return o
}

// add keeps one decision, unless it is simply a new row or there are too many.
func (o *outcomes) add(d *match.Decision) {
	if o == nil || o.err != nil || o.n >= OutcomesMax ||
		d.Verdict == match.New && len(d.Warnings) == 0 && d.Why == "" {
		return
	}
	line, err := json.Marshal(d)
	if err == nil {
		_, err = o.buf.Write(append(line, '\n'))
	}
	o.n++
	o.err = err
}

// close ends the list. Where the rows could not all be decided, nothing is kept.
func (o *outcomes) close(failed error) error {
	if o == nil {
		return nil
	}
	if failed == nil && o.err == nil {
		o.err = o.end()
	}
	// CloseWithError(nil) is a plain end.
	_ = o.pipe.CloseWithError(errors.Join(failed, o.err))
	err := <-o.put
	if failed != nil {
		return nil
	}
	if err = errors.Join(err, o.err); err != nil {
		return fmt.Errorf("keep what became of the rows: %w", err)
	}
	return nil
}

// The first and the last line of a file of outcomes, by which it is known to be whole. Files of
// earlier versions have neither.
type (
	outcomesStart struct {
		Version int `json:"outcomesVersion"`
	}
	outcomesEnd struct {
		Rows int    `json:"endAfterRows"`
		Sum  string `json:"sha256"` // Of all lines before it, in hex.
	}
)

const (
	outcomesVersion = 2
	// What the first and the last line begin with, and no line of a row does.
	outcomesStartText = `{"outcomesVersion":`
	outcomesEndText   = `{"endAfterRows":`
)

// writeLine writes one line of JSON.
func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// end writes the last line.
func (o *outcomes) end() error {
	if err := o.buf.Flush(); err != nil {
		return err
	}
	return writeLine(o.pipe, outcomesEnd{o.n, hex.EncodeToString(o.sum.Sum(nil))})
}

// verifyOutcomes returns the part of a file of outcomes that has the lines of rows, after a look at
// whether all are there as they were written.
func (u *Upload) verifyOutcomes(file File) (*io.SectionReader, error) {
	damaged := func(why string) error {
		return ErrFileDamaged.With("upload", u.ID).
			With("reason", "the list of its rows "+why+"; preview it again")
	}
	sum := sha256.New()
	read := bufio.NewReader(io.NewSectionReader(file, 0, file.Size()))
	var from, to int64
	for rows := 0; ; rows++ {
		line, err := read.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read what became of the rows: %w", err)
		}
		switch {
		case to == 0 && bytes.HasPrefix(line, []byte(outcomesStartText)):
			from, rows = int64(len(line)), -1
		case bytes.HasPrefix(line, []byte(outcomesEndText)):
			var end outcomesEnd
			if json.Unmarshal(line, &end) != nil || end.Rows != rows ||
				end.Sum != hex.EncodeToString(sum.Sum(nil)) {
				return nil, damaged("is not as it was written")
			}
			return io.NewSectionReader(file, from, to-from), nil
		case err != nil && (from > 0 || len(line) > 0 || to == 0 && u.Counts.listed() > 0):
			return nil, damaged("ends too early")
		case err != nil: // A file of an earlier version.
			return io.NewSectionReader(file, 0, to), nil
		}
		sum.Write(line)
		to += int64(len(line))
	}
}

// listed is how many rows there are at least in the file of outcomes.
func (c Counts) listed() int { return c.Rows() - c.New }

// Outcomes returns what the last preview or import of an upload found of its rows, but for those
// that are simply new: all, or those with some verdicts, in the order of the file and the first
// OutcomesMax at most. From counts from 0, size is 1 to PageMax. The error is ErrInvalid,
// ErrNoUpload, ErrFileMissing or ErrNoFiles.
func (p *Person) Outcomes(
	ctx context.Context, account, id string, only []match.Verdict, from, size int,
) (OutcomePage, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return OutcomePage{}, err
	}
	if size < 1 || size > PageMax || from < 0 {
		return OutcomePage{}, ErrInvalid.Field("limit", fmt.Sprintf("must be 1 to %d", PageMax))
	}
	if p.books.opts.Files == nil {
		return OutcomePage{}, ErrNoFiles
	}
	if u.FileGone || u.FileKey == "" {
		return OutcomePage{}, ErrFileMissing
	}
	file, err := p.books.opts.Files.Open(ctx, u.outcomesKey())
	if err != nil {
		return OutcomePage{}, fmt.Errorf("open what became of the rows: %w", err)
	}
	defer func() { _ = file.Close() }() // It was only read.
	rows, err := u.verifyOutcomes(file)
	if err != nil {
		return OutcomePage{}, err
	}
	lines := json.NewDecoder(bufio.NewReader(rows))
	var page OutcomePage
	for at := 0; ; {
		var d match.Decision
		if err := lines.Decode(&d); errors.Is(err, io.EOF) {
			return page, nil
		} else if err != nil {
			return OutcomePage{}, fmt.Errorf("read what became of the rows: %w", err)
		}
		if len(only) > 0 && !slices.Contains(only, d.Verdict) {
			continue
		}
		if at++; at <= from {
			continue
		}
		if len(page.Outcomes) == size {
			page.Next = at - 1
			return page, nil
		}
		page.Outcomes = append(page.Outcomes, d)
	}
}

package statements

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// OutcomePage is a page of what became of the rows of a file.
type OutcomePage struct {
	Outcomes []Decision
	// Next is the From of the next page; 0 at the end.
	Next int
}

// outcomes writes what became of rows to the object store while they are decided. Nothing is kept
// of an import that fails. A nil outcomes keeps nothing.
type outcomes struct {
	pipe *io.PipeWriter
	buf  *bufio.Writer
	put  chan error
	n    int
	err  error
}

// keepOutcomes begins to keep what becomes of the rows of an upload.
func (p *Person) keepOutcomes(ctx context.Context, u *Upload) *outcomes {
	r, w := io.Pipe()
	o := &outcomes{pipe: w, buf: bufio.NewWriter(w), put: make(chan error, 1)}
	key := u.outcomesKey()
	go func() {
		err := p.books.opts.Files.Put(ctx, key, r)
		// A Put that gave up must not leave the writer waiting.
		_ = r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		o.put <- err
	}()
	return o
}

// add keeps one decision, unless it is simply a new row or there are too many.
func (o *outcomes) add(d *Decision) {
	if o == nil || o.err != nil || o.n >= OutcomesMax ||
		d.Verdict == RowNew && len(d.Warnings) == 0 && d.Why == "" {
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
		o.err = o.buf.Flush()
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

// Outcomes returns what the last preview or import of an upload found of its rows, but for those
// that are simply new: all, or those with some verdicts, in the order of the file and the first
// OutcomesMax at most. From counts from 0, size is 1 to PageMax. The error is ErrInvalid,
// ErrNoUpload, ErrFileMissing or ErrNoFiles.
func (p *Person) Outcomes(
	ctx context.Context, account, id string, only []Verdict, from, size int,
) (OutcomePage, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return OutcomePage{}, err
	}
	if size < 1 || size > PageMax || from < 0 {
		return OutcomePage{}, ErrInvalid.Field("size", fmt.Sprintf("must be 1 to %d", PageMax))
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
	lines := json.NewDecoder(bufio.NewReader(io.NewSectionReader(file, 0, file.Size())))
	var page OutcomePage
	for at := 0; ; {
		var d Decision
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

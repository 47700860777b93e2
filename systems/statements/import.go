package statements

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/match"
)

// Verdict is the outcome of a row of a file.
type Verdict = match.Verdict

// The verdicts; see package match.
const (
	RowNew     = match.New
	RowKnown   = match.Known
	RowMerged  = match.Merged
	RowDeleted = match.Deleted
	RowSkipped = match.Skipped
	RowRefused = match.Refused
	RowWarned  = match.Warned
)

// Decision is the outcome of one row of a file, and why.
type Decision = match.Decision

// ImportOptions are the choices of an import.
type ImportOptions struct {
	// Digest is that of the preview that was confirmed; empty imports the rows as they are then.
	Digest string
	// Progress is called with how many rows of how many are done, now and then, and at the end.
	Progress func(done, of int)
}

// importable are the states from which an import may begin, or go on. One that is done may be done
// again, to no effect.
var importable = []UploadStatus{Parsed, Previewed, Importing, Processed, Reverted}

// Preview decides for each row what an import would do. Take, which may be nil, is given each
// decision until it returns false. An upload that is not imported keeps the counts and the digest
// of all decisions; one that was undone stays so, as the undo may have left rows to another one.
// The error is ErrUnreadable, ErrNoUpload, ErrFileMissing, ErrChanged, ErrUploadState, ErrUndecided
// or ErrNoFiles.
func (p *Person) Preview(
	ctx context.Context, account, id string, take func(Decision) bool,
) (Upload, error) {
	done := 0
	once := func(r reading) (Upload, error) {
		skip := done // Another attempt decides the same, so take is not given that again.
		return p.files().previewOnce(ctx, account, id, r, func(d Decision) bool {
			if skip > 0 {
				skip--
				return true
			}
			done++
			if take != nil && !take(d) {
				take = nil
			}
			return take != nil
		})
	}
	u, err := once(reading{})
	if errors.Is(err, errStoredRows) {
		u, err = once(reading{parse: true})
	}
	return u, err
}

// previewOnce is a preview of one reading of the file.
func (p uploader) previewOnce(
	ctx context.Context, account, id string, r reading, take func(Decision) bool,
) (_ Upload, err error) {
	u, pl, err := p.planned(ctx, account, id, r)
	if err != nil {
		return Upload{}, err
	}
	defer pl.src.close()
	defer p.disownErased(ctx, u, &err)
	keep := u.Status != Importing && u.Status != Processed
	var out *outcomes
	if keep {
		out = p.keepOutcomes(ctx, &u)
	}
	sum := newTally()
	err = pl.Walk(ctx, func(d *match.Row) error {
		sum.add(d)
		out.add(&d.Decision)
		if take != nil {
			d.Transaction = d.Row
			if !take(d.Decision) {
				take = nil
			}
		}
		return nil
	})
	if err = errors.Join(err, out.close(err)); err != nil {
		return Upload{}, err
	}
	u.Counts, u.Digest = sum.counts, sum.digest()
	if err := p.continuity(ctx, &u); err != nil || !keep {
		return u, err
	}
	version := u.Version
	return p.changeUpload(ctx, account, id, func(now *Upload) error {
		if now.Version != version {
			return ErrChanged.With("what", "Upload "+id)
		}
		*now = u
		if now.Status != Reverted {
			now.Status = Previewed
		}
		return nil
	})
}

// disownErased removes what was kept of the rows of an upload that is gone in the end.
func (p uploader) disownErased(ctx context.Context, u Upload, err *error) {
	if errors.Is(*err, ErrNoUpload) {
		p.disown(ctx, u)
	}
}

// planned returns an upload with the plan of its import, whose source the caller closes. The caller
// saves what the upload gets by the reading.
func (p uploader) planned(
	ctx context.Context, account, id string, r reading,
) (Upload, *plan, error) {
	u, err := p.UploadOf(ctx, account, id)
	if err != nil {
		return Upload{}, nil, err
	}
	if u.Status == Failed {
		return Upload{}, nil, unreadableFile(u.Why)
	}
	if u.Status != Uploaded && !slices.Contains(importable, u.Status) {
		return Upload{}, nil, ErrUploadState.With("status", u.Status).With("deed", "imported")
	}
	a, err := p.Account(ctx, account)
	if err != nil {
		return Upload{}, nil, err
	}
	r.store = !r.parse && u.Status != Processed
	src, err := p.open(ctx, a, &u, r)
	if err != nil {
		return Upload{}, nil, err
	}
	if len(src.questions) > 0 || u.Status == Uploaded {
		src.close()
		return Upload{}, nil, ErrUndecided.With("topics", topicsOf(src.questions))
	}
	pl, err := p.plan(ctx, a, u, src)
	if err != nil {
		src.close()
		return Upload{}, nil, err
	}
	return u, pl, nil
}

func topicsOf(questions []bankfile.Question) string {
	var topics []string
	for _, q := range questions {
		topics = append(topics, string(q.Topic))
	}
	return strings.Join(topics, ", ")
}

// Import takes the rows of an upload in, by the plan that Preview shows. One that was stopped, for
// any reason, can be repeated and ends as if it had not been; two at once end like one.
//
// Where a digest is given and a decision would be another than in the preview, nothing is written
// and the error is ErrPreviewStale. What others change while rows are being written is met row by
// row: a row that another import has just brought is known, and one whose pending row is gone is
// new. The counts are of what happened. Once the upload is undone or erased nothing is written any
// more, and the error is ErrUploadState or ErrNoUpload, or ErrChanged if the upload is being
// imported again by then. Other errors are those of Preview.
func (p *Person) Import(
	ctx context.Context, account, id string, o ImportOptions,
) (Upload, error) {
	var r reading
	for range editsMax {
		u, err := p.files().importOnce(ctx, account, id, r, o)
		switch {
		case errors.Is(err, errStoredRows):
			r.parse = true
		case !errors.Is(err, errUndone):
			return u, err
		}
	}
	return Upload{}, ErrContended.With("items", "upload "+id)
}

// errUndone means that an upload was undone after its import was planned, and before anything was
// written. What the plan knows of the rows is no longer true.
var errUndone = errors.New("the upload was undone after its import was planned")

// importOnce is an import by one plan. The error is errUndone if another plan is needed, and
// errStoredRows if another reading of the file is.
func (p uploader) importOnce(
	ctx context.Context, account, id string, r reading, o ImportOptions,
) (_ Upload, err error) {
	u, pl, err := p.planned(ctx, account, id, r)
	if err != nil {
		return Upload{}, err
	}
	defer pl.src.close()
	defer p.disownErased(ctx, u, &err)
	if o.Digest != "" {
		sum := newTally()
		if err := pl.Walk(ctx, func(d *match.Row) error { sum.add(d); return nil }); err != nil {
			return Upload{}, err
		}
		if sum.digest() != o.Digest {
			return Upload{}, ErrPreviewStale
		}
	}
	u, err = p.changeUpload(ctx, account, id, func(now *Upload) error {
		if !slices.Contains(importable, now.Status) {
			return ErrUploadState.With("status", now.Status).With("deed", "imported")
		}
		if now.Undos != u.Undos {
			return errUndone
		}
		if now.MappingText != u.MappingText || now.Number != u.Number {
			return ErrPreviewStale // It is read in another way by now.
		}
		now.Status = Importing
		now.RowsHash, now.RowsSize, now.Asked = u.RowsHash, u.RowsSize, u.Asked
		return nil
	})
	if err != nil {
		return Upload{}, err
	}
	counts, err := p.carryOut(ctx, pl, &u, o.Progress)
	if err != nil {
		return Upload{}, err
	}
	if err := p.continuity(ctx, &u); err != nil {
		return Upload{}, err
	}
	u, err = p.changeUpload(ctx, account, id, func(now *Upload) error {
		if err := stillPlanned(now, &pl.upload); err != nil {
			return err
		}
		now.Status, now.Counts, now.ImportedAt = Processed, counts, p.now()
		now.Continuity, now.After = u.Continuity, u.After
		now.RowsHash, now.RowsSize = "", 0
		return nil
	})
	if err != nil {
		return Upload{}, err
	}
	p.dropRows(ctx, &u)
	_, err = p.remember(ctx, u)
	return u, err
}

// carryOut carries out the plan, and returns the outcomes of the rows.
func (p uploader) carryOut(
	ctx context.Context, pl *plan, u *Upload, progress func(done, of int),
) (Counts, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := p.keepOutcomes(ctx, u)
	w := newWriter(p.Person, pl, cancel)
	sum := newTally()
	err := pl.Walk(ctx, func(d *match.Row) error {
		sum.add(d)
		out.add(&d.Decision)
		if d.Do != match.Nothing {
			w.add(ctx, d)
		}
		if progress != nil && d.No%progressRows == 0 {
			progress(min(max(0, d.No-w.waiting()), u.Rows), u.Rows)
		}
		return nil
	})
	w.finish(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = cause // The error of a writer, or that the caller has left.
	}
	if err = errors.Join(err, out.close(err)); err != nil {
		return Counts{}, err
	}
	if progress != nil {
		progress(u.Rows, u.Rows)
	}
	return w.counted(sum.counts), nil
}

// progressRows is after how many rows an import reports progress.
const progressRows = 1_000

// tally counts decisions and makes the digest of them.
type tally struct {
	counts Counts
	sum    hash.Hash
}

func newTally() *tally { return &tally{sum: sha256.New()} }

func (t *tally) add(d *match.Row) {
	if n := t.counts.of(d.Verdict); n != nil {
		*n++
		fmt.Fprintf(t.sum, "%d %s %s\n", d.Line, d.Verdict, d.ID) // It never fails.
	}
}

func (t *tally) digest() string {
	return book.IDEncoding.EncodeToString(t.sum.Sum(nil)[:book.IDHashBytes])
}

// of returns the count of a verdict, nil for what is no row.
func (c *Counts) of(v Verdict) *int {
	switch v {
	case RowNew:
		return &c.New
	case RowKnown:
		return &c.Known
	case RowMerged:
		return &c.Merged
	case RowDeleted:
		return &c.Deleted
	case RowSkipped:
		return &c.Skipped
	case RowRefused:
		return &c.Refused
	}
	return nil
}

// plan is the plan of an import with what it was made for.
type plan struct {
	*match.Plan
	account Account
	upload  Upload
	src     *source
	rules   *ruleset
}

// plan makes the plan of an upload: it reads what is known of the months of the file and, if there
// is anything, looks through the file.
func (p uploader) plan(ctx context.Context, a Account, u Upload, src *source) (*plan, error) {
	k, err := p.known(ctx, u)
	if err != nil {
		return nil, err
	}
	rules, err := p.rules().ruleset(ctx)
	if err != nil {
		return nil, err
	}
	decided, err := match.NewPlan(ctx, src, k, match.Options{
		Currency: a.Currency, Apply: func(t *Transaction) { rules.apply(t) }, Corrects: u.Corrects,
		Base: Transaction{UserID: p.id, AccountID: a.ID, Source: FromBank, UploadID: u.ID,
			CreatedAt: p.now()},
	})
	return &plan{decided, a, u, src, rules}, err
}

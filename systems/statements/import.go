package statements

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

// Verdict says what becomes of a row of a file.
type Verdict string

// The verdicts.
const (
	RowNew     Verdict = "new"
	RowKnown   Verdict = "known"
	RowMerged  Verdict = "merged"
	RowDeleted Verdict = "deleted"
	RowSkipped Verdict = "skipped"
	RowRefused Verdict = "refused"
	// RowWarned is no row at all but a remark on something that does not add up.
	RowWarned Verdict = "warned"
)

// Decision is what becomes of one row of a file, and why.
type Decision struct {
	Line    int     `json:"line"`
	Verdict Verdict `json:"verdict"`
	// ID is the transaction that the row becomes, or became.
	ID string `json:"id,omitempty"`
	// Why is a sentence for people; empty where there is nothing to say.
	Why      string         `json:"why,omitempty"`
	Date     Date           `json:"date,omitempty"`
	Amount   *money.Decimal `json:"amount,omitempty"`
	Currency money.Currency `json:"currency,omitempty"`
	Text     string         `json:"text,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	// Raw is the row as the file has it, for those that could not be read.
	Raw string `json:"raw,omitempty"`
	// Transaction is what a new row will be, before rules; only Preview sets it.
	Transaction *Transaction `json:"-"`
}

// ImportOptions are the choices of an import.
type ImportOptions struct {
	// Digest is that of the preview that was confirmed; empty imports whatever there is.
	Digest string
	// Progress is told how many rows of how many are done.
	Progress func(done, of int)
}

// OutcomePage is a page of what became of the rows of a file.
type OutcomePage struct {
	Outcomes []Decision
	// Next is the From of the next page; 0 at the end.
	Next int
}

// Preview decides for each row what an import would do, and keeps the counts and the digest of the
// decisions. Take, which may be nil, is given each decision until it returns false. The error is
// ErrNoUpload, ErrFileMissing, ErrUndecided, ErrUnreadable or ErrUploadState.
func (p *Person) Preview(
	ctx context.Context, account, id string, take func(Decision) bool,
) (Upload, error) {
	return Upload{}, errNotYet
}

// Import takes the rows of an upload in. One that was stopped, by whatever, can be repeated and
// ends as if it had not been. The error is that of Preview, or ErrPreviewStale.
func (p *Person) Import(
	ctx context.Context, account, id string, o ImportOptions,
) (Upload, error) {
	return Upload{}, errNotYet
}

// Outcomes returns what the last preview or import of an upload found of its rows, but for those
// that are simply new: all, or those with some verdicts. From counts from 0, size is 1 to PageMax.
func (p *Person) Outcomes(
	ctx context.Context, account, id string, only []Verdict, from, size int,
) (OutcomePage, error) {
	return OutcomePage{}, errNotYet
}

package statements

import (
	"context"

	"github.com/exchequer-dev/exchequer/money"
)

// EditedRow is a row of an import on which a person has worked since.
type EditedRow struct {
	ID       string         `json:"id"`
	Date     Date           `json:"date"`
	Amount   money.Decimal  `json:"amount"`
	Currency money.Currency `json:"currency"`
	Merchant string         `json:"merchant"`
	// What are the fields that are a person's: "notes", "tags", "annotations" and so on.
	What []string `json:"what"`
}

// UndoPlan is what undoing an import would do.
type UndoPlan struct {
	New      int // Rows that it brought, and that would go.
	Merged   int // Transactions that would be again what they were before.
	Others   int // Rows that a later import has taken over; they stay.
	EditedOf int // How many rows a person has worked on since.
	// Edited are the first of them, at most EditedMax.
	Edited []EditedRow
}

// Edits says what an undo does with rows on which a person has worked since.
type Edits string

// The choices.
const (
	KeepEdited   Edits = "keep"
	RemoveEdited Edits = "remove"
)

// UndoOptions are the choices of an undo.
type UndoOptions struct {
	// Edited is needed where there are rows that a person has worked on since.
	Edited Edits
	// Progress is told how many rows of how many are done.
	Progress func(done, of int)
}

// PlanUndo tells what Undo would do. The error is ErrNoUpload or ErrUploadState.
func (p *Person) PlanUndo(ctx context.Context, account, id string) (UndoPlan, error) {
	return UndoPlan{}, errNotYet
}

// Undo takes back what an import did. One that was stopped can be repeated. The error is
// ErrNoUpload, ErrUploadState or ErrUndoEdited.
func (p *Person) Undo(ctx context.Context, account, id string, o UndoOptions) (Upload, error) {
	return Upload{}, errNotYet
}

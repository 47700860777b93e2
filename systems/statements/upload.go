package statements

import (
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// UploadStatus is how far an upload has come.
type UploadStatus string

// The states of an upload; see the package's documentation for the ways between them.
const (
	Uploaded  UploadStatus = "uploaded"
	Parsed    UploadStatus = "parsed"
	Previewed UploadStatus = "previewed"
	Importing UploadStatus = "importing"
	Processed UploadStatus = "processed"
	Failed    UploadStatus = "failed"
	Reverting UploadStatus = "reverting"
	Reverted  UploadStatus = "reverted"
)

// DateRange is from one day to another, both included.
type DateRange struct {
	Start Date `dynamodbav:"start,omitempty"`
	End   Date `dynamodbav:"end,omitempty"`
}

// Counts are the outcomes of the rows of a file.
type Counts struct {
	New     int `dynamodbav:"new"`
	Known   int `dynamodbav:"known"`   // There already.
	Merged  int `dynamodbav:"merged"`  // Became part of a transaction that was there before.
	Deleted int `dynamodbav:"deleted"` // Known, and deleted by the person.
	Skipped int `dynamodbav:"skipped"` // No entries of this account.
	Refused int `dynamodbav:"refused"` // Could not be read.
}

// Rows is how many rows there are in all.
func (c Counts) Rows() int {
	return c.New + c.Known + c.Merged + c.Deleted + c.Skipped + c.Refused
}

// Continuity reports whether a statement begins where the one before it ended.
type Continuity string

// The answers. Without balances in both files there is none.
const (
	Continues Continuity = "continues"
	Gap       Continuity = "gap"
)

// Upload is a bank's file, and its state.
type Upload struct {
	UserID     string       `dynamodbav:"userId,keyonly"`
	AccountID  string       `dynamodbav:"accountId,keyonly"`
	ID         string       `dynamodbav:"uploadId,keyonly"`
	UploadedAt time.Time    `dynamodbav:"uploadedAt,seconds"`
	DateRange  DateRange    `dynamodbav:"dateRange"`
	FileKey    string       `dynamodbav:"s3ObjectKey,present"`
	Status     UploadStatus `dynamodbav:"status,present"`

	FileName string          `dynamodbav:"fileName,omitempty"`
	Size     int64           `dynamodbav:"size,omitempty"`
	Hash     string          `dynamodbav:"sha256,omitempty"` // Of the file, in hex.
	Format   bankfile.Format `dynamodbav:"format,omitempty"`
	Encoding string          `dynamodbav:"encoding,omitempty"`
	// Why is why the status is Failed.
	Why string `dynamodbav:"why,omitempty"`
	// MappingText is how the file is read, in JSON, answers of the person included.
	MappingText string `dynamodbav:"mapping,omitempty"`
	Counts      Counts `dynamodbav:"counts"`
	// Digest names the decisions of the last preview; see Person.Import.
	Digest string `dynamodbav:"digest,omitempty"`
	// Opening and Closing are the balances that the file gives, Checked reports that they could be
	// compared with the rows and Agrees that they fit.
	Opening *money.Decimal `dynamodbav:"opening,omitempty"`
	Closing *money.Decimal `dynamodbav:"closing,omitempty"`
	Checked bool           `dynamodbav:"checked,omitempty"`
	Agrees  bool           `dynamodbav:"agrees,omitempty"`
	// Currency is that of the balances.
	Currency money.Currency `dynamodbav:"currency,omitempty"`
	// Continuity compares the opening balance with the closing one of the upload before, which
	// After names.
	Continuity Continuity `dynamodbav:"continuity,omitempty"`
	After      string     `dynamodbav:"after,omitempty"`
	// Number is the account of the file whose statements are taken in; empty where there is one.
	Number string `dynamodbav:"number,omitempty"`
	// Answered reports that MappingText has answers of a person.
	Answered bool `dynamodbav:"answered,omitempty"`
	// Doubts are sentences about the whole file that a person should see.
	Doubts []string `dynamodbav:"doubts,omitempty"`
	// Rows is how many rows the file has, blank ones left out.
	Rows int `dynamodbav:"rows,omitempty"`
	// Corrects reports that the bank corrects earlier rows by some of them.
	Corrects bool `dynamodbav:"corrects,omitempty"`
	// Months are those in which the bank booked what the file has, in order.
	Months []string `dynamodbav:"months,omitempty"`
	// FileGone reports that the file was deleted, and with it the outcomes of its rows.
	FileGone bool `dynamodbav:"fileGone,omitempty"`
	// Undos counts the undos that have begun after an import. An import writes only while it is
	// what it was when the import was planned.
	Undos uint64 `dynamodbav:"undos,omitempty"`
	// RowsHash and RowsSize are of the object that stores the rows of the file until they are
	// imported, the hash in hex. Asked are the open questions, in JSON.
	RowsHash   string    `dynamodbav:"rowsSha256,omitempty"`
	RowsSize   int64     `dynamodbav:"rowsSize,omitempty"`
	Asked      string    `dynamodbav:"asked,omitempty"`
	ImportedAt time.Time `dynamodbav:"importedAt,seconds"`
	UpdatedAt  time.Time `dynamodbav:"updatedAt"`
	Version    uint64    `dynamodbav:"version,omitempty"`
}

// outcomesKey is where the object store keeps the outcomes of the rows.
func (u *Upload) outcomesKey() string { return u.FileKey + ".rows.jsonl" }

// rowsKey is where the object store keeps the rows of the file until they are imported.
func (u *Upload) rowsKey() string { return u.FileKey + ".rows" }

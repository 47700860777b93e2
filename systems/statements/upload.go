package statements

import (
	"time"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// UploadStatus says how far an upload has come.
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

// Counts are what became of the rows of a file.
type Counts struct {
	New     int `dynamodbav:"new"`
	Known   int `dynamodbav:"known"`   // There already.
	Merged  int `dynamodbav:"merged"`  // Became part of a transaction that was there before.
	Deleted int `dynamodbav:"deleted"` // Known, and deleted by the person.
	Skipped int `dynamodbav:"skipped"` // No entries of this account.
	Refused int `dynamodbav:"refused"` // Could not be read.
}

// Upload is a bank's file, and what became of it.
type Upload struct {
	UserID     string       `dynamodbav:"userId,keyonly"`
	AccountID  string       `dynamodbav:"accountId,keyonly"`
	ID         string       `dynamodbav:"uploadId,keyonly"`
	UploadedAt time.Time    `dynamodbav:"uploadedAt,seconds"`
	DateRange  DateRange    `dynamodbav:"dateRange"`
	FileKey    string       `dynamodbav:"s3ObjectKey"`
	Status     UploadStatus `dynamodbav:"status"`

	FileName string          `dynamodbav:"fileName,omitempty"`
	Size     int64           `dynamodbav:"size,omitempty"`
	Hash     string          `dynamodbav:"sha256,omitempty"` // Of the file, in hex.
	Format   bankfile.Format `dynamodbav:"format,omitempty"`
	Encoding string          `dynamodbav:"encoding,omitempty"`
	// Why tells why the status is Failed.
	Why string `dynamodbav:"why,omitempty"`
	// MappingText is how the file is read, in JSON, answers of the person included.
	MappingText string `dynamodbav:"mapping,omitempty"`
	Counts      Counts `dynamodbav:"counts"`
	// Digest names the decisions of the last preview; see Person.Import.
	Digest string `dynamodbav:"digest,omitempty"`
	// Opening and Closing are the balances that the file gives, Checked tells that they could be
	// compared with the rows and Agrees that they fit.
	Opening *money.Decimal `dynamodbav:"opening,omitempty"`
	Closing *money.Decimal `dynamodbav:"closing,omitempty"`
	Checked bool           `dynamodbav:"checked,omitempty"`
	Agrees  bool           `dynamodbav:"agrees,omitempty"`
	// Months are those in which the bank booked what the import brought.
	Months  []string `dynamodbav:"months,omitempty"`
	Version uint64   `dynamodbav:"version,omitempty"`
}

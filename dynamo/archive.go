package dynamo

import (
	"context"
	"time"
)

// Archiver exports tables to folders of DynamoDB JSON files, and imports such folders as new
// tables. The layout is that of the service's exports to S3, and a bucket is a folder. The calls
// return before the work is complete; Describe returns its status.
type Archiver interface {
	ExportTable(ctx context.Context, in *ExportTableInput) (*ExportDescription, error)
	DescribeExport(ctx context.Context, exportArn string) (*ExportDescription, error)
	// ListExports lists the exports of a table, or of all tables if tableArn is empty; the newest
	// is last.
	ListExports(ctx context.Context, tableArn string) ([]ExportDescription, error)
	ImportTable(ctx context.Context, in *ImportTableInput) (*ImportDescription, error)
	DescribeImport(ctx context.Context, importArn string) (*ImportDescription, error)
	ListImports(ctx context.Context, tableArn string) ([]ImportDescription, error)
}

// ArchiveStatus is the state of an export or import.
type ArchiveStatus string

// The states of an export or import.
const (
	ArchiveInProgress ArchiveStatus = "IN_PROGRESS"
	ArchiveCompleted  ArchiveStatus = "COMPLETED"
	ArchiveFailed     ArchiveStatus = "FAILED"
)

// ExportTableInput requests an export of the present state of a table to a folder.
type ExportTableInput struct {
	TableArn    string
	S3Bucket    string
	S3Prefix    string
	ClientToken string
}

// ExportDescription describes an export.
type ExportDescription struct {
	ExportArn       string
	ExportStatus    ArchiveStatus
	TableArn        string
	TableID         string
	S3Bucket        string
	S3Prefix        string
	ClientToken     string
	StartTime       time.Time
	EndTime         time.Time // zero until it ends
	ExportManifest  string    // the path of manifest-summary.json in the bucket
	ItemCount       int64
	BilledSizeBytes int64
	FailureCode     string
	FailureMessage  string
}

// Compression is the compression of the files of an import.
type Compression string

// The supported compressions.
const (
	CompressionNone Compression = "NONE"
	CompressionGzip Compression = "GZIP"
)

// ImportTableInput requests a new table from the files below a prefix of a bucket. Each line is one
// item as DynamoDB JSON in an object "Item".
type ImportTableInput struct {
	S3Bucket             string
	S3KeyPrefix          string
	InputCompressionType Compression
	Table                CreateTableInput
	ClientToken          string
}

// ImportDescription describes an import. ErrorCount is the number of invalid items.
type ImportDescription struct {
	ImportArn          string
	ImportStatus       ArchiveStatus
	TableArn           string
	TableID            string
	S3Bucket           string
	S3KeyPrefix        string
	ClientToken        string
	StartTime          time.Time
	EndTime            time.Time // zero until it ends
	ProcessedItemCount int64
	ImportedItemCount  int64
	ErrorCount         int64
	ProcessedSizeBytes int64
	FailureCode        string
	FailureMessage     string
}

package dynamo

import (
	"context"
	"time"
)

// Archiver writes tables to folders of DynamoDB JSON files and makes tables of such folders, in the
// layout of the service's exports to S3. A bucket is a folder. The work goes on after the call;
// Describe tells how far it is.
type Archiver interface {
	ExportTable(ctx context.Context, in *ExportTableInput) (*ExportDescription, error)
	DescribeExport(ctx context.Context, exportArn string) (*ExportDescription, error)
	// ListExports lists the exports of a table, or, without an ARN, of all; newest last.
	ListExports(ctx context.Context, tableArn string) ([]ExportDescription, error)
	ImportTable(ctx context.Context, in *ImportTableInput) (*ImportDescription, error)
	DescribeImport(ctx context.Context, importArn string) (*ImportDescription, error)
	ListImports(ctx context.Context, tableArn string) ([]ImportDescription, error)
}

// ArchiveStatus is the state of an export or import.
type ArchiveStatus string

// The states.
const (
	ArchiveInProgress ArchiveStatus = "IN_PROGRESS"
	ArchiveCompleted  ArchiveStatus = "COMPLETED"
	ArchiveFailed     ArchiveStatus = "FAILED"
)

// ExportTableInput asks for an export of a table, as it is now, to a folder.
type ExportTableInput struct {
	TableArn    string
	S3Bucket    string
	S3Prefix    string
	ClientToken string
}

// ExportDescription tells of an export.
type ExportDescription struct {
	ExportArn       string
	ExportStatus    ArchiveStatus
	TableArn        string
	TableID         string
	S3Bucket        string
	S3Prefix        string
	ClientToken     string
	StartTime       time.Time
	EndTime         time.Time // zero while it goes on
	ExportManifest  string    // the path of manifest-summary.json in the bucket
	ItemCount       int64
	BilledSizeBytes int64
	FailureCode     string
	FailureMessage  string
}

// Compression is how the files of an import are packed.
type Compression string

// The two that are known.
const (
	CompressionNone Compression = "NONE"
	CompressionGzip Compression = "GZIP"
)

// ImportTableInput asks for a new table made of the files below a prefix of a bucket: one item a
// line, as DynamoDB JSON in an object "Item".
type ImportTableInput struct {
	S3Bucket             string
	S3KeyPrefix          string
	InputCompressionType Compression
	Table                CreateTableInput
	ClientToken          string
}

// ImportDescription tells of an import. ErrorCount counts the items that were not valid.
type ImportDescription struct {
	ImportArn          string
	ImportStatus       ArchiveStatus
	TableArn           string
	TableID            string
	S3Bucket           string
	S3KeyPrefix        string
	ClientToken        string
	StartTime          time.Time
	EndTime            time.Time // zero while it goes on
	ProcessedItemCount int64
	ImportedItemCount  int64
	ErrorCount         int64
	ProcessedSizeBytes int64
	FailureCode        string
	FailureMessage     string
}

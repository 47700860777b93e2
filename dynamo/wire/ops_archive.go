package wire

import (
	"context"
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// archivePageMax is the maximum number of exports or imports on a page ("ListExports" and
// "ListImports" in the API reference).
const archivePageMax = 25

// formatJSON is the only supported format of export and import files.
const formatJSON = "DYNAMODB_JSON"

// exportFull is the type of an export of a whole table.
const exportFull = "FULL_EXPORT"

// offerArchives adds exports to files and imports from files.
func offerArchives(ops operations, archiver dynamo.Archiver) {
	offer(ops, targetTables+"ExportTableToPointInTime", decodeExport, archiver.ExportTable,
		encodeExport)
	offer(ops, targetTables+"DescribeExport", decodeArchiveArn("ExportArn", "exportArn"),
		byArn(archiver.DescribeExport), encodeExport)
	offer(ops, targetTables+"ListExports", decodeArchiveList,
		func(ctx context.Context, in *archiveList) ([]dynamo.ExportDescription, error) {
			return archiver.ListExports(ctx, in.tableArn)
		}, encodeExports)
	offer(ops, targetTables+"ImportTable", decodeImport, archiver.ImportTable, encodeImport)
	offer(ops, targetTables+"DescribeImport", decodeArchiveArn("ImportArn", "importArn"),
		byArn(archiver.DescribeImport), encodeImport)
	offer(ops, targetTables+"ListImports", decodeArchiveList,
		func(ctx context.Context, in *archiveList) ([]dynamo.ImportDescription, error) {
			return archiver.ListImports(ctx, in.tableArn)
		}, encodeImports)
}

// arnInput is the input of an operation whose only parameter is an ARN.
type arnInput struct{ arn string }

func byArn[Out any](call func(context.Context, string) (Out, error)) func(
	context.Context, *arnInput) (Out, error) {
	return func(ctx context.Context, in *arnInput) (Out, error) { return call(ctx, in.arn) }
}

// decodeArchiveArn returns the decoder of a request that has only an ARN, whose member has a
// different name in each operation.
func decodeArchiveArn(member, path string) func(*reader, *arnInput) {
	return func(r *reader, in *arnInput) {
		found := false
		for r.object(); r.member(); {
			if string(r.name) == member {
				in.arn, found = r.string(), true
			} else {
				r.skip()
			}
		}
		r.require(found, path)
	}
}

// decodeExport decodes the request for an export. Only the present state of the whole table can be
// exported.
func decodeExport(r *reader, in *dynamo.ExportTableInput) {
	arn, bucket := false, false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableArn":
			in.TableArn, arn = r.string(), true
		case "S3Bucket":
			in.S3Bucket, bucket = r.string(), true
		case "S3Prefix":
			in.S3Prefix = r.string()
		case "ClientToken":
			in.ClientToken = r.string()
		case "ExportFormat":
			r.only("exportFormat", formatJSON)
		case "ExportType":
			r.only("exportType", exportFull)
		case "ExportTime":
			r.skip()
			r.refuseAs(dynamo.CodeInvalidExportTime, "Only the present state of a table can be "+
				"exported: ExportTime is not supported")
		case "FilterSpecification", "IncrementalExportSpecification":
			r.unsupported()
		default:
			r.skip()
		}
	}
	r.require(bucket, "s3Bucket")
	r.require(arn, "tableArn")
}

// only reads a value of which only one is supported.
func (r *reader) only(path, value string) {
	if got := r.string(); got != value && r.err == nil {
		r.refuse(outOfSet(got, path, "["+value+"]"))
	}
}

// refuseAs is refuse with another exception.
func (r *reader) refuseAs(code dynamo.ErrorCode, message string) {
	if r.invalid == nil {
		r.invalid = &dynamo.Error{Code: code, Message: message}
	}
}

func encodeExport[In any](w *writer, _ *In, d *dynamo.ExportDescription) {
	w.open('{')
	w.key("ExportDescription")
	w.open('{')
	w.member("ExportArn", d.ExportArn)
	w.member("ExportStatus", string(d.ExportStatus))
	w.member("ExportFormat", formatJSON)
	w.member("ExportType", exportFull)
	w.key("StartTime")
	w.time(d.StartTime)
	w.key("ExportTime")
	w.time(d.StartTime)
	if !d.EndTime.IsZero() {
		w.key("EndTime")
		w.time(d.EndTime)
	}
	w.member("TableArn", d.TableArn)
	w.member("TableId", d.TableID)
	w.member("S3Bucket", d.S3Bucket)
	w.member("S3Prefix", d.S3Prefix)
	w.member("ClientToken", d.ClientToken)
	w.member("ExportManifest", d.ExportManifest)
	w.key("ItemCount")
	w.int(d.ItemCount)
	w.key("BilledSizeBytes")
	w.int(d.BilledSizeBytes)
	w.member("FailureCode", d.FailureCode)
	w.member("FailureMessage", d.FailureMessage)
	w.close('}')
	w.close('}')
}

// archiveList is the input of both lists. A store returns whole lists, so pages are cut here.
type archiveList struct {
	tableArn string
	token    string // the ARN of the last one on the previous page
	limit    int
}

func decodeArchiveList(r *reader, in *archiveList) {
	in.limit = archivePageMax
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableArn":
			in.tableArn = r.string()
		case "NextToken":
			in.token = r.string()
		case "MaxResults", "PageSize":
			name := map[string]string{"MaxResults": "maxResults", "PageSize": "pageSize"}
			path := name[string(r.name)]
			in.limit = r.int()
			rule := ""
			switch {
			case r.err != nil:
			case in.limit < 1:
				rule = "greater than or equal to 1"
			case in.limit > archivePageMax:
				rule = fmt.Sprintf("less than or equal to %d", archivePageMax)
			}
			if rule != "" {
				r.refuse(fmt.Sprintf("1 validation error detected: Value '%d' at '%s' failed "+
					"to satisfy constraint: Member must have value %s", in.limit, path, rule))
			}
		default:
			r.skip()
		}
	}
}

// archivePage returns the requested page of a list, and the token of the next page.
func archivePage[T any](in *archiveList, all []T, arn func(*T) string) (page []T, next string) {
	if in.token != "" {
		at := slices.IndexFunc(all, func(one T) bool { return arn(&one) == in.token })
		all = all[at+1:]
	}
	if len(all) > in.limit {
		all = all[:in.limit]
		next = arn(&all[in.limit-1])
	}
	return all, next
}

func encodeExports(w *writer, in *archiveList, all []dynamo.ExportDescription) {
	page, next := archivePage(in, all, func(d *dynamo.ExportDescription) string {
		return d.ExportArn
	})
	w.open('{')
	w.key("ExportSummaries")
	w.open('[')
	for i := range page {
		w.open('{')
		w.member("ExportArn", page[i].ExportArn)
		w.member("ExportStatus", string(page[i].ExportStatus))
		w.member("ExportType", exportFull)
		w.close('}')
	}
	w.close(']')
	w.member("NextToken", next)
	w.close('}')
}

// decodeImport decodes the request for an import.
func decodeImport(r *reader, in *dynamo.ImportTableInput) {
	source, format, table := false, false, false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "S3BucketSource":
			source = true
			bucket := false
			for r.object(); r.member(); {
				switch string(r.name) {
				case "S3Bucket":
					in.S3Bucket, bucket = r.string(), true
				case "S3KeyPrefix":
					in.S3KeyPrefix = r.string()
				default:
					r.skip()
				}
			}
			r.require(bucket, "s3BucketSource.s3Bucket")
		case "InputFormat":
			format = true
			r.only("inputFormat", formatJSON)
		case "InputCompressionType":
			in.InputCompressionType = dynamo.Compression(r.string())
		case "TableCreationParameters":
			table = true
			decodeCreateTable(r, &in.Table)
		case "ClientToken":
			in.ClientToken = r.string()
		default:
			r.skip()
		}
	}
	r.require(table, "tableCreationParameters")
	r.require(format, "inputFormat")
	r.require(source, "s3BucketSource")
}

func encodeImport[In any](w *writer, _ *In, d *dynamo.ImportDescription) {
	w.open('{')
	w.key("ImportTableDescription")
	w.open('{')
	w.importSummary(d)
	w.member("TableId", d.TableID)
	w.member("ClientToken", d.ClientToken)
	w.key("ProcessedItemCount")
	w.int(d.ProcessedItemCount)
	w.key("ImportedItemCount")
	w.int(d.ImportedItemCount)
	w.key("ErrorCount")
	w.int(d.ErrorCount)
	w.key("ProcessedSizeBytes")
	w.int(d.ProcessedSizeBytes)
	w.member("FailureCode", d.FailureCode)
	w.member("FailureMessage", d.FailureMessage)
	w.close('}')
	w.close('}')
}

// importSummary writes the members that a description and an entry of a list share.
func (w *writer) importSummary(d *dynamo.ImportDescription) {
	w.member("ImportArn", d.ImportArn)
	w.member("ImportStatus", string(d.ImportStatus))
	w.member("InputFormat", formatJSON)
	w.member("TableArn", d.TableArn)
	w.key("S3BucketSource")
	w.open('{')
	w.member("S3Bucket", d.S3Bucket)
	w.member("S3KeyPrefix", d.S3KeyPrefix)
	w.close('}')
	w.key("StartTime")
	w.time(d.StartTime)
	if !d.EndTime.IsZero() {
		w.key("EndTime")
		w.time(d.EndTime)
	}
}

func encodeImports(w *writer, in *archiveList, all []dynamo.ImportDescription) {
	page, next := archivePage(in, all, func(d *dynamo.ImportDescription) string {
		return d.ImportArn
	})
	w.open('{')
	w.key("ImportSummaryList")
	w.open('[')
	for i := range page {
		w.open('{')
		w.importSummary(&page[i])
		w.close('}')
	}
	w.close(']')
	w.member("NextToken", next)
	w.close('}')
}

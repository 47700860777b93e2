package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
)

const (
	exportPrefix = "export/"
	importPrefix = "import/"
	// archivesMax is the maximum number of exports and imports that run concurrently. "Service,
	// account, and table quotas" allows 300 and 50, but here they share one machine.
	archivesMax = 4
)

// archives are the exports and imports of the database by their ARN. The exclusive schema lock
// guards changes.
type archives struct {
	db      *DB
	exports map[string]*dynamo.ExportDescription
	imports map[string]*dynamo.ImportDescription
}

// load reads the stored descriptions of exports and imports. One that was in progress when
// the process ended is marked as failed, because nothing resumes it.
func (all *archives) load() error {
	err := all.eachMeta(exportPrefix, func(raw []byte) error {
		var d dynamo.ExportDescription
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("read the description of an export: %w", err)
		}
		if d.ExportStatus == dynamo.ArchiveInProgress {
			d.ExportStatus, d.FailureCode = dynamo.ArchiveFailed, failureInterrupted
			d.FailureMessage = "The process ended before the export was done; export again"
		}
		all.exports[d.ExportArn] = &d
		return nil
	})
	if err != nil {
		return err
	}
	return all.eachMeta(importPrefix, func(raw []byte) error {
		var d dynamo.ImportDescription
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("read the description of an import: %w", err)
		}
		if d.ImportStatus == dynamo.ArchiveInProgress {
			d.ImportStatus, d.FailureCode = dynamo.ArchiveFailed, failureInterrupted
			d.FailureMessage = "The process ended before the import was done; delete the table " +
				"and import again"
		}
		all.imports[d.ImportArn] = &d
		return nil
	})
}

// The failure codes of exports and imports.
const (
	failureInterrupted = "Interrupted"
	failureInput       = "InputError"
	failureInternal    = "InternalServerError"
)

// eachMeta calls f with the value of each metadata row whose key begins with prefix.
func (all *archives) eachMeta(prefix string, f func(raw []byte) error) error {
	lower := keyspace.Meta(prefix)
	return all.db.eachRow(all.db.store, lower, keyspace.After(lower), func(it *pebble.Iterator) (
		bool, error,
	) {
		raw, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		return true, f(raw)
	})
}

// saveExport stores the description of an export. The caller holds the schema lock.
func (all *archives) saveExport(d dynamo.ExportDescription) error {
	value, err := json.Marshal(d)
	if err != nil {
		return err
	}
	all.exports[d.ExportArn] = &d
	return all.db.put(keyspace.Meta(exportPrefix+d.ExportArn), value)
}

// saveImport stores the description of an import. The caller holds the schema lock.
func (all *archives) saveImport(d dynamo.ImportDescription) error {
	value, err := json.Marshal(d)
	if err != nil {
		return err
	}
	all.imports[d.ImportArn] = &d
	return all.db.put(keyspace.Meta(importPrefix+d.ImportArn), value)
}

// bucketName is the form of a bucket's name (S3's "Bucket naming rules"). It has no separator and
// bucket refuses "..", so that a bucket is always a folder directly below the archive directory.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// bucket returns the folder of a bucket.
func (all *archives) bucket(name string) (string, error) {
	if all.db.opts.ArchiveDir == "" {
		return "", dynamo.Invalid("Exports and imports are off: this database was opened without " +
			"a directory for them (ArchiveDir; --archive)")
	}
	if !bucketName.MatchString(name) || strings.Contains(name, "..") {
		return "", dynamo.Invalid(invalidParameter + "S3Bucket " + name +
			" is no name of a bucket: " +
			"3 to 63 lower-case letters, digits, dots and hyphens")
	}
	return filepath.Join(all.db.opts.ArchiveDir, name), nil
}

// inside returns the path of a key in a bucket. It refuses a key that would leave the bucket,
// because a key is a name and not a path.
func inside(bucket, key string) (string, error) {
	if key == "" {
		return bucket, nil
	}
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return "", dynamo.Invalid(invalidParameter + "S3 prefix " + key + " leaves its bucket")
	}
	return filepath.Join(bucket, filepath.FromSlash(key)), nil
}

// busy returns the number of exports and imports in progress, which share one limit.
func (all *archives) busy() int {
	n := 0
	for _, d := range all.exports {
		if d.ExportStatus == dynamo.ArchiveInProgress {
			n++
		}
	}
	for _, d := range all.imports {
		if d.ImportStatus == dynamo.ArchiveInProgress {
			n++
		}
	}
	return n
}

func tooManyArchives() error {
	return &dynamo.Error{
		Code: dynamo.CodeLimitExceeded, Message: fmt.Sprintf("Subscriber limit exceeded: at most "+
			"%d exports and imports can run concurrently", archivesMax),
	}
}

// archiveID returns the id of an export or import. It begins with the time, so that ids sort by it,
// and ends with random characters, because two may begin in one millisecond.
func archiveID(now time.Time) string {
	return fmt.Sprintf("%017d-%s", now.UnixMilli(), uuid.NewString()[:8])
}

// ExportTable begins an export of a table as it is now; see [dynamo.Archiver].
func (db *DB) ExportTable(ctx context.Context, in *dynamo.ExportTableInput) (
	*dynamo.ExportDescription, error,
) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	bucket, err := db.archives.bucket(in.S3Bucket)
	if err != nil {
		return nil, err
	}
	folder, err := inside(bucket, in.S3Prefix)
	if err != nil {
		return nil, err
	}
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return nil, err
	}
	name := tableArn.FindStringSubmatch(in.TableArn)
	if name == nil {
		return nil, dynamo.Invalid("Invalid TableArn: " + in.TableArn)
	}
	t := db.tables[name[1]]
	if t == nil {
		return nil, &dynamo.Error{
			Code: dynamo.CodeTableNotFound, Message: "Table not found: " + in.TableArn,
		}
	}
	if before, err := db.archives.exportBefore(in); before != nil || err != nil {
		return before, err
	}
	if db.archives.busy() >= archivesMax {
		return nil, tooManyArchives()
	}
	now := db.opts.Now().UTC()
	id := archiveID(now)
	d := dynamo.ExportDescription{
		ExportArn: db.catalog.arnOf(
			t.Name,
		) + "/export/" + id, ExportStatus: dynamo.ArchiveInProgress,
		TableArn: in.TableArn, TableID: t.UUID, S3Bucket: in.S3Bucket, S3Prefix: in.S3Prefix,
		ClientToken: in.ClientToken, StartTime: now,
	}
	if err := db.archives.saveExport(d); err != nil {
		return nil, err
	}
	e := &exporter{
		db: db, d: d, snapshot: db.store.NewSnapshot(), prefix: t.prefix, bucket: bucket,
		dir: filepath.Join(folder, archiveFolder, id),
	}
	db.work.Go(func() { db.archives.endExport(d, e) })
	return &d, nil
}

// exportBefore returns the export that an earlier call with the same token began, or nil.
func (all *archives) exportBefore(in *dynamo.ExportTableInput) (*dynamo.ExportDescription, error) {
	if in.ClientToken == "" {
		return nil, nil
	}
	for _, d := range all.exports {
		if d.ClientToken != in.ClientToken {
			continue
		}
		if d.TableArn != in.TableArn || d.S3Bucket != in.S3Bucket || d.S3Prefix != in.S3Prefix {
			return nil, &dynamo.Error{
				Code:    dynamo.CodeExportConflict,
				Message: "The token was used for another export: " + d.ExportArn,
			}
		}
		c := *d
		return &c, nil
	}
	return nil, nil
}

// endExport runs an export and stores its result.
func (all *archives) endExport(d dynamo.ExportDescription, e *exporter) {
	items, bytes, manifest, err := e.run(all.db.running)
	if errors.Is(err, context.Canceled) {
		return // the database closes; loadArchives marks it as interrupted
	}
	d.EndTime, d.ExportStatus = all.db.opts.Now().UTC(), dynamo.ArchiveCompleted
	d.ItemCount, d.BilledSizeBytes, d.ExportManifest = items, bytes, manifest
	if err != nil {
		d.ExportStatus, d.FailureCode = dynamo.ArchiveFailed, failureInternal
		d.FailureMessage = err.Error()
		all.db.opts.Logger.Error("export", "export", d.ExportArn, "error", err)
	}
	all.db.schema.Lock()
	defer all.db.schema.Unlock()
	if err := all.saveExport(d); err != nil {
		all.db.opts.Logger.Error("keep the end of an export", "export", d.ExportArn, "error", err)
	}
}

// DescribeExport describes an export; see [dynamo.Archiver].
func (db *DB) DescribeExport(ctx context.Context, exportArn string) (
	*dynamo.ExportDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	d := db.archives.exports[exportArn]
	if d == nil {
		return nil, &dynamo.Error{
			Code: dynamo.CodeExportNotFound, Message: "Export not found: " + exportArn,
		}
	}
	c := *d
	return &c, nil
}

// ListExports lists exports in the order in which they began; see [dynamo.Archiver].
func (db *DB) ListExports(ctx context.Context, tableArn string) (
	[]dynamo.ExportDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	var all []dynamo.ExportDescription
	for _, d := range slices.Collect(maps.Values(db.archives.exports)) {
		if tableArn == "" || d.TableArn == tableArn {
			all = append(all, *d)
		}
	}
	slices.SortFunc(all, func(a, b dynamo.ExportDescription) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), strings.Compare(a.ExportArn, b.ExportArn))
	})
	return all, nil
}

// ImportTable creates a table and begins to import files into it; see [dynamo.Archiver].
func (db *DB) ImportTable(ctx context.Context, in *dynamo.ImportTableInput) (
	*dynamo.ImportDescription, error,
) {
	bucket, err := db.archives.bucket(in.S3Bucket)
	if err != nil {
		return nil, err
	}
	switch in.InputCompressionType {
	case "", dynamo.CompressionNone, dynamo.CompressionGzip:
	default:
		return nil, dynamo.Invalid(invalidParameter + "InputCompressionType must be NONE or GZIP")
	}
	files, err := importFiles(bucket, in.S3KeyPrefix)
	if err != nil {
		return nil, err
	}
	if before, err := db.archives.importBefore(ctx, in); before != nil || err != nil {
		return before, err
	}
	table, err := db.CreateTable(ctx, &in.Table)
	if err != nil {
		return nil, err
	}
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return nil, err
	}
	now := db.opts.Now().UTC()
	d := dynamo.ImportDescription{
		ImportArn:    table.TableArn + "/import/" + archiveID(now),
		ImportStatus: dynamo.ArchiveInProgress, TableArn: table.TableArn, TableID: table.TableID,
		S3Bucket: in.S3Bucket, S3KeyPrefix: in.S3KeyPrefix, ClientToken: in.ClientToken,
		StartTime: now,
	}
	if err := db.archives.saveImport(d); err != nil {
		return nil, err
	}
	i := &importer{
		db: db, table: table.TableName, files: files,
		packed: in.InputCompressionType == dynamo.CompressionGzip,
	}
	db.work.Go(func() { db.archives.endImport(d, i) })
	return &d, nil
}

// importBefore returns the import that an earlier call with the same token began, or nil. It
// refuses an import above archivesMax, before a table is created for it.
func (all *archives) importBefore(ctx context.Context, in *dynamo.ImportTableInput) (
	*dynamo.ImportDescription, error,
) {
	if err := all.db.begin(ctx); err != nil {
		return nil, err
	}
	defer all.db.end()
	for _, d := range all.imports {
		if in.ClientToken == "" || d.ClientToken != in.ClientToken {
			continue
		}
		if d.S3Bucket != in.S3Bucket || d.S3KeyPrefix != in.S3KeyPrefix ||
			d.TableArn != all.db.catalog.arnOf(in.Table.TableName) {
			return nil, &dynamo.Error{
				Code:    dynamo.CodeImportConflict,
				Message: "The token was used for another import: " + d.ImportArn,
			}
		}
		c := *d
		return &c, nil
	}
	if all.busy() >= archivesMax {
		return nil, tooManyArchives()
	}
	return nil, nil
}

// endImport runs an import and stores its result.
func (all *archives) endImport(d dynamo.ImportDescription, i *importer) {
	err := i.run(all.db.running)
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) {
		return // the database closes; loadArchives marks it as interrupted
	}
	d.EndTime, d.ImportStatus = all.db.opts.Now().UTC(), dynamo.ArchiveCompleted
	d.ProcessedItemCount, d.ImportedItemCount = i.read, i.written
	d.ErrorCount, d.ProcessedSizeBytes = i.wrong, i.bytes
	if err != nil {
		d.ImportStatus, d.FailureCode = dynamo.ArchiveFailed, failureInput
		d.FailureMessage = err.Error()
	}
	if i.firstWrong != nil && err == nil {
		d.FailureMessage = fmt.Sprintf("%d items were not imported; the first error: %v", i.wrong,
			i.firstWrong)
	}
	all.db.schema.Lock()
	defer all.db.schema.Unlock()
	if err := all.saveImport(d); err != nil {
		all.db.opts.Logger.Error("keep the end of an import", "import", d.ImportArn, "error", err)
	}
}

// DescribeImport describes an import; see [dynamo.Archiver].
func (db *DB) DescribeImport(ctx context.Context, importArn string) (
	*dynamo.ImportDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	d := db.archives.imports[importArn]
	if d == nil {
		return nil, &dynamo.Error{
			Code: dynamo.CodeImportNotFound, Message: "Import not found: " + importArn,
		}
	}
	c := *d
	return &c, nil
}

// ListImports lists imports in the order in which they began; see [dynamo.Archiver].
func (db *DB) ListImports(ctx context.Context, tableArn string) (
	[]dynamo.ImportDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	var all []dynamo.ImportDescription
	for _, d := range slices.Collect(maps.Values(db.archives.imports)) {
		if tableArn == "" || d.TableArn == tableArn {
			all = append(all, *d)
		}
	}
	slices.SortFunc(all, func(a, b dynamo.ImportDescription) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), strings.Compare(a.ImportArn, b.ImportArn))
	})
	return all, nil
}

var _ dynamo.Archiver = (*DB)(nil)

// importFiles lists the files of a bucket whose keys begin with a prefix. Files that an export
// writes in addition to its data (manifests) are ignored.
func importFiles(bucket, prefix string) ([]string, error) {
	if _, err := inside(bucket, prefix); err != nil {
		return nil, err
	}
	var files []string
	err := filepath.WalkDir(bucket, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err // links are not followed, because they could leave the bucket
		}
		key, err := filepath.Rel(bucket, path)
		if err != nil {
			return err
		}
		name := e.Name()
		if strings.HasPrefix(filepath.ToSlash(key), prefix) && name != startedName &&
			!strings.HasPrefix(name, manifestPrefix) {
			files = append(files, path)
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) || err == nil && len(files) == 0 {
		return nil, dynamo.Invalid(invalidParameter + "there are no files below prefix '" + prefix +
			"' of bucket " + filepath.Base(bucket))
	}
	return files, err
}

package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/ddbjson"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// File and folder names of an export ("DynamoDB table export output format").
const (
	archiveFolder   = "AWSDynamoDB"
	dataFolder      = "data"
	startedName     = "_started"
	manifestPrefix  = "manifest-"
	manifestFiles   = manifestPrefix + "files"
	manifestSummary = manifestPrefix + "summary"
	summaryVersion  = "2020-06-30"
)

const (
	// exportFileSize is the size of the JSON after which an export begins the next file.
	exportFileSize = 64 << 20
	// importLineMax is the maximum length of a line. An item has at most 400 KB, and escapes can
	// make it six times as long.
	importLineMax = 4 << 20
)

// exporter writes the items of a snapshot of a table to files.
type exporter struct {
	db          *DB
	d           dynamo.ExportDescription
	snapshot    *pebble.Snapshot
	prefix      []byte
	bucket, dir string

	files bytes.Buffer // the manifest of files, one line for each
	items int64
	bytes int64
}

// run writes all files, and returns when they are on the disk. The summary is written last, so that
// an export without a summary is known to be incomplete.
func (e *exporter) run(ctx context.Context) (items, size int64, manifest string, err error) {
	defer func() { err = errors.Join(err, e.snapshot.Close()) }()
	defer e.db.reading(&err)
	if err := os.MkdirAll(filepath.Join(e.dir, dataFolder), dirMode); err != nil {
		return 0, 0, "", err
	}
	if err := writeWhole(filepath.Join(e.dir, startedName), nil); err != nil {
		return 0, 0, "", err
	}
	it, err := e.snapshot.NewIter(bounds(e.prefix, keyspace.After(e.prefix)))
	if err != nil {
		return 0, 0, "", err
	}
	for ok := it.First(); ok && err == nil; {
		ok, err = e.writeFile(ctx, it, ok)
	}
	if err := errors.Join(err, it.Close()); err != nil {
		return 0, 0, "", err
	}
	if err := e.writeManifest(manifestFiles, e.files.Bytes()); err != nil {
		return 0, 0, "", err
	}
	summary, err := e.summary()
	if err = errors.Join(err, e.syncFolders()); err != nil {
		return 0, 0, "", err
	}
	err = errors.Join(e.writeManifest(manifestSummary, summary), e.syncFolders())
	if err != nil {
		return 0, 0, "", err
	}
	manifest, err = e.key(manifestSummary + ".json")
	return e.items, e.bytes, manifest, err
}

// syncFolders makes the names in the folders of the export durable, and those of the folders above
// them up to the bucket.
func (e *exporter) syncFolders() error {
	last := filepath.Dir(e.bucket)
	for dir := filepath.Join(e.dir, dataFolder); ; dir = filepath.Dir(dir) {
		f, err := vfs.Default.OpenDir(dir)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil || dir == last || len(dir) <= len(last) {
			return err
		}
	}
}

// key returns the key of a file of the export, relative to its bucket.
func (e *exporter) key(name string) (string, error) {
	key, err := filepath.Rel(e.bucket, filepath.Join(e.dir, name))
	return filepath.ToSlash(key), err
}

// writeFile writes one data file from the current position of the iterator. It reports whether rows
// remain for another file.
func (e *exporter) writeFile(ctx context.Context, it *pebble.Iterator, ok bool) (bool, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	items, size := int64(0), 0
	var line []byte
	// The size is checked between items, because an item may not be split over two files.
	for ; ok && size < exportFileSize; ok = it.Next() {
		if items%contextEvery == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		raw, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		view, err := row.NewView(raw)
		if err != nil {
			return false, err
		}
		item, err := view.Item()
		if err != nil {
			return false, err
		}
		line = append(ddbjson.AppendItem(append(line[:0], `{"Item":`...), item), "}\n"...)
		if _, err := zip.Write(line); err != nil {
			return false, err
		}
		items++
		size += len(line)
		e.bytes += int64(view.Size())
	}
	if err := zip.Close(); err != nil {
		return false, err
	}
	e.items += items
	name := filepath.Join(dataFolder, uuid.NewString()+".json.gz")
	if err := writeWhole(filepath.Join(e.dir, name), packed.Bytes()); err != nil {
		return false, err
	}
	key, err := e.key(name)
	if err != nil {
		return false, err
	}
	sum := md5.Sum(packed.Bytes())
	entry, err := json.Marshal(struct {
		ItemCount     int64  `json:"itemCount"`
		MD5           string `json:"md5Checksum"`
		ETag          string `json:"etag"`
		DataFileS3Key string `json:"dataFileS3Key"`
	}{items, base64.StdEncoding.EncodeToString(sum[:]), hex.EncodeToString(sum[:]), key})
	e.files.Write(append(entry, '\n'))
	return ok, err
}

// writeManifest writes a manifest and, in a file of its own, its checksum.
func (e *exporter) writeManifest(name string, content []byte) error {
	sum := md5.Sum(content)
	return errors.Join(
		writeWhole(filepath.Join(e.dir, name+".md5"),
			[]byte(base64.StdEncoding.EncodeToString(sum[:]))),
		writeWhole(filepath.Join(e.dir, name+".json"), content))
}

// summary returns the summary of the manifest in the format of DynamoDB's exports, so that tools
// for those can read it.
func (e *exporter) summary() ([]byte, error) {
	files, err := e.key(manifestFiles + ".json")
	if err != nil {
		return nil, err
	}
	at := func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
	return json.Marshal(struct {
		Version      string  `json:"version"`
		ExportArn    string  `json:"exportArn"`
		StartTime    string  `json:"startTime"`
		EndTime      string  `json:"endTime"`
		TableArn     string  `json:"tableArn"`
		TableID      string  `json:"tableId"`
		ExportTime   string  `json:"exportTime"`
		Bucket       string  `json:"s3Bucket"`
		Prefix       *string `json:"s3Prefix"`
		Algorithm    string  `json:"s3SseAlgorithm"`
		Key          *string `json:"s3SseKmsKeyId"`
		FilesKey     string  `json:"manifestFilesS3Key"`
		BilledBytes  int64   `json:"billedSizeBytes"`
		ItemCount    int64   `json:"itemCount"`
		OutputFormat string  `json:"outputFormat"`
		ExportType   string  `json:"exportType"`
	}{
		Version: summaryVersion, ExportArn: e.d.ExportArn, StartTime: at(e.d.StartTime),
		EndTime: at(e.db.opts.Now()), TableArn: e.d.TableArn, TableID: e.d.TableID,
		ExportTime: at(e.d.StartTime), Bucket: e.d.S3Bucket, Prefix: nonEmptyText(e.d.S3Prefix),
		Algorithm: "AES256", FilesKey: files, BilledBytes: e.bytes, ItemCount: e.items,
		OutputFormat: "DYNAMODB_JSON", ExportType: "FULL_EXPORT",
	})
}

func nonEmptyText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// writeWhole writes a temporary file and renames it, so that no reader sees a partial file.
func writeWhole(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".writing-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// importer writes the items of files to a table.
type importer struct {
	db     *DB
	table  string
	files  []string
	packed bool

	waiting []numbered // items that are not written yet, at most one batch

	read, written, wrong int64 // items
	bytes                int64 // of the files
	firstWrong           error
}

// numbered is an item with its file and line, for error messages.
type numbered struct {
	item  dynamo.Item
	place string
}

// run imports all files. An item that cannot be imported is counted and skipped; a file that cannot
// be read ends the import.
func (i *importer) run(ctx context.Context) error {
	for _, path := range i.files {
		if err := i.file(ctx, path); err != nil {
			return fmt.Errorf("file %s: %w", filepath.Base(path), err)
		}
	}
	return i.flush(ctx)
}

// file imports one file. A line that is not an item is counted, and the import continues, so that
// one bad line does not stop it.
func (i *importer) file(ctx context.Context, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	i.bytes += info.Size()
	var source io.Reader = f
	if i.packed {
		zip, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		source = zip
	}
	lines := bufio.NewScanner(source)
	lines.Buffer(make([]byte, 0, 64<<10), importLineMax)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		i.read++
		place := fmt.Sprintf("line %d of %s", n, filepath.Base(path))
		item, err := itemOf(line)
		if err != nil {
			i.refuse(place, err)
			continue
		}
		if i.waiting = append(i.waiting, numbered{item, place}); len(i.waiting) == batchWritesMax {
			if err := i.flush(ctx); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func (i *importer) refuse(place string, err error) {
	i.wrong++
	if i.firstWrong == nil {
		i.firstWrong = fmt.Errorf("%s: %w", place, err)
	}
}

// flush writes the waiting items as one batch. If the batch is refused, it writes them one by one,
// because a batch does not report which of its items is invalid.
func (i *importer) flush(ctx context.Context) error {
	var requests []dynamo.WriteRequest
	for _, w := range i.waiting {
		requests = append(requests, dynamo.WriteRequest{Put: w.item})
	}
	waiting := i.waiting
	i.waiting = i.waiting[:0]
	if len(requests) == 0 {
		return nil
	}
	out, err := i.db.BatchWrite(ctx, &dynamo.BatchWriteInput{
		RequestItems: map[string][]dynamo.WriteRequest{i.table: requests},
	})
	if err == nil && len(out.UnprocessedItems) == 0 {
		i.written += int64(len(requests))
		return nil
	}
	for _, w := range waiting {
		_, err := i.db.Put(ctx, &dynamo.PutInput{TableName: i.table, Item: w.item})
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, ErrClosed):
			return err
		case err != nil:
			i.refuse(w.place, err)
		default:
			i.written++
		}
	}
	return nil
}

// itemOf decodes a line of an export.
func itemOf(line []byte) (dynamo.Item, error) {
	var outer struct{ Item json.RawMessage }
	if err := json.Unmarshal(line, &outer); err != nil {
		return nil, err
	}
	if outer.Item == nil {
		return nil, errors.New(`a line is an object with a member "Item"`)
	}
	return ddbjson.Item(outer.Item)
}

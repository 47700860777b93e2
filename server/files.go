package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob" // Buckets of S3, and of what speaks its protocol, by URL.
	"gocloud.dev/gcerrors"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

// FilesDir is the folder of a data directory that holds the files that people upload.
const FilesDir = "files"

// files keeps uploaded files in an object store.
type files struct{ bucket *blob.Bucket }

// openFiles opens the place for uploaded files: the bucket of a URL such as
// "s3://bucket?region=eu-central-1" or "file:///srv/files", else memory for a server in memory,
// else a folder of the data directory. A server on DynamoDB that is given neither has none: nil.
func openFiles(ctx context.Context, opts Options) (*files, error) {
	var bucket *blob.Bucket
	var err error
	switch {
	case opts.FilesURL != "":
		bucket, err = blob.OpenBucket(ctx, opts.FilesURL)
	case opts.Memory:
		bucket = memblob.OpenBucket(nil)
	case opts.DataDir != "":
		dir := filepath.Join(opts.DataDir, FilesDir)
		if err = os.MkdirAll(dir, 0o700); err != nil {
			break
		}
		// Files that are being written stand beside the others, so that they can be renamed, and
		// are for nobody else's eyes. What would stand in a file beside each is not needed.
		bucket, err = fileblob.OpenBucket(dir, &fileblob.Options{DirFileMode: 0o700,
			NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the place for files: %w", err)
	}
	return &files{bucket}, nil
}

// Close ends the use of the object store.
func (f *files) Close() error {
	if f == nil {
		return nil
	}
	return f.bucket.Close()
}

// Put keeps what a reader gives under a key, all or nothing.
func (f *files) Put(ctx context.Context, key string, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := f.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream", DisableContentTypeDetection: true,
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	if _, err := io.Copy(w, r); err != nil {
		cancel() // Without this, Close would keep what has come so far.
		_ = w.Close()
		return fmt.Errorf("write %s: %w", key, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// Delete removes a file. A file that is not there is no error.
func (f *files) Delete(ctx context.Context, key string) error {
	err := f.bucket.Delete(ctx, key)
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// Open returns a file for reading, while the context holds.
func (f *files) Open(ctx context.Context, key string) (statements.File, error) {
	about, err := f.bucket.Attributes(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, statements.ErrFileMissing.Wrap(err)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	read := func(from int64) (io.ReadCloser, error) {
		return f.bucket.NewRangeReader(ctx, key, from, -1, nil)
	}
	return &openFile{size: about.Size, read: read}, nil
}

// openFile reads a file at any place. Files are read from one end to the other, a few times, so it
// holds a reader that goes on from where the last reading ended: one request for each time through.
type openFile struct {
	size int64
	read func(from int64) (io.ReadCloser, error)

	mu sync.Mutex
	r  io.ReadCloser
	at int64 // Where r is.
}

// Size is the file's length in bytes.
func (f *openFile) Size() int64 { return f.size }

// ReadAt reads as io.ReaderAt says. It is safe for concurrent use.
func (f *openFile) ReadAt(p []byte, from int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case from < 0:
		return 0, errors.New("read before the beginning of a file")
	case len(p) == 0:
		return 0, nil
	case from >= f.size:
		return 0, io.EOF
	}
	if f.r == nil || f.at != from {
		if err := f.leave(); err != nil {
			return 0, err
		}
		r, err := f.read(from)
		if err != nil {
			return 0, fmt.Errorf("read file: %w", err)
		}
		f.r, f.at = r, from
	}
	n, err := io.ReadFull(f.r, p)
	f.at += int64(n)
	switch {
	case err == nil:
		return n, nil
	case (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) && f.at >= f.size:
		return n, io.EOF
	}
	// The next reading must not go on with a broken reader.
	_ = f.leave()
	return n, fmt.Errorf("read file: %w", err)
}

// Close lets go of the file.
func (f *openFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leave()
}

func (f *openFile) leave() error {
	if f.r == nil {
		return nil
	}
	r := f.r
	f.r = nil
	return r.Close()
}

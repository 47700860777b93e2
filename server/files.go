package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob" // Buckets of S3, and of what speaks its protocol, by URL.
	"gocloud.dev/gcerrors"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

// FilesDir is the folder of a data directory that holds the files that people upload.
const FilesDir = "files"

// files keeps uploaded files in an object store. A folder of this computer is read as an object
// store, and written by localFiles.
type files struct {
	bucket *blob.Bucket
	local  *localFiles // Nil unless the object store is a folder.
}

// openFiles opens the place for uploaded files: the bucket of a URL such as
// "s3://bucket?region=eu-central-1" or "file:///srv/files", else memory for a server in memory,
// else a folder of the data directory. A server on DynamoDB that is given neither has none: nil.
// Files that a process was writing when it was stopped are removed.
func openFiles(ctx context.Context, opts Options) (*files, error) {
	f := &files{}
	var err error
	switch {
	case opts.FilesURL != "":
		if f.bucket, err = blob.OpenBucket(ctx, opts.FilesURL); err == nil {
			f.local = localOf(opts.FilesURL)
		}
	case opts.Memory:
		f.bucket = memblob.OpenBucket(nil)
	case opts.DataDir != "":
		dir := filepath.Join(opts.DataDir, FilesDir)
		if err = os.MkdirAll(dir, dirMode); err != nil {
			break
		}
		f.local = &localFiles{root: dir, disk: realDisk{}}
		f.bucket, err = fileblob.OpenBucket(dir, nil)
	default:
		return nil, nil
	}
	if err == nil && f.local != nil {
		f.local.reserve = max(opts.Limits.FreeDisk, 0)
		err = f.local.clean(opts.FilesURL != "", time.Now())
	}
	if err != nil {
		return nil, fmt.Errorf("open the place for files: %w", err)
	}
	return f, nil
}

// localOf returns the writer for a bucket that is a folder, or nil for any other bucket.
func localOf(address string) *localFiles {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != fileblob.Scheme {
		return nil
	}
	dir := u.Path
	if os.PathSeparator != '/' { // file:///C:/dir
		dir = strings.TrimPrefix(dir, "/")
	}
	// The prefix is a text before each key, which need not end a folder.
	if prefix := u.Query().Get("prefix"); prefix != "" {
		if !strings.HasSuffix(prefix, "/") {
			return nil
		}
		dir += "/" + prefix
	}
	return &localFiles{root: filepath.Clean(filepath.FromSlash(dir)), disk: realDisk{}}
}

// Close ends the use of the object store.
func (f *files) Close() error {
	if f == nil {
		return nil
	}
	return f.bucket.Close()
}

// Put keeps what a reader gives under a key, all or nothing. When it returns nil, the file is
// durable.
func (f *files) Put(ctx context.Context, key string, r io.Reader) (err error) {
	if f.local != nil {
		err = f.local.put(ctx, key, r)
	} else {
		err = f.upload(ctx, key, r)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", key, err)
	}
	return nil
}

// upload writes to an object store that is not a folder.
func (f *files) upload(ctx context.Context, key string, r io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := f.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream", DisableContentTypeDetection: true,
	})
	if err != nil {
		return err
	}
	n, err := io.Copy(w, r)
	if err != nil {
		cancel() // Without this, Close would keep what has come so far.
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	about, err := f.bucket.Attributes(ctx, key)
	if err != nil {
		return err
	}
	if about.Size != n {
		err := fmt.Errorf("%d bytes of %d are there: %w", about.Size, n, io.ErrShortWrite)
		return errors.Join(err, f.Delete(ctx, key))
	}
	return nil
}

// Delete removes a file for good. A file that is not there is no error.
func (f *files) Delete(ctx context.Context, key string) error {
	var err error
	if f.local != nil {
		err = f.local.remove(key)
	} else if err = f.bucket.Delete(ctx, key); gcerrors.Code(err) == gcerrors.NotFound {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// Sweep removes all files whose keys begin with a folder, including unfinished ones.
func (f *files) Sweep(ctx context.Context, folder string) error {
	if f.local != nil {
		if err := f.local.sweep(folder); err != nil {
			return fmt.Errorf("delete all files of %s: %w", folder, err)
		}
		return nil
	}
	list := f.bucket.List(&blob.ListOptions{Prefix: strings.TrimSuffix(folder, "/") + "/"})
	for {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f.Delete(ctx, object.Key)
		}
		if err != nil {
			return fmt.Errorf("delete all files of %s: %w", folder, err)
		}
	}
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
		r, err := f.bucket.NewRangeReader(ctx, key, from, -1, nil)
		if gcerrors.Code(err) == gcerrors.NotFound {
			return nil, statements.ErrFileMissing.Wrap(err) // It was deleted in the meantime.
		}
		return r, err
	}
	return &openFile{size: about.Size, read: read}, nil
}

// openFile reads a file at any offset. Files are read from beginning to end, a few times, so it
// keeps a reader at the end of the last read: one request for each pass.
type openFile struct {
	size int64
	read func(from int64) (io.ReadCloser, error)

	mu sync.Mutex
	r  io.ReadCloser
	at int64 // Where r is.
}

// Size is the file's length in bytes.
func (f *openFile) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. It is safe for concurrent use.
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

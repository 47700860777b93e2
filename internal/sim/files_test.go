package sim

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

// fileStore keeps uploaded files, whatever becomes of the processes.
type fileStore struct {
	mu    sync.Mutex
	files map[string][]byte
}

func newFileStore() *fileStore { return &fileStore{files: map[string][]byte{}} }

// fileView is the file store as one process sees it.
type fileView struct {
	*fileStore
	l *life
}

// Put keeps a file, all or nothing.
func (v fileView) Put(ctx context.Context, key string, r io.Reader) error {
	if err := v.l.before(ctx); err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.files[key] = data
	v.mu.Unlock()
	return v.l.after(ctx)
}

// Delete removes a file.
func (v fileView) Delete(ctx context.Context, key string) error {
	if err := v.l.before(ctx); err != nil {
		return err
	}
	v.mu.Lock()
	delete(v.files, key)
	v.mu.Unlock()
	return v.l.after(ctx)
}

// Open opens a file.
func (v fileView) Open(ctx context.Context, key string) (statements.File, error) {
	if err := v.l.before(ctx); err != nil {
		return nil, err
	}
	v.mu.Lock()
	data, ok := v.files[key]
	v.mu.Unlock()
	if !ok {
		return nil, statements.ErrFileMissing
	}
	return openFile{bytes.NewReader(data)}, nil
}

type openFile struct{ *bytes.Reader }

// Size is the length of the file.
func (f openFile) Size() int64 { return f.Reader.Size() }

// Close does nothing.
func (openFile) Close() error { return nil }

package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/exchequer-dev/exchequer/internal/tempfile"
)

const (
	// cursorKeyName is the file in the data directory that holds the key that signs cursors, so
	// that they outlive the process.
	cursorKeyName = "cursor.key"
	cursorKeySize = 32
)

// cursorKey reads the key that signs cursors, or makes one. Without a directory the store makes up
// its own.
func (s *Server) cursorKey() ([]byte, error) {
	if s.opts.DataDir == "" {
		return nil, nil
	}
	path := filepath.Join(s.opts.DataDir, cursorKeyName)
	key, err := os.ReadFile(path)
	switch {
	case err == nil && len(key) == 0:
		// A previous version did not sync it, so that a power failure left it empty. No cursor can
		// have been signed with it.
	case err == nil && len(key) != cursorKeySize:
		return nil, fmt.Errorf("%s has %d bytes, not %d: remove it, and cursors handed out so far end",
			path, len(key), cursorKeySize)
	case err == nil:
		return key, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the key of cursors: %w", err)
	}
	key = make([]byte, cursorKeySize)
	_, _ = rand.Read(key) // Never fails, by its documentation.
	if err := os.MkdirAll(s.opts.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the key of cursors: %w", err)
	}
	if err := writeWhole(path, key); err != nil {
		return nil, fmt.Errorf("write the key of cursors: %w", err)
	}
	return key, nil
}

// writeWhole writes a small private file so that it is on the disk whole or not at all: an empty
// one would stop the next start.
func writeWhole(path string, content []byte) (err error) {
	pattern := filepath.Base(path) + ".*.tmp"
	tempfile.Clean(filepath.Dir(path), pattern, time.Hour) // Another process may be here now.
	f, err := os.CreateTemp(filepath.Dir(path), pattern)   // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

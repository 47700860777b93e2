package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

// partialDir holds, below the folder of the files, those that are being written. No key begins with
// a dot.
const partialDir = ".partial"

// partialAge is how old a file in the way of being written must be before another process removes
// it from a folder that several servers may share: longer than any upload takes.
const partialAge = 24 * time.Hour

// reserveStep is how much is written between two looks at the free space.
const reserveStep = 8 << 20

// localFiles writes and removes files in a folder so that what it reported is durable: a file is
// synced, renamed into its place, and the folders above it are synced, before Put returns.
type localFiles struct {
	root string
	disk disk
	// reserve is the free space in bytes below which no file is written; 0 for none.
	reserve int64
}

// path returns where a key is. Keys are made of parts that need no escaping; see statements.
func (l *localFiles) path(key string) string {
	return filepath.Join(l.root, filepath.FromSlash(key))
}

// put writes what a reader gives under a key, all or nothing.
func (l *localFiles) put(ctx context.Context, key string, r io.Reader) error {
	if err := l.room(); err != nil {
		return err
	}
	to := l.path(key)
	folder := filepath.Join(l.root, partialDir, filepath.FromSlash(filepath.Dir(key)))
	if err := l.disk.MkdirAll(folder); err != nil {
		return err
	}
	from := filepath.Join(folder, rand.Text())
	if err := l.write(ctx, from, r); err != nil {
		_ = l.disk.Remove(from) // It may not be there; else the next start removes it.
		return err
	}
	err := l.disk.MkdirAll(filepath.Dir(to))
	if err == nil {
		err = l.disk.Rename(from, to)
	}
	if err != nil {
		_ = l.disk.Remove(from)
		return err
	}
	return l.syncAbove(to)
}

// write writes a new file and syncs it.
func (l *localFiles) write(ctx context.Context, path string, r io.Reader) error {
	f, err := l.disk.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(&guardedWriter{ctx: ctx, to: f, files: l}, r)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = f.Sync()
	}
	if failed := f.Close(); err == nil {
		err = failed
	}
	return err
}

// guardedWriter ends with the context, and before the reserve of free space is used up.
type guardedWriter struct {
	ctx   context.Context
	to    io.Writer
	files *localFiles
	since int // Bytes since the last look at the free space.
}

// Write writes, and reports a short write as an error.
func (w *guardedWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.since += len(p); w.since >= reserveStep {
		w.since = 0
		if err := w.files.room(); err != nil {
			return 0, err
		}
	}
	n, err := w.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// room returns ErrDiskReserve when too little of the disk is free.
func (l *localFiles) room() error {
	if l.reserve <= 0 {
		return nil
	}
	free, known := l.disk.Free(l.root)
	if known && free < l.reserve {
		return statements.ErrDiskReserve.With("free", free).With("reserve", l.reserve)
	}
	return nil
}

// syncAbove makes the name of a file durable, and those of the folders that it is in.
func (l *localFiles) syncAbove(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if err := l.disk.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir == l.root || len(dir) <= len(l.root) {
			return nil
		}
	}
}

// remove removes a file, what another way of writing it left next to it, and its name for good.
func (l *localFiles) remove(key string) error {
	path := l.path(key)
	for _, name := range []string{path, path + attributesSuffix} {
		if err := l.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.syncAbove(path)
}

// attributesSuffix ends the names of the files in which other writers of such folders keep the
// media type of a file.
const attributesSuffix = ".attrs"

// sweep removes everything below a folder of keys, and what was being written there.
func (l *localFiles) sweep(folder string) error {
	for _, root := range []string{l.root, filepath.Join(l.root, partialDir)} {
		dir := filepath.Join(root, filepath.FromSlash(folder))
		if dir == root || !strings.HasPrefix(dir, l.root) {
			return fmt.Errorf("%q is no folder of files", folder)
		}
		if err := l.removeAll(dir); err != nil {
			return err
		}
		if err := l.syncAbove(dir); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a directory with all that is in it.
func (l *localFiles) removeAll(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			err = l.removeAll(path)
		} else {
			err = l.disk.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err = l.disk.Remove(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// oldPartial matches the files that versions before partialDir were writing when they were stopped:
// the name of the file, the time in nanoseconds in hexadecimal, and .tmp.
var oldPartial = regexp.MustCompile(`\.1[0-9a-f]{15}\.tmp$`)

// clean removes the files that a process was writing when it was stopped. In a folder that other
// processes use too, only those that are older than any upload takes.
func (l *localFiles) clean(shared bool, now time.Time) error {
	stale := func(e fs.DirEntry) bool {
		about, err := e.Info()
		return err == nil && (!shared || now.Sub(about.ModTime()) > partialAge)
	}
	own := filepath.Join(l.root, partialDir)
	err := filepath.WalkDir(l.root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // Another process removed it.
		case err != nil:
			return err
		case e.IsDir():
			return nil
		}
		partial := strings.HasPrefix(path, own+string(filepath.Separator)) ||
			oldPartial.MatchString(e.Name())
		if !partial || !stale(e) {
			return nil
		}
		if err := l.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !shared {
		return l.removeAll(own)
	}
	return nil
}

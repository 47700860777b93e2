package engine

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The modes of a data directory. Only its owner can read the files.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// osDisk is the operating system's file system. Files that it creates are private.
type osDisk struct{ vfs.FS }

// Create creates a file for writing.
func (d osDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return private(name, f, err)
}

// OpenReadWrite opens a file for reading and writing.
func (d osDisk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (
	vfs.File, error,
) {
	f, err := d.FS.OpenReadWrite(name, c, opts...)
	return private(name, f, err)
}

// ReuseForWrite renames a file and opens it for writing.
func (d osDisk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, c)
	return private(to, f, err)
}

// private makes a file private right after it was opened. The mode of its directory protects it
// until then.
func private(name string, f vfs.File, err error) (vfs.File, error) {
	if err == nil {
		_ = os.Chmod(name, fileMode) // a file system without modes cannot protect files
	}
	return f, err
}

// Truncate changes the size of a file.
func (osDisk) Truncate(name string, size int64) error { return os.Truncate(name, size) }

// makePrivate sets the modes of an existing data directory and of the files in it. A failure is
// only logged, because the directory may belong to another user who chose its modes.
func makePrivate(dir string, log *slog.Logger) {
	err := restrict(dir, dirMode)
	entries, listErr := os.ReadDir(dir)
	err = errors.Join(err, listErr)
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			err = errors.Join(err, restrict(filepath.Join(dir, entry.Name()), fileMode))
		}
	}
	if err != nil {
		log.Warn("other users of this machine may be able to read the data directory",
			"directory", dir, "error", err)
	}
}

// restrict removes the permissions of a file or directory that are not in a mode.
func restrict(name string, mode fs.FileMode) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed in the meantime
	}
	if err != nil || info.Mode().Perm()&^mode == 0 {
		return err
	}
	return os.Chmod(name, info.Mode().Perm()&mode)
}

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"
)

// InUseError reports that another process has the database open.
type InUseError struct {
	Dir     string
	PID     int       // 0 if it is unknown
	Program string    // name of its program, without arguments, because they may contain secrets
	Since   time.Time // when it opened the database
}

// Error names the process that has the database open, and what to do.
func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d (%s, since %s)", e.PID, e.Program,
			e.Since.Local().Format("2006-01-02 15:04:05"))
	}
	return fmt.Sprintf("the data directory %s is in use by %s: stop that process, talk to it "+
		"if it is a server, or use another directory", e.Dir, holder)
}

const ownerFile = "OWNER"

// owner holds the lock of a data directory. The operating system releases the lock when the process
// ends, however it ends. The owner file only names the process for error messages.
type owner struct {
	fs   vfs.FS
	path string
	lock *pebble.Lock
}

// own locks a directory for this process. The operating system releases the lock if the process
// dies, so no stale lock has to be removed.
func own(fs vfs.FS, dir string) (*owner, error) {
	if err := makeDir(fs, dir); err != nil {
		return nil, unusable(dir, "make directory", dir, err)
	}
	path := fs.PathJoin(dir, ownerFile)
	// Lock before writing the owner file, which belongs to the process that holds the lock.
	lock, err := pebble.LockDirectory(dir, fs)
	if err != nil {
		return nil, heldBy(fs, dir, path, err)
	}
	o := &owner{fs: fs, path: path, lock: lock}
	if err := o.sign(dir); err != nil {
		_ = lock.Close() // return the error of the write
		return nil, unusable(dir, "write", path, err)
	}
	return o, nil
}

// makeDir creates a directory and its parents. It syncs the parents, because otherwise a power cut
// could remove the new directory with all its files.
func makeDir(fs vfs.FS, dir string) error {
	var parents []string
	// Find the existing parent, because only directories that are created here need a sync.
	for at := dir; ; {
		if _, err := fs.Stat(at); err == nil {
			break
		}
		parent := fs.PathDir(at)
		parents = append(parents, parent)
		if parent == at {
			break
		}
		at = parent
	}
	if err := fs.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	for _, parent := range parents {
		if parent == "" {
			parent = "."
		}
		f, err := fs.OpenDir(parent)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// sign writes the owner into the file, so that the error of another process can name it.
func (o *owner) sign(dir string) error {
	raw, err := json.Marshal(InUseError{
		Dir: dir, PID: os.Getpid(), Program: filepath.Base(os.Args[0]), Since: time.Now(),
	})
	if err != nil {
		return err
	}
	f, err := o.fs.Create(o.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Close())
}

// release releases the directory; a nil owner holds none.
func (o *owner) release() error {
	if o == nil {
		return nil
	}
	// Remove the file while the lock is held, because afterwards it may be another process's.
	err := o.fs.Remove(o.path)
	if err != nil {
		err = unusable(o.fs.PathDir(o.path), "remove", o.path, err)
	}
	return errors.Join(err, o.lock.Close())
}

// unusable returns the error of a directory that cannot be written, or of a path that is not a
// directory.
func unusable(dir, op, file string, cause error) error {
	if errors.Is(cause, syscall.ENOTDIR) || errors.Is(cause, syscall.EEXIST) {
		return fmt.Errorf("%s %s: not a directory: use another name", op, file)
	}
	return &dynamo.StoreFailedError{
		Store: dir, Cause: &disk.OpError{Op: op, File: file, Err: cause},
	}
}

// heldBy turns a failed lock into an InUseError, or into the reason why the directory cannot be
// locked.
func heldBy(fs vfs.FS, dir, path string, cause error) error {
	if !busy(cause) {
		return unusable(dir, "lock", dir, cause)
	}
	inUse := &InUseError{Dir: dir}
	f, err := fs.Open(path)
	if err != nil {
		return inUse
	}
	defer func() { _ = f.Close() }()
	if raw, err := io.ReadAll(io.LimitReader(f, 1<<16)); err == nil {
		// An incomplete file is ignored: the error then does not name the process.
		_ = json.Unmarshal(raw, inUse)
		inUse.Dir = dir
	}
	return inUse
}

// busy reports whether a lock failed because this or another process holds it.
func busy(err error) bool {
	var path *os.PathError
	if errors.As(err, &path) {
		return false // the lock file could not be opened
	}
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) ||
		strings.Contains(err.Error(), "held by")
}

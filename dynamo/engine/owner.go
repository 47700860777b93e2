package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// InUseError reports that another process has the database open.
type InUseError struct {
	Dir     string
	PID     int       // 0 when it could not be told
	Command string    // the command line of that process
	Since   time.Time // when it opened the database
}

// Error says who holds the database and what to do.
func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d (%s, since %s)", e.PID, e.Command,
			e.Since.Local().Format("2006-01-02 15:04:05"))
	}
	return fmt.Sprintf("the data directory %s is in use by %s: stop that process, talk to it "+
		"if it is a server, or use another directory", e.Dir, holder)
}

const ownerFile = "OWNER"

// owner is this process's hold on a data directory. The operating system lets go of the lock
// when the process ends in whatever way; the file beside it only says whose it is.
type owner struct {
	fs   vfs.FS
	path string
	lock *pebble.Lock
}

func own(fs vfs.FS, dir string) (*owner, error) {
	if err := makeDir(fs, dir); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	path := fs.PathJoin(dir, ownerFile)
	lock, err := pebble.LockDirectory(dir, fs)
	if err != nil {
		return nil, heldBy(fs, dir, path, err)
	}
	o := &owner{fs: fs, path: path, lock: lock}
	if err := o.sign(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), lock.Close())
	}
	return o, nil
}

// makeDir makes a directory with all that lead to it, and sees to it that a power cut does not
// take them away again together with what is in them.
func makeDir(fs vfs.FS, dir string) error {
	var parents []string
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
	if err := fs.MkdirAll(dir, 0o755); err != nil {
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

func (o *owner) sign(dir string) error {
	raw, err := json.Marshal(InUseError{
		Dir: dir, PID: os.Getpid(), Command: strings.Join(os.Args, " "), Since: time.Now(),
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

// release lets go of the directory; a nil owner holds none.
func (o *owner) release() error {
	if o == nil {
		return nil
	}
	return errors.Join(o.fs.Remove(o.path), o.lock.Close())
}

// heldBy turns a failed lock into an InUseError, or says why the directory cannot be locked at
// all.
func heldBy(fs vfs.FS, dir, path string, cause error) error {
	if errors.Is(cause, os.ErrPermission) && !busy(cause) {
		return fmt.Errorf("lock data directory %s: %w", dir, cause)
	}
	inUse := &InUseError{Dir: dir}
	f, err := fs.Open(path)
	if err != nil {
		return inUse
	}
	defer func() { _ = f.Close() }()
	if raw, err := io.ReadAll(io.LimitReader(f, 1<<16)); err == nil {
		// Half a file is as good as none: the holder is then not named.
		_ = json.Unmarshal(raw, inUse)
		inUse.Dir = dir
	}
	return inUse
}

// busy reports whether a lock failed because somebody holds it.
func busy(err error) bool {
	text := err.Error()
	return strings.Contains(text, "temporarily unavailable") || strings.Contains(text, "held by")
}

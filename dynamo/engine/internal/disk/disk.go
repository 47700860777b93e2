// Package disk is a layer between the storage library and the file system that detects the first
// failure of the disk and stops all later writes to it.
//
// The storage library handles a failed write in several ways: it panics while it holds locks,
// retries without a pause, or returns an error and keeps the write in memory. An [FS] avoids all of
// them. The first failed operation cuts the disk off: the owner of the FS gets the error, the files
// stay as they were at their last sync, and the storage library continues on an overlay in memory,
// where every operation succeeds and nothing is kept. Each call of the library therefore returns,
// the library can be closed, and the owner alone decides which error its callers get.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is a file system that is cut off from its disk by the first failure. It is safe for concurrent
// use.
type FS struct {
	vfs.FS
	onFail  func(cause error)
	failing atomic.Bool
	settled chan struct{} // closed when the disk is cut off

	// Operations that change the disk hold mu shared, and the cut-off holds it exclusively. The
	// cut-off therefore waits for operations in progress, and later operations use the overlay.
	mu      sync.RWMutex
	overlay *overlay // nil while the disk works

	logsMu sync.Mutex
	logs   map[string]*file // logs that are open for writing or were truncated
	closed *file            // the newest log that was closed completely

	durable     sync.Once
	lastDurable uint64
}

// Watch returns an FS for a file system. onFail is called once, with the first failure, before the
// failed operation returns. It must not use the file system.
func Watch(base vfs.FS, onFail func(cause error)) *FS {
	return &FS{
		FS: base, onFail: onFail, settled: make(chan struct{}), logs: map[string]*file{},
	}
}

// OpError is a failed operation on a file.
type OpError struct {
	Op, File string
	Err      error
}

// Error returns the operation, the file and the reason.
func (e *OpError) Error() string {
	reason := e.Err
	var path *fs.PathError
	var link interface{ Unwrap() error }
	switch {
	case errors.As(reason, &path): // the text of a PathError repeats the name of the file
		reason = path.Err
	case errors.As(reason, &link) && strings.Contains(reason.Error(), e.File):
		if inner := link.Unwrap(); inner != nil {
			reason = inner
		}
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.File, reason)
}

// Unwrap returns the reason.
func (e *OpError) Unwrap() error { return e.Err }

// CutOff cuts the disk off because of a failure that was detected elsewhere.
func (d *FS) CutOff() {
	if !d.failing.CompareAndSwap(false, true) {
		<-d.settled
		return
	}
	d.cutOff()
}

func (d *FS) fail(op, name string, err error) {
	if !d.failing.CompareAndSwap(false, true) {
		<-d.settled
		return
	}
	d.onFail(&OpError{Op: op, File: name, Err: err})
	d.cutOff()
}

func (d *FS) cutOff() {
	d.mu.Lock()
	d.overlay = newOverlay(d.FS)
	d.cutLogs()
	d.mu.Unlock()
	close(d.settled)
}

// off returns the overlay, or nil if the disk works.
func (d *FS) off() *overlay {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.overlay
}

// change executes an operation that changes the disk. After a failure, including its own, it
// executes instead on the overlay.
func (d *FS) change(op, name string, real func() error, instead func(*overlay) error) error {
	d.mu.RLock()
	if o := d.overlay; o != nil {
		d.mu.RUnlock()
		return instead(o)
	}
	err := real()
	d.mu.RUnlock()
	if err == nil {
		return nil
	}
	d.fail(op, name, err)
	return instead(d.off())
}

// Create creates a file for writing.
func (d *FS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.openFor("create", name, func() (vfs.File, error) { return d.FS.Create(name, c) })
}

// OpenReadWrite opens a file for reading and writing.
func (d *FS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (
	vfs.File, error,
) {
	return d.openFor("open", name, func() (vfs.File, error) {
		return d.FS.OpenReadWrite(name, c, opts...)
	})
}

// ReuseForWrite renames a file and opens it for writing.
func (d *FS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.openFor("create", to, func() (vfs.File, error) {
		return d.FS.ReuseForWrite(from, to, c)
	})
	if o := d.off(); o != nil {
		o.remove(from)
	}
	return f, err
}

func (d *FS) openFor(op, name string, open func() (vfs.File, error)) (vfs.File, error) {
	f := &file{disk: d, name: name, log: isLog(name)}
	err := d.change(op, name, func() (err error) {
		if f.File, err = open(); err == nil && f.log {
			d.logsMu.Lock()
			d.logs[name] = f
			d.logsMu.Unlock()
		}
		return err
	}, func(o *overlay) error {
		f.File = nil
		f.node.Store(o.create(name, f.log))
		return nil
	})
	return f, err
}

// Open opens a file for reading.
func (d *FS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if o := d.off(); o != nil {
		return o.open(name, opts...)
	}
	return d.FS.Open(name, opts...)
}

// OpenDir opens a directory for syncing.
func (d *FS) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, name: name}, nil
}

// Remove removes a file.
func (d *FS) Remove(name string) error {
	var missing error
	err := d.change("remove", name, func() error {
		err := d.FS.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			missing, err = err, nil // a missing file is not a failure of the disk
		}
		return err
	}, func(o *overlay) error { return o.remove(name) })
	return errors.Join(err, missing)
}

// RemoveAll removes a directory with everything in it.
func (d *FS) RemoveAll(name string) error {
	return d.change("remove", name, func() error { return d.FS.RemoveAll(name) },
		func(o *overlay) error { return o.remove(name) })
}

// Rename renames a file.
func (d *FS) Rename(from, to string) error {
	return d.change("rename", to, func() error { return d.FS.Rename(from, to) },
		func(o *overlay) error { return o.rename(from, to) })
}

// Link creates another name for a file.
func (d *FS) Link(from, to string) error {
	return d.change("link", to, func() error { return d.FS.Link(from, to) },
		func(o *overlay) error { return o.link(from, to) })
}

// MkdirAll creates a directory with its parents.
func (d *FS) MkdirAll(name string, perm fs.FileMode) error {
	return d.change("make directory", name, func() error { return d.FS.MkdirAll(name, perm) },
		func(*overlay) error { return nil })
}

// Stat describes a file.
func (d *FS) Stat(name string) (vfs.FileInfo, error) {
	if o := d.off(); o != nil {
		return o.stat(name)
	}
	return d.FS.Stat(name)
}

// Unwrap returns the underlying file system.
func (d *FS) Unwrap() vfs.FS { return d.FS }

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

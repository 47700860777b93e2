package disk

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logStep is the size in which space for a log is allocated. The storage library would allocate
// more than a whole memory table, 70 MB by default, even for an empty database.
const logStep = 4 << 20

// file is a file that is open for writing, or a directory that is open for syncing. As in vfs.File,
// its writes and syncs do not run concurrently with each other.
type file struct {
	vfs.File // nil if it was created after the disk was cut off
	disk     *FS
	name     string
	log      bool
	written  int64 // number of bytes written
	synced   int64 // number of those bytes that are synced, guarded by disk.mu
	room     int64 // number of bytes that are allocated for a log
	// node is the continuation of the file in memory after the disk is cut off.
	node atomic.Pointer[node]
}

// continued returns the continuation of the file after the disk was cut off.
func (f *file) continued(o *overlay) *node {
	n := f.node.Load()
	if n == nil {
		n = o.continued(f.name, f.written, f.log)
		f.node.Store(n)
	}
	return n
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.disk.change("write", f.name, func() (err error) {
		f.makeRoom(int64(len(p)))
		if n, err = f.File.Write(p); err == nil {
			f.written += int64(n)
		}
		return err
	}, func(o *overlay) error {
		f.continued(o).append(p)
		n = len(p)
		return nil
	})
	return n, err
}

// makeRoom allocates the next part of a log. It ignores an error, because the write itself will
// fail if there is no space.
func (f *file) makeRoom(more int64) {
	if !f.log || f.File.Fd() == vfs.InvalidFd {
		return
	}
	for f.room < f.written+more {
		_ = f.File.Preallocate(f.room, logStep)
		f.room += logStep
	}
}

// Preallocate leaves the allocation to the file system, and that of logs to makeRoom.
func (f *file) Preallocate(offset, length int64) error {
	if f.log || f.File == nil || f.disk.off() != nil {
		return nil
	}
	return f.File.Preallocate(offset, length)
}

func (f *file) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.disk.change("write", f.name, func() (err error) {
		n, err = f.File.WriteAt(p, at)
		return err
	}, func(o *overlay) error {
		f.continued(o).writeAt(p, at)
		n = len(p)
		return nil
	})
	return n, err
}

func (f *file) sync(real func() error) error {
	return f.disk.change("sync", f.name, func() error {
		covered := f.written
		err := real()
		if err == nil {
			f.synced = covered
		}
		return err
	}, func(*overlay) error { return nil })
}

func (f *file) Sync() error     { return f.sync(f.realSync) }
func (f *file) SyncData() error { return f.sync(f.realSyncData) }

func (f *file) realSync() error     { return f.File.Sync() }
func (f *file) realSyncData() error { return f.File.SyncData() }

func (f *file) SyncTo(length int64) (full bool, err error) {
	err = f.disk.change("sync", f.name, func() (err error) {
		if full, err = f.File.SyncTo(length); err == nil && full {
			f.synced = f.written
		}
		return err
	}, func(*overlay) error { return nil })
	return full, err
}

// Close closes the file. A log stays registered until all of it is synced.
func (f *file) Close() error {
	if f.File == nil {
		return nil
	}
	done := false
	err := f.disk.change("close", f.name, func() error {
		done = true
		err := f.File.Close()
		if err == nil && f.log && f.synced == f.written {
			f.disk.forgetLog(f)
		}
		return err
	}, func(*overlay) error { return nil })
	if !done {
		_ = f.File.Close() // the disk is already cut off, so the error does not matter
	}
	return err
}

func (f *file) Stat() (vfs.FileInfo, error) {
	if n := f.node.Load(); n != nil {
		return n.stat(f.name), nil
	}
	return f.File.Stat()
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	if n := f.node.Load(); n != nil {
		return n.readAt(p, at)
	}
	return f.File.ReadAt(p, at)
}

func (f *file) Read(p []byte) (int, error) {
	if f.File == nil {
		return 0, errNotReadable
	}
	return f.File.Read(p)
}

func (f *file) Prefetch(offset, length int64) error {
	if f.File == nil {
		return nil
	}
	return f.File.Prefetch(offset, length)
}

func (f *file) Fd() uintptr {
	if f.File == nil {
		return vfs.InvalidFd
	}
	return f.File.Fd()
}

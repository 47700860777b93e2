package disk

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

var errNotReadable = errors.New("the file is open for writing only")

// overlay is the storage library's view of a disk that was cut off: the files on the disk, with its
// later changes in memory.
type overlay struct {
	base vfs.FS

	mu    sync.Mutex
	files map[string]*node // nil for a removed file
}

func newOverlay(base vfs.FS) *overlay { return &overlay{base: base, files: map[string]*node{}} }

// node is a file of the overlay: the first part of a file on the disk, followed by data in memory.
type node struct {
	base vfs.FS
	name string // name on the disk, "" for a file in memory
	drop bool   // a log, whose data is dropped because it is never read again

	mu     sync.Mutex
	prefix int64 // number of bytes that are on the disk
	tail   []byte
}

func (o *overlay) create(name string, log bool) *node {
	n := &node{base: o.base, drop: log}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[name] = n
	return n
}

// continued returns the node of a file that was open for writing when the disk was cut off.
func (o *overlay) continued(name string, written int64, log bool) *node {
	n := &node{base: o.base, name: name, prefix: written, drop: log}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[name] = n
	return n
}

// find returns the node of a file, or nil without an error for a file that is unchanged on the
// disk.
func (o *overlay) find(name string) (*node, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, known := o.files[name]
	if known && n == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

func (o *overlay) open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	n, err := o.find(name)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return o.base.Open(name, opts...)
	}
	return &reader{node: n, name: name}, nil
}

func (o *overlay) stat(name string) (vfs.FileInfo, error) {
	n, err := o.find(name)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return o.base.Stat(name)
	}
	return n.stat(name), nil
}

func (o *overlay) remove(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[name] = nil
	return nil
}

func (o *overlay) rename(from, to string) error {
	if err := o.link(from, to); err != nil {
		return err
	}
	return o.remove(from)
}

func (o *overlay) link(from, to string) error {
	n, err := o.find(from)
	if err != nil {
		return err
	}
	if n == nil {
		info, err := o.base.Stat(from)
		if err != nil {
			return err
		}
		n = &node{base: o.base, name: from, prefix: info.Size()}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[to] = n
	return nil
}

func (n *node) append(p []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.drop {
		n.tail = append(n.tail, p...)
	}
}

func (n *node) writeAt(p []byte, at int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at < n.prefix || n.drop {
		return // files that are read again are only written at their end
	}
	if more := at - n.prefix + int64(len(p)) - int64(len(n.tail)); more > 0 {
		n.tail = append(n.tail, make([]byte, more)...)
	}
	copy(n.tail[at-n.prefix:], p)
}

func (n *node) size() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.prefix + int64(len(n.tail))
}

func (n *node) readAt(p []byte, at int64) (read int, err error) {
	n.mu.Lock()
	prefix, tail := n.prefix, n.tail
	n.mu.Unlock()
	if at < prefix {
		f, err := n.base.Open(n.name)
		if err != nil {
			return 0, err
		}
		read, err = f.ReadAt(p[:min(int64(len(p)), prefix-at)], at)
		if err := errors.Join(err, f.Close()); err != nil {
			return read, err
		}
		at += int64(read)
	}
	if read < len(p) && at-prefix < int64(len(tail)) {
		read += copy(p[read:], tail[at-prefix:])
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

func (n *node) stat(name string) vfs.FileInfo { return info{name, n.size()} }

// reader reads a file of the overlay.
type reader struct {
	node *node
	name string
	at   int64
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.node.readAt(p, r.at)
	r.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (r *reader) ReadAt(p []byte, at int64) (int, error) { return r.node.readAt(p, at) }
func (r *reader) Stat() (vfs.FileInfo, error)            { return r.node.stat(r.name), nil }
func (r *reader) Close() error                           { return nil }
func (r *reader) Write([]byte) (int, error)              { return 0, fs.ErrInvalid }
func (r *reader) WriteAt([]byte, int64) (int, error)     { return 0, fs.ErrInvalid }
func (r *reader) Preallocate(int64, int64) error         { return nil }
func (r *reader) Sync() error                            { return nil }
func (r *reader) SyncTo(int64) (bool, error)             { return true, nil }
func (r *reader) SyncData() error                        { return nil }
func (r *reader) Prefetch(int64, int64) error            { return nil }
func (r *reader) Fd() uintptr                            { return vfs.InvalidFd }

// info describes a file of the overlay.
type info struct {
	name string
	size int64
}

func (i info) Name() string           { return i.name }
func (i info) Size() int64            { return i.size }
func (i info) Mode() fs.FileMode      { return 0o600 }
func (i info) ModTime() time.Time     { return time.Time{} }
func (i info) IsDir() bool            { return false }
func (i info) Sys() any               { return nil }
func (i info) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

package disk

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Kind is a kind of disk failure.
type Kind string

// The failures that a [Faulty] file system can have.
const (
	NoSpace    Kind = "no space"    // operations that need space fail with ENOSPC
	IOError    Kind = "I/O error"   // changes fail with EIO
	ReadOnly   Kind = "read-only"   // changes fail with EROFS
	ShortWrite Kind = "short write" // a write stores half of its bytes and fails with ENOSPC
	FailedSync Kind = "failed sync" // a sync fails with EIO
)

// Kinds are all kinds of failures.
var Kinds = []Kind{NoSpace, IOError, ReadOnly, ShortWrite, FailedSync}

// Class is a class of files.
type Class string

// The classes of files of a database.
const (
	AnyFile   Class = ""
	Log       Class = "log"       // the write-ahead log
	Table     Class = "table"     // the sorted tables that flushes and compactions write
	Manifest  Class = "manifest"  // the list of those tables, and the markers that point to it
	Other     Class = "other"     // options and the owner file
	Directory Class = "directory" // a directory, when it is synced
)

// Classes are all classes of files.
var Classes = []Class{Log, Table, Manifest, Other, Directory}

func classOf(name string) Class {
	base := filepath.Base(name)
	switch ext := filepath.Ext(base); {
	case ext == ".log":
		return Log
	case ext == ".sst" || ext == ".blob":
		return Table
	case strings.HasPrefix(base, "MANIFEST-") || strings.HasPrefix(base, "marker."):
		return Manifest
	}
	return Other
}

// Fault describes a future disk failure.
type Fault struct {
	Kind  Kind
	Class Class // of the file, any by default
	N     int   // number of the matching operation that fails, from now on: the first by default
	Once  bool  // the disk works again afterwards
}

// String describes the fault.
func (f Fault) String() string {
	class := f.Class
	if class == AnyFile {
		class = "any file"
	}
	return fmt.Sprintf("%s at operation %d on %s", f.Kind, max(f.N, 1), class)
}

// Faulty is a file system for tests that fails on command. It is safe for concurrent use.
type Faulty struct {
	vfs.FS

	mu    sync.Mutex
	fault *Fault
	seen  int
	fired int
}

// NewFaulty returns a file system that works until a fault is set.
func NewFaulty(base vfs.FS) *Faulty { return &Faulty{FS: base} }

// Arm sets the next failure and replaces a previous one.
func (d *Faulty) Arm(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f.N = max(f.N, 1)
	d.fault, d.seen, d.fired = &f, 0, 0
}

// Heal makes the disk work again.
func (d *Faulty) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = nil
}

// Fired returns the number of operations that failed since the fault was set.
func (d *Faulty) Fired() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fired
}

// Seen returns the number of operations that match the fault since it was set.
func (d *Faulty) Seen() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

// effect is the kind of an operation, as far as failures depend on it.
type effect int

const (
	grow    effect = iota // needs space
	inPlace               // changes existing data, or frees space
	flush
)

// failure returns the error of an operation, or nil.
func (d *Faulty) failure(class Class, e effect) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.fault
	if f == nil || f.Class != AnyFile && f.Class != class && f.Kind != ReadOnly {
		return nil
	}
	var err error
	switch f.Kind {
	case NoSpace:
		err = only(e == grow, syscall.ENOSPC)
	case ShortWrite:
		err = only(e == grow, syscall.ENOSPC)
	case IOError:
		err = syscall.EIO
	case ReadOnly:
		err = only(e != flush, syscall.EROFS)
	case FailedSync:
		err = only(e == flush, syscall.EIO)
	}
	if err == nil {
		return nil
	}
	if d.seen++; d.seen < f.N {
		return nil
	}
	if f.Once && d.fired > 0 {
		return nil
	}
	d.fired++
	return err
}

func only(when bool, err error) error {
	if when {
		return err
	}
	return nil
}

func (d *Faulty) fails(op, name string, e effect) error {
	if err := d.failure(classOf(name), e); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// Create creates a file.
func (d *Faulty) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.fails("create", name, grow); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name, c)
	return &faultyFile{f, d, classOf(name), name}, err
}

// OpenReadWrite opens a file for reading and writing.
func (d *Faulty) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (
	vfs.File, error,
) {
	if err := d.fails("open", name, inPlace); err != nil {
		return nil, err
	}
	f, err := d.FS.OpenReadWrite(name, c, opts...)
	return &faultyFile{f, d, classOf(name), name}, err
}

// ReuseForWrite renames a file and opens it for writing.
func (d *Faulty) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.fails("rename", to, grow); err != nil {
		return nil, err
	}
	f, err := d.FS.ReuseForWrite(from, to, c)
	return &faultyFile{f, d, classOf(to), to}, err
}

// OpenDir opens a directory for syncing.
func (d *Faulty) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	return &faultyFile{f, d, Directory, name}, err
}

// Remove removes a file.
func (d *Faulty) Remove(name string) error {
	if err := d.fails("remove", name, inPlace); err != nil {
		return err
	}
	return d.FS.Remove(name)
}

// Rename renames a file.
func (d *Faulty) Rename(from, to string) error {
	if err := d.fails("rename", to, grow); err != nil {
		return err
	}
	return d.FS.Rename(from, to)
}

// Link creates another name for a file.
func (d *Faulty) Link(from, to string) error {
	if err := d.fails("link", to, grow); err != nil {
		return err
	}
	return d.FS.Link(from, to)
}

// MkdirAll creates a directory.
func (d *Faulty) MkdirAll(name string, perm fs.FileMode) error {
	if _, err := d.FS.Stat(name); err != nil {
		if err := d.fails("mkdir", name, grow); err != nil {
			return err
		}
	}
	return d.FS.MkdirAll(name, perm)
}

type faultyFile struct {
	vfs.File
	disk  *Faulty
	class Class
	name  string
}

func (f *faultyFile) fails(op string, e effect) error {
	if err := f.disk.failure(f.class, e); err != nil {
		return &fs.PathError{Op: op, Path: f.name, Err: err}
	}
	return nil
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if err := f.fails("write", grow); err != nil {
		n := 0
		if f.disk.short() {
			n, _ = f.File.Write(p[:len(p)/2])
		}
		return n, err
	}
	return f.File.Write(p)
}

func (d *Faulty) short() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault != nil && d.fault.Kind == ShortWrite
}

func (f *faultyFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.fails("write", inPlace); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, at)
}

func (f *faultyFile) Sync() error {
	if err := f.fails("fsync", flush); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) SyncData() error {
	if err := f.fails("fdatasync", flush); err != nil {
		return err
	}
	return f.File.SyncData()
}

func (f *faultyFile) SyncTo(length int64) (bool, error) {
	if err := f.fails("sync_file_range", flush); err != nil {
		return false, err
	}
	return f.File.SyncTo(length)
}

package engine

import "github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"

// DiskFaultKind is a kind of disk failure.
type DiskFaultKind = disk.Kind

// The kinds of disk failures.
const (
	DiskNoSpace    = disk.NoSpace    // operations that need space fail with ENOSPC
	DiskIOError    = disk.IOError    // changes fail with EIO
	DiskReadOnly   = disk.ReadOnly   // changes fail with EROFS
	DiskShortWrite = disk.ShortWrite // a write stores half of its bytes and fails with ENOSPC
	DiskFailedSync = disk.FailedSync // a sync fails with EIO
)

// DiskFaultKinds returns all kinds of disk failures.
func DiskFaultKinds() []DiskFaultKind { return append([]DiskFaultKind(nil), disk.Kinds...) }

// DiskFileClass is a class of files of a database.
type DiskFileClass = disk.Class

// The classes of files.
const (
	DiskAnyFile   = disk.AnyFile
	DiskLog       = disk.Log       // the write-ahead log
	DiskTable     = disk.Table     // the sorted tables that flushes and compactions write
	DiskManifest  = disk.Manifest  // the list of those tables, and the markers that point to it
	DiskOther     = disk.Other     // options and the owner file
	DiskDirectory = disk.Directory // the directory itself, when it is synced
)

// DiskFileClasses returns all classes of files.
func DiskFileClasses() []DiskFileClass { return append([]DiskFileClass(nil), disk.Classes...) }

// DiskFault describes a future disk failure. It begins at the N-th matching operation from now (the
// first by default): one that concerns a file of the class and that can fail in this way. The disk
// then fails until [Disk.Heal], or with Once only for that operation.
type DiskFault = disk.Fault

// Fail sets the next failure and replaces a previous one.
func (d *Disk) Fail(f DiskFault) { d.faulty.Arm(f) }

// Heal makes the disk work again. A database that has failed remains failed until it is reopened.
func (d *Disk) Heal() { d.faulty.Heal() }

// Fired returns the number of operations that failed since Fail.
func (d *Disk) Fired() int { return d.faulty.Fired() }

// Seen returns the number of operations since Fail that match the failure. With an N that is never
// reached, this is the number of positions for a test to try.
func (d *Disk) Seen() int { return d.faulty.Seen() }

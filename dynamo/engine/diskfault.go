package engine

import "github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"

// DiskFaultKind is a kind of failure of a disk.
type DiskFaultKind = disk.Kind

// The kinds of failures.
const (
	DiskNoSpace    = disk.NoSpace    // whatever takes room fails with ENOSPC
	DiskIOError    = disk.IOError    // every change fails with EIO
	DiskReadOnly   = disk.ReadOnly   // every change fails with EROFS
	DiskShortWrite = disk.ShortWrite // a write writes half of its bytes and fails with ENOSPC
	DiskFailedSync = disk.FailedSync // a sync fails with EIO
)

// DiskFaultKinds are all kinds of failures.
func DiskFaultKinds() []DiskFaultKind { return append([]DiskFaultKind(nil), disk.Kinds...) }

// DiskFileClass is a class of files of a database.
type DiskFileClass = disk.Class

// The classes of files.
const (
	DiskAnyFile   = disk.AnyFile
	DiskLog       = disk.Log       // the write-ahead log
	DiskTable     = disk.Table     // the files that a flush or a compaction writes
	DiskManifest  = disk.Manifest  // the list of those files, and the marks that point to it
	DiskOther     = disk.Other     // options and the owner's file
	DiskDirectory = disk.Directory // the directory, when it is synced
)

// DiskFileClasses are all classes of files.
func DiskFileClasses() []DiskFileClass { return append([]DiskFileClass(nil), disk.Classes...) }

// DiskFault is a failure that a disk will have: of the N-th operation from now, the first by
// default, that concerns a file of the class and can fail so. The disk fails from then on until
// [Disk.Heal]; with Once only that operation does.
type DiskFault = disk.Fault

// Fail sets the next failure, and replaces a previous one.
func (d *Disk) Fail(f DiskFault) { d.faulty.Arm(f) }

// Heal makes the disk work again. A database that has failed stays so until it is opened again.
func (d *Disk) Heal() { d.faulty.Heal() }

// Fired returns how many operations have failed since Fail.
func (d *Disk) Fired() int { return d.faulty.Fired() }

// Seen returns how many operations since Fail the failure could have met: with an N that is never
// reached, how many positions there are to try.
func (d *Disk) Seen() int { return d.faulty.Seen() }

package engine

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"
)

// Disk is a disk in memory for tests. It can lose its power and can fail on command. A database on
// it is as durable as one in a directory: a call that returned is synced. Set Options.Disk and open
// the database with [Open]. After a power cut the remaining data is a new Disk, so that the
// previous database can use the old one until it is closed.
//
//	disk.Fail(engine.DiskFault{Kind: engine.DiskNoSpace, N: 3})
//	... the third operation from here on that needs space fails, and with it the database: each
//	    call returns a [dynamo.StoreFailedError], and db.Failed() is closed ...
//	_ = db.Close()
//	disk.Heal()
//	db, err = engine.Open("data", engine.Options{Disk: disk})
//	... every acknowledged write is stored, and no refused one ...
type Disk struct {
	mem    *vfs.MemFS
	faulty *disk.Faulty
	onSync atomic.Pointer[func()]
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return newDisk(vfs.NewCrashableMem()) }

func newDisk(mem *vfs.MemFS) *Disk {
	d := &Disk{mem: mem}
	d.faulty = disk.NewFaulty(diskFS{FS: mem, disk: d})
	return d
}

// CutPower returns the disk as a power cut would leave it now: all synced data, and a percentage of
// the blocks that are not synced, chosen by the seed. The new disk has no faults.
func (d *Disk) CutPower(seed uint64, unsyncedPercent int) *Disk {
	return newDisk(d.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: unsyncedPercent,
		RNG:                 rand.New(rand.NewPCG(seed, 0)),
	}))
}

// OnSync sets a function that is called before each sync of a file, so that a test can cut the
// power while a write is in progress; nil removes it.
func (d *Disk) OnSync(f func()) {
	if f == nil {
		d.onSync.Store(nil)
		return
	}
	d.onSync.Store(&f)
}

func (d *Disk) beforeSync() {
	if f := d.onSync.Load(); f != nil {
		(*f)()
	}
}

// files returns the file system for the storage library.
func (d *Disk) files() vfs.FS { return d.faulty }

// diskFS is a file system with the hook of a [Disk] before each sync of a file.
type diskFS struct {
	vfs.FS
	disk *Disk
}

func (f diskFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file(f.FS.Create(name, c))
}

func (f diskFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (
	vfs.File, error,
) {
	return f.file(f.FS.OpenReadWrite(name, c, opts...))
}

func (f diskFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file(f.FS.ReuseForWrite(from, to, c))
}

func (f diskFS) file(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return diskFile{file, f.disk}, nil
}

// diskFile is a file of a diskFS.
type diskFile struct {
	vfs.File
	disk *Disk
}

func (f diskFile) Sync() error {
	f.disk.beforeSync()
	return f.File.Sync()
}

func (f diskFile) SyncData() error {
	f.disk.beforeSync()
	return f.File.SyncData()
}

func (f diskFile) SyncTo(length int64) (fullSync bool, err error) {
	f.disk.beforeSync()
	return f.File.SyncTo(length)
}

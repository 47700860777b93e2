package engine

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"
)

// Disk is a disk in memory that a test can take the power from, and that fails on command. A
// database on it is as durable as one in a directory: a call that returned is synced. Give it to
// Options.Disk and open the database with [Open]. What a power cut leaves is another Disk, so that
// the database of before may go on with the old one until it is closed.
//
//	disk.Fail(engine.DiskFault{Kind: engine.DiskNoSpace, N: 3})
//	... the third operation from here on that takes room fails, and with it the database: each
//	    call returns a [dynamo.StoreFailedError], and db.Failed() is closed ...
//	_ = db.Close()
//	disk.Heal()
//	db, err = engine.Open("data", engine.Options{Disk: disk})
//	... everything that was acknowledged is there, and nothing that was refused ...
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

// CutPower returns the disk as a power cut leaves it now: everything that was synced, and of each
// block that was not synced yet this percentage, drawn from the seed. It works, whatever the old
// one was told to fail with.
func (d *Disk) CutPower(seed uint64, unsyncedPercent int) *Disk {
	return newDisk(d.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: unsyncedPercent,
		RNG:                 rand.New(rand.NewPCG(seed, 0)),
	}))
}

// OnSync sets a function that is called before each sync of a file, so that a test can cut the
// power while a write is on its way to the disk; nil sets none.
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

// files is the disk as the store below sees it.
func (d *Disk) files() vfs.FS { return d.faulty }

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

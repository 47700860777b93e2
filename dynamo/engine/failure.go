package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/disk"
)

// failure is the reason why a database has stopped. Only the first cause is kept, because later
// errors are its consequences.
type failure struct {
	db    *DB
	once  sync.Once
	cause *dynamo.StoreFailedError // written before done is closed
	done  chan struct{}
}

// Failed returns a channel that is closed when the database fails: a write to its disk was refused,
// or the storage library met an error that it cannot recover from. From then on each call,
// including those that wait, returns a [dynamo.StoreFailedError]. The directory must be opened
// again.
func (db *DB) Failed() <-chan struct{} { return db.failure.done }

// Failure returns the error of a database that has failed, or nil.
func (db *DB) Failure() error {
	select {
	case <-db.failure.done:
		return db.failure.cause
	default:
		return nil
	}
}

// set sets the failed state of the database. It takes no lock, because the storage library calls
// it while it holds its own.
func (f *failure) set(cause error) {
	f.once.Do(func() {
		f.cause = &dynamo.StoreFailedError{Store: f.db.dir, Cause: cause}
		close(f.done)
		f.db.opts.Logger.Error("the database has failed: open it again",
			"directory", f.db.dir, "error", cause)
	})
}

// breakDown fails the database because of an error that is not from its disk. It also stops the
// storage library from changing the disk.
func (f *failure) breakDown(cause error) {
	f.set(cause)
	if f.db.disk != nil {
		f.db.disk.CutOff()
	}
}

// guard turns a panic of the storage library into a failure of the database. Each call that writes
// defers it first, because a caller that recovers would continue with the library's locks held.
func (f *failure) guard(err *error) {
	if p := recover(); p != nil {
		f.db.opts.Logger.Error("the storage library broke off", "panic", fmt.Sprint(p),
			"stack", string(debug.Stack()))
		f.breakDown(fmt.Errorf("the storage library broke off: %v", p))
		*err = f.db.Failure()
	}
}

// applyUnsynced makes a batch visible. The batch is durable only after a later sync.
func (db *DB) applyUnsynced(batch *pebble.Batch) (err error) {
	defer db.failure.guard(&err)
	if err := db.Failure(); err != nil {
		return err
	}
	return db.store.Apply(batch, pebble.NoSync)
}

// applyAhead makes a batch visible and starts its sync. Call awaitDurable to wait for the sync.
func (db *DB) applyAhead(batch *pebble.Batch) (err error) {
	defer db.failure.guard(&err)
	if err := db.Failure(); err != nil {
		return err
	}
	return db.store.ApplyNoSyncWait(batch, pebble.Sync)
}

// awaitDurable waits until a batch of applyAhead is synced. After a failure of the database it
// returns nil only for a batch that an earlier sync covered: only such a batch is acknowledged.
func (db *DB) awaitDurable(batch *pebble.Batch) error {
	sequence := uint64(batch.SeqNum())
	err := batch.SyncWait()
	failed := db.Failure()
	switch {
	case failed == nil && err != nil:
		db.failure.breakDown(err)
		return db.Failure()
	case failed == nil:
		return nil
	case err == nil && db.disk != nil && db.disk.Durable(sequence):
		return nil
	}
	return failed
}

// persist applies a batch, waits for its sync, and closes it.
func (db *DB) persist(batch *pebble.Batch) error {
	if !db.synced {
		return errors.Join(db.applyUnsynced(batch), batch.Close())
	}
	if err := db.applyAhead(batch); err != nil {
		return err // the batch is not reused, because the store may still refer to it
	}
	if err := db.awaitDurable(batch); err != nil {
		return err
	}
	return batch.Close()
}

// put persists one row that does not belong to a table.
func (db *DB) put(key, value []byte) error {
	batch := db.store.NewBatch()
	if err := batch.Set(key, value, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return db.persist(batch)
}

// watch puts a file system between the storage library and the disk that reports each failed write.
func (f *failure) watch(opts *pebble.Options) {
	f.db.disk = disk.Watch(f.db.opts.fs, f.set)
	opts.FS = f.db.disk
}

// events returns the listener for errors of the storage library's background work.
func (f *failure) events() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: f.backgroundError,
		DataCorruption:  f.db.corruption,
	}
}

// backgroundError is called when a flush or a compaction fails, while locks of the store are held.
// Without it the store would retry in a tight loop, and stall writes when too much is waiting.
func (f *failure) backgroundError(err error) {
	f.set(fmt.Errorf("work in the background: %w", err))
	if f.db.disk != nil {
		go f.db.disk.CutOff() // CutOff waits for operations that may wait for those locks
	}
}

// closeTimeout is the maximum time that Close waits for the storage library of a failed database. A
// failed library does not use the disk, so it is exceeded only if the library is deadlocked.
const closeTimeout = 10 * time.Second

// Close waits for background work and closes the database. Later calls return ErrClosed. If the
// database has failed, Close returns that failure.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return ErrClosed
	}
	closed := make(chan error, 1)
	go func() { closed <- db.close() }()
	var err error
	select {
	case err = <-closed:
	case <-db.failure.done:
		select {
		case err = <-closed:
		case <-time.After(closeTimeout):
			db.opts.Logger.Error("the storage library of a failed database does not end",
				"directory", db.dir)
			err = db.owner.release()
		}
	}
	if failed := db.Failure(); failed != nil {
		return failed // other errors are consequences
	}
	return err
}

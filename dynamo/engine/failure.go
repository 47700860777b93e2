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

// failure is why a database has stopped. The first cause counts: whatever follows is its
// consequence.
type failure struct {
	once  sync.Once
	cause *dynamo.StoreFailedError // written before failed is closed
	done  chan struct{}
}

// Failed returns a channel that is closed as soon as the database has failed: a write to its disk
// was refused, or the storage library met an error that it cannot go on from. Each call returns a
// [dynamo.StoreFailedError] then, also each one that waits, and only opening the directory again
// ends that.
func (db *DB) Failed() <-chan struct{} { return db.failure.done }

// Failure returns the error of a database that has failed, nil while it works.
func (db *DB) Failure() error {
	select {
	case <-db.failure.done:
		return db.failure.cause
	default:
		return nil
	}
}

// fail puts the database into its failed state. It holds no lock and takes none, because it is
// called from inside the storage library.
func (db *DB) fail(cause error) {
	db.failure.once.Do(func() {
		db.failure.cause = &dynamo.StoreFailedError{Store: db.dir, Cause: cause}
		close(db.failure.done)
		db.opts.Logger.Error("the database has failed: it answers nothing until it is opened again",
			"directory", db.dir, "error", cause)
	})
}

// breakDown fails the database because of something else than its disk, and keeps the storage
// library from changing anything on the disk.
func (db *DB) breakDown(cause error) {
	db.fail(cause)
	if db.disk != nil {
		db.disk.CutOff()
	}
}

// guard turns a panic of the storage library into a failure of the database. It is deferred where
// the library is called to write, below anything that recovers: the library panics with its locks
// held.
func (db *DB) guard(err *error) {
	if p := recover(); p != nil {
		db.opts.Logger.Error("the storage library broke off", "panic", fmt.Sprint(p),
			"stack", string(debug.Stack()))
		db.breakDown(fmt.Errorf("the storage library broke off: %v", p))
		*err = db.Failure()
	}
}

// applyUnsynced makes a batch visible. Whether it stays is known after a later sync only.
func (db *DB) applyUnsynced(batch *pebble.Batch) (err error) {
	defer db.guard(&err)
	if err := db.Failure(); err != nil {
		return err
	}
	return db.store.Apply(batch, pebble.NoSync)
}

// applyAhead makes a batch visible and begins to write it to the disk, which settled waits for.
func (db *DB) applyAhead(batch *pebble.Batch) (err error) {
	defer db.guard(&err)
	if err := db.Failure(); err != nil {
		return err
	}
	return db.store.ApplyNoSyncWait(batch, pebble.Sync)
}

// settled returns when a batch of applyAhead is on the disk. After a failure it depends on the disk
// whether it is: a batch that a sync had covered before is acknowledged, and no other.
func (db *DB) settled(batch *pebble.Batch) error {
	sequence := uint64(batch.SeqNum())
	err := batch.SyncWait()
	failed := db.Failure()
	switch {
	case failed == nil && err != nil:
		db.breakDown(err)
		return db.Failure()
	case failed == nil:
		return nil
	case err == nil && db.disk != nil && db.disk.Durable(sequence):
		return nil
	}
	return failed
}

// persist applies a batch, waits until it is on the disk, and closes it.
func (db *DB) persist(batch *pebble.Batch) error {
	if !db.synced {
		return errors.Join(db.applyUnsynced(batch), batch.Close())
	}
	if err := db.applyAhead(batch); err != nil {
		return err // the batch is not used again, because the store may still have it
	}
	if err := db.settled(batch); err != nil {
		return err
	}
	return batch.Close()
}

// put persists one row outside the tables.
func (db *DB) put(key, value []byte) error {
	batch := db.store.NewBatch()
	if err := batch.Set(key, value, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return db.persist(batch)
}

// watch puts a database between its storage library and its disk.
func (db *DB) watch(opts *pebble.Options) {
	db.disk = disk.Watch(db.opts.fs, db.fail)
	opts.FS = db.disk
}

// events are what the storage library reports about its work in the background.
func (db *DB) events() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: db.backgroundError,
		DataCorruption:  db.corruption,
	}
}

// backgroundError is called when a flush or a compaction fails, with locks of the store held. The
// store would try it again without a pause and refuse to write once too much waits for it.
func (db *DB) backgroundError(err error) {
	db.fail(fmt.Errorf("work in the background: %w", err))
	if db.disk != nil {
		go db.disk.CutOff() // it waits for operations that may wait for those locks
	}
}

// closeTimeout is how long Close waits for the storage library of a database that has failed.
// Nothing of it needs the disk, so this is reached only if the library is stuck.
const closeTimeout = 10 * time.Second

// Close waits for work in the background and closes the database. Calls that come after fail
// with ErrClosed. The error of a database that has failed is its failure.
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
		return failed // the rest is its consequence
	}
	return err
}

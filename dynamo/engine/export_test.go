package engine

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
)

// WithDisk returns the options of a database on another file system than the operating
// system's.
func (o Options) WithDisk(fs vfs.FS) Options {
	o.fs = fs
	return o
}

// WithoutSync returns the options of a database that never syncs, so that tests can show that they
// detect it.
func (o Options) WithoutSync() Options {
	o.noSync = true
	return o
}

// Settled reports whether a table has no unfinished background work.
func (db *DB) Settled(name string) bool {
	db.schema.RLock()
	defer db.schema.RUnlock()
	t := db.tables[name]
	if t == nil {
		return true
	}
	for _, ix := range t.indexes {
		if !ix.ready() {
			return false
		}
	}
	return t.counted.Load() && (t.TTL == "" || t.TTLReady)
}

// WithoutLocks returns the options of a database whose writes of one item do not wait for each
// other.
func (o Options) WithoutLocks() Options {
	o.noLocks = true
	return o
}

// Settle compacts all rows into the lowest level. Denied returns how often since the database was
// opened a filter has excluded a file from a look-up.
func (db *DB) Settle() error {
	if err := db.store.Flush(); err != nil {
		return err
	}
	return db.store.Compact(context.Background(), []byte{0}, []byte{0xff}, false)
}

// Denied is explained at Settle.
func (db *DB) Denied() int64 { return db.store.Metrics().Filter.Hits }

// SetFormat makes the database look as if a version with another format had written it.
func (db *DB) SetFormat(version int) error {
	return db.SetRawFormat(fmt.Appendf(nil, `{"Version": %d, "Seed": 1}`, version))
}

// SetRawFormat replaces the stored format of the database.
func (db *DB) SetRawFormat(raw []byte) error {
	return db.put(keyspace.Meta("format"), raw)
}

// HoldItem takes the lock of an item, so that writes of it wait until it is released.
func (db *DB) HoldItem(table string, key dynamo.Key) (release func()) {
	stripes := db.locks.lock([]uint16{stripeOf(db.itemKey(db.tables[table], key))})
	return func() { db.locks.unlock(stripes) }
}

// SameLock reports whether two items share a lock.
func (db *DB) SameLock(table string, a, b dynamo.Key) bool {
	t := db.tables[table]
	return stripeOf(db.itemKey(t, a)) == stripeOf(db.itemKey(t, b))
}

// PretendExport stores an export in progress that never runs, as after a crash.
func (db *DB) PretendExport(tableArn string) error {
	db.schema.Lock()
	defer db.schema.Unlock()
	return db.archives.saveExport(dynamo.ExportDescription{
		ExportArn: tableArn + "/export/1", TableArn: tableArn,
		ExportStatus: dynamo.ArchiveInProgress,
	})
}

// ExpireFound deletes an item as a sweep does that found its expiry row with this time in seconds.
// It reports whether the item was deleted.
func (db *DB) ExpireFound(table string, key dynamo.Key, epoch int64) (bool, error) {
	db.schema.RLock()
	defer db.schema.RUnlock()
	t := db.tables[table]
	var up unsyncedDeletes
	gone, err := db.sweeper.expire(t, expiry{epoch: epoch, itemKey: db.itemKey(t, key)}, &up)
	for _, ticket := range up.tickets {
		db.syncs.complete(ticket)
	}
	return gone, err
}

// Waiting returns the number of readers that wait for the sync of a write that they have seen.
func (db *DB) Waiting() int {
	db.syncs.mu.Lock()
	defer db.syncs.mu.Unlock()
	return len(db.syncs.waiting)
}

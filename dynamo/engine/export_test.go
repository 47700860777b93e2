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

// WithoutSync returns the options of a database that forgets to sync, so that tests can show
// that they notice.
func (o Options) WithoutSync() Options {
	o.noSync = true
	return o
}

// Settled reports whether no work in the background is left for a table.
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

// Settle writes all rows into the lowest level, and Denied tells how often a filter has told since
// the database was opened that a file does not have what is looked for.
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

// SetRawFormat replaces what the database says of its format.
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

// PretendExport notes an export that nobody carries out, as a crash leaves it.
func (db *DB) PretendExport(tableArn string) error {
	db.schema.Lock()
	defer db.schema.Unlock()
	return db.saveExport(dynamo.ExportDescription{
		ExportArn: tableArn + "/export/1", TableArn: tableArn,
		ExportStatus: dynamo.ArchiveInProgress,
	})
}

// ExpireFound deletes an item as the sweep does that found it to expire at a time, in seconds, and
// reports whether it did.
func (db *DB) ExpireFound(table string, key dynamo.Key, epoch int64) (bool, error) {
	db.schema.RLock()
	defer db.schema.RUnlock()
	t := db.tables[table]
	var up airborne
	gone, err := db.expire(t, expiry{epoch: epoch, itemKey: db.itemKey(t, key)}, &up)
	for _, flight := range up.flights {
		db.flights.land(flight)
	}
	return gone, err
}

// Waiting returns how many readers wait for a write that they have seen to be on the disk.
func (db *DB) Waiting() int {
	db.flights.mu.Lock()
	defer db.flights.mu.Unlock()
	return len(db.flights.waiting)
}

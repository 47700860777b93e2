package engine

import (
	"context"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// resume starts the unfinished background work of a table: filling new indexes, writing the expiry
// rows of items that are older than the expiry setting, and counting items after a crash. The
// caller holds the schema lock.
func (db *DB) resume(t *table) {
	counting := !t.counted.Load()
	filling := t.TTL != "" && !t.TTLReady
	for _, ix := range t.indexes {
		filling = filling || !ix.ready()
	}
	if counting {
		db.work.Go(func() { db.report("count items", t, db.recount(db.running, t)) })
	}
	if filling {
		// Read until here: a later change of the table sets its phase under a lock that the
		// backfill does not hold.
		until := t.phase.until
		db.work.Go(func() { db.report("fill index", t, db.backfill(db.running, t, until)) })
	}
}

func (db *DB) report(what string, t *table, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		db.opts.Logger.Error(what, "table", t.Name, "error", err)
	}
}

// backfillBatch is the number of items that are filled in under one hold of the schema lock, so
// that changes of tables do not wait long.
const backfillBatch = 256

// backfill scans all items of a table and writes their missing index and expiry rows. Concurrent
// writes maintain a new index from its creation on, so a row may be written twice, which has no
// effect. After the scan the index becomes active. After a crash the scan starts from the
// beginning.
func (db *DB) backfill(ctx context.Context, t *table, until time.Time) error {
	if err := db.awaitPhase(ctx, until); err != nil {
		return err
	}
	var after []byte
	for {
		last, err := db.backfillSome(ctx, t, after)
		if err != nil {
			return err
		}
		if last == nil {
			return db.backfilled(t)
		}
		after = last
	}
}

// errSuperseded reports that the table was changed during background work. The changed table has
// its own backfill.
var errSuperseded = context.Canceled

// backfillSome fills the rows of one batch of items, from the key after on, and returns the key of
// the next batch or nil at the end. It holds the schema lock only for a batch, so that a long
// backfill does not block changes of tables. A table that was deleted or changed in the meantime is
// errSuperseded.
func (db *DB) backfillSome(ctx context.Context, t *table, after []byte) ([]byte, error) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	if db.tables[t.Name] != t {
		return nil, errSuperseded
	}
	lower := after
	if lower == nil {
		lower = t.prefix
	}
	n := 0
	var last []byte
	err := db.eachRow(db.store, lower, keyspace.After(t.prefix), func(it *pebble.Iterator) (
		bool, error,
	) {
		rowKey := append([]byte(nil), it.Key()...)
		if n == backfillBatch {
			last = rowKey
			return false, nil
		}
		n++
		return true, db.fillIn(t, rowKey)
	})
	if err != nil {
		return nil, err
	}
	return last, nil
}

// fillIn writes the index and expiry rows of one item. It holds the item's lock, so that a
// concurrent write cannot remove a row before fillIn writes it.
func (db *DB) fillIn(t *table, rowKey []byte) error {
	stripes := db.locks.lock([]uint16{stripeOf(rowKey)})
	defer db.locks.unlock(stripes)
	view, err := db.view(db.store, rowKey)
	if err != nil || !view.Exists() {
		return err
	}
	batch := db.store.NewBatch()
	for _, ix := range t.indexes {
		if ix.ready() {
			continue
		}
		if err := db.fillIndex(batch, t, ix, view, rowKey); err != nil {
			return err
		}
	}
	if t.TTL != "" && !t.TTLReady {
		if epoch, ok := epochOf(t, &view); ok {
			key := keyspace.AppendExpiry(nil, t.ID, epoch, rowKey)
			if err := batch.Set(key, nil, nil); err != nil {
				return err
			}
		}
	}
	// No sync is needed for each item: the change that marks the indexes as ready is synced after
	// all of them, and a log is durable from its beginning.
	return errors.Join(db.applyUnsynced(batch), batch.Close())
}

// fillIndex adds the row of an item to the batch if the item has the keys of the index.
func (db *DB) fillIndex(batch *pebble.Batch, t *table, ix *index, view row.View,
	rowKey []byte,
) error {
	key := ix.appendRowKey(nil, db.hash, &view, rowKey)
	if len(key) == 0 {
		return nil
	}
	var value []byte
	if ix.stores() {
		item, err := view.Item()
		if err != nil {
			return err
		}
		value = ix.rowValue(item)
	}
	return batch.Set(key, value, nil)
}

// backfilled marks the indexes of a table as ready.
func (db *DB) backfilled(t *table) error {
	db.schema.Lock()
	defer db.schema.Unlock()
	if db.tables[t.Name] != t || db.usable() != nil {
		return errSuperseded
	}
	d := t.descriptor
	d.TTLReady = true
	d.Indexes = append([]indexDescriptor(nil), d.Indexes...)
	for i := range d.Indexes {
		d.Indexes[i].Status = dynamo.StatusActive
	}
	if err := db.change(d, nil); err != nil {
		return err
	}
	db.replace(t, d)
	return nil
}

// recount counts the items of a table after the database was not closed cleanly.
func (db *DB) recount(ctx context.Context, t *table) error {
	// Concurrent writes could be counted twice or missed. The scan therefore reads a snapshot, and
	// the counters, which are set to zero at the same moment, add later changes.
	db.schema.Lock()
	if db.tables[t.Name] != t || db.closed.Load() {
		db.schema.Unlock()
		return errSuperseded
	}
	snapshot := db.store.NewSnapshot()
	t.items.Store(0)
	t.bytes.Store(0)
	db.schema.Unlock()
	items, bytes, err := db.sum(ctx, snapshot, t.prefix)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		return err
	}
	db.schema.RLock()
	defer db.schema.RUnlock()
	if db.tables[t.Name] != t {
		return errSuperseded // the changed table starts its own count
	}
	t.count(items, bytes)
	t.counted.Store(true)
	return nil
}

// sum returns the number of items below a prefix and the sum of their sizes.
func (db *DB) sum(ctx context.Context, r pebble.Reader, prefix []byte) (
	items, bytes int64, err error,
) {
	err = db.eachRow(r, prefix, keyspace.After(prefix), func(it *pebble.Iterator) (bool, error) {
		raw, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		size, err := row.Size(raw)
		if err != nil {
			return false, err
		}
		items++
		bytes += int64(size)
		if items%contextEvery == 0 {
			err = ctx.Err()
		}
		return true, err
	})
	if err != nil {
		return 0, 0, err
	}
	return items, bytes, nil
}

func (db *DB) sizeOf(prefix []byte) (int64, error) {
	_, bytes, err := db.sum(context.Background(), db.store, prefix)
	return bytes, err
}

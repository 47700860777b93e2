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

// resume starts what is still to be done for a table: filling new indexes, writing the expiry
// rows of items that were there before expiry was turned on, counting after a crash. The schema
// lock is held.
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
		// A later change of the table writes its phase, under a lock that this work does not hold.
		until := t.phase.until
		db.work.Go(func() { db.report("fill index", t, db.backfill(db.running, t, until)) })
	}
}

func (db *DB) report(what string, t *table, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		db.opts.Logger.Error(what, "table", t.Name, "error", err)
	}
}

// backfillBatch is how many items are filled in under one hold of the schema, so that changes of
// tables need not wait long.
const backfillBatch = 256

// backfill walks all items of a table and writes what they lack. Writes keep the new index up to
// date from its first moment, so an item may be filled in twice, which changes nothing. When the
// walk is done the index becomes active. A crash lets it begin again.
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

// errSuperseded says that the table changed meanwhile; its successor has its own backfill.
var errSuperseded = context.Canceled

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
	it, err := db.store.NewIter(bounds(lower, keyspace.After(t.prefix)))
	if err != nil {
		return nil, err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n == backfillBatch {
			last := append([]byte(nil), it.Key()...)
			return last, it.Close()
		}
		if err := db.fillIn(t, append([]byte(nil), it.Key()...)); err != nil {
			return nil, errors.Join(err, it.Close())
		}
		n++
	}
	return nil, it.Close()
}

// fillIn writes the index and expiry rows of one item, as it is now.
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
	// The last batch of the walk is synced, which covers all before it.
	return errors.Join(db.applyUnsynced(batch), batch.Close())
}

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
	// Writes that come while this walks would be counted twice or not at all, so the walk reads
	// one snapshot and the counters add what has changed since.
	db.schema.Lock()
	if db.tables[t.Name] != t || db.closed.Load() {
		db.schema.Unlock()
		return errSuperseded
	}
	snapshot := db.store.NewSnapshot()
	t.items.Store(0)
	t.bytes.Store(0)
	db.schema.Unlock()
	items, bytes, err := sum(ctx, snapshot, t.prefix)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		return err
	}
	db.schema.RLock()
	defer db.schema.RUnlock()
	if db.tables[t.Name] != t {
		return errSuperseded // the changed table counts for itself, from zero
	}
	t.count(items, bytes)
	t.counted.Store(true)
	return nil
}

// sum counts the items under a prefix and adds up their sizes.
func sum(ctx context.Context, r pebble.Reader, prefix []byte) (items, bytes int64, err error) {
	it, err := r.NewIter(bounds(prefix, keyspace.After(prefix)))
	if err != nil {
		return 0, 0, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		size, err := row.Size(it.Value())
		if err != nil {
			return 0, 0, errors.Join(err, it.Close())
		}
		items++
		bytes += int64(size)
		if items%contextEvery == 0 && ctx.Err() != nil {
			return 0, 0, errors.Join(ctx.Err(), it.Close())
		}
	}
	return items, bytes, it.Close()
}

func (db *DB) sizeOf(prefix []byte) (int64, error) {
	_, bytes, err := sum(context.Background(), db.store, prefix)
	return bytes, err
}

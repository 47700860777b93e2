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

// backfills is the background work that completes tables after a change or a crash.
type backfills struct{ db *DB }

// resume starts the unfinished background work of a table: filling new indexes, writing the expiry
// rows of items that are older than the expiry setting, and counting items after a crash. The
// caller holds the schema lock.
func (f *backfills) resume(t *table) {
	counting := !t.counted.Load()
	filling := t.TTL != "" && !t.TTLReady
	for _, ix := range t.indexes {
		filling = filling || !ix.ready()
	}
	if counting {
		f.db.work.Go(func() { f.report("count items", t, f.recount(f.db.running, t)) })
	}
	if filling {
		// Read until here: a later change of the table sets its phase under a lock that the
		// backfill does not hold.
		until := t.phase.until
		f.db.work.Go(func() { f.report("fill index", t, f.complete(f.db.running, t, until)) })
	}
}

func (f *backfills) report(what string, t *table, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		f.db.opts.Logger.Error(what, "table", t.Name, "error", err)
	}
}

// backfillBatch is the number of items that are filled in under one hold of the schema lock, so
// that changes of tables do not wait long.
const backfillBatch = 256

// complete scans all items of a table and writes their missing index and expiry rows. Concurrent
// writes maintain a new index from its creation on, so a row may be written twice, which has no
// effect. After the scan the index becomes active. After a crash the scan starts from the
// beginning.
func (f *backfills) complete(ctx context.Context, t *table, until time.Time) error {
	if err := f.db.phases.await(ctx, until); err != nil {
		return err
	}
	var after []byte
	for {
		last, err := f.completeSome(ctx, t, after)
		if err != nil {
			return err
		}
		if last == nil {
			return f.completed(t)
		}
		after = last
	}
}

// errSuperseded reports that the table was changed during background work. The changed table has
// its own backfill.
var errSuperseded = context.Canceled

// completeSome fills the rows of one batch of items, from the key after on, and returns the key of
// the next batch or nil at the end. It holds the schema lock only for a batch, so that a long
// backfill does not block changes of tables. A table that was deleted or changed in the meantime is
// errSuperseded.
func (f *backfills) completeSome(ctx context.Context, t *table, after []byte) ([]byte, error) {
	if err := f.db.begin(ctx); err != nil {
		return nil, err
	}
	defer f.db.end()
	if f.db.tables[t.Name] != t {
		return nil, errSuperseded
	}
	lower := after
	if lower == nil {
		lower = t.prefix
	}
	n := 0
	var last []byte
	err := f.db.eachRow(f.db.store, lower, keyspace.After(t.prefix), func(it *pebble.Iterator) (
		bool, error,
	) {
		rowKey := append([]byte(nil), it.Key()...)
		if n == backfillBatch {
			last = rowKey
			return false, nil
		}
		n++
		return true, f.fillIn(t, rowKey)
	})
	if err != nil {
		return nil, err
	}
	return last, nil
}

// fillIn writes the index and expiry rows of one item. It holds the item's lock, so that a
// concurrent write cannot remove a row before fillIn writes it.
func (f *backfills) fillIn(t *table, rowKey []byte) error {
	stripes := f.db.locks.lock([]uint16{stripeOf(rowKey)})
	defer f.db.locks.unlock(stripes)
	view, err := f.db.view(f.db.store, rowKey)
	if err != nil || !view.Exists() {
		return err
	}
	batch := f.db.store.NewBatch()
	for _, ix := range t.indexes {
		if ix.ready() {
			continue
		}
		if err := f.fillIndex(batch, t, ix, view, rowKey); err != nil {
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
	return errors.Join(f.db.applyUnsynced(batch), batch.Close())
}

// fillIndex adds the row of an item to the batch if the item has the keys of the index.
func (f *backfills) fillIndex(batch *pebble.Batch, t *table, ix *index, view row.View,
	rowKey []byte,
) error {
	key := ix.appendRowKey(nil, f.db.hash, &view, rowKey)
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

// completed marks the indexes of a table as ready.
func (f *backfills) completed(t *table) error {
	f.db.schema.Lock()
	defer f.db.schema.Unlock()
	if f.db.tables[t.Name] != t || f.db.usable() != nil {
		return errSuperseded
	}
	d := t.descriptor
	d.TTLReady = true
	d.Indexes = append([]indexDescriptor(nil), d.Indexes...)
	for i := range d.Indexes {
		d.Indexes[i].Status = dynamo.StatusActive
	}
	if err := f.db.catalog.change(d, nil); err != nil {
		return err
	}
	f.db.catalog.replace(t, d)
	return nil
}

// recount counts the items of a table after the database was not closed cleanly.
func (f *backfills) recount(ctx context.Context, t *table) error {
	// Concurrent writes could be counted twice or missed. The scan therefore reads a snapshot, and
	// the counters, which are set to zero at the same moment, add later changes.
	f.db.schema.Lock()
	if f.db.tables[t.Name] != t || f.db.closed.Load() {
		f.db.schema.Unlock()
		return errSuperseded
	}
	snapshot := f.db.store.NewSnapshot()
	t.items.Store(0)
	t.bytes.Store(0)
	f.db.schema.Unlock()
	items, bytes, err := f.sum(ctx, snapshot, t.prefix)
	if err := errors.Join(err, snapshot.Close()); err != nil {
		return err
	}
	f.db.schema.RLock()
	defer f.db.schema.RUnlock()
	if f.db.tables[t.Name] != t {
		return errSuperseded // the changed table starts its own count
	}
	t.count(items, bytes)
	t.counted.Store(true)
	return nil
}

// sum returns the number of items below a prefix and the sum of their sizes.
func (f *backfills) sum(ctx context.Context, r pebble.Reader, prefix []byte) (
	items, bytes int64, err error,
) {
	err = f.db.eachRow(r, prefix, keyspace.After(prefix), func(it *pebble.Iterator) (bool, error) {
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

func (f *backfills) sizeOf(prefix []byte) (int64, error) {
	_, bytes, err := f.sum(context.Background(), f.db.store, prefix)
	return bytes, err
}

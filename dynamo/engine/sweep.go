package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// expiryAgeMax is the maximum age of an expiry time. The service ignores older times, which are
// probably mistakes.
const expiryAgeMax = 5 * 365 * 24 * time.Hour

// epochOf returns the time in seconds at which an item expires. Only a top-level Number counts, and
// its fraction is ignored.
func epochOf(t *table, doc expr.Document) (int64, bool) {
	v, ok := doc.Attribute(t.TTL)
	if !ok || v.Kind() != dynamo.KindN {
		return 0, false
	}
	seconds, _, _ := strings.Cut(v.N(), ".")
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || epoch < 0 {
		return 0, false // not representable, so the item never expires
	}
	return epoch, true
}

// sweepLoop deletes expired items at intervals until the database closes. An error is logged and
// the next interval retries.
func (db *DB) sweepLoop() {
	ticker := time.NewTicker(db.opts.SweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-db.running.Done():
			return
		case <-ticker.C:
		}
		n, err := db.sweep(db.running)
		if err != nil && !errors.Is(err, context.Canceled) {
			db.opts.Logger.Error("sweep expired items", "error", err)
		} else if n > 0 {
			db.opts.Logger.Debug("swept expired items", "items", n)
		}
	}
}

// ExpireNow deletes the items of all tables that have expired by the clock of Options, and returns
// their number. The background sweep does the same with a delay. An expired item can be read until
// it is deleted.
func (db *DB) ExpireNow(ctx context.Context) (int, error) { return db.sweep(ctx) }

// sweepBatch is the number of items of a table that are deleted under one hold of the schema lock.
const sweepBatch = 256

// sweep deletes all items that are due, and afterwards what streams and tokens no longer need.
func (db *DB) sweep(ctx context.Context) (deleted int, err error) {
	now := db.opts.Now()
	for _, name := range db.expiringTables() {
		due := now.Add(-db.expiryDelay(name))
		var after []byte
		for {
			n, last, err := db.sweepSome(ctx, name, due, after)
			deleted += n
			if err != nil {
				return deleted, err
			}
			if last == nil {
				break
			}
			after = last
		}
	}
	return deleted, errors.Join(db.maintainStreams(now), db.forgetTokens(ctx, now))
}

func (db *DB) expiringTables() []string {
	db.schema.RLock()
	defer db.schema.RUnlock()
	var names []string
	for name, t := range db.tables {
		if t.TTL != "" {
			names = append(names, name)
		}
	}
	return names
}

// sweepSome deletes a batch of expired items. Each deletion checks again that the item is expired,
// because it may have been updated in the meantime. last is the row to continue after, or nil at
// the end.
func (db *DB) sweepSome(ctx context.Context, name string, now time.Time, after []byte) (
	deleted int, last []byte, err error,
) {
	if err := db.begin(ctx); err != nil {
		return 0, nil, err
	}
	defer db.end()
	t := db.tables[name]
	if t == nil || t.TTL == "" {
		return 0, nil, nil
	}
	expired, last, err := db.expired(t, now, after)
	if err != nil {
		return 0, nil, err
	}
	var up unsyncedDeletes
	for _, e := range expired {
		var gone bool
		if gone, err = db.expire(t, e, &up); err != nil {
			break
		}
		if gone {
			deleted++
		}
	}
	// One sync for all deletions. A reader that misses a deleted item in the meantime waits for it.
	if len(up.tickets) > 0 {
		if lost := db.syncLog(); lost != nil {
			return deleted, nil, lost
		}
	}
	for _, ticket := range up.tickets {
		db.syncs.complete(ticket)
	}
	for _, sequence := range up.sequences {
		db.streams.sequences.complete(sequence)
	}
	return deleted, last, err
}

// syncLog waits until everything that was applied before is on the disk.
func (db *DB) syncLog() error {
	batch := db.store.NewBatch()
	if err := batch.LogData(nil, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return db.persist(batch)
}

// expiry is an entry of the index of expiry times.
type expiry struct {
	epoch   int64
	itemKey []byte
}

// expired returns up to one batch of entries that are due and the key of the next batch, nil at the
// end. Times of more than five years ago are ignored, because DynamoDB does not expire such items.
func (db *DB) expired(t *table, now time.Time, after []byte) ([]expiry, []byte, error) {
	prefix := keyspace.Expiries(t.ID)
	lower := after
	if lower == nil {
		oldest := max(0, now.Add(-expiryAgeMax).Unix())
		lower = keyspace.AppendHash(append([]byte(nil), prefix...), uint64(oldest))
	}
	upper := keyspace.AppendHash(append([]byte(nil), prefix...), uint64(max(0, now.Unix())))
	var found []expiry
	var last []byte
	err := db.eachRow(db.store, lower, upper, func(it *pebble.Iterator) (bool, error) {
		epoch, itemKey, ok := keyspace.CutExpiry(it.Key(), t.ID)
		if !ok {
			return false, errCorruptKey
		}
		found = append(found, expiry{epoch, itemKey})
		if len(found) == sweepBatch {
			last = append(append([]byte(nil), it.Key()...), 0)
			return false, nil
		}
		return true, nil
	})
	return found, last, err
}

// unsyncedDeletes are the deletions of a sweep that are applied and not yet synced.
type unsyncedDeletes struct{ tickets, sequences []uint64 }

// expire deletes one item if it still has the expiry time of its expiry row. The deletion is
// applied but not synced: its sync ticket is added to the list that the caller completes.
func (db *DB) expire(t *table, e expiry, up *unsyncedDeletes) (bool, error) {
	a := action{
		kind: actDelete, table: t, rowKey: e.itemKey, exprs: noExpressions, expired: true,
	}
	stripes := db.locks.lock([]uint16{stripeOf(e.itemKey)})
	var err error
	if a.old, err = db.view(db.store, e.itemKey); err != nil {
		db.locks.unlock(stripes)
		return false, err
	}
	epoch, ok := epochOf(t, &a.old)
	batch := db.store.NewBatch()
	if a.old.Exists() && ok && epoch == e.epoch {
		d := bufferPool.Get().(*writeBuffers)
		err = db.stageAction(batch, &a, d)
		bufferPool.Put(d)
	} else {
		err = batch.Delete(keyspace.AppendExpiry(nil, t.ID, e.epoch, e.itemKey), nil)
	}
	if a.sequence != 0 {
		up.sequences = append(up.sequences, a.sequence)
	}
	if err != nil {
		db.locks.unlock(stripes)
		return false, errors.Join(err, batch.Close())
	}
	if db.synced {
		ticket := db.syncs.begin()
		db.locks.markStripes(stripes, ticket)
		up.tickets = append(up.tickets, ticket)
	}
	db.faults.Load().note()
	err = db.applyUnsynced(batch)
	if !db.locks.off {
		db.locks.stripes[stripes[0]].recent.forget(e.itemKey)
	}
	db.locks.unlock(stripes)
	return err == nil && a.old.Exists() && ok && epoch == e.epoch,
		errors.Join(err, batch.Close())
}

package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
)

// expiryAgeMax is how long ago an item may have expired to be deleted: the service takes older
// times for mistakes.
const expiryAgeMax = 5 * 365 * 24 * time.Hour

// epochOf returns when an item expires, in seconds. Only a top-level Number counts; a fraction
// of a second is cut off.
func epochOf(t *table, doc expr.Document) (int64, bool) {
	v, ok := doc.Attribute(t.TTL)
	if !ok || v.Kind() != dynamo.KindN {
		return 0, false
	}
	seconds, _, _ := strings.Cut(v.N(), ".")
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || epoch < 0 {
		return 0, false // out of any calendar
	}
	return epoch, true
}

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

// ExpireNow deletes the items of all tables whose time to live is over by the clock of Options,
// and returns how many there were. The sweep in the background does the same, a while later; an
// item can be read until it is deleted.
func (db *DB) ExpireNow(ctx context.Context) (int, error) { return db.sweep(ctx) }

// sweepBatch is how many items of a table are deleted under one hold of the schema.
const sweepBatch = 256

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

// sweepSome deletes up to a batch of expired items, each as a write of its own that checks that
// the item still expires then. last is the row to go on after, nil at the end.
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
	var up airborne
	for _, e := range expired {
		var gone bool
		if gone, err = db.expire(t, e, &up); err != nil {
			break
		}
		if gone {
			deleted++
		}
	}
	// One sync for all of them. A reader that finds an item gone in the meantime waits for it.
	if len(up.flights) > 0 {
		if lost := db.syncLog(); lost != nil {
			return deleted, nil, lost
		}
	}
	for _, flight := range up.flights {
		db.flights.land(flight)
	}
	for _, sequence := range up.sequences {
		db.streams.sequences.land(sequence)
	}
	return deleted, last, err
}

// syncLog returns when everything that was applied before is on the disk.
func (db *DB) syncLog() error {
	batch := db.store.NewBatch()
	if err := batch.LogData(nil, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return db.persist(batch)
}

type expiry struct {
	epoch   int64
	itemKey []byte
}

func (db *DB) expired(t *table, now time.Time, after []byte) ([]expiry, []byte, error) {
	prefix := keyspace.Expiries(t.ID)
	lower := after
	if lower == nil {
		oldest := max(0, now.Add(-expiryAgeMax).Unix())
		lower = keyspace.AppendHash(append([]byte(nil), prefix...), uint64(oldest))
	}
	upper := keyspace.AppendHash(append([]byte(nil), prefix...), uint64(max(0, now.Unix())))
	it, err := db.store.NewIter(bounds(lower, upper))
	if err != nil {
		return nil, nil, err
	}
	var found []expiry
	var last []byte
	for ok := it.First(); ok; ok = it.Next() {
		epoch, itemKey, ok := keyspace.CutExpiry(it.Key(), t.ID)
		if !ok {
			return nil, nil, errors.Join(errCorruptKey, it.Close())
		}
		found = append(found, expiry{epoch, itemKey})
		if len(found) == sweepBatch {
			last = append(append([]byte(nil), it.Key()...), 0)
			break
		}
	}
	return found, last, it.Close()
}

// airborne are the deletions of a sweep that are visible and not yet on the disk.
type airborne struct{ flights, sequences []uint64 }

// expire deletes one item if it still expires when its expiry row says. The deletion is visible
// but not yet on the disk; what is to land then is added to those that the caller lands.
func (db *DB) expire(t *table, e expiry, up *airborne) (bool, error) {
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
		d := desks.Get().(*desk)
		err = db.stageAction(batch, &a, d)
		desks.Put(d)
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
		flight := db.flights.takeOff()
		db.locks.depart(stripes, flight)
		up.flights = append(up.flights, flight)
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

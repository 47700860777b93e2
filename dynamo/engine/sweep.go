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

// sweeper deletes expired items in the background.
type sweeper struct{ db *DB }

// loop deletes expired items at intervals until the database closes. An error is logged and
// the next interval retries.
func (s *sweeper) loop() {
	ticker := time.NewTicker(s.db.opts.SweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.db.running.Done():
			return
		case <-ticker.C:
		}
		n, err := s.sweep(s.db.running)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.db.opts.Logger.Error("sweep expired items", "error", err)
		} else if n > 0 {
			s.db.opts.Logger.Debug("swept expired items", "items", n)
		}
	}
}

// ExpireNow deletes the items of all tables that have expired by the clock of Options, and returns
// their number. The background sweep does the same with a delay. An expired item can be read until
// it is deleted.
func (db *DB) ExpireNow(ctx context.Context) (int, error) { return db.sweeper.sweep(ctx) }

// sweepBatch is the number of items of a table that are deleted under one hold of the schema lock.
const sweepBatch = 256

// sweep deletes all items that are due, and afterwards what streams and tokens no longer need.
func (s *sweeper) sweep(ctx context.Context) (deleted int, err error) {
	now := s.db.opts.Now()
	for _, name := range s.tables() {
		due := now.Add(-s.db.faults.expiryDelay(name))
		var after []byte
		for {
			n, last, err := s.sweepSome(ctx, name, due, after)
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
	return deleted, errors.Join(s.db.streams.maintain(now), s.db.tokens.forget(ctx, now))
}

func (s *sweeper) tables() []string {
	s.db.schema.RLock()
	defer s.db.schema.RUnlock()
	var names []string
	for name, t := range s.db.tables {
		if t.TTL != "" {
			names = append(names, name)
		}
	}
	return names
}

// sweepSome deletes a batch of expired items. Each deletion checks again that the item is expired,
// because it may have been updated in the meantime. last is the row to continue after, or nil at
// the end.
func (s *sweeper) sweepSome(ctx context.Context, name string, now time.Time, after []byte) (
	deleted int, last []byte, err error,
) {
	if err := s.db.begin(ctx); err != nil {
		return 0, nil, err
	}
	defer s.db.end()
	t := s.db.tables[name]
	if t == nil || t.TTL == "" {
		return 0, nil, nil
	}
	expired, last, err := s.expired(t, now, after)
	if err != nil {
		return 0, nil, err
	}
	var up unsyncedDeletes
	for _, e := range expired {
		var gone bool
		if gone, err = s.expire(t, e, &up); err != nil {
			break
		}
		if gone {
			deleted++
		}
	}
	// One sync for all deletions. A reader that misses a deleted item in the meantime waits for it.
	if len(up.tickets) > 0 {
		if lost := s.syncLog(); lost != nil {
			return deleted, nil, lost
		}
	}
	for _, ticket := range up.tickets {
		s.db.syncs.complete(ticket)
	}
	for _, sequence := range up.sequences {
		s.db.streams.sequences.complete(sequence)
	}
	return deleted, last, err
}

// syncLog waits until everything that was applied before is on the disk.
func (s *sweeper) syncLog() error {
	batch := s.db.store.NewBatch()
	if err := batch.LogData(nil, nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	return s.db.persist(batch)
}

// expiry is an entry of the index of expiry times.
type expiry struct {
	epoch   int64
	itemKey []byte
}

// expired returns up to one batch of entries that are due and the key of the next batch, nil at the
// end. Times of more than five years ago are ignored, because DynamoDB does not expire such items.
func (s *sweeper) expired(t *table, now time.Time, after []byte) ([]expiry, []byte, error) {
	prefix := keyspace.Expiries(t.ID)
	lower := after
	if lower == nil {
		oldest := max(0, now.Add(-expiryAgeMax).Unix())
		lower = keyspace.AppendHash(append([]byte(nil), prefix...), uint64(oldest))
	}
	upper := keyspace.AppendHash(append([]byte(nil), prefix...), uint64(max(0, now.Unix())))
	var found []expiry
	var last []byte
	err := s.db.eachRow(s.db.store, lower, upper, func(it *pebble.Iterator) (bool, error) {
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
func (s *sweeper) expire(t *table, e expiry, up *unsyncedDeletes) (bool, error) {
	a := action{
		kind: actDelete, table: t, rowKey: e.itemKey, exprs: noExpressions, expired: true,
	}
	stripes := s.db.locks.lock([]uint16{stripeOf(e.itemKey)})
	var err error
	if a.old, err = s.db.view(s.db.store, e.itemKey); err != nil {
		s.db.locks.unlock(stripes)
		return false, err
	}
	epoch, ok := epochOf(t, &a.old)
	batch := s.db.store.NewBatch()
	if a.old.Exists() && ok && epoch == e.epoch {
		d := bufferPool.Get().(*writeBuffers)
		err = s.db.writer.stageAction(batch, &a, d)
		bufferPool.Put(d)
	} else {
		err = batch.Delete(keyspace.AppendExpiry(nil, t.ID, e.epoch, e.itemKey), nil)
	}
	if a.sequence != 0 {
		up.sequences = append(up.sequences, a.sequence)
	}
	if err != nil {
		s.db.locks.unlock(stripes)
		return false, errors.Join(err, batch.Close())
	}
	if s.db.synced {
		ticket := s.db.syncs.begin()
		s.db.locks.markStripes(stripes, ticket)
		up.tickets = append(up.tickets, ticket)
	}
	s.db.faults.plan.Load().note()
	err = s.db.applyUnsynced(batch)
	if !s.db.locks.off {
		s.db.locks.stripes[stripes[0]].recent.forget(e.itemKey)
	}
	s.db.locks.unlock(stripes)
	return err == nil && a.old.Exists() && ok && epoch == e.epoch,
		errors.Join(err, batch.Close())
}

package engine

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

const (
	// streamRetention is the time for which a record can be read ("Reading and processing a
	// stream").
	streamRetention = 24 * time.Hour
	// shardAge is the time after which a shard is closed and another one follows it. The service
	// documents no time; about four hours have been observed.
	shardAge = 4 * time.Hour
	// sequenceBlock is the number of sequence numbers that are reserved together. Numbers must
	// increase after a crash, too, so the numbers of an unfinished block are never reused. A block
	// lasts for years.
	sequenceBlock = 1 << 40
)

// streamDescriptor is the stored description of a stream. Fields may only be added.
type streamDescriptor struct {
	ID      uint32
	Table   string
	Key     []dynamo.KeySchemaElement
	View    dynamo.StreamViewType
	Created time.Time
	Closed  time.Time // zero while the stream is enabled
	Shards  []shardDescriptor
}

// shardDescriptor is a range of sequence numbers; the shard has records for some of them.
type shardDescriptor struct {
	Number  uint32 // the first is 1
	Parent  uint32 // 0 if it has none
	Opened  time.Time
	First   uint64
	Last    uint64 // set if it is closed
	Closed  bool
	Trimmed uint64 // records up to this number are deleted
}

// stream is a stream in use. It is never changed but replaced, under the exclusive schema lock.
type stream struct {
	streamDescriptor
	open []uint32 // numbers of the shards that accept records
}

func newStream(d streamDescriptor) *stream {
	s := &stream{streamDescriptor: d}
	for _, sh := range d.Shards {
		if !sh.Closed {
			s.open = append(s.open, sh.Number)
		}
	}
	return s
}

// streams are the streams of all tables and the sequence numbers that their records share.
type streams struct {
	db     *DB
	byID   map[uint32]*stream
	nextID uint32
	// sequences assigns the numbers. A number begins before its batch is applied and is complete
	// when the batch is on the disk. Readers see only the records before the oldest incomplete
	// number, because otherwise they could skip a record that appears later.
	sequences syncQueue
	reserved  uint64 // the last number that may be used
}

const (
	streamPrefix = "stream/"
	sequencesKey = "sequences"
)

func streamKey(id uint32) []byte { return keyspace.Meta(fmt.Sprintf("%s%08x", streamPrefix, id)) }

// load reads the streams and assigns them to their tables.
func (all *streams) load() error {
	all.byID, all.nextID = map[uint32]*stream{}, 1
	prefix := keyspace.Meta(streamPrefix)
	err := all.db.eachRow(all.db.store, prefix, keyspace.After(prefix), func(it *pebble.Iterator) (
		bool, error,
	) {
		raw, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		var d streamDescriptor
		if err := json.Unmarshal(raw, &d); err != nil {
			return false, fmt.Errorf("read the description of a stream: %w", err)
		}
		all.byID[d.ID] = newStream(d)
		all.nextID = max(all.nextID, d.ID+1)
		return true, nil
	})
	if err != nil {
		return err
	}
	raw, ok, err := all.db.read(keyspace.Meta(sequencesKey))
	if err != nil || !ok {
		return err
	}
	// Numbers of the last reserved block may have been used before a crash, so continue after the
	// whole block.
	start := binary.BigEndian.Uint64(raw)
	all.sequences.newest = start
	all.sequences.oldest.Store(start)
	all.reserved = start
	for _, t := range all.db.tables {
		t.stream = all.byID[t.Stream]
	}
	return all.reserve()
}

// reserve reserves more sequence numbers unless at least half a block is left.
func (all *streams) reserve() error {
	if all.reserved >= all.sequences.newest+sequenceBlock/2 {
		return nil
	}
	all.reserved = all.sequences.newest + sequenceBlock
	value := binary.BigEndian.AppendUint64(nil, all.reserved)
	return all.db.put(keyspace.Meta(sequencesKey), value)
}

// checkStream validates the stream settings of a request.
func checkStream(spec *dynamo.StreamSpecification) error {
	if spec == nil {
		return nil
	}
	switch spec.StreamViewType {
	case "", dynamo.ViewKeysOnly, dynamo.ViewNewImage, dynamo.ViewOldImage,
		dynamo.ViewNewAndOldImages:
	default:
		var wrong constraint.List
		wrong.Enum(string(spec.StreamViewType), "streamSpecification.streamViewType",
			"[NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]")
		return wrong.Err()
	}
	switch {
	case spec.StreamEnabled && spec.StreamViewType == "":
		return dynamo.Invalid(invalidParameter + "StreamViewType is required when StreamEnabled " +
			"is true")
	case !spec.StreamEnabled && spec.StreamViewType != "":
		return dynamo.Invalid(invalidParameter + "StreamViewType cannot be specified when " +
			"StreamEnabled is false")
	}
	return nil
}

// change enables or disables the stream of a table. It returns the stream to save with the
// table, or nil if nothing changes. The caller holds the schema lock.
func (all *streams) change(d *descriptor, spec *dynamo.StreamSpecification) (*stream, error) {
	if err := checkStream(spec); err != nil || spec == nil {
		return nil, err
	}
	switch {
	// A change of the view needs a new stream, because the old records have the old view.
	case spec.StreamEnabled && d.Stream != 0:
		return nil, dynamo.Invalid("Table already has an enabled stream: TableName: " + d.Name)
	case spec.StreamEnabled:
		return all.start(d, spec.StreamViewType)
	case d.Stream == 0:
		return nil, dynamo.Invalid("Table has no stream to disable: TableName: " + d.Name)
	}
	s := all.end(all.byID[d.Stream])
	d.Stream = 0
	return s, nil
}

// start returns a new stream for a table. The caller persists it with the table.
func (all *streams) start(d *descriptor, view dynamo.StreamViewType) (*stream, error) {
	if err := all.reserve(); err != nil {
		return nil, err
	}
	created := all.db.opts.Now().UTC().Truncate(time.Millisecond)
	for all.named(d.Name, labelOf(created)) != nil {
		created = created.Add(time.Millisecond) // two streams of a table must not share a label
	}
	sd := streamDescriptor{
		ID: all.nextID, Table: d.Name, Key: slices.Clone(d.Key), View: view,
		Created: created,
	}
	// The schema lock is held, so no write is in progress and no number will be used before these
	// shards.
	newest := all.sequences.newest
	for i := range all.db.opts.StreamShards {
		sd.Shards = append(sd.Shards, shardDescriptor{
			Number: uint32(i) + 1, Opened: created, First: newest + 1, Trimmed: newest,
		})
	}
	all.nextID++
	d.Stream, d.LatestStream = sd.ID, sd.ID
	return newStream(sd), nil
}

// end returns the stream in its closed state.
func (all *streams) end(s *stream) *stream {
	d := s.streamDescriptor
	d.Shards = slices.Clone(d.Shards)
	d.Closed = all.db.opts.Now().UTC()
	for i := range d.Shards {
		d.Shards[i].close(all.sequences.newest)
	}
	return newStream(d)
}

func (sh *shardDescriptor) close(last uint64) {
	if !sh.Closed {
		sh.Closed, sh.Last = true, last
	}
}

// adopt registers a stream that was created or closed, and assigns it to its table.
func (all *streams) adopt(t *table, s *stream) {
	if s == nil {
		return
	}
	all.byID[s.ID] = s
	if t != nil {
		t.stream = s
	}
}

// stageStream adds the description of a stream to a batch; a nil stream is ignored.
func stageStream(batch *pebble.Batch, s *stream) error {
	if s == nil {
		return nil
	}
	value, err := json.Marshal(s.streamDescriptor)
	if err != nil {
		return err
	}
	return batch.Set(streamKey(s.ID), value, nil)
}

// maintain closes old shards and deletes expired records. It blocks all other calls while it
// works, so it first checks under a shared lock whether there is anything to do.
func (all *streams) maintain(now time.Time) error {
	all.db.schema.RLock()
	// Writes take numbers without storing them, so a new block is reserved before the current one
	// is used up.
	due := all.reserved < all.sequences.last()+sequenceBlock/2 &&
		len(all.byID) > 0
	for _, s := range all.byID {
		due = due || s.due(now)
	}
	all.db.schema.RUnlock()
	if !due {
		return nil
	}
	all.db.schema.Lock()
	defer all.db.schema.Unlock()
	// The database may have been closed between the two locks.
	if err := all.db.usable(); err != nil {
		return err
	}
	if err := all.reserve(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(all.byID)) {
		if err := all.maintainOne(all.byID[id], now); err != nil {
			return err
		}
	}
	return nil
}

// trimEvery is the maximum time for which an expired record stays stored. It cannot be read, and
// deleting records more often would block other calls more often.
const trimEvery = time.Hour

// due reports whether a shard is old enough to be closed, or may have expired records.
func (s *stream) due(now time.Time) bool {
	if !s.Closed.IsZero() && now.Sub(s.Closed) > streamRetention {
		return true
	}
	for _, sh := range s.Shards {
		if !sh.Closed && now.Sub(sh.Opened) >= shardAge ||
			now.Sub(sh.Opened) > streamRetention+trimEvery {
			return true
		}
	}
	return false
}

// maintainOne deletes a closed stream after the retention, and otherwise closes old shards,
// opens their successors and trims records, all in one batch.
func (all *streams) maintainOne(s *stream, now time.Time) error {
	batch := all.db.store.NewBatch()
	if !s.Closed.IsZero() && now.Sub(s.Closed) > streamRetention {
		// The description and the records go in one batch, because records without a description
		// could never be deleted.
		prefix := keyspace.Stream(s.ID)
		if err := batch.Delete(streamKey(s.ID), nil); err != nil {
			return err
		}
		if err := batch.DeleteRange(prefix, keyspace.After(prefix), nil); err != nil {
			return err
		}
		delete(all.byID, s.ID)
		return all.db.persist(batch)
	}
	d := s.streamDescriptor
	d.Shards = nil
	var successors []uint32
	for _, sh := range s.Shards {
		if !sh.Closed && now.Sub(sh.Opened) >= shardAge {
			sh.close(all.sequences.newest)
			successors = append(successors, sh.Number)
		}
		if err := all.trim(batch, s.ID, &sh, now.Add(-streamRetention)); err != nil {
			return err
		}
		if sh.Closed && sh.Trimmed >= sh.Last && now.Sub(sh.Opened) > streamRetention {
			continue // its last record has expired
		}
		d.Shards = append(d.Shards, sh)
	}
	highest := uint32(0)
	for _, sh := range s.Shards {
		highest = max(highest, sh.Number)
	}
	// A successor begins with the next number, so that a reader that follows the shards misses
	// none.
	for _, parent := range successors {
		highest++
		d.Shards = append(d.Shards, shardDescriptor{
			Number: highest, Parent: parent, Opened: now.UTC(),
			First:   all.sequences.newest + 1,
			Trimmed: all.sequences.newest,
		})
	}
	changed := newStream(d)
	if err := stageStream(batch, changed); err != nil {
		return err
	}
	if err := all.db.persist(batch); err != nil {
		return err
	}
	all.byID[s.ID] = changed
	if t := all.db.tables[s.Table]; t != nil && t.Stream == s.ID {
		t.stream = changed
	}
	return nil
}

// trim deletes the records of a shard that are older than a time.
func (all *streams) trim(
	batch *pebble.Batch,
	id uint32,
	sh *shardDescriptor,
	before time.Time,
) error {
	lower := keyspace.AppendRecord(nil, id, sh.Number, sh.Trimmed+1)
	upper := keyspace.AppendRecord(nil, id, sh.Number+1, 0)
	keep := sh.Last + 1 // all records of a closed shard may be deleted
	if !sh.Closed {
		keep = all.sequences.newest + 1
	}
	err := all.db.eachRow(all.db.store, lower, upper, func(it *pebble.Iterator) (bool, error) {
		raw, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		at, err := recordTime(raw)
		if err != nil {
			return false, err
		}
		if at.After(before) {
			keep, _ = keyspace.CutRecord(it.Key())
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	if now := all.db.opts.Now(); keep-1 <= sh.Trimmed || now.Sub(sh.Opened) < streamRetention {
		return nil
	}
	sh.Trimmed = keep - 1
	return batch.DeleteRange(lower, keyspace.AppendRecord(nil, id, sh.Number, keep), nil)
}

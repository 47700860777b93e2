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
)

const (
	// streamRetention is how long a record can be read ("Reading and processing a stream").
	streamRetention = 24 * time.Hour
	// shardAge is how long a shard takes records before another one follows it. The service
	// says only that it rolls shards over; programs that read it have seen about this long.
	shardAge = 4 * time.Hour
	// sequenceBlock is how many sequence numbers are reserved at a time: they go on rising
	// after a crash, which forgets those that were in use. A block lasts for years.
	sequenceBlock = 1 << 40
)

// streamDescriptor is what the database keeps of a stream. Fields are only ever added.
type streamDescriptor struct {
	ID      uint32
	Table   string
	Key     []dynamo.KeySchemaElement
	View    dynamo.StreamViewType
	Created time.Time
	Closed  time.Time // zero while it takes records
	Shards  []shardDescriptor
}

// shardDescriptor is a run of sequence numbers, of which the shard holds some.
type shardDescriptor struct {
	Number  uint32 // from 1
	Parent  uint32 // 0 for none
	Opened  time.Time
	First   uint64
	Last    uint64 // while it is closed
	Closed  bool
	Trimmed uint64 // records up to this one are gone
}

// stream is a stream in use. It is replaced, never changed, under the exclusive schema lock.
type stream struct {
	streamDescriptor
	open []uint32 // the numbers of the shards that take records
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

// streams are those of all tables, and the sequence numbers that their records share.
type streams struct {
	byID   map[uint32]*stream
	nextID uint32
	// sequences hands out the numbers. One takes off before its batch is applied and lands when
	// the batch is on the disk; readers see what is before the oldest that is under way, so that
	// nobody goes past a record that is still to come.
	sequences flights
	reserved  uint64 // numbers up to this one may be used
}

const (
	streamPrefix = "stream/"
	sequencesKey = "sequences"
)

func streamKey(id uint32) []byte { return keyspace.Meta(fmt.Sprintf("%s%08x", streamPrefix, id)) }

// loadStreams reads the streams and gives them to their tables.
func (db *DB) loadStreams() error {
	db.streams.byID, db.streams.nextID = map[uint32]*stream{}, 1
	prefix := keyspace.Meta(streamPrefix)
	it, err := db.store.NewIter(bounds(prefix, keyspace.After(prefix)))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		var d streamDescriptor
		if err := json.Unmarshal(it.Value(), &d); err != nil {
			return fmt.Errorf("read the description of a stream: %w", err)
		}
		db.streams.byID[d.ID] = newStream(d)
		db.streams.nextID = max(db.streams.nextID, d.ID+1)
	}
	if err := it.Close(); err != nil {
		return err
	}
	raw, ok, err := db.read(keyspace.Meta(sequencesKey))
	if err != nil || !ok {
		return err
	}
	start := binary.BigEndian.Uint64(raw)
	db.streams.sequences.newest = start
	db.streams.sequences.oldest.Store(start)
	db.streams.reserved = start
	for _, t := range db.tables {
		t.stream = db.streams.byID[t.Stream]
	}
	return db.reserveSequences()
}

// reserveSequences makes sure that a good part of a block is left.
func (db *DB) reserveSequences() error {
	if db.streams.reserved >= db.streams.sequences.newest+sequenceBlock/2 {
		return nil
	}
	db.streams.reserved = db.streams.sequences.newest + sequenceBlock
	value := binary.BigEndian.AppendUint64(nil, db.streams.reserved)
	return db.put(keyspace.Meta(sequencesKey), value)
}

// checkStream validates what a request says of a table's stream.
func checkStream(spec *dynamo.StreamSpecification) error {
	if spec == nil {
		return nil
	}
	switch spec.StreamViewType {
	case "", dynamo.ViewKeysOnly, dynamo.ViewNewImage, dynamo.ViewOldImage,
		dynamo.ViewNewAndOldImages:
	default:
		var wrong constraints
		wrong.enum(string(spec.StreamViewType), "streamSpecification.streamViewType",
			"[NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]")
		return wrong.err()
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

// changeStream turns the stream of a table on or off as asked. It returns the stream that is to
// be saved with the table, and nothing where nothing changes. The schema lock is held.
func (db *DB) changeStream(d *descriptor, spec *dynamo.StreamSpecification) (*stream, error) {
	if err := checkStream(spec); err != nil || spec == nil {
		return nil, err
	}
	switch {
	case spec.StreamEnabled && d.Stream != 0:
		return nil, dynamo.Invalid("Table already has an enabled stream: TableName: " + d.Name)
	case spec.StreamEnabled:
		return db.startStream(d, spec.StreamViewType)
	case d.Stream == 0:
		return nil, dynamo.Invalid("Table has no stream to disable: TableName: " + d.Name)
	}
	s := db.closeStream(db.streams.byID[d.Stream])
	d.Stream = 0
	return s, nil
}

func (db *DB) startStream(d *descriptor, view dynamo.StreamViewType) (*stream, error) {
	if err := db.reserveSequences(); err != nil {
		return nil, err
	}
	created := db.opts.Now().UTC().Truncate(time.Millisecond)
	for db.streamNamed(d.Name, labelOf(created)) != nil {
		created = created.Add(time.Millisecond) // two streams of a table never share a label
	}
	sd := streamDescriptor{
		ID: db.streams.nextID, Table: d.Name, Key: slices.Clone(d.Key), View: view,
		Created: created,
	}
	newest := db.streams.sequences.newest
	for i := range db.opts.StreamShards {
		sd.Shards = append(sd.Shards, shardDescriptor{
			Number: uint32(i) + 1, Opened: created, First: newest + 1, Trimmed: newest,
		})
	}
	db.streams.nextID++
	d.Stream, d.LatestStream = sd.ID, sd.ID
	return newStream(sd), nil
}

// closeStream returns the stream as it is once it takes no more records.
func (db *DB) closeStream(s *stream) *stream {
	d := s.streamDescriptor
	d.Shards = slices.Clone(d.Shards)
	d.Closed = db.opts.Now().UTC()
	for i := range d.Shards {
		d.Shards[i].close(db.streams.sequences.newest)
	}
	return newStream(d)
}

func (sh *shardDescriptor) close(last uint64) {
	if !sh.Closed {
		sh.Closed, sh.Last = true, last
	}
}

// adopt puts a stream in use that was made or closed, and gives it to its table.
func (db *DB) adopt(t *table, s *stream) {
	if s == nil {
		return
	}
	db.streams.byID[s.ID] = s
	if t != nil {
		t.stream = s
	}
}

// stageStream adds what is kept of a stream to a batch; nil is none.
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

// maintainStreams rolls old shards over and takes out what nobody may read any more. It stops
// all other calls meanwhile, so it looks first whether there is anything to do.
func (db *DB) maintainStreams(now time.Time) error {
	db.schema.RLock()
	due := db.streams.reserved < db.streams.sequences.last()+sequenceBlock/2 &&
		len(db.streams.byID) > 0
	for _, s := range db.streams.byID {
		due = due || s.due(now)
	}
	db.schema.RUnlock()
	if !due {
		return nil
	}
	db.schema.Lock()
	defer db.schema.Unlock()
	if err := db.usable(); err != nil {
		return err
	}
	if err := db.reserveSequences(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(db.streams.byID)) {
		if err := db.maintainStream(db.streams.byID[id], now); err != nil {
			return err
		}
	}
	return nil
}

// trimEvery is how long records may be kept beyond their time: they cannot be read then, but
// taking them out stops other calls for a moment.
const trimEvery = time.Hour

// due tells that a shard is to be rolled over or may hold records to trim.
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

func (db *DB) maintainStream(s *stream, now time.Time) error {
	batch := db.store.NewBatch()
	if !s.Closed.IsZero() && now.Sub(s.Closed) > streamRetention {
		prefix := keyspace.Stream(s.ID)
		if err := batch.Delete(streamKey(s.ID), nil); err != nil {
			return err
		}
		if err := batch.DeleteRange(prefix, keyspace.After(prefix), nil); err != nil {
			return err
		}
		delete(db.streams.byID, s.ID)
		return db.persist(batch)
	}
	d := s.streamDescriptor
	d.Shards = nil
	var successors []uint32
	for _, sh := range s.Shards {
		if !sh.Closed && now.Sub(sh.Opened) >= shardAge {
			sh.close(db.streams.sequences.newest)
			successors = append(successors, sh.Number)
		}
		if err := db.trim(batch, s.ID, &sh, now.Add(-streamRetention)); err != nil {
			return err
		}
		if sh.Closed && sh.Trimmed >= sh.Last && now.Sub(sh.Opened) > streamRetention {
			continue // its last record is out of time
		}
		d.Shards = append(d.Shards, sh)
	}
	highest := uint32(0)
	for _, sh := range s.Shards {
		highest = max(highest, sh.Number)
	}
	for _, parent := range successors {
		highest++
		d.Shards = append(d.Shards, shardDescriptor{
			Number: highest, Parent: parent, Opened: now.UTC(),
			First:   db.streams.sequences.newest + 1,
			Trimmed: db.streams.sequences.newest,
		})
	}
	changed := newStream(d)
	if err := stageStream(batch, changed); err != nil {
		return err
	}
	if err := db.persist(batch); err != nil {
		return err
	}
	db.streams.byID[s.ID] = changed
	if t := db.tables[s.Table]; t != nil && t.Stream == s.ID {
		t.stream = changed
	}
	return nil
}

// trim takes the records of a shard out that are older than a time.
func (db *DB) trim(batch *pebble.Batch, id uint32, sh *shardDescriptor, before time.Time) error {
	lower := keyspace.AppendRecord(nil, id, sh.Number, sh.Trimmed+1)
	upper := keyspace.AppendRecord(nil, id, sh.Number+1, 0)
	it, err := db.store.NewIter(bounds(lower, upper))
	if err != nil {
		return err
	}
	keep := sh.Last + 1 // of a closed shard all may go
	if !sh.Closed {
		keep = db.streams.sequences.newest + 1
	}
	for ok := it.First(); ok; ok = it.Next() {
		at, err := recordTime(it.Value())
		if err != nil {
			_ = it.Close() // the record's error is the one to tell
			return err
		}
		if at.After(before) {
			keep, _ = keyspace.CutRecord(it.Key())
			break
		}
	}
	if err := it.Close(); err != nil {
		return err
	}
	if now := db.opts.Now(); keep-1 <= sh.Trimmed || now.Sub(sh.Opened) < streamRetention {
		return nil
	}
	sh.Trimmed = keep - 1
	return batch.DeleteRange(lower, keyspace.AppendRecord(nil, id, sh.Number, keep), nil)
}

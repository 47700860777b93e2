package engine

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

// Limits of reading streams ("Amazon DynamoDB Streams API reference").
const (
	listStreamsMax    = 100
	describeShardsMax = 100
	getRecordsMax     = 1000
	getRecordsSizeMax = 1 << 20
	iteratorLife      = 15 * time.Minute
)

const (
	labelLayout  = "2006-01-02T15:04:05.000"
	iteratorSize = 1 + 4 + 4 + 8 + 8 + 8
	iteratorV1   = 1
)

func labelOf(created time.Time) string { return created.UTC().Format(labelLayout) }

func (all *streams) arn(s *stream) string {
	return all.db.catalog.arnOf(s.Table) + "/stream/" + labelOf(s.Created)
}

func (all *streams) named(table, label string) *stream {
	for _, s := range all.byID {
		if s.Table == table && labelOf(s.Created) == label {
			return s
		}
	}
	return nil
}

func (all *streams) of(arn string) (*stream, error) {
	for _, s := range all.byID {
		if all.arn(s) == arn {
			return s, nil
		}
	}
	return nil, &dynamo.Error{
		Code:    dynamo.CodeResourceNotFound,
		Message: "Requested resource not found: Stream: " + arn + " not found",
	}
}

func (all *streams) summary(s *stream) dynamo.StreamSummary {
	return dynamo.StreamSummary{
		StreamArn: all.arn(s), StreamLabel: labelOf(s.Created), TableName: s.Table,
	}
}

// checkLimit validates a limit. Zero means the maximum.
func checkLimit(limit, limitMax int) (int, error) {
	var wrong constraint.List
	switch {
	case limit == 0:
		return limitMax, nil
	case limit < 0:
		wrong.Add(fmt.Sprint(limit), "limit", "Member must have value greater than or equal to 1")
	case limit > limitMax:
		wrong.Add(fmt.Sprint(limit), "limit",
			fmt.Sprintf("Member must have value less than or equal to %d", limitMax))
	}
	return limit, wrong.Err()
}

// ListStreams lists streams by their ARN; see [dynamo.Streams].
func (db *DB) ListStreams(ctx context.Context, in *dynamo.ListStreamsInput) (
	*dynamo.ListStreamsOutput, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	limit, err := checkLimit(in.Limit, listStreamsMax)
	if err != nil {
		return nil, err
	}
	var all []dynamo.StreamSummary
	for _, s := range db.streams.byID {
		if in.TableName == "" || s.Table == bareName(in.TableName) {
			all = append(all, db.streams.summary(s))
		}
	}
	// A map has no order, and the pages need one.
	slices.SortFunc(all, func(a, b dynamo.StreamSummary) int {
		return strings.Compare(a.StreamArn, b.StreamArn)
	})
	out := &dynamo.ListStreamsOutput{}
	for _, s := range all {
		if s.StreamArn <= in.ExclusiveStartStreamArn {
			continue
		}
		if len(out.Streams) == limit {
			out.LastEvaluatedStreamArn = out.Streams[limit-1].StreamArn
			break
		}
		out.Streams = append(out.Streams, s)
	}
	return out, nil
}

// DescribeStream describes a stream and its shards; see [dynamo.Streams].
func (db *DB) DescribeStream(ctx context.Context, in *dynamo.DescribeStreamInput) (
	*dynamo.StreamDescription, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	limit, err := checkLimit(in.Limit, describeShardsMax)
	if err != nil {
		return nil, err
	}
	s, err := db.streams.of(in.StreamArn)
	if err != nil {
		return nil, err
	}
	out := &dynamo.StreamDescription{
		StreamSummary: db.streams.summary(
			s,
		), StreamStatus: dynamo.StreamEnabled, StreamViewType: s.View,
		CreationRequestDateTime: s.Created, KeySchema: slices.Clone(s.Key),
	}
	// A disabled stream can be read until its records expire, so that consumers can finish.
	if !s.Closed.IsZero() {
		out.StreamStatus = dynamo.StreamDisabled
	}
	names := map[uint32]string{}
	for _, sh := range s.Shards {
		names[sh.Number] = sh.id()
	}
	for _, sh := range s.Shards {
		// Ids begin with the time and end with an increasing number, so their order is the order of
		// the shards.
		if sh.id() <= in.ExclusiveStartShardID ||
			in.ChildrenOf != "" && names[sh.Parent] != in.ChildrenOf {
			continue
		}
		if len(out.Shards) == limit {
			out.LastEvaluatedShardID = out.Shards[limit-1].ShardID
			break
		}
		shard := dynamo.Shard{
			ShardID: sh.id(), ParentShardID: names[sh.Parent],
			StartingSequenceNumber: sequenceText(sh.First),
		}
		// Only a closed shard has an end; readers use it to detect that the shard is finished.
		if sh.Closed {
			shard.EndingSequenceNumber = sequenceText(max(sh.First, sh.Last))
		}
		out.Shards = append(out.Shards, shard)
	}
	return out, nil
}

func (sh *shardDescriptor) id() string {
	return fmt.Sprintf("shardId-%020d-%08x", sh.Opened.UnixMilli(), sh.Number)
}

// Sequence numbers have a fixed number of digits, like the service's, so that they also sort as
// text. The first digit is always 1.
const sequenceDigits = 21

func sequenceText(n uint64) string { return fmt.Sprintf("1%020d", n) }

func parseSequence(text string) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "1"), 10, 64)
	// A number with leading zeros or of another length would be a second form of the same position.
	if err != nil || len(text) != sequenceDigits || text[0] != '1' {
		return 0, dynamo.Invalid("Invalid SequenceNumber: " + text)
	}
	return n, nil
}

func trimmed() error {
	return &dynamo.Error{
		Code: dynamo.CodeTrimmedDataAccess,
		Message: "The operation attempted to read past the oldest stream record in a shard: " +
			"records can be read for 24 hours",
	}
}

// GetShardIterator returns a position in a shard; see [dynamo.Streams].
func (db *DB) GetShardIterator(ctx context.Context, in *dynamo.GetShardIteratorInput) (
	string, error,
) {
	if err := db.begin(ctx); err != nil {
		return "", err
	}
	defer db.end()
	switch in.ShardIteratorType {
	case dynamo.IteratorTrimHorizon, dynamo.IteratorLatest, dynamo.IteratorAtSequenceNumber,
		dynamo.IteratorAfterSequenceNumber:
	default:
		var wrong constraint.List
		wrong.Enum(string(in.ShardIteratorType), "shardIteratorType",
			"[AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]")
		return "", wrong.Err()
	}
	s, err := db.streams.of(in.StreamArn)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(s.Shards, func(sh shardDescriptor) bool { return sh.id() == in.ShardID })
	if i < 0 {
		return "", &dynamo.Error{
			Code: dynamo.CodeResourceNotFound, Message: "Requested resource not found: Shard " +
				"does not exist: " + in.ShardID,
		}
	}
	position, err := db.streams.positionOf(&s.Shards[i], in)
	if err != nil {
		return "", err
	}
	return db.streams.iterator(s.ID, s.Shards[i].Number, position), nil
}

// positionOf returns the sequence number at which an iterator begins.
func (all *streams) positionOf(
	sh *shardDescriptor,
	in *dynamo.GetShardIteratorInput,
) (uint64, error) {
	switch in.ShardIteratorType {
	case dynamo.IteratorTrimHorizon:
		// The horizon moves: it is the oldest record that can still be read.
		return sh.Trimmed + 1, nil
	case dynamo.IteratorLatest:
		if sh.Closed {
			return sh.Last + 1, nil
		}
		// Writes in progress may already have numbers but are not visible yet. The latest position
		// is after the last visible record, so that none of them is skipped.
		return all.sequences.oldest.Load() + 1, nil
	}
	if in.SequenceNumber == "" {
		return 0, dynamo.Invalid(invalidParameter + "SequenceNumber is required for the shard " +
			"iterator type " + string(in.ShardIteratorType))
	}
	n, err := parseSequence(in.SequenceNumber)
	switch {
	case err != nil:
		return 0, err
	case n < sh.First || sh.Closed && n > max(sh.First, sh.Last):
		return 0, dynamo.Invalid("Invalid SequenceNumber: " + in.SequenceNumber +
			" is not in shard " + in.ShardID)
	case in.ShardIteratorType == dynamo.IteratorAfterSequenceNumber:
		n++
	}
	if n <= sh.Trimmed {
		return 0, trimmed()
	}
	return n, nil
}

// iterator encodes a position with the time of its creation and a checksum.
func (all *streams) iterator(stream, shard uint32, position uint64) string {
	b := append(make([]byte, 0, iteratorSize), iteratorV1)
	b = binary.BigEndian.AppendUint32(b, stream)
	b = binary.BigEndian.AppendUint32(b, shard)
	b = binary.BigEndian.AppendUint64(b, position)
	// The time of creation is in the iterator, because the store keeps no state for readers.
	b = binary.BigEndian.AppendUint64(b, uint64(all.db.opts.Now().UnixMilli()))
	b = binary.BigEndian.AppendUint64(b, all.db.hash.Hash(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// shardPlace is a decoded iterator.
type shardPlace struct {
	stream, shard uint32
	position      uint64
	made          time.Time
}

// placeOf decodes an iterator. Its hash detects an iterator that was altered.
func (all *streams) placeOf(iterator string) (shardPlace, error) {
	b, err := base64.RawURLEncoding.DecodeString(iterator)
	if err != nil || len(b) != iteratorSize || b[0] != iteratorV1 ||
		binary.BigEndian.Uint64(b[iteratorSize-8:]) != all.db.hash.Hash(b[:iteratorSize-8]) {
		return shardPlace{}, dynamo.Invalid("Invalid ShardIterator")
	}
	return shardPlace{
		stream: binary.BigEndian.Uint32(b[1:]), shard: binary.BigEndian.Uint32(b[5:]),
		position: binary.BigEndian.Uint64(b[9:]),
		made:     time.UnixMilli(int64(binary.BigEndian.Uint64(b[17:]))),
	}, nil
}

// GetRecords returns the records from a position on; see [dynamo.Streams].
func (db *DB) GetRecords(ctx context.Context, in *dynamo.GetRecordsInput) (
	*dynamo.GetRecordsOutput, error,
) {
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	defer db.end()
	limit, err := checkLimit(in.Limit, getRecordsMax)
	if err != nil {
		return nil, err
	}
	p, err := db.streams.placeOf(in.ShardIterator)
	if err != nil {
		return nil, err
	}
	// An iterator expires after 15 minutes, as on the service.
	if db.opts.Now().Sub(p.made) > iteratorLife {
		return nil, &dynamo.Error{
			Code: dynamo.CodeExpiredIterator, Message: "Iterator expired: it was made " +
				p.made.UTC().Format(time.RFC3339) + ", and lasts 15 minutes",
		}
	}
	s := db.streams.byID[p.stream]
	if s == nil {
		return nil, &dynamo.Error{
			Code: dynamo.CodeResourceNotFound, Message: "Requested resource not found: Stream",
		}
	}
	i := slices.IndexFunc(s.Shards, func(sh shardDescriptor) bool { return sh.Number == p.shard })
	if i < 0 || p.position <= s.Shards[i].Trimmed {
		return nil, trimmed()
	}
	return db.streams.records(s, &s.Shards[i], p.position, limit)
}

// records reads a page of a shard. It returns only records that are on the disk and that have no
// incomplete record before them.
func (all *streams) records(s *stream, sh *shardDescriptor, from uint64, limit int) (
	*dynamo.GetRecordsOutput, error,
) {
	end := all.sequences.oldest.Load()
	if sh.Closed {
		end = min(end, sh.Last)
	}
	out := &dynamo.GetRecordsOutput{}
	// Without records the reader stays where it is; the same position may have records later.
	next := max(from, end+1)
	if from <= end {
		oldest := all.db.opts.Now().Add(-streamRetention)
		size := 0
		err := all.db.eachRow(all.db.store, keyspace.AppendRecord(nil, s.ID, sh.Number, from),
			keyspace.AppendRecord(nil, s.ID, sh.Number, end+1),
			func(it *pebble.Iterator) (bool, error) {
				sequence, whole := keyspace.CutRecord(it.Key())
				raw, err := it.ValueAndErr()
				if err != nil {
					return false, err
				}
				r, err := decodeRecord(raw)
				if err != nil || !whole {
					return false, errCorruptRecord
				}
				if !r.at.After(oldest) {
					return true, nil // expired but not yet deleted
				}
				// At least one record is returned, even if it is larger than a page, because the
				// reader must make progress.
				size += len(raw)
				if len(out.Records) == limit || size > getRecordsSizeMax && len(out.Records) > 0 {
					next = sequence
					return false, nil
				}
				out.Records = append(out.Records, all.record(s, sequence, &r))
				return true, nil
			})
		if err != nil {
			return nil, err
		}
	}
	// The reader detects the end of a closed shard by the missing iterator, and continues with its
	// children.
	if !sh.Closed || next <= sh.Last {
		out.NextShardIterator = all.iterator(s.ID, sh.Number, next)
	}
	return out, nil
}

var streamEvents = map[byte]dynamo.StreamEvent{
	recordInsert: dynamo.EventInsert, recordModify: dynamo.EventModify,
	recordRemove: dynamo.EventRemove,
}

// record returns a record in the form of the API. The event id depends only on stream and
// sequence number, so each read of a record returns the same id.
func (all *streams) record(s *stream, sequence uint64, r *record) dynamo.StreamRecord {
	id := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, s.ID), sequence)
	return dynamo.StreamRecord{
		EventID:   fmt.Sprintf("%016x%016x", all.db.hash.Hash(id), xxhash.Sum64(id)),
		EventName: streamEvents[r.event], AWSRegion: all.db.opts.Region,
		Expired:                     r.flags&recordExpired != 0,
		ApproximateCreationDateTime: r.at.Truncate(time.Second),
		Keys:                        dynamo.Key(r.key), NewImage: r.new, OldImage: r.old,
		SequenceNumber: sequenceText(sequence),
		SizeBytes:      int64(r.key.Size() + r.new.Size() + r.old.Size()),
		StreamViewType: s.View,
	}
}

// describe adds the table's stream to the description of the table.
func (all *streams) describe(t *table, out *dynamo.TableDescription) {
	s := all.byID[t.LatestStream]
	if s == nil {
		return
	}
	out.LatestStreamArn, out.LatestStreamLabel = all.arn(s), labelOf(s.Created)
	if t.Stream != 0 {
		out.StreamSpecification = &dynamo.StreamSpecification{
			StreamEnabled: true, StreamViewType: s.View,
		}
	}
}

var _ dynamo.Streams = (*DB)(nil)

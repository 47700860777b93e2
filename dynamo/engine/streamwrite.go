package engine

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

// The fields of a record. They are stored, so they must never change.
const (
	recordV1 = 1

	recordInsert = 1
	recordModify = 2
	recordRemove = 3

	recordExpired = 1 << 0
	recordHasNew  = 1 << 1
	recordHasOld  = 1 << 2

	recordHeader = 1 + 1 + 1 + 8 // version, event, flags, milliseconds
)

var errCorruptRecord = errors.New("engine: corrupt record of a stream")

// stage adds the record of a change to the batch, with the images of the stream's view. A
// write that does not change its item has no record.
func (all *streams) stage(batch *pebble.Batch, a *action) error {
	s := a.table.stream
	older, err := a.before()
	if err != nil {
		return err
	}
	newer, err := a.afterwards()
	if err != nil {
		return err
	}
	var event byte
	switch {
	// The service also writes no record for a write that does not change the item.
	case older == nil && newer == nil, older != nil && newer != nil && older.Equal(newer):
		return nil
	case older == nil:
		event = recordInsert
	case newer == nil:
		event = recordRemove
	default:
		event = recordModify
	}
	var flags byte
	if a.expired {
		flags |= recordExpired
	}
	// The images are chosen when the record is written, because the view is part of the stream and
	// cannot change.
	if s.View == dynamo.ViewKeysOnly || s.View == dynamo.ViewOldImage {
		newer = nil
	}
	if s.View == dynamo.ViewKeysOnly || s.View == dynamo.ViewNewImage {
		older = nil
	}
	if newer != nil {
		flags |= recordHasNew
	}
	if older != nil {
		flags |= recordHasOld
	}
	value := append(make([]byte, 0, 512), recordV1, event, flags)
	value = binary.BigEndian.AppendUint64(value, uint64(all.db.opts.Now().UnixMilli()))
	// Every view has the key, so that a reader can always identify the item.
	key, err := a.table.keyOf(a.rowKey)
	if err != nil {
		return err
	}
	value = appendImage(value, dynamo.Item(key))
	if newer != nil {
		value = appendImage(value, newer)
	}
	if older != nil {
		value = appendImage(value, older)
	}
	// All records of an item are in one shard, because only records of the same shard have an
	// order.
	shard := s.open[keyspace.PartitionHash(a.rowKey)%uint64(len(s.open))]
	// The number is taken while the item is locked, so the numbers of an item's records are in the
	// order of its writes.
	a.sequence = all.sequences.begin()
	return batch.Set(keyspace.AppendRecord(nil, s.ID, shard, a.sequence), value, nil)
}

// publish makes the records of a write visible, or lets readers skip those of a failed
// write.
func (all *streams) publish(w *write) {
	for i := range w.actions {
		if sequence := w.actions[i].sequence; sequence != 0 {
			all.sequences.complete(sequence)
		}
	}
}

func appendImage(dst []byte, item dynamo.Item) []byte {
	image := row.Append(nil, item, item.Size())
	dst = binary.AppendUvarint(dst, uint64(len(image)))
	return append(dst, image...)
}

// recordTime returns the time at which a record was written.
func recordTime(value []byte) (time.Time, error) {
	if len(value) < recordHeader || value[0] != recordV1 {
		return time.Time{}, errCorruptRecord
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(value[recordHeader-8:]))).UTC(), nil
}

// record is a decoded record.
type record struct {
	event         byte
	flags         byte
	at            time.Time
	key, new, old dynamo.Item
}

// decodeRecord decodes a stored record: a header, the key and the images that its flags name.
func decodeRecord(value []byte) (r record, err error) {
	if r.at, err = recordTime(value); err != nil {
		return r, err
	}
	r.event, r.flags = value[1], value[2]
	rest := value[recordHeader:]
	image := func() (dynamo.Item, error) {
		n, used := binary.Uvarint(rest)
		if used <= 0 || n > uint64(len(rest)-used) {
			return nil, errCorruptRecord
		}
		v, err := row.NewView(rest[used : used+int(n)])
		if err != nil {
			return nil, err
		}
		rest = rest[used+int(n):]
		return v.Item()
	}
	if r.key, err = image(); err != nil {
		return r, err
	}
	if r.flags&recordHasNew != 0 {
		if r.new, err = image(); err != nil {
			return r, err
		}
	}
	if r.flags&recordHasOld != 0 {
		r.old, err = image()
	}
	return r, err
}

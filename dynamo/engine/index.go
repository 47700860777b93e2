package engine

import (
	"errors"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

var errCorruptKey = errors.New("engine: corrupt row key")

// appendRowKey appends the key of the item's index row, or returns an empty key if the item is not
// in the index because a key attribute is missing or, in items older than the index, invalid. dst
// is empty.
func (ix *index) appendRowKey(dst []byte, h keyspace.Hasher, doc expr.Document,
	itemKey []byte,
) []byte {
	dst = append(dst, ix.prefix...)
	dst = append(dst, make([]byte, keyspace.PartitionHeader)...)
	for _, k := range ix.hash {
		v, ok := doc.Attribute(k.name)
		if !ok || !fits(k, v, hashKeySizeMax) {
			return dst[:0]
		}
		dst = ix.appendPartition(dst, v)
	}
	keyspace.FillPartition(dst[len(ix.prefix):], h)
	for _, k := range ix.sort {
		v, ok := doc.Attribute(k.name)
		if !ok || !fits(k, v, rangeKeySizeMax) {
			return dst[:0]
		}
		dst = appendEndedKeyValue(dst, v)
	}
	// The rest of an item's key, without the hash, is its length-prefixed partition key and its
	// sort key.
	return append(dst, keyspace.ItemPart(itemKey)[8:]...)
}

// appendPartition appends one attribute of an index's partition key. A single attribute is appended
// without its length; several attributes have their lengths in front, so that they can be
// separated.
func (ix *index) appendPartition(dst []byte, v dynamo.Value) []byte {
	if len(ix.hash) == 1 {
		return appendKeyValue(dst, v)
	}
	return keyspace.AppendSized(dst, appendKeyValue(nil, v))
}

func fits(k keyAttribute, v dynamo.Value, sizeMax int) bool {
	size := v.Size()
	return v.Kind() == k.kind && size > 0 && size <= sizeMax
}

// itemKeyOf returns the row key of the item that an index row belongs to.
func (ix *index) itemKeyOf(h keyspace.Hasher, t *table, indexKey []byte) ([]byte, error) {
	rest := indexKey[keyspace.Split(indexKey):]
	for _, k := range ix.sort {
		_, after, err := cutEndedKeyValue(k.kind, rest)
		if err != nil {
			return nil, err
		}
		rest = after
	}
	partition, sort, ok := keyspace.CutSized(rest)
	if !ok {
		return nil, errCorruptKey
	}
	key := make([]byte, 0, len(t.prefix)+8+len(rest))
	key = append(key, t.prefix...)
	key = keyspace.AppendPartition(key, h, partition)
	return append(key, sort...), nil
}

// keysOf decodes all key attributes in an index row: those of the index and those of the table.
func (ix *index) keysOf(h keyspace.Hasher, t *table, indexKey []byte) (dynamo.Key, error) {
	itemKey, err := ix.itemKeyOf(h, t, indexKey)
	if err != nil {
		return nil, err
	}
	keys, err := t.keyOf(itemKey)
	if err != nil {
		return nil, err
	}
	split := keyspace.Split(indexKey)
	partition, _, ok := keyspace.CutSized(indexKey[len(ix.prefix)+8 : split])
	if !ok {
		return nil, errCorruptKey
	}
	for _, k := range ix.hash {
		part := partition
		if len(ix.hash) > 1 {
			if part, partition, ok = keyspace.CutSized(partition); !ok {
				return nil, errCorruptKey
			}
		}
		if keys[k.name], err = cutKeyValue(k.kind, part); err != nil {
			return nil, err
		}
	}
	rest := indexKey[split:]
	for _, k := range ix.sort {
		if keys[k.name], rest, err = cutEndedKeyValue(k.kind, rest); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// cutEndedKeyValue cuts a key value that is followed by others. Numbers need no end mark, because
// their encoding ends itself.
func cutEndedKeyValue(kind dynamo.Kind, b []byte) (v dynamo.Value, rest []byte, err error) {
	if kind == dynamo.KindN {
		text, rest, err := dynamo.DecodeOrderedNumber(b)
		return dynamo.CanonicalN(text), rest, err
	}
	sort, rest, ok := keyspace.CutEnded(b)
	if !ok {
		return dynamo.Value{}, nil, errCorruptKey
	}
	v, err = cutKeyValue(kind, sort)
	return v, rest, err
}

// project returns the attributes of an item that the index holds.
func (ix *index) project(item dynamo.Item) dynamo.Item {
	if ix.include == nil {
		return item
	}
	part := make(dynamo.Item, len(ix.include))
	for name := range ix.include {
		if v, ok := item[name]; ok {
			part[name] = v
		}
	}
	return part
}

// stores reports whether the index's rows hold attributes. Rows of an INCLUDE projection do,
// because they are usually small. Rows of ALL refer to the item instead, because a copy would
// double the amount of data that is written.
func (ix *index) stores() bool { return ix.Projection.ProjectionType == dynamo.ProjectInclude }

// rowValue returns the value of the index row of an item.
func (ix *index) rowValue(item dynamo.Item) []byte {
	if !ix.stores() {
		return nil
	}
	part := ix.project(item)
	return row.Append(nil, part, part.Size())
}

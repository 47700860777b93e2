// Package keyspace defines the row keys of the engine, in the order of the store.
//
//	item    T | table 4 | 01 | hash 8 | len 2, partition | sort
//	global  T | table 4 | 02 | index 4 | hash 8 | len 2, partition | sort, ended | item's keys
//	local   T | table 4 | 03 | index 4 | hash 8 | len 2, partition | sort, ended | item's keys
//	expiry  T | table 4 | 04 | epoch seconds 8 | hash 8 | len 2, partition | sort
//	stream  S | stream 4 | shard 4 | sequence number 8
//	token   I | client request token
//	meta    M | name
//
// The item's keys at the end of an index row are its length-prefixed partition key and its sort
// key. Rows are ordered by the hash of their partition key first. A partition is therefore one
// range, a segment of a parallel scan is a range of hashes, and the order of a scan is as random as
// on the service. Index rows end with the complete key of their item, so that equal index keys have
// an order and a page can begin after any of them. Integers are big endian.
package keyspace

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
)

// The first byte of a row key and, after the table's number, the kind of the row. They are stored,
// so they must never change.
const (
	tableSpace = 'T'
	tokenSpace = 'I'
	metaSpace  = 'M'

	kindItem   = 0x01
	kindGlobal = 0x02
	kindLocal  = 0x03
	kindExpiry = 0x04

	kindAt     = 5          // offset of the kind byte in a table's row
	itemHashAt = kindAt + 1 // offset of an item's hash
	indexAt    = kindAt + 1
	indexHash  = indexAt + 4
	hashSize   = 8
	lenSize    = 2
)

// Hasher maps partition keys to 64-bit hashes that differ between databases.
type Hasher struct{ seed uint64 }

// NewHasher returns the hasher of a database with this seed.
func NewHasher(seed uint64) Hasher { return Hasher{seed: seed | 1} }

// Hash returns the hash of an encoded partition key.
func (h Hasher) Hash(partition []byte) uint64 {
	// Multiplication by an odd number permutes the hashes, so each seed gives its own scan order.
	x := (xxhash.Sum64(partition) ^ h.seed) * h.seed
	return x ^ x>>32
}

// Items returns the prefix of all items of a table.
func Items(table uint32) []byte { return header(nil, table, kindItem) }

// Expiries returns the prefix of all expiry rows of a table.
func Expiries(table uint32) []byte { return header(nil, table, kindExpiry) }

// Table returns the prefix of everything that belongs to a table.
func Table(table uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{tableSpace}, table)
}

// Index returns the prefix of all rows of an index.
func Index(table, index uint32, local bool) []byte {
	kind := byte(kindGlobal)
	if local {
		kind = kindLocal
	}
	return binary.BigEndian.AppendUint32(header(nil, table, kind), index)
}

func header(dst []byte, table uint32, kind byte) []byte {
	dst = append(dst, tableSpace)
	dst = binary.BigEndian.AppendUint32(dst, table)
	return append(dst, kind)
}

// AppendPartition appends the hash, the length and the bytes of a partition key.
func AppendPartition(dst []byte, h Hasher, partition []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, h.Hash(partition))
	return AppendSized(dst, partition)
}

// PartitionHeader is the number of bytes that AppendPartition appends before the partition key.
const PartitionHeader = hashSize + lenSize

// FillPartition fills in the header of a partition key. b is space for the header, followed by the
// key. It is for callers that build the key in place.
func FillPartition(b []byte, h Hasher) {
	partition := b[PartitionHeader:]
	binary.BigEndian.PutUint64(b, h.Hash(partition))
	binary.BigEndian.PutUint16(b[hashSize:], uint16(len(partition)))
}

// AppendHash appends the first bytes of the rows with a hash, for the bounds of a segment.
func AppendHash(dst []byte, hash uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, hash)
}

// AppendSized appends a partition key with its length in front. A partition key has at most 2,048
// bytes, and that of a multi-attribute index four times as many, so two bytes are enough for the
// length.
func AppendSized(dst, partition []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(partition)))
	return append(dst, partition...)
}

// CutSized splits the result of AppendSized from the rest. ok is false for a corrupt row.
func CutSized(b []byte) (partition, rest []byte, ok bool) {
	if len(b) < lenSize {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b) < lenSize+n {
		return nil, nil, false
	}
	return b[lenSize : lenSize+n], b[lenSize+n:], true
}

// AppendEnded appends a string or binary sort key with an end, so that other data can follow. A
// zero byte is escaped as 00 FF, and the end is 00 01. This keeps the order of the keys, and no key
// is a prefix of another.
func AppendEnded(dst, sort []byte) []byte {
	for {
		i := bytes.IndexByte(sort, 0)
		if i < 0 {
			dst = append(dst, sort...)
			return append(dst, 0, 1)
		}
		dst = append(dst, sort[:i]...)
		dst = append(dst, 0, 0xff)
		sort = sort[i+1:]
	}
}

// AppendOpen appends a sort key without its end. All keys that begin with it follow.
func AppendOpen(dst, sort []byte) []byte {
	dst = AppendEnded(dst, sort)
	return dst[:len(dst)-2]
}

// CutEnded splits the result of AppendEnded from the rest. The key is a copy if it had to be
// unescaped.
func CutEnded(b []byte) (sort, rest []byte, ok bool) {
	var copied []byte
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 || i+1 >= len(b) {
			return nil, nil, false
		}
		switch {
		case b[i+1] == 1 && copied == nil:
			return b[:i], b[i+2:], true
		case b[i+1] == 1:
			return append(copied, b[:i]...), b[i+2:], true
		case b[i+1] == 0xff:
			copied = append(append(copied, b[:i]...), 0)
			b = b[i+2:]
		default:
			return nil, nil, false
		}
	}
}

// AppendExpiry appends the expiry row of an item: its prefix, the expiry second, and the item's
// key.
func AppendExpiry(dst []byte, table uint32, epoch int64, itemKey []byte) []byte {
	dst = header(dst, table, kindExpiry)
	dst = binary.BigEndian.AppendUint64(dst, uint64(epoch))
	return append(dst, itemKey[itemHashAt:]...)
}

// CutExpiry splits an expiry row into the expiry second and the key of its item.
func CutExpiry(key []byte, table uint32) (epoch int64, itemKey []byte, ok bool) {
	if len(key) < itemHashAt+8+hashSize+lenSize {
		return 0, nil, false
	}
	epoch = int64(binary.BigEndian.Uint64(key[itemHashAt:]))
	return epoch, append(Items(table), key[itemHashAt+8:]...), true
}

// ItemPart returns the part of an item's row key after the table's prefix: hash, partition and sort
// key.
func ItemPart(itemKey []byte) []byte { return itemKey[itemHashAt:] }

// Partition returns the row key of an item up to the end of its partition key.
func Partition(itemKey []byte) []byte { return itemKey[:Split(itemKey)] }

// Token returns the row key of a client request token.
func Token(token string) []byte { return append([]byte{tokenSpace}, token...) }

// TokenOf returns the token of a token's row key.
func TokenOf(key []byte) string { return string(key[1:]) }

// Tokens returns the prefix of all token rows.
func Tokens() []byte { return []byte{tokenSpace} }

// Meta returns the row key of a named setting of the database.
func Meta(name string) []byte { return append([]byte{metaSpace}, name...) }

// After returns the smallest key that is greater than all keys that begin with prefix, or nil if
// there is none.
func After(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}

// Split returns the length of a row key up to the end of its partition key. A key of another form,
// such as a shortened key of an index block, is returned whole.
func Split(key []byte) int {
	if len(key) <= kindAt || key[0] != tableSpace {
		return len(key)
	}
	at := 0
	switch key[kindAt] {
	case kindItem:
		at = itemHashAt + hashSize
	case kindGlobal, kindLocal:
		at = indexHash + hashSize
	default:
		return len(key)
	}
	if len(key) < at+lenSize {
		return len(key)
	}
	return min(len(key), at+lenSize+int(binary.BigEndian.Uint16(key[at:])))
}

// filtered returns the length of the part of a row key that is in the bloom filters. For items it
// is the whole key: items are read one by one, and most partitions of new items already exist.
// Index rows are read as ranges, which use no filter, so only their partition is in it and the
// filters are smaller.
func filtered(key []byte) int {
	if len(key) > kindAt && key[0] == tableSpace && key[kindAt] == kindItem {
		return len(key)
	}
	return Split(key)
}

// Comparer orders keys by their bytes and splits them for filters. Its name is stored in the
// database, so a change of the order or the split needs a new name.
func Comparer() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "exchequer.item.v1"
	c.Split = filtered
	c.ComparePointSuffixes = bytes.Compare
	c.CompareRangeSuffixes = bytes.Compare
	// Bounds between blocks are whole keys. A shortened key could end within the length of a
	// partition key and would then be split at another position than the keys that it separates.
	c.Separator = func(dst, a, _ []byte) []byte { return append(dst, a...) }
	c.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
	c.ImmediateSuccessor = func(dst, a []byte) []byte { return append(append(dst, a...), 0) }
	return &c
}

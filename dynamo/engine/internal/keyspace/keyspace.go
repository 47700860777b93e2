// Package keyspace lays out the engine's rows in the order of the store's keys.
//
//	item    T | table 4 | 01 | hash 8 | len 2, partition | sort
//	global  T | table 4 | 02 | index 4 | hash 8 | len 2, partition | sort, ended | item's keys
//	local   T | table 4 | 03 | index 4 | hash 8 | len 2, partition | sort, ended | item's keys
//	expiry  T | table 4 | 04 | epoch seconds 8 | hash 8 | len 2, partition | sort
//	stream  S | stream 4 | shard 4 | sequence number 8
//	token   I | client request token
//	meta    M | name
//
// The item's keys at the end of an index row are its partition key behind its length, and its
// sort key. Rows are ordered by the hash of their partition key first, so that a partition is
// one range, a segment of a parallel scan is a range of hashes, and neighbours in a scan are as
// random as in the service. Index rows end with the whole key of their item, so that equal index
// keys are ordered and a page can begin after any of them. Integers are big endian.
package keyspace

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
)

// First bytes of rows and, after the table's number, what kind of row it is. They are stored, so
// they never change.
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

// Hasher maps partition keys to 64-bit hashes, differently in each database.
type Hasher struct{ seed uint64 }

// NewHasher returns the hasher of a database with this seed.
func NewHasher(seed uint64) Hasher { return Hasher{seed: seed | 1} }

// Hash returns the hash of an encoded partition key.
func (h Hasher) Hash(partition []byte) uint64 {
	// Multiplying by an odd number permutes the hashes, so each seed gives its own scan order.
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

// AppendPartition appends what follows a prefix for one partition: hash, length, key.
func AppendPartition(dst []byte, h Hasher, partition []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, h.Hash(partition))
	return AppendSized(dst, partition)
}

// PartitionHeader is the size of what AppendPartition appends before the partition key itself.
const PartitionHeader = hashSize + lenSize

// FillPartition fills in the header before a partition key: b is room for the header, then the
// key. It is for callers that make the key in place.
func FillPartition(b []byte, h Hasher) {
	partition := b[PartitionHeader:]
	binary.BigEndian.PutUint64(b, h.Hash(partition))
	binary.BigEndian.PutUint16(b[hashSize:], uint16(len(partition)))
}

// AppendHash appends the first bytes of the rows of a hash, to begin a segment there.
func AppendHash(dst []byte, hash uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, hash)
}

// AppendSized appends a partition key behind its length. Partition keys are at most 2,048
// bytes, those of multi-attribute indexes four times that, so two bytes hold the length.
func AppendSized(dst, partition []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(partition)))
	return append(dst, partition...)
}

// CutSized splits what AppendSized appended from the rest. ok is false for a corrupt row.
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

// AppendEnded appends a string or binary sort key so that more may follow: a zero byte becomes
// 00 FF and the end is 00 01, which keeps the order of the bytes and makes no key the beginning
// of another.
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

// AppendOpen appends the beginning of an ended sort key: all keys that begin with it follow.
func AppendOpen(dst, sort []byte) []byte {
	dst = AppendEnded(dst, sort)
	return dst[:len(dst)-2]
}

// CutEnded splits what AppendEnded appended from the rest. The key is a copy if it had to be
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

// AppendExpiry appends the expiry row of an item: its prefix, the second, the item's own key.
func AppendExpiry(dst []byte, table uint32, epoch int64, itemKey []byte) []byte {
	dst = header(dst, table, kindExpiry)
	dst = binary.BigEndian.AppendUint64(dst, uint64(epoch))
	return append(dst, itemKey[itemHashAt:]...)
}

// CutExpiry splits an expiry row into the second and the key of its item.
func CutExpiry(key []byte, table uint32) (epoch int64, itemKey []byte, ok bool) {
	if len(key) < itemHashAt+8+hashSize+lenSize {
		return 0, nil, false
	}
	epoch = int64(binary.BigEndian.Uint64(key[itemHashAt:]))
	return epoch, append(Items(table), key[itemHashAt+8:]...), true
}

// ItemPart returns what follows the table's prefix in an item's row: hash, partition and sort.
func ItemPart(itemKey []byte) []byte { return itemKey[itemHashAt:] }

// Partition returns the row key of an item up to the end of its partition.
func Partition(itemKey []byte) []byte { return itemKey[:Split(itemKey)] }

// Token returns the row of a client request token.
func Token(token string) []byte { return append([]byte{tokenSpace}, token...) }

// TokenOf returns the token of a token's row.
func TokenOf(key []byte) string { return string(key[1:]) }

// Tokens returns the prefix of all token rows.
func Tokens() []byte { return []byte{tokenSpace} }

// Meta returns the row of a named setting of the database.
func Meta(name string) []byte { return append([]byte{metaSpace}, name...) }

// After returns the least key that is greater than all that begin with prefix, or nil when
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

// Split returns the length of a row key up to the end of its partition. Keys of other shapes, among
// them the shortened keys of index blocks, are their own partition.
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

// filtered returns the length of the part of a row key that bloom filters know. Of items it is all:
// they are looked for one by one, and most partitions that a new item goes to are there already.
// Rows of indexes are read as ranges, which ask no filter; theirs are the smaller for it.
func filtered(key []byte) int {
	if len(key) > kindAt && key[0] == tableSpace && key[kindAt] == kindItem {
		return len(key)
	}
	return Split(key)
}

// Comparer orders keys by their bytes and splits them for filters. Its name is stored in the
// database: a change of order or split needs another name.
func Comparer() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = "exchequer.item.v1"
	c.Split = filtered
	c.ComparePointSuffixes = bytes.Compare
	c.CompareRangeSuffixes = bytes.Compare
	// Bounds between blocks are the keys themselves: a shortened one could end within a
	// partition's length and would then be split elsewhere than the keys it stands for.
	c.Separator = func(dst, a, _ []byte) []byte { return append(dst, a...) }
	c.Successor = func(dst, a []byte) []byte { return append(dst, a...) }
	c.ImmediateSuccessor = func(dst, a []byte) []byte { return append(append(dst, a...), 0) }
	return &c
}

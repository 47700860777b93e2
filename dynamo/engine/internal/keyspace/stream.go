package keyspace

import "encoding/binary"

// streamSpace begins the rows of streams. It is stored, so it never changes.
const streamSpace = 'S'

const (
	shardAt    = 1 + 4       // offset of the shard's number, behind the stream's
	sequenceAt = shardAt + 4 // offset of the sequence number
)

// Stream returns the prefix of all records of a stream.
func Stream(stream uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{streamSpace}, stream)
}

// AppendRecord appends the row of a record of a stream.
func AppendRecord(dst []byte, stream, shard uint32, sequence uint64) []byte {
	dst = append(dst, streamSpace)
	dst = binary.BigEndian.AppendUint32(dst, stream)
	dst = binary.BigEndian.AppendUint32(dst, shard)
	return binary.BigEndian.AppendUint64(dst, sequence)
}

// CutRecord returns the sequence number of a record's row. ok is false for a corrupt row.
func CutRecord(key []byte) (sequence uint64, ok bool) {
	if len(key) != sequenceAt+8 || key[0] != streamSpace {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[sequenceAt:]), true
}

// PartitionHash returns the hash of the partition of an item's row.
func PartitionHash(itemKey []byte) uint64 { return binary.BigEndian.Uint64(itemKey[itemHashAt:]) }

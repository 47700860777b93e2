package keyspace

import "encoding/binary"

// streamSpace is the first byte of the row keys of streams. It is stored, so it must never change.
const streamSpace = 'S'

const (
	shardAt    = 1 + 4       // offset of the shard's number, after that of the stream
	sequenceAt = shardAt + 4 // offset of the sequence number
)

// Stream returns the prefix of all records of a stream.
func Stream(stream uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{streamSpace}, stream)
}

// AppendRecord appends the row key of a stream record.
func AppendRecord(dst []byte, stream, shard uint32, sequence uint64) []byte {
	dst = append(dst, streamSpace)
	dst = binary.BigEndian.AppendUint32(dst, stream)
	dst = binary.BigEndian.AppendUint32(dst, shard)
	return binary.BigEndian.AppendUint64(dst, sequence)
}

// CutRecord returns the sequence number in a record's row key. ok is false for a corrupt row.
func CutRecord(key []byte) (sequence uint64, ok bool) {
	if len(key) != sequenceAt+8 || key[0] != streamSpace {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[sequenceAt:]), true
}

// PartitionHash returns the hash of the partition key in an item's row key.
func PartitionHash(itemKey []byte) uint64 { return binary.BigEndian.Uint64(itemKey[itemHashAt:]) }

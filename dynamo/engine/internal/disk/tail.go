package disk

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A log is a sequence of chunks in blocks of 32 KiB. The header of a chunk is defined by the
// storage library's package record: a checksum in 4 bytes, the length in 2, the type in 1, the
// number of the log in 4, and the offset up to which the log was synced in 8. Older types lack the
// last one or two fields.
const (
	logBlock     = 32 << 10
	headerOld    = 7
	headerNumber = 11
	headerSynced = 19

	chunkFirstSynced = 9  // the first type with the sync offset
	chunkLast        = 12 // the last known type
	lengthAt         = 4
	typeAt           = 6
	numberAt         = 7
	syncedAt         = 11
)

// Tail describes the end of a log.
type Tail struct {
	// Offset is the end of the last complete chunk.
	Offset int64
	// Torn is the number of bytes of an incomplete chunk after Offset. Its write was in progress
	// when the process or the machine stopped.
	Torn int64
	// Damaged reports that a later chunk records a sync beyond Offset. The data at Offset was
	// therefore synced, and was lost or changed afterwards.
	Damaged bool
}

// ReadTail reads a log and finds its end. The storage library assumes at the end of a log that a
// write was in progress, unless a whole block after it shows otherwise.
func ReadTail(base vfs.FS, name string) (Tail, error) {
	f, err := base.Open(name)
	if err != nil {
		return Tail{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Tail{}, err
	}
	log := make([]byte, info.Size())
	if _, err := io.ReadFull(f, log); err != nil {
		return Tail{}, err
	}
	return tailOf(log, uint32(number(name))), nil
}

func tailOf(log []byte, number uint32) Tail {
	at, end := 0, false
	for !end {
		size := 0
		if size, end = chunkAt(log, at, number); size > 0 {
			at += size
		} else if !end {
			t := Tail{Offset: int64(at), Damaged: syncedBeyond(log, at, number)}
			if begunAt(log, at, number) {
				t.Torn = int64(len(log) - at)
				if size := headerSynced + chunkLength(log[at:]); size < len(log)-at {
					t.Torn = int64(size)
				}
			}
			return t
		}
	}
	return Tail{Offset: int64(at)}
}

// chunkAt returns the size of the chunk at an offset, or 0 if it is incomplete. end reports whether
// the log ends there regularly, because it was closed or is full.
func chunkAt(log []byte, at int, number uint32) (size int, end bool) {
	block := log[at:min(len(log), at/logBlock*logBlock+logBlock)]
	if len(block) < headerSynced && zero(block) || len(block) < headerOld {
		return len(block), at+len(block) >= len(log)
	}
	size = headerOf(block[typeAt])
	if size == 0 || len(block) < size {
		return 0, false
	}
	if size >= headerNumber {
		switch binary.LittleEndian.Uint32(block[numberAt:]) {
		case number:
		case number + 1:
			return 0, true // the marker of a closed log
		default:
			return 0, false
		}
	}
	size += chunkLength(block)
	if len(block) < size || !sound(block[:size]) {
		return 0, false
	}
	return size, at+size >= len(log)
}

// headerOf returns the size of the header of a chunk type, or 0 for an unknown type.
func headerOf(kind byte) int {
	switch {
	case kind == 0 || kind > chunkLast:
		return 0
	case kind < 5:
		return headerOld
	case kind < chunkFirstSynced:
		return headerNumber
	}
	return headerSynced
}

func chunkLength(chunk []byte) int { return int(binary.LittleEndian.Uint16(chunk[lengthAt:])) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sound verifies the checksum of a chunk: a CRC-32C, masked as in LevelDB.
func sound(chunk []byte) bool {
	c := crc32.Checksum(chunk[typeAt:], castagnoli)
	return binary.LittleEndian.Uint32(chunk) == (c>>15|c<<17)+0xa282ead8
}

// begunAt reports whether the bytes at an offset begin a chunk of this log. Bytes of an earlier use
// of the file have the number of another log.
func begunAt(log []byte, at int, number uint32) bool {
	rest := log[at:]
	return len(rest) >= headerSynced && headerOf(rest[typeAt]) == headerSynced &&
		binary.LittleEndian.Uint32(rest[numberAt:]) == number
}

// syncedBeyond reports whether a complete chunk after an offset records a sync beyond it. It checks
// every position, because bytes may be missing and chunks may have moved.
func syncedBeyond(log []byte, at int, number uint32) bool {
	mark := binary.LittleEndian.AppendUint32(nil, number)
	for from := at + 1; ; {
		i := bytes.Index(log[min(len(log), from+numberAt):], mark)
		if i < 0 {
			return false
		}
		chunk := log[from+i:]
		from += i + 1
		if len(chunk) < headerSynced || headerOf(chunk[typeAt]) != headerSynced {
			continue
		}
		size := headerSynced + chunkLength(chunk)
		if size <= len(chunk) && sound(chunk[:size]) &&
			binary.LittleEndian.Uint64(chunk[syncedAt:]) > uint64(at) {
			return true
		}
	}
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

package disk

import (
	"encoding/binary"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A manifest is a sequence of chunks as a log is, of the oldest types: whole records, and first,
// middle and last parts of one.
const (
	chunkFull   = 1
	chunkFirst  = 2
	chunkMiddle = 3
	chunkLastOf = 4
)

// The fields of a record that this reads, by their tags. They are in front of all others.
const (
	tagComparer = 1
	tagLog      = 2
	tagNextFile = 3
	tagSequence = 4
	tagPrevLog  = 9
)

// ManifestState is the readable part of a manifest.
type ManifestState struct {
	// Log is the first number of a log that is needed, 0 if all are.
	Log uint64
	// Offset is where the last whole chunk ends.
	Offset int64
	// Damaged means that the first record cannot be read, or that a whole chunk follows one that is
	// not. So Offset is not where a record was in progress when the process or the machine stopped.
	Damaged bool
}

// ReadManifest reads a manifest. The storage library ignores everything behind the first chunk that
// is not whole.
func ReadManifest(base vfs.FS, name string) (ManifestState, error) {
	f, err := base.Open(name)
	if err != nil {
		return ManifestState{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return ManifestState{}, err
	}
	raw := make([]byte, info.Size())
	if _, err := io.ReadFull(f, raw); err != nil {
		return ManifestState{}, err
	}
	return manifestOf(raw), nil
}

func manifestOf(raw []byte) (m ManifestState) {
	var record []byte
	records := 0
	for at := 0; at < len(raw); {
		if left := logBlock - at%logBlock; left < headerOld {
			at += left // too little for a header
			m.Offset = int64(min(at, len(raw)))
			continue
		}
		payload, ok := oldChunk(raw, at)
		if !ok {
			m.Damaged = records == 0 || wholeBehind(raw, at)
			return m
		}
		kind := raw[at+typeAt]
		if kind == chunkFull || kind == chunkFirst {
			record = record[:0]
		}
		record = append(record, payload...)
		if kind == chunkFull || kind == chunkLastOf {
			records++
			if log := logOf(record); log != 0 {
				m.Log = log
			}
		}
		at += headerOld + len(payload)
		m.Offset = int64(at)
	}
	m.Damaged = records == 0
	return m
}

// oldChunk returns the payload of the chunk at an offset, and whether it is whole.
func oldChunk(raw []byte, at int) (payload []byte, ok bool) {
	if len(raw)-at < headerOld {
		return nil, false
	}
	kind, end := raw[at+typeAt], at+headerOld+chunkLength(raw[at:])
	if kind < chunkFull || kind > chunkLastOf || end > len(raw) || !sound(raw[at:end]) {
		return nil, false
	}
	return raw[at+headerOld : end], true
}

// wholeBehind reports whether there is a whole chunk behind an offset. It looks at every byte,
// because bytes may be missing.
func wholeBehind(raw []byte, at int) bool {
	for from := at + 1; from < len(raw); from++ {
		if _, ok := oldChunk(raw, from); ok {
			return true
		}
	}
	return false
}

// logOf returns the first number of a log that is needed after a record, 0 if the record leaves it
// as it was.
func logOf(record []byte) uint64 {
	next := func() (value uint64, ok bool) {
		value, n := binary.Uvarint(record)
		if n <= 0 {
			return 0, false
		}
		record = record[n:]
		return value, true
	}
	for {
		tag, _ := next()
		value, ok := next()
		switch {
		case !ok:
			return 0
		case tag == tagComparer && value <= uint64(len(record)):
			record = record[value:]
		case tag == tagLog:
			return value
		case tag != tagNextFile && tag != tagSequence && tag != tagPrevLog:
			return 0
		}
	}
}

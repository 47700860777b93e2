package disk

import (
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// truncater is a file system that can truncate a file, which vfs.FS cannot.
type truncater interface {
	Truncate(name string, size int64) error
}

// forgetLog removes a log from those that cutLogs truncates. The log is still used by findLast, as
// long as the next log has no complete batch.
func (d *FS) forgetLog(f *file) {
	d.logsMu.Lock()
	defer d.logsMu.Unlock()
	if d.logs[f.name] == f {
		delete(d.logs, f.name)
		d.closed = f
	}
}

// cutLogs truncates each log to its last sync, so that a write that was not acknowledged does not
// reappear at the next opening. Errors are ignored, because a failing disk may refuse this, too.
func (d *FS) cutLogs() {
	d.logsMu.Lock()
	defer d.logsMu.Unlock()
	for _, f := range d.logs {
		_ = cutBack(d.FS, f.name, f.synced)
	}
}

// cutBack removes everything after an offset of a file. It truncates the file, or overwrites the
// rest with zeros, which needs no additional space.
func cutBack(base vfs.FS, name string, size int64) error {
	if t, ok := base.(truncater); ok && t.Truncate(name, size) == nil {
		return syncFile(base, name)
	}
	f, err := base.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > size {
		err = overwrite(f, size, info.Size())
	}
	return errors.Join(err, f.Close())
}

func overwrite(f vfs.File, from, to int64) error {
	zeros := make([]byte, min(to-from, 1<<20))
	for from < to {
		n := min(to-from, int64(len(zeros)))
		if _, err := f.WriteAt(zeros[:n], from); err != nil {
			return err
		}
		from += n
	}
	return f.Sync()
}

func syncFile(base vfs.FS, name string) error {
	f, err := base.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Durable waits until the disk is cut off and reports whether the batch with a sequence number is
// on it. A batch can be on the disk although its write returned after the failure.
func (d *FS) Durable(sequence uint64) bool {
	<-d.settled
	d.durable.Do(func() { d.lastDurable = d.findLast() })
	return sequence != 0 && sequence <= d.lastDurable
}

// findLast returns the sequence number of the last batch in the logs. Batches are in the order of
// their numbers, so the newest log with a batch has the last one.
func (d *FS) findLast() uint64 {
	d.logsMu.Lock()
	defer d.logsMu.Unlock()
	logs := make([]*file, 0, len(d.logs)+1)
	if d.closed != nil {
		logs = append(logs, d.closed)
	}
	for _, f := range d.logs {
		logs = append(logs, f)
	}
	slices.SortFunc(logs, func(a, b *file) int { return int(number(b.name)) - int(number(a.name)) })
	for _, f := range logs {
		if last := lastBatch(d.FS, f.name, f.synced); last != 0 {
			return last
		}
	}
	return 0
}

// number returns the number of a log, which is its file name.
func number(name string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".log"), 10, 64)
	return n
}

// lastBatch returns the last sequence number of the complete batches in the first size bytes of a
// log. A batch begins with its first number in 8 bytes and the count of its numbers in 4.
func lastBatch(base vfs.FS, name string, size int64) (last uint64) {
	f, err := base.Open(name)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	records := readerOf(record.NewReader, io.NewSectionReader(f, 0, size), number(name))
	for {
		r, err := records.Next()
		if err != nil {
			return last
		}
		var header [12]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return last
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return last
		}
		count := uint64(binary.LittleEndian.Uint32(header[8:]))
		last = binary.LittleEndian.Uint64(header[:]) + count - 1
	}
}

// readerOf calls a constructor whose second parameter has a type of an internal package, which
// cannot be named here.
func readerOf[N ~uint64](construct func(io.Reader, N) *record.Reader, r io.Reader, n uint64,
) *record.Reader {
	return construct(r, N(n))
}

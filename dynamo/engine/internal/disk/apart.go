package disk

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A file of large rows ends with a footer: a CRC-32C of the rest of it in 4 bytes, masked as in a
// log, and the magic text of such files at its end. The storage library's package blob defines it.
const (
	apartFooter = 38
	apartMagic  = "\xf0\x9f\xaa\xb3\xf0\x9f\xa6\x80"
)

// ApartSize returns the size of a file of large rows, and whether it ends as one that was written
// to its end.
func ApartSize(base vfs.FS, name string) (size int64, whole bool, err error) {
	f, err := base.Open(name)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() < apartFooter {
		return 0, false, err
	}
	var footer [apartFooter]byte
	if _, err := f.ReadAt(footer[:], info.Size()-apartFooter); err != nil && err != io.EOF {
		return 0, false, err
	}
	c := crc32.Checksum(footer[4:], castagnoli)
	whole = binary.LittleEndian.Uint32(footer[:]) == (c>>15|c<<17)+0xa282ead8 &&
		string(footer[apartFooter-len(apartMagic):]) == apartMagic
	return info.Size(), whole, nil
}

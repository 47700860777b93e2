package rest

import (
	"io"
	"sync"

	"github.com/exchequer-dev/exchequer/problem"
)

// RestorePattern is the pattern of the names of the temporary files in which archives are kept
// while they are restored.
const RestorePattern = "exchequer-restore-*.zip"

var (
	// ErrSpoolTooSmall refuses an archive that would take more than all the room by itself.
	ErrSpoolTooSmall = Problems.Define(problem.TooLarge, "restore_too_large",
		"The archive has more than the {limit} bytes of disk that all archives which are being "+
			"restored may take",
		"Restart the server with a larger --restore-disk, then send the same archive again")
	// ErrSpoolFull refuses an archive while those of others take all the room.
	ErrSpoolFull = Problems.Define(problem.Throttled, "restores_busy",
		"Archives that are being restored take {used} bytes, and {limit} is the maximum of all of "+
			"them, set by --restore-disk",
		"Wait until another restore has ended, then send the same archive again")
)

// spool bounds the bytes of all archives that are kept on disk while they are restored, at every
// moment.
type spool struct {
	most int64
	room func() error // Returns why the disk has no room for more; may be nil.

	mu   sync.Mutex
	used int64
}

// spoolStep is how much is taken at once for an archive whose size is not known.
const spoolStep = 8 << 20

// spooled is the part of one archive.
type spooled struct {
	of   *spool
	from io.Reader
	held int64 // Bytes taken.
	left int64 // Of them not yet used.
}

// begin takes the room for an archive of some bytes; 0 is one whose size is not known, which takes
// room as it comes.
func (s *spool) begin(size int64, from io.Reader) (*spooled, error) {
	one := &spooled{of: s, from: from}
	return one, one.take(size, size)
}

// take takes room for at least n bytes, and for up to step bytes if there is so much.
func (one *spooled) take(n, step int64) error {
	s := one.of
	if s.room != nil {
		if err := s.room(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.most - s.used
	switch {
	case n > s.most-one.held:
		return ErrSpoolTooSmall.With("limit", s.most)
	case n > free:
		return ErrSpoolFull.With("used", s.used).With("limit", s.most)
	}
	n = max(n, min(step, free))
	s.used += n
	one.held += n
	one.left += n
	return nil
}

// Read reads on as long as there is room for what was read.
func (one *spooled) Read(p []byte) (int, error) {
	n, err := one.from.Read(p)
	if more := int64(n) - one.left; more > 0 {
		if refused := one.take(more, spoolStep); refused != nil {
			return 0, refused
		}
	}
	one.left -= int64(n)
	return n, err
}

// end gives the room back.
func (one *spooled) end() {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.of.used -= one.held
	one.held, one.left = 0, 0
}

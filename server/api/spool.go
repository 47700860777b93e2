package api

import (
	"io"
	"sync"

	"github.com/exchequer-dev/exchequer/problem"
)

// ErrSpoolFull refuses an archive while those of others take all the room.
var ErrSpoolFull = Problems.Define(problem.Throttled, "restores_busy",
	"Archives that are being restored take {used} bytes, of at most {limit} for all together",
	"Wait until another restore has ended, then send the same archive again")

// spool bounds the bytes of all archives that are kept on disk while they are restored.
type spool struct {
	most int64
	room func() error // Returns why the disk has no room for more; may be nil.

	mu   sync.Mutex
	used int64
}

// spoolStep is how much is taken at once.
const spoolStep = 8 << 20

// spooled is the part of one archive.
type spooled struct {
	of   *spool
	from io.Reader
	held int64 // Bytes taken.
	left int64 // Of them not yet used.
}

// begin takes the room for an archive of some bytes, or for a first part of one whose size is not
// known.
func (s *spool) begin(size int64, from io.Reader) (*spooled, error) {
	one := &spooled{of: s, from: from}
	return one, one.take(max(size, spoolStep))
}

func (one *spooled) take(n int64) error {
	s := one.of
	if s.room != nil {
		if err := s.room(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+n > s.most && s.used-one.held > 0 {
		return ErrSpoolFull.With("used", s.used).With("limit", s.most)
	}
	s.used += n
	one.held += n
	one.left += n
	return nil
}

// Read reads on as long as there is room.
func (one *spooled) Read(p []byte) (int, error) {
	n, err := one.from.Read(p)
	for int64(n) > one.left {
		if refused := one.take(spoolStep); refused != nil {
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

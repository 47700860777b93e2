package singletable

import (
	"fmt"
	"time"
)

// tokenWindow is the time in which a transaction may be repeated with its token: a minute less than
// the ten minutes for which the store remembers one, because a request takes some time itself.
const tokenWindow = 9 * time.Minute

// tokenAge is the age of a transaction's token in the store. A repeat with an older token is
// another transaction: it could be made twice, and a refusal of it is no proof that the first was
// not made.
type tokenAge struct {
	// lost is set when a response was lost, so that the store may know the token.
	lost  bool
	first moment // before the first request that may have been carried out
}

// moment is a reading of the clocks that may be the store's: this computer's, and that of Options.
// This computer's has a monotonic part, which does not count the time in which it is suspended, and
// a wall clock, which can be set. The longest elapsed time of all counts.
type moment struct{ here, given time.Time }

func (s *Store) moment() moment { return moment{here: time.Now(), given: s.opts.Now()} }

// since returns the time that may have elapsed for the store since a moment.
func (s *Store) since(m moment) time.Duration {
	now := s.moment()
	return max(now.here.Sub(m.here), now.here.Round(0).Sub(m.here.Round(0)), now.given.Sub(m.given))
}

// begin notes the moment of the first request, and returns an error if the token of a repeat may be
// forgotten. Waited is the time of the waits between the attempts.
func (a *tokenAge) begin(s *Store, waited time.Duration, last error) error {
	if !a.lost {
		a.first = s.moment()
		return nil
	}
	if a.over(s, waited) {
		return fmt.Errorf("%w: its token may be older than the store remembers it: %v", ErrUnknown,
			last)
	}
	return nil
}

// over reports whether the store may have forgotten the token of a transaction whose response was
// lost.
func (a *tokenAge) over(s *Store, waited time.Duration) bool {
	return a.lost && max(waited, s.since(a.first)) > tokenWindow
}

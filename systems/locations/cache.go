package locations

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// Snapshot is the list of all locations in use as it was at one time. It is shared: do not change
// it.
type Snapshot struct {
	// Locations are sorted by code.
	Locations []Location
	// Tag names this list; it is the same for the same list.
	Tag string
	// Unreadable are the items among those of the table that cannot be read as locations.
	Unreadable []*singletable.UnreadableError
	// LoadedAt is when the table was read.
	LoadedAt time.Time
}

// cache holds the last snapshot. A write drops it, and each snapshot that was being read during the
// write.
type cache struct {
	mu       sync.Mutex
	snapshot *Snapshot
	// writes counts the beginnings and ends of writes: a list that was read while it did not
	// change, and while none was going on, has no part of a write in it.
	writes  uint64
	writing int
	loading *loading
}

// loading is a read of the list that others wait for.
type loading struct {
	done     chan struct{}
	snapshot *Snapshot
	err      error
	writes   uint64
}

// changing drops the list before a write. The function that it returns drops it again after.
func (c *cache) changing() func() {
	step := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.snapshot = nil
		c.writes++
		c.writing += n
	}
	step(1)
	return func() { step(-1) }
}

// Snapshot returns the list of all locations in use, from memory if it is fresh. It is dropped on
// each write of this process; those of others show after Options.CacheTime. Several callers who
// need it at once read the table once. ErrTooMany for a directory that is too large for one list.
func (d *Directory) Snapshot(ctx context.Context) (*Snapshot, error) {
	c := &d.cache
	for {
		c.mu.Lock()
		if s := c.snapshot; s != nil && d.opts.Now().Sub(s.LoadedAt) < d.opts.CacheTime {
			c.mu.Unlock()
			return s, nil
		}
		// A read that began before a write, which has ended since, would not show that write.
		if l := c.loading; l != nil && l.writes == c.writes {
			c.mu.Unlock()
			select {
			case <-l.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if l.err == nil {
				return l.snapshot, nil
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // The caller that read it may have been cancelled.
		}
		l := &loading{done: make(chan struct{}), writes: c.writes}
		c.loading = l
		c.mu.Unlock()

		l.snapshot, l.err = d.read(ctx)
		c.mu.Lock()
		if c.loading == l {
			c.loading = nil
		}
		if l.err == nil && c.writes == l.writes && c.writing == 0 {
			c.snapshot = l.snapshot
		}
		c.mu.Unlock()
		close(l.done)
		return l.snapshot, l.err
	}
}

// read reads the list from the table.
func (d *Directory) read(ctx context.Context) (*Snapshot, error) {
	s := &Snapshot{LoadedAt: d.opts.Now()}
	err := d.each(ctx, func(l Location) error {
		if l.Status == Inactive {
			return nil
		}
		if len(s.Locations) == directoryMax {
			return ErrTooMany.With("limit", directoryMax).With("what", "locations in one list")
		}
		s.Locations = append(s.Locations, l)
		return nil
	})
	if s.Unreadable, err = singletable.RowsOf(err); err != nil {
		return nil, err
	}
	slices.SortFunc(s.Locations, func(a, b Location) int {
		return cmp.Or(cmp.Compare(keyOf(a.Code), keyOf(b.Code)), cmp.Compare(a.ID, b.ID))
	})
	hash := sha256.New()
	for _, l := range s.Locations {
		fmt.Fprintf(hash, "%s %s\n", l.ID, l.Tag())
	}
	for _, bad := range s.Unreadable {
		fmt.Fprintf(hash, "%s\n", bad)
	}
	s.Tag = base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:16])
	return s, nil
}

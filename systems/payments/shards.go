package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// ShardsMax bounds the shards of the index by status, each of which is a query of every list.
const ShardsMax = 200

// Epoch is over how many shards payments that are due from a time on are spread.
type Epoch struct {
	Count int
	From  time.Time
}

// Epochs returns the numbers of shards, the earliest first, whose From is zero.
func (s *Scheduler) Epochs(ctx context.Context) ([]Epoch, error) {
	m, err := current(ctx, s)
	if err != nil {
		return nil, err
	}
	out := make([]Epoch, len(m.epochs))
	for i, e := range m.epochs {
		out[i] = Epoch(e)
	}
	return out, nil
}

// Grow spreads payments that are due from a day on, which begins at midnight UTC, over more shards.
// Nothing that is stored is rewritten: readers ask the shards of all numbers that a range of time
// had. Payments of that day which were scheduled before stay in their shards. Growing again to the
// same number from the same day changes nothing.
func (s *Scheduler) Grow(ctx context.Context, count int, from time.Time) ([]Epoch, error) {
	day := from.UTC().Truncate(24 * time.Hour)
	for {
		item, exists, err := s.epochs(ctx)
		if err != nil {
			return nil, err
		}
		last := item.Epochs[len(item.Epochs)-1]
		switch {
		case count == last.Count && day.Equal(last.From):
			return s.Epochs(ctx)
		case count <= last.Count || count > ShardsMax:
			return nil, ErrTooManyShards.With("least", last.Count+1).With("most", ShardsMax).
				With("given", count).Field("count", "must only grow")
		case !day.After(last.From):
			return nil, ErrEpochTooEarly.With("last", last.From.Format(time.DateOnly)).
				Field("from", "must be a later day")
		}
		known := item.Version
		item.Epochs = append(slices.Clone(item.Epochs), epoch{Count: count, From: day})
		item.Version++
		m := modelOf(s)
		if exists {
			err = m.control.Put(ctx, s.store, item, m.controlled.Equals(known))
		} else {
			err = m.control.Create(ctx, s.store, item)
		}
		if errors.Is(err, singletable.ErrConditionFailed) {
			continue // Another process grew it; look again.
		}
		if err != nil {
			return nil, failed("grow", "shards", err)
		}
		return s.Epochs(ctx)
	}
}

// epochs reads the control item, and whether there is one.
func (s *Scheduler) epochs(ctx context.Context) (epochsItem, bool, error) {
	item, exists, err := modelOf(s).control.Get(ctx, s.store, epochsItem{},
		singletable.Consistent())
	if err != nil {
		return item, false, failed("read", "shards", err)
	}
	if !exists {
		count, err := s.findShards(ctx)
		if err != nil {
			return item, false, failed("look for", "shards", err)
		}
		item = epochsItem{Epochs: []epoch{{Count: max(count, s.opts.firstShards())}}}
	}
	return item, exists, nil
}

// current returns the design under the numbers of shards as they are now. Every list across
// accounts begins with it: a number that a reader does not know would hide payments. It writes
// nothing; until the first payment is written, the number is that of the options, or that which
// the payments of other programs need.
func current(ctx context.Context, s *Scheduler) (*model, error) {
	item, exists, err := s.epochs(ctx)
	if err != nil {
		return nil, err
	}
	if exists {
		defer s.refreshed.Store(s.opts.Now().UnixNano())
	}
	return s.under(item), nil
}

// stored is current for what writes payments: where no numbers are in the table yet, that of the
// options is stored first. A shard that only its writer knows of would hide the payment from all
// others.
func stored(ctx context.Context, s *Scheduler) (*model, error) {
	for {
		item, exists, err := s.epochs(ctx)
		if err != nil {
			return nil, err
		}
		if exists {
			defer s.refreshed.Store(s.opts.Now().UnixNano())
			return s.under(item), nil
		}
		item.Version = 1
		err = modelOf(s).control.Create(ctx, s.store, item)
		if err != nil && !errors.Is(err, singletable.ErrExists) {
			return nil, failed("write", "shards", err)
		}
	}
}

// under returns the design under the given numbers of shards, and remembers it. A caller that marks
// them as fresh does so afterwards, so that their design is found with them.
func (s *Scheduler) under(item epochsItem) *model {
	m := modelOf(s)
	if slices.EqualFunc(m.epochs, item.Epochs, equalEpochs) {
		return m
	}
	s.refresh.Lock()
	defer s.refresh.Unlock()
	if m = modelOf(s); len(m.epochs) < len(item.Epochs) ||
		len(m.epochs) == len(item.Epochs) && !slices.EqualFunc(m.epochs, item.Epochs, equalEpochs) {
		m = newModel(s.opts, item.Epochs)
		s.model.Store(m)
	}
	return m
}

func equalEpochs(a, b epoch) bool { return a.Count == b.Count && a.From.Equal(b.From) }

// writing returns the design to write with. It may be a little old: a payment then goes to a shard
// of an earlier number, which readers ask too. Some number is in the table by then.
func writing(ctx context.Context, s *Scheduler) (*model, error) {
	age := s.opts.Now().UnixNano() - s.refreshed.Load()
	if age >= 0 && age < int64(refreshTime) {
		return modelOf(s), nil
	}
	return stored(ctx, s)
}

// shardNames returns the names of all shards that payments due before an instant may be in; nil
// means at any time.
func (m *model) shardNames(until *time.Time) []string {
	most := 0
	for _, e := range m.epochs {
		if until == nil || e.From.Before(*until) {
			most = max(most, e.Count)
		}
	}
	names := make([]string, most)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// failed adds what was being done when the store failed.
func failed(deed string, object any, err error) error {
	return fmt.Errorf("%s %v: %w", deed, object, err)
}

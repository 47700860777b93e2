package ledger

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/singletable"
)

// ShardsMax bounds the shards of the transactions of one status, each of which is a query of every
// list by status.
const ShardsMax = 64

// refreshTime is how old the known numbers of shards may be when a transaction is written.
const refreshTime = 10 * time.Second

// Epoch is the number of shards over which the transactions of one status that are created from a
// time on are spread.
type Epoch struct {
	Count int
	From  time.Time
}

// Epochs returns the numbers of shards, the earliest first, whose From is zero.
func (l *Ledger) Epochs(ctx context.Context) ([]Epoch, error) {
	m, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Epoch, len(m.shards.Epochs))
	for i, e := range m.shards.Epochs {
		out[i] = Epoch(e)
	}
	return out, nil
}

// Grow spreads transactions that are created from an instant on over more shards; the zero time
// means now. Nothing that is stored is rewritten: lists ask the shards of all numbers. Growing
// again to the last number changes nothing.
func (l *Ledger) Grow(ctx context.Context, count int, from time.Time) ([]Epoch, error) {
	for {
		m, err := l.stored(ctx)
		if err != nil {
			return nil, err
		}
		last := m.shards.Epochs[len(m.shards.Epochs)-1]
		at := instant(from)
		if from.IsZero() {
			at = instant(l.opts.Now())
			if !at.After(last.From) {
				at = last.From.Add(time.Millisecond) // The clock is behind that of the last growth.
			}
		}
		switch {
		case count == last.Count && (from.IsZero() || at.Equal(last.From)):
			return l.Epochs(ctx)
		case count <= last.Count || count > ShardsMax:
			return nil, ErrInvalidStatusShards.With("least", last.Count+1).With("most", ShardsMax).
				With("given", count).Field("count", "must only grow")
		case !at.After(last.From):
			return nil, ErrStatusEpochTooEarly.With("last", last.From.Format(time.RFC3339)).
				Field("from", "must be a later instant")
		}
		item := shardsItem{
			Epochs:  append(slices.Clone(m.shards.Epochs), epoch{Count: count, From: at}),
			Version: m.shards.Version + 1,
		}
		err = m.control.Put(ctx, l.store, item, m.controlled.Equals(m.shards.Version))
		switch {
		case errors.Is(err, singletable.ErrConditionFailed):
			continue // Another writer grew it; look again.
		case err != nil:
			return nil, failed("grow", "status shards", err)
		}
		return l.Epochs(ctx)
	}
}

// CheckLayout compares the number of shards of the options, if one was given, with those that are
// stored: an error of type [singletable.LayoutError] reports that it is none of them. It writes
// nothing. The stored numbers hold in either case.
func (l *Ledger) CheckLayout(ctx context.Context) error {
	given := l.opts.StatusShards
	if given == 0 {
		return nil
	}
	m, err := l.current(ctx)
	if err != nil {
		return err
	}
	epochs := m.shards.Epochs
	if m.shards.Version == 0 {
		// Nothing is stored yet. Transactions in a few of the given number of shards may well be
		// all that there are.
		epochs = *l.found.Load()
		if len(epochs) == 0 || given > 1 && epochs[len(epochs)-1].Count <= given &&
			epochs[len(epochs)-1].Count > 1 {
			return nil
		}
	}
	var counts []string
	for _, e := range epochs {
		if e.Count == given {
			return nil
		}
		counts = append(counts, strconv.Itoa(e.Count))
	}
	return &singletable.LayoutError{
		Setting: "status-shards", Stored: strings.Join(counts, ", then "),
		Given: strconv.Itoa(given), Change: "exchequer ledger grow",
	}
}

// readShards reads the control item, and whether there is one.
func (l *Ledger) readShards(ctx context.Context) (shardsItem, bool, error) {
	item, exists, err := modelOf(l).control.Get(ctx, l.store, shardsItem{},
		singletable.Consistent())
	if err != nil {
		return item, false, failed("read", "status shards", err)
	}
	return item, exists, nil
}

// current returns the design under the numbers of shards as they are now. Every list by status
// begins with it: a number that a reader does not know would hide transactions. It writes nothing;
// until the first posting, the numbers are those that are found in the table, or that of the
// options.
func (l *Ledger) current(ctx context.Context) (*model, error) {
	item, exists, err := l.readShards(ctx)
	if err == nil && !exists {
		item, err = l.findShards(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l.under(item), nil
}

// auditDesign is current for checks: if the item of the numbers cannot be read, which the check
// reports, the numbers are those that are found.
func (l *Ledger) auditDesign(ctx context.Context) (*model, error) {
	m, err := l.current(ctx)
	if _, unreadable := singletable.AsUnreadable(err); !unreadable {
		return m, err
	}
	item, err := l.findShards(ctx)
	if err != nil {
		return nil, err
	}
	return l.under(item), nil
}

// stored is current for what writes transactions: if no numbers are in the table yet, those that
// are found are stored first. A shard that only its writer knows would hide the transaction from
// all others.
func (l *Ledger) stored(ctx context.Context) (*model, error) {
	for {
		item, exists, err := l.readShards(ctx)
		if err == nil && !exists {
			item, err = l.findShards(ctx)
		}
		if err != nil {
			return nil, err
		}
		if exists {
			defer l.refreshed.Store(l.opts.Now().UnixNano())
			return l.under(item), nil
		}
		item.Version = 1
		err = modelOf(l).control.Create(ctx, l.store, item)
		if err != nil && !errors.Is(err, singletable.ErrExists) {
			return nil, failed("write", "status shards", err)
		}
	}
}

// under returns the design under the given numbers of shards, and remembers it unless newer numbers
// are known.
func (l *Ledger) under(item shardsItem) *model {
	known := func() (*model, bool) {
		m := modelOf(l)
		same := slices.EqualFunc(m.shards.Epochs, item.Epochs, func(a, b epoch) bool {
			return a.Count == b.Count && a.From.Equal(b.From)
		})
		return m, m.shards.Version > item.Version || m.shards.Version == item.Version && same
	}
	if m, ok := known(); ok {
		return m
	}
	l.refresh.Lock()
	defer l.refresh.Unlock()
	m, ok := known()
	if !ok {
		m = newModel(l.opts, item)
		l.model.Store(m)
	}
	return m
}

// prepare makes sure that the numbers of shards are stored and known before a transaction is
// written. They may be a little old: the transaction then goes to a shard of an earlier number,
// which lists ask too.
func (l *Ledger) prepare(ctx context.Context) error {
	age := l.opts.Now().UnixNano() - l.refreshed.Load()
	if age >= 0 && age < int64(refreshTime) {
		return nil
	}
	unmetered, _ := singletable.WithMeter(ctx)
	_, err := l.stored(unmetered)
	return err
}

// findShards returns the numbers of shards of a table in which none are stored: those over which
// releases that did not store them have spread transactions, then that of the options if it is
// larger. It looks once, because a writer stores the numbers first.
func (l *Ledger) findShards(ctx context.Context) (shardsItem, error) {
	found := l.found.Load()
	if found == nil {
		probed, err := l.probeShards(ctx)
		if err != nil {
			return shardsItem{}, failed("look for", "status shards", err)
		}
		found = &probed
		l.found.Store(found)
	}
	item := shardsItem{Epochs: slices.Clone(*found)}
	switch given := l.opts.StatusShards; {
	case len(item.Epochs) == 0:
		item.Epochs = []epoch{{Count: max(1, given)}}
	case given > item.Epochs[len(item.Epochs)-1].Count:
		item.Epochs = append(item.Epochs, epoch{Count: given, From: instant(l.opts.Now())})
	}
	return item, nil
}

// probeShards asks every shard that there can be whether it holds a transaction of any status. What
// this package has written has accounts, so a table without accounts is not asked.
func (l *Ledger) probeShards(ctx context.Context) (found []epoch, err error) {
	_, accounts, err := modelOf(l).allAccounts.First(ctx, l.store, Everything{})
	if err != nil || !accounts {
		return nil, err
	}
	bare, err := l.holdsAny(ctx, bareShard)
	if err != nil {
		return nil, err
	}
	if bare {
		found = append(found, epoch{Count: 1})
	}
	for shard := ShardsMax - 1; shard >= 0; shard-- {
		holds, err := l.holdsAny(ctx, shard)
		if err != nil {
			return nil, err
		}
		if holds { // The key of a number is of two shards or more: one shard has the bare key.
			return append(found, epoch{Count: max(2, shard+1)}), nil
		}
	}
	return found, nil
}

// holdsAny reports whether a shard holds a transaction of any status.
func (l *Ledger) holdsAny(ctx context.Context, shard int) (bool, error) {
	for _, status := range [...]TransactionStatus{Completed, Reversed, Pending, Failed} {
		q := singletable.AuditQuery{Table: modelOf(l).table, Index: indexGSI1,
			Partition: statusPartition(status, shard), Limit: 1}
		for {
			page, err := l.store.Audit(ctx, q)
			if err != nil || len(page.Items) > 0 {
				return err == nil, err
			}
			if q.After = page.Next; q.After == "" {
				break
			}
		}
	}
	return false, nil
}

package payments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
)

// Total counts the payments of a status in a currency, and adds them up.
type Total struct {
	Status Status
	Count  int
	Sum    money.Amount
}

// MovedDay is how far the move of a day into the history has come.
type MovedDay struct {
	Day string
	// Moved reports that the whole day is in the history: every payment of it came to its end, and
	// counts and sums agree.
	Moved bool
	// Waiting is how many payments of the day are scheduled or pending still, or again. A move
	// counts them, and so does a look at a day that was moved.
	Waiting int
	// Unreadable are the items of the day that hold it up because they cannot be read, or because
	// only the program that wrote them can execute them.
	Unreadable singletable.UnreadableList
	// Copied and Removed are what this call did.
	Copied, Removed int
	// Totals are what of the day is in the history.
	Totals []Total
}

// MoveProgress is how far a move of a day has come.
type MoveProgress struct {
	Copied, Removed int
}

// The phases of a move, as the day's item has them.
const (
	phaseCopying  = "copying"
	phaseRemoving = "removing"
	phaseMoved    = "moved"
)

const (
	// moveBatch is how many payments are read at once: 100 of 8 KB are 0.8 MB.
	moveBatch = 100
	// moveShards and moveWrites bound what a move does in parallel: the shards it reads, and the
	// writes of each.
	moveShards = 4
	moveWrites = 16
	// moveRounds bounds how often the rows of indexes are compared again, with waits that double
	// from moveWait: about three seconds in all.
	moveRounds = 6
	moveWait   = 50 * time.Millisecond
)

// MoveDay moves the payments of a day that came to their end into the history,
// and returns what is there then. It copies all of them, compares counts and sums, and only then
// removes them, so that each payment is in at least one of the tables at any time. It can be
// stopped anywhere and called again, also concurrently: every step looks whether it was made
// already. A day some of whose payments are not at their end yet is moved as far as it can be. If
// they come to it while the others are moved, they are moved after them, in a few rounds.
func (s *Scheduler) MoveDay(
	ctx context.Context, day string, zone *time.Location, progress func(MoveProgress),
) (MovedDay, error) {
	r, err := Day(day, zone)
	if err != nil {
		return MovedDay{}, err
	}
	if r.To == nil || r.To.After(s.opts.Now()) {
		return MovedDay{}, ErrDayNotOver.With("day", day).Field("date", "must be over")
	}
	m, err := stored(ctx, s)
	if err != nil {
		return MovedDay{}, err
	}
	mv := &move{s: s, m: m, day: dayName(day, zone), span: r, progress: progress}
	out, err := mv.run(ctx)
	out.Day, out.Copied, out.Removed = day, mv.copied, mv.removed
	out.Unreadable = mv.unreadable
	return out, err
}

// move is a move in hand.
type move struct {
	s        *Scheduler
	m        *model
	day      string
	span     Range
	progress func(MoveProgress)

	mu              sync.Mutex
	copied, removed int
	// created is what was copied since the history was counted.
	created totals
	// unreadable is what was met and left where it is.
	unreadable singletable.UnreadableList
	// differing is the error of the first copy that is not what its payment is.
	differing error
}

// leave notes an item that cannot be moved. It returns every other error.
func (mv *move) leave(err error) error {
	bad, unread := singletable.AsUnreadable(err)
	if unread {
		mv.mu.Lock()
		defer mv.mu.Unlock()
		mv.unreadable.Add(bad)
		return nil
	}
	return err
}

// totals are by status and currency.
type totals map[totalKey]total

type totalKey struct {
	status   Status
	currency money.Currency
}

func (t totals) add(i paymentItem) error {
	key := totalKey{i.Status, i.Currency}
	sum, err := t[key].Sum.Add(i.Amount)
	if err != nil {
		return err
	}
	t[key] = total{t[key].Count + 1, sum}
	return nil
}

// run moves the day, and looks again where the last payments came to their end in the meantime, too
// late to be copied with the others.
func (mv *move) run(ctx context.Context) (MovedDay, error) {
	wait := moveWait
	for round := 1; ; round++ {
		out, err := mv.once(ctx)
		if err != nil || out.Moved || out.Waiting > 0 || round == moveRounds {
			return out, err
		}
		if err := pause(ctx, wait); err != nil {
			return out, err
		}
		wait *= 2
	}
}

// once moves what is at its end now.
func (mv *move) once(ctx context.Context) (MovedDay, error) {
	var out MovedDay
	mv.unreadable = singletable.UnreadableList{}
	before, err := mv.waiting(ctx)
	if err != nil {
		return out, err
	}
	if err := mv.note(ctx, phaseCopying, nil); err != nil {
		return out, err
	}
	expected, err := mv.copyAll(ctx)
	if err != nil {
		return out, err
	}
	if err := mv.note(ctx, phaseRemoving, expected); err != nil {
		return out, err
	}
	mv.differing = nil
	if err := mv.each(ctx, mv.removeSome); err != nil {
		return out, err
	}
	if mv.differing != nil {
		return out, mv.differing
	}
	there, err := mv.agree(ctx, expected)
	if err != nil {
		return out, err
	}
	out.Totals = listTotals(there)
	var ended int
	if out.Waiting, ended, err = mv.rest(ctx); err != nil {
		return out, err
	}
	// What waited before may have been missed by the copy and may be at its end now.
	if before+out.Waiting+ended+mv.unreadable.Count == 0 {
		out.Moved = true
		return out, mv.note(ctx, phaseMoved, there)
	}
	return out, nil
}

// rest counts what of the day is in the scheduler's table: what waits, and what came to its end and
// was not removed.
func (mv *move) rest(ctx context.Context) (waiting, ended int, err error) {
	if waiting, err = mv.waiting(ctx); err != nil {
		return 0, 0, err
	}
	// The index may have what was removed just now, so what it has is looked up.
	err = mv.each(ctx, func(_ context.Context, items []paymentItem) error {
		mv.mu.Lock()
		defer mv.mu.Unlock()
		ended += len(items)
		return nil
	})
	return waiting, ended, err
}

// waiting counts the payments of the day that are not at their end.
func (mv *move) waiting(ctx context.Context) (int, error) {
	sum := 0
	for _, status := range [...]Status{Scheduled, Pending} {
		in := ByStatus{status, mv.span.From, mv.span.To}
		for item, err := range mv.m.byStatus.All(ctx, mv.s.store, in) {
			if err == nil && item.ID == "" {
				_ = mv.leave(mv.m.heldUp(item.AccountID, item.Key)) // It is counted as well.
			}
			if err = mv.leave(err); err != nil {
				return 0, failed("count the payments of", mv.day, err)
			}
			sum++
		}
	}
	return sum, nil
}

// copyAll copies what is not in the history yet and returns what is there then. It counts the
// history before and after; the difference must be what it copied. Where it is not, because an
// index is behind or another process copies too, it looks again.
func (mv *move) copyAll(ctx context.Context) (totals, error) {
	wait := moveWait
	for round := 1; ; round++ {
		before, err := mv.count(ctx)
		if err != nil {
			return nil, err
		}
		mv.created = totals{}
		if err := mv.each(ctx, mv.copySome); err != nil {
			return nil, err
		}
		for key, made := range mv.created {
			sum, err := before[key].Sum.Add(made.Sum)
			if err != nil {
				return nil, failed("add up", mv.day, err)
			}
			before[key] = total{before[key].Count + made.Count, sum}
		}
		after, err := mv.count(ctx)
		if err != nil || maps.Equal(before, after) {
			return after, err
		}
		if round == moveRounds {
			return nil, mv.differs(before, after)
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// agree waits until the history is what it must be.
func (mv *move) agree(ctx context.Context, expected totals) (totals, error) {
	wait := moveWait
	for round := 1; ; round++ {
		there, err := mv.count(ctx)
		if err != nil || maps.Equal(there, expected) {
			return there, err
		}
		if round == moveRounds {
			return nil, mv.differs(expected, there)
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// differs names the first total that is not as it must be.
func (mv *move) differs(expected, there totals) error {
	for _, t := range listTotals(expected) {
		key := totalKey{t.Status, t.Sum.Currency()}
		if found := there[key]; found != expected[key] {
			if found.Count != t.Count {
				return ErrDayDiffers.With("day", mv.day).With("status", t.Status).
					With("moved", found.Count).With("expected", t.Count)
			}
			return ErrDayDiffers.With("day", mv.day).With("status", t.Status).
				With("moved", fmt.Sprintf("%d (%v)", found.Count, found.Sum)).
				With("expected", fmt.Sprintf("%d (%v)", t.Count, t.Sum.Units()))
		}
	}
	for _, t := range listTotals(there) {
		key := totalKey{t.Status, t.Sum.Currency()}
		if _, ok := expected[key]; !ok {
			return ErrDayDiffers.With("day", mv.day).With("status", t.Status).
				With("moved", t.Count).With("expected", 0)
		}
	}
	return nil
}

// count adds up what of the day is in the history.
func (mv *move) count(ctx context.Context) (totals, error) {
	out := totals{}
	for _, status := range Statuses() {
		if !status.Final() {
			continue
		}
		in := ByStatus{status, mv.span.From, mv.span.To}
		for item, err := range mv.m.pastByStatus.All(ctx, mv.s.store, in) {
			if err == nil && item.ID != "" {
				err = out.add(item)
			}
			if err = mv.leave(err); err != nil {
				return nil, failed("count the history of", mv.day, err)
			}
		}
	}
	return out, nil
}

// each calls do with the final payments of the day, as they are in the scheduler's table now, some
// at a time, shard by shard.
func (mv *move) each(
	ctx context.Context, do func(context.Context, []paymentItem) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names := mv.m.shardNames(mv.span.To)
	next := make(chan string, len(names))
	for _, name := range names {
		next <- name
	}
	close(next)
	errs := make([]error, moveShards)
	var all sync.WaitGroup
	for i := range moveShards {
		all.Go(func() {
			for name := range next {
				if errs[i] = mv.shard(ctx, name, do); errs[i] != nil {
					cancel()
					return
				}
			}
		})
	}
	all.Wait()
	return firstCause(errs)
}

// firstCause returns the error that made the others end.
func firstCause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

func (mv *move) shard(
	ctx context.Context, name string, do func(context.Context, []paymentItem) error,
) error {
	for _, status := range Statuses() {
		if !status.Final() {
			continue
		}
		var keys []paymentItem
		in := InShard{name, status, mv.span.From, mv.span.To}
		for row, err := range mv.m.due.All(ctx, mv.s.store, in) {
			if err == nil && row.ID == "" {
				err = mv.m.heldUp(row.AccountID, row.Key)
			}
			if err != nil {
				if err = mv.leave(err); err != nil {
					return failed("read shard", name, err)
				}
				continue
			}
			keys = append(keys, paymentItem{AccountID: row.AccountID, At: row.At, ID: row.ID})
			if len(keys) == moveBatch {
				if err := mv.batch(ctx, keys, do); err != nil {
					return err
				}
				keys = keys[:0]
			}
		}
		if err := mv.batch(ctx, keys, do); err != nil {
			return err
		}
	}
	return nil
}

// batch reads payments as they are and hands on those that are still at their end.
func (mv *move) batch(
	ctx context.Context, keys []paymentItem, do func(context.Context, []paymentItem) error,
) error {
	if len(keys) == 0 {
		return nil
	}
	found, err := mv.m.payments.GetEach(ctx, mv.s.store, keys, singletable.Consistent())
	if err != nil {
		return failed("read payments of", mv.day, err)
	}
	items := make([]paymentItem, 0, len(found))
	for _, got := range found {
		if got.Unreadable != nil {
			_ = mv.leave(got.Unreadable)
		}
		if item := got.Value; item != nil && item.Status.Final() {
			items = append(items, *item)
		}
	}
	if err := do(ctx, items); err != nil {
		return err
	}
	if mv.progress != nil {
		mv.mu.Lock()
		defer mv.mu.Unlock()
		mv.progress(MoveProgress{Copied: mv.copied, Removed: mv.removed})
	}
	return nil
}

// copySome copies payments that are not in the history, or are there as they once were.
func (mv *move) copySome(ctx context.Context, items []paymentItem) error {
	return sideBySide(ctx, items, func(ctx context.Context, item paymentItem) error {
		if item.Status == Failed {
			return mv.copyFailed(ctx, item)
		}
		err := mv.m.past.Create(ctx, mv.s.store, item)
		switch {
		case err == nil:
			return mv.noteCopy(item)
		case !errors.Is(err, singletable.ErrExists):
			return failed("copy payment", item.ID, err)
		}
		// It is there. An older copy was left by a move that was overtaken by a replay.
		err = mv.m.past.Put(ctx, mv.s.store, item, mv.m.pastVersion.LessThan(item.Version))
		if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
			return failed("copy payment", item.ID, err)
		}
		return nil
	})
}

// copyFailed copies a payment that can be replayed at any moment, which takes its copy away. One
// that was written after that would stay, in addition to the payment elsewhere. So it is
// written only where the payment is stored as failed; that check costs as much again as the copy.
func (mv *move) copyFailed(ctx context.Context, item paymentItem) error {
	tx, i := mv.s.store.NewTx(), &mv.m.identity
	mv.m.past.PutTx(tx, item, singletable.Or(mv.m.pastVersion.Missing(),
		mv.m.pastVersion.LessThan(item.Version)))
	mv.m.identities.CheckTx(tx, identityItem{ID: item.ID}, i.at.Equals(item.At),
		i.state.Equals(item.Status))
	err := tx.Commit(ctx)
	switch {
	case err == nil:
		return mv.noteCopy(item)
	case errors.Is(err, singletable.ErrConditionFailed):
		return nil // It is there, or was replayed just now.
	}
	return failed("copy payment", item.ID, err)
}

func (mv *move) noteCopy(item paymentItem) error {
	mv.mu.Lock()
	defer mv.mu.Unlock()
	mv.copied++
	return mv.created.add(item)
}

// removeSome removes payments whose copies are in the history. The identity is changed first, so
// that a late repeat of the request that made a payment does not take it for missing.
func (mv *move) removeSome(ctx context.Context, items []paymentItem) error {
	copies, err := mv.m.past.GetEach(ctx, mv.s.store, items, singletable.Consistent())
	if err != nil {
		return failed("read the history of", mv.day, err)
	}
	var ready []paymentItem
	for i, item := range items {
		if copies[i].Unreadable != nil {
			_ = mv.leave(copies[i].Unreadable)
		}
		copy := copies[i].Value
		if copy == nil || copy.Version != item.Version {
			continue
		}
		if attribute := item.differs(*copy); attribute != "" {
			mv.noteDiffering(item, attribute)
			continue
		}
		ready = append(ready, item)
	}
	return sideBySide(ctx, ready, mv.remove)
}

func (mv *move) noteDiffering(item paymentItem, attribute string) {
	mv.mu.Lock()
	defer mv.mu.Unlock()
	if mv.differing == nil {
		mv.differing = ErrCopyDiffers.With("payment", item.ID).With("attribute", attribute)
	}
}

func (mv *move) remove(ctx context.Context, item paymentItem) error {
	m, i := mv.m, &mv.m.identity
	_, err := m.identities.Update(ctx, mv.s.store, identityItem{ID: item.ID},
		i.archived.Set(true), i.version.Add(1),
		singletable.If(i.at.Equals(item.At), i.state.Equals(item.Status)))
	if errors.Is(err, singletable.ErrConditionFailed) {
		// It was replayed just now: then the copy is of the past.
		err = m.past.Delete(ctx, mv.s.store, item, mv.m.pastVersion.Equals(item.Version))
		if err == nil || errors.Is(err, singletable.ErrConditionFailed) {
			return nil
		}
	}
	if err == nil {
		err = m.payments.Delete(ctx, mv.s.store, item, m.fields.version.Equals(item.Version))
	}
	if errors.Is(err, singletable.ErrConditionFailed) {
		return nil
	}
	if err != nil {
		return failed("remove payment", item.ID, err)
	}
	mv.mu.Lock()
	mv.removed++
	mv.mu.Unlock()
	return nil
}

// sideBySide calls do with all items, some at a time, until one fails.
func sideBySide(
	ctx context.Context, items []paymentItem, do func(context.Context, paymentItem) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := min(moveWrites, len(items))
	next := make(chan paymentItem, len(items))
	for _, item := range items {
		next <- item
	}
	close(next)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for item := range next {
				if errs[i] = do(ctx, item); errs[i] != nil {
					cancel()
					return
				}
			}
		})
	}
	all.Wait()
	return firstCause(errs)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

package singletable

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Page is a page of rows.
type Page[Out any] struct {
	Items []Out
	// Unreadable are the items among the rows of the page that cannot be decoded, in order. They
	// count as rows.
	Unreadable []*UnreadableError
	// Next continues after the last row. It is empty if there are no more rows.
	Next string
	// Prev goes back to the rows before the first one. It is empty on the first page.
	Prev string
	// Resume continues after the last row even at the end, to read later rows.
	Resume string
	// Calls is the number of calls to the store without retries. Capacity is the number of consumed
	// read units, known only with [WithMeter].
	Calls    int
	Capacity float64
}

// PageSizeMax is the maximum number of rows on a page.
const PageSizeMax = 10_000

// All returns all rows in order. A row that cannot be read is yielded as an [*UnreadableError], and
// the next rows follow. Any other error is yielded once, as the last pair.
func (p *Pattern[In, Out]) All(ctx context.Context, s *Store, in In) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		var none Out
		err := p.c.each(ctx, s, unsafe.Pointer(&in), func(item dynamo.Item) (bool, error) {
			var out Out
			ok, err := p.decode(p.c, item, &out)
			if bad, is := AsUnreadable(err); is {
				return yield(none, bad), nil
			}
			if err != nil || !ok {
				return true, err
			}
			return yield(out, nil), nil
		})
		if err != nil {
			yield(none, err)
		}
	}
}

// Page returns up to size rows after cursor: the Next, Prev or Resume of another page of the same
// pattern with the same inputs, or "" for the first page. Any other cursor returns a
// [*CursorError]. A page may be short although there are more rows, if a filter dropped rows and
// the pattern's CallsMax was reached.
//
// Rows are in the order of the sort key. Ties are ordered by the table's key within a shard and by
// shard. No row is repeated or lost between pages, even if rows are added or removed in the
// meantime.
func (p *Pattern[In, Out]) Page(
	ctx context.Context, s *Store, in In, size int, cursor string,
) (Page[Out], error) {
	var page Page[Out]
	raw, err := p.c.page(ctx, s, unsafe.Pointer(&in), size, cursor, func(item dynamo.Item) (bool,
		error) {
		var out Out
		ok, err := p.decode(p.c, item, &out)
		if ok && err == nil {
			page.Items = append(page.Items, out)
		}
		return ok || err != nil, page.note(err)
	})
	if err != nil {
		return Page[Out]{}, err
	}
	if raw.reversed {
		slices.Reverse(page.Items)
		slices.Reverse(page.Unreadable)
	}
	page.Next, page.Prev, page.Resume = raw.next, raw.prev, raw.resume
	page.Calls, page.Capacity = raw.calls, raw.read
	return page, nil
}

// Rebind returns a cursor that continues at the position of another cursor of this pattern, but
// with other inputs. The inputs may differ in values on which the keys of the rows do not depend,
// such as one that a caller has signed with its cursors.
func (p *Pattern[In, Out]) Rebind(s *Store, from In, cursor string, to In) (string, error) {
	before, err := p.c.prepare(s, unsafe.Pointer(&from))
	if err != nil {
		return "", err
	}
	at, err := before.decodeCursor(s, cursor)
	if err != nil {
		return "", err
	}
	after, err := p.c.prepare(s, unsafe.Pointer(&to))
	if err != nil {
		return "", err
	}
	return after.encodeCursor(s, at), nil
}

// First returns the first row and reports whether there is one. A first row that cannot be read is
// an [*UnreadableError].
func (p *Pattern[In, Out]) First(ctx context.Context, s *Store, in In) (out Out, found bool,
	err error) {
	cursor := ""
	for {
		page, err := p.Page(ctx, s, in, 1, cursor)
		switch {
		case err != nil:
			return out, false, err
		case len(page.Unreadable) > 0:
			return out, false, page.Unreadable[0]
		case len(page.Items) > 0:
			return page.Items[0], true, nil
		case page.Next == "":
			return out, false, nil
		}
		cursor = page.Next
	}
}

// Collect puts all rows of a collection into one Out and reports whether there were any. A row that
// cannot be read is an [*UnreadableError].
func (p *Pattern[In, Out]) Collect(
	ctx context.Context, s *Store, in In,
) (out Out, found bool, err error) {
	err = p.c.each(ctx, s, unsafe.Pointer(&in), func(item dynamo.Item) (bool, error) {
		ok, err := p.decode(p.c, item, &out)
		found = found || ok
		return true, err
	})
	if err != nil {
		var none Out
		return none, false, err
	}
	return out, found, nil
}

// Count returns the number of rows without returning the rows; it costs as much as reading them.
// Items of other entities with the same keys are not rows. An item with a key of the entity that
// cannot be identified as the entity's is an [*UnreadableError].
func (p *Pattern[In, Out]) Count(ctx context.Context, s *Store, in In) (int, error) {
	return p.c.count(ctx, s, unsafe.Pointer(&in))
}

// named adds the pattern's name to the context for the meter and the hook.
func (c *patternCore) named(ctx context.Context, s *Store) context.Context {
	if meterOf(ctx) == nil && s.opts.OnCall == nil {
		return ctx
	}
	return context.WithValue(ctx, patternKey{}, c.name)
}

func (c *patternCore) wrap(err error) error {
	var shard *ShardError
	var cursor *CursorError
	if err == nil || errors.As(err, &shard) || errors.As(err, &cursor) {
		return err
	}
	return fmt.Errorf("pattern %s: %w", c.name, err)
}

// hydrateBatch is the number of rows that All reads before it fetches their items.
const hydrateBatch = batchGetMax

// each calls use with every row in order until it returns false.
func (c *patternCore) each(
	ctx context.Context, s *Store, p unsafe.Pointer, use func(dynamo.Item) (bool, error),
) error {
	q, err := c.prepare(s, p)
	if err != nil {
		return err
	}
	ctx = c.named(ctx, s)
	if c.kind == kindLookup {
		item, err := q.lookUp(ctx, s)
		if err == nil && item != nil {
			_, err = use(item)
		}
		return err
	}
	w := q.newWalk(s, nil)
	if c.hydrate {
		return c.wrap(w.eachHydrated(ctx, use))
	}
	for {
		item, ok, err := w.take(ctx, 0)
		if err != nil || !ok {
			return c.wrap(err)
		}
		if more, err := use(item); err != nil || !more {
			return c.wrap(err)
		}
	}
}

// eachHydrated is each for rows whose items are fetched in batches.
func (w *walk) eachHydrated(ctx context.Context, use func(dynamo.Item) (bool, error)) error {
	for {
		items, err := w.takeMany(ctx, hydrateBatch, hydrateBatch)
		if err != nil || len(items) == 0 {
			return err
		}
		if items, err = w.hydrated(ctx, items); err != nil {
			return err
		}
		for _, item := range items {
			if more, err := use(item); err != nil || !more {
				return err
			}
		}
	}
}

// takeMany returns up to n rows. limit is the number of rows to request from the store, 0 for all.
func (w *walk) takeMany(ctx context.Context, limit, n int) ([]dynamo.Item, error) {
	var items []dynamo.Item
	for len(items) < n {
		item, ok, err := w.take(ctx, max(0, limit-len(items)))
		if err != nil || !ok {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

// hydrated replaces the rows of an index by the whole items. Rows whose item no longer exists are
// omitted; they occur because of index lag.
func (w *walk) hydrated(ctx context.Context, items []dynamo.Item) ([]dynamo.Item, error) {
	c := w.q.c
	if !c.hydrate || len(items) == 0 {
		return items, nil
	}
	keys := make([]dynamo.Key, len(items))
	for i, item := range items {
		keys[i] = c.members[0].keyOf(item)
	}
	w.calls += (len(keys) + batchGetMax - 1) / batchGetMax
	whole, err := w.s.getMany(ctx, c.table, keys, readOptions{})
	if err != nil {
		return nil, err
	}
	var out []dynamo.Item
	for _, key := range keys {
		if item, ok := whole[c.table.identity(key)]; ok {
			out = append(out, item)
		}
	}
	return out, nil
}

// rawPage is the part of a page that does not depend on the type of its rows.
type rawPage struct {
	reversed           bool
	next, prev, resume string
	calls              int
	read               float64
}

// page passes rows to use, which reports whether it kept them, until size rows are kept.
func (c *patternCore) page(
	ctx context.Context, s *Store, p unsafe.Pointer, size int, cursor string,
	use func(dynamo.Item) (bool, error),
) (rawPage, error) {
	var out rawPage
	if size < 1 || size > PageSizeMax {
		return out, fmt.Errorf("pattern %s: a page of %d rows, outside 1 to %d", c.name, size,
			PageSizeMax)
	}
	q, err := c.prepare(s, p)
	if err != nil {
		return out, err
	}
	ctx, meter := ownMeter(c.named(ctx, s))
	if c.kind == kindLookup {
		if cursor != "" {
			return out, &CursorError{Pattern: c.name, Reason: CursorOtherPattern}
		}
		item, err := q.lookUp(ctx, s)
		if err == nil && item != nil {
			_, err = use(item)
		}
		out.calls, out.read = 1, meter.Read()
		return out, err
	}
	var from *position
	if cursor != "" {
		pos, err := q.decodeCursor(s, cursor)
		if err != nil {
			return out, err
		}
		from = &pos
	}
	w := q.newWalk(s, from)
	w.callsMax = c.callsMax
	if err := w.gather(ctx, size, use); err != nil {
		return out, c.wrap(err)
	}
	if w.backward && !w.ended() {
		// The store does not report the end before it is asked again. The first page has no
		// previous page, however it was reached.
		if _, _, err := w.peek(ctx, 1); err != nil && !errors.Is(err, errBudget) {
			return out, c.wrap(err)
		}
	}
	out.calls, out.read = w.calls, meter.Read()
	c.cursors(s, w, from, &out)
	return out, nil
}

// gather takes rows until size rows are kept, the walk ends or the maximum number of calls is
// reached.
func (w *walk) gather(ctx context.Context, size int, use func(dynamo.Item) (bool, error)) error {
	for kept := 0; kept < size; {
		want := size - kept
		n := 1
		if w.q.c.hydrate {
			n = want
		}
		items, err := w.takeMany(ctx, want, n)
		budget := errors.Is(err, errBudget)
		if err != nil && !budget {
			return err
		}
		ended := len(items) == 0
		if items, err = w.hydrated(ctx, items); err != nil {
			return err
		}
		for _, item := range items {
			ok, err := use(item)
			if err != nil {
				return err
			}
			if ok {
				kept++
			}
		}
		if budget || ended {
			return nil
		}
	}
	return nil
}

// cursors computes the positions of the neighbouring pages. For a page that is read backwards, the
// next position is that of the previous page.
func (c *patternCore) cursors(s *Store, w *walk, from *position, out *rawPage) {
	if len(w.q.stages) == 0 {
		return
	}
	out.reversed = w.backward
	ahead := w.q.encodeCursor(s, w.ahead())
	behind := ""
	if from != nil && c.kind != kindScan {
		if p, ok := w.behind(); ok {
			behind = w.q.encodeCursor(s, p)
		}
	}
	if w.backward {
		out.next, out.resume = behind, behind
		if !w.ended() {
			out.prev = ahead
		}
		return
	}
	out.prev, out.resume = behind, ahead
	if !w.ended() {
		out.next = ahead
	}
}

// count adds up the rows of all sources, several of them in parallel.
func (c *patternCore) count(ctx context.Context, s *Store, p unsafe.Pointer) (int, error) {
	q, err := c.prepare(s, p)
	if err != nil || q.empty {
		return 0, err
	}
	ctx = c.named(ctx, s)
	if c.kind == kindLookup {
		item, err := q.lookUp(ctx, s)
		if err != nil || item == nil {
			return 0, err
		}
		return 1, nil
	}
	var sources []*source
	for _, stage := range q.stages {
		sources = append(sources, stage...)
	}
	counts, errs := make([]int, len(sources)), make([]error, len(sources))
	slots := make(chan struct{}, s.opts.Fanout)
	var wg sync.WaitGroup
	for i, src := range sources {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			counts[i], errs[i] = q.countSource(ctx, s, src)
		})
	}
	wg.Wait()
	total := 0
	var failed []ShardFailure
	for i, err := range errs {
		total += counts[i]
		if err != nil {
			failed = append(failed, ShardFailure{sources[i].label, err})
		}
	}
	if len(failed) > 0 {
		return 0, &ShardError{Pattern: c.name, Of: len(sources), Failed: failed}
	}
	return total, nil
}

func (q *query) countSource(ctx context.Context, s *Store, src *source) (int, error) {
	total := 0
	var next dynamo.Key
	var bad error
	for {
		op := "Query"
		var items []dynamo.Item
		f := func(ctx context.Context) (usage, error) {
			in := q.input(src, 0)
			in.ExclusiveStartKey, in.ReturnConsumedCapacity = next, capacity(ctx)
			in.Expressions, in.ProjectionExpression = q.c.keysOnly(in.Expressions)
			out, err := s.db.Query(ctx, in)
			if err != nil {
				return usage{}, err
			}
			items, next = out.Items, out.LastEvaluatedKey
			return usage{one: out.ConsumedCapacity}, nil
		}
		if q.c.kind == kindScan {
			op = "Scan"
			f = func(ctx context.Context) (usage, error) {
				in := q.scanInput(src, 0)
				in.ExclusiveStartKey, in.ReturnConsumedCapacity = next, capacity(ctx)
				in.Expressions, in.ProjectionExpression = q.c.keysOnly(in.Expressions)
				out, err := s.db.Scan(ctx, in)
				if err != nil {
					return usage{}, err
				}
				items, next = out.Items, out.LastEvaluatedKey
				return usage{one: out.ConsumedCapacity}, nil
			}
		}
		err := s.call(ctx, q.request(op), f)
		for _, item := range items {
			if slices.ContainsFunc(q.c.members, func(m *core) bool { return m.owns(item) }) {
				total++
			} else if unowned := q.c.stranger(item); unowned != nil && bad == nil {
				bad = unowned
			}
		}
		if err != nil || next == nil {
			return total, errors.Join(err, bad)
		}
	}
}

// keysOnly returns the attributes that a count reads of each item: those that identify its entity.
func (c *patternCore) keysOnly(e dynamo.Expressions) (dynamo.Expressions, string) {
	attrs := []string{c.table.keys.Partition}
	if c.table.keys.Sort != "" {
		attrs = append(attrs, c.table.keys.Sort)
	}
	for _, m := range c.table.entities {
		if m.disc != "" && !slices.Contains(attrs, m.disc) && c.projects(m.disc) {
			attrs = append(attrs, m.disc)
		}
	}
	names := make(map[string]string, len(e.ExpressionAttributeNames)+len(attrs))
	maps.Copy(names, e.ExpressionAttributeNames)
	for i, a := range attrs {
		name := placeholder(a)
		names[name], attrs[i] = a, name
	}
	e.ExpressionAttributeNames = names
	return e, strings.Join(attrs, ", ")
}

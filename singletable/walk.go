package singletable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// ShardError reports partitions that could not be read. No rows are returned, because an incomplete
// list could be mistaken for a complete one.
type ShardError struct {
	Pattern string
	// Of is the number of partitions that were read in parallel.
	Of     int
	Failed []ShardFailure
}

// ShardFailure is one partition that could not be read.
type ShardFailure struct {
	// Partition is its key.
	Partition string
	Err       error
}

// Error names the partitions.
func (e *ShardError) Error() string {
	parts := make([]string, len(e.Failed))
	for i, f := range e.Failed {
		parts[i] = fmt.Sprintf("%s: %v", f.Partition, f.Err)
	}
	return fmt.Sprintf("pattern %s: %d of %d partitions failed: %s", e.Pattern, len(e.Failed),
		e.Of, strings.Join(parts, "; "))
}

// Unwrap returns the errors of the partitions.
func (e *ShardError) Unwrap() []error {
	errs := make([]error, len(e.Failed))
	for i, f := range e.Failed {
		errs[i] = f.Err
	}
	return errs
}

// errBudget ends a page that reached its maximum number of calls.
var errBudget = errors.New("the page made as many calls as it may")

// walk reads the rows of a query in order, from a position, in one direction.
type walk struct {
	s        *Store
	q        *query
	backward bool
	stage    int
	readers  []*reader
	calls    int
	callsMax int // 0 for no maximum
	// passed is the position from which the walk can go back, for each source of the first stage.
	// It is set when the walk leaves that stage.
	firstStage int
	passed     []dynamo.Key
	passedOK   bool
}

// reader reads one source.
type reader struct {
	src   *source
	pos   dynamo.Key // position after which to continue; nil is the beginning
	buf   []dynamo.Item
	next  dynamo.Key // position of the store after buf; nil at the end
	done  bool       // the store has no rows after buf
	first dynamo.Key // key of the first row that was taken in this walk
	moved dynamo.Key // the first position that was reached without taking a row
	grow  int        // factor for the next limit, because the last one was not enough
}

// newWalk starts a walk at a position; nil is the beginning.
func (q *query) newWalk(s *Store, from *position) *walk {
	w := &walk{s: s, q: q}
	if from == nil {
		w.open(0, nil)
		return w
	}
	w.backward = from.backward
	w.open(from.stage, from.keys)
	return w
}

func (w *walk) open(stage int, keys []dynamo.Key) {
	w.stage, w.readers = stage, nil
	if w.passed == nil {
		w.firstStage = stage
	}
	if stage < 0 || stage >= len(w.q.stages) {
		return
	}
	for i, src := range w.q.stages[stage] {
		r := &reader{src: src, grow: 1}
		if keys != nil {
			r.pos = keys[i]
		}
		w.readers = append(w.readers, r)
	}
}

// take returns the next row. ok is false at the end. limit is the number of rows still needed, 0
// for all.
func (w *walk) take(ctx context.Context, limit int) (item dynamo.Item, ok bool, err error) {
	if item, ok, err = w.peek(ctx, limit); ok {
		w.consume()
	}
	return item, ok, err
}

// peek returns the next row without consuming it.
func (w *walk) peek(ctx context.Context, limit int) (item dynamo.Item, ok bool, err error) {
	if w.q.empty {
		return nil, false, nil
	}
	for w.stage >= 0 && w.stage < len(w.q.stages) {
		if err := w.fill(ctx, limit); err != nil {
			return nil, false, err
		}
		if r := w.least(); r != nil {
			return r.buf[0], true, nil
		}
		if !w.advance() {
			return nil, false, nil
		}
	}
	return nil, false, nil
}

// consume consumes the row that peek found.
func (w *walk) consume() {
	r := w.least()
	r.pos = w.q.positionOf(r.buf[0])
	r.buf = r.buf[1:]
	if r.first == nil {
		r.first = r.pos
	}
	if len(r.buf) == 0 && r.next != nil {
		r.pos = r.next
	}
}

// advance moves to the next stage and reports whether there is one.
func (w *walk) advance() bool {
	next := w.stage + 1
	if w.backward {
		next = w.stage - 1
	}
	if next < 0 || next >= len(w.q.stages) {
		return false
	}
	if !w.passedOK {
		w.notePassed()
	}
	w.open(next, nil)
	return true
}

// notePassed saves the position from which to go back: before the first row taken from each source
// or, if there is none, before the first one that could have been taken, or the end.
func (w *walk) notePassed() {
	w.passedOK = true
	w.passed = make([]dynamo.Key, len(w.readers))
	for i, r := range w.readers {
		switch {
		case r.first != nil:
			w.passed[i] = r.first
		case len(r.buf) > 0:
			w.passed[i] = w.q.positionOf(r.buf[0])
		case r.done: // at the end
		case r.moved != nil:
			w.passed[i] = r.moved // rows that were dropped are dropped again on the way back
		default:
			w.passedOK = false // the source was not read
		}
	}
}

// least returns the reader with the first row; readers earlier in the list win ties.
func (w *walk) least() *reader {
	var best *reader
	var bestKey dynamo.Value
	for _, r := range w.readers {
		if len(r.buf) == 0 {
			continue
		}
		key := r.buf[0][w.q.c.keys.Sort]
		if best == nil || w.precedes(key, bestKey) {
			best, bestKey = r, key
		}
	}
	return best
}

// precedes reports whether a row with sort key v comes before one with u in the direction of the
// walk. In a backward walk the later reader wins ties, so that both directions have the same order.
func (w *walk) precedes(v, u dynamo.Value) bool {
	n, ok := canonical(v).Compare(canonical(u))
	if !ok {
		return false
	}
	if w.q.back != w.backward {
		n = -n
	}
	return n < 0 || n == 0 && w.backward
}

// fill ensures that every reader has a row or is at its end.
func (w *walk) fill(ctx context.Context, limit int) error {
	for {
		var hungry []*reader
		for _, r := range w.readers {
			if len(r.buf) == 0 && !r.done {
				hungry = append(hungry, r)
			}
		}
		if len(hungry) == 0 {
			return nil
		}
		if w.callsMax > 0 && w.calls+len(hungry) > max(w.callsMax, len(w.readers)) {
			return errBudget
		}
		w.calls += len(hungry)
		if err := w.fetchAll(ctx, hungry, limit); err != nil {
			return err
		}
	}
}

// fetchAll reads a page for each reader, several of them in parallel.
func (w *walk) fetchAll(ctx context.Context, rs []*reader, limit int) error {
	if len(rs) == 1 {
		err := w.fetch(ctx, rs[0], limit)
		if err != nil && len(w.readers) > 1 {
			return w.shardError([]ShardFailure{{rs[0].src.label, err}})
		}
		return err
	}
	errs := make([]error, len(rs))
	slots := make(chan struct{}, w.s.opts.Fanout)
	var wg sync.WaitGroup
	for i, r := range rs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = w.fetch(ctx, r, limit)
		})
	}
	wg.Wait()
	var failed []ShardFailure
	for i, err := range errs {
		if err != nil {
			failed = append(failed, ShardFailure{rs[i].src.label, err})
		}
	}
	if len(failed) > 0 {
		return w.shardError(failed)
	}
	return nil
}

func (w *walk) shardError(failed []ShardFailure) error {
	return &ShardError{Pattern: w.q.c.name, Of: len(w.readers), Failed: failed}
}

// evaluatedMax is the maximum number of rows that a filtered page requests in one call.
const evaluatedMax = 1000

// limitFor returns the number of rows to request from one of several readers. Each gets its share
// and a little more, because shards are not quite even. Requesting all rows from each would read a
// multiple of the page.
func (w *walk) limitFor(r *reader, limit int) int {
	if limit <= 0 {
		return 0
	}
	n := limit
	if len(w.readers) > 1 {
		n = limit/len(w.readers) + limit/(4*len(w.readers)) + 2
	}
	n *= r.grow
	switch {
	case r.src.filter != "":
		r.grow = min(r.grow*4, evaluatedMax)
	case len(w.readers) > 1:
		r.grow = min(r.grow*2, evaluatedMax)
	}
	return max(1, min(n, max(limit, evaluatedMax)))
}

// fetch reads the next page of a source into the reader.
func (w *walk) fetch(ctx context.Context, r *reader, limit int) error {
	items, next, err := w.page(ctx, r, w.limitFor(r, limit))
	if err != nil {
		return err
	}
	r.buf, r.next, r.done = items, next, next == nil
	if len(items) == 0 && next != nil {
		r.pos = next
		if r.moved == nil {
			r.moved = next
		}
	}
	return nil
}

func (w *walk) page(
	ctx context.Context, r *reader, limit int,
) (items []dynamo.Item, next dynamo.Key, err error) {
	if w.q.c.kind == kindScan {
		return w.scan(ctx, r, limit)
	}
	in := w.q.input(r.src, limit)
	in.ExclusiveStartKey = r.pos
	in.ScanIndexBackward = w.q.back != w.backward
	in.ReturnConsumedCapacity = capacity(ctx)
	err = w.s.call(ctx, w.q.request("Query"), func(ctx context.Context) (usage, error) {
		out, err := w.s.db.Query(ctx, in)
		if err != nil {
			return usage{}, err
		}
		items, next = out.Items, out.LastEvaluatedKey
		return usage{one: out.ConsumedCapacity}, nil
	})
	return items, next, err
}

// input returns the request for a source.
func (q *query) input(src *source, limit int) *dynamo.QueryInput {
	in := &dynamo.QueryInput{TableName: q.c.table.name, KeyConditionExpression: src.keyCond,
		FilterExpression: src.filter, Expressions: src.ph, ConsistentRead: q.c.consistent,
		ScanIndexBackward: q.back, Limit: limit}
	if q.c.index != nil {
		in.IndexName = q.c.index.name
	}
	return in
}

func (q *query) scanInput(src *source, limit int) *dynamo.ScanInput {
	in := &dynamo.ScanInput{TableName: q.c.table.name, FilterExpression: src.filter,
		Expressions: src.ph, ConsistentRead: q.c.consistent, Limit: limit}
	if q.c.index != nil {
		in.IndexName = q.c.index.name
	}
	if q.c.segments > 1 {
		in.Segment, in.TotalSegments = src.segment, q.c.segments
	}
	return in
}

func (w *walk) scan(
	ctx context.Context, r *reader, limit int,
) (items []dynamo.Item, next dynamo.Key, err error) {
	in := w.q.scanInput(r.src, limit)
	in.ExclusiveStartKey = r.pos
	in.ReturnConsumedCapacity = capacity(ctx)
	err = w.s.call(ctx, w.q.request("Scan"), func(ctx context.Context) (usage, error) {
		out, err := w.s.db.Scan(ctx, in)
		if err != nil {
			return usage{}, err
		}
		items, next = out.Items, out.LastEvaluatedKey
		return usage{one: out.ConsumedCapacity}, nil
	})
	return items, next, err
}

func (q *query) request(op string) request {
	r := request{op: op, table: q.c.table.name}
	if q.c.index != nil {
		r.index = q.c.index.name
	}
	return r
}

// positionOf returns the key of an item in the table and the index, which is sufficient to continue
// after it.
func (q *query) positionOf(item dynamo.Item) dynamo.Key {
	key := make(dynamo.Key, 4)
	for _, a := range [...]string{q.c.keys.Partition, q.c.keys.Sort, q.c.table.keys.Partition,
		q.c.table.keys.Sort} {
		if v, ok := item[a]; ok && a != "" {
			key[a] = v
		}
	}
	return key
}

// ended reports whether the walk has no more rows.
func (w *walk) ended() bool {
	last := w.stage == len(w.q.stages)-1
	if w.backward {
		last = w.stage == 0
	}
	if w.q.empty || len(w.q.stages) == 0 {
		return true
	}
	for _, r := range w.readers {
		if len(r.buf) > 0 || !r.done {
			return false
		}
	}
	return last
}

// ahead returns the position from which to continue.
func (w *walk) ahead() position {
	p := position{backward: w.backward, stage: w.stage}
	for _, r := range w.readers {
		p.keys = append(p.keys, r.pos)
	}
	return p
}

// behind returns the position from which to go back. ok is false if it is unknown.
func (w *walk) behind() (p position, ok bool) {
	if !w.passedOK {
		w.firstStage = w.stage
		w.notePassed()
	}
	return position{backward: !w.backward, stage: w.firstStage, keys: w.passed}, w.passedOK
}

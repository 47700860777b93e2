package engine

import (
	"maps"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// sorted returns the keys of a map in order, because the random numbers of a rule must not depend
// on the order of the map.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// divide decides for each member of a batch whether it stays unprocessed. sizes is the number of
// members of each table, by the name in the request. An error refuses the whole batch, as the
// service does if it throttles all tables of the batch.
func (p *faultPlan) divide(op string, sizes map[string]int) (left map[string][]bool, err error) {
	left = make(map[string][]bool, len(sizes))
	var refusal error
	var open []string // the tables that are not throttled
	for _, name := range sorted(sizes) {
		left[name] = make([]bool, sizes[name])
		t, err := p.db.tableOf(name)
		if err != nil {
			return nil, err
		}
		if err := p.throttle(op, t, nil); err != nil {
			// One throttled table leaves its members unprocessed; only if all are throttled the
			// call fails.
			refusal = err
			for i := range left[name] {
				left[name][i] = true
			}
			continue
		}
		open = append(open, name)
	}
	if len(open) == 0 {
		return nil, refusal
	}
	kept, whole := 0, false
	for _, name := range open {
		for i := range left[name] {
			var all bool
			left[name][i], all = p.leaves(site{op: op, table: bareName(name)})
			if whole = whole || all; !left[name][i] {
				kept++
			}
		}
	}
	// At least one member is processed, so that a caller that retries the rest terminates.
	if kept == 0 && !whole {
		left[open[0]][0] = false
	}
	return left, nil
}

// leaves reports whether one member of a batch stays unprocessed, and whether the whole batch may.
func (p *faultPlan) leaves(c site) (left, all bool) {
	for _, r := range p.rules {
		if r.Kind == FaultUnprocessed && r.at(c) && r.applies() {
			return true, r.All
		}
	}
	return false, false
}

// divideReads splits a batch into the keys that are read and those that stay unprocessed, each with
// the options of its table. The batch is already validated.
func (p *faultPlan) divideReads(in *dynamo.BatchGetInput) (
	kept *dynamo.BatchGetInput, left map[string]dynamo.KeysAndAttributes, err error,
) {
	sizes := make(map[string]int, len(in.RequestItems))
	for name, asked := range in.RequestItems {
		sizes[name] = len(asked.Keys)
	}
	marks, err := p.divide(opBatchGet, sizes)
	if err != nil {
		return nil, nil, err
	}
	kept = &dynamo.BatchGetInput{
		RequestItems:           map[string]dynamo.KeysAndAttributes{},
		ReturnConsumedCapacity: in.ReturnConsumedCapacity,
	}
	for name, asked := range in.RequestItems {
		do, undone := asked, asked
		do.Keys, undone.Keys = parted(asked.Keys, marks[name])
		if len(do.Keys) > 0 {
			kept.RequestItems[name] = do
		}
		if len(undone.Keys) > 0 {
			if left == nil {
				left = map[string]dynamo.KeysAndAttributes{}
			}
			left[name] = undone
		}
	}
	return kept, left, nil
}

// divideWrites splits a batch of writes as divideReads splits reads.
func (p *faultPlan) divideWrites(in *dynamo.BatchWriteInput) (
	kept *dynamo.BatchWriteInput, left map[string][]dynamo.WriteRequest, err error,
) {
	sizes := make(map[string]int, len(in.RequestItems))
	for name, requests := range in.RequestItems {
		// A table without requests has no member to divide.
		if len(requests) > 0 {
			sizes[name] = len(requests)
		}
	}
	marks, err := p.divide(opBatchWrite, sizes)
	if err != nil {
		return nil, nil, err
	}
	kept = &dynamo.BatchWriteInput{
		RequestItems:                map[string][]dynamo.WriteRequest{},
		ReturnConsumedCapacity:      in.ReturnConsumedCapacity,
		ReturnItemCollectionMetrics: in.ReturnItemCollectionMetrics,
	}
	for name := range sizes {
		do, undone := parted(in.RequestItems[name], marks[name])
		if len(do) > 0 {
			kept.RequestItems[name] = do
		}
		if len(undone) > 0 {
			if left == nil {
				left = map[string][]dynamo.WriteRequest{}
			}
			left[name] = undone
		}
	}
	return kept, left, nil
}

// keptReads returns the reads of a batch that the faults allow, and the unprocessed keys.
func (f *faulting) keptReads(in *dynamo.BatchGetInput, reads []batchRead) (
	*dynamo.BatchGetInput, []batchRead, map[string]dynamo.KeysAndAttributes, error,
) {
	p := f.plan.Load()
	if p == nil {
		return in, reads, nil, nil
	}
	kept, left, err := p.divideReads(in)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case len(kept.RequestItems) == 0:
		return kept, nil, left, nil
	case left != nil:
		// The reads are validated again, because they have no link to the keys that were left out.
		reads, err = f.db.requests.batchReads(kept)
	}
	return kept, reads, left, err
}

// commitBatch commits the writes of a batch that the faults allow. It returns the unprocessed
// writes.
func (f *faulting) commitBatch(in *dynamo.BatchWriteInput, w *write) (
	left map[string][]dynamo.WriteRequest, err error,
) {
	p := f.plan.Load()
	if p == nil {
		return nil, f.db.writer.commitOne(w)
	}
	in, left, err = p.divideWrites(in)
	if err != nil {
		return nil, err
	}
	if len(in.RequestItems) == 0 {
		w.actions = nil
		return left, nil
	}
	if left != nil {
		if w.actions, err = f.db.requests.batchActions(in); err != nil {
			return nil, err
		}
	}
	if err := f.db.writer.commitOne(w); err != nil {
		return nil, err
	}
	return left, p.loseAnswer(opBatchWrite, w)
}

// parted returns the members that are not marked, and those that are.
func parted[T any](members []T, marks []bool) (kept, left []T) {
	for i, m := range members {
		if marks[i] {
			left = append(left, m)
		} else {
			kept = append(kept, m)
		}
	}
	return kept, left
}

package singletable

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// batchWriteMax is the maximum number of writes in a BatchWriteItem.
const batchWriteMax = 25

// PutAll writes any number of items in batches of 25. The writes are independent and have no
// condition: after an error some of them may have been made. If a key occurs twice, the last item
// is kept.
func (e *Entity[T]) PutAll(ctx context.Context, s *Store, vs []T) error {
	c := e.c
	if len(c.uniques) > 0 {
		return fmt.Errorf("%s has unique values, which a batch cannot keep", c.name)
	}
	b := batch{s: s, t: c.table}
	for i := range vs {
		item, err := c.marshal(unsafe.Pointer(&vs[i]))
		if err != nil {
			return fmt.Errorf("put %s, item %d: %w", c.name, i, err)
		}
		b.add(c.table.identity(item), dynamo.WriteRequest{Put: item})
	}
	if err := b.write(ctx); err != nil {
		return fmt.Errorf("put %d items of %s: %w", len(vs), c.name, err)
	}
	return nil
}

// DeleteAll deletes any number of items in batches of 25. As with PutAll, the writes are
// independent.
func (e *Entity[T]) DeleteAll(ctx context.Context, s *Store, at []T) error {
	c := e.c
	if len(c.uniques) > 0 {
		return fmt.Errorf("%s has unique values, which a batch cannot keep", c.name)
	}
	b := batch{s: s, t: c.table}
	for i := range at {
		key, err := c.key(unsafe.Pointer(&at[i]))
		if err != nil {
			return fmt.Errorf("delete %s, key %d: %w", c.name, i, err)
		}
		b.add(c.table.identity(key), dynamo.WriteRequest{Delete: key})
	}
	if err := b.write(ctx); err != nil {
		return fmt.Errorf("delete %d items of %s: %w", len(at), c.name, err)
	}
	return nil
}

// batch is a list of writes to one table. A key occurs only once, because the store refuses
// duplicates.
type batch struct {
	s     *Store
	t     *Table
	reqs  []dynamo.WriteRequest
	index map[string]int
}

func (b *batch) add(id string, r dynamo.WriteRequest) {
	if b.index == nil {
		b.index = map[string]int{}
	}
	if at, ok := b.index[id]; ok {
		b.reqs[at] = r
		return
	}
	b.index[id] = len(b.reqs)
	b.reqs = append(b.reqs, r)
}

// write sends the batch in parts, and repeats the writes that the store leaves unprocessed.
func (b *batch) write(ctx context.Context) error {
	rest := b.reqs
	for len(rest) > 0 {
		n := min(len(rest), batchWriteMax)
		if err := b.writePart(ctx, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (b *batch) writePart(ctx context.Context, reqs []dynamo.WriteRequest) error {
	r := b.s.newRetry(ctx)
	req := request{op: "BatchWriteItem", table: b.t.name, write: true, repeatable: true}
	for {
		before := len(reqs)
		err := b.s.call(ctx, req, func(ctx context.Context) (usage, error) {
			out, err := b.s.db.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems:           map[string][]dynamo.WriteRequest{b.t.name: reqs},
				ReturnConsumedCapacity: capacity(ctx),
			})
			if err != nil {
				return usage{}, err
			}
			reqs = out.UnprocessedItems[b.t.name]
			return usage{many: out.ConsumedCapacity}, nil
		})
		if err != nil || len(reqs) == 0 {
			return err
		}
		if len(reqs) < before {
			r = b.s.newRetry(ctx)
		}
		if err := r.next(errUnprocessed); err != nil {
			return err
		}
	}
}

package transfer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const (
	batchMax = 25  // writes of a BatchWriteItem
	keysMax  = 100 // keys of a BatchGetItem
	// batchesMax is how many batches of a page are on their way at once.
	batchesMax = 4

	// pauseMin and pauseMax bound the pauses before a call is repeated.
	pauseMin = 25 * time.Millisecond
	pauseMax = 5 * time.Second
	// patienceMax is how long a call is retried. It is longer than a restart and than an increase
	// of throughput; after that a person is needed.
	patienceMax = 10 * time.Minute
)

// together runs n tasks at once and returns the first error, which ends the others.
func together(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var tasks sync.WaitGroup
	for i := range n {
		tasks.Go(func() {
			if err := task(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	tasks.Wait()
	return context.Cause(ctx)
}

// copySegments copies all segments of the table in parallel, and writes down how far that went
// however it ends.
func (c *copier) copySegments(ctx context.Context, t *tableState) error {
	err := together(ctx, len(t.Segments), func(ctx context.Context, segment int) error {
		return c.copySegment(ctx, t, segment)
	})
	return errors.Join(err, c.state.save())
}

func (c *copier) copySegment(ctx context.Context, t *tableState, segment int) error {
	after, done := c.state.place(t, segment)
	for !done {
		page, err := c.scan(ctx, c.from, &dynamo.ScanInput{
			Segment: segment, TotalSegments: len(t.Segments), ExclusiveStartKey: after,
		})
		if err != nil {
			return err
		}
		writes := make([]dynamo.WriteRequest, len(page.Items))
		for i, item := range page.Items {
			writes[i].Put = item
		}
		if err := c.write(ctx, writes); err != nil {
			return err
		}
		after, done = page.LastEvaluatedKey, page.LastEvaluatedKey == nil
		if err := c.state.advance(t, segment, after, len(page.Items)); err != nil {
			return err
		}
		c.advance(len(page.Items))
	}
	return nil
}

// scan reads a page of the table, strongly consistent.
func (c *copier) scan(ctx context.Context, s Store, in *dynamo.ScanInput) (
	page *dynamo.ScanOutput, err error,
) {
	in.TableName, in.ConsistentRead = c.table, true
	err = c.retry(ctx, func() error {
		page, err = s.Scan(ctx, in)
		return err
	})
	return page, err
}

// scanAll reads a whole side in parallel segments and hands over its pages; in has what all reads
// share.
func (c *copier) scanAll(ctx context.Context, s Store, in dynamo.ScanInput,
	each func(ctx context.Context, segment int, items []dynamo.Item) error,
) error {
	return together(ctx, c.opts.Segments, func(ctx context.Context, segment int) error {
		in := in
		in.Segment, in.TotalSegments = segment, c.opts.Segments
		for {
			page, err := c.scan(ctx, s, &in)
			if err != nil {
				return err
			}
			if err := each(ctx, segment, page.Items); err != nil {
				return err
			}
			c.advance(len(page.Items))
			if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
				return nil
			}
		}
	})
}

// write carries writes out on the other side, and returns when all were acknowledged.
func (c *copier) write(ctx context.Context, writes []dynamo.WriteRequest) error {
	batches := (len(writes) + batchMax - 1) / batchMax
	return together(ctx, min(batches, batchesMax), func(ctx context.Context, worker int) error {
		for i := worker; i < batches; i += batchesMax {
			rest := writes[i*batchMax : min(len(writes), (i+1)*batchMax)]
			if err := c.writeBatch(ctx, rest); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeBatch writes a batch, and again what the store left unprocessed. Pauses grow only while
// nothing gets through.
func (c *copier) writeBatch(ctx context.Context, rest []dynamo.WriteRequest) error {
	for len(rest) > 0 {
		err := c.retry(ctx, func() error {
			out, err := c.to.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{c.table: rest},
			})
			if err != nil {
				return err
			}
			left := out.UnprocessedItems[c.table]
			if len(left) == len(rest) {
				return errUnprocessed
			}
			rest = left
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch returns the items that a store has of up to keysMax keys, in no order. in has the keys and
// the attributes to read.
func (c *copier) fetch(ctx context.Context, s Store, in dynamo.KeysAndAttributes) (
	items []dynamo.Item, err error,
) {
	in.ConsistentRead = true
	for len(in.Keys) > 0 {
		err := c.retry(ctx, func() error {
			out, err := s.BatchGet(ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{c.table: in},
			})
			if err != nil {
				return err
			}
			left := out.UnprocessedKeys[c.table].Keys
			if len(left) == len(in.Keys) {
				return errUnprocessed
			}
			items, in.Keys = append(items, out.Responses[c.table]...), left
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// errUnprocessed means that the store processed nothing of a batch.
var errUnprocessed = &dynamo.Error{
	Code: dynamo.CodeThrottling, Message: "the whole batch was left unprocessed",
}

// retry repeats a call that the store refused temporarily, with growing pauses, until the context
// ends or the error is permanent.
func (c *copier) retry(ctx context.Context, call func() error) error {
	begin := time.Now()
	for pause := c.opts.pause; ; pause = min(2*pause, pauseMax) {
		err := call()
		if err == nil || !dynamo.Retryable(err) {
			return err
		}
		if took := time.Since(begin); took >= c.opts.patience {
			return fmt.Errorf("tried again for %s: %w", took.Round(time.Second), err)
		}
		c.wait(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

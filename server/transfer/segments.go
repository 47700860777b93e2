package transfer

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const (
	batchMax = 25 // writes of a BatchWriteItem
	// batchesMax is how many batches of a page are on their way at once.
	batchesMax = 4

	// pauseMin and pauseMax bound the pauses before a call is repeated.
	pauseMin = 25 * time.Millisecond
	pauseMax = 5 * time.Second
)

// copySegments copies all segments of the table side by side.
func (c *copier) copySegments(ctx context.Context, t *tableState) error {
	return together(ctx, len(t.Segments), func(ctx context.Context, segment int) error {
		return c.copySegment(ctx, t, segment)
	})
}

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

func (c *copier) copySegment(ctx context.Context, t *tableState, segment int) error {
	after, done, err := c.state.place(t, segment)
	for err == nil && !done {
		var page *dynamo.ScanOutput
		page, err = c.scan(ctx, c.from, segment, len(t.Segments), after)
		if err != nil {
			return err
		}
		if err = c.put(ctx, page.Items); err != nil {
			return err
		}
		after, done = page.LastEvaluatedKey, page.LastEvaluatedKey == nil
		err = c.state.advance(t, segment, after, int64(len(page.Items)))
		c.advance(int64(len(page.Items)), false)
	}
	return err
}

// advance tells the progress.
func (c *copier) advance(items int64, checking bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items += items
	if c.opts.Progress != nil {
		c.opts.Progress(Progress{
			Table: c.table, Checking: checking, Items: c.items, Total: c.total,
		})
	}
}

func (c *copier) scan(ctx context.Context, s Store, segment, segments int, after dynamo.Key) (
	page *dynamo.ScanOutput, err error,
) {
	err = c.insist(ctx, func() error {
		page, err = s.Scan(ctx, &dynamo.ScanInput{
			TableName: c.table, ConsistentRead: true, ExclusiveStartKey: after,
			Segment: segment, TotalSegments: segments,
		})
		return err
	})
	return page, err
}

// put writes a page, and returns when all of it was acknowledged.
func (c *copier) put(ctx context.Context, items []dynamo.Item) error {
	batches := (len(items) + batchMax - 1) / batchMax
	slots := make(chan struct{}, batchesMax)
	return together(ctx, batches, func(ctx context.Context, i int) error {
		slots <- struct{}{}
		defer func() { <-slots }()
		return c.putBatch(ctx, items[i*batchMax:min(len(items), (i+1)*batchMax)])
	})
}

// putBatch writes a batch, and again what the store left unprocessed. Pauses grow only while
// nothing gets through.
func (c *copier) putBatch(ctx context.Context, items []dynamo.Item) error {
	rest := make([]dynamo.WriteRequest, len(items))
	for i, item := range items {
		rest[i].Put = item
	}
	for len(rest) > 0 {
		err := c.insist(ctx, func() error {
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

// errUnprocessed stands for a batch of which the store did nothing.
var errUnprocessed = &dynamo.Error{
	Code: dynamo.CodeThrottling, Message: "all items were left unprocessed",
}

// insist repeats a call that the store put off, with growing pauses, until the context ends.
func (c *copier) insist(ctx context.Context, call func() error) error {
	for pause := c.opts.pause; ; pause = min(2*pause, pauseMax) {
		err := call()
		if err == nil || !dynamo.Retryable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

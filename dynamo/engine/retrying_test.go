package engine_test

import (
	"context"
	"errors"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// retryingDB is a client that does everything the service expects of a client: it uses strongly
// consistent reads, retries transient errors and unprocessed members, and reads the next page. With
// it a database with faults must look like one without. Before it reads a global index, which has
// no strongly consistent reads, it calls CatchUp.
type retryingDB struct {
	*engine.DB
}

// passing reports whether an error is transient. A transaction with both a failed condition and a
// conflict is retried, too, because the conflict may hide other failed conditions.
func passing(err error) bool {
	return dynamo.Retryable(err) ||
		slices.ContainsFunc(dynamo.Reasons(err), func(r dynamo.CancellationReason) bool {
			return r.Code == dynamo.ReasonTransactionConflict ||
				r.Code == dynamo.ReasonThrottling || r.Code == dynamo.ReasonProvisionedThroughput
		})
}

func retry[In, Out any](
	ctx context.Context, in In, do func(context.Context, In) (Out, error),
) (Out, error) {
	for {
		out, err := do(ctx, in)
		if !passing(err) {
			return out, err
		}
	}
}

func (d retryingDB) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	strong := *in
	strong.ConsistentRead = true
	return retry(ctx, &strong, d.DB.Get)
}

func (d retryingDB) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	return retry(ctx, in, d.DB.Put)
}

func (d retryingDB) Update(ctx context.Context, in *dynamo.UpdateInput) (
	*dynamo.UpdateOutput, error,
) {
	return retry(ctx, in, d.DB.Update)
}

func (d retryingDB) Delete(ctx context.Context, in *dynamo.DeleteInput) (
	*dynamo.DeleteOutput, error,
) {
	return retry(ctx, in, d.DB.Delete)
}

func (d retryingDB) TransactGet(ctx context.Context, in *dynamo.TransactGetInput) (
	*dynamo.TransactGetOutput, error,
) {
	return retry(ctx, in, d.DB.TransactGet)
}

func (d retryingDB) TransactWrite(ctx context.Context, in *dynamo.TransactWriteInput) (
	*dynamo.TransactWriteOutput, error,
) {
	return retry(ctx, in, d.DB.TransactWrite)
}

// strong reports whether an index can be read strongly: the table and the local ones can.
func strong(index string) bool { return index == "" || index == "local" || index == "ByAmount" }

func (d retryingDB) Query(ctx context.Context, in *dynamo.QueryInput) (
	*dynamo.QueryOutput, error,
) {
	whole := &dynamo.QueryOutput{}
	next := *in
	next.ConsistentRead = strong(in.IndexName)
	for {
		if !next.ConsistentRead {
			if err := d.CatchUp(); err != nil {
				return nil, err
			}
		}
		out, err := retry(ctx, &next, d.DB.Query)
		if err != nil {
			return nil, err
		}
		whole.Items = append(whole.Items, out.Items...)
		whole.Count += out.Count
		whole.ScannedCount += out.ScannedCount
		whole.LastEvaluatedKey = out.LastEvaluatedKey
		next.ExclusiveStartKey = out.LastEvaluatedKey
		next.Limit -= min(next.Limit, out.ScannedCount)
		if out.LastEvaluatedKey == nil || in.Limit > 0 && next.Limit == 0 {
			return whole, nil
		}
	}
}

func (d retryingDB) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	whole := &dynamo.ScanOutput{}
	next := *in
	next.ConsistentRead = strong(in.IndexName)
	for {
		if !next.ConsistentRead {
			if err := d.CatchUp(); err != nil {
				return nil, err
			}
		}
		out, err := retry(ctx, &next, d.DB.Scan)
		if err != nil {
			return nil, err
		}
		whole.Items = append(whole.Items, out.Items...)
		whole.Count += out.Count
		whole.ScannedCount += out.ScannedCount
		whole.LastEvaluatedKey = out.LastEvaluatedKey
		next.ExclusiveStartKey = out.LastEvaluatedKey
		next.Limit -= min(next.Limit, out.ScannedCount)
		if out.LastEvaluatedKey == nil || in.Limit > 0 && next.Limit == 0 {
			return whole, nil
		}
	}
}

// errNoProgress reports a batch of which nothing was done.
var errNoProgress = errors.New("nothing of a batch was done, though it was not refused")

func (d retryingDB) BatchGet(ctx context.Context, in *dynamo.BatchGetInput) (
	*dynamo.BatchGetOutput, error,
) {
	whole := &dynamo.BatchGetOutput{Responses: map[string][]dynamo.Item{}}
	for next := *in; ; {
		out, err := retry(ctx, &next, d.DB.BatchGet)
		if err != nil {
			return nil, err
		}
		for table, items := range out.Responses {
			whole.Responses[table] = append(whole.Responses[table], items...)
		}
		asked, left := 0, 0
		for table, keys := range next.RequestItems {
			asked += len(keys.Keys)
			left += len(out.UnprocessedKeys[table].Keys)
		}
		switch {
		case left == 0:
			return whole, nil
		case left >= asked:
			return nil, errNoProgress
		}
		next.RequestItems = out.UnprocessedKeys
	}
}

func (d retryingDB) BatchWrite(ctx context.Context, in *dynamo.BatchWriteInput) (
	*dynamo.BatchWriteOutput, error,
) {
	for next := *in; ; {
		out, err := retry(ctx, &next, d.DB.BatchWrite)
		if err != nil {
			return nil, err
		}
		asked, left := 0, 0
		for table, requests := range next.RequestItems {
			asked += len(requests)
			left += len(out.UnprocessedItems[table])
		}
		switch {
		case left == 0:
			return &dynamo.BatchWriteOutput{}, nil
		case left >= asked:
			return nil, errNoProgress
		}
		next.RequestItems = out.UnprocessedItems
	}
}

package singletable_test

import (
	"context"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// faulty is a DB that misbehaves as a busy store does, in front of one that does not. Its hooks
// say, for each call in turn, what goes wrong.
type faulty struct {
	dynamo.DB
	mu    sync.Mutex
	calls map[string]int
	// fail returns an error for the n-th call of an operation, counted from 1; after decides
	// whether the call is carried out all the same.
	fail func(op string, n int) (err error, after bool)
	// keep is how many members of a batch are done, the rest being left unprocessed; 0 is all.
	keep int
	// limit ends pages of queries and scans early.
	limit int
}

func (f *faulty) next(op string) (error, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[op]++
	if f.fail == nil {
		return nil, false
	}
	return f.fail(op, f.calls[op])
}

func (f *faulty) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

func pass[In, Out any](
	f *faulty, op string, ctx context.Context, in In, do func(context.Context, In) (Out, error),
) (Out, error) {
	var none Out
	err, after := f.next(op)
	if err == nil {
		return do(ctx, in)
	}
	if after {
		if _, err := do(ctx, in); err != nil {
			return none, err
		}
	}
	return none, err
}

func (f *faulty) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	return pass(f, "Get", ctx, in, f.DB.Get)
}

func (f *faulty) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	return pass(f, "Put", ctx, in, f.DB.Put)
}

func (f *faulty) Update(
	ctx context.Context, in *dynamo.UpdateInput,
) (*dynamo.UpdateOutput, error) {
	return pass(f, "Update", ctx, in, f.DB.Update)
}

func (f *faulty) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	if f.limit > 0 && (in.Limit == 0 || in.Limit > f.limit) {
		short := *in
		short.Limit = f.limit
		in = &short
	}
	return pass(f, "Query", ctx, in, f.DB.Query)
}

func (f *faulty) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	if f.limit > 0 {
		short := *in
		short.Limit = f.limit
		in = &short
	}
	return pass(f, "Scan", ctx, in, f.DB.Scan)
}

func (f *faulty) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	return pass(f, "TransactWrite", ctx, in, f.DB.TransactWrite)
}

func (f *faulty) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	rest := map[string]dynamo.KeysAndAttributes{}
	if f.keep > 0 {
		short := *in
		short.RequestItems = map[string]dynamo.KeysAndAttributes{}
		for table, r := range in.RequestItems {
			if n := min(f.keep, len(r.Keys)); n < len(r.Keys) {
				left := r
				left.Keys = r.Keys[n:]
				rest[table] = left
				r.Keys = r.Keys[:n]
			}
			short.RequestItems[table] = r
		}
		in = &short
	}
	out, err := pass(f, "BatchGet", ctx, in, f.DB.BatchGet)
	if err == nil && len(rest) > 0 {
		for table, left := range out.UnprocessedKeys {
			left.Keys = append(left.Keys, rest[table].Keys...)
			rest[table] = left
		}
		out.UnprocessedKeys = rest
	}
	return out, err
}

func (f *faulty) BatchWrite(
	ctx context.Context, in *dynamo.BatchWriteInput,
) (*dynamo.BatchWriteOutput, error) {
	rest := map[string][]dynamo.WriteRequest{}
	if f.keep > 0 {
		short := *in
		short.RequestItems = map[string][]dynamo.WriteRequest{}
		for table, r := range in.RequestItems {
			if n := min(f.keep, len(r)); n < len(r) {
				rest[table] = r[n:]
				r = r[:n]
			}
			short.RequestItems[table] = r
		}
		in = &short
	}
	out, err := pass(f, "BatchWrite", ctx, in, f.DB.BatchWrite)
	if err == nil && len(rest) > 0 {
		for table, left := range out.UnprocessedItems {
			rest[table] = append(left, rest[table]...)
		}
		out.UnprocessedItems = rest
	}
	return out, err
}

package storetest

import (
	"context"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Hooked is a database between whose calls a test does something, or which it lets fail. The hooks
// are set before the calls that they are meant for; each is called once, by its first call.
type Hooked struct {
	Database
	mu     sync.Mutex
	before map[string]func() error
	after  map[string]func() error
}

// Hook puts hooks before a database.
func Hook(db Database) *Hooked {
	return &Hooked{Database: db, before: map[string]func() error{},
		after: map[string]func() error{}}
}

// Before calls do before the next call of one of the operations, which are named as in the
// service's API, such as "PutItem". An error is the answer to the call, which is not made then. The
// calls that do makes itself meet no hook.
func (h *Hooked) Before(do func() error, operations ...string) { h.set(h.before, do, operations) }

// After calls do after the next successful call of one of the operations. An error is the answer
// to the call, which was made all the same.
func (h *Hooked) After(do func() error, operations ...string) { h.set(h.after, do, operations) }

func (h *Hooked) set(at map[string]func() error, do func() error, operations []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range operations {
		at[o] = do
	}
}

// Waiting reports whether a hook was not called yet.
func (h *Hooked) Waiting() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.before)+len(h.after) > 0
}

// take returns the hook of an operation, and forgets it for all.
func (h *Hooked) take(at map[string]func() error, operation string) func() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	do := at[operation]
	if do != nil {
		clear(at)
	}
	return do
}

func hooked[In, Out any](
	h *Hooked, operation string, ctx context.Context, in In,
	call func(context.Context, In) (*Out, error),
) (*Out, error) {
	if do := h.take(h.before, operation); do != nil {
		if err := do(); err != nil {
			return nil, err
		}
	}
	out, err := call(ctx, in)
	if err != nil {
		return nil, err
	}
	if do := h.take(h.after, operation); do != nil {
		err = do()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Get makes the call between its hooks, as all the operations do.
func (h *Hooked) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	return hooked(h, "GetItem", ctx, in, h.Database.Get)
}

// Put puts an item.
func (h *Hooked) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	return hooked(h, "PutItem", ctx, in, h.Database.Put)
}

// Update updates an item.
func (h *Hooked) Update(
	ctx context.Context, in *dynamo.UpdateInput,
) (*dynamo.UpdateOutput, error) {
	return hooked(h, "UpdateItem", ctx, in, h.Database.Update)
}

// Delete removes an item.
func (h *Hooked) Delete(
	ctx context.Context, in *dynamo.DeleteInput,
) (*dynamo.DeleteOutput, error) {
	return hooked(h, "DeleteItem", ctx, in, h.Database.Delete)
}

// Query reads a page of a partition.
func (h *Hooked) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	return hooked(h, "Query", ctx, in, h.Database.Query)
}

// Scan reads a page of a table.
func (h *Hooked) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	return hooked(h, "Scan", ctx, in, h.Database.Scan)
}

// BatchGet reads items.
func (h *Hooked) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	return hooked(h, "BatchGetItem", ctx, in, h.Database.BatchGet)
}

// BatchWrite puts and deletes items.
func (h *Hooked) BatchWrite(
	ctx context.Context, in *dynamo.BatchWriteInput,
) (*dynamo.BatchWriteOutput, error) {
	return hooked(h, "BatchWriteItem", ctx, in, h.Database.BatchWrite)
}

// TransactWrite makes writes, all or none.
func (h *Hooked) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	return hooked(h, "TransactWriteItems", ctx, in, h.Database.TransactWrite)
}

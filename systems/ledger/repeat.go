package ledger

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// creation is a request that creates one item T, an account or a merchant. It is carried out once
// for its id, and once for its idempotency key.
type creation[T any] struct {
	deed string // For errors, such as "open account".
	id   string // Of what is created.
	// chosen is set if the request itself names the id.
	chosen bool
	// request is the record of the key; nil without a key.
	request *requestItem
	// derived is the id that the key makes if the request names none; "" without a key. Releases
	// before there were records of requests left nothing else behind.
	derived string
	taken   *problem.Error // The refusal if the id is another request's.
	missing *problem.Error // The error if the record names an item that does not exist.
	create  func(*singletable.Tx)
	absent  func(tx *singletable.Tx, id string) // Demands that there is no item of an id.
	find    func(ctx context.Context, id string) (T, bool, error)
	// differs names the first member in which the request is not the one that created an item.
	differs func(*T) string
}

// run creates the item, unless there is a refusal, and returns nil; or it returns the item that an
// equal request has created before, even if there is a refusal. A request that is not equal is
// refused with an error that names the member that differs.
func (c *creation[T]) run(ctx context.Context, l *Ledger, refusal error) (*T, error) {
	if refusal == nil {
		// Before the first item there is nothing to look for: the first posting would have to.
		if err := l.prepare(ctx); err != nil {
			return nil, err
		}
		err := c.commit(ctx, l)
		if err == nil {
			return nil, nil
		}
		if !errors.Is(err, singletable.ErrConditionFailed) {
			return nil, failed(c.deed, c.id, err)
		}
	}
	for {
		found, known, err := c.earlier(ctx, l, refusal)
		if err != nil || known {
			return found, err
		}
		// The id was used without this key, which cannot be used for another id from now on.
		err = modelOf(l).requests.Create(ctx, l.store, *c.request)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, singletable.ErrExists) {
			return nil, failed(c.deed, c.id, err)
		}
	}
}

// commit writes the item and the record of its request: both or neither.
func (c *creation[T]) commit(ctx context.Context, l *Ledger) error {
	tx := l.store.NewTx()
	c.create(tx)
	if c.request != nil {
		modelOf(l).requests.CreateTx(tx, *c.request)
		if c.derived != c.id {
			c.absent(tx, c.derived)
		}
	}
	return tx.Commit(ctx)
}

// earlier returns what an equal request has created before, and whether its key needs no record.
func (c *creation[T]) earlier(
	ctx context.Context, l *Ledger, refusal error,
) (_ *T, known bool, _ error) {
	used, err := c.usedFor(ctx, l)
	if err != nil {
		return nil, false, failed(c.deed, c.id, err)
	}
	if used != "" && used != c.id {
		return nil, false, keyConflict(used, "id")
	}
	found, exists, err := c.find(ctx, c.id)
	switch {
	case err != nil:
		return nil, false, failed(c.deed, c.id, err)
	case !exists && refusal != nil:
		return nil, false, refusal
	case !exists:
		return nil, false, c.missing
	}
	field := c.differs(&found)
	switch {
	case field == "":
		return &found, used != "" || c.request == nil, nil
	case used != "" || !c.chosen:
		return nil, false, keyConflict(c.id, field)
	case refusal != nil:
		return nil, false, refusal
	}
	return nil, false, c.taken.With("field", field).Field(field, "is not that of the first request")
}

// usedFor returns the id of what the key of the request has made, or "".
func (c *creation[T]) usedFor(ctx context.Context, l *Ledger) (string, error) {
	if c.request == nil {
		return "", nil
	}
	record, exists, err := modelOf(l).requests.Get(ctx, l.store, *c.request,
		singletable.Consistent())
	if err != nil {
		return "", err
	}
	if exists {
		return string(record.AccountID) + string(record.MerchantID), nil // One of them is empty.
	}
	if c.derived == c.id {
		return "", nil
	}
	_, exists, err = c.find(ctx, c.derived)
	if err != nil || !exists {
		return "", err
	}
	return c.derived, nil
}

// keyConflict returns the refusal of a request whose key another request has used.
func keyConflict(first, field string) error {
	return ErrIdempotencyConflict.With("first", first).With("field", field).
		Field(field, "is not that of the first request")
}

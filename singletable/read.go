package singletable

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// ReadOption is an option of a read.
type ReadOption interface{ applyRead(*readOptions) }

type readOptions struct {
	consistent bool
}

// ConsistentOption is the result of [Consistent].
type ConsistentOption struct{}

func (ConsistentOption) applyRead(o *readOptions) { o.consistent = true }

// Consistent makes a read strongly consistent, both in verbs and as an option of a pattern: it sees
// all writes that have returned. It costs twice as much and is not possible on a global index.
func Consistent() ConsistentOption { return ConsistentOption{} }

func readOptionsOf(opts []ReadOption) readOptions {
	var o readOptions
	for _, opt := range opts {
		opt.applyRead(&o)
	}
	return o
}

// Get reads the item at the key of at and reports whether it exists.
func (e *Entity[T]) Get(
	ctx context.Context, s *Store, at T, opts ...ReadOption,
) (v T, found bool, err error) {
	found, err = e.c.get(ctx, s, unsafe.Pointer(&at), unsafe.Pointer(&v), readOptionsOf(opts))
	return v, found, err
}

// get reads the item at the key of the struct at p into the zero struct at q.
func (c *core) get(
	ctx context.Context, s *Store, p, q unsafe.Pointer, o readOptions,
) (bool, error) {
	key, err := c.key(p)
	if err != nil {
		return false, fmt.Errorf("get %s: %w", c.name, err)
	}
	item, err := c.getItem(ctx, s, key, o)
	if err != nil || item == nil {
		return false, err
	}
	return true, c.found(item, q)
}

func (c *core) getItem(
	ctx context.Context, s *Store, key dynamo.Key, o readOptions,
) (dynamo.Item, error) {
	var item dynamo.Item
	req := request{op: "GetItem", table: c.table.name}
	err := s.call(ctx, req, func(ctx context.Context) (usage, error) {
		out, err := s.db.Get(ctx, &dynamo.GetInput{
			TableName: c.table.name, Key: key, ConsistentRead: o.consistent,
			ReturnConsumedCapacity: capacity(ctx),
		})
		if err != nil {
			return usage{}, err
		}
		item = out.Item
		return usage{one: out.ConsumedCapacity}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", c.name, keyText(key), err)
	}
	return item, nil
}

// batchGetMax is the maximum number of keys in a BatchGetItem.
const batchGetMax = 100

// Got is the result of [Entity.GetEach] for one key: an item, none, or one that cannot be read.
type Got[T any] struct {
	// Value is nil if the item does not exist or cannot be read; Unreadable is then its error.
	Value      *T
	Unreadable *UnreadableError
}

// GetMany reads any number of items by their keys, in batches of 100. The result has one element
// for each key in the same order, nil if the item does not exist. A key may occur more than once.
// If an item cannot be read, GetMany returns an error; see [Entity.GetEach].
func (e *Entity[T]) GetMany(
	ctx context.Context, s *Store, at []T, opts ...ReadOption,
) ([]*T, error) {
	got, err := e.GetEach(ctx, s, at, opts...)
	if err != nil {
		return nil, err
	}
	out := make([]*T, len(got))
	for i, g := range got {
		if g.Unreadable != nil {
			return nil, g.Unreadable
		}
		out[i] = g.Value
	}
	return out, nil
}

// GetEach is [Entity.GetMany] that continues after items that cannot be read.
func (e *Entity[T]) GetEach(
	ctx context.Context, s *Store, at []T, opts ...ReadOption,
) ([]Got[T], error) {
	c := e.c
	keys := make([]dynamo.Key, len(at))
	for i := range at {
		var err error
		if keys[i], err = c.key(unsafe.Pointer(&at[i])); err != nil {
			return nil, fmt.Errorf("get %s, key %d: %w", c.name, i, err)
		}
	}
	items, err := s.getMany(ctx, c.table, keys, readOptionsOf(opts))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", c.name, err)
	}
	out := make([]Got[T], len(at))
	for i, key := range keys {
		item, ok := items[c.table.identity(key)]
		if !ok {
			continue
		}
		v := new(T)
		err := c.found(item, unsafe.Pointer(v))
		if bad, ok := AsUnreadable(err); ok {
			out[i].Unreadable = bad
		} else if err != nil {
			return nil, err
		} else {
			out[i].Value = v
		}
	}
	return out, nil
}

// found decodes an item that was read by its key.
func (c *core) found(item dynamo.Item, p unsafe.Pointer) error {
	if !c.owns(item) {
		return c.foreign(item)
	}
	return c.unmarshal(item, p)
}

// identity returns a text that identifies the item of a primary key in its table.
func (t *Table) identity(key dynamo.Key) string {
	part, sort := key[t.keys.Partition], key[t.keys.Sort]
	return string(appendIdentity(appendIdentity(nil, part), sort))
}

func appendIdentity(dst []byte, v dynamo.Value) []byte {
	text := v.S()
	switch v.Kind() {
	case dynamo.KindN:
		text = canonical(v).N()
	case dynamo.KindB:
		text = string(v.B())
	}
	dst = append(dst, byte(v.Kind()), byte(len(text)>>8), byte(len(text)))
	return append(dst, text...)
}

// getMany reads items by key and returns them by identity.
func (s *Store) getMany(
	ctx context.Context, t *Table, keys []dynamo.Key, o readOptions,
) (map[string]dynamo.Item, error) {
	items := make(map[string]dynamo.Item, len(keys))
	asked := make(map[string]bool, len(keys))
	var distinct []dynamo.Key
	for _, key := range keys {
		if id := t.identity(key); !asked[id] {
			asked[id] = true
			distinct = append(distinct, key)
		}
	}
	for len(distinct) > 0 {
		n := min(len(distinct), batchGetMax)
		if err := s.getBatch(ctx, t, distinct[:n], o, items); err != nil {
			return nil, err
		}
		distinct = distinct[n:]
	}
	return items, nil
}

// errUnprocessed represents the part of a batch that the store left unprocessed.
var errUnprocessed = errors.New("the store left a part of the batch unprocessed")

// getBatch reads one batch and repeats the unprocessed keys. A response with items resets the
// backoff.
func (s *Store) getBatch(
	ctx context.Context, t *Table, keys []dynamo.Key, o readOptions,
	items map[string]dynamo.Item,
) error {
	r := s.newRetry(ctx)
	req := request{op: "BatchGetItem", table: t.name}
	for len(keys) > 0 {
		before := len(keys)
		err := s.call(ctx, req, func(ctx context.Context) (usage, error) {
			out, err := s.db.BatchGet(ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{
					t.name: {Keys: keys, ConsistentRead: o.consistent},
				},
				ReturnConsumedCapacity: capacity(ctx),
			})
			if err != nil {
				return usage{}, err
			}
			for _, item := range out.Responses[t.name] {
				items[t.identity(item)] = item
			}
			keys = out.UnprocessedKeys[t.name].Keys
			return usage{many: out.ConsumedCapacity}, nil
		})
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return nil
		}
		if len(keys) < before {
			r = s.newRetry(ctx)
		}
		if err := r.next(errUnprocessed); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot reads several items of any entities and tables as of one moment. Add items with
// [Entity.GetIn], then call [Snapshot.Read]. It is not safe for concurrent use.
type Snapshot struct {
	s     *Store
	reads []snapshotRead
	err   error
}

type snapshotRead struct {
	c    *core
	item dynamo.TransactGetItem
	use  func(dynamo.Item) error
}

// NewSnapshot returns an empty Snapshot.
func (s *Store) NewSnapshot() *Snapshot { return &Snapshot{s: s} }

// GetIn adds the item at the key of at to a snapshot. After Read, the returned function returns the
// item and reports whether it exists.
func (e *Entity[T]) GetIn(sn *Snapshot, at T) func() (v T, found bool) {
	var out T
	found := false
	key, err := e.c.key(unsafe.Pointer(&at))
	if err != nil && sn.err == nil {
		sn.err = err
	}
	sn.reads = append(sn.reads, snapshotRead{e.c,
		dynamo.TransactGetItem{TableName: e.c.table.name, Key: key},
		func(item dynamo.Item) error {
			found = true
			return e.c.found(item, unsafe.Pointer(&out))
		}})
	return func() (T, bool) { return out, found }
}

// Read reads all items, at most 100. It costs twice as much as consistent reads.
func (sn *Snapshot) Read(ctx context.Context) error {
	if sn.err != nil {
		return sn.err
	}
	if len(sn.reads) > TxActionsMax {
		return fmt.Errorf("%w: a snapshot of %d items, more than %d", ErrTooLarge,
			len(sn.reads), TxActionsMax)
	}
	if len(sn.reads) == 0 {
		return nil
	}
	in := &dynamo.TransactGetInput{ReturnConsumedCapacity: capacity(ctx)}
	for _, r := range sn.reads {
		in.Items = append(in.Items, r.item)
	}
	var out *dynamo.TransactGetOutput
	req := request{op: "TransactGetItems", table: sn.reads[0].c.table.name}
	err := sn.s.call(ctx, req, func(ctx context.Context) (usage, error) {
		var err error
		if out, err = sn.s.db.TransactGet(ctx, in); err != nil {
			return usage{}, err
		}
		return usage{many: out.ConsumedCapacity}, nil
	})
	if err != nil {
		return fmt.Errorf("read a snapshot of %d items: %w", len(sn.reads), err)
	}
	for i, r := range sn.reads {
		if i < len(out.Items) && len(out.Items[i]) > 0 {
			if err := r.use(out.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

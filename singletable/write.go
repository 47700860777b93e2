package singletable

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Create writes an item that must not exist. If it exists, the error is ErrExists.
func (e *Entity[T]) Create(ctx context.Context, s *Store, v T, more ...Cond[T]) error {
	cs, err := conds(more)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, func() (*write, error) { return e.c.create(unsafe.Pointer(&v), cs) })
	return err
}

// Put writes an item that may or may not exist. A versioned item gets the version of v.
func (e *Entity[T]) Put(ctx context.Context, s *Store, v T, more ...Cond[T]) error {
	cs, err := conds(more)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, func() (*write, error) { return e.c.put(unsafe.Pointer(&v), cs) })
	return err
}

// Replace writes a whole item over an existing one. For a versioned entity, the item must still
// have the version of v. The error is ErrMissing or ErrChanged otherwise. It returns v with its new
// version. If the entity has unique values, the item is read first.
func (e *Entity[T]) Replace(ctx context.Context, s *Store, v T, more ...Cond[T]) (T, error) {
	cs, err := conds(more)
	if err != nil {
		return v, err
	}
	in := v
	err = e.c.rereading(ctx, s, "replace", unsafe.Pointer(&v), func(old unsafe.Pointer) error {
		v = in
		_, err := s.write(ctx, func() (*write, error) {
			return e.c.replace(unsafe.Pointer(&v), old, cs)
		})
		return err
	})
	if err != nil {
		return in, err
	}
	return v, nil
}

// Delete deletes an item. It is not an error if the item does not exist, unless a condition
// requires it. If the entity has unique values, the item is read first.
func (e *Entity[T]) Delete(ctx context.Context, s *Store, at T, more ...Cond[T]) error {
	_, _, err := e.take(ctx, s, at, false, more)
	return err
}

// Take deletes an item and returns its last state.
func (e *Entity[T]) Take(
	ctx context.Context, s *Store, at T, more ...Cond[T],
) (v T, found bool, err error) {
	return e.take(ctx, s, at, true, more)
}

func (e *Entity[T]) take(
	ctx context.Context, s *Store, at T, want bool, more []Cond[T],
) (v T, found bool, err error) {
	cs, err := conds(more)
	if err != nil {
		return v, false, err
	}
	c := e.c
	if len(c.uniques) == 0 {
		old, err := s.write(ctx, func() (*write, error) {
			w, err := c.remove(unsafe.Pointer(&at), cs)
			if err == nil {
				w.old = want
			}
			return w, err
		})
		if err != nil || old == nil {
			return v, false, err
		}
		return v, true, c.unmarshal(old, unsafe.Pointer(&v))
	}
	err = c.rereading(ctx, s, "delete", unsafe.Pointer(&at), func(old unsafe.Pointer) error {
		found = true
		v = *(*T)(old)
		_, err := s.write(ctx, func() (*write, error) { return c.remove(old, cs) })
		return err
	})
	if errors.Is(err, ErrMissing) && len(cs) == 0 {
		return v, false, nil
	}
	return v, found && err == nil, err
}

// rereading runs f with the present item at the key of the struct at p, and again if the item was
// changed in between. Without unique values the item need not be known, and old is nil.
func (c *core) rereading(
	ctx context.Context, s *Store, verb string, p unsafe.Pointer,
	f func(old unsafe.Pointer) error,
) error {
	if len(c.uniques) == 0 {
		return f(nil)
	}
	r := s.newRetry(ctx)
	for {
		old, err := c.current(ctx, s, verb, p)
		if err != nil {
			return err
		}
		err = f(old)
		if !c.changedBelow(err, old) {
			return err
		}
		if err := r.next(err); err != nil {
			return err
		}
	}
}

// current reads the item at the key of the struct at p, which must exist.
func (c *core) current(
	ctx context.Context, s *Store, verb string, p unsafe.Pointer,
) (unsafe.Pointer, error) {
	old := c.zero()
	found, err := c.get(ctx, s, p, old, readOptions{consistent: true})
	if err != nil {
		return nil, err
	}
	if !found {
		key, err := c.key(p)
		if err != nil {
			return nil, err
		}
		w := write{c: c, key: key, claims: []claim{{verb: verb, entity: c.name,
			conds: []*cond{c.present}}}}
		return nil, &WriteError{Failures: []Failure{w.failure(FailedCondition, "", nil)}}
	}
	return old, nil
}

// changedBelow reports whether a write failed only because the item was changed since it was read.
// If the caller's required version differs, it reports false, because a retry would not help.
func (c *core) changedBelow(err error, old unsafe.Pointer) bool {
	if !errors.Is(err, ErrChanged) {
		return false
	}
	for _, f := range FailuresOf(err) {
		if f.Reason != ErrChanged || f.Item == nil {
			return false
		}
		if c.version >= 0 {
			attr := c.shape.Fields[c.version].Attr
			now, err := c.shape.Fields[c.version].Value(old)
			if err == nil && f.Item[attr].Equal(now) && f.Entity == c.name {
				return false // the item was not changed: the caller's version differs
			}
		}
	}
	return true
}

// Update changes the item at the key of at, which must exist (see [Entity.Upsert]), and returns it
// in its new state. Steps are changes ([Field.Set], [Field.Add], ...), conditions ([If],
// [Field.AtLeast], ...) and options of the entity ([Entity.WithKnown], [Entity.ReadFirst]). Index
// keys and unique values that depend on a changed field are updated in the same request.
//
// If an index key needs more fields than the update knows, the error is a [*PartialKeyError].
func (e *Entity[T]) Update(
	ctx context.Context, s *Store, at T, steps ...Step[T],
) (v T, err error) {
	c := e.c
	p := patchOf(steps)
	var item dynamo.Item
	if !p.readFirst {
		item, err = s.write(ctx, func() (*write, error) {
			w, err := c.change(unsafe.Pointer(&at), p)
			if err == nil {
				w.old = true
			}
			return w, err
		})
	} else {
		item, err = c.updateReading(ctx, s, unsafe.Pointer(&at), p)
	}
	if err != nil {
		return v, err
	}
	if item == nil { // a transaction returns no item
		_, err = c.get(ctx, s, unsafe.Pointer(&at), unsafe.Pointer(&v),
			readOptions{consistent: true})
		return v, err
	}
	return v, c.unmarshal(item, unsafe.Pointer(&v))
}

// updateReading is an update that reads the item first.
func (c *core) updateReading(
	ctx context.Context, s *Store, at unsafe.Pointer, p *patch,
) (dynamo.Item, error) {
	r := s.newRetry(ctx)
	for {
		old, err := c.current(ctx, s, "update", at)
		if err != nil {
			return nil, err
		}
		attempt := *p
		attempt.known = old
		item, err := s.write(ctx, func() (*write, error) {
			w, err := c.change(at, &attempt)
			if err == nil {
				w.old = true
			}
			return w, err
		})
		if !c.changedBelow(err, old) {
			return item, err
		}
		if err := r.next(err); err != nil {
			return nil, err
		}
	}
}

// write builds a write and sends it: as a single call or, if it has lookup items, as a transaction.
// It returns the item in the response, if w.old requests one.
func (s *Store) write(
	ctx context.Context, make func() (*write, error),
) (dynamo.Item, error) {
	w, err := make()
	if err != nil {
		return nil, err
	}
	if len(w.lookups) > 0 {
		tx := s.NewTx()
		tx.add(w, nil)
		return nil, tx.Commit(ctx)
	}
	return s.send(ctx, w)
}

// send makes a single call.
func (s *Store) send(ctx context.Context, w *write) (dynamo.Item, error) {
	var item dynamo.Item
	req := request{table: w.c.table.name, write: true, repeatable: w.repeatable()}
	req.happened = w.recognised()
	upd, cond, ph := w.expressions()
	var f func(ctx context.Context) (usage, error)
	onFailure := dynamo.ReturnValues("")
	if cond != "" {
		onFailure = allOld
	}
	switch w.kind {
	case actPut:
		req.op = "PutItem"
		f = func(ctx context.Context) (usage, error) {
			out, err := s.db.Put(ctx, &dynamo.PutInput{TableName: w.c.table.name, Item: w.item,
				ConditionExpression: cond, Expressions: ph,
				ReturnValuesOnConditionCheckFailure: onFailure,
				ReturnConsumedCapacity:              capacity(ctx)})
			if err != nil {
				return usage{}, err
			}
			return usage{one: out.ConsumedCapacity}, nil
		}
	case actDelete:
		req.op = "DeleteItem"
		in := &dynamo.DeleteInput{TableName: w.c.table.name, Key: w.key,
			ConditionExpression: cond, Expressions: ph,
			ReturnValuesOnConditionCheckFailure: onFailure}
		if w.old {
			in.ReturnValues = dynamo.ReturnAllOld
		}
		f = func(ctx context.Context) (usage, error) {
			in.ReturnConsumedCapacity = capacity(ctx)
			out, err := s.db.Delete(ctx, in)
			if err != nil {
				return usage{}, err
			}
			item = out.Attributes
			return usage{one: out.ConsumedCapacity}, nil
		}
	default:
		req.op = "UpdateItem"
		in := &dynamo.UpdateInput{TableName: w.c.table.name, Key: w.key, UpdateExpression: upd,
			ConditionExpression: cond, Expressions: ph,
			ReturnValuesOnConditionCheckFailure: onFailure}
		if w.old {
			in.ReturnValues = dynamo.ReturnAllNew
		}
		f = func(ctx context.Context) (usage, error) {
			in.ReturnConsumedCapacity = capacity(ctx)
			out, err := s.db.Update(ctx, in)
			if err != nil {
				return usage{}, err
			}
			item = out.Attributes
			return usage{one: out.ConsumedCapacity}, nil
		}
	}
	if err := s.call(ctx, req, f); err != nil {
		return nil, w.explain(err)
	}
	return item, nil
}

// recognised returns a function that reports from the error of a repeat whether an earlier attempt
// made the write. It is nil if a repeat could write twice, or could not be distinguished from
// another writer's.
func (w *write) recognised() func(refusal error) bool {
	switch {
	case w.kind == actPut:
		return w.stored
	case w.kind == actDelete && !w.old:
		return gone
	case w.kind == actUpdate && w.sets():
		return func(error) bool { return false }
	}
	return nil
}

// gone reports whether an error shows that the item does not exist, which is the goal of a
// deletion.
func gone(refusal error) bool {
	var e *dynamo.Error
	return errors.As(refusal, &e) && e.Code == dynamo.CodeConditionalCheckFailed && e.Item == nil
}

// stored reports whether an error shows that the store has exactly the item of a put, from an
// earlier attempt. Another writer's item would differ at least in a time or an id.
func (w *write) stored(refusal error) bool {
	var e *dynamo.Error
	return errors.As(refusal, &e) && e.Code == dynamo.CodeConditionalCheckFailed &&
		e.Item != nil && e.Item.Equal(w.item)
}

// explain converts the store's error of a single call to a WriteError if a condition failed or
// other writers of the item were faster.
func (w *write) explain(err error) error {
	var e *dynamo.Error
	if errors.As(err, &e) {
		kind := FailureKind("")
		switch {
		case e.Code == dynamo.CodeTransactionConflict:
			kind = FailedConflict // the time may have ended in an attempt without a result
		case e.Code == dynamo.CodeConditionalCheckFailed && !errors.Is(err, ErrUnknown):
			kind = FailedCondition
		}
		if kind != "" {
			f := w.failure(kind, e.Message, e.Item)
			return &WriteError{Failures: []Failure{f}, cause: err}
		}
	}
	return fmt.Errorf("%s %s %s: %w", w.claims[0].verb, w.c.name, keyText(w.itemKey()), err)
}

// Old decodes the item that a failure found. ok is false if there is none or it belongs to another
// entity.
func Old[T any](e *Entity[T], f Failure) (v T, ok bool) {
	if f.Item == nil || f.Table != e.c.table.name || !e.c.owns(f.Item) {
		return v, false
	}
	return v, e.c.unmarshal(f.Item, unsafe.Pointer(&v)) == nil
}

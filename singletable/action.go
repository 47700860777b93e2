package singletable

import (
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// actionKind is one of the four operations of a write on an item.
type actionKind uint8

const (
	actPut actionKind = iota
	actUpdate
	actDelete
	actCheck
)

// write is the operation on one item. Verbs pass it to a single call or to a transaction.
type write struct {
	c      *core
	kind   actionKind
	key    dynamo.Key  // nil for a put, whose item holds it
	item   dynamo.Item // of a put
	upd    update      // of an update
	claims []claim
	// lookups are the writes of lookup items that belong to this write.
	lookups []lookupOp
	// reserve marks the put of a lookup item.
	reserve bool
	old     bool // a single call returns the item as it was before the write

	one [1]claim // storage of claims while there is only one
}

// itemKey returns the key of the item.
func (w *write) itemKey() dynamo.Key {
	if w.key == nil {
		w.key = w.c.keyOf(w.item)
	}
	return w.key
}

// sameItem reports whether two writes are for the same item.
func (w *write) sameItem(o *write) bool {
	if w.c.table != o.c.table && w.c.table.name != o.c.table.name {
		return false
	}
	keys := w.c.table.keys
	return w.keyAttr(keys.Partition).Equal(o.keyAttr(keys.Partition)) &&
		(keys.Sort == "" || w.keyAttr(keys.Sort).Equal(o.keyAttr(keys.Sort)))
}

func (w *write) keyAttr(attr string) dynamo.Value {
	if w.key != nil {
		return w.key[attr]
	}
	return w.item[attr]
}

// claim holds the conditions of one of the actions that were merged into a write.
type claim struct {
	action Action
	verb   string
	entity string
	conds  []*cond
}

// condition returns the conditions of all claims.
func (w *write) condition() *cond {
	if len(w.claims) == 1 {
		if conds := w.claims[0].conds; len(conds) != 1 {
			return all(conds)
		}
		return w.claims[0].conds[0]
	}
	var conds []*cond
	for i := range w.claims {
		conds = append(conds, w.claims[i].conds...)
	}
	return all(conds)
}

func (c *core) newWrite(kind actionKind, verb string, conds ...*cond) *write {
	w := &write{c: c, kind: kind}
	w.one[0] = claim{verb: verb, entity: c.name, conds: conds}
	w.claims = w.one[:]
	return w
}

// conds removes the type parameters of conditions and returns their first error.
func conds[T any](typed []Cond[T]) ([]*cond, error) {
	if len(typed) == 0 {
		return nil, nil
	}
	out := make([]*cond, 0, len(typed))
	for _, t := range typed {
		if t.n == nil {
			continue
		}
		if err := t.n.firstErr(); err != nil {
			return nil, err
		}
		out = append(out, t.n)
	}
	return out, nil
}

// create returns the put of an item that must not exist.
func (c *core) create(p unsafe.Pointer, more []*cond) (*write, error) {
	item, err := c.marshal(p)
	if err != nil {
		return nil, err
	}
	if c.version >= 0 {
		item[c.shape.Fields[c.version].Attr] = dynamo.Int(1)
	}
	w := c.newWrite(actPut, "create", c.absent)
	w.claims[0].conds = append(w.claims[0].conds, more...)
	w.item = item
	w.lookups, _, err = c.lookupChanges(nil, p)
	return w, err
}

// put returns the put of an item that may or may not exist.
func (c *core) put(p unsafe.Pointer, more []*cond) (*write, error) {
	if len(c.uniques) > 0 {
		return nil, fmt.Errorf("%s has unique values, which Put cannot keep because it does not "+
			"know the item before: use Create, Replace or Update", c.name)
	}
	item, err := c.marshal(p)
	if err != nil {
		return nil, err
	}
	w := c.newWrite(actPut, "put", more...)
	w.item = item
	return w, nil
}

// replace returns the put of an item over the item old or, if old is nil, over one with the same
// unique values. The struct at p gets its new version.
func (c *core) replace(p, old unsafe.Pointer, more []*cond) (*write, error) {
	first := c.present
	if c.version >= 0 {
		v := (*int64)(c.shape.Fields[c.version].At(p))
		first = c.atVersion(*v)
		*v++
	}
	item, err := c.marshal(p)
	if err != nil {
		return nil, err
	}
	w := c.newWrite(actPut, "replace", first)
	w.item = item
	if old == nil {
		old = p
	}
	var guards []*cond
	if w.lookups, guards, err = c.lookupChanges(old, p); err != nil {
		return nil, err
	}
	w.claims[0].conds = append(append(w.claims[0].conds, guards...), more...)
	return w, nil
}

// remove returns the deletion of an item. If the entity has unique values, the struct at p is the
// item as it is known.
func (c *core) remove(p unsafe.Pointer, more []*cond) (*write, error) {
	key, err := c.key(p)
	if err != nil {
		return nil, err
	}
	w := c.newWrite(actDelete, "delete")
	w.key = key
	var guards []*cond
	if w.lookups, guards, err = c.lookupChanges(p, nil); err != nil {
		return nil, err
	}
	w.claims[0].conds = append(guards, more...)
	return w, nil
}

// change returns an update.
func (c *core) change(at unsafe.Pointer, p *patch) (*write, error) {
	key, err := c.key(at)
	if err != nil {
		return nil, err
	}
	for _, n := range p.conds {
		if err := n.firstErr(); err != nil {
			return nil, err
		}
	}
	u, err := c.newUpdate(at, p)
	if err != nil {
		return nil, err
	}
	w := c.newWrite(actUpdate, "update", u.conds...)
	w.key, w.upd, w.lookups = key, *u, u.lookups
	return w, nil
}

// check returns a condition on an item that is not changed. Without conditions it requires that the
// item exists.
func (c *core) check(at unsafe.Pointer, more []*cond) (*write, error) {
	key, err := c.key(at)
	if err != nil {
		return nil, err
	}
	if len(more) == 0 {
		more = []*cond{c.present}
	}
	w := c.newWrite(actCheck, "check", more...)
	w.key = key
	return w, nil
}

// repeatable reports whether the write is idempotent.
func (w *write) repeatable() bool {
	for i := range w.claims {
		if len(w.claims[i].conds) > 0 {
			return false // the repeat may be refused although the write succeeded
		}
	}
	return w.sets()
}

// sets reports whether an update only sets and removes attributes, which makes it idempotent.
func (w *write) sets() bool {
	for _, ch := range w.upd.changes {
		if ch.op == changeAdd || ch.op == changeAppend {
			return false
		}
	}
	return true
}

// size returns the number of bytes that the write adds to a transaction.
func (w *write) size() int {
	switch w.kind {
	case actPut:
		return w.item.Size()
	case actUpdate:
		return dynamo.Item(w.key).Size() + w.upd.size()
	}
	return dynamo.Item(w.key).Size()
}

// allOld requests the item as it was found if a condition fails. It costs nothing.
const allOld = dynamo.ReturnAllOld

// transactItem returns the write as an action of a transaction.
func (w *write) transactItem() dynamo.TransactWriteItem {
	upd, cond, ph := w.expressions()
	table := w.c.table.name
	switch w.kind {
	case actPut:
		return dynamo.TransactWriteItem{Put: &dynamo.PutInput{TableName: table, Item: w.item,
			ConditionExpression: cond, Expressions: ph,
			ReturnValuesOnConditionCheckFailure: allOld}}
	case actUpdate:
		return dynamo.TransactWriteItem{Update: &dynamo.UpdateInput{TableName: table, Key: w.key,
			UpdateExpression: upd, ConditionExpression: cond, Expressions: ph,
			ReturnValuesOnConditionCheckFailure: allOld}}
	case actDelete:
		return dynamo.TransactWriteItem{Delete: &dynamo.DeleteInput{TableName: table, Key: w.key,
			ConditionExpression: cond, Expressions: ph,
			ReturnValuesOnConditionCheckFailure: allOld}}
	}
	return dynamo.TransactWriteItem{ConditionCheck: &dynamo.ConditionCheck{TableName: table,
		Key: w.key, ConditionExpression: cond, Expressions: ph,
		ReturnValuesOnConditionCheckFailure: allOld}}
}

// failure describes why the write failed, given the item as it was found.
func (w *write) failure(kind FailureKind, message string, found dynamo.Item) Failure {
	f := Failure{Kind: kind, Verb: w.claims[0].verb, Entity: w.claims[0].entity,
		Table: w.c.table.name, Key: w.itemKey(), Item: found, Message: message}
	blamed := w.claims
	if kind == FailedCondition {
		blamed = nil
		for _, cl := range w.claims {
			if reason, failed := cl.blame(found); failed {
				if f.Reason == nil {
					f.Reason = reason
					f.Verb, f.Entity = cl.verb, cl.entity
				}
				blamed = append(blamed, cl)
			}
		}
		if blamed == nil {
			blamed = w.claims
		}
	}
	for _, cl := range blamed {
		if cl.action > 0 {
			f.Actions = append(f.Actions, cl.action)
		}
	}
	return f
}

// blame returns the reason of the first condition of the claim that is false for an item.
func (cl *claim) blame(found dynamo.Item) (reason error, failed bool) {
	for _, n := range cl.conds {
		if n == nil || n.holds(found) {
			continue
		}
		if n.reason != nil {
			return n.reason, true
		}
		if n.op == opAnd {
			inner := claim{conds: n.kids}
			if r, _ := inner.blame(found); r != nil {
				return r, true
			}
		}
		return nil, true
	}
	return nil, false
}

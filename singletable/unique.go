package singletable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Unique is a value that no two items of an entity may share, such as a code that people enter. It
// is kept unique by a lookup item whose key contains the value: two items with the same value would
// need two lookup items with the same key. Every verb of the entity writes the lookup item together
// with the item, in one transaction.
type Unique[T any] struct {
	e *Entity[T]
	u *uniqueCore
}

// uniqueCore is the part of a unique value that does not depend on the entity's Go type.
type uniqueCore struct {
	owner *core
	c     *core // the lookup item, as an entity of the same struct
	// copies are the fields of the lookup item: those of Copy, those of the owner's key, and the
	// owner's expiry.
	copies     []int
	owners     []int // the fields of the owner's key
	ttl        int   // the expiry field of the owner, -1 without one
	reservable bool
	feeds      layout.FieldSet // fields on which the lookup item depends
}

// Copy names the attributes that a lookup item copies from its owner, in addition to those of the
// owner's key. It is an option of [NewUnique].
func Copy(attributes ...string) EntityOption {
	return func(c *core) { c.copy = append(c.copy, attributes...) }
}

// Reservable allows a value to be reserved for an item before the item exists; see
// [Unique.Reserve]. It is an option of [NewUnique].
func Reservable() EntityOption { return func(c *core) { c.reservable = true } }

// NewUnique makes a value of an entity unique. [Primary] sets the templates of the lookup item's
// key, in which a format such as lower decides which values are equal; [Discriminator] marks lookup
// items; [Copy] names the attributes to copy:
//
//	codes := singletable.NewUnique(locations, "LocationCodeLookup",
//		singletable.Primary("LOCATION_CODE#<locationCode:lower>", "META"),
//		singletable.Discriminator("itemType", "LocationCodeLookup"),
//		singletable.Copy("locationId", "locationCode", "createdAt"))
//
// An item without the value has no lookup item. A lookup item expires together with its item. One
// that is expired but not yet deleted does not block the value.
func NewUnique[T any](e *Entity[T], name string, opts ...EntityOption) *Unique[T] {
	own := e.c
	c := &core{table: own.table, name: name, shape: own.shape, version: -1, lookup: true}
	for _, opt := range opts {
		opt(c)
	}
	c.bind()
	if len(c.on) > 0 || c.base.Sparse {
		c.fault("a unique value's lookup item can only have a primary key")
	}
	u := &uniqueCore{owner: own, c: c, ttl: -1, reservable: c.reservable}
	u.feeds = layout.NewFieldSet(len(own.shape.Fields))
	u.feeds.AddAll(c.baseFields)
	for _, name := range c.copy {
		i, ok := own.shape.Lookup(name)
		if !ok {
			c.fault("there is no attribute %s to copy", name)
			continue
		}
		u.addCopy(i)
	}
	for i := range own.shape.Fields {
		if own.baseFields.Has(i) {
			u.addCopy(i)
			u.owners = append(u.owners, i)
		}
	}
	c.required = u.owners // a lookup item without an owner cannot be read
	if i, ok := own.shape.Lookup(own.table.ttl); ok && own.table.ttl != "" {
		u.addCopy(i)
		u.ttl = i
	}
	own.uniques = append(own.uniques, u)
	own.fed.AddAll(u.feeds)
	own.table.entities = append(own.table.entities, c)
	return &Unique[T]{e: e, u: u}
}

func (u *uniqueCore) addCopy(i int) {
	if !slices.Contains(u.copies, i) {
		u.copies = append(u.copies, i)
		u.feeds.Add(i)
	}
}

// key returns the key of the lookup item for the struct at p, or nil if the value is empty.
func (u *uniqueCore) key(p unsafe.Pointer) (dynamo.Key, error) {
	key, err := u.c.key(p)
	var missing *MissingPartError
	if errors.As(err, &missing) {
		return nil, nil
	}
	return key, err
}

// item returns the lookup item for the struct at p.
func (u *uniqueCore) item(key dynamo.Key, p unsafe.Pointer) (dynamo.Item, error) {
	item := key.Clone()
	if u.c.disc != "" {
		item[u.c.disc] = dynamo.S(u.c.discVal)
	}
	for _, i := range u.copies {
		f := &u.c.shape.Fields[i]
		if _, taken := item[f.Attr]; taken {
			continue
		}
		v, err := f.Value(p)
		if err != nil {
			return nil, err
		}
		if !v.IsAbsent() {
			item[f.Attr] = v
		}
	}
	return item, nil
}

// owned is the condition that a lookup item belongs to the struct at p.
func (u *uniqueCore) owned(p unsafe.Pointer) *cond {
	n := &cond{op: opAnd, reason: ErrChanged}
	for _, i := range u.owners {
		n.kids = append(n.kids, u.c.unchanged(i, p))
	}
	if len(n.kids) == 1 {
		return n.kids[0]
	}
	return n
}

// free is the condition that no item owns the value.
func (u *uniqueCore) free(p unsafe.Pointer, now time.Time) *cond {
	absent := &cond{op: opMissing, attr: u.c.table.keys.Partition, reason: ErrTaken}
	or := &cond{op: opOr, kids: []*cond{absent}, reason: ErrTaken}
	if u.reservable {
		or.kids = append(or.kids, u.owned(p))
	}
	if u.ttl >= 0 && !now.IsZero() {
		or.kids = append(or.kids, &cond{op: opLess, attr: u.c.table.ttl,
			vals: []dynamo.Value{dynamo.Int(now.Unix())}})
	}
	if len(or.kids) == 1 {
		return absent
	}
	return or
}

const (
	verbReserve = "reserve"
	verbRelease = "release"
	verbRefresh = "refresh"
)

// lookupOp is a write of a lookup item together with its owner.
type lookupOp struct {
	u     *uniqueCore
	verb  string
	key   dynamo.Key
	item  dynamo.Item // of a reserve
	upd   update      // of a refresh
	owner unsafe.Pointer
}

// write returns the write. now decides whether a lookup item has expired.
func (op lookupOp) write(now time.Time) *write {
	kind, n := actDelete, op.u.owned(op.owner)
	switch op.verb {
	case verbReserve:
		kind, n = actPut, op.u.free(op.owner, now)
	case verbRefresh:
		kind = actUpdate
	}
	w := op.u.c.newWrite(kind, op.verb, n)
	w.key, w.item, w.upd = op.key, op.item, op.upd
	w.reserve = op.verb == verbReserve
	return w
}

// lookupChanges returns the changes of the lookup items of an entity if an item changes from old to
// new; nil means no item. The guards are conditions on the item itself: that it still has the
// unique values of old.
func (c *core) lookupChanges(old, new unsafe.Pointer) (ops []lookupOp, guards []*cond, err error) {
	for _, u := range c.uniques {
		if len(u.c.problems) > 0 {
			return nil, nil, u.c.err()
		}
		more, err := u.changes(old, new)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, more...)
		if old != nil {
			for i := range c.shape.Fields {
				if u.c.baseFields.Has(i) && !c.baseFields.Has(i) {
					guards = append(guards, c.unchanged(i, old))
				}
			}
		}
	}
	return ops, guards, nil
}

// changes compares the lookup item before and after. If its key is unchanged, it is not deleted and
// put, which the store would refuse in one transaction, but refreshed if its attributes differ, for
// example after a change of case.
func (u *uniqueCore) changes(old, new unsafe.Pointer) ([]lookupOp, error) {
	var before, after dynamo.Key
	var err error
	if old != nil {
		if before, err = u.key(old); err != nil {
			return nil, err
		}
	}
	if new != nil {
		if after, err = u.key(new); err != nil {
			return nil, err
		}
	}
	if before != nil && after != nil && before.Equal(after) {
		return u.refresh(before, old, new)
	}
	var ops []lookupOp
	if before != nil {
		ops = append(ops, lookupOp{u: u, verb: verbRelease, key: before, owner: old})
	}
	if after != nil {
		op, err := u.reserve(after, new)
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

func (u *uniqueCore) reserve(key dynamo.Key, p unsafe.Pointer) (lookupOp, error) {
	item, err := u.item(key, p)
	return lookupOp{u: u, verb: verbReserve, key: key, item: item, owner: p}, err
}

func (u *uniqueCore) refresh(key dynamo.Key, old, new unsafe.Pointer) ([]lookupOp, error) {
	op := lookupOp{u: u, verb: verbRefresh, key: key, owner: old}
	for _, i := range u.copies {
		f := &u.c.shape.Fields[i]
		before, err := f.Value(old)
		if err != nil {
			return nil, err
		}
		after, err := f.Value(new)
		if err != nil {
			return nil, err
		}
		switch {
		case before.Equal(after) || before.IsAbsent() && after.IsAbsent():
		case after.IsAbsent():
			op.upd.changes = append(op.upd.changes, change{op: changeRemove, attr: f.Attr,
				field: i})
		default:
			op.upd.changes = append(op.upd.changes,
				change{op: changeSet, attr: f.Attr, field: i, val: after})
		}
	}
	if len(op.upd.changes) == 0 {
		return nil, nil
	}
	return []lookupOp{op}, nil
}

// keepUniques adds the writes of lookup items that an update needs. The value must be known before
// and after the update.
func (b *updateBuilder) keepUniques() error {
	for _, u := range b.c.uniques {
		if !b.changed.Meets(u.feeds) {
			continue
		}
		if b.p.known == nil {
			return &PartialKeyError{Entity: b.c.name, Index: u.c.name,
				Changed: b.changedNames(u.feeds), Missing: b.unknownNames(u)}
		}
		for i := range b.c.shape.Fields {
			if !u.feeds.Has(i) {
				continue
			}
			if !b.changed.Has(i) {
				b.obtain(i)
			} else if !b.sure.Has(i) {
				return fmt.Errorf("%s: unique value %s needs the new value of %s, which is unknown",
					b.c.name, u.c.name, b.c.shape.Fields[i].Attr)
			}
			if u.c.baseFields.Has(i) && !b.c.baseFields.Has(i) {
				b.guarded.Add(i)
			}
		}
		// Copies that the update does not change may be unknown to the caller. They are equal on
		// both sides of the comparison and therefore not written.
		ops, err := u.changes(b.p.known, b.scratch)
		if err != nil {
			return err
		}
		b.out.lookups = append(b.out.lookups, ops...)
	}
	return nil
}

func (b *updateBuilder) unknownNames(u *uniqueCore) []string {
	var names []string
	for i := range b.c.shape.Fields {
		if u.feeds.Has(i) && !b.c.baseFields.Has(i) {
			names = append(names, b.c.shape.Fields[i].Attr)
		}
	}
	return names
}

// Get finds the item with a value: at holds the fields of the lookup item's key. It makes two
// consistent reads, of the lookup item and of its owner. An owner that has lost the value in
// between is not found.
func (q *Unique[T]) Get(ctx context.Context, s *Store, at T) (v T, found bool, err error) {
	owner, found, err := q.Owner(ctx, s, at)
	if err != nil || !found {
		return v, false, err
	}
	v, found, err = q.e.Get(ctx, s, owner, Consistent())
	if err != nil || !found {
		return v, false, err
	}
	want, err := q.u.key(unsafe.Pointer(&at))
	if err != nil {
		return v, false, err
	}
	have, err := q.u.key(unsafe.Pointer(&v))
	if err != nil || have == nil || !have.Equal(want) {
		var none T
		return none, false, err
	}
	return v, true, nil
}

// Owner reads only the lookup item of a value and returns the fields in it: those of the owner's
// key and the copies. If the value is reserved, the owner need not exist.
func (q *Unique[T]) Owner(ctx context.Context, s *Store, at T) (v T, found bool, err error) {
	key, err := q.u.c.key(unsafe.Pointer(&at))
	if err != nil {
		return v, false, err
	}
	item, err := q.u.c.getItem(ctx, s, key, readOptions{consistent: true})
	if err != nil || item == nil || q.u.expired(item, s.opts.Now()) {
		return v, false, err
	}
	return v, true, q.u.decode(item, unsafe.Pointer(&v))
}

// decode sets the fields that a lookup item copies, including those that the owner stores in its
// key. A lookup item without an owner cannot be read.
func (u *uniqueCore) decode(item dynamo.Item, p unsafe.Pointer) error {
	for _, i := range u.copies {
		f := &u.c.shape.Fields[i]
		v, ok := item[f.Attr]
		if !ok || v.Kind() == dynamo.KindNULL {
			continue
		}
		if err := f.Codec.Decode(v, f.At(p)); err != nil {
			return u.c.unreadable(item, &AttributeError{Attribute: f.Attr, Reason: err})
		}
	}
	for _, i := range u.owners {
		f := &u.c.shape.Fields[i]
		if v, err := f.Scalar(p); err != nil || v.Missing {
			return u.c.unreadable(
				item,
				&AttributeError{Attribute: f.Attr, Reason: layout.ErrAbsent},
			)
		}
	}
	return nil
}

// expired reports whether a lookup item has expired.
func (u *uniqueCore) expired(item dynamo.Item, now time.Time) bool {
	v, ok := item[u.c.table.ttl]
	if u.ttl < 0 || !ok {
		return false
	}
	return compare(opLess, v, []dynamo.Value{dynamo.Int(now.Unix())})
}

// Reserve writes the lookup item of a value for an owner that need not exist, whose key fields are
// in v. No other item can take the value, and Create of the owner finds it reserved. The unique
// value must be [Reservable]. The error is ErrTaken if the value belongs to another item.
func (q *Unique[T]) Reserve(ctx context.Context, s *Store, v T) error {
	tx := s.NewTx()
	q.ReserveTx(tx, v)
	return tx.Commit(ctx)
}

// ReserveTx adds a Reserve to a transaction.
func (q *Unique[T]) ReserveTx(tx *Tx, v T) Action {
	if !q.u.reservable {
		return tx.add(nil, fmt.Errorf("%s is not Reservable", q.u.c.name))
	}
	key, err := q.u.c.key(unsafe.Pointer(&v))
	if err != nil {
		return tx.add(nil, err)
	}
	op, err := q.u.reserve(key, unsafe.Pointer(&v))
	if err != nil {
		return tx.add(nil, err)
	}
	return tx.add(op.write(tx.s.opts.Now()), nil)
}

// Release deletes the lookup item of a value that belongs to v, so that another item can take the
// value; v itself is not changed. The error is ErrChanged if the value belongs to another item. It
// is not an error if the lookup item does not exist.
func (q *Unique[T]) Release(ctx context.Context, s *Store, v T) error {
	key, err := q.u.c.key(unsafe.Pointer(&v))
	if err != nil {
		return err
	}
	gone := &cond{op: opMissing, attr: q.u.c.table.keys.Partition}
	w := q.u.c.newWrite(actDelete, verbRelease, &cond{op: opOr, reason: ErrChanged,
		kids: []*cond{gone, q.u.owned(unsafe.Pointer(&v))}})
	w.key = key
	_, err = s.send(ctx, w)
	return err
}

// Repair corrects the lookup item of an item after a write that did not use this package: it puts a
// missing one, and takes over one whose owner does not exist or does not have the value. It reports
// whether it wrote, and returns ErrTaken if another item rightly has the value.
func (q *Unique[T]) Repair(ctx context.Context, s *Store, at T) (wrote bool, err error) {
	v, found, err := q.e.Get(ctx, s, at, Consistent())
	if err != nil || !found {
		return false, err
	}
	p := unsafe.Pointer(&v)
	key, err := q.u.key(p)
	if err != nil || key == nil {
		return false, err
	}
	have, err := q.u.c.getItem(ctx, s, key, readOptions{consistent: true})
	if err != nil {
		return false, err
	}
	want, err := q.u.item(key, p)
	if err != nil || have.Equal(want) {
		return false, err
	}
	if have != nil && !q.u.owned(p).holds(have) {
		_, valid, err := q.Get(ctx, s, v)
		if err != nil {
			return false, err
		}
		if valid {
			return false, q.taken(key, have)
		}
	}
	return true, q.rewrite(ctx, s, v, want, have)
}

func (q *Unique[T]) taken(key dynamo.Key, have dynamo.Item) error {
	w := q.u.c.newWrite(actPut, verbReserve)
	w.key = key
	f := w.failure(FailedCondition, "", have)
	f.Reason = ErrTaken
	return &WriteError{Failures: []Failure{f}}
}

// rewrite puts a lookup item if its owner and the previous owner are unchanged since they were
// read.
func (q *Unique[T]) rewrite(ctx context.Context, s *Store, v T, want, have dynamo.Item) error {
	tx := s.NewTx()
	guard := q.e.c.newWrite(actCheck, "check")
	guard.key, _ = q.e.c.key(unsafe.Pointer(&v))
	for i := range q.e.c.shape.Fields {
		if q.u.c.baseFields.Has(i) && !q.e.c.baseFields.Has(i) {
			guard.claims[0].conds = append(guard.claims[0].conds,
				q.e.c.unchanged(i, unsafe.Pointer(&v)))
		}
	}
	tx.add(guard, nil)
	put := q.u.c.newWrite(actPut, verbReserve)
	put.item = want
	if have == nil {
		put.claims[0].conds = []*cond{q.u.c.absent}
	}
	for _, i := range q.u.owners {
		attr := q.u.c.shape.Fields[i].Attr
		if old, ok := have[attr]; ok {
			put.claims[0].conds = append(put.claims[0].conds, &cond{op: opEqual, attr: attr,
				vals: []dynamo.Value{old}, reason: ErrChanged})
		}
	}
	tx.add(put, nil)
	return tx.Commit(ctx)
}

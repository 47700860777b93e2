package singletable

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// update is the complete update of one item: the caller's changes and those that maintain index
// keys, the version and unique values.
type update struct {
	changes []change
	conds   []*cond
	lookups []lookupOp
}

// updateBuilder builds an update.
type updateBuilder struct {
	c       *core
	p       *patch
	scratch unsafe.Pointer  // a T in the state after the update, as far as it is known
	sure    layout.FieldSet // fields of scratch that are known
	changed layout.FieldSet
	guarded layout.FieldSet // fields taken from p.known
	out     update

	words [3]uint64 // storage of the three sets unless the struct is very large
}

// newUpdate builds the update of the item at the key of the struct at p. The caller builds the key.
func (c *core) newUpdate(at unsafe.Pointer, p *patch) (*update, error) {
	b := &updateBuilder{c: c, p: p}
	if n := len(c.shape.Fields); n <= 64 {
		b.sure, b.changed, b.guarded = b.words[0:1], b.words[1:2], b.words[2:3]
	} else {
		b.sure, b.changed = layout.NewFieldSet(n), layout.NewFieldSet(n)
		b.guarded = layout.NewFieldSet(n)
	}
	// The caller's changes are often followed by one of the version.
	b.out.changes = make([]change, 0, len(p.changes)+1)
	b.sure.AddAll(c.baseFields)
	if err := b.takeChanges(at); err != nil {
		return nil, err
	}
	if err := b.keepIndexes(); err != nil {
		return nil, err
	}
	if err := b.keepUniques(); err != nil {
		return nil, err
	}
	if p.upsert {
		if err := b.fillNew(); err != nil {
			return nil, err
		}
	}
	b.keepVersion()
	b.finishConds()
	return &b.out, nil
}

// takeChanges checks the caller's changes and applies those that keys may depend on to the scratch
// struct.
func (b *updateBuilder) takeChanges(at unsafe.Pointer) error {
	c := b.c
	for _, ch := range b.p.changes {
		if ch.err != nil {
			return ch.err
		}
		if c.baseFields.Has(ch.field) {
			return fmt.Errorf("%s: %s is part of the primary key, which an update cannot change: "+
				"use MoveTx", c.name, ch.attr)
		}
		if err := b.out.add(ch); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		b.changed.Add(ch.field)
	}
	if b.p.upsert || b.changed.Meets(c.fed) {
		if err := b.applyAll(at); err != nil {
			return err
		}
	}
	if len(c.enumFields) > 0 {
		return b.checkEnums()
	}
	return nil
}

// applyAll builds the scratch struct, which is needed only for keys and unique values.
func (b *updateBuilder) applyAll(at unsafe.Pointer) error {
	c := b.c
	b.scratch = reflect.New(c.shape.Type).UnsafePointer()
	reflect.NewAt(c.shape.Type, b.scratch).Elem().Set(reflect.NewAt(c.shape.Type, at).Elem())
	if b.p.known != nil {
		b.p.known = c.withKeyOf(b.p.known, at)
	}
	for _, ch := range b.out.changes {
		if err := b.apply(ch); err != nil {
			return fmt.Errorf("%s: attribute %s: %w", c.name, ch.attr, err)
		}
	}
	return nil
}

// withKeyOf returns a copy of the struct at p with the key fields of the one at q.
func (c *core) withKeyOf(p, q unsafe.Pointer) unsafe.Pointer {
	out := reflect.New(c.shape.Type)
	out.Elem().Set(reflect.NewAt(c.shape.Type, p).Elem())
	for i := range c.shape.Fields {
		if f := &c.shape.Fields[i]; c.baseFields.Has(i) {
			reflect.NewAt(f.Type, f.At(out.UnsafePointer())).Elem().Set(
				reflect.NewAt(f.Type, f.At(q)).Elem())
		}
	}
	return out.UnsafePointer()
}

func (b *updateBuilder) checkEnums() error {
	for _, e := range b.c.enumFields {
		for _, ch := range b.out.changes {
			if ch.field == e.idx && ch.op != changeRemove && !slices.Contains(e.values,
				ch.val.S()) {
				return fmt.Errorf("%s: %s is %q, not one of %s", b.c.name, ch.attr, ch.val.S(),
					strings.Join(e.values, ", "))
			}
		}
	}
	return nil
}

// apply applies one change to the scratch struct. The result of ADD is known only if the previous
// value is known.
func (b *updateBuilder) apply(ch change) error {
	if !b.c.fed.Has(ch.field) {
		return nil // no key depends on it, so its value need not be known
	}
	f := &b.c.shape.Fields[ch.field]
	q := f.At(b.scratch)
	switch ch.op {
	case changeSet:
		b.sure.Add(ch.field)
		return f.Codec.Decode(ch.val, q)
	case changeRemove:
		b.sure.Add(ch.field)
		reflect.NewAt(f.Type, q).Elem().SetZero()
	case changeAdd:
		if b.p.known == nil || ch.val.Kind() != dynamo.KindN {
			return nil
		}
		old, err := f.Value(b.p.known)
		if err != nil {
			return err
		}
		sum := ch.val.N()
		if !old.IsAbsent() {
			if sum, err = dynamo.AddNumbers(old.N(), sum); err != nil {
				return err
			}
		}
		b.sure.Add(ch.field)
		b.guarded.Add(ch.field)
		return f.Codec.Decode(dynamo.CanonicalN(sum), q)
	case changeSetIfAbsent:
		if b.p.known == nil {
			return nil
		}
		old, err := f.Value(b.p.known)
		if err != nil {
			return err
		}
		if old.IsAbsent() {
			old = ch.val
		}
		b.sure.Add(ch.field)
		b.guarded.Add(ch.field)
		return f.Codec.Decode(old, q)
	}
	return nil
}

// obtain makes a field of the scratch struct known, if necessary from the item that the caller
// passed. It reports whether the field is known.
func (b *updateBuilder) obtain(i int) bool {
	if b.sure.Has(i) {
		return true
	}
	if b.p.known == nil || b.changed.Has(i) {
		return false
	}
	f := &b.c.shape.Fields[i]
	reflect.NewAt(f.Type, f.At(b.scratch)).Elem().Set(
		reflect.NewAt(f.Type, f.At(b.p.known)).Elem())
	b.sure.Add(i)
	b.guarded.Add(i)
	return true
}

// keepIndexes adds the changes of index keys that follow from the caller's changes.
func (b *updateBuilder) keepIndexes() error {
	for _, pl := range b.c.on {
		if !b.p.upsert && !b.changed.Meets(pl.Needs) {
			continue
		}
		var err error
		if pl.Sparse {
			err = b.keepSparse(pl)
		} else {
			err = b.keepRequired(pl)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepRequired writes the key attributes of an index that depend on a changed field. The item is
// always in the index, so the other key attribute is not changed.
func (b *updateBuilder) keepRequired(pl *layout.Placement) error {
	return pl.Attrs(func(k *layout.KeyAttr) error {
		if !b.p.upsert && !b.changed.Meets(k.Needs) {
			return nil
		}
		if err := b.require(pl, k.Needs); err != nil {
			return err
		}
		v, missing, err := k.Value(b.scratch)
		if err != nil {
			return fmt.Errorf("%s: %w", b.c.name, err)
		}
		if missing != "" {
			return &MissingPartError{Entity: b.c.name, Index: pl.Index, Template: k.Template.Text,
				Field: missing}
		}
		return b.setKey(k, v)
	})
}

// keepSparse adds the item to a sparse index or removes it. To remove it, one part of the key that
// is known to be missing is enough.
func (b *updateBuilder) keepSparse(pl *layout.Placement) error {
	out, err := b.surelyOut(pl)
	if err != nil {
		return err
	}
	if !out {
		if err := b.require(pl, pl.Needs); err != nil {
			return err
		}
		part, sort, in, err := b.c.placeKey(pl, b.scratch)
		if err != nil {
			return err
		}
		if in {
			if err := b.setKey(pl.Part, part); err != nil || pl.Sort == nil {
				return err
			}
			return b.setKey(pl.Sort, sort)
		}
	}
	return pl.Attrs(func(k *layout.KeyAttr) error {
		if k.Own {
			b.out.dropEmpty(k.Attr)
		}
		if k.Own || k.Base || k.Shared {
			return nil
		}
		return b.out.add(change{op: changeRemove, attr: k.Attr, field: -1})
	})
}

// dropEmpty replaces a change that sets an index key to an empty value, which the store refuses, by
// its removal.
func (u *update) dropEmpty(attr string) {
	for i := range u.changes {
		ch := &u.changes[i]
		if ch.attr == attr && ch.op == changeSet && ch.val.Kind() != dynamo.KindN &&
			ch.val.Size() == 0 {
			*ch = change{op: changeRemove, attr: attr, field: ch.field}
		}
	}
}

// surelyOut reports whether the known fields are enough to keep the item out of a sparse index.
func (b *updateBuilder) surelyOut(pl *layout.Placement) (bool, error) {
	if pl.When != nil && b.sure.Has(pl.When.Index) {
		in, err := pl.When.Holds(b.c.shape, b.scratch)
		if err != nil || !in {
			return !in, err
		}
	}
	for i := range b.c.shape.Fields {
		if !b.sure.Has(i) || !pl.Needs.Has(i) || pl.When != nil && pl.When.Index == i {
			continue
		}
		v, err := b.c.shape.Fields[i].Scalar(b.scratch)
		if err != nil || v.Missing {
			return v.Missing, err
		}
	}
	return false, nil
}

// require makes fields known, or returns an error that names the unknown ones and the next step.
func (b *updateBuilder) require(pl *layout.Placement, needs layout.FieldSet) error {
	var missing, relative []string
	for i := range b.c.shape.Fields {
		if needs.Has(i) && !b.obtain(i) {
			missing = append(missing, b.c.shape.Fields[i].Attr)
			if b.changed.Has(i) {
				relative = append(relative, b.c.shape.Fields[i].Attr)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &PartialKeyError{Entity: b.c.name, Index: pl.Index, Changed: b.changedNames(needs),
		Missing: missing, Relative: relative}
}

func (b *updateBuilder) changedNames(needs layout.FieldSet) []string {
	var names []string
	for i := range b.c.shape.Fields {
		if b.changed.Has(i) && needs.Has(i) {
			names = append(names, b.c.shape.Fields[i].Attr)
		}
	}
	return names
}

func (b *updateBuilder) setKey(k *layout.KeyAttr, v dynamo.Value) error {
	if k.Base || k.Own {
		return nil // the field's own change is the change of the key
	}
	for _, ch := range b.out.changes {
		if ch.attr == k.Attr && ch.field >= 0 {
			return nil
		}
	}
	return b.out.add(change{op: changeSet, attr: k.Attr, field: -1, val: v})
}

// fillNew adds the attributes of an item that the update may create: its discriminator and the
// fields of its key.
func (b *updateBuilder) fillNew() error {
	c := b.c
	if c.disc != "" {
		err := b.out.add(change{op: changeSet, attr: c.disc, field: -1, val: dynamo.S(c.discVal)})
		if err != nil {
			return err
		}
	}
	for i := range c.shape.Fields {
		f := &c.shape.Fields[i]
		if !c.baseFields.Has(i) || f.Options.KeyOnly || f.Attr == c.table.keys.Partition ||
			f.Attr == c.table.keys.Sort {
			continue
		}
		v, err := f.Value(b.scratch)
		if err != nil {
			return err
		}
		if err := b.out.add(change{op: changeSet, attr: f.Attr, field: i, val: v}); err != nil {
			return err
		}
	}
	return nil
}

// keepVersion increments the version, unless the caller changes it.
func (b *updateBuilder) keepVersion() {
	if v := b.c.version; v >= 0 && !b.changed.Has(v) {
		_ = b.out.add(change{op: changeAdd, attr: b.c.shape.Fields[v].Attr, field: v,
			val: dynamo.Int(1)})
	}
}

// finishConds adds the conditions that protect the assumptions to those of the caller.
func (b *updateBuilder) finishConds() {
	b.out.conds = make([]*cond, 0, len(b.p.conds)+1)
	if !b.p.upsert {
		b.out.conds = append(b.out.conds, b.c.present)
	}
	for i := range b.c.shape.Fields {
		if b.guarded.Has(i) {
			b.out.conds = append(b.out.conds, b.c.unchanged(i, b.p.known))
		}
	}
	b.out.conds = append(b.out.conds, b.p.conds...)
}

// unchanged is the condition that a field still has the value in the struct at p.
func (c *core) unchanged(i int, p unsafe.Pointer) *cond {
	f := &c.shape.Fields[i]
	v, err := f.Value(p)
	if err == nil && v.IsAbsent() {
		return &cond{op: opMissing, attr: f.Attr, reason: ErrChanged}
	}
	return &cond{op: opEqual, attr: f.Attr, vals: []dynamo.Value{v}, reason: ErrChanged, err: err}
}

// add adds a change and merges it with one of the same attribute.
func (u *update) add(ch change) error {
	for i := range u.changes {
		if u.changes[i].attr == ch.attr {
			merged, err := mergeChanges(u.changes[i], ch)
			u.changes[i] = merged
			return err
		}
	}
	u.changes = append(u.changes, ch)
	return nil
}

// mergeChanges returns the change with the effect of a followed by b on an attribute. Two sets of
// different values are refused, because one of them would be lost.
func mergeChanges(a, b change) (change, error) {
	switch {
	case a.op == b.op && a.op == changeRemove:
		return a, nil
	case a.op == b.op && a.op == changeSet && a.val.Equal(b.val):
		return a, nil
	case b.op == changeSetIfAbsent && (a.op == changeSet || a.op == changeSetIfAbsent):
		return a, nil
	case b.op == changeAdd && (a.op == changeAdd || a.op == changeSet):
		if sum, ok := addValues(a.val, b.val); ok {
			a.val = sum
			return a, nil
		}
	case b.op == changeAdd && a.op == changeRemove:
		b.op = changeSet
		return b, nil
	case a.op == changeTake && b.op == changeTake:
		a.val, _ = addValues(a.val, b.val)
		return a, nil
	case b.op == changeAppend && (a.op == changeAppend || a.op == changeSet) &&
		a.val.Kind() == dynamo.KindL:
		a.val = dynamo.L(slices.Concat(a.val.L(), b.val.L())...)
		return a, nil
	}
	return a, &MergeError{Attribute: a.attr, First: a.op.String(), Second: b.op.String()}
}

// addValues adds two Numbers, or joins two sets of the same kind.
func addValues(v, w dynamo.Value) (dynamo.Value, bool) {
	if v.Kind() != w.Kind() {
		return v, false
	}
	if v.Kind() == dynamo.KindN {
		sum, err := dynamo.AddNumbers(v.N(), w.N())
		return dynamo.CanonicalN(sum), err == nil
	}
	if !isAddable(v.Kind()) {
		return v, false
	}
	elems := layout.ElementsOf(v)
	for _, e := range layout.ElementsOf(w) {
		if !slices.ContainsFunc(elems, e.Equal) {
			elems = append(elems, e)
		}
	}
	return layout.SetOf(v.Kind(), elems), true
}

// render writes the update expression: SET, REMOVE, ADD and DELETE, each at most once.
func (u *update) render(x *expressions) string {
	var b strings.Builder
	clause := func(word string, one func(ch change) string, ops ...changeOp) {
		first := true
		for _, ch := range u.changes {
			if !slices.Contains(ops, ch.op) {
				continue
			}
			if first && b.Len() > 0 {
				b.WriteByte(' ')
			}
			if first {
				b.WriteString(word)
			} else {
				b.WriteByte(',')
			}
			first = false
			b.WriteByte(' ')
			b.WriteString(one(ch))
		}
	}
	clause("SET", func(ch change) string { return renderSet(ch, x) },
		changeSet, changeSetIfAbsent, changeAppend)
	clause("REMOVE", func(ch change) string { return x.name(ch.attr) }, changeRemove)
	pair := func(ch change) string { return x.name(ch.attr) + " " + x.value(ch.attr, ch.val) }
	clause("ADD", pair, changeAdd)
	clause("DELETE", pair, changeTake)
	return b.String()
}

func renderSet(ch change, x *expressions) string {
	name := x.name(ch.attr)
	switch ch.op {
	case changeSetIfAbsent:
		return name + " = if_not_exists(" + name + ", " + x.value(ch.attr, ch.val) + ")"
	case changeAppend:
		v := x.value(ch.attr, ch.val)
		empty := x.value(ch.attr, emptyList)
		return name + " = list_append(if_not_exists(" + name + ", " + empty + "), " + v + ")"
	}
	return name + " = " + x.value(ch.attr, ch.val)
}

// size returns the number of bytes that the update adds to a request.
func (u *update) size() int {
	n := 0
	for _, ch := range u.changes {
		n += len(ch.attr) + ch.val.Size()
	}
	return n
}

// errNotInTx is the error of a step that reads in a transaction.
var errNotInTx = errors.New("ReadFirst cannot be part of a transaction: " +
	"read the item and pass it with WithKnown")

package singletable

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable/internal/layout"
)

// Step is a part of an update of a T: a [Change], a [Cond], or an option of the entity such as
// [Entity.WithKnown].
type Step[T any] interface {
	addStep(*patch)
	of(*T) // of binds the step to its type, so that one of another entity does not compile
}

// patch is the combination of the steps of an update.
type patch struct {
	changes   []change
	conds     []*cond
	known     unsafe.Pointer // a T that the caller knows, or nil
	readFirst bool
	upsert    bool

	// Storage of changes and conditions while there are few.
	someChanges [patchFew]change
	someConds   [patchFew]*cond
}

// patchFew is the number of changes, and of conditions, that most updates do not exceed.
const patchFew = 4

// changeOp is the kind of a change.
type changeOp uint8

const (
	changeSet changeOp = iota
	changeSetIfAbsent
	changeAdd
	changeTake // removes elements from a set
	changeRemove
	changeAppend
)

func (op changeOp) String() string {
	return [...]string{"set", "set if absent", "add", "take", "remove", "append"}[op]
}

// change is one change of one attribute. field is -1 for an attribute that the kit maintains.
type change struct {
	op    changeOp
	attr  string
	field int
	val   dynamo.Value
	err   error
}

// Change is one change of an item: see [Field].
type Change[T any] struct {
	c change
}

func (c Change[T]) addStep(p *patch) { p.changes = append(p.changes, c.c) }
func (Change[T]) of(*T)              {}

func (c Cond[T]) addStep(p *patch) { p.conds = append(p.conds, c.n) }
func (Cond[T]) of(*T)              {}

// option is a step that is neither a change nor a condition.
type option[T any] struct {
	apply func(*patch)
}

func (o option[T]) addStep(p *patch) { o.apply(p) }
func (option[T]) of(*T)              {}

// WithKnown passes the item as the caller knows it to an update. The kit takes from it the fields
// that index keys and unique values need in addition to the changed ones. The update requires that
// they are unchanged. Other fields of v are ignored.
func (e *Entity[T]) WithKnown(v T) Step[T] {
	return option[T]{func(p *patch) { p.known = unsafe.Pointer(&v) }}
}

// ReadFirst lets an update read the item for the fields that index keys and unique values need. It
// requires that they did not change after the read, and starts again if they did. It cannot be used
// in a transaction, because a transaction does not read.
func (e *Entity[T]) ReadFirst() Step[T] {
	return option[T]{func(p *patch) { p.readFirst = true }}
}

// Upsert lets an update create a missing item. All fields of the entity's keys must be known.
func (e *Entity[T]) Upsert() Step[T] {
	return option[T]{func(p *patch) { p.upsert = true }}
}

// Field is a handle of one field of an entity. Create it once with [FieldOf].
type Field[T, V any] struct {
	c   *core
	idx int
	err error
}

// FieldOf returns the handle of the field whose address a function returns:
//
//	balance := singletable.FieldOf(accounts, func(a *Account) *Amount { return &a.Balance })
//
// If the function returns another address, every use of the handle returns an error.
func FieldOf[T, V any](e *Entity[T], at func(*T) *V) Field[T, V] {
	var zero T
	f := Field[T, V]{c: e.c, idx: -1}
	offset, err := offsetIn(&zero, at)
	if err == nil {
		for i := range e.c.shape.Fields {
			if e.c.shape.Fields[i].Offset == offset && layout.TypeIs[V](&e.c.shape.Fields[i]) {
				f.idx = i
			}
		}
	}
	if f.idx < 0 {
		f.err = fmt.Errorf("%s: FieldOf was called with a function that returns no field", e.c.name)
		// The handle reports the error when it is used. All others, and the entity itself, can be
		// used.
		e.c.badFields++
	}
	return f
}

// offsetIn calls at with a zero value and returns the offset of the result in it. at may
// dereference a nil pointer inside the struct, which is not a field.
func offsetIn[T, V any](zero *T, at func(*T) *V) (offset uintptr, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("not a field")
		}
	}()
	return uintptr(unsafe.Pointer(at(zero))) - uintptr(unsafe.Pointer(zero)), nil
}

// Name returns the attribute's name.
func (f Field[T, V]) Name() string {
	if f.idx < 0 {
		return ""
	}
	return f.c.shape.Fields[f.idx].Attr
}

// encode converts v to the value that the field would store.
func (f Field[T, V]) encode(v *V) (dynamo.Value, error) {
	if f.err != nil {
		return dynamo.Value{}, f.err
	}
	fd := &f.c.shape.Fields[f.idx]
	p := unsafe.Pointer(v)
	if fd.Options.OmitEmpty && fd.Codec.Empty(p) {
		return dynamo.Value{}, nil
	}
	val, err := fd.Codec.Encode(p)
	if err != nil {
		err = fmt.Errorf("%s: attribute %s: %w", f.c.name, fd.Attr, err)
	}
	return canonical(val), err // arithmetic on Numbers requires the canonical form
}

func (f Field[T, V]) change(op changeOp, v *V) Change[T] {
	c := change{op: op, field: f.idx, attr: f.Name(), err: f.err}
	if v != nil && c.err == nil {
		c.val, c.err = f.encode(v)
		if c.err == nil && c.val.IsAbsent() {
			if op == changeSet {
				c.op = changeRemove
			} else {
				c.err = fmt.Errorf("%s: %s %s: there is nothing to %s", f.c.name, op, c.attr, op)
			}
		}
	}
	return Change[T]{c}
}

// Set sets the field. An empty value removes an `omitempty` attribute, and nil any attribute.
func (f Field[T, V]) Set(v V) Change[T] { return f.change(changeSet, &v) }

// SetIfAbsent sets the field unless it has a value.
func (f Field[T, V]) SetIfAbsent(v V) Change[T] { return f.change(changeSetIfAbsent, &v) }

// Remove removes the attribute.
func (f Field[T, V]) Remove() Change[T] { return f.change(changeRemove, nil) }

// Add adds to a Number, or adds elements to a set. An absent Number counts as zero.
func (f Field[T, V]) Add(v V) Change[T] {
	c := f.change(changeAdd, &v)
	if c.c.err == nil && !isAddable(c.c.val.Kind()) {
		c.c.err = fmt.Errorf("%s: add %s: it is neither a Number nor a set", f.c.name, c.c.attr)
	}
	return c
}

// Subtract subtracts from a Number, or removes elements from a set. An absent Number counts as
// zero.
func (f Field[T, V]) Subtract(v V) Change[T] {
	c := f.change(changeAdd, &v)
	switch {
	case c.c.err != nil:
	case c.c.val.Kind() == dynamo.KindN:
		var text string
		text, c.c.err = dynamo.SubtractNumbers("0", c.c.val.N())
		c.c.val = dynamo.CanonicalN(text)
	case isAddable(c.c.val.Kind()):
		c.c.op = changeTake
	default:
		c.c.err = fmt.Errorf("%s: subtract %s: it is neither a Number nor a set", f.c.name,
			c.c.attr)
	}
	return c
}

func isAddable(k dynamo.Kind) bool {
	return k == dynamo.KindN || k == dynamo.KindSS || k == dynamo.KindNS || k == dynamo.KindBS
}

// ListAppend appends the elements of v to a list. A missing list is created.
func (f Field[T, V]) ListAppend(v V) Change[T] {
	c := f.change(changeAppend, &v)
	if c.c.err == nil && c.c.val.Kind() != dynamo.KindL {
		c.c.err = fmt.Errorf("%s: append to %s: it is not a list", f.c.name, c.c.attr)
	}
	return c
}

func (f Field[T, V]) cond(op condOp, vs ...V) Cond[T] {
	n := &cond{op: op, attr: f.Name(), err: f.err}
	n.vals = n.one[:0]
	for i := range vs {
		v, err := f.encode(&vs[i])
		if err != nil {
			n.err = err
		}
		if v.IsAbsent() && n.err == nil {
			return f.condAbsent(op)
		}
		n.vals = append(n.vals, v)
	}
	return Cond[T]{n}
}

// condAbsent returns a comparison with a value that is not stored.
func (f Field[T, V]) condAbsent(op condOp) Cond[T] {
	switch op {
	case opEqual:
		return f.Missing()
	case opNotEqual:
		return f.Exists()
	}
	return Cond[T]{&cond{err: fmt.Errorf("%s: %s is compared with an empty value, which is "+
		"stored as no attribute", f.c.name, f.Name())}}
}

// Equals is true if the attribute has the value. For a value that is not stored (an empty
// `omitempty` one, a nil) it is true if the attribute is absent. The other comparisons except
// NotEquals are false for an absent attribute.
func (f Field[T, V]) Equals(v V) Cond[T] { return f.cond(opEqual, v) }

// NotEquals is also true for an absent attribute.
func (f Field[T, V]) NotEquals(v V) Cond[T] { return f.cond(opNotEqual, v) }

// LessThan means field < v.
func (f Field[T, V]) LessThan(v V) Cond[T] { return f.cond(opLess, v) }

// AtMost means field <= v.
func (f Field[T, V]) AtMost(v V) Cond[T] { return f.cond(opAtMost, v) }

// MoreThan means field > v.
func (f Field[T, V]) MoreThan(v V) Cond[T] { return f.cond(opMore, v) }

// AtLeast means field >= v.
func (f Field[T, V]) AtLeast(v V) Cond[T] { return f.cond(opAtLeast, v) }

// Within means low <= field <= high.
func (f Field[T, V]) Within(low, high V) Cond[T] { return f.cond(opWithin, low, high) }

// In means that the field has one of up to 99 values.
func (f Field[T, V]) In(vs ...V) Cond[T] {
	if len(vs) == 0 || len(vs) > inMax {
		return Cond[T]{&cond{err: fmt.Errorf("%s: %s in a list of %d values, outside 1 to %d",
			f.c.name, f.Name(), len(vs), inMax)}}
	}
	return f.cond(opIn, vs...)
}

// inMax is one less than the documented number of operands of IN, because sources disagree on
// whether the left side counts.
const inMax = 99

// Exists means that the attribute is present.
func (f Field[T, V]) Exists() Cond[T] { return f.cond(opExists) }

// Missing means that the attribute is absent.
func (f Field[T, V]) Missing() Cond[T] { return f.cond(opMissing) }

// BeginsWith means that the attribute is text that begins with prefix.
func (f Field[T, V]) BeginsWith(prefix string) Cond[T] {
	n := f.cond(opBeginsWith)
	n.n.vals = []dynamo.Value{dynamo.S(prefix)}
	return n
}

// Contains means that a text attribute contains text, or that a set or list of texts has it as an
// element.
func (f Field[T, V]) Contains(text string) Cond[T] {
	n := f.cond(opContains)
	n.n.vals = []dynamo.Value{dynamo.S(text)}
	return n
}

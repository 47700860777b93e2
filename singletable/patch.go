package singletable

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Step is a part of an update of a T: a [Change], a [Cond], or an option of the entity such as
// [Entity.WithKnown].
type Step[T any] interface {
	addStep(*patch)
	of(*T) // binds the step to its type, so that another entity's is refused by the compiler
}

// patch is what the steps of an update come to.
type patch struct {
	changes   []change
	conds     []*cond
	known     unsafe.Pointer // a T that the caller knows, or nil
	readFirst bool
	upsert    bool

	// Where changes and conditions are while there are few.
	someChanges [patchFew]change
	someConds   [patchFew]*cond
}

// patchFew is how many changes, and how many conditions, most updates have at most.
const patchFew = 4

// changeOp is the kind of a change.
type changeOp uint8

const (
	changeSet changeOp = iota
	changeSetIfAbsent
	changeAdd
	changeTake // out of a set
	changeRemove
	changeAppend
)

func (op changeOp) String() string {
	return [...]string{"set", "set if absent", "add", "take", "remove", "append"}[op]
}

// change is one change of one attribute. field is -1 for an attribute that the kit keeps.
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

// WithKnown gives an update the item as the caller knows it, from which the kit takes the fields
// that index keys and unique values need besides those changed. The update demands that they are
// still so. Other fields of v are not looked at.
func (e *Entity[T]) WithKnown(v T) Step[T] {
	return option[T]{func(p *patch) { p.known = unsafe.Pointer(&v) }}
}

// ReadFirst lets an update read the item for the fields that index keys and unique values need,
// and demands that they did not change in between; it starts again if they did. Not for
// transactions, which do not read.
func (e *Entity[T]) ReadFirst() Step[T] {
	return option[T]{func(p *patch) { p.readFirst = true }}
}

// Upsert lets an update create the item where there is none. All fields that the keys of the
// entity are made of must be known.
func (e *Entity[T]) Upsert() Step[T] {
	return option[T]{func(p *patch) { p.upsert = true }}
}

// Field is a handle to one field of an entity, made once by [FieldOf].
type Field[T, V any] struct {
	c   *core
	idx int
	err error
}

// FieldOf makes a handle from a function that returns the address of a field:
//
//	balance := singletable.FieldOf(accounts, func(a *Account) *Amount { return &a.Balance })
//
// A function that returns anything else makes a handle whose every use is an error.
func FieldOf[T, V any](e *Entity[T], at func(*T) *V) Field[T, V] {
	var zero T
	f := Field[T, V]{c: e.c, idx: -1}
	offset, err := offsetIn(&zero, at)
	if err == nil {
		for i := range e.c.shape.fields {
			if e.c.shape.fields[i].offset == offset && typeIs[V](&e.c.shape.fields[i]) {
				f.idx = i
			}
		}
	}
	if f.idx < 0 {
		f.err = fmt.Errorf("%s: FieldOf was given no attribute of the entity", e.c.name)
		// The handle reports it when it is used. All others, and the entity itself, are usable.
		e.c.badFields++
	}
	return f
}

// offsetIn calls at on a zero value and returns how far from it the answer points. at may follow a
// nil pointer inside the struct, which is no field.
func offsetIn[T, V any](zero *T, at func(*T) *V) (offset uintptr, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("no field")
		}
	}()
	return uintptr(unsafe.Pointer(at(zero))) - uintptr(unsafe.Pointer(zero)), nil
}

// Name returns the attribute's name.
func (f Field[T, V]) Name() string {
	if f.idx < 0 {
		return ""
	}
	return f.c.shape.fields[f.idx].attr
}

// encode turns v into the value that the field would store.
func (f Field[T, V]) encode(v *V) (dynamo.Value, error) {
	if f.err != nil {
		return dynamo.Value{}, f.err
	}
	fd := &f.c.shape.fields[f.idx]
	p := unsafe.Pointer(v)
	if fd.opts.omitEmpty && fd.codec.empty(p) {
		return dynamo.Value{}, nil
	}
	val, err := fd.codec.encode(p)
	if err != nil {
		err = fmt.Errorf("%s: attribute %s: %w", f.c.name, fd.attr, err)
	}
	return canonical(val), err // arithmetic on Numbers needs them canonical
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

// Set gives the field a value. An empty value removes an `omitempty` attribute, and a nil one any.
func (f Field[T, V]) Set(v V) Change[T] { return f.change(changeSet, &v) }

// SetIfAbsent gives the field a value unless it has one.
func (f Field[T, V]) SetIfAbsent(v V) Change[T] { return f.change(changeSetIfAbsent, &v) }

// Remove removes the attribute.
func (f Field[T, V]) Remove() Change[T] { return f.change(changeRemove, nil) }

// Add adds to a Number, an absent one counting as zero, or adds elements to a set.
func (f Field[T, V]) Add(v V) Change[T] {
	c := f.change(changeAdd, &v)
	if c.c.err == nil && !isAddable(c.c.val.Kind()) {
		c.c.err = fmt.Errorf("%s: add %s: it is neither a Number nor a set", f.c.name, c.c.attr)
	}
	return c
}

// Subtract subtracts from a Number, an absent one counting as zero, or takes elements out of a
// set.
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

// ListAppend appends the elements of v to a list, which is created where it is absent.
func (f Field[T, V]) ListAppend(v V) Change[T] {
	c := f.change(changeAppend, &v)
	if c.c.err == nil && c.c.val.Kind() != dynamo.KindL {
		c.c.err = fmt.Errorf("%s: append to %s: it is no list", f.c.name, c.c.attr)
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

// condAbsent is a comparison with a value that is stored as no attribute.
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

// Equals is true when the attribute has the value. Comparing with a value that is not stored (an
// empty `omitempty` one, a nil) asks whether the attribute is absent. The other comparisons but
// NotEquals are false for an absent attribute.
func (f Field[T, V]) Equals(v V) Cond[T] { return f.cond(opEqual, v) }

// NotEquals is true for an absent attribute too.
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

// inMax is one less than the documented number of operands of IN, as sources differ on whether
// the left side counts.
const inMax = 99

// Exists means that the attribute is present.
func (f Field[T, V]) Exists() Cond[T] { return f.cond(opExists) }

// Missing means that the attribute is absent.
func (f Field[T, V]) Missing() Cond[T] { return f.cond(opMissing) }

// BeginsWith means that the attribute is text that starts with prefix.
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

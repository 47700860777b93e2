package singletable

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// ErrPart means that a value that was read in part would be written as a whole, which would lose
// the other attributes. Read the item by its key, or change parts of it with [Entity.Update].
var ErrPart = errors.New("the value was read in part")

// Part marks a value that was read from an index with only some of its attributes. A struct with an
// exported field of this type can be read in part: the kit sets the field, copies of the value keep
// it, and writing the whole value is refused with [ErrPart]. Without such a field a pattern with
// such an index must [Hydrate], or use an entity with a smaller struct.
//
// The zero value means that the value is whole. It is never stored.
type Part struct {
	// Index is the index from which the value was read; "" for a whole value.
	Index string
}

var partType = reflect.TypeFor[Part]()

// refusePart refuses to write the struct at p if it was read in part.
func (c *core) refusePart(p unsafe.Pointer) error {
	if c.shape.part == nil {
		return nil
	}
	part := (*Part)(unsafe.Add(p, *c.shape.part))
	if part.Index == "" {
		return nil
	}
	return fmt.Errorf("write %s: %w from index %s: read the item by its key, or update parts of it",
		c.name, ErrPart, part.Index)
}

// markPart marks the struct at p if the index does not have all its fields.
func (c *patternCore) markPart(m *core, p unsafe.Pointer) {
	if m.shape.part != nil && len(c.lost(m)) > 0 {
		*(*Part)(unsafe.Add(p, *m.shape.part)) = Part{Index: c.index.name}
	}
}

// lost returns the attributes of a member that rows of the pattern lack, because the index does not
// hold them.
func (c *patternCore) lost(m *core) []string {
	if c.index == nil || c.hydrate {
		return nil
	}
	var lost []string
	for i := range m.shape.fields {
		f := &m.shape.fields[i]
		switch {
		case f.opts.keyOnly, f.opts.keyText, c.projects(f.attr), m.recoverable(i):
		case f.opts.rest && c.projects(""):
		case f.opts.rest:
			lost = append(lost, "what other programs store")
		default:
			lost = append(lost, f.attr)
		}
	}
	return lost
}

// checkWhole refuses a pattern whose incomplete rows could be mistaken for whole items.
func (c *patternCore) checkWhole() {
	for _, m := range c.members {
		if lost := c.lost(m); len(lost) > 0 && m.shape.part == nil {
			c.fault("index %s does not hold %s of %s: Hydrate the rows, read an entity with a "+
				"smaller struct, or give the struct a field of type Part, so that no row is "+
				"written back without them", c.index.name, strings.Join(lost, ", "), m.name)
		}
	}
}

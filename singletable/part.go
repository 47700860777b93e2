package singletable

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// ErrPart means that a value that was read in part would be written as a whole, which would lose
// the other attributes. Read the item by its key, or change parts of it with [Entity.Update].
var ErrPart = errors.New("the value was read in part")

// refusePart refuses to write the struct at p if it was read in part.
func (c *core) refusePart(p unsafe.Pointer) error {
	if c.shape.PartAt == nil {
		return nil
	}
	part := c.shape.PartOf(p)
	if part.Index == "" {
		return nil
	}
	return fmt.Errorf("write %s: %w from index %s: read the item by its key, or update parts of it",
		c.name, ErrPart, part.Index)
}

// markPart marks the struct at p if the index does not have all its fields.
func (c *patternCore) markPart(m *core, p unsafe.Pointer) {
	if m.shape.PartAt != nil && len(c.lost(m)) > 0 {
		*m.shape.PartOf(p) = Part{Index: c.index.name}
	}
}

// lost returns the attributes of a member that rows of the pattern lack, because the index does not
// hold them.
func (c *patternCore) lost(m *core) []string {
	if c.index == nil || c.hydrate {
		return nil
	}
	var lost []string
	for i := range m.shape.Fields {
		f := &m.shape.Fields[i]
		switch {
		case f.Options.KeyOnly, f.Options.KeyText, c.projects(f.Attr), m.recoverable(i):
		case f.Options.Rest && c.projects(""):
		case f.Options.Rest:
			lost = append(lost, "what other programs store")
		default:
			lost = append(lost, f.Attr)
		}
	}
	return lost
}

// checkWhole refuses a pattern whose incomplete rows could be mistaken for whole items.
func (c *patternCore) checkWhole() {
	for _, m := range c.members {
		if lost := c.lost(m); len(lost) > 0 && m.shape.PartAt == nil {
			c.fault("index %s does not hold %s of %s: Hydrate the rows, read an entity with a "+
				"smaller struct, or give the struct a field of type Part, so that no row is "+
				"written back without them", c.index.name, strings.Join(lost, ", "), m.name)
		}
	}
}

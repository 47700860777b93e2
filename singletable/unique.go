package singletable

import (
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// uniqueCore is what of a unique value does not depend on the entity's Go type.
type uniqueCore struct {
	c *core // the lookup item, as an entity of the same struct
}

// lookupOp is a write of a lookup item.
type lookupOp struct{}

const (
	verbReserve = "reserve"
	verbRelease = "release"
)

func (op lookupOp) write() *write { return nil }

func (c *core) lookupChanges(old, new unsafe.Pointer) ([]lookupOp, []*cond, error) {
	return nil, nil, nil
}

func (b *updateBuilder) keepUniques() error { return nil }

var _ = dynamo.Item{}

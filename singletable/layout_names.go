package singletable

import "github.com/exchequer-dev/exchequer/singletable/internal/layout"

// These types and limits are declared below the kit, with the code that knows the memory of
// entities, and belong to its API.
type (
	// KeyNames are the names of the key attributes of a table or index. Sort is empty without a
	// sort key.
	KeyNames = layout.KeyNames
	// Rest holds the attributes of an item that its entity does not define, which other programs
	// wrote. A field of this type with the tag option rest preserves them when the item is written
	// again.
	Rest = layout.Rest
	// Part marks a value that was read from an index with only some of its attributes. A struct
	// with an exported field of this type can be read in part: the kit sets the field, copies of
	// the value keep it, and writing the whole value is refused with [ErrPart]. Without such a
	// field a pattern with such an index must [Hydrate], or use an entity with a smaller struct.
	//
	// The zero value means that the value is whole. It is never stored.
	Part = layout.Part
	// Epoch is the number of shards for items from a time on.
	Epoch = layout.Epoch
	// Number is a number as text, exactly as it is stored.
	Number = layout.Number
	// AttributeError reports an invalid attribute of an item. Functions that are passed to [Sound]
	// return it.
	AttributeError = layout.AttributeError
	// MissingPartError reports a key that cannot be built because a required field is empty.
	MissingPartError = layout.MissingPartError
)

// Limits on the length of keys in bytes.
const (
	PartitionKeyMax = layout.PartitionKeyMax
	SortKeyMax      = layout.SortKeyMax
)

// ShardsMax is the maximum number of shards of a ring. Reading a whole ring takes one call for
// each.
const ShardsMax = layout.ShardsMax

// ShardOf returns the shard of a key among count shards.
func ShardOf(key string, count int) int { return layout.ShardOf(key, count) }

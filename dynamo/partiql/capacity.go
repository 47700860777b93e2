package partiql

import (
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// bill adds up the capacity that the operations of a call consumed, for each table and index.
type bill struct {
	level  dynamo.ReturnConsumedCapacity
	tables map[string]*dynamo.ConsumedCapacity
}

// metered reports whether the caller asked for the capacity.
func (b *bill) metered() bool {
	return b.level == dynamo.CapacityTotal || b.level == dynamo.CapacityIndexes
}

// add adds the capacity of one operation; nil if it was not reported.
func (b *bill) add(c *dynamo.ConsumedCapacity) {
	if c == nil {
		return
	}
	sum := b.tables[c.TableName]
	if sum == nil {
		sum = &dynamo.ConsumedCapacity{TableName: c.TableName}
		if b.tables == nil {
			b.tables = map[string]*dynamo.ConsumedCapacity{}
		}
		b.tables[c.TableName] = sum
	}
	sum.Capacity = plus(sum.Capacity, c.Capacity)
	if c.Table != nil {
		if sum.Table == nil {
			sum.Table = &dynamo.Capacity{}
		}
		*sum.Table = plus(*sum.Table, *c.Table)
	}
	addLines(&sum.GlobalSecondaryIndexes, c.GlobalSecondaryIndexes)
	addLines(&sum.LocalSecondaryIndexes, c.LocalSecondaryIndexes)
}

func addLines(sum *map[string]dynamo.Capacity, lines map[string]dynamo.Capacity) {
	for name, c := range lines {
		if *sum == nil {
			*sum = map[string]dynamo.Capacity{}
		}
		(*sum)[name] = plus((*sum)[name], c)
	}
}

func plus(a, b dynamo.Capacity) dynamo.Capacity {
	return dynamo.Capacity{
		CapacityUnits:      a.CapacityUnits + b.CapacityUnits,
		ReadCapacityUnits:  a.ReadCapacityUnits + b.ReadCapacityUnits,
		WriteCapacityUnits: a.WriteCapacityUnits + b.WriteCapacityUnits,
	}
}

// all returns one entry for each table, sorted by name.
func (b *bill) all() []dynamo.ConsumedCapacity {
	var out []dynamo.ConsumedCapacity
	for _, c := range b.tables {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(x, y dynamo.ConsumedCapacity) int {
		return strings.Compare(x.TableName, y.TableName)
	})
	return out
}

// one returns the entry of a call on a single table, or nil.
func (b *bill) one() *dynamo.ConsumedCapacity {
	for _, c := range b.tables {
		return c
	}
	return nil
}

package singletable

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// LayoutError reports that a setting of a process differs from the stored one. Such a setting
// determines the keys of items, so the stored value is used, and only a command can change it.
type LayoutError struct {
	// Setting is the name of the setting, which is that of its flag.
	Setting string
	// Stored and Given are the two values.
	Stored, Given string
	// Change is the command that changes the stored value; empty means that none does.
	Change string
}

// Error returns the stored value, the given one and the next step.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("the store has %s %s, and %s was given: %s", e.Setting, e.Stored,
		e.Given, e.Hint())
}

// Hint returns the next step.
func (e *LayoutError) Hint() string {
	if e.Change == "" {
		return "leave the setting out"
	}
	return "leave the setting out, or change what is stored with " + e.Change
}

// Admin is the part of a store that describes and changes tables.
type Admin = dynamo.Admin

// StoredIndex is a global index of a table in a store.
type StoredIndex struct {
	Name, Partition, Sort string
	// Projection is ALL, KEYS_ONLY or INCLUDE.
	Projection string
}

// StoredIndexes returns the global indexes of a table in a store, and whether the table exists.
func StoredIndexes(
	ctx context.Context, admin Admin, table string,
) (found []StoredIndex, exists bool, err error) {
	d, err := admin.DescribeTable(ctx, table)
	if errors.Is(err, dynamo.ErrResourceNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("describe table %s: %w", table, err)
	}
	for _, x := range d.GlobalSecondaryIndexes {
		index := StoredIndex{Name: x.IndexName,
			Projection: string(x.Projection.ProjectionType)}
		for _, e := range x.KeySchema {
			if e.KeyType == dynamo.KeyTypeRange {
				index.Sort = e.AttributeName
			} else {
				index.Partition = e.AttributeName
			}
		}
		found = append(found, index)
	}
	return found, true, nil
}

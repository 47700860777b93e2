package singletable

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// LayoutError reports that a setting of a process differs from what is stored with the data. Such a
// setting decides under which keys items are written and looked for, so what is stored holds, and
// only a command changes it.
type LayoutError struct {
	// Setting is the name of the setting, as its flag has it.
	Setting string
	// Stored and Given are the two values.
	Stored, Given string
	// Change is the command that changes what is stored; empty means that none does.
	Change string
}

// Error says what is stored, what was given and what to do.
func (e *LayoutError) Error() string {
	return fmt.Sprintf("the store has %s %s, and %s was given: %s", e.Setting, e.Stored,
		e.Given, e.Hint())
}

// Hint returns what to do.
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

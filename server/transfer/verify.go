package transfer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Difference is an item that both sides do not have alike.
type Difference struct {
	Table string
	Key   dynamo.Key
	// What is "missing" when the other side does not have it, "extra" when the source does not,
	// "differs" when both have it.
	What string
}

// The ways to differ.
const (
	missing = "missing"
	extra   = "extra"
	differs = "differs"
)

// Verify compares tables without copying. It returns their checksums where they are equal, and up
// to limit differences where they are not, with an error that is ErrDiffers.
func Verify(ctx context.Context, from, to Store, opts Options, limit int) (
	[]Result, []Difference, error,
) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	names := opts.Tables
	if len(names) == 0 {
		if names, err = tableNames(ctx, from); err != nil {
			return nil, nil, fmt.Errorf("list the tables of the source: %w", err)
		}
	}
	var results []Result
	for _, name := range names {
		c := &copier{from: from, to: to, opts: opts, table: name}
		source, err := from.DescribeTable(ctx, name)
		if err != nil {
			return results, nil, fmt.Errorf("table %s: %w", name, err)
		}
		c.total = source.ItemCount
		sum, err := c.compare(ctx)
		if err == nil {
			results = append(results, Result{
				Table: name, Items: sum.Items, Checksum: sum.String(),
			})
			continue
		}
		found, findErr := c.differences(ctx, source.KeySchema, limit)
		if findErr != nil {
			return results, found, fmt.Errorf("table %s: %w; and then: %w", name, err, findErr)
		}
		return results, found, fmt.Errorf("table %s: %w", name, err)
	}
	return results, nil, nil
}

// differences looks each item of one side up on the other, the source first.
func (c *copier) differences(ctx context.Context, schema []dynamo.KeySchemaElement, limit int) (
	[]Difference, error,
) {
	var found []Difference
	look := func(here, there Store, absent string, both bool) error {
		var after dynamo.Key
		for len(found) < limit {
			page, err := c.scan(ctx, here, 0, 1, after)
			if err != nil {
				return err
			}
			for _, item := range page.Items {
				key := dynamo.Key{}
				for _, e := range schema {
					key[e.AttributeName] = item[e.AttributeName]
				}
				var out *dynamo.GetOutput
				err := c.insist(ctx, func() (err error) {
					out, err = there.Get(ctx, &dynamo.GetInput{
						TableName: c.table, Key: key, ConsistentRead: true,
					})
					return err
				})
				switch {
				case err != nil:
					return err
				case out.Item == nil:
					found = append(found, Difference{c.table, key, absent})
				case both && !bytes.Equal(appendItem(nil, item), appendItem(nil, out.Item)):
					found = append(found, Difference{c.table, key, differs})
				}
				if len(found) == limit {
					return nil
				}
			}
			if after = page.LastEvaluatedKey; after == nil {
				return nil
			}
		}
		return nil
	}
	if err := look(c.from, c.to, missing, true); err != nil {
		return found, err
	}
	return found, look(c.to, c.from, extra, false)
}

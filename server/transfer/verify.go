package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Difference is an item that both sides do not have alike.
type Difference struct {
	Table string
	Key   dynamo.Key
	What  What
}

// What is the way in which an item differs.
type What string

// The ways to differ.
const (
	Missing What = "missing" // the other side does not have it
	Extra   What = "extra"   // the source does not have it
	Differs What = "differs" // both have it, with other attributes
)

// Verify compares tables without copying. It returns the results of those that are equal. Where
// some are not, it returns up to limit differences of each and an error that is ErrDiffers.
func Verify(ctx context.Context, from, to Store, opts Options, limit int) (
	[]Result, []Difference, error,
) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	names, err := tableNames(ctx, from, opts)
	if err != nil {
		return nil, nil, err
	}
	var results []Result
	var found []Difference
	var differ error
	for _, name := range names {
		c := &copier{from: from, to: to, opts: opts, table: name}
		r, differences, err := c.verify(ctx, limit)
		found = append(found, differences...)
		switch {
		case errors.Is(err, ErrDiffers):
			differ = errors.Join(differ, fmt.Errorf("table %s: %w", name, err))
		case err != nil:
			return results, found, fmt.Errorf("table %s: %w", name, err)
		default:
			results = append(results, r)
		}
	}
	return results, found, differ
}

// verify compares one table.
func (c *copier) verify(ctx context.Context, limit int) (Result, []Difference, error) {
	if err := c.describe(ctx); err != nil {
		return Result{}, nil, err
	}
	source := c.source
	target, err := describe(ctx, c.to, c.table)
	switch {
	case errors.Is(err, dynamo.ErrResourceNotFound):
		return Result{}, nil, fmt.Errorf("%w: the other side does not have it", ErrDiffers)
	case err != nil:
		return Result{}, nil, err
	}
	if keys := keyText(target.table, target.table.KeySchema); keys !=
		keyText(source.table, source.table.KeySchema) {
		return Result{}, nil, fmt.Errorf("%w: the key of the other side is %s", ErrDiffers, keys)
	}
	sum, err := c.check(ctx, source.table.ItemCount)
	if err == nil {
		return Result{Table: c.table, Items: sum.Items, Checksum: sum.String()}, nil, nil
	}
	if !errors.Is(err, ErrDiffers) {
		return Result{}, nil, err
	}
	found, failed := c.differences(ctx, source.table, limit)
	if failed != nil {
		return Result{}, found, fmt.Errorf("look for what differs: %w", failed)
	}
	return Result{}, found, err
}

// errEnough ends a search.
var errEnough = errors.New("enough is found")

// differences looks each item of one side up on the other, the source first. Which are found, when
// there are more than the limit, depends on which segment is read first.
func (c *copier) differences(ctx context.Context, source *dynamo.TableDescription, limit int) (
	[]Difference, error,
) {
	c.stage(Comparing, 2*source.ItemCount, 0)
	var mu sync.Mutex
	var found []Difference
	add := func(what What, keys []dynamo.Key) error {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range keys {
			if len(found) == limit {
				break
			}
			found = append(found, Difference{Table: c.table, Key: key, What: what})
		}
		if len(found) == limit {
			return errEnough
		}
		return nil
	}
	schema := source.KeySchema
	err := c.scanAll(ctx, c.from, dynamo.ScanInput{},
		func(ctx context.Context, _ int, items []dynamo.Item) error {
			for chunk := range slices.Chunk(items, keysMax) {
				absent, changed, err := c.unlike(ctx, chunk, schema)
				if err != nil {
					return err
				}
				if err := errors.Join(add(Missing, absent), add(Differs, changed)); err != nil {
					return errEnough
				}
			}
			return nil
		})
	if err == nil {
		expression, names := projection(schema)
		in := dynamo.ScanInput{ProjectionExpression: expression}
		in.ExpressionAttributeNames = names
		err = c.scanAll(ctx, c.to, in,
			func(ctx context.Context, _ int, items []dynamo.Item) error {
				for chunk := range slices.Chunk(items, keysMax) {
					extra, err := c.absent(ctx, c.from, chunk, schema)
					if err != nil {
						return err
					}
					if err := add(Extra, extra); err != nil {
						return err
					}
				}
				return nil
			})
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	slices.SortFunc(found, func(a, b Difference) int {
		return bytes.Compare(appendItem(nil, a.Key), appendItem(nil, b.Key))
	})
	return found, err
}

// unlike returns the keys of up to keysMax items of the source that the other side does not have,
// and of those that it has with other attributes.
func (c *copier) unlike(ctx context.Context, items []dynamo.Item,
	schema []dynamo.KeySchemaElement,
) (absent, changed []dynamo.Key, err error) {
	var in dynamo.KeysAndAttributes
	for _, item := range items {
		in.Keys = append(in.Keys, keyOf(item, schema))
	}
	theirs, err := c.fetch(ctx, c.to, in)
	if err != nil {
		return nil, nil, err
	}
	there := make(map[string]dynamo.Item, len(theirs))
	for _, item := range theirs {
		there[keyID(item, schema)] = item
	}
	for i, item := range items {
		other, ok := there[keyID(item, schema)]
		switch {
		case !ok:
			absent = append(absent, in.Keys[i])
		case !bytes.Equal(appendItem(nil, item), appendItem(nil, other)):
			changed = append(changed, in.Keys[i])
		}
	}
	return absent, changed, nil
}

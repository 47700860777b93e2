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

// Difference is an item that both sides do not have alike, or a part of a table's definition.
type Difference struct {
	Table string
	Key   dynamo.Key
	What  What
	Text  string // of a definition: the part, and what both sides have
}

// What is the way in which an item differs.
type What string

// The ways to differ.
const (
	Missing What = "missing" // the other side does not have the item
	Extra   What = "extra"   // the source does not have the item
	Differs What = "differs" // both have the item, with different attributes
	Defined What = "defined" // the tables are defined differently
	// Moving means that the item was written while it was compared, so that nothing is known of it.
	Moving What = "moving"
)

// ErrUndecided reports that no difference was found, but that not everything could be compared,
// because the tables changed in the meantime.
var ErrUndecided = errors.New("it is not decided whether the copy equals its source: " +
	"it changed while it was compared")

// Verify compares tables without copying: their keys, indexes, expiry, stream and deletion
// protection, and all items. It returns the results of the tables that are equal. If some are not,
// it returns up to limit differences of each and an error that is ErrDiffers. The error is
// ErrUndecided if only items that changed during the comparison differ. Tags are not compared, nor
// are index entries, which each store derives from the items.
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
	var differ, undecided error
	for _, name := range names {
		c := &copier{from: from, to: to, opts: opts, table: name}
		r, differences, err := c.verify(ctx, limit)
		found = append(found, differences...)
		switch {
		case errors.Is(err, ErrDiffers):
			differ = errors.Join(differ, fmt.Errorf("table %s: %w", name, err))
		case errors.Is(err, ErrUndecided):
			undecided = errors.Join(undecided, fmt.Errorf("table %s: %w", name, err))
		case err != nil:
			return results, found, fmt.Errorf("table %s: %w", name, err)
		default:
			results = append(results, r)
		}
	}
	if differ != nil {
		return results, found, differ
	}
	return results, found, undecided
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
	for _, d := range [...]*definition{source, target} {
		if status := d.table.TableStatus; status != dynamo.StatusActive &&
			status != dynamo.StatusUpdating {
			return Result{}, nil, fmt.Errorf("%w: a table is %s", ErrUndecided, status)
		}
	}
	var found []Difference
	for _, text := range source.lacking(target) {
		found = append(found, Difference{Table: c.table, What: Defined, Text: text})
	}
	sum, err := c.check(ctx, source.table.ItemCount)
	switch {
	case err == nil && found != nil:
		return Result{}, found, fmt.Errorf("%w: %s", ErrDiffers, found[0].Text)
	case err == nil:
		return Result{Table: c.table, Items: sum.Items, Checksum: sum.String()}, nil, nil
	case !errors.Is(err, ErrDiffers):
		return Result{}, nil, err
	}
	items, stand, failed := c.differences(ctx, source.table, limit)
	found = append(found, items...)
	if failed != nil {
		return Result{}, found, fmt.Errorf("look for what differs: %w", failed)
	}
	if !stand && len(found) == len(items) {
		return Result{}, found, ErrUndecided
	}
	return Result{}, found, err
}

// errEnough ends a search.
var errEnough = errors.New("enough is found")

// finder collects differences of a table.
type finder struct {
	c      *copier
	schema []dynamo.KeySchemaElement
	limit  int

	mu     sync.Mutex
	found  []Difference
	moving []Difference
	stand  bool // whether there is a difference that did not move
}

// differences reads each item of one side on the other, the source first. If there are more
// differences than the limit, the order of the segments decides which of them are found. It also
// reports whether any difference is certain, which is not so if all these items changed.
func (c *copier) differences(ctx context.Context, source *dynamo.TableDescription, limit int) (
	found []Difference, stands bool, err error,
) {
	c.stage(Comparing, 2*source.ItemCount, 0)
	f := &finder{c: c, schema: source.KeySchema, limit: limit}
	err = c.scanAll(ctx, c.from, dynamo.ScanInput{},
		func(ctx context.Context, _ int, items []dynamo.Item) error {
			for chunk := range slices.Chunk(items, keysMax) {
				keys, err := c.unlike(ctx, chunk, f.schema)
				if err == nil {
					err = f.settle(ctx, keys)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	if err == nil {
		expression, names := projection(f.schema)
		in := dynamo.ScanInput{ProjectionExpression: expression}
		in.ExpressionAttributeNames = names
		err = c.scanAll(ctx, c.to, in,
			func(ctx context.Context, _ int, items []dynamo.Item) error {
				for chunk := range slices.Chunk(items, keysMax) {
					extra, err := c.absent(ctx, c.from, chunk, f.schema)
					if err == nil {
						err = f.settle(ctx, extra)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	found = append(f.found, f.moving[:min(len(f.moving), limit-len(f.found))]...)
	slices.SortFunc(found, func(a, b Difference) int {
		return bytes.Compare(appendItem(nil, a.Key), appendItem(nil, b.Key))
	})
	return found, f.stand, err
}

// looksMax is how often items that differ are read again while they change.
const looksMax = 4

// settle reads up to keysMax items that seem to differ on both sides again. An item differs if both
// sides have it as they had it at the previous look, and not alike.
func (f *finder) settle(ctx context.Context, keys []dynamo.Key) error {
	if len(keys) == 0 {
		return nil
	}
	before, err := f.both(ctx, keys)
	for look := 1; err == nil && len(keys) > 0 && look < looksMax; look++ {
		var after map[string][2]string
		if after, err = f.both(ctx, keys); err != nil {
			break
		}
		var changed []dynamo.Key
		for _, key := range keys {
			id := keyID(key, f.schema)
			was, is := before[id], after[id]
			switch {
			case was != is:
				changed = append(changed, key)
				continue
			case is[0] == is[1]:
				err = f.add(Moving, key)
			case is[1] == "":
				err = f.add(Missing, key)
			case is[0] == "":
				err = f.add(Extra, key)
			default:
				err = f.add(Differs, key)
			}
			if err != nil {
				return err
			}
		}
		keys, before = changed, after
	}
	if err != nil {
		return err // An item that was not read again is not moving.
	}
	for _, key := range keys {
		err = errors.Join(err, f.add(Moving, key))
	}
	return err
}

// add notes a difference, up to the limit.
func (f *finder) add(what What, key dynamo.Key) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := &f.found
	if what == Moving {
		list = &f.moving
	}
	f.stand = f.stand || what != Moving
	if len(*list) < f.limit {
		*list = append(*list, Difference{Table: f.c.table, Key: key, What: what})
	}
	if len(f.found) >= f.limit {
		return errEnough
	}
	return nil
}

// both returns what both sides have of some keys, the source first; "" for an item that is not
// there.
func (f *finder) both(ctx context.Context, keys []dynamo.Key) (map[string][2]string, error) {
	out := make(map[string][2]string, len(keys))
	for side, store := range []Store{f.c.from, f.c.to} {
		items, err := f.c.fetch(ctx, store, dynamo.KeysAndAttributes{Keys: keys})
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			id := keyID(item, f.schema)
			sides := out[id]
			sides[side] = string(appendItem(nil, item))
			out[id] = sides
		}
	}
	return out, nil
}

// unlike returns the keys of up to keysMax items of the source that the other side does not have,
// or has with different attributes.
func (c *copier) unlike(ctx context.Context, items []dynamo.Item,
	schema []dynamo.KeySchemaElement,
) (keys []dynamo.Key, err error) {
	var in dynamo.KeysAndAttributes
	for _, item := range items {
		in.Keys = append(in.Keys, keyOf(item, schema))
	}
	theirs, err := c.fetch(ctx, c.to, in)
	if err != nil {
		return nil, err
	}
	there := make(map[string]dynamo.Item, len(theirs))
	for _, item := range theirs {
		there[keyID(item, schema)] = item
	}
	for i, item := range items {
		other, ok := there[keyID(item, schema)]
		if !ok || !bytes.Equal(appendItem(nil, item), appendItem(nil, other)) {
			keys = append(keys, in.Keys[i])
		}
	}
	return keys, nil
}

package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// keyOf returns the key of an item.
func keyOf(item dynamo.Item, schema []dynamo.KeySchemaElement) dynamo.Key {
	key := make(dynamo.Key, len(schema))
	for _, e := range schema {
		key[e.AttributeName] = item[e.AttributeName]
	}
	return key
}

// projection returns an expression for the attributes of a key, and its placeholders.
func projection(schema []dynamo.KeySchemaElement) (string, map[string]string) {
	names := make(map[string]string, len(schema))
	parts := make([]string, len(schema))
	for i, e := range schema {
		parts[i] = fmt.Sprintf("#k%d", i)
		names[parts[i]] = e.AttributeName
	}
	return strings.Join(parts, ", "), names
}

// prune deletes the items of the other side whose key the source does not have.
func (c *copier) prune(ctx context.Context, schema []dynamo.KeySchemaElement) error {
	c.stage(Pruning, 0, 0)
	expression, names := projection(schema)
	in := dynamo.ScanInput{ProjectionExpression: expression}
	in.ExpressionAttributeNames = names
	return c.scanAll(ctx, c.to, in,
		func(ctx context.Context, _ int, items []dynamo.Item) error {
			for chunk := range slices.Chunk(items, keysMax) {
				extra, err := c.absent(ctx, c.from, chunk, schema)
				if err != nil {
					return err
				}
				deletes := make([]dynamo.WriteRequest, len(extra))
				for i, key := range extra {
					deletes[i].Delete = key
				}
				if err := c.write(ctx, deletes); err != nil {
					return err
				}
			}
			return nil
		})
}

// absent returns the keys of up to keysMax items that a store does not have.
func (c *copier) absent(ctx context.Context, s Store, items []dynamo.Item,
	schema []dynamo.KeySchemaElement,
) ([]dynamo.Key, error) {
	expression, names := projection(schema)
	in := dynamo.KeysAndAttributes{
		ProjectionExpression: expression, ExpressionAttributeNames: names,
	}
	for _, item := range items {
		in.Keys = append(in.Keys, keyOf(item, schema))
	}
	found, err := c.fetch(ctx, s, in)
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(found))
	for _, item := range found {
		there[keyID(item, schema)] = true
	}
	var absent []dynamo.Key
	for _, key := range in.Keys {
		if !there[keyID(key, schema)] {
			absent = append(absent, key)
		}
	}
	return absent, nil
}

// keyID is a text that only items with the same key share.
func keyID(item dynamo.Item, schema []dynamo.KeySchemaElement) string {
	return string(appendItem(nil, keyOf(item, schema)))
}

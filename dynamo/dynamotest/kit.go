package dynamotest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Short names for test tables of values.
var (
	str  = dynamo.S
	num  = dynamo.N
	bin  = dynamo.B
	list = dynamo.L
	dict = dynamo.M
)

type vals = map[string]dynamo.Value

// kit holds the tools of a behavior.
type kit struct {
	*testing.T
	Store
	*fixture
	ctx   context.Context
	exact bool
	// partition is a value of pk and g that no other behavior uses.
	partition string
}

// key returns a key of the main table in the behaviour's partition.
func (k *kit) key(sort string) dynamo.Key {
	return dynamo.Key{"pk": str(k.partition), "sk": str(sort)}
}

// item returns an item of the behavior's partition with additional attributes.
func (k *kit) item(sort string, attributes vals) dynamo.Item {
	it := k.key(sort)
	for name, v := range attributes {
		it[name] = v
	}
	return it
}

// put writes items to the main table.
func (k *kit) put(items ...dynamo.Item) {
	k.Helper()
	for _, it := range items {
		_, err := k.Put(k.ctx, &dynamo.PutInput{TableName: k.main, Item: it})
		k.must(err)
	}
}

// read returns the present state of an item of the main table, or nil if it does not exist.
func (k *kit) read(key dynamo.Key) dynamo.Item {
	k.Helper()
	out, err := k.Get(k.ctx, &dynamo.GetInput{TableName: k.main, Key: key, ConsistentRead: true})
	k.must(err)
	return out.Item
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// same compares items; nil is an item that does not exist.
func (k *kit) same(got, want dynamo.Item) {
	k.Helper()
	if (got == nil) != (want == nil) || !got.Equal(want) {
		k.Errorf("got  %v\nwant %v", got, want)
	}
}

// refused checks that a call was refused with a code and, with ExactTexts, with a message.
func (k *kit) refused(err error, code dynamo.ErrorCode, text string) {
	k.Helper()
	var e *dynamo.Error
	if !errors.As(err, &e) {
		k.Errorf("got %v, want %s", err, code)
		return
	}
	if e.Code != code {
		k.Errorf("got %v, want %s", err, code)
	}
	if k.exact && text != "" && e.Message != text {
		k.Errorf("got  %s\nwant %s", e.Message, text)
	}
}

// sorts returns the sort keys of items, in their order.
func sorts(items []dynamo.Item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it["sk"].S()
	}
	return out
}

func (k *kit) sameOrder(got, want []string) {
	k.Helper()
	if !slices.Equal(got, want) {
		k.Errorf("got %q, want %q", got, want)
	}
}

// everyPage reads all pages of a query. Each page begins after the last key of the previous one.
func (k *kit) everyPage(in dynamo.QueryInput) []dynamo.Item {
	k.Helper()
	var all []dynamo.Item
	for {
		out, err := k.Query(k.ctx, &in)
		k.must(err)
		if out.Count != len(out.Items) || out.ScannedCount < out.Count {
			k.Errorf("count %d and scanned %d of %d items", out.Count, out.ScannedCount,
				len(out.Items))
		}
		all = append(all, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return all
		}
	}
}

// eventually reads a global index, with every page size, until it has the expected number of items.
func (k *kit) eventually(in dynamo.QueryInput, count int) []dynamo.Item {
	k.Helper()
	var got []dynamo.Item
	if !await(k.ctx, func() bool { got = k.everyPage(in); return len(got) == count }) {
		k.Fatalf("index %s has %d items, not %d: %v", in.IndexName, len(got), count, sorts(got))
	}
	return got
}

// inPartition returns a query of the behaviour's partition of the main table.
func (k *kit) inPartition(condition string, values vals) dynamo.QueryInput {
	all := vals{":p": str(k.partition)}
	for name, v := range values {
		all[name] = v
	}
	if condition != "" {
		condition = " AND " + condition
	}
	return dynamo.QueryInput{
		TableName: k.main, KeyConditionExpression: "pk = :p" + condition, ConsistentRead: true,
		Expressions: dynamo.Expressions{ExpressionAttributeValues: all},
	}
}

// inGroup returns a query of the behaviour's group of a global index.
func (k *kit) inGroup(index string) dynamo.QueryInput {
	return dynamo.QueryInput{
		TableName: k.main, IndexName: index, KeyConditionExpression: "g = :g",
		Expressions: dynamo.Expressions{ExpressionAttributeValues: vals{":g": str(k.partition)}},
	}
}

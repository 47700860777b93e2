package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// What QueryEach and ScanEach hand over is what Query and Scan return.
func TestItemsHandedOverAreThoseOfThePage(t *testing.T) {
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	in := &dynamo.CreateTableInput{
		TableName: "Pages", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("pk", "sk"),
		LocalSecondaryIndexes: []dynamo.LocalSecondaryIndex{{
			IndexName: "Local", KeySchema: dynamo.HashRangeKey("pk", "n"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
		}},
	}
	for _, name := range []string{"pk", "sk", "n"} {
		kind := dynamo.KindS
		if name == "n" {
			kind = dynamo.KindN
		}
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			dynamo.AttributeDefinition{AttributeName: name, AttributeType: kind})
	}
	for _, p := range []dynamo.Projection{
		{ProjectionType: dynamo.ProjectAll}, {ProjectionType: dynamo.ProjectKeysOnly},
		{ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"m"}},
	} {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
			dynamo.GlobalSecondaryIndex{
				IndexName: string(p.ProjectionType), Projection: p,
				KeySchema: dynamo.HashRangeKey("pk", "n"),
			})
	}
	if _, err := db.CreateTable(ctx, in); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		item := dynamo.Item{
			"pk": dynamo.S("p"), "sk": dynamo.S(fmt.Sprint(i)), "n": dynamo.Int(int64(i)),
			"m":    dynamo.M(map[string]dynamo.Value{"l": dynamo.L(dynamo.Int(1), dynamo.S("x"))}),
			"more": dynamo.SS("a", "b"),
		}
		if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "Pages", Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	for _, index := range []string{"", "ALL", "KEYS_ONLY", "INCLUDE", "Local"} {
		for _, projection := range []string{"", "sk, n"} {
			t.Run("index "+index+" projection "+projection, func(t *testing.T) {
				query := &dynamo.QueryInput{
					TableName: "Pages", IndexName: index, Limit: 7, ScanIndexBackward: true,
					KeyConditionExpression: "pk = :p", ProjectionExpression: projection,
					Expressions: dynamo.Expressions{
						ExpressionAttributeValues: dynamo.Item{":p": dynamo.S("p")},
					},
				}
				if index == "INCLUDE" {
					query.FilterExpression = "attribute_exists(m)"
				}
				want, err := db.Query(ctx, query)
				if err != nil {
					t.Fatal(err)
				}
				var items []dynamo.Item
				got, err := db.QueryEach(ctx, query, collect(&items))
				if err != nil {
					t.Fatal(err)
				}
				got.Items = items
				if diff := cmp.Diff(want, got, equalValues); diff != "" || len(items) != 7 {
					t.Errorf("query: %d items (-want +got):\n%s", len(items), diff)
				}

				scan := &dynamo.ScanInput{
					TableName: "Pages", IndexName: index, ProjectionExpression: projection,
				}
				scanned, err := db.Scan(ctx, scan)
				if err != nil {
					t.Fatal(err)
				}
				items = nil
				each, err := db.ScanEach(ctx, scan, collect(&items))
				if err != nil {
					t.Fatal(err)
				}
				each.Items = items
				if diff := cmp.Diff(scanned, each, equalValues); diff != "" || len(items) != 20 {
					t.Errorf("scan: %d items (-want +got):\n%s", len(items), diff)
				}
			})
		}
	}
}

var equalValues = cmp.Comparer(dynamo.Value.Equal)

// collect copies the items that it is handed, which last only as long as the call.
func collect(items *[]dynamo.Item) func(dynamo.Attributes) {
	return func(item dynamo.Attributes) {
		copied := dynamo.Item{}
		for name, v := range item {
			copied[string([]byte(name))] = deepCopy(v)
		}
		*items = append(*items, copied)
	}
}

// deepCopy returns a value that shares nothing with v.
func deepCopy(v dynamo.Value) dynamo.Value {
	text := func(s string) string { return string([]byte(s)) }
	switch v.Kind() {
	case dynamo.KindS:
		return dynamo.S(text(v.S()))
	case dynamo.KindN:
		return dynamo.N(text(v.N()))
	case dynamo.KindL:
		var elems []dynamo.Value
		for _, e := range v.L() {
			elems = append(elems, deepCopy(e))
		}
		return dynamo.L(elems...)
	case dynamo.KindM:
		m := map[string]dynamo.Value{}
		for name, e := range v.M() {
			m[text(name)] = deepCopy(e)
		}
		return dynamo.M(m)
	case dynamo.KindSS:
		var elems []string
		for _, e := range v.SS() {
			elems = append(elems, text(e))
		}
		return dynamo.SS(elems...)
	}
	return v
}

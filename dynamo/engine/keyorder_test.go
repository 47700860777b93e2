package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// orderTable has an index whose rows hold every type of key, one after the other.
func orderTable(t testing.TB, db *engine.DB) {
	t.Helper()
	define := func(name string, kind dynamo.Kind) dynamo.AttributeDefinition {
		return dynamo.AttributeDefinition{AttributeName: name, AttributeType: kind}
	}
	keyed := func(name string, kind dynamo.KeyType) dynamo.KeySchemaElement {
		return dynamo.KeySchemaElement{AttributeName: name, KeyType: kind}
	}
	_, err := db.CreateTable(context.Background(), &dynamo.CreateTableInput{
		TableName: "Order", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("pk", "sk"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			define("pk", dynamo.KindB), define("sk", dynamo.KindB), define("g", dynamo.KindS),
			define("s", dynamo.KindS), define("n", dynamo.KindN), define("b", dynamo.KindB),
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "all", Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
			KeySchema: []dynamo.KeySchemaElement{
				keyed("g", dynamo.KeyTypeHash), keyed("s", dynamo.KeyTypeRange),
				keyed("n", dynamo.KeyTypeRange), keyed("b", dynamo.KeyTypeRange),
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzIndexRowsReadBackAndKeepOrder puts two items into an index and reads them from its rows.
func FuzzIndexRowsReadBackAndKeepOrder(f *testing.F) {
	f.Add("a", "a\x00", int64(1), int64(1), []byte("x"), []byte("\x00"), []byte("p"), []byte("q"))
	f.Add("a", "a", int64(-1), int64(-10), []byte("x"), []byte("x"), []byte("p"), []byte("p\x00"))
	f.Add("\x00", "\x00\x00", int64(0), int64(9), []byte("\xff"), []byte("\xff\x00"),
		[]byte("\x00"), []byte("\xff"))
	db, err := engine.OpenMemory(engine.Options{SweepInterval: -1})
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	orderTable(f, db)
	f.Fuzz(func(t *testing.T, s1, s2 string, n1, n2 int64, b1, b2, p1, p2 []byte) {
		for _, part := range [][]byte{[]byte(s1), []byte(s2), b1, b2, p1, p2} {
			if len(part) == 0 || len(part) > 1024 {
				return
			}
		}
		if !utf8.ValidString(s1) || !utf8.ValidString(s2) || bytes.Equal(p1, p2) {
			return
		}
		one, two := orderItem(s1, n1, b1, p1), orderItem(s2, n2, b2, p2)
		order := cmp.Or(strings.Compare(s1, s2), cmp.Compare(n1, n2), bytes.Compare(b1, b2))
		if order > 0 {
			one, two = two, one
		}
		for _, item := range []dynamo.Item{one, two} {
			if _, err := db.Put(context.Background(), &dynamo.PutInput{
				TableName: "Order", Item: item,
			}); err != nil {
				t.Fatal(err)
			}
		}
		got := readOneByOne(t, db)
		if len(got) != 2 || order != 0 && !(got[0].Equal(one) && got[1].Equal(two)) ||
			order == 0 && !(got[0].Equal(one) && got[1].Equal(two)) &&
				!(got[0].Equal(two) && got[1].Equal(one)) {
			t.Fatalf("put %v and %v, read %v", one, two, got)
		}
		for _, item := range got {
			if _, err := db.Delete(context.Background(), &dynamo.DeleteInput{
				TableName: "Order", Key: dynamo.Key{"pk": item["pk"], "sk": item["sk"]},
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got := readOneByOne(t, db); len(got) > 0 {
			t.Fatalf("rows that no item has any more: %v", got)
		}
	})
}

func orderItem(s string, n int64, b, p []byte) dynamo.Item {
	return dynamo.Item{
		"pk": dynamo.B(p), "sk": dynamo.B(p), "g": dynamo.S("G"), "s": dynamo.S(s),
		"n": dynamo.Int(n), "b": dynamo.B(b),
	}
}

// readOneByOne reads the index in pages of one item, each beginning after the one before.
func readOneByOne(t *testing.T, db *engine.DB) (items []dynamo.Item) {
	t.Helper()
	in := &dynamo.QueryInput{
		TableName: "Order", IndexName: "all", KeyConditionExpression: "g = :g", Limit: 1,
		Expressions: values(dynamo.Item{":g": dynamo.S("G")}),
	}
	for {
		out, err := db.Query(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil ||
			len(items) > 2 {
			return items
		}
	}
}

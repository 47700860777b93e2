package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// Rows of 4 KB and more are kept apart from their keys. Whatever becomes of them, also while files
// are written anew, every read finds the last version and none that is gone.
func TestLargeItemsAreFoundAfterChangesFlushesAndReopening(t *testing.T) {
	dir := t.TempDir()
	opts := engine.Options{MemTableSize: 1 << 20} // flushes often
	db, err := engine.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: "Large", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("PK", "SK"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "SK", AttributeType: dynamo.KindS},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	want := map[string]dynamo.Item{}
	for round := range 2000 {
		key := dynamo.Key{
			"PK": dynamo.S(strconv.Itoa(random.IntN(20))),
			"SK": dynamo.S(strconv.Itoa(random.IntN(30))),
		}
		name := fmt.Sprint(key)
		if random.IntN(5) == 0 {
			_, err := db.Delete(t.Context(), &dynamo.DeleteInput{TableName: "Large", Key: key})
			if err != nil {
				t.Fatal(err)
			}
			delete(want, name)
			continue
		}
		item := key.Clone()
		data := make([]byte, 3<<10+random.IntN(8<<10)) // on both sides of the bound
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		item["Data"], item["Round"] = dynamo.B(data), dynamo.Int(int64(round))
		put := &dynamo.PutInput{TableName: "Large", Item: item}
		create := random.IntN(2) == 0
		if create {
			put.ConditionExpression = "attribute_not_exists(PK)"
		}
		_, err := db.Put(t.Context(), put)
		_, exists := want[name]
		refused := errors.Is(err, dynamo.ErrConditionalCheckFailed)
		if refused != (create && exists) {
			t.Fatalf("round %d: create %t over an item %t: %v", round, create, exists, err)
		}
		if err == nil {
			want[name] = item
		}
	}
	compareLarge(t.Context(), t, db, want)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engine.Open(dir, opts); err != nil {
		t.Fatal(err)
	}
	compareLarge(t.Context(), t, db, want)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// compareLarge reads all items, each by itself and all by a scan.
func compareLarge(ctx context.Context, t *testing.T, db *engine.DB, want map[string]dynamo.Item) {
	t.Helper()
	for _, item := range want {
		out, err := db.Get(ctx, &dynamo.GetInput{
			TableName: "Large", Key: dynamo.Key{"PK": item["PK"], "SK": item["SK"]},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(item, out.Item); diff != "" {
			t.Fatalf("an item differs:\n%s", diff)
		}
	}
	found, in := 0, &dynamo.ScanInput{TableName: "Large"}
	for {
		out, err := db.Scan(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			key := dynamo.Key{"PK": item["PK"], "SK": item["SK"]}
			if diff := cmp.Diff(want[fmt.Sprint(key)], item); diff != "" {
				t.Fatalf("an item of the scan differs:\n%s", diff)
			}
			found++
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			break
		}
	}
	if found != len(want) {
		t.Errorf("a scan finds %d items, want %d", found, len(want))
	}
}

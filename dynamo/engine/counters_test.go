package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// fillWith puts so many items into a table: 20 that the calls below are about, and others around
// them, in the table and in the indexes.
func fillWith(t *testing.T, db *engine.DB, table string, n int) {
	t.Helper()
	var writes []dynamo.WriteRequest
	for i := range n {
		item := key(fmt.Sprint("other", i%(n/10)), fmt.Sprintf("%06d", i))
		group := fmt.Sprint("other", i%7)
		if i < 20 {
			item = key("mine", fmt.Sprintf("%06d", i))
			group = "mine"
		}
		item["GSI1PK"], item["GSI1SK"] = dynamo.S(group), dynamo.S(fmt.Sprintf("%06d", i))
		item["GSI2PK"], item["GSI2SK"] = item["GSI1PK"], item["GSI1SK"]
		item["Amount"] = dynamo.Int(int64(i))
		writes = append(writes, dynamo.WriteRequest{Put: item})
		if len(writes) == 25 || i == n-1 {
			if _, err := db.BatchWrite(context.Background(), &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{table: writes},
			}); err != nil {
				t.Fatal(err)
			}
			writes = nil
		}
	}
}

// countedCalls are calls on the items of fillWith, each on its own.
func countedCalls(db *engine.DB, table string) map[string]func(context.Context) error {
	mine := func(i int) dynamo.Key { return key("mine", fmt.Sprintf("%06d", i)) }
	query := func(index, hash, rest string, limit int, s dynamo.Select) func(
		context.Context,
	) error {
		return func(ctx context.Context) error {
			in := &dynamo.QueryInput{
				TableName: table, IndexName: index, Limit: limit, Select: s,
				KeyConditionExpression: hash + " = :p" + rest,
				Expressions:            values(dynamo.Item{":p": dynamo.S("mine")}),
			}
			if rest != "" {
				in.ExpressionAttributeValues[":s"] = dynamo.S("000007")
			}
			out, err := db.Query(ctx, in)
			if err == nil && out.Count == 0 {
				return fmt.Errorf("nothing was found")
			}
			return err
		}
	}
	return map[string]func(context.Context) error{
		"Get": func(ctx context.Context) error {
			_, err := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: mine(3)})
			return err
		},
		"Get of a missing item": func(ctx context.Context) error {
			_, err := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: mine(300)})
			return err
		},
		"Put": func(ctx context.Context) error {
			_, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: mine(21)})
			return err
		},
		"Update": func(ctx context.Context) error {
			_, err := db.Update(ctx, &dynamo.UpdateInput{
				TableName: table, Key: mine(4), UpdateExpression: "ADD N :one",
				Expressions: values(dynamo.Item{":one": dynamo.Int(1)}),
			})
			return err
		},
		"Delete": func(ctx context.Context) error {
			_, err := db.Delete(ctx, &dynamo.DeleteInput{TableName: table, Key: mine(5)})
			return err
		},
		"BatchGet": func(ctx context.Context) error {
			_, err := db.BatchGet(ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{
					table: {Keys: []dynamo.Key{mine(1), mine(2), mine(200)}},
				},
			})
			return err
		},
		"BatchWrite": func(ctx context.Context) error {
			_, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{
					table: {{Put: mine(6)}, {Delete: mine(7)}},
				},
			})
			return err
		},
		"TransactGet": func(ctx context.Context) error {
			_, err := db.TransactGet(ctx, &dynamo.TransactGetInput{
				Items: []dynamo.TransactGetItem{
					{TableName: table, Key: mine(8)}, {TableName: table, Key: mine(9)},
				},
			})
			return err
		},
		"TransactWrite": func(ctx context.Context) error {
			_, err := db.TransactWrite(ctx, &dynamo.TransactWriteInput{
				Items: []dynamo.TransactWriteItem{
					{Put: &dynamo.PutInput{TableName: table, Item: mine(10)}},
					{ConditionCheck: &dynamo.ConditionCheck{
						TableName: table, Key: mine(11),
						ConditionExpression: "attribute_exists(PK)",
					}},
				},
			})
			return err
		},
		"Query":                     query("", "PK", "", 0, ""),
		"Query, 5 items":            query("", "PK", "", 5, ""),
		"Query from a sort key":     query("", "PK", " AND SK >= :s", 0, ""),
		"Query, count":              query("", "PK", "", 0, dynamo.SelectCount),
		"Query of an ALL index":     query("GSI1", "GSI1PK", " AND GSI1SK < :s", 0, ""),
		"Query of INCLUDE":          query("GSI2", "GSI2PK", "", 0, ""),
		"Query of KEYS_ONLY":        query("GSI3", "GSI1PK", "", 0, ""),
		"Query of a local index":    query("ByAmount", "PK", "", 0, ""),
		"Query of it, and fetching": query("ByAmount", "PK", "", 0, dynamo.SelectAllAttributes),
		"Scan, 10 items": func(ctx context.Context) error {
			_, err := db.Scan(ctx, &dynamo.ScanInput{TableName: table, Limit: 10})
			return err
		},
	}
}

// TestWhatACallTouchesDoesNotDependOnHowMuchIsStored counts rows read and ranges entered by each
// call on a small and on a large table.
func TestWhatACallTouchesDoesNotDependOnHowMuchIsStored(t *testing.T) {
	ctx := context.Background()
	touched := map[int]map[string]engine.Stats{}
	sizes := []int{100, 20_000}
	for _, n := range sizes {
		db := openMemory(t)
		table := withTable(t, db)
		fillWith(t, db, table, n)
		touched[n] = map[string]engine.Stats{}
		calls := countedCalls(db, table)
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			before := db.Stats()
			if err := calls[name](ctx); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			after := db.Stats()
			touched[n][name] = engine.Stats{
				Gets: after.Gets - before.Gets, Seeks: after.Seeks - before.Seeks,
				Steps: after.Steps - before.Steps,
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(touched[sizes[0]], touched[sizes[1]]); diff != "" {
		t.Errorf("with %v items the calls touch (-few +many)\n%s", sizes, diff)
	}
	for name, want := range map[string]engine.Stats{
		"Get": {Gets: 1}, "Put": {Gets: 1}, "Update": {Gets: 1}, "Delete": {Gets: 1},
		"TransactWrite": {Gets: 2}, "Query, 5 items": {Seeks: 1, Steps: 5},
		"Scan, 10 items": {Seeks: 1, Steps: 10},
	} {
		if got := touched[sizes[1]][name]; got != want {
			t.Errorf("%s touches %+v, want %+v", name, got, want)
		}
	}
}

// TestANewItemOfALargePartitionIsDeniedByTheFilters shows that filters know items and not only
// partitions: nothing of the partition is read to find that an item is not in it.
func TestANewItemOfALargePartitionIsDeniedByTheFilters(t *testing.T) {
	db := openMemory(t)
	table := withTable(t, db)
	fillWith(t, db, table, 1000)
	if err := db.Settle(); err != nil {
		t.Fatal(err)
	}
	before := db.Denied()
	const news = 200
	for i := range news {
		_, err := db.Put(t.Context(), &dynamo.PutInput{TableName: table,
			Item:                key("mine", fmt.Sprintf("new%06d", i)),
			ConditionExpression: "attribute_not_exists(PK)"})
		if err != nil {
			t.Fatal(err)
		}
	}
	// A filter errs for one key in a hundred.
	if denied := db.Denied() - before; denied < news*9/10 {
		t.Errorf("filters denied %d of %d new items", denied, news)
	}
}

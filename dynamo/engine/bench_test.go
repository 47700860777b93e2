package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

func openDisk(b *testing.B) *engine.DB {
	b.Helper()
	db, err := engine.Open(b.TempDir(), engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

func mustPut(b *testing.B, db *engine.DB, table string, item dynamo.Item) {
	b.Helper()
	in := &dynamo.PutInput{TableName: table, Item: item}
	if _, err := db.Put(context.Background(), in); err != nil {
		b.Fatal(err)
	}
}

func kilobyte(i int) dynamo.Item {
	item := key(fmt.Sprintf("P%d", i), "S")
	item["Data"] = dynamo.S(strings.Repeat("x", 1000))
	return item
}

func BenchmarkGet1KB(b *testing.B) {
	ctx := context.Background()
	db := openDisk(b)
	table := withTable(b, db)
	const n = 10_000
	for i := 0; i < n; i += 25 {
		var reqs []dynamo.WriteRequest
		for j := range 25 {
			reqs = append(reqs, dynamo.WriteRequest{Put: kilobyte(i + j)})
		}
		if _, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
			RequestItems: map[string][]dynamo.WriteRequest{table: reqs},
		}); err != nil {
			b.Fatal(err)
		}
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i = (i*7919 + 13) % n
		out, err := db.Get(ctx, &dynamo.GetInput{
			TableName: table, Key: key(fmt.Sprintf("P%d", i), "S"), ConsistentRead: true,
		})
		if err != nil || out.Item == nil {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkQuery100(b *testing.B) {
	for _, index := range []string{"", "GSI1", "GSI2", "GSI3"} {
		b.Run("index="+index, func(b *testing.B) { benchmarkQuery(b, index) })
	}
}

func benchmarkQuery(b *testing.B, index string) {
	ctx := context.Background()
	db := openDisk(b)
	table := withTable(b, db)
	for i := range 1000 {
		item := key(fmt.Sprintf("P%d", i/100), fmt.Sprintf("S%03d", i))
		if index != "" {
			item = key(fmt.Sprintf("P%d", i), fmt.Sprintf("S%03d", i))
		}
		item["GSI1PK"], item["GSI1SK"] = dynamo.S(fmt.Sprint("G", i/100)), dynamo.S(fmt.Sprint(i))
		item["GSI2PK"], item["GSI2SK"] = item["GSI1PK"], item["GSI1SK"]
		item["Note"] = dynamo.S(strings.Repeat("x", 100))
		item["Amount"] = dynamo.Int(int64(i))
		mustPut(b, db, table, item)
	}
	in := &dynamo.QueryInput{TableName: table, KeyConditionExpression: "PK = :p"}
	value := "P3"
	if index != "" {
		in.IndexName, value = index, "G3"
		in.KeyConditionExpression = map[string]string{
			"GSI1": "GSI1PK", "GSI2": "GSI2PK", "GSI3": "GSI1PK",
		}[index] + " = :p"
	}
	in.ExpressionAttributeValues = dynamo.Item{":p": dynamo.S(value)}
	b.ReportAllocs()
	for b.Loop() {
		out, err := db.Query(ctx, in)
		if err != nil || out.Count != 100 {
			b.Fatal(out.Count, err)
		}
	}
}

func BenchmarkPut1KB(b *testing.B) {
	db := openDisk(b)
	table := withTable(b, db)
	i := 0
	for b.Loop() {
		i++
		mustPut(b, db, table, kilobyte(i))
	}
}

func BenchmarkUpdateHotItem(b *testing.B) {
	ctx := context.Background()
	db := openDisk(b)
	table := withTable(b, db)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, err := db.Update(ctx, &dynamo.UpdateInput{
				TableName: table, Key: key("A", "1"), UpdateExpression: "ADD N :one",
				Expressions: dynamo.Expressions{
					ExpressionAttributeValues: dynamo.Item{":one": dynamo.Int(1)},
				},
			})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkTransactPayment writes what a payment writes: a header and two legs in two indexes,
// and two balances.
func BenchmarkTransactPayment(b *testing.B) {
	for _, callers := range []int{1, 32, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			ctx := context.Background()
			db := openDisk(b)
			table := withTable(b, db)
			for i := range 1000 {
				item := key(fmt.Sprintf("ACCOUNT#%d", i), "METADATA")
				item["Balance"], item["Version"] = dynamo.Int(1_000_000), dynamo.Int(0)
				item["GSI1PK"] = dynamo.S(fmt.Sprint("USER#", i/3))
				item["GSI1SK"] = dynamo.S(fmt.Sprint("ACCOUNT#", i))
				mustPut(b, db, table, item)
			}
			var next atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(max(1, callers/2))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := db.TransactWrite(ctx, payment(table, next.Add(1))); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func payment(table string, n int64) *dynamo.TransactWriteInput {
	id := fmt.Sprintf("TXN#%036d", n)
	note := dynamo.S(strings.Repeat("x", 150))
	put := func(sk string, gsi int) dynamo.TransactWriteItem {
		item := key(id, sk)
		item["GSI1PK"], item["GSI1SK"] = dynamo.S(fmt.Sprint("ACCOUNT#", n%1000)), dynamo.S(id)
		if gsi > 1 {
			item["GSI2PK"], item["GSI2SK"] = dynamo.S("IDEMPOTENCY#"+id), dynamo.S("TXN")
		}
		item["Note"], item["Currency"], item["Type"] = note, dynamo.S("USD"), dynamo.S("Leg")
		item["CreatedAt"] = dynamo.S("2026-01-02T10:30:00.123Z")
		return dynamo.TransactWriteItem{Put: &dynamo.PutInput{
			TableName: table, Item: item, ConditionExpression: "attribute_not_exists(PK)",
		}}
	}
	move := func(account int64, by string) dynamo.TransactWriteItem {
		return dynamo.TransactWriteItem{Update: &dynamo.UpdateInput{
			TableName: table, Key: key(fmt.Sprintf("ACCOUNT#%d", account), "METADATA"),
			UpdateExpression:    "SET Balance = Balance + :a, Version = Version + :one",
			ConditionExpression: "Balance >= :min",
			Expressions: dynamo.Expressions{ExpressionAttributeValues: dynamo.Item{
				":a": dynamo.N(by), ":one": dynamo.Int(1), ":min": dynamo.Int(-1 << 40),
			}},
		}}
	}
	return &dynamo.TransactWriteInput{Items: []dynamo.TransactWriteItem{
		put("METADATA", 2), put("LEG#1", 1), put("LEG#2", 1),
		move(n*7919%1000, "-1"), move((n*7919+500)%1000, "1"),
	}}
}

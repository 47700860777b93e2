package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// BenchmarkCreate8KB writes new items of 8 KB, which no compression makes smaller, by many callers.
// Run it with -benchtime 50000x: what files cost that are written anew is seen only then.
func BenchmarkCreate8KB(b *testing.B) {
	ctx := context.Background()
	db := openDisk(b)
	table := withTable(b, db)
	var number atomic.Int64
	b.SetBytes(8 << 10)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		source := rand.NewChaCha8([32]byte{byte(number.Add(1))})
		for pb.Next() {
			data := make([]byte, 8000)
			_, _ = source.Read(data)
			item := key(fmt.Sprintf("P%d", number.Add(1)), "S")
			item["Data"] = dynamo.B(data)
			_, err := db.Put(ctx, &dynamo.PutInput{
				TableName: table, Item: item, ConditionExpression: "attribute_not_exists(PK)",
			})
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
}

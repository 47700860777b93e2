package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const (
	table = "Movements"
	// partitionItems is how many items share a partition key.
	partitionItems = 50
	// batchItems is DynamoDB's limit of a BatchWriteItem.
	batchItems = 25
	// loaders is how many batches are written at the same time; they share syncs.
	loaders = 16
)

// fill makes a table with an index and n items in it, of about 300 bytes and of every type.
func fill(ctx context.Context, db dynamo.DB, n int) error {
	admin, ok := db.(dynamo.Admin)
	if !ok {
		return fmt.Errorf("%T makes no tables", db)
	}
	if _, err := admin.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: table, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("PK", "SK"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "SK", AttributeType: dynamo.KindN},
			{AttributeName: "Status", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "byStatus", KeySchema: dynamo.HashRangeKey("Status", "SK"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
		}},
	}); err != nil {
		return err
	}
	filling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var loading sync.WaitGroup
	for loader := range loaders {
		loading.Go(func() {
			for first := loader * batchItems; first < n; first += loaders * batchItems {
				if err := load(filling, db, first, min(first+batchItems, n)); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	loading.Wait()
	return context.Cause(filling)
}

func load(ctx context.Context, db dynamo.DB, first, end int) error {
	writes := make([]dynamo.WriteRequest, 0, batchItems)
	for i := first; i < end; i++ {
		writes = append(writes, dynamo.WriteRequest{Put: movement(i)})
	}
	out, err := db.BatchWrite(ctx, &dynamo.BatchWriteInput{
		RequestItems: map[string][]dynamo.WriteRequest{table: writes},
	})
	if err == nil && len(out.UnprocessedItems) > 0 {
		err = fmt.Errorf("a store without faults left %v", out.UnprocessedItems)
	}
	return err
}

// movement is the item of a number.
func movement(i int) dynamo.Item {
	text := strconv.Itoa(i)
	return dynamo.Item{
		"PK":      dynamo.S("ACCOUNT#" + strconv.Itoa(i/partitionItems)),
		"SK":      dynamo.N(strconv.Itoa(i%partitionItems) + ".25"),
		"Status":  dynamo.S("STATUS#" + strconv.Itoa(i%97)),
		"Amount":  dynamo.N("-" + text + ".005"),
		"Note":    dynamo.S("movement number " + text + ", of which there is only this one"),
		"Hash":    dynamo.B([]byte{byte(i), byte(i >> 8), byte(i >> 16), 0, 255}),
		"Open":    dynamo.Bool(i%2 == 0),
		"Nothing": dynamo.Null(),
		"Tags":    dynamo.SS("b"+text, "a"+text),
		"Steps":   dynamo.NS("10", "9", text+".5"),
		"Parts":   dynamo.BS([]byte{1}, []byte{byte(i), 2}),
		"More": dynamo.M(map[string]dynamo.Value{
			"list": dynamo.L(dynamo.S(text), dynamo.Int(int64(i)), dynamo.L()),
		}),
	}
}

package engine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// An index that follows late shows what a program took for granted: that it finds in an index what
// it just wrote.
func ExampleDB_SetFaults() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.CreateTable(ctx, paymentsTable("Payments")); err != nil {
		log.Fatal(err)
	}
	faults, err := engine.ParseFaults("index-lag,index=GSI1,held")
	if err != nil {
		log.Fatal(err)
	}
	if err := db.SetFaults(faults); err != nil {
		log.Fatal(err)
	}
	// pay is meant to pay once for each key.
	pay := func(id, key string) {
		found, err := db.Query(ctx, &dynamo.QueryInput{
			TableName: "Payments", IndexName: "GSI1", KeyConditionExpression: "GSI1PK = :k",
			Expressions: dynamo.Expressions{
				ExpressionAttributeValues: map[string]dynamo.Value{":k": dynamo.S(key)},
			},
		})
		if err != nil {
			log.Fatal(err)
		}
		if found.Count > 0 {
			fmt.Println(id, "was paid before")
			return
		}
		if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "Payments", Item: dynamo.Item{
			"PK": dynamo.S(id), "SK": dynamo.S("P"),
			"GSI1PK": dynamo.S(key), "GSI1SK": dynamo.S("P"),
		}}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, "is paid")
	}
	pay("p1", "order-7")
	pay("p2", "order-7")
	if err := db.CatchUp(); err != nil {
		log.Fatal(err)
	}
	pay("p3", "order-7")
	// Output:
	// p1 is paid
	// p2 is paid
	// p3 was paid before
}

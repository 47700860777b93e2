package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

func Example() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{}) // engine.Open("data", ...) to keep it
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()

	_, err = db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName:   "Accounts",
		KeySchema:   dynamo.HashKey("ID"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "ID", AttributeType: dynamo.KindS},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Put(ctx, &dynamo.PutInput{
		TableName: "Accounts",
		Item:      dynamo.Item{"ID": dynamo.S("a1"), "Balance": dynamo.N("100")},
	})
	if err != nil {
		log.Fatal(err)
	}

	withdraw := &dynamo.UpdateInput{
		TableName:           "Accounts",
		Key:                 dynamo.Key{"ID": dynamo.S("a1")},
		UpdateExpression:    "SET Balance = Balance - :amount",
		ConditionExpression: "Balance >= :amount",
		Expressions: dynamo.Expressions{
			ExpressionAttributeValues: dynamo.Item{":amount": dynamo.N("80")},
		},
		ReturnValues: dynamo.ReturnUpdatedNew,
	}
	for range 2 {
		out, err := db.Update(ctx, withdraw)
		switch {
		case errors.Is(err, dynamo.ErrConditionalCheckFailed):
			fmt.Println("not enough left")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("left:", out.Attributes["Balance"].N())
		}
	}
	// Output:
	// left: 20
	// not enough left
}

func ExampleDB_ExpireNow() {
	ctx := context.Background()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db, err := engine.OpenMemory(engine.Options{Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName:   "Sessions",
		KeySchema:   dynamo.HashKey("ID"),
		BillingMode: dynamo.BillingPayPerRequest,
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "ID", AttributeType: dynamo.KindS},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	err = db.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
		TableName: "Sessions", AttributeName: "ttl", Enabled: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Put(ctx, &dynamo.PutInput{TableName: "Sessions", Item: dynamo.Item{
		"ID": dynamo.S("s1"), "ttl": dynamo.Int(now.Add(time.Hour).Unix()),
	}})
	if err != nil {
		log.Fatal(err)
	}

	now = now.Add(2 * time.Hour) // expired, but still there until the sweep
	deleted, err := db.ExpireNow(ctx)
	fmt.Println(deleted, err)
	// Output: 1 <nil>
}

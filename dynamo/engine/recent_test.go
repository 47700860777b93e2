package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// An update leaves its item in memory for the next one; whatever changes the item in between must
// be seen by it.
func TestAnUpdateSeesWhatChangedItsItemSinceTheLast(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db, err := engine.OpenMemory(engine.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	table := withTable(t, db)
	err = db.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
		TableName: table, AttributeName: "ttl", Enabled: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	add := func() string {
		out, err := db.Update(ctx, &dynamo.UpdateInput{
			TableName: table, Key: key("A", "1"), UpdateExpression: "ADD N :one SET #t = :t",
			ReturnValues: dynamo.ReturnAllNew,
			Expressions: dynamo.Expressions{
				ExpressionAttributeNames: map[string]string{"#t": "ttl"},
				ExpressionAttributeValues: dynamo.Item{
					":one": dynamo.Int(1), ":t": dynamo.Int(now.Add(time.Hour).Unix()),
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes["N"].N()
	}
	put := func() error {
		item := key("A", "1")
		item["N"] = dynamo.Int(10)
		_, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: item})
		return err
	}
	for _, step := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"nothing", func() error { return nil }, "1"},
		{"an update", func() error { return nil }, "2"},
		{"a put", put, "11"},
		{"a deletion", func() error {
			_, err := db.Delete(ctx, &dynamo.DeleteInput{TableName: table, Key: key("A", "1")})
			return err
		}, "1"},
		{"expiry", func() error {
			now = now.Add(2 * time.Hour)
			_, err := db.ExpireNow(ctx)
			return err
		}, "1"},
		{"a transaction", func() error {
			_, err := db.TransactWrite(ctx, &dynamo.TransactWriteInput{
				Items: []dynamo.TransactWriteItem{{Delete: &dynamo.DeleteInput{
					TableName: table, Key: key("A", "1"),
				}}},
			})
			return err
		}, "1"},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if got := add(); got != step.want {
			t.Errorf("after %s the sum is %s, want %s", step.name, got, step.want)
		}
	}
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
)

// paymentsTable has an index of each projection and kind.
func paymentsTable(name string) *dynamo.CreateTableInput {
	gsi := func(index, hash, sort string, p dynamo.Projection) dynamo.GlobalSecondaryIndex {
		return dynamo.GlobalSecondaryIndex{
			IndexName: index, KeySchema: dynamo.HashRangeKey(hash, sort), Projection: p,
		}
	}
	s := func(names ...string) (out []dynamo.AttributeDefinition) {
		for _, n := range names {
			out = append(out, dynamo.AttributeDefinition{
				AttributeName: n, AttributeType: dynamo.KindS,
			})
		}
		return out
	}
	return &dynamo.CreateTableInput{
		TableName: name, BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("PK", "SK"),
		AttributeDefinitions: append(s("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"),
			dynamo.AttributeDefinition{AttributeName: "Amount", AttributeType: dynamo.KindN}),
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{
			gsi("GSI1", "GSI1PK", "GSI1SK", dynamo.Projection{ProjectionType: dynamo.ProjectAll}),
			gsi("GSI2", "GSI2PK", "GSI2SK", dynamo.Projection{
				ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"Note"},
			}),
			gsi("GSI3", "GSI1PK", "SK", dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly}),
		},
		LocalSecondaryIndexes: []dynamo.LocalSecondaryIndex{{
			IndexName: "ByAmount", KeySchema: dynamo.HashRangeKey("PK", "Amount"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
		}},
	}
}

func openMemory(t testing.TB) *engine.DB {
	t.Helper()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			t.Error(err)
		}
	})
	return db
}

func withTable(t testing.TB, db *engine.DB) string {
	t.Helper()
	in := paymentsTable("Payments")
	if _, err := db.CreateTable(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	return in.TableName
}

func key(pk, sk string) dynamo.Key {
	return dynamo.Key{"PK": dynamo.S(pk), "SK": dynamo.S(sk)}
}

func TestWhatWasPutIsReadAfterReopening(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := withTable(t, db)
	item := key("A", "1")
	item["Amount"] = dynamo.N("1E2")
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: item}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engine.Open(dir, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	out, err := db.Get(ctx, &dynamo.GetInput{TableName: table, Key: key("A", "1")})
	if err != nil || out.Item["Amount"].N() != "100" {
		t.Fatalf("got %v, %v", out, err)
	}
	d, err := db.DescribeTable(ctx, table)
	if err != nil || d.ItemCount != 1 {
		t.Fatalf("description %+v, %v", d, err)
	}
}

func TestASecondProcessIsToldWhoHoldsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = engine.Open(dir, engine.Options{})
	var inUse *engine.InUseError
	if !errors.As(err, &inUse) || inUse.PID == 0 || !strings.Contains(err.Error(), "stop that") {
		t.Fatalf("got %v", err)
	}
}

func TestPagesOfAnIndexBreakTiesByTheItemsKey(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	table := withTable(t, db)
	for i := range 10 {
		item := key(fmt.Sprintf("P%d", i%3), fmt.Sprintf("S%d", i))
		item["GSI1PK"], item["GSI1SK"] = dynamo.S("G"), dynamo.S("same")
		if _, err := db.Put(ctx, &dynamo.PutInput{TableName: table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	for _, backward := range []bool{false, true} {
		seen := map[string]bool{}
		var start dynamo.Key
		for pages := 0; ; pages++ {
			out, err := db.Query(ctx, &dynamo.QueryInput{
				TableName: table, IndexName: "GSI1", Limit: 3, ScanIndexBackward: backward,
				KeyConditionExpression: "GSI1PK = :g AND GSI1SK = :s", ExclusiveStartKey: start,
				Expressions: dynamo.Expressions{ExpressionAttributeValues: dynamo.Item{
					":g": dynamo.S("G"), ":s": dynamo.S("same"),
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range out.Items {
				id := item["PK"].S() + item["SK"].S()
				if seen[id] {
					t.Fatalf("%s twice", id)
				}
				seen[id] = true
			}
			if start = out.LastEvaluatedKey; start == nil {
				break
			}
			if len(start) != 4 {
				t.Fatalf("start key %v", start)
			}
		}
		if len(seen) != 10 {
			t.Fatalf("saw %d of 10, backward %v", len(seen), backward)
		}
	}
}

func TestInputsAreNotKeptAndOutputsBelongToTheCaller(t *testing.T) {
	ctx := context.Background()
	db := openMemory(t)
	in := paymentsTable("Payments")
	if _, err := db.CreateTable(ctx, in); err != nil {
		t.Fatal(err)
	}
	scribble := func(p *dynamo.Projection) {
		for i := range p.NonKeyAttributes {
			p.NonKeyAttributes[i] = "scribble"
		}
	}
	for i := range in.GlobalSecondaryIndexes {
		scribble(&in.GlobalSecondaryIndexes[i].Projection)
		in.GlobalSecondaryIndexes[i].KeySchema[0].AttributeName = "scribble"
	}
	in.KeySchema[0].AttributeName = "scribble"
	in.AttributeDefinitions[0].AttributeName = "scribble"
	for range 2 {
		d, err := db.DescribeTable(ctx, "Payments")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fmt.Sprintf("%+v", d), "scribble") {
			t.Fatalf("the table was changed from outside: %+v", d)
		}
		for i := range d.GlobalSecondaryIndexes {
			scribble(&d.GlobalSecondaryIndexes[i].Projection)
		}
	}
	item := key("A", "1")
	item["M"] = dynamo.M(map[string]dynamo.Value{"a": dynamo.S("b")})
	put := item.Clone()
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "Payments", Item: put}); err != nil {
		t.Fatal(err)
	}
	put["M"] = dynamo.S("scribble")
	for range 2 {
		out, err := db.Get(ctx, &dynamo.GetInput{TableName: "Payments", Key: key("A", "1")})
		if err != nil || !out.Item.Equal(item) {
			t.Fatalf("got %v, %v", out.Item, err)
		}
		out.Item["M"] = dynamo.S("scribble")
	}
}

package partiql_test

import (
	"context"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

// BenchmarkStatements measures statements beside the calls that they stand for.
func BenchmarkStatements(b *testing.B) {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{SweepInterval: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.CreateTable(ctx, saidTable()); err != nil {
		b.Fatal(err)
	}
	key := dynamo.Key{"pk": dynamo.S("x"), "sk": dynamo.Int(1)}
	item := dynamo.Item{"pk": key["pk"], "sk": key["sk"], "a": dynamo.Int(0)}
	if _, err := db.Put(ctx, &dynamo.PutInput{TableName: "said", Item: item}); err != nil {
		b.Fatal(err)
	}
	parameters := []dynamo.Value{key["pk"], key["sk"]}
	statements := partiql.New(db)
	statement := func(text string) func() error {
		return func() error {
			_, err := statements.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
				Statement: text, Parameters: parameters,
			})
			return err
		}
	}
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"select", statement("SELECT * FROM said WHERE pk = ? AND sk = ?")},
		{"get", func() error {
			_, err := db.Get(ctx, &dynamo.GetInput{TableName: "said", Key: key})
			return err
		}},
		{"update", statement("UPDATE said SET a = a + 1 WHERE pk = ? AND sk = ?")},
		{"update call", func() error {
			_, err := db.Update(ctx, &dynamo.UpdateInput{
				TableName: "said", Key: key, UpdateExpression: "SET a = a + :n",
				ConditionExpression: "attribute_exists(pk)",
				Expressions: dynamo.Expressions{
					ExpressionAttributeValues: map[string]dynamo.Value{":n": dynamo.Int(1)},
				},
			})
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

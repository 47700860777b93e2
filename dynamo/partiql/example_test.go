package partiql_test

import (
	"context"
	"fmt"
	"log"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

func ExampleExecutor() {
	ctx := context.Background()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: "Music", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("Artist", "Song"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "Artist", AttributeType: dynamo.KindS},
			{AttributeName: "Song", AttributeType: dynamo.KindS},
		},
	}); err != nil {
		log.Fatal(err)
	}
	statements := partiql.New(db)
	execute := func(text string, parameters ...dynamo.Value) []dynamo.Item {
		out, err := statements.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
			Statement: text, Parameters: parameters,
		})
		if err != nil {
			log.Fatal(err)
		}
		return out.Items
	}
	for _, song := range []string{"Call Me Today", "Happy Day", "PartiQL Rocks"} {
		execute("INSERT INTO Music VALUE {'Artist': 'Acme Band', 'Song': ?, 'Plays': 0}",
			dynamo.S(song))
	}
	execute("UPDATE Music SET Plays = Plays + 1 WHERE Artist = 'Acme Band' AND Song = 'Happy Day'")
	for _, item := range execute("SELECT Song, Plays FROM Music WHERE Artist = ? ORDER BY Song DESC",
		dynamo.S("Acme Band")) {
		fmt.Println(item["Plays"].N(), item["Song"].S())
	}
	// Output:
	// 0 PartiQL Rocks
	// 1 Happy Day
	// 0 Call Me Today
}

package wire_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// openStore returns an empty engine in memory with a table "Test" of the keys pk and sk (strings),
// with a global index "Global" (gpk, gsk) that projects all and a local index "Local" (pk, lsk).
func openStore(t testing.TB) *engine.DB {
	t.Helper()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	in := &dynamo.CreateTableInput{
		TableName:   "Test",
		BillingMode: dynamo.BillingPayPerRequest,
		KeySchema:   dynamo.HashRangeKey("pk", "sk"),
	}
	for _, name := range []string{"pk", "sk", "gpk", "gsk", "lsk"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, dynamo.AttributeDefinition{
			AttributeName: name, AttributeType: dynamo.KindS,
		})
	}
	in.GlobalSecondaryIndexes = []dynamo.GlobalSecondaryIndex{{
		IndexName:  "Global",
		KeySchema:  dynamo.HashRangeKey("gpk", "gsk"),
		Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
	}}
	in.LocalSecondaryIndexes = []dynamo.LocalSecondaryIndex{{
		IndexName:  "Local",
		KeySchema:  dynamo.HashRangeKey("pk", "lsk"),
		Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
	}}
	if _, err := db.CreateTable(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	return db
}

// clientOf returns the real SDK, with no retries, over a handler and no socket.
func clientOf(h http.Handler) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "local",
		BaseEndpoint: aws.String("http://dynamodb.local"),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
		HTTPClient:   &http.Client{Transport: wire.Transport{Handler: h}},
		Retryer:      aws.NopRetryer{},
	})
}

func TestGetFindsWhatPutWrote(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	ctx := context.Background()
	key := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "a"},
		"sk": &types.AttributeValueMemberS{Value: "b"},
	}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("Test"), Item: key})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("Test"), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Item) != 2 {
		t.Errorf("got %v", out.Item)
	}
}

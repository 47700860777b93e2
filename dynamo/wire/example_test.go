package wire_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// The AWS SDK drives an engine in the same process: nothing listens on a port.
func ExampleTransport() {
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := dynamodb.New(dynamodb.Options{
		Region:       "local",
		BaseEndpoint: aws.String("http://dynamodb.local"),
		Credentials:  credentials.NewStaticCredentialsProvider("any", "any", ""),
		HTTPClient: &http.Client{
			Transport: wire.Transport{Handler: wire.NewHandler(db, wire.Options{})},
		},
	})

	ctx := context.Background()
	_, err = db.CreateTable(ctx, &dynamo.CreateTableInput{
		TableName: "Places",
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "code", AttributeType: dynamo.KindS},
		},
		KeySchema:   dynamo.HashKey("code"),
		BillingMode: dynamo.BillingPayPerRequest,
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("Places"),
		Item: map[string]types.AttributeValue{
			"code": &types.AttributeValueMemberS{Value: "akl"},
			"name": &types.AttributeValueMemberS{Value: "Auckland"},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("Places")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Count, out.Items[0]["name"].(*types.AttributeValueMemberS).Value)
	// Output: 1 Auckland
}

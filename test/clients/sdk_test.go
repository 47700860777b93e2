// Package clients runs programs of others against the engine's endpoint. The AWS SDK for Go is here
// as a test, for Go has it anyway; ./run has the others.
package clients

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/server/endpoint"
)

const tableName = "sdk-go"

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// connect starts an endpoint on a port and returns a client of it.
func connect(t *testing.T) *dynamodb.Client {
	t.Helper()
	e, err := endpoint.Open(t.Context(), endpoint.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	listener, err := e.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-served, e.Close()); err != nil {
			t.Error(err)
		}
	})
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + listener.Addr().String()),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

func createTable(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	keys := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash},
			{AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"pk", "sk", "name"} {
		attributes = append(attributes, types.AttributeDefinition{
			AttributeName: &name, AttributeType: types.ScalarAttributeTypeS,
		})
	}
	_, err := c.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String(tableName), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: attributes, KeySchema: keys("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byName"), KeySchema: keys("name", "sk"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(c)
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{
		TableName: aws.String(tableName),
	}, 10*time.Second); err != nil {
		t.Fatal(err)
	}
}

func TestTheSDKForGoWorks(t *testing.T) {
	c := connect(t)
	createTable(t, c)
	ctx := t.Context()
	key := item{"pk": text("u"), "sk": text("1")}

	for i := range 40 {
		if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(tableName),
			Item: item{
				"pk": text("page"), "sk": text(fmt.Sprintf("%03d", i)), "name": text("row"),
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	updated, err := c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(tableName), Key: key, ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:          aws.String("SET balance = if_not_exists(balance, :z) + :n"),
		ExpressionAttributeValues: item{":n": number("12.50"), ":z": number("0")},
	})
	if err != nil {
		t.Fatal(err)
	}
	balance, _ := updated.Attributes["balance"].(*types.AttributeValueMemberN)
	if balance == nil || balance.Value != "12.5" {
		t.Errorf("the balance is %+v", updated.Attributes["balance"])
	}

	var seen []string
	pages := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
		TableName: aws.String(tableName), IndexName: aws.String("byName"), Limit: aws.Int32(7),
		KeyConditionExpression:    aws.String("#n = :n AND sk >= :s"),
		ExpressionAttributeNames:  map[string]string{"#n": "name"},
		ExpressionAttributeValues: item{":n": text("row"), ":s": text("010")},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Items {
			seen = append(seen, row["sk"].(*types.AttributeValueMemberS).Value)
		}
	}
	if len(seen) != 30 || !slices.IsSorted(seen) {
		t.Errorf("pages hold %v", seen)
	}
}

func TestTransactionsTellWhyTheyAreCancelled(t *testing.T) {
	c := connect(t)
	createTable(t, c)
	put := types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(tableName), Item: item{"pk": text("t"), "sk": text("1")},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
	change := types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(tableName), Key: item{"pk": text("u"), "sk": text("1")},
		UpdateExpression:          aws.String("ADD n :n"),
		ExpressionAttributeValues: item{":n": number("1")},
	}}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{change, put}}
	if _, err := c.TransactWriteItems(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.ClientRequestToken = nil // the first call's token would make this one a repetition
	_, err := c.TransactWriteItems(t.Context(), in)
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		t.Fatalf("the transaction says %v", err)
	}
	var codes []string
	for _, r := range canceled.CancellationReasons {
		codes = append(codes, aws.ToString(r.Code))
	}
	if !slices.Equal(codes, []string{"None", "ConditionalCheckFailed"}) {
		t.Errorf("the reasons are %v", codes)
	}
}

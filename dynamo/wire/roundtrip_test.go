package wire_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func keyOf(pk, sk string) attributes { return attributes{"pk": text(pk), "sk": text(sk)} }

func with(item attributes, name string, v types.AttributeValue) attributes {
	item[name] = v
	return item
}

var table = aws.String("Test")

// equal compares what the SDK returned with what is wanted, types and all.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	ignore := cmp.Options{
		cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{},
			types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
			types.AttributeValueMemberNULL{}, types.AttributeValueMemberL{},
			types.AttributeValueMemberM{}, types.AttributeValueMemberSS{},
			types.AttributeValueMemberNS{}, types.AttributeValueMemberBS{},
			types.ConsumedCapacity{}, types.Capacity{}, types.CancellationReason{},
			types.ItemResponse{}, types.ItemCollectionMetrics{}),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestItemsGoRoundThroughTheSDK(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	ctx := context.Background()
	item := attributes{
		"pk": text("a"), "sk": text("Ünï \"😀\" \\ \x00\n\u2028</script>"), "n": number("-1.5"),
		"b":    &types.AttributeValueMemberB{Value: []byte{0, 255, 1}},
		"t":    &types.AttributeValueMemberBOOL{Value: true},
		"null": &types.AttributeValueMemberNULL{Value: true},
		"l":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text(""), number("0")}},
		"m": &types.AttributeValueMemberM{Value: attributes{
			"deep": &types.AttributeValueMemberM{Value: attributes{"ß": number("1")}},
		}},
		"ss": &types.AttributeValueMemberSS{Value: []string{"x"}},
		"ns": &types.AttributeValueMemberNS{Value: []string{"7"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1}}},
	}
	key := attributes{"pk": item["pk"], "sk": item["sk"]}

	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "read", got.Item, item)

	updated, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: table, Key: key, UpdateExpression: aws.String("SET #n = #n + :one"),
		ExpressionAttributeNames:  map[string]string{"#n": "n"},
		ExpressionAttributeValues: attributes{":one": number("1")},
		ReturnValues:              types.ReturnValueUpdatedNew,
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityIndexes,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "updated", updated.Attributes, attributes{"n": number("-0.5")})
	equal(t, "capacity", updated.ConsumedCapacity, &types.ConsumedCapacity{
		TableName: table, CapacityUnits: aws.Float64(1),
		Table: &types.Capacity{CapacityUnits: aws.Float64(1)},
	})

	item["n"] = number("-0.5")
	deleted, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: table, Key: key, ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "deleted", deleted.Attributes, item)
}

func TestPagesGoRoundThroughTheSDK(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	ctx := context.Background()
	var writes []types.WriteRequest
	var all []attributes
	for _, sk := range []string{"1", "2", "3", "4", "5"} {
		all = append(all, with(keyOf("a", sk), "gpk", text("g")))
		all[len(all)-1]["gsk"] = text("same")
		writes = append(writes, types.WriteRequest{
			PutRequest: &types.PutRequest{Item: all[len(all)-1]},
		})
	}
	written, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"Test": writes},
	})
	if err != nil || len(written.UnprocessedItems) > 0 {
		t.Fatalf("%v %v", written, err)
	}
	query := &dynamodb.QueryInput{
		TableName: table, IndexName: aws.String("Global"), Limit: aws.Int32(2),
		KeyConditionExpression:    aws.String("gpk = :g"),
		ExpressionAttributeValues: attributes{":g": text("g")},
		ScanIndexForward:          aws.Bool(false),
	}
	var got []attributes
	for pages := dynamodb.NewQueryPaginator(client, query); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Items...)
	}
	equal(t, "queried", got, []attributes{all[4], all[3], all[2], all[1], all[0]})

	got = nil
	scan := &dynamodb.ScanInput{TableName: table, Limit: aws.Int32(2)}
	for pages := dynamodb.NewScanPaginator(client, scan); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Items...)
	}
	equal(t, "scanned", got, all)

	read, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"Test": {
			Keys:                 []map[string]types.AttributeValue{keyOf("a", "3")},
			ProjectionExpression: aws.String("sk"), ConsistentRead: aws.Bool(true),
		}},
	})
	if err != nil || len(read.UnprocessedKeys) > 0 {
		t.Fatalf("%v %v", read, err)
	}
	equal(t, "read", read.Responses["Test"], []map[string]types.AttributeValue{{"sk": text("3")}})
}

func TestTransactionsGoRoundThroughTheSDK(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	ctx := context.Background()
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String("once"),
		TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{
				TableName: table, Item: with(keyOf("a", "1"), "n", number("1")),
				ConditionExpression: aws.String("attribute_not_exists(pk)"),
				ReturnValuesOnConditionCheckFailure: types.
					ReturnValuesOnConditionCheckFailureAllOld,
			}},
			{Update: &types.Update{
				TableName: table, Key: keyOf("a", "2"),
				UpdateExpression:          aws.String("ADD n :n"),
				ExpressionAttributeValues: attributes{":n": number("2")},
			}},
			{Delete: &types.Delete{TableName: table, Key: keyOf("a", "3")}},
			{ConditionCheck: &types.ConditionCheck{
				TableName: table, Key: keyOf("a", "4"),
				ConditionExpression: aws.String("attribute_not_exists(pk)"),
			}},
		},
	}
	for range 2 { // the token makes the second time harmless
		if _, err := client.TransactWriteItems(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	got, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{
			{Get: &types.Get{TableName: table, Key: keyOf("a", "2")}},
			{Get: &types.Get{TableName: table, Key: keyOf("a", "3")}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "read", got.Responses, []types.ItemResponse{
		{Item: with(keyOf("a", "2"), "n", number("2"))}, {},
	})

	in.ClientRequestToken = nil
	_, err = client.TransactWriteItems(ctx, in)
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		t.Fatalf("got %v", err)
	}
	none := types.CancellationReason{Code: aws.String("None")}
	equal(t, "reasons", cancelled.CancellationReasons, []types.CancellationReason{
		{
			Code:    aws.String("ConditionalCheckFailed"),
			Message: aws.String("The conditional request failed"),
			Item:    with(keyOf("a", "1"), "n", number("1")),
		}, none, none, none,
	})
}

func TestErrorsAreTypedInTheSDK(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	ctx := context.Background()
	put := &dynamodb.PutItemInput{
		TableName: table, Item: keyOf("a", "1"),
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if _, err := client.PutItem(ctx, put); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutItem(ctx, put)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.ErrorMessage() != "The conditional request failed" {
		t.Fatalf("got %v", err)
	}
	equal(t, "item", failed.Item, keyOf("a", "1"))

	put.TableName = aws.String("Other")
	_, err = client.PutItem(ctx, put)
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

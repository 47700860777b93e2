package awssdk_test

import (
	"context"
	"errors"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Where a request lacks something or goes beyond what fits, the SDK may leave members out, send
// them empty, or cut them; the answer shows that what was meant is what was sent.
func TestTheEdgesOfRequestsAreAnsweredAlike(t *testing.T) {
	b, ctx := openBoth(t), t.Context()
	b.put("1")
	for name, ask := range edges(ctx) {
		t.Run(name, func(t *testing.T) {
			alike(&both{t, b.direct, b.sdk}, ask)
		})
	}
	for name, ask := range edgesOfTables(ctx) {
		t.Run(name, func(t *testing.T) {
			alike(&both{t, b.direct, b.sdk}, ask)
		})
	}
}

func edges(ctx context.Context) map[string]func(dynamoStore) (any, error) {
	there := dynamo.Key{"pk": dynamo.S("p"), "sk": dynamo.N("1")}
	get := func(in dynamo.GetInput) func(dynamoStore) (any, error) {
		in.TableName, in.Key = "Rich", there
		return func(s dynamoStore) (any, error) { return s.Get(ctx, &in) }
	}
	put := func(in dynamo.PutInput) func(dynamoStore) (any, error) {
		in.TableName, in.Item = "Rich", richItem("1")
		return func(s dynamoStore) (any, error) { return s.Put(ctx, &in) }
	}
	scan := func(in dynamo.ScanInput) func(dynamoStore) (any, error) {
		in.TableName = "Rich"
		return func(s dynamoStore) (any, error) { return s.Scan(ctx, &in) }
	}
	noNames := dynamo.Expressions{ExpressionAttributeNames: map[string]string{}}
	noValues := dynamo.Expressions{ExpressionAttributeValues: map[string]dynamo.Value{}}
	return map[string]func(dynamoStore) (any, error){
		"no names": get(dynamo.GetInput{
			ProjectionExpression: "a", Expressions: noNames,
		}),
		"no names, no expression": get(dynamo.GetInput{Expressions: noNames}),
		"no values": put(dynamo.PutInput{
			ConditionExpression: "attribute_exists(pk)", Expressions: noValues,
		}),
		"no values, no expression": put(dynamo.PutInput{Expressions: noValues}),
		"unknown choices": put(dynamo.PutInput{
			ReturnValues: dynamo.ReturnAllNew, ReturnConsumedCapacity: "SOME",
		}),
		"an empty start":               scan(dynamo.ScanInput{ExclusiveStartKey: dynamo.Key{}}),
		"a segment of nothing":         scan(dynamo.ScanInput{Segment: 1}),
		"a negative count of segments": scan(dynamo.ScanInput{TotalSegments: -1}),
		"nothing to write": func(s dynamoStore) (any, error) {
			return s.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{"Rich": nil},
			})
		},
		"nothing to read": func(s dynamoStore) (any, error) {
			return s.BatchGet(ctx, &dynamo.BatchGetInput{
				RequestItems: map[string]dynamo.KeysAndAttributes{"Rich": {}},
			})
		},
		"a transaction of nothing": func(s dynamoStore) (any, error) {
			return s.TransactWrite(ctx, &dynamo.TransactWriteInput{})
		},
		"a transaction that reads nothing": func(s dynamoStore) (any, error) {
			return s.TransactGet(ctx, &dynamo.TransactGetInput{})
		},
		"no statement": func(s dynamoStore) (any, error) {
			return s.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{})
		},
		"no statements": func(s dynamoStore) (any, error) {
			return s.BatchExecuteStatement(ctx, &dynamo.BatchExecuteStatementInput{})
		},
		"a transaction of no statements": func(s dynamoStore) (any, error) {
			return s.ExecuteTransaction(ctx, &dynamo.ExecuteTransactionInput{})
		},
		"items that are not there": func(s dynamoStore) (any, error) {
			return s.TransactGet(ctx, &dynamo.TransactGetInput{
				Items: []dynamo.TransactGetItem{
					{TableName: "Rich", Key: dynamo.Key{"pk": dynamo.S("p"), "sk": dynamo.N("9")}},
					{TableName: "Rich", Key: there},
				},
				ReturnConsumedCapacity: dynamo.CapacityIndexes,
			})
		},
	}
}

func edgesOfTables(ctx context.Context) map[string]func(dynamoStore) (any, error) {
	return map[string]func(dynamoStore) (any, error){
		"a table of nothing": func(s dynamoStore) (any, error) {
			return s.CreateTable(ctx, &dynamo.CreateTableInput{})
		},
		"no change of a table": func(s dynamoStore) (any, error) {
			return s.UpdateTable(ctx, &dynamo.UpdateTableInput{TableName: "Rich"})
		},
		"a table that is protected": func(s dynamoStore) (any, error) {
			return s.DeleteTable(ctx, "Rich")
		},
		"a long list of tables": func(s dynamoStore) (any, error) {
			return s.ListTables(ctx, &dynamo.ListTablesInput{Limit: 1000})
		},
		"expiry by nothing": func(s dynamoStore) (any, error) {
			return nil, s.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{TableName: "Rich"})
		},
		"expiry that is off already": func(s dynamoStore) (any, error) {
			return nil, s.UpdateTimeToLive(ctx, &dynamo.UpdateTimeToLiveInput{
				TableName: "Rich", AttributeName: "x",
			})
		},
	}
}

// The protocol has 32 bits for a segment, and one that has more must not become another.
func TestASegmentIsNotCut(t *testing.T) {
	b := openBoth(t)
	_, err := b.sdk.Scan(t.Context(), &dynamo.ScanInput{
		TableName: "Rich", Segment: 1 << 32, TotalSegments: 2,
	})
	if !errors.Is(err, dynamo.ErrValidation) {
		t.Errorf("got %v", err)
	}
}

func TestAnExpiryThatIsOffHasNoName(t *testing.T) {
	s := &scripted{status: 200, body: `{"TimeToLiveDescription":{
		"TimeToLiveStatus":"DISABLED","AttributeName":"ends"}}`}
	got, err := answering(s).DescribeTimeToLive(t.Context(), "Rich")
	if err != nil || got.TimeToLiveStatus != dynamo.TimeToLiveDisabled || got.AttributeName != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

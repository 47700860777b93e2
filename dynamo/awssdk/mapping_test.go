package awssdk_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// both is one database, reached directly and through the SDK. What is asked of both must be
// answered alike.
type both struct {
	t      *testing.T
	direct *engine.DB
	sdk    *awssdk.DB
}

func openBoth(t *testing.T) *both {
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
	sdk := open(t, awssdk.Options{
		Endpoint: "http://localhost:8000",
		HTTPClient: &http.Client{
			Transport: wire.Transport{Handler: wire.NewHandler(db, wire.Options{})},
		},
	})
	_, err = sdk.CreateTable(t.Context(), richTable())
	if err != nil {
		t.Fatal(err)
	}
	return &both{t, db, sdk}
}

// richTable uses every member that the definition of a table has.
func richTable() *dynamo.CreateTableInput {
	return &dynamo.CreateTableInput{
		TableName: "Rich", KeySchema: dynamo.HashRangeKey("pk", "sk"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "pk", AttributeType: dynamo.KindS},
			{AttributeName: "sk", AttributeType: dynamo.KindN},
			{AttributeName: "g", AttributeType: dynamo.KindB},
		},
		BillingMode: dynamo.BillingPayPerRequest,
		OnDemandThroughput: &dynamo.OnDemandThroughput{
			MaxReadRequestUnits: 100, MaxWriteRequestUnits: 50,
		},
		DeletionProtectionEnabled: true,
		TableClass:                dynamo.ClassInfrequentAccess,
		Tags:                      []dynamo.Tag{{Key: "team", Value: "books"}, {Key: "empty"}},
		StreamSpecification: &dynamo.StreamSpecification{
			StreamEnabled: true, StreamViewType: dynamo.ViewNewAndOldImages,
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "Global", KeySchema: dynamo.HashKey("g"),
			Projection: dynamo.Projection{
				ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"a", "b"},
			},
			OnDemandThroughput: &dynamo.OnDemandThroughput{MaxReadRequestUnits: 10},
		}},
		LocalSecondaryIndexes: []dynamo.LocalSecondaryIndex{{
			IndexName: "Local", KeySchema: dynamo.HashRangeKey("pk", "g"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
		}},
	}
}

// alike compares what both answered.
func alike[T any](b *both, ask func(dynamoStore) (T, error)) T {
	b.t.Helper()
	want, wantErr := ask(withStatements{b.direct, partiql.New(b.direct)})
	got, gotErr := ask(b.sdk)
	sameValue := cmp.Comparer(func(v, w dynamo.Value) bool {
		return v.Equal(w) || v.IsAbsent() && w.IsAbsent()
	})
	sameTime := cmp.Comparer(func(t, u time.Time) bool { return t.Sub(u).Abs() < time.Second })
	diff := cmp.Diff(want, got, sameValue, sameTime, cmpopts.EquateEmpty())
	if diff += cmp.Diff(wantErr, gotErr, sameValue); diff != "" {
		b.t.Errorf("directly (-) and through the SDK (+):\n%s", diff)
	}
	return got
}

// withStatements is the engine with an executor of statements.
type withStatements struct {
	*engine.DB
	*partiql.Executor
}

// dynamoStore is everything that both can do.
type dynamoStore interface {
	dynamo.DB
	dynamo.Admin
	dynamo.Streams
	dynamo.Tagger
	dynamo.PartiQL
}

func richItem(sort string) dynamo.Item {
	return dynamo.Item{
		"pk": dynamo.S("p"), "sk": dynamo.N(sort), "g": dynamo.B([]byte("g")),
		"a": dynamo.L(dynamo.Null(), dynamo.Bool(false), dynamo.M(map[string]dynamo.Value{
			"ns": dynamo.NS("1", "2.50"), "bs": dynamo.BS([]byte{0}, []byte("x")),
			"ss": dynamo.SS("x"), "none": dynamo.L(),
		})),
	}
}

func (b *both) put(sort string) {
	b.t.Helper()
	_, err := b.sdk.Put(b.t.Context(), &dynamo.PutInput{
		TableName: "Rich", Item: richItem(sort),
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestTablesAreDescribedAlike(t *testing.T) {
	b, ctx := openBoth(t), t.Context()
	d := alike(b, func(s dynamoStore) (*dynamo.TableDescription, error) {
		return s.DescribeTable(ctx, "Rich")
	})
	if d.LatestStreamArn == "" || d.TableClass != dynamo.ClassInfrequentAccess ||
		!d.DeletionProtectionEnabled || d.OnDemandThroughput == nil {
		t.Errorf("the settings are not there: %+v", d)
	}
	off := false
	_, err := b.sdk.UpdateTable(ctx, &dynamo.UpdateTableInput{
		TableName: "Rich", DeletionProtectionEnabled: &off,
		StreamSpecification: &dynamo.StreamSpecification{},
		BillingMode:         dynamo.BillingProvisioned,
		ProvisionedThroughput: &dynamo.ProvisionedThroughput{
			ReadCapacityUnits: 5, WriteCapacityUnits: 6,
		},
		GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{{
			Update: &dynamo.UpdateIndex{
				IndexName: "Global",
				ProvisionedThroughput: &dynamo.ProvisionedThroughput{
					ReadCapacityUnits: 7, WriteCapacityUnits: 8,
				},
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d = alike(b, func(s dynamoStore) (*dynamo.TableDescription, error) {
		return s.DescribeTable(ctx, "Rich")
	})
	if d.ProvisionedThroughput.WriteCapacityUnits != 6 || d.StreamSpecification != nil ||
		d.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits != 7 {
		t.Errorf("the changes are not there: %+v", d)
	}
	alike(b, func(s dynamoStore) (*dynamo.TimeToLiveDescription, error) {
		return s.DescribeTimeToLive(ctx, "Rich")
	})
	alike(b, func(s dynamoStore) (*dynamo.TableDescription, error) {
		return s.DescribeTable(ctx, "Poor")
	})
}

func TestStreamsAreReadAlike(t *testing.T) {
	b, ctx := openBoth(t), t.Context()
	b.put("1")
	_, err := b.sdk.Delete(ctx, &dynamo.DeleteInput{
		TableName: "Rich",
		Key:       dynamo.Key{"pk": dynamo.S("p"), "sk": dynamo.N("1.0")},
	})
	if err != nil {
		t.Fatal(err)
	}
	streams := alike(b, func(s dynamoStore) (*dynamo.ListStreamsOutput, error) {
		return s.ListStreams(ctx, &dynamo.ListStreamsInput{TableName: "Rich"})
	})
	if len(streams.Streams) != 1 {
		t.Fatalf("got %+v", streams)
	}
	arn := streams.Streams[0].StreamArn
	d := alike(b, func(s dynamoStore) (*dynamo.StreamDescription, error) {
		return s.DescribeStream(ctx, &dynamo.DescribeStreamInput{StreamArn: arn, Limit: 10})
	})
	events := 0
	for _, shard := range d.Shards {
		records := alike(b, func(s dynamoStore) ([]dynamo.StreamRecord, error) {
			iterator, err := s.GetShardIterator(ctx, &dynamo.GetShardIteratorInput{
				StreamArn: arn, ShardID: shard.ShardID,
				ShardIteratorType: dynamo.IteratorTrimHorizon,
			})
			if err != nil {
				return nil, err
			}
			out, err := s.GetRecords(ctx, &dynamo.GetRecordsInput{
				ShardIterator: iterator, Limit: 10,
			})
			if err != nil {
				return nil, err
			}
			return out.Records, nil
		})
		events += len(records)
	}
	if events != 2 {
		t.Errorf("%d events were read", events)
	}
	alike(b, func(s dynamoStore) (*dynamo.GetRecordsOutput, error) {
		return s.GetRecords(ctx, &dynamo.GetRecordsInput{ShardIterator: "none"})
	})
}

func TestTagsAreKeptAlike(t *testing.T) {
	b, ctx := openBoth(t), t.Context()
	d, err := b.sdk.DescribeTable(ctx, "Rich")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.sdk.TagResource(ctx, d.TableArn, []dynamo.Tag{{Key: "k", Value: "v"}}); err != nil {
		t.Fatal(err)
	}
	if err := b.sdk.UntagResource(ctx, d.TableArn, []string{"team"}); err != nil {
		t.Fatal(err)
	}
	tags := alike(b, func(s dynamoStore) (*dynamo.ListTagsOutput, error) {
		return s.ListTagsOfResource(ctx, &dynamo.ListTagsInput{ResourceArn: d.TableArn})
	})
	if len(tags.Tags) != 2 {
		t.Errorf("got %+v", tags)
	}
	alike(b, func(s dynamoStore) (int, error) { return 0, s.TagResource(ctx, d.TableArn, nil) })
}

func TestStatementsAreRunAlike(t *testing.T) {
	b, ctx := openBoth(t), t.Context()
	for _, sort := range []string{"1", "2", "3"} {
		b.put(sort)
	}
	first := alike(b, func(s dynamoStore) (*dynamo.ExecuteStatementOutput, error) {
		out, err := s.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
			Statement: `SELECT * FROM "Rich" WHERE pk = ? AND sk > ?`, Limit: 1,
			Parameters:             []dynamo.Value{dynamo.S("p"), dynamo.N("1")},
			ReturnConsumedCapacity: dynamo.CapacityTotal, ConsistentRead: true,
		})
		if err == nil && out.NextToken == "" {
			t.Error("there is no next page")
		}
		if err == nil {
			out.NextToken = ""
		}
		return out, err
	})
	if len(first.Items) != 1 || !first.Items[0].Equal(richItem("2")) {
		t.Errorf("got %+v", first)
	}
	alike(b, func(s dynamoStore) (*dynamo.BatchExecuteStatementOutput, error) {
		return s.BatchExecuteStatement(ctx, &dynamo.BatchExecuteStatementInput{
			Statements: []dynamo.BatchStatement{
				{Statement: `SELECT a FROM "Rich" WHERE pk = 'p' AND sk = 1`},
				{Statement: `SELECT a FROM "Rich" WHERE pk = 'p' AND sk = 9`},
				{Statement: `SELECT a FROM "Poor" WHERE pk = 'p' AND sk = 9`},
			},
			ReturnConsumedCapacity: dynamo.CapacityIndexes,
		})
	})
	alike(b, func(s dynamoStore) (*dynamo.ExecuteTransactionOutput, error) {
		return s.ExecuteTransaction(ctx, &dynamo.ExecuteTransactionInput{
			TransactStatements: []dynamo.ParameterizedStatement{
				{
					Statement:  `SELECT * FROM "Rich" WHERE pk = ? AND sk = 1`,
					Parameters: []dynamo.Value{dynamo.S("p")},
				},
				{Statement: `SELECT * FROM "Rich" WHERE pk = 'p' AND sk = 9`},
			},
			ReturnConsumedCapacity: dynamo.CapacityTotal,
		})
	})
	alike(b, func(s dynamoStore) (*dynamo.ExecuteStatementOutput, error) {
		return s.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
			Statement:                           `INSERT INTO "Rich" VALUE {'pk': 'p', 'sk': 1}`,
			ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
		})
	})
}

func TestCallsAreAnsweredAlike(t *testing.T) {
	b, ctx := openBoth(t), t.Context()
	b.put("1")
	for name, ask := range calls(ctx) {
		t.Run(name, func(t *testing.T) {
			alike(&both{t, b.direct, b.sdk}, ask)
		})
	}
}

// The service has no word for a value that is absent, and the SDK would leave it out.
func TestAbsentValuesAreRefused(t *testing.T) {
	b := openBoth(t)
	for outcome, v := range map[string]dynamo.Value{
		"alone": {}, "in a list": dynamo.L(dynamo.Value{}),
		"in a map": dynamo.M(map[string]dynamo.Value{"x": {}}),
	} {
		t.Run(outcome, func(t *testing.T) {
			it := richItem("1")
			it["x"] = v
			for _, db := range []dynamo.DB{b.direct, b.sdk} {
				_, err := db.Put(t.Context(), &dynamo.PutInput{TableName: "Rich", Item: it})
				if !errors.Is(err, dynamo.ErrValidation) {
					t.Errorf("%T: %v", db, err)
				}
			}
		})
	}
}

// calls are calls that can be repeated, with answers that have every member; among them some that
// are refused.
func calls(ctx context.Context) map[string]func(dynamoStore) (any, error) {
	put := func(it dynamo.Item) func(dynamoStore) (any, error) {
		return func(s dynamoStore) (any, error) {
			return s.Put(ctx, &dynamo.PutInput{
				TableName: "Rich", Item: it, ReturnValues: dynamo.ReturnAllOld,
				ReturnConsumedCapacity:      dynamo.CapacityIndexes,
				ReturnItemCollectionMetrics: dynamo.MetricsSize,
			})
		}
	}
	with := func(name string, v dynamo.Value) dynamo.Item {
		it := richItem("1")
		it[name] = v
		return it
	}
	return map[string]func(dynamoStore) (any, error){
		"put":                   put(richItem("1")),
		"a number that is none": put(with("x", dynamo.N("one"))),
		"an empty set":          put(with("x", dynamo.SS())),
		"an empty set of bytes": put(with("x", dynamo.BS())),
		"no item":               put(nil),
		"a negative limit": func(s dynamoStore) (any, error) {
			return s.Scan(ctx, &dynamo.ScanInput{TableName: "Rich", Limit: -1})
		},
		"no table": func(s dynamoStore) (any, error) {
			return s.Get(ctx, &dynamo.GetInput{Key: dynamo.Key{"pk": dynamo.S("p")}})
		},
		"no key": func(s dynamoStore) (any, error) {
			return s.Get(ctx, &dynamo.GetInput{TableName: "Rich"})
		},
		"scan": func(s dynamoStore) (any, error) {
			return s.Scan(ctx, &dynamo.ScanInput{
				TableName: "Rich", Segment: 0, TotalSegments: 1, Limit: 1,
				ReturnConsumedCapacity: dynamo.CapacityIndexes,
			})
		},
		"query of an index": func(s dynamoStore) (any, error) {
			return s.Query(ctx, &dynamo.QueryInput{
				TableName: "Rich", IndexName: "Global", KeyConditionExpression: "g = :g",
				Expressions: dynamo.Expressions{
					ExpressionAttributeValues: map[string]dynamo.Value{
						":g": dynamo.B([]byte("g")),
					},
				},
				ScanIndexBackward: true, ReturnConsumedCapacity: dynamo.CapacityIndexes,
			})
		},
		"transact write": func(s dynamoStore) (any, error) {
			return s.TransactWrite(ctx, &dynamo.TransactWriteInput{
				Items: []dynamo.TransactWriteItem{{
					Put: &dynamo.PutInput{TableName: "Rich", Item: richItem("1")},
				}},
				ReturnConsumedCapacity:      dynamo.CapacityIndexes,
				ReturnItemCollectionMetrics: dynamo.MetricsSize,
			})
		},
		"a write of nothing": func(s dynamoStore) (any, error) {
			return s.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{"Rich": {{}}},
			})
		},
		"batch write": func(s dynamoStore) (any, error) {
			return s.BatchWrite(ctx, &dynamo.BatchWriteInput{
				RequestItems: map[string][]dynamo.WriteRequest{
					"Rich": {{Put: richItem("1")}, {Delete: dynamo.Key{
						"pk": dynamo.S("p"), "sk": dynamo.N("9"),
					}}},
				},
				ReturnConsumedCapacity:      dynamo.CapacityIndexes,
				ReturnItemCollectionMetrics: dynamo.MetricsSize,
			})
		},
	}
}

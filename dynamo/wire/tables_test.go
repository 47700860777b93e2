package wire_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// fullTable is a description with every member filled, and what the SDK makes of it.
var fullTable = &dynamo.TableDescription{
	TableName: "Full", TableArn: "arn:full", TableID: "uuid", TableStatus: dynamo.StatusActive,
	CreationDateTime: began,
	AttributeDefinitions: []dynamo.AttributeDefinition{{
		AttributeName: "pk", AttributeType: dynamo.KindB,
	}},
	KeySchema: dynamo.HashRangeKey("pk", "sk"),
	GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndexDescription{{
		IndexName: "G", IndexArn: "arn:g", IndexStatus: dynamo.StatusCreating, Backfilling: true,
		KeySchema: dynamo.HashKey("g"),
		Projection: dynamo.Projection{
			ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"a"},
		},
		OnDemandThroughput: &dynamo.OnDemandThroughput{MaxReadRequestUnits: 5},
		ItemCount:          3, IndexSizeBytes: 30,
	}},
	LocalSecondaryIndexes: []dynamo.LocalSecondaryIndexDescription{{
		IndexName: "L", IndexArn: "arn:l", KeySchema: dynamo.HashRangeKey("pk", "l"),
		Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
		ItemCount:  4, IndexSizeBytes: 40,
	}},
	BillingMode:               dynamo.BillingPayPerRequest,
	OnDemandThroughput:        &dynamo.OnDemandThroughput{MaxWriteRequestUnits: -1},
	DeletionProtectionEnabled: true,
	TableClass:                dynamo.ClassInfrequentAccess,
	StreamSpecification: &dynamo.StreamSpecification{
		StreamEnabled: true, StreamViewType: dynamo.ViewNewImage,
	},
	LatestStreamArn: "arn:stream", LatestStreamLabel: "label",
	ItemCount: 5, TableSizeBytes: 50,
}

var noThroughput = &types.ProvisionedThroughputDescription{
	NumberOfDecreasesToday: aws.Int64(0), ReadCapacityUnits: aws.Int64(0),
	WriteCapacityUnits: aws.Int64(0),
}

var fullTableSeen = &types.TableDescription{
	TableName: aws.String("Full"), TableArn: aws.String("arn:full"), TableId: aws.String("uuid"),
	TableStatus: types.TableStatusActive, CreationDateTime: &began,
	AttributeDefinitions: []types.AttributeDefinition{{
		AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeB,
	}},
	KeySchema: seenKey("pk", "sk"),
	GlobalSecondaryIndexes: []types.GlobalSecondaryIndexDescription{{
		IndexName: aws.String("G"), IndexArn: aws.String("arn:g"),
		IndexStatus: types.IndexStatusCreating, Backfilling: aws.Bool(true),
		KeySchema: seenKey("g"),
		Projection: &types.Projection{
			ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"a"},
		},
		ProvisionedThroughput: noThroughput,
		OnDemandThroughput:    &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(5)},
		WarmThroughput: &types.GlobalSecondaryIndexWarmThroughputDescription{
			ReadUnitsPerSecond: aws.Int64(12000), WriteUnitsPerSecond: aws.Int64(4000),
			Status: types.IndexStatusCreating,
		},
		ItemCount: aws.Int64(3), IndexSizeBytes: aws.Int64(30),
	}},
	LocalSecondaryIndexes: []types.LocalSecondaryIndexDescription{{
		IndexName: aws.String("L"), IndexArn: aws.String("arn:l"), KeySchema: seenKey("pk", "l"),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		ItemCount:  aws.Int64(4), IndexSizeBytes: aws.Int64(40),
	}},
	BillingModeSummary:    &types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest},
	ProvisionedThroughput: noThroughput,
	OnDemandThroughput:    &types.OnDemandThroughput{MaxWriteRequestUnits: aws.Int64(-1)},
	WarmThroughput: &types.TableWarmThroughputDescription{
		ReadUnitsPerSecond: aws.Int64(12000), WriteUnitsPerSecond: aws.Int64(4000),
		Status: types.TableStatusActive,
	},
	DeletionProtectionEnabled: aws.Bool(true),
	TableClassSummary: &types.TableClassSummary{
		TableClass: types.TableClassStandardInfrequentAccess,
	},
	StreamSpecification: &types.StreamSpecification{
		StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage,
	},
	LatestStreamArn: aws.String("arn:stream"), LatestStreamLabel: aws.String("label"),
	ItemCount: aws.Int64(5), TableSizeBytes: aws.Int64(50),
}

func seenKey(names ...string) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for i, name := range names {
		kind := types.KeyTypeHash
		if i > 0 {
			kind = types.KeyTypeRange
		}
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: kind})
	}
	return out
}

var units = &types.ProvisionedThroughput{
	ReadCapacityUnits: aws.Int64(2), WriteCapacityUnits: aws.Int64(3),
}

var storedUnits = dynamo.ProvisionedThroughput{ReadCapacityUnits: 2, WriteCapacityUnits: 3}

func TestTablesGoRoundThroughTheSDK(t *testing.T) {
	run(t, map[string]exchange{
		"create": client((*dynamodb.Client).CreateTable, &dynamodb.CreateTableInput{
			TableName: aws.String("Full"),
			AttributeDefinitions: []types.AttributeDefinition{{
				AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeN,
			}},
			KeySchema: seenKey("pk"), BillingMode: types.BillingModeProvisioned,
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName: aws.String("G"), KeySchema: seenKey("g", "h"),
				Projection: &types.Projection{
					ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"a"},
				},
				ProvisionedThroughput: units,
				OnDemandThroughput: &types.OnDemandThroughput{
					MaxReadRequestUnits: aws.Int64(7), MaxWriteRequestUnits: aws.Int64(8),
				},
			}},
			LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
				IndexName: aws.String("L"), KeySchema: seenKey("pk", "l"),
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			}},
			ProvisionedThroughput:     units,
			OnDemandThroughput:        &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(9)},
			DeletionProtectionEnabled: aws.Bool(true),
			StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly,
			},
			TableClass:       types.TableClassStandard,
			Tags:             []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}},
			SSESpecification: &types.SSESpecification{Enabled: aws.Bool(true)},
		}, &dynamo.CreateTableInput{
			TableName: "Full",
			AttributeDefinitions: []dynamo.AttributeDefinition{{
				AttributeName: "pk", AttributeType: dynamo.KindN,
			}},
			KeySchema: dynamo.HashKey("pk"), BillingMode: dynamo.BillingProvisioned,
			GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
				IndexName: "G", KeySchema: dynamo.HashRangeKey("g", "h"),
				Projection: dynamo.Projection{
					ProjectionType: dynamo.ProjectInclude, NonKeyAttributes: []string{"a"},
				},
				ProvisionedThroughput: &storedUnits,
				OnDemandThroughput: &dynamo.OnDemandThroughput{
					MaxReadRequestUnits: 7, MaxWriteRequestUnits: 8,
				},
			}},
			LocalSecondaryIndexes: []dynamo.LocalSecondaryIndex{{
				IndexName: "L", KeySchema: dynamo.HashRangeKey("pk", "l"),
				Projection: dynamo.Projection{ProjectionType: dynamo.ProjectKeysOnly},
			}},
			ProvisionedThroughput:     &storedUnits,
			OnDemandThroughput:        &dynamo.OnDemandThroughput{MaxReadRequestUnits: 9},
			DeletionProtectionEnabled: true,
			StreamSpecification: &dynamo.StreamSpecification{
				StreamEnabled: true, StreamViewType: dynamo.ViewKeysOnly,
			},
			TableClass: dynamo.ClassStandard, Tags: []dynamo.Tag{{Key: "k", Value: "v"}},
		}, fullTable, &dynamodb.CreateTableOutput{TableDescription: fullTableSeen}),
		"update": client((*dynamodb.Client).UpdateTable, &dynamodb.UpdateTableInput{
			TableName: aws.String("Full"),
			AttributeDefinitions: []types.AttributeDefinition{{
				AttributeName: aws.String("g"), AttributeType: types.ScalarAttributeTypeS,
			}},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
				{Create: &types.CreateGlobalSecondaryIndexAction{
					IndexName: aws.String("G"), KeySchema: seenKey("g"),
					Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				}},
				{Update: &types.UpdateGlobalSecondaryIndexAction{
					IndexName: aws.String("U"), ProvisionedThroughput: units,
					OnDemandThroughput: &types.OnDemandThroughput{
						MaxReadRequestUnits: aws.Int64(-1),
					},
				}},
				{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("D")}},
			},
			BillingMode:           types.BillingModePayPerRequest,
			ProvisionedThroughput: units,
			OnDemandThroughput: &types.OnDemandThroughput{
				MaxWriteRequestUnits: aws.Int64(4),
			},
			DeletionProtectionEnabled: aws.Bool(false),
			StreamSpecification:       &types.StreamSpecification{StreamEnabled: aws.Bool(false)},
			TableClass:                types.TableClassStandardInfrequentAccess,
		}, &dynamo.UpdateTableInput{
			TableName: "Full",
			AttributeDefinitions: []dynamo.AttributeDefinition{{
				AttributeName: "g", AttributeType: dynamo.KindS,
			}},
			GlobalSecondaryIndexUpdates: []dynamo.GlobalSecondaryIndexUpdate{
				{Create: &dynamo.GlobalSecondaryIndex{
					IndexName: "G", KeySchema: dynamo.HashKey("g"),
					Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
				}},
				{Update: &dynamo.UpdateIndex{
					IndexName: "U", ProvisionedThroughput: &storedUnits,
					OnDemandThroughput: &dynamo.OnDemandThroughput{MaxReadRequestUnits: -1},
				}},
				{Delete: "D"},
			},
			BillingMode:               dynamo.BillingPayPerRequest,
			ProvisionedThroughput:     &storedUnits,
			OnDemandThroughput:        &dynamo.OnDemandThroughput{MaxWriteRequestUnits: 4},
			DeletionProtectionEnabled: aws.Bool(false),
			StreamSpecification:       &dynamo.StreamSpecification{},
			TableClass:                dynamo.ClassInfrequentAccess,
		}, fullTable, &dynamodb.UpdateTableOutput{TableDescription: fullTableSeen}),
		"describe": client((*dynamodb.Client).DescribeTable, &dynamodb.DescribeTableInput{
			TableName: aws.String("Full"),
		}, "Full", fullTable, &dynamodb.DescribeTableOutput{Table: fullTableSeen}),
		"delete": client((*dynamodb.Client).DeleteTable, &dynamodb.DeleteTableInput{
			TableName: aws.String("Full"),
		}, "Full", &dynamo.TableDescription{
			TableName: "Full", TableStatus: dynamo.StatusDeleting,
			ProvisionedThroughput: storedUnits,
		}, &dynamodb.DeleteTableOutput{TableDescription: &types.TableDescription{
			TableName: aws.String("Full"), TableStatus: types.TableStatusDeleting,
			ProvisionedThroughput: &types.ProvisionedThroughputDescription{
				NumberOfDecreasesToday: aws.Int64(0), ReadCapacityUnits: aws.Int64(2),
				WriteCapacityUnits: aws.Int64(3),
			},
			DeletionProtectionEnabled: aws.Bool(false),
			ItemCount:                 aws.Int64(0), TableSizeBytes: aws.Int64(0),
		}}),
		"list": client((*dynamodb.Client).ListTables, &dynamodb.ListTablesInput{
			ExclusiveStartTableName: aws.String("A"), Limit: aws.Int32(2),
		}, &dynamo.ListTablesInput{ExclusiveStartTableName: "A", Limit: 2},
			&dynamo.ListTablesOutput{
				TableNames: []string{"B", "C"}, LastEvaluatedTableName: "C",
			}, &dynamodb.ListTablesOutput{
				TableNames: []string{"B", "C"}, LastEvaluatedTableName: aws.String("C"),
			}),
	})
}

func TestSettingsGoRoundThroughTheSDK(t *testing.T) {
	spec := &types.TimeToLiveSpecification{
		AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
	}
	tags := []types.Tag{{Key: aws.String("k"), Value: aws.String("")}}
	run(t, map[string]exchange{
		"turn expiry on": client((*dynamodb.Client).UpdateTimeToLive,
			&dynamodb.UpdateTimeToLiveInput{
				TableName: aws.String("T"), TimeToLiveSpecification: spec,
			}, &dynamo.UpdateTimeToLiveInput{
				TableName: "T", AttributeName: "ttl", Enabled: true,
			}, nil,
			&dynamodb.UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}),
		"describe expiry": client((*dynamodb.Client).DescribeTimeToLive,
			&dynamodb.DescribeTimeToLiveInput{
				TableName: aws.String("T"),
			}, "T", &dynamo.TimeToLiveDescription{
				TimeToLiveStatus: dynamo.TimeToLiveEnabled, AttributeName: "ttl",
			}, &dynamodb.DescribeTimeToLiveOutput{
				TimeToLiveDescription: &types.TimeToLiveDescription{
					AttributeName:    aws.String("ttl"),
					TimeToLiveStatus: types.TimeToLiveStatusEnabled,
				},
			}),
		"tag": client((*dynamodb.Client).TagResource, &dynamodb.TagResourceInput{
			ResourceArn: aws.String("arn"), Tags: tags,
		}, []any{"arn", []dynamo.Tag{{Key: "k"}}}, nil, &dynamodb.TagResourceOutput{}),
		"untag": client((*dynamodb.Client).UntagResource, &dynamodb.UntagResourceInput{
			ResourceArn: aws.String("arn"), TagKeys: []string{"a", "b"},
		}, []any{"arn", []string{"a", "b"}}, nil, &dynamodb.UntagResourceOutput{}),
		"list tags": client((*dynamodb.Client).ListTagsOfResource,
			&dynamodb.ListTagsOfResourceInput{
				ResourceArn: aws.String("arn"), NextToken: aws.String("from"),
			}, &dynamo.ListTagsInput{ResourceArn: "arn", NextToken: "from"},
			&dynamo.ListTagsOutput{Tags: []dynamo.Tag{{Key: "k"}}, NextToken: "to"},
			&dynamodb.ListTagsOfResourceOutput{Tags: tags, NextToken: aws.String("to")}),
		"backups": client((*dynamodb.Client).DescribeContinuousBackups,
			&dynamodb.DescribeContinuousBackupsInput{TableName: aws.String("T")}, "T", fullTable,
			&dynamodb.DescribeContinuousBackupsOutput{
				ContinuousBackupsDescription: &types.ContinuousBackupsDescription{
					ContinuousBackupsStatus: types.ContinuousBackupsStatusDisabled,
					PointInTimeRecoveryDescription: &types.PointInTimeRecoveryDescription{
						PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusDisabled,
					},
				},
			}),
		"limits": client((*dynamodb.Client).DescribeLimits, &dynamodb.DescribeLimitsInput{},
			nil, nil, &dynamodb.DescribeLimitsOutput{
				AccountMaxReadCapacityUnits:  aws.Int64(80000),
				AccountMaxWriteCapacityUnits: aws.Int64(80000),
				TableMaxReadCapacityUnits:    aws.Int64(40000),
				TableMaxWriteCapacityUnits:   aws.Int64(40000),
			}),
		"endpoints": client((*dynamodb.Client).DescribeEndpoints,
			&dynamodb.DescribeEndpointsInput{},
			nil, nil, &dynamodb.DescribeEndpointsOutput{Endpoints: []types.Endpoint{{
				Address: aws.String("dynamodb.local"), CachePeriodInMinutes: 1440,
			}}}),
	})
}

func TestATableOfTheEngineIsDescribedToTheSDK(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	out, err := client.DescribeTable(context.Background(),
		&dynamodb.DescribeTableInput{TableName: table})
	if err != nil {
		t.Fatal(err)
	}
	d := out.Table
	if d.TableStatus != types.TableStatusActive || len(d.AttributeDefinitions) != 5 ||
		len(d.GlobalSecondaryIndexes) != 1 || len(d.LocalSecondaryIndexes) != 1 {
		t.Errorf("got %+v", d)
	}
	if age := time.Since(*d.CreationDateTime); age < -time.Minute || age > time.Minute {
		t.Errorf("created %v ago", age)
	}
}

func TestTagsAreChangedWithAnEmptyAnswer(t *testing.T) {
	h := wire.Transport{Handler: wire.NewHandler(&scripted{DB: openStore(t)}, wire.Options{})}
	for _, operation := range []string{"TagResource", "UntagResource"} {
		status, answer := post(t, h, "DynamoDB_20120810."+operation, `{"ResourceArn":"a"}`)
		if status != 200 || len(answer) != 0 {
			t.Errorf("%s: got %d %q", operation, status, answer)
		}
	}
}

func TestTablesAnswerAsRecorded(t *testing.T) { replay(t, "testdata/tables.txt", openStore(t)) }

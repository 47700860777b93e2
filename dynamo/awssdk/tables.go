package awssdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// CreateTable implements [dynamo.Admin]. The table can be used when its description is active.
func (db *DB) CreateTable(
	ctx context.Context, in *dynamo.CreateTableInput,
) (*dynamo.TableDescription, error) {
	call := &dynamodb.CreateTableInput{
		TableName:                 aws.String(in.TableName),
		AttributeDefinitions:      definitions(in.AttributeDefinitions),
		KeySchema:                 keySchema(in.KeySchema),
		BillingMode:               types.BillingMode(in.BillingMode),
		ProvisionedThroughput:     provisioned(in.ProvisionedThroughput),
		OnDemandThroughput:        onDemand(in.OnDemandThroughput),
		DeletionProtectionEnabled: optional(in.DeletionProtectionEnabled),
		StreamSpecification:       streamSpecification(in.StreamSpecification),
		TableClass:                types.TableClass(in.TableClass),
		Tags:                      tagList(in.Tags),
	}
	for _, index := range in.GlobalSecondaryIndexes {
		call.GlobalSecondaryIndexes = append(call.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{
				IndexName:             aws.String(index.IndexName),
				KeySchema:             keySchema(index.KeySchema),
				Projection:            projection(index.Projection),
				ProvisionedThroughput: provisioned(index.ProvisionedThroughput),
				OnDemandThroughput:    onDemand(index.OnDemandThroughput),
			})
	}
	for _, index := range in.LocalSecondaryIndexes {
		call.LocalSecondaryIndexes = append(call.LocalSecondaryIndexes,
			types.LocalSecondaryIndex{
				IndexName:  aws.String(index.IndexName),
				KeySchema:  keySchema(index.KeySchema),
				Projection: projection(index.Projection),
			})
	}
	out, err := db.client.CreateTable(ctx, call)
	if err != nil {
		return nil, translate(ctx, "CreateTable", err)
	}
	return description(out.TableDescription), nil
}

// DescribeTable implements [dynamo.Admin].
func (db *DB) DescribeTable(
	ctx context.Context, tableName string,
) (*dynamo.TableDescription, error) {
	out, err := db.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{
		TableName: aws.String(tableName),
	})
	if err != nil {
		return nil, translate(ctx, "DescribeTable", err)
	}
	return description(out.Table), nil
}

// ListTables implements [dynamo.Admin].
func (db *DB) ListTables(
	ctx context.Context, in *dynamo.ListTablesInput,
) (*dynamo.ListTablesOutput, error) {
	out, err := db.client.ListTables(ctx, &dynamodb.ListTablesInput{
		ExclusiveStartTableName: optional(in.ExclusiveStartTableName),
		Limit:                   limit(in.Limit),
	})
	if err != nil {
		return nil, translate(ctx, "ListTables", err)
	}
	return &dynamo.ListTablesOutput{
		TableNames:             out.TableNames,
		LastEvaluatedTableName: deref(out.LastEvaluatedTableName),
	}, nil
}

// UpdateTable implements [dynamo.Admin].
func (db *DB) UpdateTable(
	ctx context.Context, in *dynamo.UpdateTableInput,
) (*dynamo.TableDescription, error) {
	call := &dynamodb.UpdateTableInput{
		TableName:                 aws.String(in.TableName),
		BillingMode:               types.BillingMode(in.BillingMode),
		ProvisionedThroughput:     provisioned(in.ProvisionedThroughput),
		OnDemandThroughput:        onDemand(in.OnDemandThroughput),
		DeletionProtectionEnabled: in.DeletionProtectionEnabled,
		StreamSpecification:       streamSpecification(in.StreamSpecification),
		TableClass:                types.TableClass(in.TableClass),
	}
	if len(in.AttributeDefinitions) > 0 {
		call.AttributeDefinitions = definitions(in.AttributeDefinitions)
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		call.GlobalSecondaryIndexUpdates = append(call.GlobalSecondaryIndexUpdates,
			indexUpdate(u))
	}
	out, err := db.client.UpdateTable(ctx, call)
	if err != nil {
		return nil, translate(ctx, "UpdateTable", err)
	}
	return description(out.TableDescription), nil
}

func indexUpdate(u dynamo.GlobalSecondaryIndexUpdate) types.GlobalSecondaryIndexUpdate {
	var out types.GlobalSecondaryIndexUpdate
	if c := u.Create; c != nil {
		out.Create = &types.CreateGlobalSecondaryIndexAction{
			IndexName:             aws.String(c.IndexName),
			KeySchema:             keySchema(c.KeySchema),
			Projection:            projection(c.Projection),
			ProvisionedThroughput: provisioned(c.ProvisionedThroughput),
			OnDemandThroughput:    onDemand(c.OnDemandThroughput),
		}
	}
	if c := u.Update; c != nil {
		out.Update = &types.UpdateGlobalSecondaryIndexAction{
			IndexName:             aws.String(c.IndexName),
			ProvisionedThroughput: provisioned(c.ProvisionedThroughput),
			OnDemandThroughput:    onDemand(c.OnDemandThroughput),
		}
	}
	if u.Delete != "" {
		out.Delete = &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String(u.Delete)}
	}
	return out
}

// DeleteTable implements [dynamo.Admin]. The table is deleted when it can no longer be described.
func (db *DB) DeleteTable(
	ctx context.Context, tableName string,
) (*dynamo.TableDescription, error) {
	out, err := db.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{
		TableName: aws.String(tableName),
	})
	if err != nil {
		return nil, translate(ctx, "DeleteTable", err)
	}
	return description(out.TableDescription), nil
}

// UpdateTimeToLive implements [dynamo.Admin].
func (db *DB) UpdateTimeToLive(ctx context.Context, in *dynamo.UpdateTimeToLiveInput) error {
	_, err := db.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(in.TableName),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(in.AttributeName),
			Enabled:       aws.Bool(in.Enabled),
		},
	})
	return translate(ctx, "UpdateTimeToLive", err)
}

// DescribeTimeToLive implements [dynamo.Admin].
func (db *DB) DescribeTimeToLive(
	ctx context.Context, tableName string,
) (*dynamo.TimeToLiveDescription, error) {
	out, err := db.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{
		TableName: aws.String(tableName),
	})
	if err != nil {
		return nil, translate(ctx, "DescribeTimeToLive", err)
	}
	d := deref(out.TimeToLiveDescription)
	answer := &dynamo.TimeToLiveDescription{
		TimeToLiveStatus: dynamo.TimeToLiveStatus(d.TimeToLiveStatus),
		AttributeName:    deref(d.AttributeName),
	}
	if answer.TimeToLiveStatus == dynamo.TimeToLiveDisabled {
		answer.AttributeName = "" // Some implementations return the previous one.
	}
	return answer, nil
}

func definitions(ds []dynamo.AttributeDefinition) []types.AttributeDefinition {
	out := make([]types.AttributeDefinition, len(ds))
	for i, d := range ds {
		out[i] = types.AttributeDefinition{
			AttributeName: aws.String(d.AttributeName),
			AttributeType: types.ScalarAttributeType(d.AttributeType.String()),
		}
	}
	return out
}

func keySchema(elements []dynamo.KeySchemaElement) []types.KeySchemaElement {
	out := make([]types.KeySchemaElement, len(elements))
	for i, e := range elements {
		out[i] = types.KeySchemaElement{
			AttributeName: aws.String(e.AttributeName), KeyType: types.KeyType(e.KeyType),
		}
	}
	return out
}

func projection(p dynamo.Projection) *types.Projection {
	return &types.Projection{
		ProjectionType:   types.ProjectionType(p.ProjectionType),
		NonKeyAttributes: p.NonKeyAttributes,
	}
}

func provisioned(p *dynamo.ProvisionedThroughput) *types.ProvisionedThroughput {
	if p == nil {
		return nil
	}
	return &types.ProvisionedThroughput{
		ReadCapacityUnits:  aws.Int64(p.ReadCapacityUnits),
		WriteCapacityUnits: aws.Int64(p.WriteCapacityUnits),
	}
}

func onDemand(o *dynamo.OnDemandThroughput) *types.OnDemandThroughput {
	if o == nil {
		return nil
	}
	return &types.OnDemandThroughput{
		MaxReadRequestUnits:  optional(o.MaxReadRequestUnits),
		MaxWriteRequestUnits: optional(o.MaxWriteRequestUnits),
	}
}

func streamSpecification(s *dynamo.StreamSpecification) *types.StreamSpecification {
	if s == nil {
		return nil
	}
	return &types.StreamSpecification{
		StreamEnabled:  aws.Bool(s.StreamEnabled),
		StreamViewType: types.StreamViewType(s.StreamViewType),
	}
}

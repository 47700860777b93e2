package awssdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Get implements [dynamo.DB].
func (db *DB) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	out, err := db.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                aws.String(in.TableName),
		Key:                      required(in.Key),
		ConsistentRead:           optional(in.ConsistentRead),
		ProjectionExpression:     optional(in.ProjectionExpression),
		ExpressionAttributeNames: in.ExpressionAttributeNames,
		ReturnConsumedCapacity:   wantCapacity(in.ReturnConsumedCapacity),
	})
	if err != nil {
		return nil, translate(ctx, "GetItem", err)
	}
	return &dynamo.GetOutput{
		Item:             item(out.Item),
		ConsumedCapacity: capacity(out.ConsumedCapacity),
	}, nil
}

// Put implements [dynamo.DB].
func (db *DB) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	out, err := db.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           aws.String(in.TableName),
		Item:                                required(in.Item),
		ConditionExpression:                 optional(in.ConditionExpression),
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           values(in.ExpressionAttributeValues),
		ReturnValues:                        types.ReturnValue(in.ReturnValues),
		ReturnValuesOnConditionCheckFailure: onFailure(in.ReturnValuesOnConditionCheckFailure),
		ReturnConsumedCapacity:              wantCapacity(in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics:         wantMetrics(in.ReturnItemCollectionMetrics),
	})
	if err != nil {
		return nil, translate(ctx, "PutItem", err)
	}
	return &dynamo.PutOutput{
		Attributes:            item(out.Attributes),
		ConsumedCapacity:      capacity(out.ConsumedCapacity),
		ItemCollectionMetrics: metrics(out.ItemCollectionMetrics),
	}, nil
}

// Update implements [dynamo.DB].
func (db *DB) Update(ctx context.Context, in *dynamo.UpdateInput) (*dynamo.UpdateOutput, error) {
	out, err := db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           aws.String(in.TableName),
		Key:                                 required(in.Key),
		UpdateExpression:                    optional(in.UpdateExpression),
		ConditionExpression:                 optional(in.ConditionExpression),
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           values(in.ExpressionAttributeValues),
		ReturnValues:                        types.ReturnValue(in.ReturnValues),
		ReturnValuesOnConditionCheckFailure: onFailure(in.ReturnValuesOnConditionCheckFailure),
		ReturnConsumedCapacity:              wantCapacity(in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics:         wantMetrics(in.ReturnItemCollectionMetrics),
	})
	if err != nil {
		return nil, translate(ctx, "UpdateItem", err)
	}
	return &dynamo.UpdateOutput{
		Attributes:            item(out.Attributes),
		ConsumedCapacity:      capacity(out.ConsumedCapacity),
		ItemCollectionMetrics: metrics(out.ItemCollectionMetrics),
	}, nil
}

// Delete implements [dynamo.DB].
func (db *DB) Delete(ctx context.Context, in *dynamo.DeleteInput) (*dynamo.DeleteOutput, error) {
	out, err := db.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                           aws.String(in.TableName),
		Key:                                 required(in.Key),
		ConditionExpression:                 optional(in.ConditionExpression),
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           values(in.ExpressionAttributeValues),
		ReturnValues:                        types.ReturnValue(in.ReturnValues),
		ReturnValuesOnConditionCheckFailure: onFailure(in.ReturnValuesOnConditionCheckFailure),
		ReturnConsumedCapacity:              wantCapacity(in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics:         wantMetrics(in.ReturnItemCollectionMetrics),
	})
	if err != nil {
		return nil, translate(ctx, "DeleteItem", err)
	}
	return &dynamo.DeleteOutput{
		Attributes:            item(out.Attributes),
		ConsumedCapacity:      capacity(out.ConsumedCapacity),
		ItemCollectionMetrics: metrics(out.ItemCollectionMetrics),
	}, nil
}

// Query implements [dynamo.DB].
func (db *DB) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	var forward *bool
	if in.ScanIndexBackward {
		forward = aws.Bool(false)
	}
	out, err := db.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(in.TableName),
		IndexName:                 optional(in.IndexName),
		KeyConditionExpression:    optional(in.KeyConditionExpression),
		FilterExpression:          optional(in.FilterExpression),
		ProjectionExpression:      optional(in.ProjectionExpression),
		ExpressionAttributeNames:  in.ExpressionAttributeNames,
		ExpressionAttributeValues: values(in.ExpressionAttributeValues),
		Select:                    types.Select(in.Select),
		ConsistentRead:            optional(in.ConsistentRead),
		ScanIndexForward:          forward,
		Limit:                     limit(in.Limit),
		ExclusiveStartKey:         values(in.ExclusiveStartKey),
		ReturnConsumedCapacity:    wantCapacity(in.ReturnConsumedCapacity),
	})
	if err != nil {
		return nil, translate(ctx, "Query", err)
	}
	return &dynamo.QueryOutput{
		Items:            items(out.Items),
		Count:            int(out.Count),
		ScannedCount:     int(out.ScannedCount),
		LastEvaluatedKey: item(out.LastEvaluatedKey),
		ConsumedCapacity: capacity(out.ConsumedCapacity),
	}, nil
}

// Scan implements [dynamo.DB].
func (db *DB) Scan(ctx context.Context, in *dynamo.ScanInput) (*dynamo.ScanOutput, error) {
	call := &dynamodb.ScanInput{
		TableName:                 aws.String(in.TableName),
		IndexName:                 optional(in.IndexName),
		FilterExpression:          optional(in.FilterExpression),
		ProjectionExpression:      optional(in.ProjectionExpression),
		ExpressionAttributeNames:  in.ExpressionAttributeNames,
		ExpressionAttributeValues: values(in.ExpressionAttributeValues),
		Select:                    types.Select(in.Select),
		ConsistentRead:            optional(in.ConsistentRead),
		Limit:                     limit(in.Limit),
		ExclusiveStartKey:         values(in.ExclusiveStartKey),
		ReturnConsumedCapacity:    wantCapacity(in.ReturnConsumedCapacity),
	}
	if in.TotalSegments != 0 || in.Segment != 0 {
		call.Segment = aws.Int32(narrow(in.Segment))
		call.TotalSegments = limit(in.TotalSegments)
	}
	out, err := db.client.Scan(ctx, call)
	if err != nil {
		return nil, translate(ctx, "Scan", err)
	}
	return &dynamo.ScanOutput{
		Items:            items(out.Items),
		Count:            int(out.Count),
		ScannedCount:     int(out.ScannedCount),
		LastEvaluatedKey: item(out.LastEvaluatedKey),
		ConsumedCapacity: capacity(out.ConsumedCapacity),
	}, nil
}

func onFailure(r dynamo.ReturnValues) types.ReturnValuesOnConditionCheckFailure {
	return types.ReturnValuesOnConditionCheckFailure(r)
}

func wantCapacity(r dynamo.ReturnConsumedCapacity) types.ReturnConsumedCapacity {
	return types.ReturnConsumedCapacity(r)
}

func wantMetrics(r dynamo.ReturnItemCollectionMetrics) types.ReturnItemCollectionMetrics {
	return types.ReturnItemCollectionMetrics(r)
}

func metrics(m *types.ItemCollectionMetrics) *dynamo.ItemCollectionMetrics {
	if m == nil {
		return nil
	}
	out := &dynamo.ItemCollectionMetrics{ItemCollectionKey: item(m.ItemCollectionKey)}
	copy(out.SizeEstimateRangeGB[:], m.SizeEstimateRangeGB)
	return out
}

func metricsByTable(
	byTable map[string][]types.ItemCollectionMetrics,
) map[string][]dynamo.ItemCollectionMetrics {
	if len(byTable) == 0 {
		return nil
	}
	out := make(map[string][]dynamo.ItemCollectionMetrics, len(byTable))
	for table, ms := range byTable {
		for i := range ms {
			out[table] = append(out[table], *metrics(&ms[i]))
		}
	}
	return out
}

func capacity(c *types.ConsumedCapacity) *dynamo.ConsumedCapacity {
	if c == nil {
		return nil
	}
	out := &dynamo.ConsumedCapacity{
		TableName: deref(c.TableName),
		Capacity: dynamo.Capacity{
			CapacityUnits:      deref(c.CapacityUnits),
			ReadCapacityUnits:  deref(c.ReadCapacityUnits),
			WriteCapacityUnits: deref(c.WriteCapacityUnits),
		},
		GlobalSecondaryIndexes: capacityByIndex(c.GlobalSecondaryIndexes),
		LocalSecondaryIndexes:  capacityByIndex(c.LocalSecondaryIndexes),
	}
	if c.Table != nil {
		table := units(*c.Table)
		out.Table = &table
	}
	return out
}

func capacities(cs []types.ConsumedCapacity) []dynamo.ConsumedCapacity {
	if len(cs) == 0 {
		return nil
	}
	out := make([]dynamo.ConsumedCapacity, len(cs))
	for i := range cs {
		out[i] = *capacity(&cs[i])
	}
	return out
}

func units(c types.Capacity) dynamo.Capacity {
	return dynamo.Capacity{
		CapacityUnits:      deref(c.CapacityUnits),
		ReadCapacityUnits:  deref(c.ReadCapacityUnits),
		WriteCapacityUnits: deref(c.WriteCapacityUnits),
	}
}

func capacityByIndex(byIndex map[string]types.Capacity) map[string]dynamo.Capacity {
	if len(byIndex) == 0 {
		return nil
	}
	out := make(map[string]dynamo.Capacity, len(byIndex))
	for name, c := range byIndex {
		out[name] = units(c)
	}
	return out
}

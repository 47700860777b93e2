package awssdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// BatchGet implements [dynamo.DB].
func (db *DB) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	call := &dynamodb.BatchGetItemInput{
		RequestItems:           make(map[string]types.KeysAndAttributes, len(in.RequestItems)),
		ReturnConsumedCapacity: wantCapacity(in.ReturnConsumedCapacity),
	}
	for table, ask := range in.RequestItems {
		keys := make([]map[string]types.AttributeValue, len(ask.Keys))
		for i, key := range ask.Keys {
			keys[i] = required(key)
		}
		call.RequestItems[table] = types.KeysAndAttributes{
			Keys:                     keys,
			ConsistentRead:           optional(ask.ConsistentRead),
			ProjectionExpression:     optional(ask.ProjectionExpression),
			ExpressionAttributeNames: ask.ExpressionAttributeNames,
		}
	}
	out, err := db.client.BatchGetItem(ctx, call)
	if err != nil {
		return nil, translate(ctx, "BatchGetItem", err)
	}
	answer := &dynamo.BatchGetOutput{
		Responses:        make(map[string][]dynamo.Item, len(out.Responses)),
		ConsumedCapacity: capacities(out.ConsumedCapacity),
	}
	for table, found := range out.Responses {
		answer.Responses[table] = items(found)
	}
	for table, left := range out.UnprocessedKeys {
		if answer.UnprocessedKeys == nil {
			answer.UnprocessedKeys = make(map[string]dynamo.KeysAndAttributes)
		}
		answer.UnprocessedKeys[table] = dynamo.KeysAndAttributes{
			Keys:                     items(left.Keys),
			ConsistentRead:           deref(left.ConsistentRead),
			ProjectionExpression:     deref(left.ProjectionExpression),
			ExpressionAttributeNames: left.ExpressionAttributeNames,
		}
	}
	return answer, nil
}

// BatchWrite implements [dynamo.DB].
func (db *DB) BatchWrite(
	ctx context.Context, in *dynamo.BatchWriteInput,
) (*dynamo.BatchWriteOutput, error) {
	call := &dynamodb.BatchWriteItemInput{
		RequestItems:                make(map[string][]types.WriteRequest, len(in.RequestItems)),
		ReturnConsumedCapacity:      wantCapacity(in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics: wantMetrics(in.ReturnItemCollectionMetrics),
	}
	for table, writes := range in.RequestItems {
		requests := make([]types.WriteRequest, len(writes))
		for i, w := range writes {
			if w.Put != nil {
				requests[i].PutRequest = &types.PutRequest{Item: required(w.Put)}
			}
			if w.Delete != nil {
				requests[i].DeleteRequest = &types.DeleteRequest{Key: required(w.Delete)}
			}
		}
		call.RequestItems[table] = requests
	}
	out, err := db.client.BatchWriteItem(ctx, call)
	if err != nil {
		return nil, translate(ctx, "BatchWriteItem", err)
	}
	answer := &dynamo.BatchWriteOutput{
		ConsumedCapacity:      capacities(out.ConsumedCapacity),
		ItemCollectionMetrics: metricsByTable(out.ItemCollectionMetrics),
	}
	for table, left := range out.UnprocessedItems {
		if answer.UnprocessedItems == nil {
			answer.UnprocessedItems = make(map[string][]dynamo.WriteRequest)
		}
		writes := make([]dynamo.WriteRequest, len(left))
		for i, w := range left {
			if w.PutRequest != nil {
				writes[i].Put = item(w.PutRequest.Item)
			}
			if w.DeleteRequest != nil {
				writes[i].Delete = item(w.DeleteRequest.Key)
			}
		}
		answer.UnprocessedItems[table] = writes
	}
	return answer, nil
}

// TransactGet implements [dynamo.DB].
func (db *DB) TransactGet(
	ctx context.Context, in *dynamo.TransactGetInput,
) (*dynamo.TransactGetOutput, error) {
	call := &dynamodb.TransactGetItemsInput{
		TransactItems:          make([]types.TransactGetItem, len(in.Items)),
		ReturnConsumedCapacity: wantCapacity(in.ReturnConsumedCapacity),
	}
	for i, ask := range in.Items {
		call.TransactItems[i].Get = &types.Get{
			TableName:                aws.String(ask.TableName),
			Key:                      required(ask.Key),
			ProjectionExpression:     optional(ask.ProjectionExpression),
			ExpressionAttributeNames: ask.ExpressionAttributeNames,
		}
	}
	out, err := db.client.TransactGetItems(ctx, call)
	if err != nil {
		return nil, translate(ctx, "TransactGetItems", err)
	}
	return &dynamo.TransactGetOutput{
		Items:            responses(out.Responses),
		ConsumedCapacity: capacities(out.ConsumedCapacity),
	}, nil
}

func responses(rs []types.ItemResponse) []dynamo.Item {
	if len(rs) == 0 {
		return nil
	}
	out := make([]dynamo.Item, len(rs))
	for i, r := range rs {
		out[i] = item(r.Item)
	}
	return out
}

// TransactWrite implements [dynamo.DB].
func (db *DB) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	call := &dynamodb.TransactWriteItemsInput{
		TransactItems:               make([]types.TransactWriteItem, len(in.Items)),
		ClientRequestToken:          optional(in.ClientRequestToken),
		ReturnConsumedCapacity:      wantCapacity(in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics: wantMetrics(in.ReturnItemCollectionMetrics),
	}
	for i := range in.Items {
		call.TransactItems[i] = action(&in.Items[i])
	}
	out, err := db.client.TransactWriteItems(ctx, call)
	if err != nil {
		return nil, translate(ctx, "TransactWriteItems", err)
	}
	return &dynamo.TransactWriteOutput{
		ConsumedCapacity:      capacities(out.ConsumedCapacity),
		ItemCollectionMetrics: metricsByTable(out.ItemCollectionMetrics),
	}, nil
}

// action converts one action of a transaction. The service refuses one with no or several fields.
func action(a *dynamo.TransactWriteItem) types.TransactWriteItem {
	var out types.TransactWriteItem
	if c := a.ConditionCheck; c != nil {
		out.ConditionCheck = &types.ConditionCheck{
			TableName:                           aws.String(c.TableName),
			Key:                                 required(c.Key),
			ConditionExpression:                 optional(c.ConditionExpression),
			ExpressionAttributeNames:            c.ExpressionAttributeNames,
			ExpressionAttributeValues:           values(c.ExpressionAttributeValues),
			ReturnValuesOnConditionCheckFailure: onFailure(c.ReturnValuesOnConditionCheckFailure),
		}
	}
	if p := a.Put; p != nil {
		out.Put = &types.Put{
			TableName:                           aws.String(p.TableName),
			Item:                                required(p.Item),
			ConditionExpression:                 optional(p.ConditionExpression),
			ExpressionAttributeNames:            p.ExpressionAttributeNames,
			ExpressionAttributeValues:           values(p.ExpressionAttributeValues),
			ReturnValuesOnConditionCheckFailure: onFailure(p.ReturnValuesOnConditionCheckFailure),
		}
	}
	if u := a.Update; u != nil {
		out.Update = &types.Update{
			TableName:                           aws.String(u.TableName),
			Key:                                 required(u.Key),
			UpdateExpression:                    optional(u.UpdateExpression),
			ConditionExpression:                 optional(u.ConditionExpression),
			ExpressionAttributeNames:            u.ExpressionAttributeNames,
			ExpressionAttributeValues:           values(u.ExpressionAttributeValues),
			ReturnValuesOnConditionCheckFailure: onFailure(u.ReturnValuesOnConditionCheckFailure),
		}
	}
	if d := a.Delete; d != nil {
		out.Delete = &types.Delete{
			TableName:                           aws.String(d.TableName),
			Key:                                 required(d.Key),
			ConditionExpression:                 optional(d.ConditionExpression),
			ExpressionAttributeNames:            d.ExpressionAttributeNames,
			ExpressionAttributeValues:           values(d.ExpressionAttributeValues),
			ReturnValuesOnConditionCheckFailure: onFailure(d.ReturnValuesOnConditionCheckFailure),
		}
	}
	return out
}

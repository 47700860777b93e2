package awssdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// ExecuteStatement implements [dynamo.PartiQL].
func (db *DB) ExecuteStatement(
	ctx context.Context, in *dynamo.ExecuteStatementInput,
) (*dynamo.ExecuteStatementOutput, error) {
	out, err := db.client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
		Statement:                           aws.String(in.Statement),
		Parameters:                          valueList(in.Parameters),
		ConsistentRead:                      optional(in.ConsistentRead),
		Limit:                               limit(in.Limit),
		NextToken:                           optional(in.NextToken),
		ReturnConsumedCapacity:              wantCapacity(in.ReturnConsumedCapacity),
		ReturnValuesOnConditionCheckFailure: onFailure(in.ReturnValuesOnConditionCheckFailure),
	})
	if err != nil {
		return nil, translate(ctx, "ExecuteStatement", err)
	}
	return &dynamo.ExecuteStatementOutput{
		Items:            items(out.Items),
		NextToken:        deref(out.NextToken),
		LastEvaluatedKey: item(out.LastEvaluatedKey),
		ConsumedCapacity: capacity(out.ConsumedCapacity),
	}, nil
}

// BatchExecuteStatement implements [dynamo.PartiQL].
func (db *DB) BatchExecuteStatement(
	ctx context.Context, in *dynamo.BatchExecuteStatementInput,
) (*dynamo.BatchExecuteStatementOutput, error) {
	call := &dynamodb.BatchExecuteStatementInput{
		Statements:             make([]types.BatchStatementRequest, len(in.Statements)),
		ReturnConsumedCapacity: wantCapacity(in.ReturnConsumedCapacity),
	}
	for i, s := range in.Statements {
		call.Statements[i] = types.BatchStatementRequest{
			Statement:                           aws.String(s.Statement),
			Parameters:                          valueList(s.Parameters),
			ConsistentRead:                      optional(s.ConsistentRead),
			ReturnValuesOnConditionCheckFailure: onFailure(s.ReturnValuesOnConditionCheckFailure),
		}
	}
	out, err := db.client.BatchExecuteStatement(ctx, call)
	if err != nil {
		return nil, translate(ctx, "BatchExecuteStatement", err)
	}
	answer := &dynamo.BatchExecuteStatementOutput{
		Responses:        make([]dynamo.BatchStatementResponse, len(out.Responses)),
		ConsumedCapacity: capacities(out.ConsumedCapacity),
	}
	for i, r := range out.Responses {
		answer.Responses[i] = dynamo.BatchStatementResponse{
			TableName: deref(r.TableName), Item: item(r.Item),
		}
		if r.Error != nil {
			answer.Responses[i].Error = &dynamo.BatchStatementError{
				Code:    string(r.Error.Code),
				Message: deref(r.Error.Message),
				Item:    item(r.Error.Item),
			}
		}
	}
	return answer, nil
}

// ExecuteTransaction implements [dynamo.PartiQL].
func (db *DB) ExecuteTransaction(
	ctx context.Context, in *dynamo.ExecuteTransactionInput,
) (*dynamo.ExecuteTransactionOutput, error) {
	call := &dynamodb.ExecuteTransactionInput{
		TransactStatements:     make([]types.ParameterizedStatement, len(in.TransactStatements)),
		ClientRequestToken:     optional(in.ClientRequestToken),
		ReturnConsumedCapacity: wantCapacity(in.ReturnConsumedCapacity),
	}
	for i, s := range in.TransactStatements {
		call.TransactStatements[i] = types.ParameterizedStatement{
			Statement:                           aws.String(s.Statement),
			Parameters:                          valueList(s.Parameters),
			ReturnValuesOnConditionCheckFailure: onFailure(s.ReturnValuesOnConditionCheckFailure),
		}
	}
	out, err := db.client.ExecuteTransaction(ctx, call)
	if err != nil {
		return nil, translate(ctx, "ExecuteTransaction", err)
	}
	return &dynamo.ExecuteTransactionOutput{
		Items:            responses(out.Responses),
		ConsumedCapacity: capacities(out.ConsumedCapacity),
	}, nil
}

package wire_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

func TestStatementsGoRoundThroughTheSDK(t *testing.T) {
	item := dynamo.Item{"pk": dynamo.S("k")}
	seen := attributes{"pk": text("k")}
	used := dynamo.ConsumedCapacity{TableName: "T"}
	used.CapacityUnits = 1.5
	usedSeen := types.ConsumedCapacity{
		TableName: aws.String("T"), CapacityUnits: aws.Float64(1.5),
	}
	run(t, map[string]exchange{
		"one": client((*dynamodb.Client).ExecuteStatement, &dynamodb.ExecuteStatementInput{
			Statement: aws.String("SELECT"), Parameters: []types.AttributeValue{text("k")},
			ConsistentRead: aws.Bool(true), Limit: aws.Int32(6), NextToken: aws.String("from"),
			ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
			ReturnValuesOnConditionCheckFailure: "ALL_OLD",
		}, &dynamo.ExecuteStatementInput{
			Statement: "SELECT", Parameters: []dynamo.Value{dynamo.S("k")}, ConsistentRead: true,
			Limit: 6, NextToken: "from", ReturnConsumedCapacity: dynamo.CapacityTotal,
			ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
		}, &dynamo.ExecuteStatementOutput{
			Items: []dynamo.Item{item}, NextToken: "to", LastEvaluatedKey: item,
			ConsumedCapacity: &used,
		}, &dynamodb.ExecuteStatementOutput{
			Items: []map[string]types.AttributeValue{seen}, NextToken: aws.String("to"),
			LastEvaluatedKey: seen, ConsumedCapacity: &usedSeen,
		}),
		"a write": client((*dynamodb.Client).ExecuteStatement, &dynamodb.ExecuteStatementInput{
			Statement: aws.String("INSERT"),
		}, &dynamo.ExecuteStatementInput{Statement: "INSERT"}, &dynamo.ExecuteStatementOutput{},
			&dynamodb.ExecuteStatementOutput{Items: []map[string]types.AttributeValue{}}),
		"a batch": client((*dynamodb.Client).BatchExecuteStatement,
			&dynamodb.BatchExecuteStatementInput{
				Statements: []types.BatchStatementRequest{{
					Statement: aws.String("A"), Parameters: []types.AttributeValue{number("1")},
					ConsistentRead:                      aws.Bool(true),
					ReturnValuesOnConditionCheckFailure: "ALL_OLD",
				}, {Statement: aws.String("B")}},
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			}, &dynamo.BatchExecuteStatementInput{
				Statements: []dynamo.BatchStatement{{
					Statement: "A", Parameters: []dynamo.Value{dynamo.N("1")},
					ConsistentRead:                      true,
					ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
				}, {Statement: "B"}}, ReturnConsumedCapacity: dynamo.CapacityTotal,
			}, &dynamo.BatchExecuteStatementOutput{
				Responses: []dynamo.BatchStatementResponse{
					{TableName: "T", Item: item},
					{TableName: "T", Error: &dynamo.BatchStatementError{
						Code: "ConditionalCheckFailed", Message: "no", Item: item,
					}},
				}, ConsumedCapacity: []dynamo.ConsumedCapacity{used},
			}, &dynamodb.BatchExecuteStatementOutput{
				Responses: []types.BatchStatementResponse{
					{TableName: aws.String("T"), Item: seen},
					{TableName: aws.String("T"), Error: &types.BatchStatementError{
						Code:    types.BatchStatementErrorCodeEnumConditionalCheckFailed,
						Message: aws.String("no"), Item: seen,
					}},
				}, ConsumedCapacity: []types.ConsumedCapacity{usedSeen},
			}),
		"a transaction": client((*dynamodb.Client).ExecuteTransaction,
			&dynamodb.ExecuteTransactionInput{
				TransactStatements: []types.ParameterizedStatement{{
					Statement: aws.String("A"), Parameters: []types.AttributeValue{text("k")},
					ReturnValuesOnConditionCheckFailure: "ALL_OLD",
				}},
				ClientRequestToken:     aws.String("token"),
				ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
			}, &dynamo.ExecuteTransactionInput{
				TransactStatements: []dynamo.ParameterizedStatement{{
					Statement: "A", Parameters: []dynamo.Value{dynamo.S("k")},
					ReturnValuesOnConditionCheckFailure: dynamo.ReturnAllOld,
				}},
				ClientRequestToken: "token", ReturnConsumedCapacity: dynamo.CapacityIndexes,
			}, &dynamo.ExecuteTransactionOutput{
				Items: []dynamo.Item{item, nil}, ConsumedCapacity: []dynamo.ConsumedCapacity{used},
			}, &dynamodb.ExecuteTransactionOutput{
				Responses:        []types.ItemResponse{{Item: seen}, {}},
				ConsumedCapacity: []types.ConsumedCapacity{usedSeen},
			}),
	})
}

package dynamo

import "context"

// PartiQL executes statements in DynamoDB's dialect of PartiQL.
type PartiQL interface {
	// ExecuteStatement executes one statement: a page of a SELECT, or one write.
	ExecuteStatement(ctx context.Context, in *ExecuteStatementInput) (
		*ExecuteStatementOutput, error)
	// BatchExecuteStatement executes up to 25 independent statements, all reads of single items or
	// all writes.
	BatchExecuteStatement(ctx context.Context, in *BatchExecuteStatementInput) (
		*BatchExecuteStatementOutput, error)
	// ExecuteTransaction executes up to 100 statements, all reads or all writes, all or none.
	ExecuteTransaction(ctx context.Context, in *ExecuteTransactionInput) (
		*ExecuteTransactionOutput, error)
}

// ExecuteStatementInput is a statement whose question marks are replaced by Parameters, in order.
type ExecuteStatementInput struct {
	Statement                           string
	Parameters                          []Value
	ConsistentRead                      bool
	Limit                               int // of evaluated items; 0 means only the limit of 1 MB
	NextToken                           string
	ReturnConsumedCapacity              ReturnConsumedCapacity
	ReturnValuesOnConditionCheckFailure ReturnValues
}

// ExecuteStatementOutput holds the items of a page of a SELECT, or those of RETURNING. NextToken is
// empty on the last page; LastEvaluatedKey is the key that it encodes.
type ExecuteStatementOutput struct {
	Items            []Item
	NextToken        string
	LastEvaluatedKey Key
	ConsumedCapacity *ConsumedCapacity
}

// BatchExecuteStatementInput holds independent statements.
type BatchExecuteStatementInput struct {
	Statements             []BatchStatement
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// BatchStatement is one statement of a batch.
type BatchStatement struct {
	Statement                           string
	Parameters                          []Value
	ConsistentRead                      bool
	ReturnValuesOnConditionCheckFailure ReturnValues
}

// BatchExecuteStatementOutput holds a response for each statement, in order.
type BatchExecuteStatementOutput struct {
	Responses        []BatchStatementResponse
	ConsumedCapacity []ConsumedCapacity
}

// BatchStatementResponse is the result of one statement of a batch. Error is nil if it succeeded.
type BatchStatementResponse struct {
	TableName string
	Item      Item
	Error     *BatchStatementError
}

// BatchStatementError is the reason why a statement of a batch failed. Code is one of the service's
// short codes, such as "ConditionalCheckFailed" or "DuplicateItem".
type BatchStatementError struct {
	Code    string
	Message string
	Item    Item
}

// ExecuteTransactionInput holds statements that are executed all or none.
type ExecuteTransactionInput struct {
	TransactStatements     []ParameterizedStatement
	ClientRequestToken     string
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// ParameterizedStatement is one statement of a transaction.
type ParameterizedStatement struct {
	Statement                           string
	Parameters                          []Value
	ReturnValuesOnConditionCheckFailure ReturnValues
}

// ExecuteTransactionOutput holds, for a transaction of reads, the item of each statement, or nil if
// it does not exist.
type ExecuteTransactionOutput struct {
	Items            []Item
	ConsumedCapacity []ConsumedCapacity
}

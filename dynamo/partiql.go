package dynamo

import "context"

// PartiQL runs statements in DynamoDB's dialect of PartiQL.
type PartiQL interface {
	// ExecuteStatement runs one statement: a page of a SELECT, or one write.
	ExecuteStatement(ctx context.Context, in *ExecuteStatementInput) (
		*ExecuteStatementOutput, error)
	// BatchExecuteStatement runs up to 25 statements, all reads of single items or all writes;
	// each stands alone.
	BatchExecuteStatement(ctx context.Context, in *BatchExecuteStatementInput) (
		*BatchExecuteStatementOutput, error)
	// ExecuteTransaction runs up to 100 statements, all reads or all writes, all or none.
	ExecuteTransaction(ctx context.Context, in *ExecuteTransactionInput) (
		*ExecuteTransactionOutput, error)
}

// ExecuteStatementInput is a statement whose question marks stand for Parameters, in order.
type ExecuteStatementInput struct {
	Statement                           string
	Parameters                          []Value
	ConsistentRead                      bool
	Limit                               int // items evaluated; 0 means no limit but 1 MB
	NextToken                           string
	ReturnConsumedCapacity              ReturnConsumedCapacity
	ReturnValuesOnConditionCheckFailure ReturnValues
}

// ExecuteStatementOutput holds the items of a page of a SELECT, or what RETURNING asked for.
// NextToken is empty on the last page; LastEvaluatedKey is what it stands for.
type ExecuteStatementOutput struct {
	Items            []Item
	NextToken        string
	LastEvaluatedKey Key
	ConsumedCapacity *ConsumedCapacity
}

// BatchExecuteStatementInput holds statements that stand each alone.
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

// BatchStatementResponse is the outcome of one statement of a batch. Error is nil where it went
// well.
type BatchStatementResponse struct {
	TableName string
	Item      Item
	Error     *BatchStatementError
}

// BatchStatementError says why a statement of a batch failed. Code is one of the service's short
// codes, such as "ConditionalCheckFailed" or "DuplicateItem".
type BatchStatementError struct {
	Code    string
	Message string
	Item    Item
}

// ExecuteTransactionInput holds statements that happen all or none.
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

// ExecuteTransactionOutput holds, for a transaction of reads, the item of each statement; nil
// where there is none.
type ExecuteTransactionOutput struct {
	Items            []Item
	ConsumedCapacity []ConsumedCapacity
}

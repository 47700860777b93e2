package dynamo

import "context"

// DB is the data plane of a store. Implementations are safe for concurrent use. Every method
// returns an [*Error] if the store refuses the call or fails, and the context's error if the
// context ends first. A write whose context ended may or may not have been executed.
//
// Inputs are neither retained nor changed. Outputs belong to the caller.
type DB interface {
	// Get reads one item by its primary key.
	Get(ctx context.Context, in *GetInput) (*GetOutput, error)
	// Put writes a whole item and replaces an item with the same key.
	Put(ctx context.Context, in *PutInput) (*PutOutput, error)
	// Update changes attributes of one item, and creates the item if it does not exist.
	Update(ctx context.Context, in *UpdateInput) (*UpdateOutput, error)
	// Delete deletes one item. It is not an error if the item does not exist.
	Delete(ctx context.Context, in *DeleteInput) (*DeleteOutput, error)
	// Query reads a page of one partition of a table or index, ordered by the sort key.
	Query(ctx context.Context, in *QueryInput) (*QueryOutput, error)
	// Scan reads a page of a whole table or index, or of one segment of it.
	Scan(ctx context.Context, in *ScanInput) (*ScanOutput, error)
	// BatchGet reads up to 100 items of any tables, independently of each other.
	BatchGet(ctx context.Context, in *BatchGetInput) (*BatchGetOutput, error)
	// BatchWrite puts and deletes up to 25 items of any tables, independently of each other.
	BatchWrite(ctx context.Context, in *BatchWriteInput) (*BatchWriteOutput, error)
	// TransactGet reads up to 100 items as of one moment.
	TransactGet(ctx context.Context, in *TransactGetInput) (*TransactGetOutput, error)
	// TransactWrite executes up to 100 writes and checks, all or none.
	TransactWrite(ctx context.Context, in *TransactWriteInput) (*TransactWriteOutput, error)
}

// Expressions holds the placeholders that the expressions of one call share.
type Expressions struct {
	// ExpressionAttributeNames maps placeholders ("#n") to attribute names.
	ExpressionAttributeNames map[string]string
	// ExpressionAttributeValues maps placeholders (":v") to values.
	ExpressionAttributeValues map[string]Value
}

// ReturnValues selects the attributes that a write returns.
type ReturnValues string

// The values of ReturnValues. Put and Delete support only the first two.
const (
	ReturnNone       ReturnValues = "NONE"
	ReturnAllOld     ReturnValues = "ALL_OLD"
	ReturnUpdatedOld ReturnValues = "UPDATED_OLD"
	ReturnAllNew     ReturnValues = "ALL_NEW"
	ReturnUpdatedNew ReturnValues = "UPDATED_NEW"
)

// ReturnItemCollectionMetrics selects whether a write returns the size of its item collection.
type ReturnItemCollectionMetrics string

// The values of ReturnItemCollectionMetrics.
const (
	MetricsNone ReturnItemCollectionMetrics = "NONE"
	MetricsSize ReturnItemCollectionMetrics = "SIZE"
)

// ItemCollectionMetrics is the estimated size of the items with one partition key, in a table with
// local secondary indexes.
type ItemCollectionMetrics struct {
	ItemCollectionKey Key
	// SizeEstimateRangeGB is a lower and an upper bound in GB.
	SizeEstimateRangeGB [2]float64
}

// GetInput is a request for one item.
type GetInput struct {
	TableName            string
	Key                  Key
	ConsistentRead       bool
	ProjectionExpression string
	Expressions
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// GetOutput is the response to a GetInput. Item is nil if the item does not exist.
type GetOutput struct {
	Item             Item
	ConsumedCapacity *ConsumedCapacity
}

// PutInput is a request to write an item.
type PutInput struct {
	TableName           string
	Item                Item
	ConditionExpression string
	Expressions
	ReturnValues                        ReturnValues
	ReturnValuesOnConditionCheckFailure ReturnValues
	ReturnConsumedCapacity              ReturnConsumedCapacity
	ReturnItemCollectionMetrics         ReturnItemCollectionMetrics
}

// PutOutput is the response to a PutInput. Attributes is the replaced item, if there was one and
// ALL_OLD was requested.
type PutOutput struct {
	Attributes            Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// UpdateInput is a request to change an item. With an empty UpdateExpression a missing item is
// created with only its key.
type UpdateInput struct {
	TableName           string
	Key                 Key
	UpdateExpression    string
	ConditionExpression string
	Expressions
	ReturnValues                        ReturnValues
	ReturnValuesOnConditionCheckFailure ReturnValues
	ReturnConsumedCapacity              ReturnConsumedCapacity
	ReturnItemCollectionMetrics         ReturnItemCollectionMetrics
}

// UpdateOutput is the response to an UpdateInput. Attributes are those that ReturnValues selects.
type UpdateOutput struct {
	Attributes            Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// DeleteInput is a request to delete an item.
type DeleteInput struct {
	TableName           string
	Key                 Key
	ConditionExpression string
	Expressions
	ReturnValues                        ReturnValues
	ReturnValuesOnConditionCheckFailure ReturnValues
	ReturnConsumedCapacity              ReturnConsumedCapacity
	ReturnItemCollectionMetrics         ReturnItemCollectionMetrics
}

// DeleteOutput is the response to a DeleteInput. Attributes is the deleted item, if there was one
// and ALL_OLD was requested.
type DeleteOutput struct {
	Attributes            Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// Select selects the result of a Query or Scan. Empty means all attributes; on an index, all
// projected attributes; with a projection, those of the projection.
type Select string

// The values of Select.
const (
	SelectAllAttributes          Select = "ALL_ATTRIBUTES"
	SelectAllProjectedAttributes Select = "ALL_PROJECTED_ATTRIBUTES"
	SelectSpecificAttributes     Select = "SPECIFIC_ATTRIBUTES"
	SelectCount                  Select = "COUNT"
)

// QueryInput is a request for a page of one partition.
type QueryInput struct {
	TableName              string
	IndexName              string
	KeyConditionExpression string
	FilterExpression       string
	ProjectionExpression   string
	Expressions
	Select         Select
	ConsistentRead bool
	// ScanIndexBackward reads in descending order of the sort key (ScanIndexForward=false).
	ScanIndexBackward bool
	// Limit is the maximum number of items to evaluate; 0 means no limit.
	Limit int
	// ExclusiveStartKey is the LastEvaluatedKey of the previous page.
	ExclusiveStartKey      Key
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// QueryOutput is one page. If LastEvaluatedKey is not nil, there may be more pages, even if Items
// is empty.
type QueryOutput struct {
	Items []Item
	// Count is the number of items that passed the filter, ScannedCount the number of evaluated
	// items.
	Count, ScannedCount int
	LastEvaluatedKey    Key
	ConsumedCapacity    *ConsumedCapacity
}

// ScanInput is a request for a page of a table or index. Segment and TotalSegments select one of
// several parts for parallel readers; with TotalSegments 0 the whole is read.
type ScanInput struct {
	TableName            string
	IndexName            string
	FilterExpression     string
	ProjectionExpression string
	Expressions
	Select         Select
	ConsistentRead bool
	Segment        int
	TotalSegments  int
	// Limit is the maximum number of items to evaluate; 0 means no limit.
	Limit                  int
	ExclusiveStartKey      Key
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// ScanOutput is one page; see [QueryOutput].
type ScanOutput struct {
	Items               []Item
	Count, ScannedCount int
	LastEvaluatedKey    Key
	ConsumedCapacity    *ConsumedCapacity
}

// KeysAndAttributes are the keys to read from one table, and the options of the read.
type KeysAndAttributes struct {
	Keys                     []Key
	ConsistentRead           bool
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
}

// BatchGetInput is a request for up to 100 items, by table name.
type BatchGetInput struct {
	RequestItems           map[string]KeysAndAttributes
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// BatchGetOutput holds the found items in no particular order, and the keys to request again.
type BatchGetOutput struct {
	Responses        map[string][]Item
	UnprocessedKeys  map[string]KeysAndAttributes
	ConsumedCapacity []ConsumedCapacity
}

// WriteRequest is one member of a batch: a Put of an item, or a Delete of a key. Exactly one of
// them must be set.
type WriteRequest struct {
	Put    Item
	Delete Key
}

// BatchWriteInput is a request for up to 25 writes, by table name.
type BatchWriteInput struct {
	RequestItems                map[string][]WriteRequest
	ReturnConsumedCapacity      ReturnConsumedCapacity
	ReturnItemCollectionMetrics ReturnItemCollectionMetrics
}

// BatchWriteOutput holds the writes to request again.
type BatchWriteOutput struct {
	UnprocessedItems      map[string][]WriteRequest
	ConsumedCapacity      []ConsumedCapacity
	ItemCollectionMetrics map[string][]ItemCollectionMetrics
}

// TransactGetItem is one read of a transaction.
type TransactGetItem struct {
	TableName                string
	Key                      Key
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
}

// TransactGetInput is a request for up to 100 items as of one moment.
type TransactGetInput struct {
	Items                  []TransactGetItem
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// TransactGetOutput holds one item for each read, in order; nil for an item that does not exist.
type TransactGetOutput struct {
	Items            []Item
	ConsumedCapacity []ConsumedCapacity
}

// ConditionCheck is a condition on an item that the transaction does not change.
type ConditionCheck struct {
	TableName           string
	Key                 Key
	ConditionExpression string
	Expressions
	ReturnValuesOnConditionCheckFailure ReturnValues
}

// TransactWriteItem is one action of a transaction. Exactly one field must be set. The fields of
// the inputs about return values (except ReturnValuesOnConditionCheckFailure), capacity and metrics
// are ignored.
type TransactWriteItem struct {
	ConditionCheck *ConditionCheck
	Put            *PutInput
	Update         *UpdateInput
	Delete         *DeleteInput
}

// TransactWriteInput is a request for up to 100 actions on different items, all or none.
type TransactWriteInput struct {
	Items []TransactWriteItem
	// ClientRequestToken makes the call idempotent for ten minutes.
	ClientRequestToken          string
	ReturnConsumedCapacity      ReturnConsumedCapacity
	ReturnItemCollectionMetrics ReturnItemCollectionMetrics
}

// TransactWriteOutput is the response to a TransactWriteInput that was executed.
type TransactWriteOutput struct {
	ConsumedCapacity      []ConsumedCapacity
	ItemCollectionMetrics map[string][]ItemCollectionMetrics
}

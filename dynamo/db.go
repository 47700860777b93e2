package dynamo

import "context"

// DB is the data plane of a store. Implementations are safe for concurrent use. Every method
// answers with an [*Error] when the store refuses or fails, and with the context's error when
// the context ends first; a write whose context ended may or may not have happened.
//
// Inputs are read, never kept or changed; outputs belong to the caller.
type DB interface {
	// Get reads one item by its primary key.
	Get(ctx context.Context, in *GetInput) (*GetOutput, error)
	// Put writes a whole item, replacing the one with the same key.
	Put(ctx context.Context, in *PutInput) (*PutOutput, error)
	// Update changes attributes of one item, creating it where it is missing.
	Update(ctx context.Context, in *UpdateInput) (*UpdateOutput, error)
	// Delete removes one item; a missing one is no error.
	Delete(ctx context.Context, in *DeleteInput) (*DeleteOutput, error)
	// Query reads a page of one partition of a table or index, in the order of its sort key.
	Query(ctx context.Context, in *QueryInput) (*QueryOutput, error)
	// Scan reads a page of a whole table or index, or of one segment of it.
	Scan(ctx context.Context, in *ScanInput) (*ScanOutput, error)
	// BatchGet reads up to 100 items of any tables; each read stands alone.
	BatchGet(ctx context.Context, in *BatchGetInput) (*BatchGetOutput, error)
	// BatchWrite puts and deletes up to 25 items of any tables; each write stands alone.
	BatchWrite(ctx context.Context, in *BatchWriteInput) (*BatchWriteOutput, error)
	// TransactGet reads up to 100 items as they stood at one moment.
	TransactGet(ctx context.Context, in *TransactGetInput) (*TransactGetOutput, error)
	// TransactWrite does up to 100 writes and checks, all or none.
	TransactWrite(ctx context.Context, in *TransactWriteInput) (*TransactWriteOutput, error)
}

// Expressions holds the placeholders that the expressions of one call share.
type Expressions struct {
	// ExpressionAttributeNames maps placeholders ("#n") to attribute names.
	ExpressionAttributeNames map[string]string
	// ExpressionAttributeValues maps placeholders (":v") to values.
	ExpressionAttributeValues map[string]Value
}

// ReturnValues says which attributes a write answers with.
type ReturnValues string

// What a write may answer with; Put and Delete know only the first two.
const (
	ReturnNone       ReturnValues = "NONE"
	ReturnAllOld     ReturnValues = "ALL_OLD"
	ReturnUpdatedOld ReturnValues = "UPDATED_OLD"
	ReturnAllNew     ReturnValues = "ALL_NEW"
	ReturnUpdatedNew ReturnValues = "UPDATED_NEW"
)

// ReturnItemCollectionMetrics says whether a write tells the size of its item collection.
type ReturnItemCollectionMetrics string

// The two answers to that.
const (
	MetricsNone ReturnItemCollectionMetrics = "NONE"
	MetricsSize ReturnItemCollectionMetrics = "SIZE"
)

// ItemCollectionMetrics tells the estimated size of the items that share a partition key, in a
// table with local secondary indexes.
type ItemCollectionMetrics struct {
	ItemCollectionKey Key
	// SizeEstimateRangeGB holds a lower and an upper bound in GB.
	SizeEstimateRangeGB [2]float64
}

// GetInput asks for one item.
type GetInput struct {
	TableName            string
	Key                  Key
	ConsistentRead       bool
	ProjectionExpression string
	Expressions
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// GetOutput is the answer to a GetInput. Item is nil when there is none.
type GetOutput struct {
	Item             Item
	ConsumedCapacity *ConsumedCapacity
}

// PutInput asks to write an item.
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

// PutOutput is the answer to a PutInput. Attributes is the replaced item, if ALL_OLD was asked
// for and there was one.
type PutOutput struct {
	Attributes            Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// UpdateInput asks to change an item. An empty UpdateExpression creates the item with its key
// alone where it is missing.
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

// UpdateOutput is the answer to an UpdateInput. Attributes is what ReturnValues asked for.
type UpdateOutput struct {
	Attributes            Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// DeleteInput asks to remove an item.
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

// DeleteOutput is the answer to a DeleteInput. Attributes is the removed item, if ALL_OLD was
// asked for and there was one.
type DeleteOutput struct {
	Attributes            Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// Select says what a Query or Scan answers with. Empty means all attributes, or, on an index,
// all projected attributes, or, with a projection, those it names.
type Select string

// The four choices.
const (
	SelectAllAttributes          Select = "ALL_ATTRIBUTES"
	SelectAllProjectedAttributes Select = "ALL_PROJECTED_ATTRIBUTES"
	SelectSpecificAttributes     Select = "SPECIFIC_ATTRIBUTES"
	SelectCount                  Select = "COUNT"
)

// QueryInput asks for a page of one partition.
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
	// Limit is how many items to evaluate at the most; 0 sets no limit.
	Limit int
	// ExclusiveStartKey is the LastEvaluatedKey of the page before.
	ExclusiveStartKey      Key
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// QueryOutput is one page. There is more to read, or there may be, while LastEvaluatedKey is
// not nil, even when Items is empty.
type QueryOutput struct {
	Items []Item
	// Count is the number of items that passed the filter, ScannedCount of those evaluated.
	Count, ScannedCount int
	LastEvaluatedKey    Key
	ConsumedCapacity    *ConsumedCapacity
}

// ScanInput asks for a page of a table or index. Segment and TotalSegments divide it among
// parallel readers; TotalSegments 0 reads it undivided.
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
	// Limit is how many items to evaluate at the most; 0 sets no limit.
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

// KeysAndAttributes are the keys to read of one table and what to answer of each item.
type KeysAndAttributes struct {
	Keys                     []Key
	ConsistentRead           bool
	ProjectionExpression     string
	ExpressionAttributeNames map[string]string
}

// BatchGetInput asks for up to 100 items, by table name.
type BatchGetInput struct {
	RequestItems           map[string]KeysAndAttributes
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// BatchGetOutput holds the items found, in no order, and what to ask for again.
type BatchGetOutput struct {
	Responses        map[string][]Item
	UnprocessedKeys  map[string]KeysAndAttributes
	ConsumedCapacity []ConsumedCapacity
}

// WriteRequest is one member of a batch: a Put of an item, or a Delete of a key. Exactly one of
// the two is set.
type WriteRequest struct {
	Put    Item
	Delete Key
}

// BatchWriteInput asks for up to 25 writes, by table name.
type BatchWriteInput struct {
	RequestItems                map[string][]WriteRequest
	ReturnConsumedCapacity      ReturnConsumedCapacity
	ReturnItemCollectionMetrics ReturnItemCollectionMetrics
}

// BatchWriteOutput holds what to ask for again.
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

// TransactGetInput asks for up to 100 items as of one moment.
type TransactGetInput struct {
	Items                  []TransactGetItem
	ReturnConsumedCapacity ReturnConsumedCapacity
}

// TransactGetOutput holds one item for each read, in order; nil where there is none.
type TransactGetOutput struct {
	Items            []Item
	ConsumedCapacity []ConsumedCapacity
}

// ConditionCheck asserts a condition on an item that the transaction does not change.
type ConditionCheck struct {
	TableName           string
	Key                 Key
	ConditionExpression string
	Expressions
	ReturnValuesOnConditionCheckFailure ReturnValues
}

// TransactWriteItem is one action of a transaction. Exactly one of its fields is set; of the
// inputs, the fields about return values (but ReturnValuesOnConditionCheckFailure), capacity and
// metrics are not looked at.
type TransactWriteItem struct {
	ConditionCheck *ConditionCheck
	Put            *PutInput
	Update         *UpdateInput
	Delete         *DeleteInput
}

// TransactWriteInput asks for up to 100 actions, each on another item, all or none.
type TransactWriteInput struct {
	Items []TransactWriteItem
	// ClientRequestToken makes the call safe to repeat for ten minutes.
	ClientRequestToken          string
	ReturnConsumedCapacity      ReturnConsumedCapacity
	ReturnItemCollectionMetrics ReturnItemCollectionMetrics
}

// TransactWriteOutput is the answer to a TransactWriteInput that was carried out.
type TransactWriteOutput struct {
	ConsumedCapacity      []ConsumedCapacity
	ItemCollectionMetrics map[string][]ItemCollectionMetrics
}

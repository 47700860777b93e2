package dynamo

import (
	"context"
	"time"
)

// Streams reads the changes of tables. The changes of one item are in the order in which they
// happened. A record can be read for 24 hours, even if the stream is disabled or its table deleted.
type Streams interface {
	// ListStreams lists streams, open or closed, of one table or of all.
	ListStreams(ctx context.Context, in *ListStreamsInput) (*ListStreamsOutput, error)
	// DescribeStream returns the description of a stream with a page of its shards.
	DescribeStream(ctx context.Context, in *DescribeStreamInput) (*StreamDescription, error)
	// GetShardIterator returns a position in a shard, which is valid for 15 minutes.
	GetShardIterator(ctx context.Context, in *GetShardIteratorInput) (iterator string, err error)
	// GetRecords returns a page of records and the iterator of the next page.
	GetRecords(ctx context.Context, in *GetRecordsInput) (*GetRecordsOutput, error)
}

// StreamViewType selects the images of an item that a record holds in addition to its key.
type StreamViewType string

// The view types.
const (
	ViewKeysOnly        StreamViewType = "KEYS_ONLY"
	ViewNewImage        StreamViewType = "NEW_IMAGE"
	ViewOldImage        StreamViewType = "OLD_IMAGE"
	ViewNewAndOldImages StreamViewType = "NEW_AND_OLD_IMAGES"
)

// StreamSpecification enables the stream of a table with a view, or disables it.
type StreamSpecification struct {
	StreamEnabled  bool
	StreamViewType StreamViewType
}

// ListStreamsInput is a request for a page of streams, of all tables if TableName is empty.
type ListStreamsInput struct {
	TableName               string
	ExclusiveStartStreamArn string
	Limit                   int // 1 to 100; 0 means 100
}

// ListStreamsOutput is a page of streams. LastEvaluatedStreamArn is empty on the last page.
type ListStreamsOutput struct {
	Streams                []StreamSummary
	LastEvaluatedStreamArn string
}

// StreamSummary identifies a stream. The label is the time when it was enabled.
type StreamSummary struct {
	StreamArn   string
	StreamLabel string
	TableName   string
}

// DescribeStreamInput is a request for a stream and a page of its shards.
type DescribeStreamInput struct {
	StreamArn             string
	ExclusiveStartShardID string
	Limit                 int // 1 to 100 shards; 0 means 100
	// ChildrenOf, if it is set, restricts the shards to the children of this one.
	ChildrenOf string
}

// StreamStatus is the state of a stream.
type StreamStatus string

// The states of a stream.
const (
	StreamEnabling  StreamStatus = "ENABLING"
	StreamEnabled   StreamStatus = "ENABLED"
	StreamDisabling StreamStatus = "DISABLING"
	StreamDisabled  StreamStatus = "DISABLED"
)

// StreamDescription describes a stream. LastEvaluatedShardID is empty on the last page of shards.
type StreamDescription struct {
	StreamSummary
	StreamStatus            StreamStatus
	StreamViewType          StreamViewType
	CreationRequestDateTime time.Time
	KeySchema               []KeySchemaElement
	Shards                  []Shard
	LastEvaluatedShardID    string
}

// Shard is a sequence of a stream's records. EndingSequenceNumber is empty while the shard is open,
// ParentShardID if it has no parent.
type Shard struct {
	ShardID                string
	ParentShardID          string
	StartingSequenceNumber string
	EndingSequenceNumber   string
}

// ShardIteratorType is the kind of a position in a shard.
type ShardIteratorType string

// The kinds of positions.
const (
	IteratorTrimHorizon         ShardIteratorType = "TRIM_HORIZON"
	IteratorLatest              ShardIteratorType = "LATEST"
	IteratorAtSequenceNumber    ShardIteratorType = "AT_SEQUENCE_NUMBER"
	IteratorAfterSequenceNumber ShardIteratorType = "AFTER_SEQUENCE_NUMBER"
)

// GetShardIteratorInput is a request for a position in a shard. SequenceNumber is used by the last
// two types.
type GetShardIteratorInput struct {
	StreamArn         string
	ShardID           string
	ShardIteratorType ShardIteratorType
	SequenceNumber    string
}

// GetRecordsInput is a request for the records from a position on.
type GetRecordsInput struct {
	ShardIterator string
	Limit         int // 1 to 1,000; 0 means 1,000
}

// GetRecordsOutput is a page of at most 1 MB. NextShardIterator is empty at the end of a closed
// shard.
type GetRecordsOutput struct {
	Records           []StreamRecord
	NextShardIterator string
}

// StreamEvent is the kind of a change.
type StreamEvent string

// The kinds of changes.
const (
	EventInsert StreamEvent = "INSERT"
	EventModify StreamEvent = "MODIFY"
	EventRemove StreamEvent = "REMOVE"
)

// StreamRecord is one change of one item. Its images depend on the view of the stream.
type StreamRecord struct {
	EventID   string
	EventName StreamEvent
	AWSRegion string
	// Expired reports whether the item was deleted because its time to live was over.
	Expired bool

	ApproximateCreationDateTime time.Time // to the second
	Keys                        Key
	NewImage                    Item
	OldImage                    Item
	SequenceNumber              string
	SizeBytes                   int64
	StreamViewType              StreamViewType
}

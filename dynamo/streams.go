package dynamo

import (
	"context"
	"time"
)

// Streams reads the changes of tables, in the order in which they happened to each item. A record
// stays readable for 24 hours, also when the stream is turned off or its table deleted.
type Streams interface {
	// ListStreams lists streams, open or closed, of one table or of all.
	ListStreams(ctx context.Context, in *ListStreamsInput) (*ListStreamsOutput, error)
	// DescribeStream tells of one stream and of a page of its shards.
	DescribeStream(ctx context.Context, in *DescribeStreamInput) (*StreamDescription, error)
	// GetShardIterator returns a place in a shard from which to read; it lasts 15 minutes.
	GetShardIterator(ctx context.Context, in *GetShardIteratorInput) (iterator string, err error)
	// GetRecords returns a page of records, and the iterator to go on with.
	GetRecords(ctx context.Context, in *GetRecordsInput) (*GetRecordsOutput, error)
}

// StreamViewType says which images of an item a record holds besides its key.
type StreamViewType string

// The four views.
const (
	ViewKeysOnly        StreamViewType = "KEYS_ONLY"
	ViewNewImage        StreamViewType = "NEW_IMAGE"
	ViewOldImage        StreamViewType = "OLD_IMAGE"
	ViewNewAndOldImages StreamViewType = "NEW_AND_OLD_IMAGES"
)

// StreamSpecification turns the stream of a table on, with a view, or off, without one.
type StreamSpecification struct {
	StreamEnabled  bool
	StreamViewType StreamViewType
}

// ListStreamsInput asks for a page of streams. TableName is empty for those of all tables.
type ListStreamsInput struct {
	TableName               string
	ExclusiveStartStreamArn string
	Limit                   int // 1 to 100; 0 means 100
}

// ListStreamsOutput is a page of streams; LastEvaluatedStreamArn is empty on the last.
type ListStreamsOutput struct {
	Streams                []StreamSummary
	LastEvaluatedStreamArn string
}

// StreamSummary names a stream. The label is the time at which it was turned on.
type StreamSummary struct {
	StreamArn   string
	StreamLabel string
	TableName   string
}

// DescribeStreamInput asks for a stream and a page of its shards.
type DescribeStreamInput struct {
	StreamArn             string
	ExclusiveStartShardID string
	Limit                 int // 1 to 100 shards; 0 means 100
	// ChildrenOf, where given, asks only for the shards that came out of this one.
	ChildrenOf string
}

// StreamStatus is the state of a stream.
type StreamStatus string

// The states.
const (
	StreamEnabling  StreamStatus = "ENABLING"
	StreamEnabled   StreamStatus = "ENABLED"
	StreamDisabling StreamStatus = "DISABLING"
	StreamDisabled  StreamStatus = "DISABLED"
)

// StreamDescription is what a store tells of a stream; LastEvaluatedShardID is empty on the last
// page of shards.
type StreamDescription struct {
	StreamSummary
	StreamStatus            StreamStatus
	StreamViewType          StreamViewType
	CreationRequestDateTime time.Time
	KeySchema               []KeySchemaElement
	Shards                  []Shard
	LastEvaluatedShardID    string
}

// Shard is a run of a stream's records. EndingSequenceNumber is empty while it is open,
// ParentShardID where no shard came before.
type Shard struct {
	ShardID                string
	ParentShardID          string
	StartingSequenceNumber string
	EndingSequenceNumber   string
}

// ShardIteratorType says where in a shard to begin.
type ShardIteratorType string

// The four places.
const (
	IteratorTrimHorizon         ShardIteratorType = "TRIM_HORIZON"
	IteratorLatest              ShardIteratorType = "LATEST"
	IteratorAtSequenceNumber    ShardIteratorType = "AT_SEQUENCE_NUMBER"
	IteratorAfterSequenceNumber ShardIteratorType = "AFTER_SEQUENCE_NUMBER"
)

// GetShardIteratorInput asks for a place in a shard; SequenceNumber goes with the last two types.
type GetShardIteratorInput struct {
	StreamArn         string
	ShardID           string
	ShardIteratorType ShardIteratorType
	SequenceNumber    string
}

// GetRecordsInput asks for the records from a place on.
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

// StreamEvent says what happened to an item.
type StreamEvent string

// The events.
const (
	EventInsert StreamEvent = "INSERT"
	EventModify StreamEvent = "MODIFY"
	EventRemove StreamEvent = "REMOVE"
)

// StreamRecord is one change of one item. Which images it has depends on the view of the stream.
type StreamRecord struct {
	EventID   string
	EventName StreamEvent
	AWSRegion string
	// Expired is true for the removal of an item whose time to live had passed.
	Expired bool

	ApproximateCreationDateTime time.Time // to the second
	Keys                        Key
	NewImage                    Item
	OldImage                    Item
	SequenceNumber              string
	SizeBytes                   int64
	StreamViewType              StreamViewType
}

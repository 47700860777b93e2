package dynamo

import (
	"context"
	"time"
)

// Admin is the control plane of a store: its tables.
type Admin interface {
	CreateTable(ctx context.Context, in *CreateTableInput) (*TableDescription, error)
	DescribeTable(ctx context.Context, tableName string) (*TableDescription, error)
	ListTables(ctx context.Context, in *ListTablesInput) (*ListTablesOutput, error)
	UpdateTable(ctx context.Context, in *UpdateTableInput) (*TableDescription, error)
	DeleteTable(ctx context.Context, tableName string) (*TableDescription, error)
	UpdateTimeToLive(ctx context.Context, in *UpdateTimeToLiveInput) error
	DescribeTimeToLive(ctx context.Context, tableName string) (*TimeToLiveDescription, error)
}

// AttributeDefinition gives the type of a key attribute: KindS, KindN or KindB.
type AttributeDefinition struct {
	AttributeName string
	AttributeType Kind
}

// KeyType says which part of a key an attribute is.
type KeyType string

// The two parts.
const (
	KeyTypeHash  KeyType = "HASH"
	KeyTypeRange KeyType = "RANGE"
)

// KeySchemaElement is one attribute of a key. The partition key comes first.
type KeySchemaElement struct {
	AttributeName string
	KeyType       KeyType
}

// HashKey returns the key schema of a partition key alone.
func HashKey(partition string) []KeySchemaElement {
	return []KeySchemaElement{{AttributeName: partition, KeyType: KeyTypeHash}}
}

// HashRangeKey returns the key schema of a partition key and a sort key.
func HashRangeKey(partition, sort string) []KeySchemaElement {
	return append(HashKey(partition), KeySchemaElement{AttributeName: sort, KeyType: KeyTypeRange})
}

// ProjectionType says which attributes an index holds besides its keys and the table's.
type ProjectionType string

// All attributes, none, or those named.
const (
	ProjectAll      ProjectionType = "ALL"
	ProjectKeysOnly ProjectionType = "KEYS_ONLY"
	ProjectInclude  ProjectionType = "INCLUDE"
)

// Projection says which attributes an index holds.
type Projection struct {
	ProjectionType   ProjectionType
	NonKeyAttributes []string // with ProjectInclude only
}

// BillingMode says how a table's throughput is paid for.
type BillingMode string

// The two modes.
const (
	BillingProvisioned   BillingMode = "PROVISIONED"
	BillingPayPerRequest BillingMode = "PAY_PER_REQUEST"
)

// ProvisionedThroughput is in capacity units per second.
type ProvisionedThroughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

// OnDemandThroughput caps the throughput of a table or index that is paid by request, in units per
// second. 0 leaves a cap as it is; -1 takes it away.
type OnDemandThroughput struct {
	MaxReadRequestUnits  int64
	MaxWriteRequestUnits int64
}

// TableClass says at which prices a table is kept.
type TableClass string

// The two classes.
const (
	ClassStandard         TableClass = "STANDARD"
	ClassInfrequentAccess TableClass = "STANDARD_INFREQUENT_ACCESS"
)

// GlobalSecondaryIndex defines an index with keys of its own.
type GlobalSecondaryIndex struct {
	IndexName             string
	KeySchema             []KeySchemaElement
	Projection            Projection
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
}

// LocalSecondaryIndex defines an index with the table's partition key and another sort key.
type LocalSecondaryIndex struct {
	IndexName  string
	KeySchema  []KeySchemaElement
	Projection Projection
}

// CreateTableInput defines a table. AttributeDefinitions names exactly the attributes that the
// key schemas use. An empty BillingMode means BillingProvisioned, as in the service.
type CreateTableInput struct {
	TableName                 string
	AttributeDefinitions      []AttributeDefinition
	KeySchema                 []KeySchemaElement
	GlobalSecondaryIndexes    []GlobalSecondaryIndex
	LocalSecondaryIndexes     []LocalSecondaryIndex
	BillingMode               BillingMode
	ProvisionedThroughput     *ProvisionedThroughput
	OnDemandThroughput        *OnDemandThroughput
	DeletionProtectionEnabled bool
	StreamSpecification       *StreamSpecification
	TableClass                TableClass // empty means ClassStandard
	Tags                      []Tag
}

// UpdateTableInput changes a table: one index created or deleted a call, as in the service.
// AttributeDefinitions are merged with the table's; a new index's keys must be among them.
type UpdateTableInput struct {
	TableName                   string
	AttributeDefinitions        []AttributeDefinition
	GlobalSecondaryIndexUpdates []GlobalSecondaryIndexUpdate
	BillingMode                 BillingMode
	ProvisionedThroughput       *ProvisionedThroughput
	OnDemandThroughput          *OnDemandThroughput
	DeletionProtectionEnabled   *bool
	StreamSpecification         *StreamSpecification
	TableClass                  TableClass // empty leaves it
}

// GlobalSecondaryIndexUpdate creates one index, changes the throughput of one, or deletes the one
// named; exactly one is set.
type GlobalSecondaryIndexUpdate struct {
	Create *GlobalSecondaryIndex
	Update *UpdateIndex
	Delete string
}

// UpdateIndex changes the throughput of an index.
type UpdateIndex struct {
	IndexName             string
	ProvisionedThroughput *ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
}

// TableStatus is the state of a table or index.
type TableStatus string

// The states.
const (
	StatusCreating TableStatus = "CREATING"
	StatusUpdating TableStatus = "UPDATING"
	StatusDeleting TableStatus = "DELETING"
	StatusActive   TableStatus = "ACTIVE"
)

// TableDescription is what a store tells of a table. ItemCount and TableSizeBytes may lag, as in
// the service.
type TableDescription struct {
	TableName                 string
	TableArn                  string
	TableID                   string
	TableStatus               TableStatus
	CreationDateTime          time.Time
	AttributeDefinitions      []AttributeDefinition
	KeySchema                 []KeySchemaElement
	GlobalSecondaryIndexes    []GlobalSecondaryIndexDescription
	LocalSecondaryIndexes     []LocalSecondaryIndexDescription
	BillingMode               BillingMode
	ProvisionedThroughput     ProvisionedThroughput
	OnDemandThroughput        *OnDemandThroughput
	DeletionProtectionEnabled bool
	TableClass                TableClass           // empty where it was never set
	StreamSpecification       *StreamSpecification // nil while the stream is off
	LatestStreamArn           string               // also of a stream that was turned off
	LatestStreamLabel         string
	ItemCount                 int64
	TableSizeBytes            int64
}

// GlobalSecondaryIndexDescription is what a store tells of an index. Backfilling is true while
// an index that was added to a table with items is being filled; it cannot be read until then.
type GlobalSecondaryIndexDescription struct {
	IndexName             string
	IndexArn              string
	IndexStatus           TableStatus
	Backfilling           bool
	KeySchema             []KeySchemaElement
	Projection            Projection
	ProvisionedThroughput ProvisionedThroughput
	OnDemandThroughput    *OnDemandThroughput
	ItemCount             int64
	IndexSizeBytes        int64
}

// LocalSecondaryIndexDescription is what a store tells of a local index.
type LocalSecondaryIndexDescription struct {
	IndexName      string
	IndexArn       string
	KeySchema      []KeySchemaElement
	Projection     Projection
	ItemCount      int64
	IndexSizeBytes int64
}

// ListTablesInput asks for a page of table names, in order.
type ListTablesInput struct {
	ExclusiveStartTableName string
	Limit                   int // 1 to 100; 0 means 100
}

// ListTablesOutput is a page of names; LastEvaluatedTableName is empty on the last.
type ListTablesOutput struct {
	TableNames             []string
	LastEvaluatedTableName string
}

// UpdateTimeToLiveInput turns expiry on or off for a Number attribute in epoch seconds.
type UpdateTimeToLiveInput struct {
	TableName     string
	AttributeName string
	Enabled       bool
}

// TimeToLiveStatus is the state of a table's expiry.
type TimeToLiveStatus string

// The two states that last, and those on the way to them.
const (
	TimeToLiveEnabled  TimeToLiveStatus = "ENABLED"
	TimeToLiveDisabled TimeToLiveStatus = "DISABLED"
	// A change takes the service up to an hour.
	TimeToLiveEnabling  TimeToLiveStatus = "ENABLING"
	TimeToLiveDisabling TimeToLiveStatus = "DISABLING"
)

// TimeToLiveDescription is a table's expiry setting; AttributeName is empty while disabled.
type TimeToLiveDescription struct {
	TimeToLiveStatus TimeToLiveStatus
	AttributeName    string
}

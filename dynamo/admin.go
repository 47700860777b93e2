package dynamo

import (
	"context"
	"time"
)

// Admin is the control plane of a store: the management of its tables.
type Admin interface {
	CreateTable(ctx context.Context, in *CreateTableInput) (*TableDescription, error)
	DescribeTable(ctx context.Context, tableName string) (*TableDescription, error)
	ListTables(ctx context.Context, in *ListTablesInput) (*ListTablesOutput, error)
	UpdateTable(ctx context.Context, in *UpdateTableInput) (*TableDescription, error)
	DeleteTable(ctx context.Context, tableName string) (*TableDescription, error)
	UpdateTimeToLive(ctx context.Context, in *UpdateTimeToLiveInput) error
	DescribeTimeToLive(ctx context.Context, tableName string) (*TimeToLiveDescription, error)
}

// AttributeDefinition is the name and type of a key attribute: KindS, KindN or KindB.
type AttributeDefinition struct {
	AttributeName string
	AttributeType Kind
}

// KeyType is the part of a key to which an attribute belongs.
type KeyType string

// The key types.
const (
	KeyTypeHash  KeyType = "HASH"
	KeyTypeRange KeyType = "RANGE"
)

// KeySchemaElement is one attribute of a key. The partition key comes first.
type KeySchemaElement struct {
	AttributeName string
	KeyType       KeyType
}

// HashKey returns the key schema of a partition key without a sort key.
func HashKey(partition string) []KeySchemaElement {
	return []KeySchemaElement{{AttributeName: partition, KeyType: KeyTypeHash}}
}

// HashRangeKey returns the key schema of a partition key and a sort key.
func HashRangeKey(partition, sort string) []KeySchemaElement {
	return append(HashKey(partition), KeySchemaElement{AttributeName: sort, KeyType: KeyTypeRange})
}

// ProjectionType is the set of attributes that an index holds in addition to its keys and those of
// the table.
type ProjectionType string

// The projection types: all attributes, none, or a list.
const (
	ProjectAll      ProjectionType = "ALL"
	ProjectKeysOnly ProjectionType = "KEYS_ONLY"
	ProjectInclude  ProjectionType = "INCLUDE"
)

// Projection defines the attributes that an index holds.
type Projection struct {
	ProjectionType   ProjectionType
	NonKeyAttributes []string // with ProjectInclude only
}

// BillingMode is the way in which the throughput of a table is billed.
type BillingMode string

// The billing modes.
const (
	BillingProvisioned   BillingMode = "PROVISIONED"
	BillingPayPerRequest BillingMode = "PAY_PER_REQUEST"
)

// ProvisionedThroughput is a throughput in capacity units per second.
type ProvisionedThroughput struct {
	ReadCapacityUnits  int64
	WriteCapacityUnits int64
}

// OnDemandThroughput is the maximum throughput of an on-demand table or index, in units per second.
// In an update, 0 does not change a maximum and -1 removes it.
type OnDemandThroughput struct {
	MaxReadRequestUnits  int64
	MaxWriteRequestUnits int64
}

// TableClass selects the prices of a table.
type TableClass string

// The table classes.
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

// CreateTableInput defines a table. AttributeDefinitions must contain exactly the attributes of the
// key schemas. An empty BillingMode means BillingProvisioned, as on the service.
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

// UpdateTableInput changes a table. One call can create or delete one index, as on the service.
// AttributeDefinitions are merged with those of the table and must contain the keys of a new index.
type UpdateTableInput struct {
	TableName                   string
	AttributeDefinitions        []AttributeDefinition
	GlobalSecondaryIndexUpdates []GlobalSecondaryIndexUpdate
	BillingMode                 BillingMode
	ProvisionedThroughput       *ProvisionedThroughput
	OnDemandThroughput          *OnDemandThroughput
	DeletionProtectionEnabled   *bool
	StreamSpecification         *StreamSpecification
	TableClass                  TableClass // empty for no change
}

// GlobalSecondaryIndexUpdate creates an index, changes the throughput of one, or deletes the named
// one. Exactly one field must be set.
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

// The states of a table or index.
const (
	StatusCreating TableStatus = "CREATING"
	StatusUpdating TableStatus = "UPDATING"
	StatusDeleting TableStatus = "DELETING"
	StatusActive   TableStatus = "ACTIVE"
)

// TableDescription describes a table. ItemCount and TableSizeBytes may be out of date, as on the
// service.
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
	TableClass                TableClass           // empty if it was never set
	StreamSpecification       *StreamSpecification // nil if the stream is disabled
	LatestStreamArn           string               // the newest stream, even if it is disabled
	LatestStreamLabel         string
	ItemCount                 int64
	TableSizeBytes            int64
}

// GlobalSecondaryIndexDescription describes a global index. Backfilling is true while an index that
// was added to an existing table is filled. The index cannot be read before that ends.
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

// LocalSecondaryIndexDescription describes a local index.
type LocalSecondaryIndexDescription struct {
	IndexName      string
	IndexArn       string
	KeySchema      []KeySchemaElement
	Projection     Projection
	ItemCount      int64
	IndexSizeBytes int64
}

// ListTablesInput requests a page of table names in alphabetical order.
type ListTablesInput struct {
	ExclusiveStartTableName string
	Limit                   int // 1 to 100; 0 means 100
}

// ListTablesOutput is a page of names. LastEvaluatedTableName is empty on the last page.
type ListTablesOutput struct {
	TableNames             []string
	LastEvaluatedTableName string
}

// UpdateTimeToLiveInput enables or disables expiry by a Number attribute with seconds since 1970.
type UpdateTimeToLiveInput struct {
	TableName     string
	AttributeName string
	Enabled       bool
}

// TimeToLiveStatus is the state of a table's expiry.
type TimeToLiveStatus string

// The final states and the transitions to them.
const (
	TimeToLiveEnabled  TimeToLiveStatus = "ENABLED"
	TimeToLiveDisabled TimeToLiveStatus = "DISABLED"
	// On the service, a change takes up to an hour.
	TimeToLiveEnabling  TimeToLiveStatus = "ENABLING"
	TimeToLiveDisabling TimeToLiveStatus = "DISABLING"
)

// TimeToLiveDescription is a table's expiry setting. AttributeName is empty if expiry is disabled.
type TimeToLiveDescription struct {
	TimeToLiveStatus TimeToLiveStatus
	AttributeName    string
}

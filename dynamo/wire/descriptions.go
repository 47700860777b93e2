package wire

import "github.com/exchequer-dev/exchequer/dynamo"

// The initial warm throughput of an on-demand table, in units per second ("DynamoDB warm
// throughput" in the developer guide). That of a provisioned table is its throughput.
const (
	warmReadUnits  = 12000
	warmWriteUnits = 4000
)

// encodeTable writes the response of the calls that change a table.
func encodeTable[In any](w *writer, _ *In, d *dynamo.TableDescription) {
	w.open('{')
	w.key("TableDescription")
	w.table(d)
	w.close('}')
}

// encodeDescribeTable writes the same description with another member name.
func encodeDescribeTable(w *writer, _ *namedInput, d *dynamo.TableDescription) {
	w.open('{')
	w.key("Table")
	w.table(d)
	w.close('}')
}

// table writes a description. Empty members are omitted, because the description of a table that is
// being deleted has few.
func (w *writer) table(d *dynamo.TableDescription) {
	w.open('{')
	w.member("TableName", d.TableName)
	w.member("TableArn", d.TableArn)
	w.member("TableId", d.TableID)
	w.member("TableStatus", string(d.TableStatus))
	if !d.CreationDateTime.IsZero() {
		w.key("CreationDateTime")
		w.time(d.CreationDateTime)
	}
	if d.AttributeDefinitions != nil {
		w.key("AttributeDefinitions")
		w.definitions(d.AttributeDefinitions)
	}
	if d.KeySchema != nil {
		w.key("KeySchema")
		w.keySchema(d.KeySchema)
	}
	w.globalIndexes(d)
	w.localIndexes(d.LocalSecondaryIndexes)
	onDemand := d.BillingMode == dynamo.BillingPayPerRequest
	if onDemand {
		w.key("BillingModeSummary")
		w.open('{')
		w.member("BillingMode", string(d.BillingMode))
		w.close('}')
	}
	w.provisioned(d.ProvisionedThroughput)
	w.onDemand(d.OnDemandThroughput)
	if d.TableStatus != dynamo.StatusDeleting {
		w.warm(onDemand, d.ProvisionedThroughput, d.TableStatus)
	}
	w.key("DeletionProtectionEnabled")
	w.bool(d.DeletionProtectionEnabled)
	if d.TableClass != "" {
		w.key("TableClassSummary")
		w.open('{')
		w.member("TableClass", string(d.TableClass))
		w.close('}')
	}
	w.stream(d)
	w.key("ItemCount")
	w.int(d.ItemCount)
	w.key("TableSizeBytes")
	w.int(d.TableSizeBytes)
	w.close('}')
}

func (w *writer) stream(d *dynamo.TableDescription) {
	if spec := d.StreamSpecification; spec != nil {
		w.key("StreamSpecification")
		w.open('{')
		w.key("StreamEnabled")
		w.bool(spec.StreamEnabled)
		w.member("StreamViewType", string(spec.StreamViewType))
		w.close('}')
	}
	w.member("LatestStreamArn", d.LatestStreamArn)
	w.member("LatestStreamLabel", d.LatestStreamLabel)
}

// globalIndexes writes the global indexes of a table description. The member is absent if there are
// none.
func (w *writer) globalIndexes(d *dynamo.TableDescription) {
	if len(d.GlobalSecondaryIndexes) == 0 {
		return
	}
	onDemand := d.BillingMode == dynamo.BillingPayPerRequest
	w.key("GlobalSecondaryIndexes")
	w.open('[')
	for i := range d.GlobalSecondaryIndexes {
		ix := &d.GlobalSecondaryIndexes[i]
		w.open('{')
		w.index(ix.IndexName, ix.IndexArn, ix.KeySchema, &ix.Projection)
		w.member("IndexStatus", string(ix.IndexStatus))
		if ix.Backfilling {
			w.key("Backfilling")
			w.bool(true)
		}
		w.provisioned(ix.ProvisionedThroughput)
		w.onDemand(ix.OnDemandThroughput)
		w.warm(onDemand, ix.ProvisionedThroughput, ix.IndexStatus)
		w.indexSize(ix.ItemCount, ix.IndexSizeBytes)
		w.close('}')
	}
	w.close(']')
}

// localIndexes writes the local indexes of a table description. The member is absent if there are
// none.
func (w *writer) localIndexes(all []dynamo.LocalSecondaryIndexDescription) {
	if len(all) == 0 {
		return
	}
	w.key("LocalSecondaryIndexes")
	w.open('[')
	for i := range all {
		ix := &all[i]
		w.open('{')
		w.index(ix.IndexName, ix.IndexArn, ix.KeySchema, &ix.Projection)
		w.indexSize(ix.ItemCount, ix.IndexSizeBytes)
		w.close('}')
	}
	w.close(']')
}

// index writes the members that local and global indexes share.
func (w *writer) index(name, arn string, schema []dynamo.KeySchemaElement, p *dynamo.Projection) {
	w.member("IndexName", name)
	w.member("IndexArn", arn)
	w.key("KeySchema")
	w.keySchema(schema)
	w.key("Projection")
	w.open('{')
	w.member("ProjectionType", string(p.ProjectionType))
	if len(p.NonKeyAttributes) > 0 {
		w.key("NonKeyAttributes")
		w.strings(p.NonKeyAttributes)
	}
	w.close('}')
}

func (w *writer) indexSize(items, bytes int64) {
	w.key("ItemCount")
	w.int(items)
	w.key("IndexSizeBytes")
	w.int(bytes)
}

func (w *writer) definitions(all []dynamo.AttributeDefinition) {
	w.open('[')
	for _, a := range all {
		w.open('{')
		w.member("AttributeName", a.AttributeName)
		w.member("AttributeType", a.AttributeType.String())
		w.close('}')
	}
	w.close(']')
}

func (w *writer) keySchema(all []dynamo.KeySchemaElement) {
	w.open('[')
	for _, e := range all {
		w.open('{')
		w.member("AttributeName", e.AttributeName)
		w.member("KeyType", string(e.KeyType))
		w.close('}')
	}
	w.close(']')
}

// provisioned writes a throughput. An on-demand table has one with zeros, because clients rely on
// the member.
func (w *writer) provisioned(pt dynamo.ProvisionedThroughput) {
	w.key("ProvisionedThroughput")
	w.open('{')
	w.key("NumberOfDecreasesToday")
	w.int(0)
	w.key("ReadCapacityUnits")
	w.int(pt.ReadCapacityUnits)
	w.key("WriteCapacityUnits")
	w.int(pt.WriteCapacityUnits)
	w.close('}')
}

func (w *writer) onDemand(od *dynamo.OnDemandThroughput) {
	if od == nil {
		return
	}
	w.key("OnDemandThroughput")
	w.open('{')
	if od.MaxReadRequestUnits != 0 {
		w.key("MaxReadRequestUnits")
		w.int(od.MaxReadRequestUnits)
	}
	if od.MaxWriteRequestUnits != 0 {
		w.key("MaxWriteRequestUnits")
		w.int(od.MaxWriteRequestUnits)
	}
	w.close('}')
}

// warm writes the warm throughput. It is the provisioned throughput, or a constant for tables that
// are billed by request.
func (w *writer) warm(onDemand bool, pt dynamo.ProvisionedThroughput, status dynamo.TableStatus) {
	read, write := pt.ReadCapacityUnits, pt.WriteCapacityUnits
	if onDemand {
		read, write = warmReadUnits, warmWriteUnits
	}
	w.key("WarmThroughput")
	w.open('{')
	w.key("ReadUnitsPerSecond")
	w.int(read)
	w.key("WriteUnitsPerSecond")
	w.int(write)
	w.member("Status", string(status))
	w.close('}')
}

package wire

import (
	"context"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// offerTables adds the operations on tables.
func offerTables(ops operations, admin dynamo.Admin) {
	offer(ops, targetTables+"CreateTable", decodeCreateTable, admin.CreateTable, encodeTable)
	offer(ops, targetTables+"UpdateTable", decodeUpdateTable, admin.UpdateTable, encodeTable)
	offer(ops, targetTables+"DeleteTable", decodeNamed, named(admin.DeleteTable),
		encodeTable)
	offer(ops, targetTables+"DescribeTable", decodeNamed, named(admin.DescribeTable),
		encodeDescribeTable)
	offer(ops, targetTables+"ListTables", decodeListTables, admin.ListTables, encodeListTables)
	offer(ops, targetTables+"DescribeContinuousBackups", decodeNamed,
		named(admin.DescribeTable), encodeContinuousBackups)
}

// namedInput is the input of an operation whose only parameter is a table name.
type namedInput struct{ table string }

func decodeNamed(r *reader, in *namedInput) {
	table := false
	for r.object(); r.member(); {
		if string(r.name) == "TableName" {
			in.table, table = r.string(), true
		} else {
			r.skip()
		}
	}
	r.requireTable(table)
}

// requireTable reports a missing table name. The operations on tables have a message of their own
// for it, which comes before all other validation errors.
func (r *reader) requireTable(present bool) {
	if !present && r.err == nil {
		r.nulls = nil
		r.invalid = dynamo.Invalid("The parameter 'TableName' is required but was not present " +
			"in the request")
	}
}

// named adapts a method with a table name as its parameter to an input.
func named[Out any](call func(context.Context, string) (Out, error)) func(
	context.Context, *namedInput) (Out, error) {
	return func(ctx context.Context, in *namedInput) (Out, error) {
		return call(ctx, in.table)
	}
}

// decodeCreateTable decodes a CreateTable, or the table of an import. Members about encryption,
// warm throughput and policies are ignored, because they have no visible effect on a local store.
func decodeCreateTable(r *reader, in *dynamo.CreateTableInput) {
	table := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "AttributeDefinitions":
			in.AttributeDefinitions = r.definitions()
		case "KeySchema":
			in.KeySchema = r.keySchema()
		case "GlobalSecondaryIndexes":
			in.GlobalSecondaryIndexes = many(r, r.globalIndex)
		case "LocalSecondaryIndexes":
			in.LocalSecondaryIndexes = many(r, r.localIndex)
		case "BillingMode":
			in.BillingMode = dynamo.BillingMode(r.string())
		case "ProvisionedThroughput":
			in.ProvisionedThroughput = r.provisioned("provisionedThroughput")
		case "OnDemandThroughput":
			in.OnDemandThroughput = r.onDemand()
		case "DeletionProtectionEnabled":
			in.DeletionProtectionEnabled = r.bool()
		case "StreamSpecification":
			in.StreamSpecification = r.streamSpecification()
		case "TableClass":
			in.TableClass = dynamo.TableClass(r.string())
		case "Tags":
			in.Tags = r.tags()
		case "VectorIndexes", "GlobalTableSourceArn":
			r.unsupported()
		default:
			r.skip()
		}
	}
	r.requireTable(table)
}

func decodeUpdateTable(r *reader, in *dynamo.UpdateTableInput) {
	table := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "AttributeDefinitions":
			in.AttributeDefinitions = r.definitions()
		case "GlobalSecondaryIndexUpdates":
			in.GlobalSecondaryIndexUpdates = many(r, r.indexUpdate)
		case "BillingMode":
			in.BillingMode = dynamo.BillingMode(r.string())
		case "ProvisionedThroughput":
			in.ProvisionedThroughput = r.provisioned("provisionedThroughput")
		case "OnDemandThroughput":
			in.OnDemandThroughput = r.onDemand()
		case "DeletionProtectionEnabled":
			enabled := r.bool()
			in.DeletionProtectionEnabled = &enabled
		case "StreamSpecification":
			in.StreamSpecification = r.streamSpecification()
		case "TableClass":
			in.TableClass = dynamo.TableClass(r.string())
		case "ReplicaUpdates", "VectorIndexUpdates", "GlobalTableWitnessUpdates":
			r.unsupported()
		default:
			r.skip()
		}
	}
	r.requireTable(table)
}

// unsupported refuses a member that no store here supports and whose effect a caller would miss.
func (r *reader) unsupported() {
	name := string(r.name)
	r.skip()
	r.refuse("One or more parameter values were invalid: " + name + " is not supported")
}

func decodeListTables(r *reader, in *dynamo.ListTablesInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "ExclusiveStartTableName":
			in.ExclusiveStartTableName = r.string()
		case "Limit":
			in.Limit = r.limit(messageScanLimit)
		default:
			r.skip()
		}
	}
}

func encodeListTables(w *writer, _ *dynamo.ListTablesInput, out *dynamo.ListTablesOutput) {
	w.open('{')
	w.key("TableNames")
	w.strings(out.TableNames)
	w.member("LastEvaluatedTableName", out.LastEvaluatedTableName)
	w.close('}')
}

// encodeContinuousBackups reports that continuous backups are disabled.
func encodeContinuousBackups(w *writer, _ *namedInput, _ *dynamo.TableDescription) {
	w.open('{')
	w.key("ContinuousBackupsDescription")
	w.open('{')
	w.member("ContinuousBackupsStatus", "DISABLED")
	w.key("PointInTimeRecoveryDescription")
	w.open('{')
	w.member("PointInTimeRecoveryStatus", "DISABLED")
	w.close('}')
	w.close('}')
	w.close('}')
}

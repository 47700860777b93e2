package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/keyspace"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

// Limits of tables ("Service, account, and table quotas" in the developer guide).
const (
	tablesMax           = 2500
	globalIndexesMax    = 20
	localIndexesMax     = 5
	projectedMax        = 100 // attributes named by all projections of a table together
	keyNameLengthMax    = 255
	ttlNameLengthMax    = 255
	indexHashKeysMax    = 4
	indexRangeKeysMax   = 4
	invalidParameter    = "One or more parameter values were invalid: "
	messageUndefinedKey = invalidParameter + "Some index key attributes are not defined in " +
		"AttributeDefinitions. Keys: %v, AttributeDefinitions: %v"
)

// checkCreate validates the definition of a table and returns its descriptor. The order of the
// checks is the service's, because only the first error is reported.
func checkCreate(in *dynamo.CreateTableInput) (descriptor, error) {
	d := descriptor{
		Name: in.TableName, Attributes: slices.Clone(in.AttributeDefinitions),
		Key: slices.Clone(in.KeySchema), DeletionProtection: in.DeletionProtectionEnabled,
		NextIndex: 1, TTLReady: true,
	}
	if err := checkTableName(in.TableName, nameLengthMin); err != nil {
		return d, err
	}
	if err := checkKeyNames(in); err != nil {
		return d, err
	}
	if err := checkDefinitions(in.AttributeDefinitions); err != nil {
		return d, err
	}
	var err error
	d.Billing, d.Throughput, err = checkBilling(in.BillingMode, in.ProvisionedThroughput)
	if err != nil {
		return d, err
	}
	// This error has its own message, which the service returns before it checks the form of the
	// schema.
	if len(in.KeySchema) == 2 &&
		in.KeySchema[0].AttributeName == in.KeySchema[1].AttributeName {
		return d, dynamo.Invalid("Invalid KeySchema: Some index key attribute have no definition")
	}
	if err := checkSchema(in.KeySchema, 1, 1); err != nil {
		return d, err
	}
	if err := checkCreateIndexes(&d, in); err != nil {
		return d, err
	}
	if err := checkStream(in.StreamSpecification); err != nil {
		return d, err
	}
	if err := d.applySettings(in); err != nil {
		return d, err
	}
	return d, d.checkUsed()
}

// checkKeyNames checks the names and key types of all key schemas. DynamoDB reports all of these
// errors in one message.
func checkKeyNames(in *dynamo.CreateTableInput) error {
	var wrong constraint.List
	keyNames(&wrong, "keySchema", in.KeySchema)
	for i, ix := range in.GlobalSecondaryIndexes {
		keyNames(&wrong, fmt.Sprintf("globalSecondaryIndexes.%d.member.keySchema", i+1),
			ix.KeySchema)
	}
	for i, ix := range in.LocalSecondaryIndexes {
		keyNames(&wrong, fmt.Sprintf("localSecondaryIndexes.%d.member.keySchema", i+1),
			ix.KeySchema)
	}
	return wrong.Err()
}

func keyNames(c *constraint.List, field string, schema []dynamo.KeySchemaElement) {
	for i, e := range schema {
		name := fmt.Sprintf("%s.%d.member.attributeName", field, i+1)
		switch {
		case e.AttributeName == "":
			c.Add("", name, "Member must have length greater than or equal to 1")
		case len(e.AttributeName) > keyNameLengthMax:
			c.Add(e.AttributeName, name, "Member must have length less than or equal to 255")
		}
		if e.KeyType != dynamo.KeyTypeHash && e.KeyType != dynamo.KeyTypeRange {
			c.Enum(string(e.KeyType), fmt.Sprintf("%s.%d.member.keyType", field, i+1),
				"[HASH, RANGE]")
		}
	}
}

// checkDefinitions checks the types of attribute definitions and that no attribute has two.
func checkDefinitions(attributes []dynamo.AttributeDefinition) error {
	seen := map[string]bool{}
	for i, a := range attributes {
		if seen[a.AttributeName] {
			return dynamo.Invalid(invalidParameter +
				"Duplicate AttributeName in AttributeDefinitions: " + a.AttributeName)
		}
		seen[a.AttributeName] = true
		switch a.AttributeType {
		// Attributes of other types are not defined, because they cannot be keys.
		case dynamo.KindS, dynamo.KindN, dynamo.KindB:
		default:
			var wrong constraint.List
			wrong.Enum(a.AttributeType.String(),
				fmt.Sprintf("attributeDefinitions.%d.member.attributeType", i+1), "[B, N, S]")
			return wrong.Err()
		}
	}
	return nil
}

// checkBilling checks the throughput for a billing mode and returns both with their defaults. No
// mode means PROVISIONED, as in DynamoDB.
func checkBilling(mode dynamo.BillingMode, pt *dynamo.ProvisionedThroughput) (
	dynamo.BillingMode, dynamo.ProvisionedThroughput, error,
) {
	var none dynamo.ProvisionedThroughput
	switch mode {
	case dynamo.BillingPayPerRequest:
		// The description of an on-demand table has a throughput of zeros, so zeros are accepted.
		if pt != nil && *pt != none {
			return mode, none, dynamo.Invalid(invalidParameter + "Neither ReadCapacityUnits " +
				"nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
		}
		return mode, none, nil
	case "", dynamo.BillingProvisioned:
		if pt == nil {
			return mode, none, dynamo.Invalid(invalidParameter + "ReadCapacityUnits and " +
				"WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
		}
		if pt.ReadCapacityUnits < 1 || pt.WriteCapacityUnits < 1 {
			var wrong constraint.List
			wrong.Add(fmt.Sprint(min(pt.ReadCapacityUnits, pt.WriteCapacityUnits)),
				"provisionedThroughput", "Member must have value greater than or equal to 1")
			return mode, none, wrong.Err()
		}
		return dynamo.BillingProvisioned, *pt, nil
	}
	var wrong constraint.List
	wrong.Enum(string(mode), "billingMode", "[PROVISIONED, PAY_PER_REQUEST]")
	return mode, none, wrong.Err()
}

// checkSchema validates the form of a key schema: partition keys come before sort keys, and no name
// is repeated.
func checkSchema(schema []dynamo.KeySchemaElement, hashMax, rangeMax int) error {
	hashes, ranges := 0, 0
	seen := map[string]bool{}
	for _, e := range schema {
		switch {
		// Several of each are counted here; the maximum depends on whether the schema is a table's
		// or an index's.
		case e.KeyType == dynamo.KeyTypeHash && ranges == 0:
			hashes++
		case e.KeyType == dynamo.KeyTypeRange && hashes > 0:
			ranges++
		case hashes > 0:
			return dynamo.Invalid("Invalid KeySchema: A HASH key type follows a RANGE key type")
		default:
			return dynamo.Invalid("Invalid KeySchema: The first KeySchemaElement is not a " +
				"HASH key type")
		}
		if seen[e.AttributeName] {
			return dynamo.Invalid("Both the Hash Key and the Range Key element in the " +
				"KeySchema have the same name")
		}
		seen[e.AttributeName] = true
	}
	switch {
	case hashes == 0:
		return dynamo.Invalid("1 validation error detected: Value '[]' at 'keySchema' failed " +
			"to satisfy constraint: Member must have length greater than or equal to 1")
	case hashMax == 1 && rangeMax == 1 && len(schema) > 2:
		return dynamo.Invalid(fmt.Sprintf("1 validation error detected: Value '%s' at "+
			"'keySchema' failed to satisfy constraint: Member must have length less than or "+
			"equal to 2", schemaText(schema)))
	case hashMax == 1 && hashes == 2:
		return dynamo.Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE " +
			"key type")
	case hashes > hashMax:
		return dynamo.Invalid(fmt.Sprintf("%sToo many HASH keys in a KeySchema: at most %d",
			invalidParameter, hashMax))
	case ranges > rangeMax:
		return dynamo.Invalid(fmt.Sprintf("%sToo many RANGE keys in a KeySchema: at most %d",
			invalidParameter, rangeMax))
	}
	return nil
}

// checkCreateIndexes checks the indexes of a new table and adds them to its descriptor. The order
// of the checks decides which error is returned if there are several.
func checkCreateIndexes(d *descriptor, in *dynamo.CreateTableInput) error {
	if n := len(in.GlobalSecondaryIndexes); n > globalIndexesMax {
		return dynamo.Invalid(fmt.Sprintf("%sGlobalSecondaryIndex count exceeds the per-table "+
			"limit of %d", invalidParameter, globalIndexesMax))
	}
	if n := len(in.LocalSecondaryIndexes); n > localIndexesMax {
		return dynamo.Invalid(fmt.Sprintf("%sNumber of LocalSecondaryIndexes exceeds per-table "+
			"limit of %d", invalidParameter, localIndexesMax))
	}
	// A local index sorts a partition differently, so the partition must have more than one item.
	if in.LocalSecondaryIndexes != nil && len(in.KeySchema) < 2 {
		return dynamo.Invalid(invalidParameter + "Table KeySchema does not have a range key, " +
			"which is required when specifying a LocalSecondaryIndex")
	}
	for _, ix := range in.LocalSecondaryIndexes {
		if err := d.addLocal(ix); err != nil {
			return err
		}
	}
	for _, ix := range in.GlobalSecondaryIndexes {
		if err := d.addGlobal(ix, dynamo.StatusActive); err != nil {
			return err
		}
	}
	return d.checkProjected()
}

// addLocal adds a local index, which has the partition key of the table and exactly one sort key.
func (d *descriptor) addLocal(ix dynamo.LocalSecondaryIndex) error {
	// Only global indexes can have several attributes in their key.
	if err := checkSchema(ix.KeySchema, 1, 1); err != nil {
		return err
	}
	if len(ix.KeySchema) != 2 {
		return dynamo.Invalid(invalidParameter + "Index KeySchema does not have a range key " +
			"for index: " + ix.IndexName)
	}
	if ix.KeySchema[0].AttributeName != d.Key[0].AttributeName {
		return dynamo.Invalid(invalidParameter + "Index KeySchema does not have the same " +
			"leading hash key as table KeySchema for index: " + ix.IndexName)
	}
	return d.add(indexDescriptor{
		Name: ix.IndexName, Local: true, Key: slices.Clone(ix.KeySchema),
		Projection: ix.Projection, Status: dynamo.StatusActive,
	})
}

// addGlobal adds a global index with the given status. Its throughput follows the billing mode of
// the table.
func (d *descriptor) addGlobal(ix dynamo.GlobalSecondaryIndex, status dynamo.TableStatus) error {
	if err := checkSchema(ix.KeySchema, indexHashKeysMax, indexRangeKeysMax); err != nil {
		return err
	}
	_, throughput, err := checkBilling(d.Billing, ix.ProvisionedThroughput)
	if err != nil {
		return err
	}
	onDemand, err := mergeOnDemand(d.Billing, nil, ix.OnDemandThroughput, false)
	if err != nil {
		return err
	}
	return d.add(indexDescriptor{
		Name: ix.IndexName, Key: slices.Clone(ix.KeySchema), Projection: ix.Projection,
		Throughput: throughput, OnDemand: onDemand, Status: status,
	})
}

// add checks and adds an index. Its number, which is part of its row keys, is never used again for
// another index of the table.
func (d *descriptor) add(ix indexDescriptor) error {
	if err := checkResourceName(ix.Name, "indexName", nameLengthMin); err != nil {
		return err
	}
	if slices.ContainsFunc(d.Indexes, func(o indexDescriptor) bool { return o.Name == ix.Name }) {
		return dynamo.Invalid(invalidParameter + "Duplicate index name: " + ix.Name)
	}
	if err := checkProjection(ix.Projection, ix.Name); err != nil {
		return err
	}
	for _, e := range ix.Key {
		if !d.defines(e.AttributeName) {
			return d.undefined(ix.Key)
		}
	}
	ix.Projection.NonKeyAttributes = slices.Clone(ix.Projection.NonKeyAttributes)
	ix.ID = d.NextIndex
	d.NextIndex++
	d.Indexes = append(d.Indexes, ix)
	return nil
}

func (d *descriptor) undefined(schema []dynamo.KeySchemaElement) error {
	return dynamo.Invalid(fmt.Sprintf(messageUndefinedKey, schemaNames(schema), d.names()))
}

func checkProjection(p dynamo.Projection, indexName string) error {
	switch p.ProjectionType {
	case dynamo.ProjectAll, dynamo.ProjectKeysOnly:
		if len(p.NonKeyAttributes) > 0 {
			return dynamo.Invalid(invalidParameter + "ProjectionType is " +
				string(p.ProjectionType) + ", but NonKeyAttributes is specified")
		}
	case dynamo.ProjectInclude:
		if len(p.NonKeyAttributes) == 0 {
			return dynamo.Invalid(invalidParameter + "ProjectionType is INCLUDE, but " +
				"NonKeyAttributes is not specified")
		}
		seen := map[string]bool{}
		for _, name := range p.NonKeyAttributes {
			if name == "" || len(name) > keyNameLengthMax {
				return dynamo.Invalid(invalidParameter + "a projected attribute name must have " +
					"1 to 255 bytes in index " + indexName)
			}
			if seen[name] {
				return dynamo.Invalid(invalidParameter + "Duplicate NonKeyAttributes: " + name)
			}
			seen[name] = true
		}
	case "":
		return dynamo.Invalid(invalidParameter + "Unknown ProjectionType: null")
	default:
		return dynamo.Invalid(invalidParameter + "Unknown ProjectionType: " +
			string(p.ProjectionType))
	}
	return nil
}

// checkProjected checks the limit of projected attributes, which is for the sum over all indexes of
// a table.
func (d *descriptor) checkProjected() error {
	total := 0
	for _, ix := range d.Indexes {
		// The same attribute in two indexes counts twice ("Service quotas").
		total += len(ix.Projection.NonKeyAttributes)
	}
	if total > projectedMax {
		return dynamo.Invalid(fmt.Sprintf("%sNumber of projected attributes exceeds the "+
			"per-table limit of %d", invalidParameter, projectedMax))
	}
	return nil
}

func (d *descriptor) defines(name string) bool {
	return slices.ContainsFunc(d.Attributes, func(a dynamo.AttributeDefinition) bool {
		return a.AttributeName == name
	})
}

func (d *descriptor) names() []string {
	names := make([]string, len(d.Attributes))
	for i, a := range d.Attributes {
		names[i] = a.AttributeName
	}
	return names
}

func schemaNames(schema []dynamo.KeySchemaElement) []string {
	names := make([]string, len(schema))
	for i, e := range schema {
		names[i] = e.AttributeName
	}
	return names
}

// schemaText formats a key schema as the service does in its messages.
func schemaText(schema []dynamo.KeySchemaElement) string {
	texts := make([]string, len(schema))
	for i, e := range schema {
		texts[i] = fmt.Sprintf("KeySchemaElement(attributeName=%s, keyType=%s)",
			e.AttributeName, e.KeyType)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// used returns the attributes that keys and indexes of the table need.
func (d *descriptor) used() map[string]bool {
	used := map[string]bool{}
	for _, e := range d.Key {
		used[e.AttributeName] = true
	}
	for _, ix := range d.Indexes {
		for _, e := range ix.Key {
			used[e.AttributeName] = true
		}
	}
	return used
}

// checkUsed refuses attribute definitions that no key uses, and keys without a definition.
func (d *descriptor) checkUsed() error {
	for _, e := range d.Key {
		if !d.defines(e.AttributeName) {
			return dynamo.Invalid(fmt.Sprintf(messageUndefinedKey, schemaNames(d.Key), d.names()))
		}
	}
	used := d.used()
	for _, a := range d.Attributes {
		// An unused definition is usually a mistake, and the service refuses it too.
		if !used[a.AttributeName] {
			return dynamo.Invalid(invalidParameter + "Number of attributes in KeySchema does " +
				"not exactly match number of attributes defined in AttributeDefinitions")
		}
	}
	return nil
}

// checkUpdate validates a change of a table and applies it to the descriptor. If the change deletes
// an index, dropped is set to the prefix of its rows.
func checkUpdate(d *descriptor, in *dynamo.UpdateTableInput, dropped *[]byte) error {
	changes := len(in.GlobalSecondaryIndexUpdates)
	if changes == 0 && in.BillingMode == "" && in.ProvisionedThroughput == nil &&
		in.DeletionProtectionEnabled == nil && in.StreamSpecification == nil &&
		in.OnDemandThroughput == nil && in.TableClass == "" {
		return dynamo.Invalid("At least one of ProvisionedThroughput, BillingMode, " +
			"UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or " +
			"ReplicaUpdates is required")
	}
	// The service builds one index at a time, and so do the backfills here.
	if changes > 1 {
		return &dynamo.Error{
			Code: dynamo.CodeLimitExceeded,
			Message: "Subscriber limit exceeded: Only 1 online index can be created or deleted " +
				"simultaneously per table",
		}
	}
	if in.BillingMode != "" || in.ProvisionedThroughput != nil {
		mode := in.BillingMode
		if mode == "" {
			mode = d.Billing
		}
		before := d.Throughput
		had := d.Billing
		var err error
		d.Billing, d.Throughput, err = checkBilling(mode, in.ProvisionedThroughput)
		if err != nil {
			return err
		}
		// The service refuses an update that changes nothing.
		if had == d.Billing && had == dynamo.BillingProvisioned && d.Throughput == before {
			return dynamo.Invalid(fmt.Sprintf("The provisioned throughput for the table will not "+
				"change. The requested value equals the current value. Current "+
				"ReadCapacityUnits provisioned for the table: %d. Requested ReadCapacityUnits: "+
				"%[1]d. Current WriteCapacityUnits provisioned for the table: %d. Requested "+
				"WriteCapacityUnits: %[2]d. Refer to the Amazon DynamoDB Developer Guide for "+
				"current limits and how to request higher limits.",
				before.ReadCapacityUnits, before.WriteCapacityUnits))
		}
	}
	if in.DeletionProtectionEnabled != nil {
		d.DeletionProtection = *in.DeletionProtectionEnabled
	}
	if err := d.changeSettings(in); err != nil {
		return err
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		if err := d.changeIndex(u, in.AttributeDefinitions, dropped); err != nil {
			return err
		}
	}
	return nil
}

// changeIndex applies one index update of UpdateTable. dropped receives the key prefix of the rows
// of a deleted index, which the caller removes with the same batch.
func (d *descriptor) changeIndex(u dynamo.GlobalSecondaryIndexUpdate,
	definitions []dynamo.AttributeDefinition, dropped *[]byte,
) error {
	if u.Update != nil && u.Create == nil && u.Delete == "" {
		return d.updateIndex(u.Update)
	}
	if u.Update != nil || (u.Create == nil) == (u.Delete == "") {
		return dynamo.Invalid(invalidParameter + "Only one global secondary index update per " +
			"index is allowed simultaneously")
	}
	if u.Delete != "" {
		return d.dropIndex(u.Delete, dropped)
	}
	var wrong constraint.List
	keyNames(&wrong, "globalSecondaryIndexUpdates.1.member.create.keySchema", u.Create.KeySchema)
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := checkDefinitions(definitions); err != nil {
		return err
	}
	return d.createIndex(*u.Create, definitions)
}

// dropIndex removes a global index and the definitions of attributes that no other key uses.
func (d *descriptor) dropIndex(name string, dropped *[]byte) error {
	i := slices.IndexFunc(d.Indexes, func(ix indexDescriptor) bool {
		return ix.Name == name && !ix.Local
	})
	if i < 0 {
		return &dynamo.Error{
			Code: dynamo.CodeResourceNotFound, Message: "Requested resource not found",
		}
	}
	*dropped = keyspace.Index(d.ID, d.Indexes[i].ID, false)
	d.Indexes = slices.Delete(d.Indexes, i, i+1)
	used := d.used()
	d.Attributes = slices.DeleteFunc(slices.Clone(d.Attributes),
		func(a dynamo.AttributeDefinition) bool { return !used[a.AttributeName] })
	return nil
}

// createIndex adds an index whose backfill has not started. The request must define the attributes
// of its keys; other definitions in it are ignored, as on the service.
func (d *descriptor) createIndex(ix dynamo.GlobalSecondaryIndex,
	definitions []dynamo.AttributeDefinition,
) error {
	n := 0
	for _, have := range d.Indexes {
		if !have.Local {
			n++
		}
	}
	if n >= globalIndexesMax {
		return &dynamo.Error{
			Code: dynamo.CodeLimitExceeded,
			Message: fmt.Sprintf("GlobalSecondaryIndex count exceeds the per-table limit of %d",
				globalIndexesMax),
		}
	}
	d.Attributes = slices.Clone(d.Attributes)
	for _, e := range ix.KeySchema {
		i := slices.IndexFunc(definitions, func(a dynamo.AttributeDefinition) bool {
			return a.AttributeName == e.AttributeName
		})
		if i < 0 {
			return dynamo.Invalid(fmt.Sprintf(messageUndefinedKey, schemaNames(ix.KeySchema),
				(&descriptor{Attributes: definitions}).names()))
		}
		if err := d.define(definitions[i]); err != nil {
			return err
		}
	}
	if err := d.addGlobal(ix, dynamo.StatusCreating); err != nil {
		return err
	}
	return d.checkProjected()
}

// define adds the definition of an attribute. A key of the table or of another index may already
// have defined it with the same type.
func (d *descriptor) define(a dynamo.AttributeDefinition) error {
	for _, have := range d.Attributes {
		if have.AttributeName != a.AttributeName {
			continue
		}
		if have.AttributeType != a.AttributeType {
			return dynamo.Invalid(invalidParameter + "Cannot change the type of attribute " +
				a.AttributeName + ", which other keys of the table use")
		}
		return nil
	}
	d.Attributes = append(d.Attributes, a)
	return nil
}

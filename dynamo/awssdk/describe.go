package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// description converts a table description of the service. A table without a billing mode is
// provisioned: the service omits the mode if it was never changed.
func description(d *types.TableDescription) *dynamo.TableDescription {
	if d == nil {
		return &dynamo.TableDescription{}
	}
	out := &dynamo.TableDescription{
		TableName:                 deref(d.TableName),
		TableArn:                  deref(d.TableArn),
		TableID:                   deref(d.TableId),
		TableStatus:               dynamo.TableStatus(d.TableStatus),
		CreationDateTime:          deref(d.CreationDateTime),
		AttributeDefinitions:      definitionsOf(d.AttributeDefinitions),
		KeySchema:                 keySchemaOf(d.KeySchema),
		BillingMode:               dynamo.BillingProvisioned,
		ProvisionedThroughput:     throughputOf(d.ProvisionedThroughput),
		OnDemandThroughput:        onDemandOf(d.OnDemandThroughput),
		DeletionProtectionEnabled: deref(d.DeletionProtectionEnabled),
		LatestStreamArn:           deref(d.LatestStreamArn),
		LatestStreamLabel:         deref(d.LatestStreamLabel),
		ItemCount:                 deref(d.ItemCount),
		TableSizeBytes:            deref(d.TableSizeBytes),
	}
	if d.BillingModeSummary != nil && d.BillingModeSummary.BillingMode != "" {
		out.BillingMode = dynamo.BillingMode(d.BillingModeSummary.BillingMode)
	}
	if d.TableClassSummary != nil {
		out.TableClass = dynamo.TableClass(d.TableClassSummary.TableClass)
	}
	if s := d.StreamSpecification; s != nil && deref(s.StreamEnabled) {
		out.StreamSpecification = &dynamo.StreamSpecification{
			StreamEnabled: true, StreamViewType: dynamo.StreamViewType(s.StreamViewType),
		}
	}
	for _, index := range d.GlobalSecondaryIndexes {
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes,
			dynamo.GlobalSecondaryIndexDescription{
				IndexName:             deref(index.IndexName),
				IndexArn:              deref(index.IndexArn),
				IndexStatus:           dynamo.TableStatus(index.IndexStatus),
				Backfilling:           deref(index.Backfilling),
				KeySchema:             keySchemaOf(index.KeySchema),
				Projection:            projectionOf(index.Projection),
				ProvisionedThroughput: throughputOf(index.ProvisionedThroughput),
				OnDemandThroughput:    onDemandOf(index.OnDemandThroughput),
				ItemCount:             deref(index.ItemCount),
				IndexSizeBytes:        deref(index.IndexSizeBytes),
			})
	}
	for _, index := range d.LocalSecondaryIndexes {
		out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes,
			dynamo.LocalSecondaryIndexDescription{
				IndexName:      deref(index.IndexName),
				IndexArn:       deref(index.IndexArn),
				KeySchema:      keySchemaOf(index.KeySchema),
				Projection:     projectionOf(index.Projection),
				ItemCount:      deref(index.ItemCount),
				IndexSizeBytes: deref(index.IndexSizeBytes),
			})
	}
	return out
}

func definitionsOf(ds []types.AttributeDefinition) []dynamo.AttributeDefinition {
	var out []dynamo.AttributeDefinition
	for _, d := range ds {
		out = append(out, dynamo.AttributeDefinition{
			AttributeName: deref(d.AttributeName),
			AttributeType: dynamo.KindOf(string(d.AttributeType)),
		})
	}
	return out
}

func keySchemaOf(elements []types.KeySchemaElement) []dynamo.KeySchemaElement {
	var out []dynamo.KeySchemaElement
	for _, e := range elements {
		out = append(out, dynamo.KeySchemaElement{
			AttributeName: deref(e.AttributeName), KeyType: dynamo.KeyType(e.KeyType),
		})
	}
	return out
}

func projectionOf(p *types.Projection) dynamo.Projection {
	if p == nil {
		return dynamo.Projection{}
	}
	return dynamo.Projection{
		ProjectionType:   dynamo.ProjectionType(p.ProjectionType),
		NonKeyAttributes: p.NonKeyAttributes,
	}
}

func throughputOf(p *types.ProvisionedThroughputDescription) dynamo.ProvisionedThroughput {
	if p == nil {
		return dynamo.ProvisionedThroughput{}
	}
	return dynamo.ProvisionedThroughput{
		ReadCapacityUnits:  deref(p.ReadCapacityUnits),
		WriteCapacityUnits: deref(p.WriteCapacityUnits),
	}
}

func onDemandOf(o *types.OnDemandThroughput) *dynamo.OnDemandThroughput {
	if o == nil {
		return nil
	}
	return &dynamo.OnDemandThroughput{
		MaxReadRequestUnits:  deref(o.MaxReadRequestUnits),
		MaxWriteRequestUnits: deref(o.MaxWriteRequestUnits),
	}
}

package wire

import "github.com/exchequer-dev/exchequer/dynamo"

// offerItems adds the operations on one item.
func offerItems(ops operations, db dynamo.DB) {
	offer(ops, targetTables+"GetItem", decodeGet, db.Get, encodeGet)
	offer(ops, targetTables+"PutItem", decodePut, db.Put, encodePut)
	offer(ops, targetTables+"UpdateItem", decodeUpdate, db.Update, encodeUpdate)
	offer(ops, targetTables+"DeleteItem", decodeDelete, db.Delete, encodeDelete)
}

func decodeGet(r *reader, in *dynamo.GetInput) {
	table := false
	old := legacy{takes: legacyOfGet}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "Key":
			in.Key = r.item()
		case "ConsistentRead":
			in.ConsistentRead = r.bool()
		case "ProjectionExpression":
			in.ProjectionExpression = r.expression()
		case "ExpressionAttributeNames":
			in.ExpressionAttributeNames = r.names()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		default:
			// Unknown members are ignored, because newer clients may send members that this version
			// does not know.
			if !old.read(r) {
				r.skip()
			}
		}
	}
	// Members may come in any order, so what is missing is known only at the end.
	r.require(table, "tableName")
	// The service reports one missing member at a time, the table first.
	r.require(!table || in.Key != nil, "key")
	old.translate(r, expressed{
		Expressions: &in.Expressions, projection: &in.ProjectionExpression,
	})
}

func encodeGet(w *writer, _ *dynamo.GetInput, out *dynamo.GetOutput) {
	w.open('{')
	w.capacity(out.ConsumedCapacity)
	// A missing item has no member; an empty object would be an item without attributes.
	if out.Item != nil {
		w.key("Item")
		w.item(out.Item)
	}
	w.close('}')
}

// decodePut decodes a PutItem, or a Put in a transaction.
func decodePut(r *reader, in *dynamo.PutInput) {
	table := false
	old := legacy{takes: legacyOfWrite}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "Item":
			in.Item = r.item()
		case "ConditionExpression":
			in.ConditionExpression = r.expression()
		case "ReturnValues":
			in.ReturnValues = r.returnValues()
		case "ReturnValuesOnConditionCheckFailure":
			in.ReturnValuesOnConditionCheckFailure = r.returnValues()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "ReturnItemCollectionMetrics":
			in.ReturnItemCollectionMetrics = r.metricsLevel()
		default:
			if !r.placeholder(&in.Expressions) && !old.read(r) {
				r.skip()
			}
		}
	}
	r.require(table, "tableName")
	r.require(!table || in.Item != nil, "item")
	old.translate(r, expressed{Expressions: &in.Expressions, condition: &in.ConditionExpression})
}

func encodePut(w *writer, _ *dynamo.PutInput, out *dynamo.PutOutput) {
	w.written(out.Attributes, out.ConsumedCapacity, out.ItemCollectionMetrics)
}

// written writes the response of PutItem, UpdateItem and DeleteItem, which have the same members.
func (w *writer) written(attributes dynamo.Item, capacity *dynamo.ConsumedCapacity,
	metrics *dynamo.ItemCollectionMetrics,
) {
	w.open('{')
	w.attributes(attributes)
	w.capacity(capacity)
	w.metrics(metrics)
	w.close('}')
}

func decodeUpdate(r *reader, in *dynamo.UpdateInput) {
	table := false
	old := legacy{takes: legacyOfUpdate}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "Key":
			in.Key = r.item()
		case "UpdateExpression":
			in.UpdateExpression = r.expression()
		case "ConditionExpression":
			in.ConditionExpression = r.expression()
		case "ReturnValues":
			in.ReturnValues = r.returnValues()
		case "ReturnValuesOnConditionCheckFailure":
			in.ReturnValuesOnConditionCheckFailure = r.returnValues()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "ReturnItemCollectionMetrics":
			in.ReturnItemCollectionMetrics = r.metricsLevel()
		default:
			if !r.placeholder(&in.Expressions) && !old.read(r) {
				r.skip()
			}
		}
	}
	r.require(table, "tableName")
	r.require(!table || in.Key != nil, "key")
	old.translate(r, expressed{
		Expressions: &in.Expressions, condition: &in.ConditionExpression,
		update: &in.UpdateExpression,
	})
}

func encodeUpdate(w *writer, _ *dynamo.UpdateInput, out *dynamo.UpdateOutput) {
	w.written(out.Attributes, out.ConsumedCapacity, out.ItemCollectionMetrics)
}

func decodeDelete(r *reader, in *dynamo.DeleteInput) {
	table := false
	old := legacy{takes: legacyOfWrite}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "Key":
			in.Key = r.item()
		case "ConditionExpression":
			in.ConditionExpression = r.expression()
		case "ReturnValues":
			in.ReturnValues = r.returnValues()
		case "ReturnValuesOnConditionCheckFailure":
			in.ReturnValuesOnConditionCheckFailure = r.returnValues()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "ReturnItemCollectionMetrics":
			in.ReturnItemCollectionMetrics = r.metricsLevel()
		default:
			if !r.placeholder(&in.Expressions) && !old.read(r) {
				r.skip()
			}
		}
	}
	r.require(table, "tableName")
	r.require(!table || in.Key != nil, "key")
	old.translate(r, expressed{Expressions: &in.Expressions, condition: &in.ConditionExpression})
}

func encodeDelete(w *writer, _ *dynamo.DeleteInput, out *dynamo.DeleteOutput) {
	w.written(out.Attributes, out.ConsumedCapacity, out.ItemCollectionMetrics)
}

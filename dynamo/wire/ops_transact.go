package wire

import "github.com/exchequer-dev/exchequer/dynamo"

// offerTransactions adds the operations on several items that are executed all or none.
func offerTransactions(ops operations, db dynamo.DB) {
	offer(ops, targetTables+"TransactGetItems", decodeTransactGet, db.TransactGet,
		encodeTransactGet)
	offer(ops, targetTables+"TransactWriteItems", decodeTransactWrite, db.TransactWrite,
		encodeTransactWrite)
}

func decodeTransactGet(r *reader, in *dynamo.TransactGetInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TransactItems":
			in.Items = []dynamo.TransactGetItem{}
			for r.list(); r.element(); {
				if len(in.Items) == listKept {
					r.skip()
					continue
				}
				nulls := len(r.nulls)
				in.Items = append(in.Items, r.transactGet())
				r.within(nulls, "transactItems", len(in.Items), "")
			}
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		default:
			r.skip()
		}
	}
	r.require(in.Items != nil, "transactItems")
}

func (r *reader) transactGet() dynamo.TransactGetItem {
	var one dynamo.TransactGetItem
	get, table := false, false
	for r.object(); r.member(); {
		if string(r.name) != "Get" {
			r.skip()
			continue
		}
		get = true
		for r.object(); r.member(); {
			switch string(r.name) {
			case "TableName":
				one.TableName, table = r.string(), true
			case "Key":
				one.Key = r.item()
			case "ProjectionExpression":
				one.ProjectionExpression = r.expression()
			case "ExpressionAttributeNames":
				one.ExpressionAttributeNames = r.names()
			default:
				r.skip()
			}
		}
		r.require(one.Key != nil, "get.key")
		r.require(table, "get.tableName")
	}
	r.require(get, "get")
	return one
}

func encodeTransactGet(w *writer, _ *dynamo.TransactGetInput, out *dynamo.TransactGetOutput) {
	w.open('{')
	w.key("Responses")
	w.open('[')
	for _, item := range out.Items {
		w.open('{')
		// The response has one object for each read, so that the positions match the request.
		if item != nil {
			w.key("Item")
			w.item(item)
		}
		w.close('}')
	}
	w.close(']')
	w.capacities(out.ConsumedCapacity)
	w.close('}')
}

// messageEmptyToken is the service's message about an empty token, which means "not given" in the
// input of a store.
const messageEmptyToken = "1 validation error detected: Value '' at 'clientRequestToken' failed " +
	"to satisfy constraint: Member must have length greater than or equal to 1"

func decodeTransactWrite(r *reader, in *dynamo.TransactWriteInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TransactItems":
			in.Items = []dynamo.TransactWriteItem{}
			for r.list(); r.element(); {
				if len(in.Items) == listKept {
					r.skip()
					continue
				}
				in.Items = append(in.Items, r.transactWrite(len(in.Items)+1))
			}
		case "ClientRequestToken":
			if in.ClientRequestToken = r.string(); in.ClientRequestToken == "" {
				r.refuse(messageEmptyToken)
			}
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "ReturnItemCollectionMetrics":
			in.ReturnItemCollectionMetrics = r.metricsLevel()
		default:
			r.skip()
		}
	}
	r.require(in.Items != nil, "transactItems")
}

// transactWrite reads the action at a position of the list, counted from 1.
func (r *reader) transactWrite(place int) dynamo.TransactWriteItem {
	var one dynamo.TransactWriteItem
	for r.object(); r.member(); {
		nulls, inside := len(r.nulls), ""
		switch string(r.name) {
		case "ConditionCheck":
			one.ConditionCheck, inside = new(dynamo.ConditionCheck), "conditionCheck."
			decodeConditionCheck(r, one.ConditionCheck)
		case "Put":
			one.Put, inside = new(dynamo.PutInput), "put."
			decodePut(r, one.Put)
		case "Update":
			one.Update, inside = new(dynamo.UpdateInput), "update."
			decodeUpdate(r, one.Update)
			// UpdateItem may omit the expression, but an update in a transaction may not.
			r.require(one.Update.UpdateExpression != "", "updateExpression")
		case "Delete":
			one.Delete, inside = new(dynamo.DeleteInput), "delete."
			decodeDelete(r, one.Delete)
		default:
			r.skip()
		}
		r.within(nulls, "transactItems", place, inside)
	}
	return one
}

func decodeConditionCheck(r *reader, in *dynamo.ConditionCheck) {
	table := false
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "Key":
			in.Key = r.item()
		case "ConditionExpression":
			in.ConditionExpression = r.expression()
		case "ReturnValuesOnConditionCheckFailure":
			in.ReturnValuesOnConditionCheckFailure = r.returnValues()
		default:
			if !r.placeholder(&in.Expressions) {
				r.skip()
			}
		}
	}
	r.require(table, "tableName")
	r.require(in.Key != nil, "key")
	r.require(in.ConditionExpression != "", "conditionExpression")
}

func encodeTransactWrite(w *writer, _ *dynamo.TransactWriteInput,
	out *dynamo.TransactWriteOutput,
) {
	w.open('{')
	w.capacities(out.ConsumedCapacity)
	w.tableMetrics(out.ItemCollectionMetrics)
	w.close('}')
}

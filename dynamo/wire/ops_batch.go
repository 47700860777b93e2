package wire

import "github.com/exchequer-dev/exchequer/dynamo"

// offerBatches adds the operations on several independent items.
func offerBatches(ops operations, db dynamo.DB) {
	offer(ops, targetTables+"BatchGetItem", decodeBatchGet, db.BatchGet, encodeBatchGet)
	offer(ops, targetTables+"BatchWriteItem", decodeBatchWrite, db.BatchWrite, encodeBatchWrite)
}

func decodeBatchGet(r *reader, in *dynamo.BatchGetInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "RequestItems":
			in.RequestItems = map[string]dynamo.KeysAndAttributes{}
			lists, expressions := false, false
			for r.object(); r.member(); {
				table := textOf(r.name)
				asked, list := r.keysAndAttributes(table)
				in.RequestItems[table] = asked
				lists = lists || list
				expressions = expressions || !list && asked.ProjectionExpression != ""
			}
			// Each table may choose its form, but not two forms in one request.
			if lists && expressions {
				r.refuse(mixed("AttributesToGet", "ProjectionExpression"))
			}
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		default:
			r.skip()
		}
	}
	r.require(in.RequestItems != nil, "requestItems")
}

// keysAndAttributes reads the keys of one table. list reports whether attributes were selected by
// AttributesToGet, the legacy form of a projection.
func (r *reader) keysAndAttributes(table string) (asked dynamo.KeysAndAttributes, list bool) {
	old := legacy{takes: legacyOfGet}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "Keys":
			asked.Keys = []dynamo.Key{}
			for r.list(); r.element(); {
				// The store refuses a list that is too long and needs only its length for that, so
				// the rest is not decoded.
				if len(asked.Keys) == listKept {
					r.skip()
					continue
				}
				asked.Keys = append(asked.Keys, r.item())
			}
		case "ConsistentRead":
			asked.ConsistentRead = r.bool()
		case "ProjectionExpression":
			asked.ProjectionExpression = r.expression()
		case "ExpressionAttributeNames":
			asked.ExpressionAttributeNames = r.names()
		default:
			if !old.read(r) {
				r.skip()
			}
		}
	}
	if asked.Keys == nil {
		r.require(false, "requestItems."+table+".member.keys")
	}
	if old.given != 0 {
		names := dynamo.Expressions{ExpressionAttributeNames: asked.ExpressionAttributeNames}
		old.translate(r, expressed{Expressions: &names, projection: &asked.ProjectionExpression})
		asked.ExpressionAttributeNames = names.ExpressionAttributeNames
	}
	return asked, old.given != 0
}

func encodeBatchGet(w *writer, _ *dynamo.BatchGetInput, out *dynamo.BatchGetOutput) {
	w.open('{')
	w.key("Responses")
	w.open('{')
	for table, items := range out.Responses {
		w.name(table)
		w.items(items)
	}
	w.close('}')
	w.key("UnprocessedKeys")
	w.open('{')
	for table, left := range out.UnprocessedKeys {
		w.name(table)
		w.keysAndAttributes(&left)
	}
	w.close('}')
	w.capacities(out.ConsumedCapacity)
	w.close('}')
}

// keysAndAttributes writes unprocessed keys in the form in which they were requested.
func (w *writer) keysAndAttributes(left *dynamo.KeysAndAttributes) {
	w.open('{')
	w.key("Keys")
	w.items(left.Keys)
	if left.ConsistentRead {
		w.key("ConsistentRead")
		w.bool(true)
	}
	w.member("ProjectionExpression", left.ProjectionExpression)
	if left.ExpressionAttributeNames != nil {
		w.key("ExpressionAttributeNames")
		w.open('{')
		for placeholder, name := range left.ExpressionAttributeNames {
			w.name(placeholder)
			w.string(name)
		}
		w.close('}')
	}
	w.close('}')
}

func decodeBatchWrite(r *reader, in *dynamo.BatchWriteInput) {
	for r.object(); r.member(); {
		switch string(r.name) {
		case "RequestItems":
			in.RequestItems = map[string][]dynamo.WriteRequest{}
			for r.object(); r.member(); {
				table := textOf(r.name)
				in.RequestItems[table] = r.writeRequests(table)
			}
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "ReturnItemCollectionMetrics":
			in.ReturnItemCollectionMetrics = r.metricsLevel()
		default:
			r.skip()
		}
	}
	r.require(in.RequestItems != nil, "requestItems")
}

// writeRequests reads the requests for one table. Elements above listKept are skipped; the store
// refuses a batch of so many.
func (r *reader) writeRequests(table string) []dynamo.WriteRequest {
	requests := []dynamo.WriteRequest{}
	for r.list(); r.element(); {
		if len(requests) == listKept {
			r.skip()
			continue
		}
		var one dynamo.WriteRequest
		nulls := len(r.nulls)
		for r.object(); r.member(); {
			switch string(r.name) {
			case "PutRequest":
				one.Put = r.wrapped("Item", "putRequest.item")
			case "DeleteRequest":
				one.Delete = r.wrapped("Key", "deleteRequest.key")
			default:
				r.skip()
			}
		}
		if len(r.nulls) > nulls {
			r.within(nulls, "requestItems."+table+".member", len(requests)+1, "")
		}
		requests = append(requests, one)
	}
	return requests
}

// wrapped reads an object whose only member is an item or a key.
func (r *reader) wrapped(member, path string) dynamo.Item {
	var item dynamo.Item
	for r.object(); r.member(); {
		if string(r.name) == member {
			item = r.item()
		} else {
			r.skip()
		}
	}
	r.require(item != nil, path)
	return item
}

func encodeBatchWrite(w *writer, _ *dynamo.BatchWriteInput, out *dynamo.BatchWriteOutput) {
	w.open('{')
	w.key("UnprocessedItems")
	w.open('{')
	for table, requests := range out.UnprocessedItems {
		w.name(table)
		w.open('[')
		for _, one := range requests {
			w.writeRequest(one)
		}
		w.close(']')
	}
	w.close('}')
	w.tableMetrics(out.ItemCollectionMetrics)
	w.capacities(out.ConsumedCapacity)
	w.close('}')
}

func (w *writer) writeRequest(one dynamo.WriteRequest) {
	request, member, item := "PutRequest", "Item", one.Put
	if one.Put == nil {
		request, member, item = "DeleteRequest", "Key", one.Delete
	}
	w.open('{')
	w.key(request)
	w.open('{')
	w.key(member)
	w.item(item)
	w.close('}')
	w.close('}')
}

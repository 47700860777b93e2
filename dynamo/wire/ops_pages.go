package wire

import "github.com/exchequer-dev/exchequer/dynamo"

// offerPages adds the operations that read pages.
func offerPages(ops operations, db dynamo.DB) {
	offer(ops, targetTables+"Query", decodeQuery, db.Query, encodeQuery)
	offer(ops, targetTables+"Scan", decodeScan, db.Scan, encodeScan)
}

// The service's sentences about zeros, which the input of a store takes for none. Those about the
// limit differ by operation.
const (
	messageQueryLimit = "1 validation error detected: Value at 'Limit' failed to satisfy " +
		"constraint: Member must have value greater than or equal to 1"
	messageScanLimit = "1 validation error detected: Value '0' at 'limit' failed to satisfy " +
		"constraint: Member must have value greater than or equal to 1"
	messageTotalZero = "1 validation error detected: Value '0' at 'totalSegments' failed to " +
		"satisfy constraint: Member must have value greater than or equal to 1"
	messageNoTotal = "The TotalSegments parameter is required but was not present in the " +
		"request when Segment parameter is present"
	messageNoSegment = "The Segment parameter is required but was not present in the request " +
		"when parameter TotalSegments is present"
	messageIndexName = "1 validation error detected: Value '' at 'indexName' failed to satisfy " +
		"constraint: Member must have length greater than or equal to 3"
)

func (r *reader) limit(message string) int {
	n := r.int()
	if n == 0 && r.err == nil {
		r.refuse(message)
	}
	return n
}

func (r *reader) indexName() string {
	name := r.string()
	if name == "" && r.err == nil {
		r.refuse(messageIndexName)
	}
	return name
}

func decodeQuery(r *reader, in *dynamo.QueryInput) {
	table := false
	old := legacy{takes: legacyOfQuery}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "IndexName":
			in.IndexName = r.indexName()
		case "KeyConditionExpression":
			in.KeyConditionExpression = r.expression()
		case "FilterExpression":
			in.FilterExpression = r.expression()
		case "ProjectionExpression":
			in.ProjectionExpression = r.expression()
		case "Select":
			in.Select = dynamo.Select(r.string())
		case "ConsistentRead":
			in.ConsistentRead = r.bool()
		case "ScanIndexForward":
			in.ScanIndexBackward = !r.bool()
		case "Limit":
			in.Limit = r.limit(messageQueryLimit)
		case "ExclusiveStartKey":
			in.ExclusiveStartKey = r.item()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		default:
			if !r.placeholder(&in.Expressions) && !old.read(r) {
				r.skip()
			}
		}
	}
	r.require(table, "tableName")
	old.translate(r, expressed{
		Expressions: &in.Expressions, keyCondition: &in.KeyConditionExpression,
		filter: &in.FilterExpression, projection: &in.ProjectionExpression,
		sel: in.Select, wrap: "1 validation error detected: ",
	})
}

func encodeQuery(w *writer, in *dynamo.QueryInput, out *dynamo.QueryOutput) {
	w.page(in.Select, out.Items, out.Count, out.ScannedCount, out.LastEvaluatedKey,
		out.ConsumedCapacity)
}

func decodeScan(r *reader, in *dynamo.ScanInput) {
	table, segment, total := false, false, false
	old := legacy{takes: legacyOfScan}
	for r.object(); r.member(); {
		switch string(r.name) {
		case "TableName":
			in.TableName, table = r.string(), true
		case "IndexName":
			in.IndexName = r.indexName()
		case "FilterExpression":
			in.FilterExpression = r.expression()
		case "ProjectionExpression":
			in.ProjectionExpression = r.expression()
		case "Select":
			in.Select = dynamo.Select(r.string())
		case "ConsistentRead":
			in.ConsistentRead = r.bool()
		case "Limit":
			in.Limit = r.limit(messageScanLimit)
		case "ExclusiveStartKey":
			in.ExclusiveStartKey = r.item()
		case "ReturnConsumedCapacity":
			in.ReturnConsumedCapacity = r.capacityLevel()
		case "Segment":
			in.Segment, segment = r.int(), true
		case "TotalSegments":
			in.TotalSegments, total = r.int(), true
		default:
			if !r.placeholder(&in.Expressions) && !old.read(r) {
				r.skip()
			}
		}
	}
	r.require(table, "tableName")
	switch {
	case total && in.TotalSegments == 0:
		r.refuse(messageTotalZero)
	case segment && !total:
		r.refuse(messageNoTotal)
	case total && !segment:
		r.refuse(messageNoSegment)
	}
	old.translate(r, expressed{
		Expressions: &in.Expressions, filter: &in.FilterExpression,
		projection: &in.ProjectionExpression, sel: in.Select,
	})
}

// page appends the answer of a Query or a Scan. One that only counts has no list of items.
func (w *writer) page(s dynamo.Select, items []dynamo.Item, count, scanned int,
	last dynamo.Key, capacity *dynamo.ConsumedCapacity,
) {
	w.open('{')
	w.key("Count")
	w.int(int64(count))
	if s != dynamo.SelectCount {
		w.key("Items")
		w.items(items)
	}
	w.key("ScannedCount")
	w.int(int64(scanned))
	if last != nil {
		w.key("LastEvaluatedKey")
		w.item(last)
	}
	w.capacity(capacity)
	w.close('}')
}

func encodeScan(w *writer, in *dynamo.ScanInput, out *dynamo.ScanOutput) {
	w.page(in.Select, out.Items, out.Count, out.ScannedCount, out.LastEvaluatedKey,
		out.ConsumedCapacity)
}

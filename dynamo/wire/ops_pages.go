package wire

import (
	"context"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// offerPages adds the operations that read pages.
func offerPages(ops operations, db dynamo.DB) {
	if pager, ok := db.(dynamo.Pager); ok {
		ops[targetTables+"Query"] = eachOf(decodeQuery, pager.QueryEach, selectOfQuery, endQuery)
		ops[targetTables+"Scan"] = eachOf(decodeScan, pager.ScanEach, selectOfScan, endScan)
		return
	}
	offer(ops, targetTables+"Query", decodeQuery, db.Query, encodeQuery)
	offer(ops, targetTables+"Scan", decodeScan, db.Scan, encodeScan)
}

// The service's messages about zeros, which mean "not given" in the input of a store. Those about
// the limit depend on the operation.
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

// limit reads a page limit. 0 is refused here, because it means no limit in package dynamo.
func (r *reader) limit(message string) int {
	n := r.int()
	if n == 0 && r.err == nil {
		r.refuse(message)
	}
	return n
}

// indexName reads the name of an index. An empty name is refused here, because it means the table
// in package dynamo.
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
			// The field is inverted, so that its zero value is the default of the service.
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
	// In the input of a store 0 means "not given", so an explicit 0 must be refused here.
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

// eachOf returns an operation of a store that passes items one by one. They are written directly to
// the response. If the page fails later, the response is replaced by the error.
func eachOf[In, Out any](decode func(*reader, *In),
	call func(context.Context, *In, func(dynamo.Attributes)) (Out, error),
	selected func(*In) dynamo.Select, end func(*writer, *In, Out),
) operation {
	return func(ctx context.Context, r *reader, w *writer) error {
		in := new(In)
		decode(r, in)
		// The request is decoded completely before the store is called, because an error at its end
		// must have no effect.
		if err := r.end(); err != nil {
			return err
		}
		w.beginPage(selected(in))
		attribute := func(name string, v dynamo.Value) bool {
			w.name(name)
			w.value(v)
			return true
		}
		out, err := call(ctx, in, func(item dynamo.Attributes) {
			w.open('{')
			item(attribute)
			w.close('}')
		})
		if err != nil {
			return r.inItsWords(err)
		}
		end(w, in, out)
		return nil
	}
}

// beginPage begins the response of a Query or Scan; the items follow. A count has no list of items.
func (w *writer) beginPage(s dynamo.Select) {
	w.open('{')
	if s != dynamo.SelectCount {
		w.key("Items")
		w.open('[')
	}
}

// endPage writes the members after the items of a page, which Query and Scan share.
func (w *writer) endPage(s dynamo.Select, count, scanned int, last dynamo.Key,
	capacity *dynamo.ConsumedCapacity,
) {
	if s != dynamo.SelectCount {
		w.close(']')
	}
	w.key("Count")
	w.int(int64(count))
	w.key("ScannedCount")
	w.int(int64(scanned))
	// Without the member the client knows that this was the last page.
	if last != nil {
		w.key("LastEvaluatedKey")
		w.item(last)
	}
	w.capacity(capacity)
	w.close('}')
}

func selectOfQuery(in *dynamo.QueryInput) dynamo.Select { return in.Select }

func selectOfScan(in *dynamo.ScanInput) dynamo.Select { return in.Select }

func endQuery(w *writer, in *dynamo.QueryInput, out *dynamo.QueryOutput) {
	w.endPage(in.Select, out.Count, out.ScannedCount, out.LastEvaluatedKey, out.ConsumedCapacity)
}

func endScan(w *writer, in *dynamo.ScanInput, out *dynamo.ScanOutput) {
	w.endPage(in.Select, out.Count, out.ScannedCount, out.LastEvaluatedKey, out.ConsumedCapacity)
}

func encodeQuery(w *writer, in *dynamo.QueryInput, out *dynamo.QueryOutput) {
	w.beginPage(in.Select)
	for _, item := range out.Items {
		w.item(item)
	}
	endQuery(w, in, out)
}

func encodeScan(w *writer, in *dynamo.ScanInput, out *dynamo.ScanOutput) {
	w.beginPage(in.Select)
	for _, item := range out.Items {
		w.item(item)
	}
	endScan(w, in, out)
}

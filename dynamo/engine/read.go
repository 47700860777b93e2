package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// Get reads one item; see [dynamo.DB].
func (db *DB) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := db.checkNamed(in.TableName); err != nil {
		return nil, err
	}
	var wrong constraint.List
	wrong.Capacity(in.ReturnConsumedCapacity)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	// Attribute values are refused if no expression uses them, so they are passed although a Get
	// has no condition.
	r, refusal, err := db.requests.keyRead(in.TableName, in.Key, in.ProjectionExpression,
		in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err := first(refusal, err); err != nil {
		return nil, err
	}
	v, err := db.faults.viewFor(opGet, r, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	// Wait only for writes of this item's stripe that are not synced yet. Other writes cannot be in
	// the result, so a slow sync of another item does not delay this read.
	if err := db.writer.awaitStripes([]uint16{stripeOf(r.rowKey)}); err != nil {
		return nil, err
	}
	out := &dynamo.GetOutput{}
	if out.Item, err = v.Item(); err != nil {
		return nil, err
	}
	if p := r.exprs.Projection; p != nil && out.Item != nil {
		out.Item = p.Apply(out.Item)
	}
	if metered(in.ReturnConsumedCapacity) {
		c := newTally(in.ReturnConsumedCapacity, meterPlain)
		// The whole item is charged, even with a projection, because the service reads it whole.
		c.addTable(r.table, dynamo.ReadUnits(v.Size(), in.ConsistentRead))
		out.ConsumedCapacity = c.one()
	}
	return out, nil
}

// awaitReads waits until everything that a read may have seen is on the disk. It returns an error
// if the disk failed before that.
func (db *DB) awaitReads() error {
	if !db.synced || db.syncs.waitAll() {
		return nil
	}
	return db.Failure()
}

// keyRead validates the read of one item. A refusal is an invalid key; a transaction reports it as
// a reason of cancellation, other calls as an error.
func (q *requests) keyRead(tableName string, key dynamo.Key, projection string,
	names map[string]string, values map[string]dynamo.Value,
) (keyRead, *keyRefusal, error) {
	var r keyRead
	var err error
	r.exprs, err = q.prepare(&expr.Request{
		Projection: projection, Names: names, Values: values,
	})
	if err != nil {
		return r, nil, err
	}
	if r.table, err = q.db.tableOf(tableName); err != nil {
		return r, nil, err
	}
	// The table comes before the key: without a table the types of its key attributes are unknown.
	checked, refusal := r.table.checkKey(key)
	if refusal != nil {
		return r, refusal, nil
	}
	r.rowKey = q.db.itemKey(r.table, checked)
	return r, nil, nil
}

// Limits of batches ("BatchGetItem" and "BatchWriteItem" in the API reference).
const (
	batchKeysMax    = 100
	batchWritesMax  = 25
	batchAnswerMax  = 16 << 20
	batchRequestMax = 16 << 20
)

const (
	messageBatchRepeats = "Provided list of item keys contains duplicates"
	messageNoRequests   = "The requestItems parameter is required for %s"
)

// BatchGet reads items one by one; see [dynamo.DB]. Keys that would make the response larger than
// 16 MB are returned as unprocessed.
func (db *DB) BatchGet(ctx context.Context, in *dynamo.BatchGetInput) (
	*dynamo.BatchGetOutput, error,
) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	reads, err := db.requests.batchReads(in)
	if err != nil {
		return nil, err
	}
	out := &dynamo.BatchGetOutput{Responses: map[string][]dynamo.Item{}}
	for name := range in.RequestItems {
		out.Responses[name] = []dynamo.Item{} // an entry for each table, even if no item is found
	}
	if in, reads, out.UnprocessedKeys, err = db.faults.keptReads(in, reads); err != nil {
		return nil, err
	}
	tally := newTally(in.ReturnConsumedCapacity, meterPlain)
	size := 0
	for _, r := range reads {
		asked := in.RequestItems[r.name]
		// A batch of large items takes long enough to be worth ending early.
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := db.faults.viewFor(opBatchGet, r.keyRead, asked.ConsistentRead)
		if err != nil {
			return nil, err
		}
		// The limit is on the items as stored, before a projection.
		if size += v.Size(); size > batchAnswerMax {
			left := asked
			left.Keys = append(out.UnprocessedKeys[r.name].Keys, r.key)
			if out.UnprocessedKeys == nil {
				out.UnprocessedKeys = map[string]dynamo.KeysAndAttributes{}
			}
			out.UnprocessedKeys[r.name] = left
			// Smaller items of later keys may still fit, so keep reading.
			size -= v.Size()
			continue
		}
		tally.addTable(r.table, dynamo.ReadUnits(v.Size(), asked.ConsistentRead))
		item, err := v.Item()
		if err != nil {
			return nil, err
		}
		// A missing item costs capacity but has no entry in the response.
		if item == nil {
			continue
		}
		if r.exprs.Projection != nil {
			item = r.exprs.Projection.Apply(item)
		}
		out.Responses[r.name] = append(out.Responses[r.name], item)
	}
	if err := db.awaitReads(); err != nil {
		return nil, err
	}
	if metered(in.ReturnConsumedCapacity) {
		out.ConsumedCapacity = tally.all()
	}
	return out, nil
}

type batchRead struct {
	keyRead
	name string // the table's name in the request
	key  dynamo.Key
}

// batchReads validates the whole batch before the first read.
func (q *requests) batchReads(in *dynamo.BatchGetInput) ([]batchRead, error) {
	var wrong constraint.List
	wrong.Capacity(in.ReturnConsumedCapacity)
	if len(in.RequestItems) == 0 && len(wrong) == 0 {
		return nil, dynamo.Invalid(fmt.Sprintf(messageNoRequests, "BatchGetItem"))
	}
	total := 0
	for name, asked := range in.RequestItems {
		total += len(asked.Keys)
		if len(asked.Keys) == 0 {
			wrong.Add("[]", "requestItems."+name+".member.keys",
				"Member must have length greater than or equal to 1")
		}
		if len(asked.Keys) > batchKeysMax {
			wrong = append(wrong, "Value at 'RequestItems."+name+".member.Keys' failed to "+
				"satisfy constraint: Member must have length less than or equal to 100")
		}
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	// The limit of each table above has its own message; this one is for all tables together.
	if total > batchKeysMax {
		return nil, dynamo.Invalid("Too many items requested for the BatchGetItem call")
	}
	reads := make([]batchRead, 0, total)
	for name, asked := range in.RequestItems {
		seen := make(map[string]bool, len(asked.Keys))
		rows := make(map[string]bool, len(asked.Keys))
		for _, key := range asked.Keys {
			r, refusal, err := q.keyRead(name, key, asked.ProjectionExpression,
				asked.ExpressionAttributeNames, nil)
			if err := first(refusal, err); err != nil {
				return nil, err
			}
			// The service compares keys as they are written. One number in two notations is two
			// keys for it, but only one item is returned.
			written := r.table.written(key, r.rowKey)
			if seen[written] {
				return nil, dynamo.Invalid(messageBatchRepeats)
			}
			if seen[written] = true; rows[string(r.rowKey)] {
				continue
			}
			rows[string(r.rowKey)] = true
			reads = append(reads, batchRead{keyRead: r, name: name, key: key})
		}
	}
	return reads, nil
}

// written returns a text that differs for keys that are written differently: the row key, followed
// by its numbers as written.
func (t *table) written(key dynamo.Key, rowKey []byte) string {
	text := string(rowKey)
	for _, k := range t.keys {
		if k.kind == dynamo.KindN {
			text += " " + key[k.name].N()
		}
	}
	return text
}

// BatchWrite puts and deletes items; see [dynamo.DB]. Here all members are written as one atomic
// batch, but callers may not rely on that, because the service does not promise it.
func (db *DB) BatchWrite(ctx context.Context, in *dynamo.BatchWriteInput) (
	*dynamo.BatchWriteOutput, error,
) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	w := write{metered: metered(in.ReturnConsumedCapacity)}
	var err error
	if w.actions, err = db.requests.batchActions(in); err != nil {
		return nil, err
	}
	out := &dynamo.BatchWriteOutput{}
	if out.UnprocessedItems, err = db.faults.commitBatch(in, &w); err != nil {
		return nil, err
	}
	if w.metered {
		c := newTally(in.ReturnConsumedCapacity, meterPlain)
		c.addActions(w.actions)
		out.ConsumedCapacity = c.all()
	}
	if in.ReturnItemCollectionMetrics == dynamo.MetricsSize {
		out.ItemCollectionMetrics, err = db.catalog.collections(w.actions)
	}
	return out, err
}

// batchActions validates the whole batch before the first write, so that an invalid request writes
// nothing.
func (q *requests) batchActions(in *dynamo.BatchWriteInput) ([]action, error) {
	total := 0
	for _, requests := range in.RequestItems {
		total += len(requests)
	}
	var wrong constraint.List
	wrong.Capacity(in.ReturnConsumedCapacity)
	wrong.Metrics(in.ReturnItemCollectionMetrics)
	if len(in.RequestItems) == 0 && len(wrong) == 0 {
		return nil, dynamo.Invalid(fmt.Sprintf(messageNoRequests, "BatchWriteItem"))
	}
	// The limit is for all tables together, and the service reports both bounds in one message.
	if total == 0 || total > batchWritesMax {
		wrong.Add(requestsText(in.RequestItems), "requestItems", "Map value must satisfy "+
			"constraint: [Member must have length less than or equal to 25, Member must have "+
			"length greater than or equal to 1]")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	actions := make([]action, 0, total)
	size := 0
	for name, requests := range in.RequestItems {
		for _, r := range requests {
			a, err := q.batchAction(name, r)
			if err != nil {
				return nil, err
			}
			if size += r.Put.Size() + r.Delete.Size(); size > batchRequestMax {
				return nil, dynamo.Invalid("Request size exceeded 16777216 bytes")
			}
			actions = append(actions, a)
		}
	}
	return actions, checkDistinct(actions, messageBatchRepeats)
}

// requestsText formats the requests of a batch for a message: the number of requests of each table.
func requestsText(requests map[string][]dynamo.WriteRequest) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		parts = append(parts, fmt.Sprintf("%s=[%d write requests]", name, len(requests[name])))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (q *requests) batchAction(name string, r dynamo.WriteRequest) (action, error) {
	// The service has one message for a request with neither and for one with both.
	if (r.Put == nil) == (r.Delete == nil) {
		return action{}, dynamo.Invalid("Supplied AttributeValue has more than one datatypes " +
			"set, must contain exactly one of the supported datatypes")
	}
	var a action
	var refusal *keyRefusal
	var err error
	if r.Put != nil {
		a, refusal, err = q.put(&dynamo.PutInput{TableName: name, Item: r.Put}, false)
	} else {
		a, refusal, err = q.delete(&dynamo.DeleteInput{TableName: name, Key: r.Delete},
			false)
	}
	return a, first(refusal, err)
}

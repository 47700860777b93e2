package engine

import (
	"context"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/internal/origin"
)

// Put writes a whole item; see [dynamo.DB].
func (db *DB) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := db.checkNamed(in.TableName); err != nil {
		return nil, err
	}
	if err := checkReturns(in.ReturnValues, in.ReturnValuesOnConditionCheckFailure,
		in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, false); err != nil {
		return nil, err
	}
	a, refusal, err := db.requests.put(in, false)
	if err := first(refusal, err); err != nil {
		return nil, err
	}
	w := write{actions: []action{a}, metered: metered(in.ReturnConsumedCapacity)}
	if err := db.faults.commitCall(opPut, &w); err != nil {
		return nil, err
	}
	out := &dynamo.PutOutput{ConsumedCapacity: w.consumed(in.ReturnConsumedCapacity)}
	// A Put returns only ALL_OLD, because the new item is the one in the request.
	if in.ReturnValues == dynamo.ReturnAllOld {
		if out.Attributes, err = w.actions[0].old.Item(); err != nil {
			return nil, err
		}
	}
	out.ItemCollectionMetrics, err = db.catalog.collection(
		in.ReturnItemCollectionMetrics,
		&w.actions[0],
	)
	return out, err
}

// Update changes attributes of an item; see [dynamo.DB].
func (db *DB) Update(ctx context.Context, in *dynamo.UpdateInput) (*dynamo.UpdateOutput, error) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := db.checkNamed(in.TableName); err != nil {
		return nil, err
	}
	if err := checkReturns(in.ReturnValues, in.ReturnValuesOnConditionCheckFailure,
		in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, true); err != nil {
		return nil, err
	}
	a, refusal, err := db.requests.update(in, false)
	if err := first(refusal, err); err != nil {
		return nil, err
	}
	// The size of a PartiQL update is that of the item alone.
	a.flat = origin.IsStatement(ctx)
	w := write{actions: []action{a}, metered: metered(in.ReturnConsumedCapacity)}
	if err := db.faults.commitCall(opUpdate, &w); err != nil {
		return nil, err
	}
	out := &dynamo.UpdateOutput{ConsumedCapacity: w.consumed(in.ReturnConsumedCapacity)}
	if out.Attributes, err = w.actions[0].returned(in.ReturnValues); err != nil {
		return nil, err
	}
	out.ItemCollectionMetrics, err = db.catalog.collection(
		in.ReturnItemCollectionMetrics,
		&w.actions[0],
	)
	return out, err
}

// Delete removes an item; see [dynamo.DB].
func (db *DB) Delete(ctx context.Context, in *dynamo.DeleteInput) (*dynamo.DeleteOutput, error) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := db.checkNamed(in.TableName); err != nil {
		return nil, err
	}
	if err := checkReturns(in.ReturnValues, in.ReturnValuesOnConditionCheckFailure,
		in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, false); err != nil {
		return nil, err
	}
	a, refusal, err := db.requests.delete(in, false)
	if err := first(refusal, err); err != nil {
		return nil, err
	}
	w := write{actions: []action{a}, metered: metered(in.ReturnConsumedCapacity)}
	if err := db.faults.commitCall(opDelete, &w); err != nil {
		return nil, err
	}
	out := &dynamo.DeleteOutput{ConsumedCapacity: w.consumed(in.ReturnConsumedCapacity)}
	if in.ReturnValues == dynamo.ReturnAllOld {
		if out.Attributes, err = w.actions[0].old.Item(); err != nil {
			return nil, err
		}
	}
	out.ItemCollectionMetrics, err = db.catalog.collection(
		in.ReturnItemCollectionMetrics,
		&w.actions[0],
	)
	return out, err
}

// commitOne commits a write and returns the failure of its only action as an error.
func (c *writer) commitOne(w *write) error {
	failures, err := c.commit(w)
	if err != nil {
		return err
	}
	if failures != nil {
		return failures[0]
	}
	return nil
}

// first returns the error that the service reports first.
func first(refusal *keyRefusal, err error) error {
	if err == nil && refusal != nil {
		return refusal.err
	}
	return err
}

func (w *write) consumed(level dynamo.ReturnConsumedCapacity) *dynamo.ConsumedCapacity {
	if !w.metered {
		return nil
	}
	c := newTally(level, meterPlain)
	c.addActions(w.actions)
	return c.one()
}

// requests validates the calls to the database and turns them into actions and reads.
type requests struct{ db *DB }

// put validates a Put. An invalid key is returned separately, because a transaction reports
// it differently.
func (q *requests) put(in *dynamo.PutInput, transact bool) (action, *keyRefusal, error) {
	a := action{
		kind: actPut, transact: transact,
		returnOld: in.ReturnValuesOnConditionCheckFailure == dynamo.ReturnAllOld,
	}
	var err error
	a.exprs, err = q.prepare(&expr.Request{
		Condition: in.ConditionExpression, Names: in.ExpressionAttributeNames,
		Values: in.ExpressionAttributeValues, Takes: expr.TakesCondition,
	})
	if err != nil {
		return a, nil, err
	}
	if a.table, err = q.db.tableOf(in.TableName); err != nil {
		return a, nil, err
	}
	// The table comes before the item: the service reports a missing table first.
	if a.item, a.size, err = checkItem(in.Item); err != nil {
		return a, nil, err
	}
	// An invalid key is a refusal and not an error, because a transaction reports it as a reason of
	// cancellation.
	if r := a.table.checkItemKey(a.item); r != nil {
		return a, r, nil
	}
	if r := a.table.checkIndexKeys(a.item); r != nil {
		return a, r, nil
	}
	a.rowKey = q.db.itemKey(a.table, a.item)
	return a, nil, nil
}

// update validates an update. The attributes of the key cannot be changed.
func (q *requests) update(in *dynamo.UpdateInput, transact bool) (action, *keyRefusal, error) {
	a := action{
		kind: actUpdate, transact: transact,
		returnOld: in.ReturnValuesOnConditionCheckFailure == dynamo.ReturnAllOld,
	}
	var err error
	a.exprs, err = q.prepare(&expr.Request{
		Condition: in.ConditionExpression, Update: in.UpdateExpression,
		Names: in.ExpressionAttributeNames, Values: in.ExpressionAttributeValues,
		Takes: expr.TakesUpdate | expr.TakesCondition,
	})
	if err != nil {
		return a, nil, err
	}
	if a.table, err = q.db.tableOf(in.TableName); err != nil {
		return a, nil, err
	}
	if u := a.exprs.Update; u != nil {
		for _, k := range a.table.keys {
			// A changed key would be a different item.
			if u.Changes(k.name) {
				return a, nil, dynamo.Invalid(fmt.Sprintf(messageKeyInUpdate, k.name))
			}
		}
	}
	var refusal *keyRefusal
	// Keys of indexes are checked when the new item is known, because the update may compute them.
	if a.key, refusal = a.table.checkKey(in.Key); refusal != nil {
		return a, refusal, nil
	}
	a.rowKey = q.db.itemKey(a.table, a.key)
	return a, nil, nil
}

func (q *requests) delete(in *dynamo.DeleteInput, transact bool) (action, *keyRefusal, error) {
	return q.keyAction(actDelete, transact, in.TableName, in.Key, in.ConditionExpression,
		in.Expressions, in.ReturnValuesOnConditionCheckFailure)
}

func (q *requests) check(in *dynamo.ConditionCheck) (action, *keyRefusal, error) {
	return q.keyAction(actCheck, true, in.TableName, in.Key, in.ConditionExpression,
		in.Expressions, in.ReturnValuesOnConditionCheckFailure)
}

// keyAction returns an action that consists of a key and a condition.
func (q *requests) keyAction(kind actionKind, transact bool, tableName string, key dynamo.Key,
	condition string, placeholders dynamo.Expressions, onFailure dynamo.ReturnValues,
) (action, *keyRefusal, error) {
	a := action{kind: kind, transact: transact, returnOld: onFailure == dynamo.ReturnAllOld}
	var err error
	a.exprs, err = q.prepare(&expr.Request{
		Condition: condition, Names: placeholders.ExpressionAttributeNames,
		Values: placeholders.ExpressionAttributeValues, Takes: expr.TakesCondition,
	})
	if err != nil {
		return a, nil, err
	}
	if a.table, err = q.db.tableOf(tableName); err != nil {
		return a, nil, err
	}
	checked, refusal := a.table.checkKey(key)
	if refusal != nil {
		return a, refusal, nil
	}
	a.rowKey = q.db.itemKey(a.table, checked)
	return a, nil, nil
}

// noExpressions is the result of prepare for a call without expressions.
var noExpressions = &expr.Prepared{}

// prepare parses the expressions of a request. Requests without any, which are frequent, share one
// empty result.
func (q *requests) prepare(r *expr.Request) (*expr.Prepared, error) {
	if r.Condition == "" && r.Filter == "" && r.KeyCondition == "" && r.Projection == "" &&
		r.Update == "" && r.Names == nil && r.Values == nil {
		return noExpressions, nil
	}
	return q.db.parser.Prepare(r)
}

// returned returns the attributes that an update was asked to return.
func (a *action) returned(what dynamo.ReturnValues) (item dynamo.Item, err error) {
	switch what {
	case dynamo.ReturnAllOld, dynamo.ReturnUpdatedOld:
		item, err = a.before()
	case dynamo.ReturnAllNew, dynamo.ReturnUpdatedNew:
		item, err = a.afterwards()
	}
	if item == nil || err != nil {
		return nil, err
	}
	u := a.exprs.Update
	switch {
	case what == dynamo.ReturnAllOld || what == dynamo.ReturnAllNew:
		return item, nil
	// An update without an expression only creates an item, so it updated no attributes.
	case u == nil:
		return nil, nil
	case what == dynamo.ReturnUpdatedOld:
		return nonEmpty(u.Old(item)), nil
	}
	return nonEmpty(u.New(item)), nil
}

func nonEmpty(item dynamo.Item) dynamo.Item {
	if len(item) == 0 {
		return nil
	}
	return item
}

package engine

import (
	"errors"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

// asWrite translates a statement that writes, or an EXISTS, to an action of a transaction.
func (st *stated) asWrite(t *table, returnOld bool) (*dynamo.TransactWriteItem, error) {
	onFailure := dynamo.ReturnNone
	if returnOld {
		onFailure = dynamo.ReturnAllOld
	}
	if st.Verb == partiql.Insert {
		return &dynamo.TransactWriteItem{Put: &dynamo.PutInput{
			TableName: st.Table, Item: st.item,
			ConditionExpression: "attribute_not_exists(#0)",
			Expressions: dynamo.Expressions{
				ExpressionAttributeNames: map[string]string{"#0": t.partitionKey().name},
			},
		}}, nil
	}
	key, whole, ok, err := st.key(t)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, dynamo.Invalid(messageWholeKey)
	}
	switch st.Verb {
	case partiql.Update:
		// The condition names the key, so it is false if the item does not exist.
		return &dynamo.TransactWriteItem{Update: &dynamo.UpdateInput{
			TableName: st.Table, Key: key, UpdateExpression: st.update,
			ConditionExpression: st.condition, Expressions: st.bound.Expressions,
			ReturnValuesOnConditionCheckFailure: onFailure,
		}}, nil
	case partiql.Exists:
		return &dynamo.TransactWriteItem{ConditionCheck: &dynamo.ConditionCheck{
			TableName: st.Table, Key: key, ConditionExpression: st.condition,
			Expressions: st.bound.Expressions, ReturnValuesOnConditionCheckFailure: onFailure,
		}}, nil
	}
	del := &dynamo.DeleteInput{
		TableName: st.Table, Key: key, ReturnValuesOnConditionCheckFailure: onFailure,
	}
	if !whole {
		del.ConditionExpression, del.Expressions, err = st.unlessMissing(t)
	}
	return &dynamo.TransactWriteItem{Delete: del}, err
}

// unlessMissing returns the WHERE in a form that is true for a missing item, because it is not an
// error to delete one.
func (st *stated) unlessMissing(t *table) (string, dynamo.Expressions, error) {
	key := partiql.Path{{Name: t.partitionKey().name, Index: partiql.NotIndexed}}
	missing := &partiql.Expr{
		Op: partiql.OpCall, Name: "attribute_not_exists",
		Args: []*partiql.Expr{{Op: partiql.OpPath, Path: key}},
	}
	bound := st.bound.Renew()
	text, err := bound.Condition(&partiql.Expr{
		Op: partiql.OpOr, Args: []*partiql.Expr{missing, st.Where},
	})
	return text, bound.Expressions, err
}

// written is the result of a statement that writes.
type written struct {
	items []dynamo.Item // never nil
	write write
}

// writeStatement executes a statement that writes. If it fails after its item was found, it also
// returns a result, from which the cost is computed.
func (db *DB) writeStatement(st *stated, level dynamo.ReturnConsumedCapacity, returnOld bool) (
	*written, error,
) {
	t, err := db.tableFor(st)
	if err != nil {
		return nil, err
	}
	if st.Verb == partiql.Exists {
		return nil, dynamo.Invalid(messageOnlyInTransaction)
	}
	as, err := st.asWrite(t, returnOld)
	if err != nil {
		return nil, err
	}
	var a action
	var refusal *keyRefusal
	op := opPut
	switch {
	case as.Put != nil:
		a, refusal, err = db.putAction(as.Put, false)
	case as.Update != nil:
		op = opUpdate
		a, refusal, err = db.updateAction(as.Update, false)
		a.flat = true
	default:
		op = opDelete
		a, refusal, err = db.deleteAction(as.Delete, false)
	}
	if err := first(refusal, err); err != nil {
		return nil, withoutParameter(err)
	}
	out := &written{
		write: write{actions: []action{a}, metered: metered(level)}, items: []dynamo.Item{},
	}
	if err := db.commitCall(op, &out.write); err != nil {
		return out, asDuplicate(st, withoutParameter(err))
	}
	item, err := st.returned(&out.write.actions[0])
	if item != nil {
		out.items = append(out.items, item)
	}
	return out, err
}

// asDuplicate replaces the failed condition of an INSERT by the service's error for it.
func asDuplicate(st *stated, err error) error {
	if st.Verb == partiql.Insert && errors.Is(err, dynamo.ErrConditionalCheckFailed) {
		return &dynamo.Error{Code: dynamo.CodeDuplicateItem, Message: messageDuplicate}
	}
	return err
}

// returned returns the attributes that RETURNING asks for, or nil.
func (st *stated) returned(a *action) (dynamo.Item, error) {
	switch st.Returning {
	case partiql.ReturningAllOld:
		return a.returned(dynamo.ReturnAllOld)
	case partiql.ReturningModifiedOld:
		return a.returned(dynamo.ReturnUpdatedOld)
	case partiql.ReturningAllNew:
		return a.returned(dynamo.ReturnAllNew)
	case partiql.ReturningModifiedNew:
		return a.returned(dynamo.ReturnUpdatedNew)
	}
	return nil, nil
}

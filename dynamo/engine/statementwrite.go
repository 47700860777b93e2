package engine

import (
	"errors"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

// asWrite turns a statement that writes, or an EXISTS, into the action of a transaction.
func (st *stated) asWrite(t *table, tellOld bool) (*dynamo.TransactWriteItem, error) {
	onFailure := dynamo.ReturnNone
	if tellOld {
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
		// The condition names the key, so it does not hold of an item that is missing.
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

// unlessMissing writes the WHERE so that it holds of a missing item, which it is no error to
// delete.
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

// written is what came of a statement that writes.
type written struct {
	items []dynamo.Item // never nil
	write write
}

// writeStatement carries out a statement that writes. One that failed after its item was found has
// an answer as well, for what it cost.
func (db *DB) writeStatement(st *stated, level dynamo.ReturnConsumedCapacity, tellOld bool) (
	*written, error,
) {
	t, err := db.tableFor(st)
	if err != nil {
		return nil, err
	}
	if st.Verb == partiql.Exists {
		return nil, dynamo.Invalid(messageOnlyInTransaction)
	}
	as, err := st.asWrite(t, tellOld)
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
		return nil, bare(err)
	}
	out := &written{
		write: write{actions: []action{a}, metered: metered(level)}, items: []dynamo.Item{},
	}
	if err := db.commitCall(op, &out.write); err != nil {
		return out, asDuplicate(st, bare(err))
	}
	item, err := st.returned(&out.write.actions[0])
	if item != nil {
		out.items = append(out.items, item)
	}
	return out, err
}

// asDuplicate turns the failed condition of an INSERT into what it means.
func asDuplicate(st *stated, err error) error {
	if st.Verb == partiql.Insert && errors.Is(err, dynamo.ErrConditionalCheckFailed) {
		return &dynamo.Error{Code: dynamo.CodeDuplicateItem, Message: messageDuplicate}
	}
	return err
}

// returned is what RETURNING asks for; nil where there is nothing.
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

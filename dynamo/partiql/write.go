package partiql

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/origin"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

// asWrite translates a statement that writes, or an EXISTS, to an action of a transaction.
func (st *stated) asWrite(t *table, returnOld bool) (*dynamo.TransactWriteItem, error) {
	onFailure := dynamo.ReturnNone
	if returnOld {
		onFailure = dynamo.ReturnAllOld
	}
	if st.Verb == syntax.Insert {
		return &dynamo.TransactWriteItem{Put: &dynamo.PutInput{
			TableName: st.Table, Item: st.item,
			ConditionExpression:                 "attribute_not_exists(#0)",
			ReturnValuesOnConditionCheckFailure: onFailure,
			Expressions: dynamo.Expressions{
				ExpressionAttributeNames: map[string]string{"#0": t.keys[0].name},
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
	case syntax.Update:
		// The condition names the key, so it is false if the item does not exist.
		return &dynamo.TransactWriteItem{Update: &dynamo.UpdateInput{
			TableName: st.Table, Key: key, UpdateExpression: st.update,
			ConditionExpression: st.condition, Expressions: st.bound.Expressions,
			ReturnValuesOnConditionCheckFailure: onFailure,
		}}, nil
	case syntax.Exists:
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
	key := syntax.Path{{Name: t.keys[0].name, Index: syntax.NotIndexed}}
	missing := &syntax.Expr{
		Op: syntax.OpCall, Name: "attribute_not_exists",
		Args: []*syntax.Expr{{Op: syntax.OpPath, Path: key}},
	}
	bound := st.bound.Renew()
	text, err := bound.Condition(&syntax.Expr{
		Op: syntax.OpOr, Args: []*syntax.Expr{missing, st.Where},
	})
	return text, bound.Expressions, err
}

// written is the result of a statement that writes.
type written struct {
	item     dynamo.Item // that RETURNING asks for, or nil
	consumed *dynamo.ConsumedCapacity
}

// writeStatement executes a statement that writes. returnOld requests the item as found if the
// condition fails; the error then has it, except for an INSERT.
func (x *Executor) writeStatement(ctx context.Context, ts *tables, st *stated,
	level dynamo.ReturnConsumedCapacity, returnOld bool,
) (*written, error) {
	t, err := ts.tableFor(ctx, st)
	if err != nil {
		return nil, err
	}
	if st.Verb == syntax.Exists {
		return nil, dynamo.Invalid(messageOnlyInTransaction)
	}
	as, err := st.asWrite(t, returnOld)
	if err != nil {
		return nil, err
	}
	out, err := x.write(ctx, as, st.returnValues(), level)
	if err != nil {
		return nil, asDuplicate(st, withoutParameter(err))
	}
	return out, nil
}

// write makes the write of a statement by the operation for it.
func (x *Executor) write(ctx context.Context, as *dynamo.TransactWriteItem,
	returned dynamo.ReturnValues, level dynamo.ReturnConsumedCapacity,
) (*written, error) {
	out := &written{}
	ctx = origin.Statement(ctx)
	var err error
	switch {
	case as.Put != nil:
		as.Put.ReturnConsumedCapacity = level
		var put *dynamo.PutOutput
		if put, err = x.db.Put(ctx, as.Put); err == nil {
			out.consumed = put.ConsumedCapacity
		}
	case as.Update != nil:
		as.Update.ReturnConsumedCapacity, as.Update.ReturnValues = level, returned
		var update *dynamo.UpdateOutput
		if update, err = x.db.Update(ctx, as.Update); err == nil {
			out.item, out.consumed = update.Attributes, update.ConsumedCapacity
		}
	default:
		as.Delete.ReturnConsumedCapacity, as.Delete.ReturnValues = level, returned
		var del *dynamo.DeleteOutput
		if del, err = x.db.Delete(ctx, as.Delete); err == nil {
			out.item, out.consumed = del.Attributes, del.ConsumedCapacity
		}
	}
	return out, err
}

// asDuplicate replaces the failed condition of an INSERT by the service's error for it.
func asDuplicate(st *stated, err error) error {
	var e *dynamo.Error
	if st.Verb == syntax.Insert && errors.As(err, &e) &&
		e.Code == dynamo.CodeConditionalCheckFailed {
		return &dynamo.Error{
			Code: dynamo.CodeDuplicateItem, Message: messageDuplicate, Item: e.Item,
		}
	}
	return err
}

// returnValues returns the attributes that RETURNING asks for.
func (st *stated) returnValues() dynamo.ReturnValues {
	switch st.Returning {
	case syntax.ReturningAllOld:
		return dynamo.ReturnAllOld
	case syntax.ReturningModifiedOld:
		return dynamo.ReturnUpdatedOld
	case syntax.ReturningAllNew:
		return dynamo.ReturnAllNew
	case syntax.ReturningModifiedNew:
		return dynamo.ReturnUpdatedNew
	}
	return dynamo.ReturnNone
}

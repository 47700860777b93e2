package engine

import (
	"context"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/internal/origin"
)

// Limits of transactions ("Amazon DynamoDB Transactions" in the developer guide).
const (
	transactActionsMax = 100
	transactSizeMax    = 4 << 20 // of the request, not of the items
)

const (
	messageTransactRepeats = "Transaction request cannot include multiple operations on one item"
	messageTransactSize    = "Member must have length less than or equal to 4194304, " +
		"Collection size of the transaction exceeds the limit"
	messageTransactOne = "TransactItems can only contain one of Check, Put, Update or Delete"
)

// TransactWrite executes all its actions or none; see [dynamo.DB].
func (db *DB) TransactWrite(ctx context.Context, in *dynamo.TransactWriteInput) (
	*dynamo.TransactWriteOutput, error,
) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	if err := checkTransactWrite(in); err != nil {
		return nil, err
	}
	w := write{
		actions: make([]action, len(in.Items)),
		metered: metered(in.ReturnConsumedCapacity),
	}
	// Validate everything before the first action, because an invalid action cancels all of them.
	if err := db.requests.transactActions(in, w.actions); err != nil {
		return nil, err
	}
	switch token := in.ClientRequestToken; {
	case token == "":
		return db.transact(in, &w)
	// The service remembers the tokens of ExecuteTransaction apart from those of
	// TransactWriteItems.
	case origin.IsStatement(ctx):
		return db.tokens.once(in, statementTokens+token, &w)
	default:
		return db.tokens.once(in, token, &w)
	}
}

// statementTokens is the prefix of the client request tokens of statement transactions, which are
// separate from those of other transactions. It is longer than the maximum length of a token, so
// that the two cannot be equal.
const statementTokens = "client request token of a transaction of statements: "

func checkTransactWrite(in *dynamo.TransactWriteInput) error {
	var wrong constraint.List
	n := len(in.Items)
	if n == 0 {
		wrong.Add("[]", "transactItems", "Member must have length greater than or equal to 1")
	}
	if n > transactActionsMax {
		wrong.Add("["+fmt.Sprint(n)+" items]", "transactItems",
			"Member must have length less than or equal to 100")
	}
	if len(in.ClientRequestToken) > tokenLengthMax {
		wrong.Add(in.ClientRequestToken, "clientRequestToken",
			"Member must have length less than or equal to 36")
	}
	wrong.Capacity(in.ReturnConsumedCapacity)
	wrong.Metrics(in.ReturnItemCollectionMetrics)
	return wrong.Err()
}

// transactActions validates all actions. An invalid request is refused. A key that does not fit its
// table cancels the transaction, and only the first such action has a reason.
func (q *requests) transactActions(in *dynamo.TransactWriteInput, actions []action) error {
	size := 0
	var cancelled *dynamo.Error
	for i := range in.Items {
		item := &in.Items[i]
		a, refusal, err := q.transactAction(item)
		if err == nil && refusal != nil && !refusal.cancels {
			// Only some invalid keys cancel a transaction; for the others the whole request is
			// invalid.
			err = refusal.err
		}
		if err != nil {
			return err
		}
		if refusal != nil && cancelled == nil {
			reasons := make([]dynamo.CancellationReason, len(in.Items))
			reasons[i] = dynamo.CancellationReason{
				Code: dynamo.ReasonValidation, Message: refusal.err.Message,
			}
			// Keep on validating, because an invalid request is reported before a cancellation.
			cancelled = dynamo.Canceled(reasons)
		}
		actions[i] = a
		// Expressions are not part of the size, but their values are.
		if size += requestSize(item); size > transactSizeMax {
			return dynamo.Invalid(messageTransactSize)
		}
	}
	if cancelled != nil {
		return cancelled
	}
	return checkDistinct(actions, messageTransactRepeats)
}

// checkDistinct refuses two actions on one item.
func checkDistinct(actions []action, message string) error {
	const few = 12 // below this number comparing all pairs is faster than a map
	if len(actions) <= few {
		for i := range actions {
			for j := range i {
				if string(actions[i].rowKey) == string(actions[j].rowKey) {
					return dynamo.Invalid(message)
				}
			}
		}
		return nil
	}
	seen := make(map[string]bool, len(actions))
	for i := range actions {
		key := string(actions[i].rowKey)
		if seen[key] {
			return dynamo.Invalid(message)
		}
		seen[key] = true
	}
	return nil
}

// transactAction validates one item of a transaction, which must have exactly one of the four
// actions.
func (q *requests) transactAction(item *dynamo.TransactWriteItem) (action, *keyRefusal, error) {
	set := 0
	for _, is := range []bool{
		item.ConditionCheck != nil, item.Put != nil, item.Update != nil, item.Delete != nil,
	} {
		if is {
			set++
		}
	}
	// No action is as invalid as two, with the same message.
	if set != 1 {
		return action{}, nil, dynamo.Invalid(messageTransactOne)
	}
	switch {
	case item.Put != nil:
		if err := checkOnFailure(item.Put.ReturnValuesOnConditionCheckFailure); err != nil {
			return action{}, nil, err
		}
		return q.put(item.Put, true)
	case item.Update != nil:
		if err := checkOnFailure(item.Update.ReturnValuesOnConditionCheckFailure); err != nil {
			return action{}, nil, err
		}
		return q.update(item.Update, true)
	case item.Delete != nil:
		if err := checkOnFailure(item.Delete.ReturnValuesOnConditionCheckFailure); err != nil {
			return action{}, nil, err
		}
		return q.delete(item.Delete, true)
	}
	c := item.ConditionCheck
	if err := checkOnFailure(c.ReturnValuesOnConditionCheckFailure); err != nil {
		return action{}, nil, err
	}
	// A check without a condition would have no effect, so the service refuses it.
	if c.ConditionExpression == "" {
		return action{}, nil, dynamo.Invalid("The parameter 'ConditionExpression' is required " +
			"but was not present in the request")
	}
	return q.check(c)
}

func checkOnFailure(values dynamo.ReturnValues) error {
	var wrong constraint.List
	wrong.OnFailure(values)
	return wrong.Err()
}

// requestSize returns the size of an action in its request: the item or key, and the values.
func requestSize(item *dynamo.TransactWriteItem) int {
	switch {
	case item.Put != nil:
		return item.Put.Item.Size() + valuesSize(item.Put.Expressions)
	case item.Update != nil:
		return item.Update.Key.Size() + valuesSize(item.Update.Expressions)
	case item.Delete != nil:
		return item.Delete.Key.Size() + valuesSize(item.Delete.Expressions)
	}
	return item.ConditionCheck.Key.Size() + valuesSize(item.ConditionCheck.Expressions)
}

func valuesSize(e dynamo.Expressions) int {
	return dynamo.Item(e.ExpressionAttributeValues).Size()
}

// transact commits the actions and returns the response.
func (db *DB) transact(in *dynamo.TransactWriteInput, w *write) (
	*dynamo.TransactWriteOutput, error,
) {
	// An error is the store's; failures are the actions that cancel the transaction.
	failures, err := db.faults.commitTransact(w)
	if err != nil {
		return nil, err
	}
	if failures != nil {
		return nil, canceled(failures)
	}
	out := &dynamo.TransactWriteOutput{}
	// A cancelled transaction returns no capacity, so only a committed one is metered.
	if w.metered {
		c := newTally(in.ReturnConsumedCapacity, meterTransactWrite)
		c.addActions(w.actions)
		out.ConsumedCapacity = c.all()
	}
	if in.ReturnItemCollectionMetrics == dynamo.MetricsSize {
		out.ItemCollectionMetrics, err = db.catalog.collections(w.actions)
	}
	return out, err
}

// canceled converts the failures of the actions to the reasons of the cancellation. All failed
// conditions are reported, but only the first invalid action is.
func canceled(failures []*dynamo.Error) error {
	reasons := make([]dynamo.CancellationReason, len(failures))
	for i, f := range failures {
		if f != nil && f.Code != dynamo.CodeConditionalCheckFailed {
			// An invalid action hides the failed conditions: the service reports it alone.
			clear(reasons)
			reasons[i] = dynamo.CancellationReason{
				Code: dynamo.ReasonValidation, Message: f.Message,
			}
			break
		}
		if f != nil {
			reasons[i] = dynamo.ConditionFailed(f.Item)
		}
	}
	return dynamo.Canceled(reasons)
}

// TransactGet reads items from one snapshot; see [dynamo.DB].
func (db *DB) TransactGet(ctx context.Context, in *dynamo.TransactGetInput) (
	*dynamo.TransactGetOutput, error,
) {
	if err := db.enter(ctx, in); err != nil {
		return nil, err
	}
	defer db.end()
	reads, err := db.requests.transactReads(in)
	if err != nil {
		return nil, err
	}
	if err := db.faults.plan.Load().cancelRead(reads); err != nil {
		return nil, err
	}
	out := &dynamo.TransactGetOutput{Items: make([]dynamo.Item, len(reads))}
	tally := newTally(in.ReturnConsumedCapacity, meterTransactRead)
	// One snapshot for all reads makes the transaction serialisable without locks.
	snapshot := db.store.NewSnapshot()
	for i, r := range reads {
		v, err := db.view(snapshot, r.rowKey)
		if err != nil {
			_ = snapshot.Close() // return the error of the read
			return nil, err
		}
		// A transactional read costs two units per 4 KB: one to prepare, one to commit ("Capacity
		// management for transactions").
		tally.addTable(r.table, 2*dynamo.ReadUnits(v.Size(), true))
		item, err := v.Item()
		if err != nil {
			_ = snapshot.Close()
			return nil, err
		}
		if p := r.exprs.Projection; p != nil && item != nil {
			item = nonEmpty(p.Apply(item))
		}
		out.Items[i] = item
	}
	if err := snapshot.Close(); err != nil {
		return nil, err
	}
	// The snapshot may contain writes that are not synced yet. Wait for them, because a reader must
	// never see data that a power failure can remove.
	if err := db.awaitReads(); err != nil {
		return nil, err
	}
	if metered(in.ReturnConsumedCapacity) {
		out.ConsumedCapacity = tally.all()
	}
	return out, nil
}

// keyRead is a validated read by key.
type keyRead struct {
	table  *table
	rowKey []byte
	exprs  *expr.Prepared
}

// transactReads validates all reads of a transaction before the first is done.
func (q *requests) transactReads(in *dynamo.TransactGetInput) ([]keyRead, error) {
	var wrong constraint.List
	if len(in.Items) == 0 {
		wrong.Add("[]", "transactItems", "Member must have length greater than or equal to 1")
	}
	if len(in.Items) > transactActionsMax {
		wrong.Add(fmt.Sprintf("[%d items]", len(in.Items)), "transactItems",
			"Member must have length less than or equal to 100")
	}
	wrong.Capacity(in.ReturnConsumedCapacity)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	reads := make([]keyRead, len(in.Items))
	seen := make(map[string]bool, len(in.Items))
	for i := range in.Items {
		get := &in.Items[i]
		r, refusal, err := q.keyRead(get.TableName, get.Key, get.ProjectionExpression,
			get.ExpressionAttributeNames, nil)
		if err != nil {
			return nil, err
		}
		if refusal != nil {
			if !refusal.cancels {
				return nil, refusal.err
			}
			reasons := make([]dynamo.CancellationReason, len(in.Items))
			reasons[i] = dynamo.CancellationReason{
				Code: dynamo.ReasonValidation, Message: refusal.err.Message,
			}
			return nil, dynamo.Canceled(reasons)
		}
		// Two numbers that are equal are one key, even if they are written differently.
		if seen[string(r.rowKey)] {
			return nil, dynamo.Invalid(messageTransactRepeats)
		}
		seen[string(r.rowKey)] = true
		reads[i] = r
	}
	return reads, nil
}

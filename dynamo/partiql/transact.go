package partiql

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
	"github.com/exchequer-dev/exchequer/dynamo/internal/origin"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

const (
	messageTransactMixed     = "ExecuteTransaction API does not support both read and write operations in the same request."
	messageTransactReturning = "RETURNING clause is not supported in ExecuteTransaction."
	messageTransactIndex     = "Reads on indices are not supported within transactions."
	messageTransactKey       = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
	messageTransactExists    = "EXISTS() must contain a single item read with additional condition"
)

// Limits of transactions ("Amazon DynamoDB Transactions" in the developer guide).
const (
	transactStatementsMax = 100
	tokenLengthMax        = 36
)

// ExecuteTransaction executes all statements or none; see [dynamo.PartiQL].
func (x *Executor) ExecuteTransaction(ctx context.Context, in *dynamo.ExecuteTransactionInput) (
	*dynamo.ExecuteTransactionOutput, error,
) {
	if err := checkStatements("transactStatements", len(in.TransactStatements),
		transactStatementsMax, in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	var wrong constraint.List
	if len(in.ClientRequestToken) > tokenLengthMax {
		wrong.Add(in.ClientRequestToken, "clientRequestToken",
			"Member must have length less than or equal to 36")
	}
	statements := make([]*stated, len(in.TransactStatements))
	for i := range in.TransactStatements {
		one := &in.TransactStatements[i]
		wrong.OnFailure(one.ReturnValuesOnConditionCheckFailure)
		if err := wrong.Err(); err != nil {
			return nil, err
		}
		if _, err := x.statements.Parse(one.Statement); err != nil {
			return nil, inTransaction(i, err)
		}
		st, err := x.state(one.Statement, one.Parameters)
		if err != nil {
			return nil, err
		}
		if st.Returning != syntax.ReturningNothing {
			return nil, inTransaction(i, dynamo.Invalid(messageTransactReturning))
		}
		statements[i] = st
	}
	if mixed(statements) {
		return nil, dynamo.Invalid(messageTransactMixed)
	}
	if statements[0].Reads() {
		return x.transactSelect(ctx, in, statements)
	}
	return x.transactStatements(ctx, in, statements)
}

// inTransaction adds the index of the refused statement to its error.
func inTransaction(i int, err error) error {
	var e *dynamo.Error
	if !errors.As(err, &e) || e.Code != dynamo.CodeValidation {
		return err
	}
	return dynamo.Invalid(fmt.Sprintf("Validation failed in TransactStatements[%d]: %s", i,
		e.Message))
}

// transactSelect reads one item for each statement from one snapshot.
func (x *Executor) transactSelect(ctx context.Context, in *dynamo.ExecuteTransactionInput,
	statements []*stated,
) (*dynamo.ExecuteTransactionOutput, error) {
	get := &dynamo.TransactGetInput{ReturnConsumedCapacity: in.ReturnConsumedCapacity}
	ts := &tables{db: x.db}
	if err := ts.asGets(ctx, get, statements); err != nil {
		return nil, err
	}
	got, err := x.db.TransactGet(ctx, get)
	if err != nil {
		return nil, err
	}
	out := &dynamo.ExecuteTransactionOutput{
		Items: got.Items, ConsumedCapacity: got.ConsumedCapacity,
	}
	for i, st := range statements {
		if s := (selection{columns: columnsOf(st.Columns)}); out.Items[i] != nil {
			out.Items[i] = nonEmpty(s.pick(out.Items[i]))
		}
	}
	return out, nil
}

// asGets translates the SELECT statements of a transaction to reads. Each must name a whole key,
// because a transaction reads single items.
func (ts *tables) asGets(ctx context.Context, get *dynamo.TransactGetInput,
	statements []*stated,
) error {
	for i, st := range statements {
		t, err := ts.tableFor(ctx, st)
		if err != nil {
			return inTransaction(i, err)
		}
		key, whole, ok, err := st.key(t)
		switch {
		case err != nil:
		case st.Index != "":
			err = dynamo.Invalid(messageTransactIndex)
		case !whole || !ok:
			err = dynamo.Invalid(messageTransactKey)
		}
		if err != nil {
			return inTransaction(i, err)
		}
		get.Items = append(get.Items, dynamo.TransactGetItem{TableName: st.Table, Key: key})
	}
	return nil
}

// transactStatements executes all writes of the statements or none.
func (x *Executor) transactStatements(ctx context.Context, in *dynamo.ExecuteTransactionInput,
	statements []*stated,
) (*dynamo.ExecuteTransactionOutput, error) {
	as := &dynamo.TransactWriteInput{
		ClientRequestToken:     in.ClientRequestToken,
		ReturnConsumedCapacity: in.ReturnConsumedCapacity,
	}
	ts := &tables{db: x.db}
	if err := ts.asWrites(ctx, as, in, statements); err != nil {
		return nil, err
	}
	out, err := x.db.TransactWrite(origin.Statement(ctx), as)
	if err != nil {
		return nil, asDuplicates(statements, withoutParameter(err))
	}
	return &dynamo.ExecuteTransactionOutput{
		Items: []dynamo.Item{}, ConsumedCapacity: out.ConsumedCapacity,
	}, nil
}

// asWrites translates the statements of a transaction that writes.
func (ts *tables) asWrites(ctx context.Context, as *dynamo.TransactWriteInput,
	in *dynamo.ExecuteTransactionInput, statements []*stated,
) error {
	for i, st := range statements {
		t, err := ts.tableFor(ctx, st)
		if err != nil {
			return inTransaction(i, err)
		}
		if st.Verb == syntax.Exists {
			err = st.checkExists(t)
		}
		if err != nil {
			return inTransaction(i, err)
		}
		returnOld := in.TransactStatements[i].ReturnValuesOnConditionCheckFailure ==
			dynamo.ReturnAllOld
		item, err := st.asWrite(t, returnOld)
		if err != nil {
			return inTransaction(i, err)
		}
		as.Items = append(as.Items, *item)
	}
	return nil
}

// checkExists refuses an EXISTS that does not name exactly one item or that has no other condition.
func (st *stated) checkExists(t *table) error {
	_, whole, ok, err := st.key(t)
	switch {
	case err != nil:
		return err
	case st.Index != "":
		return dynamo.Invalid(messageTransactIndex)
	case whole || !ok:
		return dynamo.Invalid(messageTransactExists)
	}
	return nil
}

// asDuplicates replaces the failed conditions of INSERTs in a cancelled transaction by the
// service's reason for them.
func asDuplicates(statements []*stated, err error) error {
	reasons := dynamo.Reasons(err)
	found := false
	for i := range reasons {
		if statements[i].Verb == syntax.Insert &&
			reasons[i].Code == dynamo.ReasonConditionalCheckFailed {
			reasons[i] = dynamo.CancellationReason{
				Code: reasonDuplicate, Message: messageDuplicate,
			}
			found = true
		}
	}
	if !found {
		return err
	}
	return dynamo.Canceled(reasons)
}

// reasonDuplicate is the reason of an INSERT of an existing item.
const reasonDuplicate dynamo.CancellationCode = "DuplicateItem"

func nonEmpty(item dynamo.Item) dynamo.Item {
	if len(item) == 0 {
		return nil
	}
	return item
}

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

const (
	messageTransactMixed     = "ExecuteTransaction API does not support both read and write operations in the same request."
	messageTransactReturning = "RETURNING clause is not supported in ExecuteTransaction."
	messageTransactIndex     = "Reads on indices are not supported within transactions."
	messageTransactKey       = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
	messageTransactExists    = "EXISTS() must contain a single item read with additional condition"
)

// statementTokens is the prefix of the client request tokens of statement transactions, which are
// separate from those of TransactWrite. It is longer than the maximum length of a token, so that
// the two cannot be equal.
const statementTokens = "client request token of a transaction of statements: "

// ExecuteTransaction executes all statements or none; see [dynamo.PartiQL].
func (db *DB) ExecuteTransaction(ctx context.Context, in *dynamo.ExecuteTransactionInput) (
	*dynamo.ExecuteTransactionOutput, error,
) {
	if err := checkStatements("transactStatements", len(in.TransactStatements),
		transactActionsMax, in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	var wrong constraints
	if len(in.ClientRequestToken) > tokenLengthMax {
		wrong.add(in.ClientRequestToken, "clientRequestToken",
			"Member must have length less than or equal to 36")
	}
	statements := make([]*stated, len(in.TransactStatements))
	for i := range in.TransactStatements {
		one := &in.TransactStatements[i]
		wrong.onFailure(one.ReturnValuesOnConditionCheckFailure)
		if err := wrong.err(); err != nil {
			return nil, err
		}
		if _, err := db.statements.Parse(one.Statement); err != nil {
			return nil, inTransaction(i, err)
		}
		st, err := db.state(one.Statement, one.Parameters)
		if err != nil {
			return nil, err
		}
		if st.Returning != partiql.ReturningNothing {
			return nil, inTransaction(i, dynamo.Invalid(messageTransactReturning))
		}
		statements[i] = st
	}
	if mixed(statements) {
		return nil, dynamo.Invalid(messageTransactMixed)
	}
	if statements[0].Reads() {
		return db.transactSelect(ctx, in, statements)
	}
	return db.transactStatements(ctx, in, statements)
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
func (db *DB) transactSelect(ctx context.Context, in *dynamo.ExecuteTransactionInput,
	statements []*stated,
) (*dynamo.ExecuteTransactionOutput, error) {
	get := &dynamo.TransactGetInput{ReturnConsumedCapacity: in.ReturnConsumedCapacity}
	if err := db.asGets(ctx, get, statements); err != nil {
		return nil, err
	}
	got, err := db.TransactGet(ctx, get)
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
func (db *DB) asGets(ctx context.Context, get *dynamo.TransactGetInput,
	statements []*stated,
) error {
	if err := db.begin(ctx); err != nil {
		return err
	}
	defer db.end()
	for i, st := range statements {
		t, err := db.tableFor(st)
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
func (db *DB) transactStatements(ctx context.Context, in *dynamo.ExecuteTransactionInput,
	statements []*stated,
) (*dynamo.ExecuteTransactionOutput, error) {
	as := &dynamo.TransactWriteInput{
		ClientRequestToken:     in.ClientRequestToken,
		ReturnConsumedCapacity: in.ReturnConsumedCapacity,
	}
	if as.ClientRequestToken != "" {
		as.ClientRequestToken = statementTokens + as.ClientRequestToken
	}
	if err := db.asWrites(ctx, as, in, statements); err != nil {
		return nil, err
	}
	if err := db.enter(ctx, as); err != nil {
		return nil, err
	}
	defer db.end()
	w := write{
		actions: make([]action, len(as.Items)), metered: metered(in.ReturnConsumedCapacity),
	}
	if err := db.transactActions(as, w.actions); err != nil {
		return nil, withoutParameter(err)
	}
	done := db.transact
	if as.ClientRequestToken != "" {
		done = db.transactOnce
	}
	out, err := done(as, &w)
	if err != nil {
		return nil, asDuplicates(statements, err)
	}
	return &dynamo.ExecuteTransactionOutput{
		Items: []dynamo.Item{}, ConsumedCapacity: out.ConsumedCapacity,
	}, nil
}

// asWrites translates the statements of a transaction that writes.
func (db *DB) asWrites(ctx context.Context, as *dynamo.TransactWriteInput,
	in *dynamo.ExecuteTransactionInput, statements []*stated,
) error {
	if err := db.begin(ctx); err != nil {
		return err
	}
	defer db.end()
	for i, st := range statements {
		t, err := db.tableFor(st)
		if err != nil {
			return inTransaction(i, err)
		}
		if st.Verb == partiql.Exists {
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
		if statements[i].Verb == partiql.Insert &&
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

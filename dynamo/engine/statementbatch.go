package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// batchStatementsMax is the maximum number of statements in a batch ("BatchExecuteStatement" in the
// API reference).
const batchStatementsMax = 25

const (
	messageBatchMixed = "Read and write requests together in the same batch is not supported."
	messageBatchKey   = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
)

// member is a statement of a batch, or the error of one that cannot be parsed.
type member struct {
	*stated
	err error
}

// BatchExecuteStatement executes statements one by one; see [dynamo.PartiQL]. As on the service,
// the error of a member has no item, even if its ReturnValuesOnConditionCheckFailure asks for one.
func (db *DB) BatchExecuteStatement(ctx context.Context, in *dynamo.BatchExecuteStatementInput) (
	*dynamo.BatchExecuteStatementOutput, error,
) {
	if err := checkStatements("statements", len(in.Statements), batchStatementsMax,
		in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	members := make([]member, len(in.Statements))
	statements := make([]*stated, len(in.Statements))
	for i := range in.Statements {
		one := &in.Statements[i]
		members[i].stated, members[i].err = db.state(one.Statement, one.Parameters)
		statements[i] = members[i].stated
	}
	if mixed(statements) {
		return nil, dynamo.Invalid(messageBatchMixed)
	}
	if err := db.checkRepeats(ctx, statements, messageBatchRepeats); err != nil {
		return nil, err
	}
	out := &dynamo.BatchExecuteStatementOutput{
		Responses: make([]dynamo.BatchStatementResponse, len(members)),
	}
	bill := batchBill{tally: newTally(in.ReturnConsumedCapacity, meterPlain)}
	for i := range members {
		response, err := db.executeMember(ctx, &members[i], in.Statements[i].ConsistentRead, &bill)
		if err != nil {
			return nil, err
		}
		out.Responses[i] = response
	}
	if metered(in.ReturnConsumedCapacity) {
		out.ConsumedCapacity = bill.total()
	}
	return out, nil
}

// checkStatements validates the form of a call with several statements.
func checkStatements(field string, count, countMax int, level dynamo.ReturnConsumedCapacity) error {
	var wrong constraints
	if count == 0 {
		wrong.add("[]", field, "Member must have length greater than or equal to 1")
	}
	if count > countMax {
		wrong.add(fmt.Sprintf("[%d statements]", count), field,
			fmt.Sprintf("Member must have length less than or equal to %d", countMax))
	}
	wrong.capacity(level)
	return wrong.err()
}

// mixed reports whether some of the statements read and others write. Statements that could not be
// parsed are nil and are ignored.
func mixed(statements []*stated) bool {
	reads, writes := false, false
	for _, st := range statements {
		if st != nil {
			reads, writes = reads || st.Reads(), writes || !st.Reads()
		}
	}
	return reads && writes
}

// checkRepeats refuses two statements for one item. A statement whose item cannot be determined is
// skipped, because its execution reports the error.
func (db *DB) checkRepeats(ctx context.Context, statements []*stated, message string) error {
	if err := db.begin(ctx); err != nil {
		return err
	}
	defer db.end()
	seen := make(map[string]bool, len(statements))
	for _, st := range statements {
		if st == nil || st.refusal != nil {
			continue
		}
		t, err := db.tableOf(st.Table)
		if err != nil {
			continue
		}
		key, _, ok, err := st.key(t)
		if err != nil || !ok {
			continue
		}
		checked, refusal := t.checkKey(key)
		if refusal != nil {
			continue
		}
		row := string(db.itemKey(t, checked))
		if seen[row] {
			return dynamo.Invalid(message)
		}
		seen[row] = true
	}
	return nil
}

// batchBill is the cost of a batch. The service charges a failed statement for the attempted write,
// but only for a table on which another statement succeeded, and never for an index.
type batchBill struct {
	*tally
	attempts map[string]float64 // by table
}

func (b *batchBill) attempted(a *action) {
	if b.attempts == nil {
		b.attempts = map[string]float64{}
	}
	b.attempts[a.table.Name] += dynamo.WriteUnits(max(a.old.Size(), a.size))
}

func (b *batchBill) total() []dynamo.ConsumedCapacity {
	all := b.all()
	for i := range all {
		all[i].CapacityUnits += b.attempts[all[i].TableName]
	}
	return all
}

// executeMember executes one statement of a batch. An error is an error of the whole batch.
func (db *DB) executeMember(ctx context.Context, m *member, consistent bool, bill *batchBill) (
	response dynamo.BatchStatementResponse, err error,
) {
	if m.err != nil {
		return failedMember(m.err, "")
	}
	if err := db.enter(ctx, m.operation()); err != nil {
		return response, err
	}
	defer db.end()
	if m.Reads() {
		item, err := db.selectOne(ctx, m.stated, consistent, bill.tally)
		if err != nil {
			return failedMember(err, m.Table)
		}
		return dynamo.BatchStatementResponse{TableName: bareName(m.Table), Item: item}, nil
	}
	out, err := db.writeStatement(m.stated, bill.level, false)
	if err != nil {
		if out != nil {
			bill.attempted(&out.write.actions[0])
		}
		return failedMember(err, m.Table)
	}
	bill.addActions(out.write.actions)
	response.TableName = bareName(m.Table)
	if len(out.items) > 0 {
		response.Item = out.items[0]
	}
	return response, nil
}

// selectOne reads the item of a SELECT with a complete primary key.
func (db *DB) selectOne(ctx context.Context, st *stated, consistent bool, c *tally) (
	dynamo.Item, error,
) {
	t, err := db.tableFor(st)
	if err != nil {
		return nil, err
	}
	_, whole, ok, err := st.key(t)
	if err != nil {
		return nil, err
	}
	if st.Index != "" || !whole || !ok {
		return nil, dynamo.Invalid(messageBatchKey)
	}
	s, err := db.newSelection(st, consistent)
	if err != nil {
		return nil, err
	}
	out, err := s.read(ctx, resume{}, 0, c)
	if err != nil || len(out.items) == 0 {
		return nil, err
	}
	return out.items[0], nil
}

// memberCodes maps the error codes of single statements to their short form in a batch.
var memberCodes = map[dynamo.ErrorCode]string{
	dynamo.CodeConditionalCheckFailed:  "ConditionalCheckFailed",
	dynamo.CodeDuplicateItem:           "DuplicateItem",
	dynamo.CodeInternalServerError:     "InternalServerError",
	dynamo.CodeItemCollectionSizeLimit: "ItemCollectionSizeLimitExceeded",
	dynamo.CodeProvisionedThroughput:   "ProvisionedThroughputExceeded",
	dynamo.CodeRequestLimitExceeded:    "RequestLimitExceeded",
	dynamo.CodeResourceNotFound:        "ResourceNotFound",
	dynamo.CodeThrottling:              "ThrottlingError",
	dynamo.CodeTransactionConflict:     "TransactionConflict",
	dynamo.CodeValidation:              "ValidationError",
}

// failedMember returns the response for a failed statement. It names the table only if the
// statement was executed. An error without a short code is an error of the whole batch.
func failedMember(err error, table string) (response dynamo.BatchStatementResponse, whole error) {
	var e *dynamo.Error
	if !errors.As(err, &e) || memberCodes[e.Code] == "" {
		return response, err
	}
	response.Error = &dynamo.BatchStatementError{Code: memberCodes[e.Code], Message: e.Message}
	if e.Code != dynamo.CodeValidation {
		response.TableName = bareName(table)
	}
	return response, nil
}

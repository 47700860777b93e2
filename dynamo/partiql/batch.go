package partiql

import (
	"context"
	"errors"
	"fmt"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

// batchStatementsMax is the maximum number of statements in a batch ("BatchExecuteStatement" in the
// API reference).
const batchStatementsMax = 25

const (
	messageBatchMixed   = "Read and write requests together in the same batch is not supported."
	messageBatchRepeats = "Provided list of item keys contains duplicates"
	messageBatchKey     = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."
)

// member is a statement of a batch, or the error of one that cannot be parsed.
type member struct {
	*stated
	err error
}

// BatchExecuteStatement executes statements one by one; see [dynamo.PartiQL]. As on the service,
// the error of a member has no item, even if its ReturnValuesOnConditionCheckFailure asks for one.
func (x *Executor) BatchExecuteStatement(ctx context.Context,
	in *dynamo.BatchExecuteStatementInput,
) (*dynamo.BatchExecuteStatementOutput, error) {
	if err := checkStatements("statements", len(in.Statements), batchStatementsMax,
		in.ReturnConsumedCapacity); err != nil {
		return nil, err
	}
	members := make([]member, len(in.Statements))
	statements := make([]*stated, len(in.Statements))
	for i := range in.Statements {
		one := &in.Statements[i]
		members[i].stated, members[i].err = x.state(one.Statement, one.Parameters)
		statements[i] = members[i].stated
	}
	if mixed(statements) {
		return nil, dynamo.Invalid(messageBatchMixed)
	}
	ts := &tables{db: x.db}
	if err := ts.checkRepeats(ctx, statements); err != nil {
		return nil, err
	}
	out := &dynamo.BatchExecuteStatementOutput{
		Responses: make([]dynamo.BatchStatementResponse, len(members)),
	}
	bill := batchBill{bill: bill{level: in.ReturnConsumedCapacity}}
	for i := range members {
		response, err := x.executeMember(ctx, ts, &members[i], in.Statements[i].ConsistentRead,
			&bill)
		if err != nil {
			return nil, err
		}
		out.Responses[i] = response
	}
	out.ConsumedCapacity = bill.total()
	return out, nil
}

// checkStatements validates the form of a call with several statements.
func checkStatements(field string, count, countMax int, level dynamo.ReturnConsumedCapacity) error {
	var wrong constraint.List
	if count == 0 {
		wrong.Add("[]", field, "Member must have length greater than or equal to 1")
	}
	if count > countMax {
		wrong.Add(fmt.Sprintf("[%d statements]", count), field,
			fmt.Sprintf("Member must have length less than or equal to %d", countMax))
	}
	wrong.Capacity(level)
	return wrong.Err()
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
func (ts *tables) checkRepeats(ctx context.Context, statements []*stated) error {
	seen := make(map[string]bool, len(statements))
	for _, st := range statements {
		if st == nil || st.refusal != nil {
			continue
		}
		t, err := ts.of(ctx, st.Table)
		if err != nil {
			if !refused(err) {
				return err
			}
			continue
		}
		key, _, ok, err := st.key(t)
		if err != nil || !ok {
			continue
		}
		id, ok := t.identity(key)
		if !ok {
			continue
		}
		if id = bareName(st.Table) + " " + id; seen[id] {
			return dynamo.Invalid(messageBatchRepeats)
		}
		seen[id] = true
	}
	return nil
}

// batchBill is the cost of a batch. The service charges a failed statement for the attempted write,
// but only for a table on which another statement succeeded, and never for an index.
type batchBill struct {
	bill
	attempts map[string]float64 // by table
}

// attempted adds a write whose condition failed.
func (b *batchBill) attempted(st *stated, err error) {
	var e *dynamo.Error
	if !errors.As(err, &e) || e.Code != dynamo.CodeConditionalCheckFailed &&
		e.Code != dynamo.CodeDuplicateItem {
		return
	}
	if b.attempts == nil {
		b.attempts = map[string]float64{}
	}
	size := max(e.Item.Size(), st.item.Size())
	b.attempts[bareName(st.Table)] += dynamo.WriteUnits(size)
}

func (b *batchBill) total() []dynamo.ConsumedCapacity {
	all := b.all()
	for i := range all {
		all[i].CapacityUnits += b.attempts[all[i].TableName]
	}
	return all
}

// executeMember executes one statement of a batch. An error is an error of the whole batch.
func (x *Executor) executeMember(ctx context.Context, ts *tables, m *member, consistent bool,
	bill *batchBill,
) (response dynamo.BatchStatementResponse, err error) {
	if m.err != nil {
		return failedMember(m.err, "")
	}
	if m.Reads() {
		item, err := x.selectOne(ctx, ts, m.stated, consistent, &bill.bill)
		if err != nil {
			return failedMember(err, m.Table)
		}
		return dynamo.BatchStatementResponse{TableName: bareName(m.Table), Item: item}, nil
	}
	// The cost of a failed write depends on the old item.
	out, err := x.writeStatement(ctx, ts, m.stated, bill.level, bill.metered())
	if err != nil {
		bill.attempted(m.stated, err)
		return failedMember(err, m.Table)
	}
	bill.add(out.consumed)
	response.TableName, response.Item = bareName(m.Table), out.item
	return response, nil
}

// selectOne reads the item of a SELECT with a complete primary key.
func (x *Executor) selectOne(ctx context.Context, ts *tables, st *stated, consistent bool,
	b *bill,
) (dynamo.Item, error) {
	t, err := ts.tableFor(ctx, st)
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
	s, err := x.newSelection(ctx, ts, st, consistent)
	if err != nil {
		return nil, err
	}
	out, err := s.read(ctx, resume{}, 0, b)
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

package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/partiql"
)

// Statements are carried out as the operations that they stand for, with the very actions and
// pages of those: a SELECT as a Query or Scan, or several Querys; an INSERT as a put whose
// condition is that there is no such item; an UPDATE as an update whose condition is its WHERE; a
// DELETE as a delete.

var _ dynamo.PartiQL = (*DB)(nil)

// The service's sentences about statements.
const (
	messageDuplicate         = "Duplicate primary key exists in table"
	messageWholeKey          = "Where clause does not contain a mandatory equality on all key attributes"
	messageManyKeys          = "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
	messageNoSuchIndex       = "The table does not have the specified index"
	messageStrongIndex       = "Strongly consistent read is not supported on Global Secondary Indexes"
	messageOnlyInTransaction = "EXISTS is supported in ExecuteTransaction only"
)

// stated is a statement with its parameters, and what it says in expressions.
type stated struct {
	*partiql.Statement
	bound *partiql.Binding
	// refusal is what is wrong with the statement whatever its table is, or nil.
	refusal error

	condition, update string // of the WHERE; of the changes
	exprs             *expr.Prepared
	item              dynamo.Item // of an INSERT
}

// state reads a statement. The error is that of a text that cannot be read, or of parameters that
// are no values; what else is wrong with it is kept for later, when more is known.
func (db *DB) state(text string, parameters []dynamo.Value) (*stated, error) {
	tree, err := db.statements.Parse(text)
	if err != nil {
		return nil, err
	}
	st := &stated{Statement: tree, exprs: noExpressions}
	if st.bound, err = tree.Bind(parameters); err != nil {
		return nil, err
	}
	if tree.Refusal != "" {
		st.refusal = dynamo.Invalid(tree.Refusal)
	} else {
		st.refusal = bare(db.translate(st))
	}
	return st, nil
}

// translate writes the statement's expressions and checks them.
func (db *DB) translate(st *stated) (err error) {
	if st.Verb == partiql.Insert {
		st.item, err = st.bound.Item(st.Value)
		return err
	}
	if st.Verb == partiql.Update {
		if st.update, err = st.bound.Update(st.Changes); err != nil {
			return err
		}
	}
	if st.Where != nil {
		if st.condition, err = st.bound.Condition(st.Where); err != nil {
			return err
		}
	}
	r := &expr.Request{
		Update: st.update, Names: st.bound.Expressions.ExpressionAttributeNames,
		Values: st.bound.Expressions.ExpressionAttributeValues,
	}
	if st.Verb == partiql.Select {
		r.Filter = st.condition
	} else {
		r.Condition = st.condition
	}
	st.exprs, err = db.prepare(r)
	return err
}

// bare takes from an error the name of the parameter that an expression would have been in: a
// statement has none.
func bare(err error) error {
	var e *dynamo.Error
	if !errors.As(err, &e) || e.Code != dynamo.CodeValidation {
		return err
	}
	rest, ok := strings.CutPrefix(e.Message, "Invalid ")
	if !ok {
		return err
	}
	if name, message, ok := strings.Cut(rest, "Expression: "); ok && !strings.Contains(name, " ") {
		return dynamo.Invalid(message)
	}
	return err
}

// ExecuteStatement runs one statement; see [dynamo.PartiQL].
func (db *DB) ExecuteStatement(ctx context.Context, in *dynamo.ExecuteStatementInput) (
	*dynamo.ExecuteStatementOutput, error,
) {
	if err := checkStatementInput(in); err != nil {
		return nil, err
	}
	st, err := db.state(in.Statement, in.Parameters)
	if err != nil {
		return nil, err
	}
	if err := db.enter(ctx, st.operation()); err != nil {
		return nil, err
	}
	defer db.end()
	if st.Reads() {
		return db.selectPage(ctx, in, st)
	}
	if in.NextToken != "" {
		return nil, dynamo.Invalid(messageBadToken)
	}
	out, err := db.writeStatement(st, in.ReturnConsumedCapacity,
		in.ReturnValuesOnConditionCheckFailure == dynamo.ReturnAllOld)
	if err != nil {
		return nil, err
	}
	return &dynamo.ExecuteStatementOutput{
		Items: out.items, ConsumedCapacity: out.write.consumed(in.ReturnConsumedCapacity),
	}, nil
}

func checkStatementInput(in *dynamo.ExecuteStatementInput) error {
	var wrong constraints
	if in.Limit < 0 {
		wrong.add(strconv.Itoa(in.Limit), "limit",
			"Member must have value greater than or equal to 1")
	}
	wrong.capacity(in.ReturnConsumedCapacity)
	wrong.onFailure(in.ReturnValuesOnConditionCheckFailure)
	return wrong.err()
}

// operation is the input of the operation that a statement stands for, as far as that matters to
// the faults that may slow it down.
func (st *stated) operation() any {
	switch {
	case st.Verb == partiql.Insert:
		return &dynamo.PutInput{TableName: st.Table}
	case st.Verb == partiql.Update:
		return &dynamo.UpdateInput{TableName: st.Table}
	case st.Verb == partiql.Delete:
		return &dynamo.DeleteInput{TableName: st.Table}
	case st.Where != nil:
		return &dynamo.QueryInput{TableName: st.Table, IndexName: st.Index}
	}
	return &dynamo.ScanInput{TableName: st.Table, IndexName: st.Index}
}

// tableFor finds the table of a statement, and reports what is wrong with the statement in the
// order that the service does: an index that statements cannot read at all, then the statement
// itself, then a table that is missing.
func (db *DB) tableFor(st *stated) (*table, error) {
	t, err := db.tableOf(st.Table)
	if err == nil && st.Index != "" && st.Reads() {
		if ix := t.index(st.Index); ix != nil && (len(ix.hash) > 1 || len(ix.sort) > 1) {
			return nil, dynamo.Invalid(messageManyKeys)
		}
	}
	if st.refusal != nil {
		return nil, st.refusal
	}
	return t, err
}

// key finds the primary key that the WHERE names. It reports false when the WHERE does not name
// all of it. whole tells that the WHERE says nothing else.
func (st *stated) key(t *table) (key dynamo.Key, whole, ok bool, err error) {
	if st.Verb == partiql.Insert {
		key = dynamo.Key{}
		for _, k := range t.keys {
			if v, found := st.item[k.name]; found {
				key[k.name] = v
			}
		}
		return key, true, len(key) == len(t.keys), nil
	}
	conditions := st.Where.Conjuncts()
	key = dynamo.Key{}
	for _, c := range conditions {
		path, value := sides(c)
		if c.Op != partiql.OpEqual || path == nil {
			continue
		}
		for _, k := range t.keys {
			if _, twice := key[k.name]; k.name != path[0].Name || twice {
				continue
			}
			if key[k.name], err = st.bound.Value(value); err != nil {
				return nil, false, false, err
			}
		}
	}
	return key, len(conditions) == len(t.keys), len(key) == len(t.keys), nil
}

// sides returns the attribute and the constant that a comparison is between, or nil.
func sides(c *partiql.Expr) (partiql.Path, *partiql.Expr) {
	if c.Op < partiql.OpEqual || c.Op > partiql.OpGreaterEqual {
		return nil, nil
	}
	path, value := c.Args[0], c.Args[1]
	if path.Op != partiql.OpPath {
		path, value = value, path
	}
	if path.Op != partiql.OpPath || len(path.Path) != 1 || !value.Constant() {
		return nil, nil
	}
	return path.Path, value
}

package partiql

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

// The service's messages about statements.
const (
	messageDuplicate         = "Duplicate primary key exists in table"
	messageWholeKey          = "Where clause does not contain a mandatory equality on all key attributes"
	messageManyKeys          = "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
	messageNoSuchIndex       = "The table does not have the specified index"
	messageStrongIndex       = "Strongly consistent read is not supported on Global Secondary Indexes"
	messageOnlyInTransaction = "EXISTS is supported in ExecuteTransaction only"
)

// stated is a parsed statement with its parameters, translated to expressions.
type stated struct {
	*syntax.Statement
	bound *syntax.Binding
	// refusal is an error of the statement that does not depend on its table, or nil.
	refusal error

	condition, update string // from the WHERE; from the changes
	exprs             *expr.Prepared
	item              dynamo.Item // of an INSERT
}

// state parses a statement. It returns an error only if the text cannot be parsed or a parameter is
// invalid. Other errors are kept in refusal, because the service reports some errors of the table
// first.
func (x *Executor) state(text string, parameters []dynamo.Value) (*stated, error) {
	tree, err := x.statements.Parse(text)
	if err != nil {
		return nil, err
	}
	st := &stated{Statement: tree, exprs: &expr.Prepared{}}
	if st.bound, err = tree.Bind(parameters); err != nil {
		return nil, err
	}
	if tree.Refusal != "" {
		st.refusal = dynamo.Invalid(tree.Refusal)
	} else {
		st.refusal = withoutParameter(x.translate(st))
	}
	return st, nil
}

// translate translates the statement to expressions and validates them.
func (x *Executor) translate(st *stated) (err error) {
	if st.Verb == syntax.Insert {
		st.item, err = st.bound.Item(st.Value)
		return err
	}
	if st.Verb == syntax.Update {
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
	if st.Verb == syntax.Select {
		r.Filter = st.condition
	} else {
		r.Condition = st.condition
	}
	st.exprs, err = x.expressions.Prepare(r)
	return err
}

// withoutParameter removes the name of the expression parameter from an error, because a statement
// has no such parameter.
func withoutParameter(err error) error {
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
func (x *Executor) ExecuteStatement(ctx context.Context, in *dynamo.ExecuteStatementInput) (
	*dynamo.ExecuteStatementOutput, error,
) {
	if err := checkStatementInput(in); err != nil {
		return nil, err
	}
	st, err := x.state(in.Statement, in.Parameters)
	if err != nil {
		return nil, err
	}
	ts := &tables{db: x.db}
	if st.Reads() {
		return x.selectPage(ctx, ts, in, st)
	}
	if in.NextToken != "" {
		return nil, dynamo.Invalid(messageBadToken)
	}
	out, err := x.writeStatement(ctx, ts, st, in.ReturnConsumedCapacity,
		st.Verb != syntax.Insert &&
			in.ReturnValuesOnConditionCheckFailure == dynamo.ReturnAllOld)
	if err != nil {
		return nil, err
	}
	answer := &dynamo.ExecuteStatementOutput{
		Items: []dynamo.Item{}, ConsumedCapacity: out.consumed,
	}
	if out.item != nil {
		answer.Items = append(answer.Items, out.item)
	}
	return answer, nil
}

func checkStatementInput(in *dynamo.ExecuteStatementInput) error {
	var wrong constraint.List
	if in.Limit < 0 {
		wrong.Add(strconv.Itoa(in.Limit), "limit",
			"Member must have value greater than or equal to 1")
	}
	wrong.Capacity(in.ReturnConsumedCapacity)
	wrong.OnFailure(in.ReturnValuesOnConditionCheckFailure)
	return wrong.Err()
}

// tableFor returns the table of a statement. It reports errors in the order of the service: first
// an index that statements cannot read, then errors of the statement, then a missing table.
func (ts *tables) tableFor(ctx context.Context, st *stated) (*table, error) {
	t, err := ts.of(ctx, st.Table)
	if err == nil && st.Index != "" && st.Reads() {
		if ix := t.index(st.Index); ix != nil && (len(ix.hash) > 1 || len(ix.sort) > 1) {
			return nil, dynamo.Invalid(messageManyKeys)
		}
	}
	if st.refusal != nil && (err == nil || refused(err)) {
		return nil, st.refusal
	}
	return t, err
}

// refused reports whether the store refused a table name, and did not fail.
func refused(err error) bool {
	var e *dynamo.Error
	return errors.As(err, &e) &&
		(e.Code == dynamo.CodeResourceNotFound || e.Code == dynamo.CodeValidation)
}

// key returns the primary key in the WHERE. ok reports whether all key attributes are given, and
// whole whether the WHERE has no other condition.
func (st *stated) key(t *table) (key dynamo.Key, whole, ok bool, err error) {
	if st.Verb == syntax.Insert {
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
		if c.Op != syntax.OpEqual || path == nil {
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

// sides returns the attribute and the constant of a comparison, or nil.
func sides(c *syntax.Expr) (syntax.Path, *syntax.Expr) {
	if c.Op < syntax.OpEqual || c.Op > syntax.OpGreaterEqual {
		return nil, nil
	}
	path, value := c.Args[0], c.Args[1]
	if path.Op != syntax.OpPath {
		path, value = value, path
	}
	if path.Op != syntax.OpPath || len(path.Path) != 1 || !value.Constant() {
		return nil, nil
	}
	return path.Path, value
}

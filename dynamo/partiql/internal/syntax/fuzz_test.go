package syntax_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

// syntaxErrors are refusals that no expression may meet that a statement was written as.
var syntaxErrors = regexp.MustCompile(`Syntax error|redundant parentheses|unused in expressions`)

// FuzzParse reads any text as a statement. It may be refused; what is read is printed so that it
// reads the same again, and what it says in expressions is something that these can be, or is
// refused.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT * FROM T", "select a, b.c[1]['x'] from \"T\".\"I\" where a = ? order by b desc, c",
		"SELECT * FROM T WHERE NOT a IN [1, 'x', <<1>>, {'y': null}] OR b BETWEEN ? AND 2 + 3",
		"SELECT COUNT(*) FROM T LIMIT 5", "SELECT a AS b, c.* FROM T GROUP BY d HAVING e OFFSET 2",
		"INSERT INTO T VALUE {'pk': 1e5, 'a': -.5, 'b': [true, false, missing]}",
		"UPDATE T SET a = a + 1, b = set_add(b, <<'x'>>) REMOVE c[0] WHERE pk = 'x' RETURNING ALL NEW *",
		"FROM T WHERE a = 1 SET b = list_append(?, b)", "DELETE FROM T WHERE a IS NOT MISSING;",
		"EXISTS(SELECT * FROM T WHERE a = 1 AND size(b) <> 2)", "x IS DOUBLE PRECISION",
		"-- only a note", "/* open", "'", "\"", "((((", "<<>>", "1e99999999999", "a.b.", "? ? ?",
		"SELECT * FROM T WHERE a LIKE 'x' ESCAPE 'y' || 'z'", "SELECT * FROM T WHERE a = - -5",
		"SELECT * FROM T WHERE a = (1, 2) AND b NOT LIKE 'c' AND d != -?", "\x00\xff", "ü",
		"SELECT * FROM T WHERE (a = 1) = true AND (b IS BAG) <> false AND a IS CHAR(5)",
		"SELECT * FROM T WHERE 0 IN 0 BETWEEN ? AND 0", "SELECT * FROM T WHERE a IN NOT b + 1 = c",
		"SELECT * FROM T WHERE (a IN - b) = c IN d NOT LIKE 'x' AND e IN (1 + 2) OR a IN -b % 0",
	} {
		f.Add(seed)
	}
	parser, expressions := new(syntax.Parser), expr.NewParser()
	f.Fuzz(func(t *testing.T, text string) {
		st, err := parser.Parse(text)
		if err != nil {
			checkRefusal(t, text, err)
			return
		}
		if st.Refusal != "" {
			return // what cannot be asked for may be printed without that
		}
		checkPrinted(t, st)
		parameters := make([]dynamo.Value, st.Parameters)
		for i := range parameters {
			parameters[i] = [...]dynamo.Value{
				dynamo.Int(1), dynamo.S("x"), dynamo.L(dynamo.Int(1)),
				dynamo.M(map[string]dynamo.Value{"pk": dynamo.S("x")}),
			}[i%4]
		}
		b, err := st.Bind(parameters)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		checkExpressions(t, text, st, b, expressions)
	})
}

func checkExpressions(t *testing.T, text string, st *syntax.Statement, b *syntax.Binding,
	expressions *expr.Parser,
) {
	var r expr.Request
	var err error
	if st.Verb == syntax.Insert {
		_, err = b.Item(st.Value)
		checkRefusal(t, text, err)
		return
	}
	if st.Verb == syntax.Update {
		if r.Update, err = b.Update(st.Changes); err != nil {
			checkRefusal(t, text, err)
			return
		}
	}
	if st.Where != nil {
		if r.Condition, err = b.Condition(st.Where); err != nil {
			checkRefusal(t, text, err)
			return
		}
	}
	r.Names = b.Expressions.ExpressionAttributeNames
	r.Values = b.Expressions.ExpressionAttributeValues
	if r.Update+r.Condition == "" {
		return
	}
	_, err = expressions.Prepare(&r)
	checkRefusal(t, text, err)
	if err != nil && syntaxErrors.MatchString(err.Error()) {
		t.Fatalf("%q is written as %q and %q: %v", text, r.Update, r.Condition, err)
	}
}

func checkRefusal(t *testing.T, text string, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, dynamo.ErrValidation) {
		t.Fatalf("%q: %v", text, err)
	}
}

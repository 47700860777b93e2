package syntax_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/partiql/internal/syntax"
)

var update = flag.Bool("update", false, "write the answers that testdata should have")

// TestExpressions reads the statements in testdata. Below each, after a line of dashes, is the
// statement as it is printed and what it says in expressions, with parameters 1000, 1001 and so
// on; for those after IN, a list of that.
func TestExpressions(t *testing.T) {
	const file = "testdata/expressions.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range strings.Split(strings.TrimRight(string(raw), "\n"), "\n\n") {
		text, want, _ := strings.Cut(block, "\n----\n")
		got := describe(t, text)
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" &&
			!*update {
			t.Errorf("%s\n(-want +got)\n%s", text, diff)
		}
		blocks = append(blocks, text+"\n----\n"+got)
	}
	if *update {
		text := strings.Join(blocks, "\n\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func describe(t *testing.T, text string) string {
	t.Helper()
	st, err := new(syntax.Parser).Parse(text)
	if err != nil {
		return err.Error()
	}
	lines := []string{st.String()}
	add := func(name, text string, err error) {
		switch {
		case err != nil:
			lines = append(lines, name+" refused: "+err.Error())
		case text != "":
			lines = append(lines, name+": "+text)
		}
	}
	if st.Refusal != "" {
		add("statement", "", errors.New(st.Refusal))
	}
	b := bind(t, st)
	switch st.Verb {
	case syntax.Insert:
		item, err := b.Item(st.Value)
		add("item", item.String(), err)
	case syntax.Update:
		text, err := b.Update(st.Changes)
		add("update", text, err)
	}
	if st.Where != nil {
		text, err := b.Condition(st.Where)
		add("condition", text, err)
	}
	e := b.Expressions
	for _, p := range slices.Sorted(maps.Keys(e.ExpressionAttributeNames)) {
		add(p, e.ExpressionAttributeNames[p], nil)
	}
	for i := range len(e.ExpressionAttributeValues) {
		p := fmt.Sprintf(":%d", i)
		add(p, e.ExpressionAttributeValues[p].String(), nil)
	}
	return strings.Join(lines, "\n")
}

func bind(t *testing.T, st *syntax.Statement) *syntax.Binding {
	t.Helper()
	parameters := make([]dynamo.Value, st.Parameters)
	for i := range parameters {
		parameters[i] = dynamo.Int(int64(1000 + i))
	}
	for _, c := range st.Where.Conjuncts() {
		if c.Op == syntax.OpIn && c.Args[1].Op == syntax.OpParameter {
			p := c.Args[1].Parameter
			parameters[p] = dynamo.L(parameters[p])
		}
	}
	b, err := st.Bind(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStatementsNestedTooDeeplyAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"parentheses":         "SELECT * FROM T WHERE " + strings.Repeat("(", 4000),
		"closed parentheses":  "SELECT * FROM T WHERE " + nested("(", "a = 1", ")", 3000),
		"lists":               "INSERT INTO T VALUE {'a': " + nested("[", "1", "]", 3000) + "}",
		"sets":                "INSERT INTO T VALUE {'a': " + nested("<<", "1", ">>", 1500) + "}",
		"maps":                "INSERT INTO T VALUE " + nested("{'a': ", "1", "}", 1000),
		"negations":           "SELECT * FROM T WHERE " + strings.Repeat("NOT ", 2000) + "a = 1",
		"signs":               "SELECT * FROM T WHERE a = " + strings.Repeat("- ", 3000) + "1",
		"calls":               "SELECT * FROM T WHERE " + nested("f(", "a", ")", 2000),
		"indexes":             "SELECT * FROM T WHERE " + nested("a[", "1", "]", 2000) + " = 1",
		"no statement at all": strings.Repeat("(", 8000),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := new(syntax.Parser).Parse(text); !errors.Is(err, dynamo.ErrValidation) {
				t.Fatal(err)
			}
		})
	}
}

func nested(before, within, after string, times int) string {
	return strings.Repeat(before, times) + within + strings.Repeat(after, times)
}

// What is long but not deep is read, and what is within the deepest level.
func TestLongStatementsAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"conditions":  "SELECT * FROM T WHERE a = 1" + strings.Repeat(" AND a = 1", 800),
		"sums":        "SELECT * FROM T WHERE a = 1" + strings.Repeat("+1", 4000),
		"parentheses": "SELECT * FROM T WHERE " + nested("(", "a = 1", ")", 200),
		"members":     "INSERT INTO T VALUE {'a': [1" + strings.Repeat(",1", 4000) + "]}",
	} {
		t.Run(name, func(t *testing.T) {
			st, err := new(syntax.Parser).Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			checkPrinted(t, st)
		})
	}
}

func TestStatementsHaveALength(t *testing.T) {
	p := new(syntax.Parser)
	const form = "SELECT * FROM T WHERE a = ''"
	longest := "SELECT * FROM T WHERE a = '" + strings.Repeat("x", 8192-len(form)) + "'"
	if _, err := p.Parse(longest); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", longest + " ", strings.Repeat("ü", 1<<20)} {
		_, err := p.Parse(text)
		if !errors.Is(err, dynamo.ErrValidation) || len(err.Error()) > 10_000 {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}

func TestParserRemembersWithinBounds(t *testing.T) {
	p := new(syntax.Parser)
	parse := func(text string) *syntax.Statement {
		st, err := p.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	const known = "SELECT * FROM T"
	first := parse(known)
	filler := strings.Repeat("x", 8000)
	for i := range 40 {
		parse(fmt.Sprintf("SELECT * FROM T WHERE a = '%d%s'", i, filler))
		if parse(known) != first {
			t.Fatal("a statement that is in use was read again")
		}
	}
	for i := range 200 {
		parse(fmt.Sprintf("SELECT * FROM T WHERE b = '%d%s'", i, filler))
	}
	if parse(known) == first {
		t.Fatal("a statement was remembered beside 1.6 MB of later ones")
	}
}

// checkPrinted checks that a printed statement is read as the same one.
func checkPrinted(t *testing.T, st *syntax.Statement) {
	t.Helper()
	printed := st.String()
	again, err := syntax.Parse(printed)
	if err != nil {
		t.Fatalf("%.1000s: %v", printed, err)
	}
	if got := again.String(); got != printed {
		t.Fatalf("%.1000s\nis read as\n%.1000s", printed, got)
	}
	if !sameStatement(st, again) {
		t.Fatalf("%.1000s\nis read as another statement than it was", printed)
	}
}

// sameStatement compares all of two statements but positions.
func sameStatement(a, b *syntax.Statement) bool {
	return a.Verb == b.Verb && a.Table == b.Table && a.Index == b.Index &&
		a.Returning == b.Returning && a.WhereFirst == b.WhereFirst &&
		a.Parameters == b.Parameters && a.Refusal == b.Refusal &&
		slices.EqualFunc(a.Columns, b.Columns, sameExpr) && sameExpr(a.Where, b.Where) &&
		sameExpr(a.Value, b.Value) &&
		slices.EqualFunc(a.Order, b.Order, func(a, b syntax.Order) bool {
			return a.Descending == b.Descending && sameExpr(a.Key, b.Key)
		}) &&
		slices.EqualFunc(a.Changes, b.Changes, func(a, b syntax.Change) bool {
			return sameExpr(a.Target, b.Target) && sameExpr(a.Value, b.Value)
		})
}

func sameExpr(a, b *syntax.Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Op == b.Op && a.Name == b.Name && a.Parameter == b.Parameter &&
		a.Path.Equal(b.Path) && a.Value.Kind() == b.Value.Kind() &&
		a.Value.String() == b.Value.String() && slices.Equal(a.Names, b.Names) &&
		slices.EqualFunc(a.Args, b.Args, sameExpr)
}

package expr_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

var syntaxErrors = regexp.MustCompile(
	`(?s)^Invalid (\w+)Expression: Syntax error; token: "(.*)", near: "(.*)"$`)

// FuzzPrepare reads any text as each kind of expression. It may be refused, but then as the
// service refuses, the same each time and whatever spaces stand around it; and what is accepted
// can be applied to any item.
func FuzzPrepare(f *testing.F) {
	for _, seed := range []string{
		"a = :v", "attribute_not_exists(PK)", "(#n BETWEEN :v AND :v) OR NOT contains(a.b[0], :v)",
		"size(a) IN (:v, b, c) AND begins_with(a, :v)", "attribute_type(a, :v)",
		"SET a = if_not_exists(a, :v) + :v, b[0].c = list_append(:v, d) REMOVE #n ADD e :v",
		"DELETE a :v", "a, b.c, d[0].#n, d[1]", "PK = :v AND :v <= SK", "((a = b))", "(((((((",
		"NOT NOT NOT a<>b", "a.b.c.d[1][2][3]", "set a=((b)+(c))", "#", ":", "a[99999999999]",
		"\x00\xff", "ü", "a == b", "f(f(f(f(a))))", "SET", " ", "a AND b OR (c) AND",
	} {
		f.Add(seed)
	}
	parser := expr.NewParser()
	doc := dynamo.Item{
		"a": dynamo.L(dynamo.Int(1), dynamo.M(map[string]dynamo.Value{"b": dynamo.S("x")})),
		"b": dynamo.M(map[string]dynamo.Value{"a": dynamo.L(), "c": dynamo.Int(2)}),
		"c": dynamo.Int(3), "d": dynamo.MarkChecked(dynamo.SS("a", "b")), "e": dynamo.B(nil),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for kind := range 5 {
			r := &expr.Request{}
			*[]*string{
				&r.Condition, &r.Filter, &r.KeyCondition, &r.Projection, &r.Update,
			}[kind] = text
			if strings.Contains(text, "#n") {
				r.Names = map[string]string{"#n": "b"}
			}
			if strings.Contains(text, ":v") && r.Projection == "" {
				r.Values = map[string]dynamo.Value{":v": dynamo.N("1.50")}
			}
			prepared, err := parser.Prepare(r)
			checkRefusal(t, text, err)
			_, again := parser.Prepare(r)
			_, anew := expr.NewParser().Prepare(r)
			if outcome(err) != outcome(again) || outcome(err) != outcome(anew) {
				t.Fatalf("%q: %v, then %v, then %v", text, err, again, anew)
			}
			if err == nil {
				apply(t, prepared, doc)
			}
		}
	})
}

func checkRefusal(t *testing.T, text string, err error) {
	if err == nil {
		return
	}
	var refused *dynamo.Error
	if !errors.As(err, &refused) || refused.Code != dynamo.CodeValidation {
		t.Fatalf("%q: %v is no validation error", text, err)
	}
	if m := syntaxErrors.FindStringSubmatch(refused.Message); m != nil {
		token, near := m[2], m[3]
		if !strings.Contains(text, near) || token != "<EOF>" && !strings.Contains(near, token) {
			t.Fatalf("%q: the message does not show a part of it: %s", text, refused.Message)
		}
	}
}

func outcome(err error) string {
	if err == nil {
		return accepted
	}
	return message(err)
}

// apply uses everything that was prepared.
func apply(t *testing.T, prepared *expr.Prepared, doc dynamo.Item) {
	before := doc.String()
	for _, c := range []*expr.Condition{prepared.Condition, prepared.Filter} {
		if c != nil {
			c.Holds(doc)
			c.Holds(dynamo.Item(nil))
			c.TopLevel()
		}
	}
	if prepared.Projection != nil {
		prepared.Projection.Apply(doc)
	}
	if u := prepared.Update; u != nil {
		u.ActionCost()
		for _, item := range []dynamo.Item{doc, nil} {
			updated, err := u.Apply(item)
			checkRefusal(t, "", err)
			u.Old(item)
			u.New(updated)
		}
	}
	if doc.String() != before {
		t.Fatal("the item was changed")
	}
}

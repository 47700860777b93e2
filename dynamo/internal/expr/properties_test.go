package expr_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

// TestMain lets EXCHEQUER_ROUNDS set how many cases each property tries.
func TestMain(m *testing.M) {
	flag.Parse()
	if rounds := os.Getenv("EXCHEQUER_ROUNDS"); rounds != "" {
		if err := flag.Set("rapid.checks", rounds); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// The values are few and small, so that operands are often equal, ordered or parts of each other.
var scalars = rapid.SampledFrom([]dynamo.Value{
	dynamo.S(""), dynamo.S("a"), dynamo.S("ab"), dynamo.S("b"), dynamo.S("é𝄞"), dynamo.S("B"),
	dynamo.N("0"), dynamo.N("1"), dynamo.N("1.0"), dynamo.N("2"), dynamo.N("-1e0"),
	dynamo.N("1e1"), dynamo.N("10.00000000000000000000000000000000001"),
	dynamo.B([]byte("")), dynamo.B([]byte("a")), dynamo.B([]byte("ab")), dynamo.B([]byte{0xff}),
	dynamo.Bool(true), dynamo.Bool(false), dynamo.Null(),
	dynamo.SS("a"), dynamo.SS("b", "a"), dynamo.SS("a", "b"),
	dynamo.NS("1", "2"), dynamo.NS("2.0", "1e0"), dynamo.BS([]byte("a"), []byte("b")),
})

func values(depth int) *rapid.Generator[dynamo.Value] {
	if depth == 0 {
		return scalars
	}
	return rapid.Custom(func(t *rapid.T) dynamo.Value {
		switch rapid.IntRange(0, 5).Draw(t, "shape") {
		case 0:
			return dynamo.L(rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "elements")...)
		case 1:
			return dynamo.M(rapid.MapOfN(
				rapid.SampledFrom(names), values(depth-1), 0, 3).Draw(t, "members"))
		}
		return scalars.Draw(t, "scalar")
	})
}

var (
	names = []string{"a", "b", "c", "d"}
	items = rapid.Custom(func(t *rapid.T) dynamo.Item {
		item := dynamo.Item{}
		for _, name := range names {
			if rapid.IntRange(0, 9).Draw(t, "present") > 0 {
				item[name] = values(2).Draw(t, name)
			}
		}
		return item
	})
	paths = rapid.Custom(func(t *rapid.T) []any {
		path := []any{rapid.SampledFrom(names).Draw(t, "attribute")}
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "index") {
				path = append(path, rapid.IntRange(0, 3).Draw(t, "at"))
			} else {
				path = append(path, rapid.SampledFrom(names).Draw(t, "member"))
			}
		}
		return path
	})
)

// writer turns trees into text, with the placeholders that it happens to use.
type writer struct {
	*rapid.T
	expr.Request
}

func (w *writer) path(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			if rapid.IntRange(0, 3).Draw(w.T, "placeholder") == 0 {
				if w.Names == nil {
					w.Names = map[string]string{}
				}
				w.Names["#"+step] = step
				step = "#" + step
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

func (w *writer) value(v dynamo.Value) string {
	if w.Values == nil {
		w.Values = map[string]dynamo.Value{}
	}
	placeholder := fmt.Sprintf(":%d", len(w.Values))
	w.Values[placeholder] = v
	return placeholder
}

// wrap writes a pair of parentheses that is not needed, now and then.
func (w *writer) wrap(text string) string {
	if rapid.IntRange(0, 4).Draw(w.T, "wrap") == 0 {
		return "(" + text + ")"
	}
	return text
}

func (w *writer) keyword(word string) string {
	return rapid.SampledFrom([]string{word, strings.ToLower(word), "\t" + word + "\n"}).
		Draw(w.T, "keyword")
}

func (w *writer) operand() *naiveOperand {
	switch rapid.IntRange(0, 7).Draw(w.T, "operand") {
	case 0:
		inner := w.operand()
		return &naiveOperand{size: inner, text: "size(" + inner.text + ")"}
	case 1, 2, 3:
		v := values(1).Draw(w.T, "value")
		return &naiveOperand{value: plainOf(v), text: w.wrap(w.value(v))}
	}
	path := paths.Draw(w.T, "path")
	return &naiveOperand{path: path, text: w.wrap(w.path(path))}
}

func (w *writer) operands(count int) (args []*naiveOperand, texts []string) {
	for range count {
		o := w.operand()
		args, texts = append(args, o), append(texts, o.text)
	}
	return args, texts
}

// condition draws a condition and its text. Parts that bind less are put in parentheses.
func (w *writer) condition(depth int) (*naive, string) {
	if depth > 0 {
		switch op := rapid.SampledFrom([]string{"AND", "OR", "NOT", ""}).Draw(w.T, "join"); op {
		case "NOT":
			kid, text := w.condition(depth - 1)
			if kid.op == "AND" || kid.op == "OR" {
				text = "(" + text + ")"
			}
			return &naive{op: op, kids: []*naive{kid}}, w.keyword(op) + " " + text
		case "AND", "OR":
			kids, texts := make([]*naive, 2), make([]string, 2)
			for i := range kids {
				kids[i], texts[i] = w.condition(depth - 1)
				if op == "AND" && kids[i].op == "OR" {
					texts[i] = "(" + texts[i] + ")"
				}
			}
			return &naive{op: op, kids: kids}, texts[0] + " " + w.keyword(op) + " " + texts[1]
		}
	}
	n, text := w.leaf()
	return n, w.wrap(text)
}

func (w *writer) leaf() (*naive, string) {
	n := &naive{op: rapid.SampledFrom([]string{
		"=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN", "attribute_exists",
		"attribute_not_exists", "attribute_type", "begins_with", "contains",
	}).Draw(w.T, "operator")}
	var texts []string
	switch n.op {
	case "BETWEEN":
		n.args, texts = w.operands(3)
		return n, texts[0] + " " + w.keyword(n.op) + " " + texts[1] + w.keyword(" AND ") + texts[2]
	case "IN":
		n.args, texts = w.operands(rapid.IntRange(2, 5).Draw(w.T, "count"))
		return n, texts[0] + " " + w.keyword(n.op) + "(" + strings.Join(texts[1:], ",") + ")"
	case "attribute_exists", "attribute_not_exists":
		n.args, texts = w.operands(1)
		return n, n.op + "(" + texts[0] + ")"
	case "attribute_type":
		n.args, texts = w.operands(1)
		kind := rapid.SampledFrom([]string{
			"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS",
		}).Draw(w.T, "type")
		n.args = append(n.args, &naiveOperand{value: kind})
		return n, n.op + "(" + texts[0] + ", " + w.value(dynamo.S(kind)) + ")"
	case "begins_with", "contains":
		n.args, texts = w.operands(2)
		return n, n.op + " (" + texts[0] + " , " + texts[1] + ")"
	}
	n.args, texts = w.operands(2)
	return n, texts[0] + n.op + texts[1]
}

func TestConditionsAgreeWithTheNaiveEvaluator(t *testing.T) {
	var parser expr.Parser
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t}
		condition, text := w.condition(3)
		w.Condition = text
		prepared, err := parser.Prepare(&w.Request)
		if valid := condition.valid(); valid != (err == nil) {
			t.Fatalf("%s\nwith %v %v\nvalid: %v, but the answer is %v",
				text, w.Names, w.Values, valid, err)
		}
		if err != nil {
			return
		}
		for range 4 {
			item := items.Draw(t, "item")
			want := condition.eval(plainOf(dynamo.M(item)).(members))
			checked, err := expr.CheckItem(item)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range []dynamo.Item{item, checked, partlyChecked(t, item)} {
				if got := prepared.Condition.Holds(it); got != want {
					t.Fatalf("%s\nwith %v %v\non %v\nis %v, want %v",
						text, w.Names, w.Values, it, got, want)
				}
			}
		}
	})
}

// keep is what a projection keeps of a value, found by walking the value rather than the paths.
func keep(p plain, prefix string, wanted map[string]bool) plain {
	if wanted[prefix] {
		return p
	}
	switch p := p.(type) {
	case list:
		var out list
		for i, e := range p {
			if part := keep(e, fmt.Sprintf("%s[%d]", prefix, i), wanted); part != nil {
				out = append(out, part)
			}
		}
		if out != nil {
			return out
		}
	case members:
		out := members{}
		for name, e := range p {
			if part := keep(e, strings.TrimPrefix(prefix+"."+name, "."), wanted); part != nil {
				out[name] = part
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func TestProjectionsAgreeWithTheNaiveEvaluator(t *testing.T) {
	var parser expr.Parser
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t}
		wanted := map[string]bool{}
		var texts []string
		for _, path := range apart(rapid.SliceOfN(paths, 1, 6).Draw(t, "paths")) {
			texts = append(texts, w.path(path))
			wanted[plainPath(path)] = true
		}
		w.Projection = strings.Join(texts, ", ")
		prepared, err := parser.Prepare(&w.Request)
		if err != nil {
			t.Fatalf("%s: %v", w.Projection, err)
		}
		item := partlyChecked(t, items.Draw(t, "item"))
		want := keep(plainOf(dynamo.M(item)), "", wanted)
		if want == nil {
			want = members{}
		}
		got := prepared.Projection.Apply(item)
		if !same(plainOf(dynamo.M(got)), want) {
			t.Fatalf("%s of %v\nis %v, want %v", w.Projection, item, got, want)
		}
		mustMarkRightly(t, w.Projection, got)
	})
}

func plainPath(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// apart leaves out paths that overlap or conflict with one before them.
func apart(all [][]any) [][]any {
	var out [][]any
next:
	for _, p := range all {
		for _, q := range out {
			for i := range min(len(p), len(q)) {
				_, pIndex := p[i].(int)
				_, qIndex := q[i].(int)
				if pIndex != qIndex || i == min(len(p), len(q))-1 && p[i] == q[i] {
					continue next
				}
				if p[i] != q[i] {
					break
				}
			}
		}
		out = append(out, p)
	}
	return out
}

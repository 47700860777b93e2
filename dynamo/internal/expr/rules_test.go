package expr_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// TestRules runs the tables in testdata. A table is read line by line:
//
//	# words              say what follows
//	value :v {"N":"1"}   defines a value, name #n attr a name, attr a {"N":"1"} an attribute
//	clear                forgets names, values and attributes
//	all                  makes the next case pass all names and values, not only those it has
//	none                 makes the next case pass empty names and values
//	condition a = :v     a case of that kind, and after it
//	=> true              what it should give
//
// The other kinds of case are filter, key, project, update (prints what changed), create (the
// same for an item that does not exist, with the attributes as its key), updated (prints what the
// update returns of the old and the new item), cost, names-of and check (one value).
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			runTable(t, file)
		})
	}
}

func runTable(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	table := newTable(t)
	pending := ""
	for number, line := 0, bufio.NewScanner(bytes.NewReader(content)); line.Scan(); {
		number++
		want, isResult := strings.CutPrefix(line.Text(), "=> ")
		if !isResult {
			if pending != "" {
				fmt.Fprintf(&out, "=> %s\n", table.run(pending))
			}
			fmt.Fprintln(&out, line.Text())
			if pending = line.Text(); !table.isCase(pending) {
				table.define(pending)
				pending = ""
			}
			continue
		}
		got := table.run(pending)
		if got != want && !*update {
			t.Errorf("%s:%d: %s\n%s", file, number, pending, cmp.Diff(want, got))
		}
		fmt.Fprintf(&out, "=> %s\n", got)
		pending = ""
	}
	if pending != "" {
		fmt.Fprintf(&out, "=> %s\n", table.run(pending))
	}
	switch {
	case *update:
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	case out.String() != string(content) && !t.Failed():
		t.Errorf("%s: a case has no result; run the test with -update", file)
	}
}

// table is the context of the cases.
type table struct {
	t         *testing.T
	parser    *expr.Parser
	names     map[string]string
	values    map[string]dynamo.Value
	item      dynamo.Item
	all, none bool
}

func newTable(t *testing.T) *table {
	b := &table{t: t, parser: expr.NewParser()}
	b.define("clear")
	return b
}

func (b *table) isCase(line string) bool {
	kind, _, _ := strings.Cut(line, " ")
	switch kind {
	case "condition", "filter", "key", "project", "update", "create", "updated", "cost",
		"names-of", "check":
		return true
	}
	return false
}

func (b *table) define(line string) {
	kind, rest, _ := strings.Cut(line, " ")
	key, text, _ := strings.Cut(rest, " ")
	switch kind {
	case "", "#":
	case "clear":
		b.names, b.values = map[string]string{}, map[string]dynamo.Value{}
		b.item = dynamo.Item{}
	case "name":
		b.names[key] = text
	case "value":
		b.values[key] = b.value(text)
	case "attr":
		b.item[key] = b.value(text)
	case "all":
		b.all = true
	case "none":
		b.none = true
	default:
		b.t.Fatalf("the table has an unknown line: %s", line)
	}
}

var placeholders = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)

// request makes the request of a case.
func (b *table) request(kind, text string) *expr.Request {
	r := &expr.Request{}
	switch kind {
	case "condition":
		r.Condition = text
	case "filter":
		r.Filter = text
	case "key":
		r.KeyCondition = text
	case "project":
		r.Projection = text
	default:
		r.Update = text
	}
	defer func() { b.all, b.none = false, false }()
	if b.none {
		r.Names, r.Values = map[string]string{}, map[string]dynamo.Value{}
		return r
	}
	used := map[string]bool{}
	for _, p := range placeholders.FindAllString(text, -1) {
		used[p] = true
	}
	for key, name := range b.names {
		if b.all || used[key] {
			if r.Names == nil {
				r.Names = map[string]string{}
			}
			r.Names[key] = name
		}
	}
	for key, v := range b.values {
		if b.all || used[key] {
			if r.Values == nil {
				r.Values = map[string]dynamo.Value{}
			}
			r.Values[key] = v
		}
	}
	return r
}

// run runs a case and renders its result.
func (b *table) run(line string) string {
	kind, text, _ := strings.Cut(line, " ")
	if kind == "check" {
		v, err := expr.CheckValue(b.value(text))
		if err != nil {
			return message(err)
		}
		return v.String()
	}
	prepared, err := b.parser.Prepare(b.request(kind, text))
	if err != nil {
		return message(err)
	}
	switch kind {
	case "condition":
		return fmt.Sprint(prepared.Condition.Holds(b.item))
	case "filter":
		return fmt.Sprint(prepared.Filter.Holds(b.item))
	case "key":
		var terms []string
		for _, term := range prepared.Key.Terms {
			terms = append(terms, fmt.Sprint(term.Attribute, " ", term.Op, " ", term.Values))
		}
		return strings.Join(terms, ", ")
	case "project":
		return prepared.Projection.Apply(b.item).String()
	}
	return b.change(kind, prepared.Update)
}

// change runs a case that has an update.
func (b *table) change(kind string, u *expr.Update) string {
	apply := u.Apply
	if kind == "create" {
		apply = u.Create
	}
	switch kind {
	case "cost":
		return fmt.Sprint(u.ActionCost())
	case "names-of":
		return fmt.Sprintf("%v nested %v writes nothing %v",
			u.TopLevel(), u.Nested(), u.WritesNothing())
	}
	before := b.item.String()
	item, err := apply(b.item)
	if b.item.String() != before {
		b.t.Errorf("the update changed the old item to %v", b.item)
	}
	switch {
	case err != nil:
		return message(err)
	case kind == "updated":
		return fmt.Sprintf("old %v new %v", u.Old(b.item), u.New(item))
	}
	return difference(b.item, item)
}

// difference renders what an update changed.
func difference(old, updated dynamo.Item) string {
	changed, gone := dynamo.Item{}, []string{}
	for name, v := range updated {
		if before, ok := old[name]; !ok || before.String() != v.String() {
			changed[name] = v
		}
	}
	for name := range old {
		if _, ok := updated[name]; !ok {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return changed.String()
	}
	slices.Sort(gone)
	return fmt.Sprintf("%v without %v", changed, gone)
}

func message(err error) string {
	invalid, ok := err.(*dynamo.Error)
	if !ok || invalid.Code != dynamo.CodeValidation {
		return fmt.Sprintf("not a validation error: %v", err)
	}
	return invalid.Message
}

// value reads a value in DynamoDB's JSON notation. {} is the absent value.
func (b *table) value(text string) dynamo.Value {
	var raw any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	return valueOf(raw)
}

func valueOf(raw any) dynamo.Value {
	for kind, v := range raw.(map[string]any) {
		switch dynamo.KindOf(kind) {
		case dynamo.KindS:
			return dynamo.S(v.(string))
		case dynamo.KindN:
			return dynamo.N(v.(string))
		case dynamo.KindB:
			return dynamo.B([]byte(v.(string)))
		case dynamo.KindBOOL:
			return dynamo.Bool(v.(bool))
		case dynamo.KindNULL:
			return dynamo.Null()
		case dynamo.KindL:
			var elems []dynamo.Value
			for _, e := range v.([]any) {
				elems = append(elems, valueOf(e))
			}
			return dynamo.L(elems...)
		case dynamo.KindM:
			members := map[string]dynamo.Value{}
			for name, e := range v.(map[string]any) {
				members[name] = valueOf(e)
			}
			return dynamo.M(members)
		case dynamo.KindSS:
			return dynamo.SS(textsOf(v)...)
		case dynamo.KindNS:
			return dynamo.NS(textsOf(v)...)
		case dynamo.KindBS:
			var elems [][]byte
			for _, e := range textsOf(v) {
				elems = append(elems, []byte(e))
			}
			return dynamo.BS(elems...)
		}
	}
	return dynamo.Value{}
}

func textsOf(v any) []string {
	var texts []string
	for _, e := range v.([]any) {
		texts = append(texts, e.(string))
	}
	return texts
}

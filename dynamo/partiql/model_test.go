package partiql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/partiql"
)

// said is a condition as a statement and an expression write it, and what it means.
type said struct {
	statement  string
	expression string // over names of attributes and the values of saidValues
	holds      func(dynamo.Item) bool
}

// The attributes and values of the properties are few, so that conditions often hold.
var (
	saidNames  = []string{"pk", "sk", "a", "b", "g"}
	saidValues = map[string]dynamo.Value{
		":s0": dynamo.S("x"), ":s1": dynamo.S("xy"), ":s2": dynamo.S("z"),
		":n0": dynamo.Int(0), ":n1": dynamo.Int(1), ":n2": dynamo.Int(2),
	}
	saidLiterals = map[string]string{
		":s0": "'x'", ":s1": "'xy'", ":s2": "'z'", ":n0": "0", ":n1": "1.0", ":n2": "2e0",
	}
)

func saidTable() *dynamo.CreateTableInput {
	return &dynamo.CreateTableInput{
		TableName: "said", BillingMode: dynamo.BillingPayPerRequest,
		KeySchema: dynamo.HashRangeKey("pk", "sk"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "pk", AttributeType: dynamo.KindS},
			{AttributeName: "sk", AttributeType: dynamo.KindN},
			{AttributeName: "g", AttributeType: dynamo.KindS},
		},
		GlobalSecondaryIndexes: []dynamo.GlobalSecondaryIndex{{
			IndexName: "byG", KeySchema: dynamo.HashRangeKey("g", "sk"),
			Projection: dynamo.Projection{ProjectionType: dynamo.ProjectAll},
		}},
	}
}

// saidValue draws a value that an attribute may have: keys have one type each.
func saidValue(t *rapid.T, name string) string {
	kinds := []string{":s", ":n"}
	switch name {
	case "pk", "g":
		kinds = kinds[:1]
	case "sk":
		kinds = kinds[1:]
	}
	return rapid.SampledFrom(kinds).Draw(t, "kind") +
		rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "which")
}

func drawItem(t *rapid.T, key bool) dynamo.Item {
	item := dynamo.Item{}
	for _, name := range saidNames {
		always := name == "pk" || name == "sk"
		if always && !key || !always && rapid.Bool().Draw(t, "without "+name) {
			continue
		}
		item[name] = saidValues[saidValue(t, name)]
	}
	return item
}

// drawSaid draws a condition. In the first levels it is often about the key, as those decide what
// is read.
func drawSaid(t *rapid.T, depth int) said {
	if depth > 0 {
		switch rapid.IntRange(0, 3).Draw(t, "form") {
		case 0:
			return drawJoined(t, depth, "AND")
		case 1:
			return drawJoined(t, depth, "OR")
		case 2:
			part := drawSaid(t, depth-1)
			return said{
				"NOT (" + part.statement + ")", "NOT (" + part.expression + ")",
				func(item dynamo.Item) bool { return !part.holds(item) },
			}
		}
	}
	return drawTest(t)
}

func drawJoined(t *rapid.T, depth int, word string) said {
	parts := []said{drawSaid(t, depth-1), drawSaid(t, depth-1)}
	all := word == "AND"
	return said{
		fmt.Sprintf("(%s) %s (%s)", parts[0].statement, word, parts[1].statement),
		fmt.Sprintf("(%s) %s (%s)", parts[0].expression, word, parts[1].expression),
		func(item dynamo.Item) bool {
			if parts[0].holds(item) != all {
				return !all
			}
			return parts[1].holds(item)
		},
	}
}

func drawTest(t *rapid.T) said {
	name := rapid.SampledFrom(saidNames).Draw(t, "name")
	v := saidValue(t, name)
	value := saidValues[v]
	literal := saidLiterals[v]
	switch rapid.IntRange(0, 5).Draw(t, "test") {
	case 0:
		return said{
			name + " IS NOT MISSING", "attribute_exists(" + name + ")",
			func(item dynamo.Item) bool { _, ok := item[name]; return ok },
		}
	case 1:
		if value.Kind() != dynamo.KindS {
			break
		}
		return said{
			fmt.Sprintf("Begins_With(%s, %s)", name, literal),
			fmt.Sprintf("begins_with(%s, %s)", name, v),
			func(item dynamo.Item) bool {
				found := item[name]
				return found.Kind() == dynamo.KindS && strings.HasPrefix(found.S(), value.S())
			},
		}
	case 2:
		other := saidValue(t, name)
		return said{
			fmt.Sprintf("%s IN [%s, %s]", name, literal, saidLiterals[other]),
			fmt.Sprintf("%s IN (%s, %s)", name, v, other),
			func(item dynamo.Item) bool {
				found := item[name]
				return found.Equal(value) || found.Equal(saidValues[other])
			},
		}
	case 3:
		low, high := v[:2]+"0", v
		return said{
			fmt.Sprintf("%s BETWEEN %s AND %s", name, saidLiterals[low], literal),
			fmt.Sprintf("%s BETWEEN %s AND %s", name, low, v),
			func(item dynamo.Item) bool {
				return ordered(item[name], saidValues[low], ">=") &&
					ordered(item[name], saidValues[high], "<=")
			},
		}
	}
	op := rapid.SampledFrom([]string{"=", "=", "=", "<>", "<", "<=", ">", ">="}).Draw(t, "op")
	holds := func(item dynamo.Item) bool { return ordered(item[name], value, op) }
	if turned := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]; turned != "" &&
		rapid.Bool().Draw(t, "turned") {
		return said{literal + " " + turned + " " + name, v + " " + turned + " " + name, holds}
	}
	return said{name + " " + op + " " + literal, name + " " + op + " " + v, holds}
}

func ordered(found, value dynamo.Value, op string) bool {
	switch op {
	case "=":
		return found.Equal(value)
	case "<>":
		return !found.Equal(value)
	}
	order, ok := found.Compare(value)
	if !ok {
		return false
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

const overlapping = "Overlapping conditions with range keys are not supported in where clause"

// A SELECT answers, over all its pages, exactly the items of which its WHERE holds, whatever it
// reads to find them, from the table or an index.
func TestSelectAnswersWhatItsConditionHoldsOf(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		db := openSaid(t)
		var items []dynamo.Item
		seen := map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			item := drawItem(t, true)
			if key := (dynamo.Item{"pk": item["pk"], "sk": item["sk"]}).String(); !seen[key] {
				seen[key] = true
				items = append(items, item)
				put := &dynamo.PutInput{TableName: "said", Item: item}
				if _, err := db.Put(ctx, put); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "statements") {
			where := drawSaid(t, 3)
			from := rapid.SampledFrom([]string{"said", "said", `"said"."byG"`}).Draw(t, "from")
			limit := rapid.IntRange(0, 3).Draw(t, "limit")
			text := "SELECT * FROM " + from + " WHERE " + where.statement
			var want []dynamo.Item
			for _, item := range items {
				if _, indexed := item["g"]; where.holds(item) && (from == "said" || indexed) {
					want = append(want, item)
				}
			}
			got, err := selectAll(ctx, db, text, limit)
			var refused *dynamo.Error
			if errors.As(err, &refused) && refused.Message == overlapping {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if w, g := renderSorted(want), renderSorted(got); !slices.Equal(w, g) {
				t.Fatalf("%s\nwant %v\n got %v", text, w, g)
			}
		}
	})
}

func openSaid(t *rapid.T) *engine.DB {
	db, err := engine.OpenMemory(engine.Options{SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.CreateTable(context.Background(), saidTable()); err != nil {
		t.Fatal(err)
	}
	return db
}

// selectAll reads all pages. A page holds no more than the limit, and reading comes to an end.
func selectAll(ctx context.Context, db *engine.DB, text string, limit int) (
	items []dynamo.Item, err error,
) {
	in := &dynamo.ExecuteStatementInput{Statement: text, Limit: limit}
	statements := partiql.New(db)
	for range 200 {
		out, err := statements.ExecuteStatement(ctx, in)
		if err != nil {
			return nil, err
		}
		if limit > 0 && len(out.Items) > limit {
			return nil, fmt.Errorf("%d items on a page of %d", len(out.Items), limit)
		}
		items = append(items, out.Items...)
		if in.NextToken = out.NextToken; in.NextToken == "" {
			return items, nil
		}
	}
	return nil, errors.New("the pages do not end")
}

// A statement that writes does, answers and costs what the call does that it stands for.
func TestStatementsWriteWhatTheCallsWrite(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		stated, called := openSaid(t), openSaid(t)
		statements := partiql.New(stated)
		for range rapid.IntRange(1, 20).Draw(t, "writes") {
			text, call := drawWrite(t)
			out, err := statements.ExecuteStatement(ctx, &dynamo.ExecuteStatementInput{
				Statement: text, ReturnConsumedCapacity: dynamo.CapacityIndexes,
			})
			got := outcomeOf(err)
			if err == nil {
				got += renderConsumed(out.ConsumedCapacity)
				for _, item := range out.Items {
					got += item.String()
				}
			}
			if want := call(ctx, called); want != got {
				t.Fatalf("%s\nwant %s\n got %s", text, want, got)
			}
		}
		want, got := allOf(t, called), allOf(t, stated)
		if !slices.Equal(want, got) {
			t.Fatalf("want %v\n got %v", want, got)
		}
	})
}

func outcomeOf(err error) string {
	var e *dynamo.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return err.Error()
	case e.Code == dynamo.CodeDuplicateItem:
		return string(dynamo.CodeConditionalCheckFailed)
	}
	return string(e.Code)
}

func allOf(t *rapid.T, db *engine.DB) []string {
	out, err := db.Scan(context.Background(), &dynamo.ScanInput{TableName: "said"})
	if err != nil {
		t.Fatal(err)
	}
	return renderSorted(out.Items)
}

// drawWrite draws a statement and the call that does the same, whose outcome it returns.
func drawWrite(t *rapid.T) (text string, call func(context.Context, *engine.DB) string) {
	pk, sk := saidValue(t, "pk"), saidValue(t, "sk")
	key := dynamo.Key{"pk": saidValues[pk], "sk": saidValues[sk]}
	where := fmt.Sprintf(" WHERE pk = %s AND sk = %s", saidLiterals[pk], saidLiterals[sk])
	condition := ""
	if rapid.Bool().Draw(t, "conditional") {
		c := drawSaid(t, 2)
		where += " AND (" + c.statement + ")"
		condition = c.expression
	}
	switch rapid.IntRange(0, 2).Draw(t, "verb") {
	case 0:
		item := drawItem(t, false)
		item["pk"], item["sk"] = key["pk"], key["sk"]
		return "INSERT INTO said VALUE " + statementItem(item), insertCall(item)
	case 1:
		set, update := drawChange(t)
		return "UPDATE said " + set + where + " RETURNING ALL NEW *",
			updateCall(key, update, condition)
	}
	return "DELETE FROM said" + where + " RETURNING ALL OLD *", deleteCall(key, condition)
}

func statementItem(item dynamo.Item) string {
	var members []string
	for name, v := range item {
		for p, known := range saidValues {
			if known.Equal(v) {
				members = append(members, "'"+name+"': "+saidLiterals[p])
			}
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func drawChange(t *rapid.T) (set, update string) {
	name := rapid.SampledFrom([]string{"a", "b", "g"}).Draw(t, "changed")
	v := saidValue(t, name)
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		return "REMOVE " + name, "REMOVE " + name
	case 1:
		return "SET a = a + 1", "SET a = a + :n1"
	}
	return "SET " + name + " = " + saidLiterals[v], "SET " + name + " = " + v
}

// used returns the placeholders of expressions.
func used(texts ...string) map[string]dynamo.Value {
	values := map[string]dynamo.Value{}
	for p, v := range saidValues {
		if strings.Contains(strings.Join(texts, " "), p) {
			values[p] = v
		}
	}
	if len(values) == 0 {
		return nil
	}
	return values
}

func insertCall(item dynamo.Item) func(context.Context, *engine.DB) string {
	return func(ctx context.Context, db *engine.DB) string {
		out, err := db.Put(ctx, &dynamo.PutInput{
			TableName: "said", Item: item, ConditionExpression: "attribute_not_exists(pk)",
			ReturnConsumedCapacity: dynamo.CapacityIndexes,
		})
		if err != nil {
			return outcomeOf(err)
		}
		return renderConsumed(out.ConsumedCapacity)
	}
}

func updateCall(key dynamo.Key, update, condition string) func(context.Context, *engine.DB) string {
	whole := "attribute_exists(pk)"
	if condition != "" {
		whole += " AND (" + condition + ")"
	}
	return func(ctx context.Context, db *engine.DB) string {
		out, err := db.Update(ctx, &dynamo.UpdateInput{
			TableName: "said", Key: key, UpdateExpression: update, ConditionExpression: whole,
			Expressions: dynamo.Expressions{
				ExpressionAttributeValues: used(update, condition),
			},
			ReturnValues:           dynamo.ReturnAllNew,
			ReturnConsumedCapacity: dynamo.CapacityIndexes,
		})
		if err != nil {
			return outcomeOf(err)
		}
		return renderConsumed(out.ConsumedCapacity) + out.Attributes.String()
	}
}

func deleteCall(key dynamo.Key, condition string) func(context.Context, *engine.DB) string {
	return func(ctx context.Context, db *engine.DB) string {
		in := &dynamo.DeleteInput{
			TableName: "said", Key: key, ReturnValues: dynamo.ReturnAllOld,
			ReturnConsumedCapacity: dynamo.CapacityIndexes,
		}
		if condition != "" {
			in.ConditionExpression = "attribute_not_exists(pk) OR (" + condition + ")"
			in.ExpressionAttributeValues = used(condition)
		}
		out, err := db.Delete(ctx, in)
		switch {
		case err != nil:
			return outcomeOf(err)
		case out.Attributes == nil:
			return renderConsumed(out.ConsumedCapacity)
		}
		return renderConsumed(out.ConsumedCapacity) + out.Attributes.String()
	}
}

func renderSorted(items []dynamo.Item) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = item.String()
	}
	slices.Sort(lines)
	return lines
}

// renderConsumed returns the capacity as text, with the indexes in order.
func renderConsumed(c *dynamo.ConsumedCapacity) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(text)
}

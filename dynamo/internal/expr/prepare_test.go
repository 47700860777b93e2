package expr_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

func TestOrderOfChecks(t *testing.T) {
	values := map[string]dynamo.Value{":a": dynamo.S("N")}
	for _, test := range []struct {
		name    string
		request expr.Request
		want    string
	}{
		{"the update comes before the condition", expr.Request{
			Update: "SET a = #x", Condition: "a ="},
			"Invalid UpdateExpression: An expression attribute name used in the document path " +
				"is not defined; attribute name: #x"},
		{"the condition comes after the update", expr.Request{
			Update: "SET a = b", Condition: "a ="},
			`Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="`},
		{"the key condition comes before the filter", expr.Request{
			KeyCondition: "a =", Filter: "b =", Projection: "c."},
			`Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "="`},
		{"the filter comes before the projection", expr.Request{
			KeyCondition: "a = :a", Filter: "b =", Projection: "c.", Values: values},
			`Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="`},
		{"what is no key condition comes after the projection", expr.Request{
			KeyCondition: "attribute_type(a, :a)", Filter: "a > b", Projection: "c.",
			Values: values},
			`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: "."`},
		{"and after what is unused", expr.Request{
			KeyCondition: "attribute_type(a, :a)", Values: map[string]dynamo.Value{
				":a": dynamo.S("N"), ":b": dynamo.S("")}},
			"Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}"},
		{"unused names come before unused values", expr.Request{
			Condition: "a = b", Values: values, Names: map[string]string{"#b": "b", "#a": "a"}},
			"Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}"},
		{"what is undefined comes before what is unused", expr.Request{
			Condition: "a = :b", Values: values},
			"Invalid ConditionExpression: An expression attribute value used in expression is " +
				"not defined; attribute value: :b"},
		{"a bad value comes before a syntax error", expr.Request{
			Condition: "a =", Values: map[string]dynamo.Value{":a": dynamo.N("x")}},
			"ExpressionAttributeValues contains invalid value: The parameter cannot be " +
				"converted to a numeric value: x for key :a"},
		{"a bad name comes before a bad value", expr.Request{
			Condition: "a =", Names: map[string]string{"a": "a"},
			Values: map[string]dynamo.Value{":a": dynamo.N("x")}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{"of two bad values the first in order is reported", expr.Request{
			Condition: "a = :a AND b = :b", Values: map[string]dynamo.Value{
				":b": dynamo.SS(), ":a": dynamo.N("x")}},
			"ExpressionAttributeValues contains invalid value: The parameter cannot be " +
				"converted to a numeric value: x for key :a"},
		{"all expressions share names and values", expr.Request{
			KeyCondition: "#a = :a", Filter: "#b > :b", Projection: "#a, #c",
			Names:  map[string]string{"#a": "a", "#b": "b", "#c": "c"},
			Values: map[string]dynamo.Value{":a": dynamo.S("x"), ":b": dynamo.Int(1)}},
			accepted},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refusal(t, &test.request); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPlaceholdersWithoutExpressions(t *testing.T) {
	const only = " can only be specified when using expressions"
	names := map[string]string{"#a": "a"}
	values := map[string]dynamo.Value{":a": dynamo.Int(1)}
	for _, test := range []struct {
		name    string
		request expr.Request
		want    string
	}{
		{"nothing at all", expr.Request{}, accepted},
		{"names", expr.Request{Names: names}, "ExpressionAttributeNames" + only},
		{"empty names", expr.Request{Names: map[string]string{}},
			"ExpressionAttributeNames" + only},
		{"values", expr.Request{Values: values}, "ExpressionAttributeValues" + only},
		{"values of a put", expr.Request{Values: values, Takes: expr.TakesCondition},
			"ExpressionAttributeValues" + only + ": ConditionExpression is null"},
		{"values of an update", expr.Request{
			Values: values, Takes: expr.TakesCondition | expr.TakesUpdate},
			"ExpressionAttributeValues" + only +
				": UpdateExpression and ConditionExpression are null"},
		{"values of a query with a projection", expr.Request{
			Projection: "a", Values: values, Takes: expr.TakesKeyCondition | expr.TakesFilter},
			"ExpressionAttributeValues" + only +
				": FilterExpression and KeyConditionExpression are null"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refusal(t, &test.request); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrepareSharesNothingBetweenCalls(t *testing.T) {
	parser := expr.NewParser()
	prepare := func(attribute string, amount int64) *expr.Prepared {
		prepared, err := parser.Prepare(&expr.Request{
			Update: "SET #a = #a + :n", Condition: "#a >= :n",
			Names:  map[string]string{"#a": attribute},
			Values: map[string]dynamo.Value{":n": dynamo.Int(amount)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return prepared
	}
	x, y := prepare("x", 1), prepare("y", 20)
	item := dynamo.Item{"x": dynamo.Int(10), "y": dynamo.Int(10)}
	if !x.Condition.Holds(item) || y.Condition.Holds(item) {
		t.Error("a condition reads the names or values of another call")
	}
	updated, err := x.Update.Apply(item)
	if err != nil {
		t.Fatal(err)
	}
	if want := (dynamo.Item{"x": dynamo.Int(11), "y": dynamo.Int(10)}); !updated.Equal(want) {
		t.Errorf("got %v, want %v", updated, want)
	}
}

func TestNamesThatAConditionReads(t *testing.T) {
	prepared, err := expr.NewParser().Prepare(&expr.Request{
		Filter: "a = b AND (size(c.d) > :v OR NOT contains(#e, a)) AND c[0] IN (f, :v)",
		Names:  map[string]string{"#e": "e.x"},
		Values: map[string]dynamo.Value{":v": dynamo.Int(1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	filter := prepared.Filter
	if diff := cmp.Diff([]string{"a", "b", "c", "e.x", "f"}, filter.TopLevel()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c"}, filter.Nested()); diff != "" {
		t.Error(diff)
	}
	if !filter.Reads("e.x") || !filter.Reads("c") || filter.Reads("d") {
		t.Error("Reads does not agree with TopLevel")
	}
}

func TestParserIsSafeForConcurrentUse(t *testing.T) {
	parser := expr.NewParser()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 2000 {
				attribute := fmt.Sprintf("a%d", i*(worker%2+1)%700)
				prepared, err := parser.Prepare(&expr.Request{
					Condition: attribute + " = :v",
					Values:    map[string]dynamo.Value{":v": dynamo.Int(int64(worker))},
				})
				if err != nil {
					t.Error(err)
					return
				}
				if !prepared.Condition.Holds(dynamo.Item{attribute: dynamo.Int(int64(worker))}) {
					t.Errorf("worker %d: the condition on %s does not hold", worker, attribute)
				}
			}
		})
	}
	group.Wait()
}

func TestParserDoesNotKeepTheCallersText(t *testing.T) {
	parser := expr.NewParser()
	// A caller may read its requests into one buffer, over and over.
	buffer := []byte("SET abc = :v")
	var updates []*expr.Update
	const letters = "xyzxyz"
	for _, letter := range []byte(letters) {
		buffer[4] = letter
		prepared, err := parser.Prepare(&expr.Request{
			Update: unsafe.String(&buffer[0], len(buffer)),
			Values: map[string]dynamo.Value{":v": dynamo.Int(1)},
		})
		if err != nil {
			t.Fatal(err)
		}
		updates = append(updates, prepared.Update)
	}
	for i, u := range updates {
		if got, want := u.TopLevel()[0], letters[i:i+1]+"bc"; got != want {
			t.Errorf("update %d changes %s, want %s", i, got, want)
		}
	}
}

func TestOnlyCheckedPartsAreMarked(t *testing.T) {
	prepared, err := expr.NewParser().Prepare(&expr.Request{
		Projection: "a.x, b.x", Update: "SET a.y = b.x, b.y = a.x, a.z = :v REMOVE c[0]",
		Values: map[string]dynamo.Value{":v": dynamo.N("3.0")},
	})
	if err != nil {
		t.Fatal(err)
	}
	unchecked := dynamo.M(map[string]dynamo.Value{"x": dynamo.N("1.0")})
	checked, err := expr.CheckValue(unchecked)
	if err != nil {
		t.Fatal(err)
	}
	item := dynamo.Item{
		"a": checked, "b": unchecked, "c": dynamo.MarkChecked(dynamo.L(dynamo.Int(1))),
	}
	kept := prepared.Projection.Apply(item)
	if !kept["a"].Checked() || kept["b"].Checked() {
		t.Error("a projection marks a part that was not checked, or does not mark one that was")
	}
	updated, err := prepared.Update.Apply(item)
	if err != nil {
		t.Fatal(err)
	}
	if updated["a"].Checked() || updated["b"].Checked() || !updated["c"].Checked() {
		t.Error("an update marks what it put an unchecked value into, or does not mark the rest")
	}
}

func TestHoldsAllocatesNothing(t *testing.T) {
	prepared, err := expr.NewParser().Prepare(&expr.Request{
		Condition: "attribute_exists(PK) AND Version = :v AND (Balance BETWEEN :v AND :w OR " +
			"begins_with(#n, :s)) AND size(Tags) < :w AND NOT a.b[0] IN (:v, :w)",
		Names: map[string]string{"#n": "Name"},
		Values: map[string]dynamo.Value{
			":v": dynamo.Int(7), ":w": dynamo.N("1.0e4"), ":s": dynamo.S("every"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	item := account()
	allocations := testing.AllocsPerRun(100, func() {
		if !prepared.Condition.Holds(item) {
			t.Fatal("the condition does not hold")
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestCheckedValuesAreReturnedAsTheyAre(t *testing.T) {
	list := dynamo.MarkChecked(dynamo.L(dynamo.Int(1), dynamo.S("x")))
	item := dynamo.Item{"a": list, "b": dynamo.S("x")}
	allocations := testing.AllocsPerRun(100, func() {
		v, err := expr.CheckValue(list)
		if err != nil || &v.L()[0] != &list.L()[0] {
			t.Fatalf("%v, %v", v, err)
		}
		if _, err := expr.CheckItem(item); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestCheckItem(t *testing.T) {
	item := dynamo.Item{
		"n": dynamo.N("1.0"), "s": dynamo.S("x"),
		"m": dynamo.M(map[string]dynamo.Value{"l": dynamo.L(dynamo.N("2e1"), dynamo.Null())}),
	}
	before := item.String()
	checked, err := expr.CheckItem(item)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"m":{"M":{"l":{"L":[{"N":"20"},{"NULL":true}]}}},"n":{"N":"1"},"s":{"S":"x"}}`
	if got := checked.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, v := range checked {
		if !v.Checked() {
			t.Errorf("%s is not marked as checked", name)
		}
	}
	if !checked["m"].M()["l"].L()[0].Checked() {
		t.Error("a nested number is not marked as checked")
	}
	if item.String() != before || item["n"].Checked() {
		t.Error("the item was changed")
	}

	const invalid = "One or more parameter values were invalid: "
	for _, test := range []struct {
		name string
		item dynamo.Item
		want string
	}{
		{"an empty name", dynamo.Item{"": dynamo.Int(1)}, invalid + "Empty attribute name"},
		{"a name that is too long", dynamo.Item{strings.Repeat("x", 65536): dynamo.Int(1)},
			invalid + "Attribute name is too large, must be less than 65536 bytes"},
		{"an empty set", dynamo.Item{"a": dynamo.SS()},
			invalid + "An string set  may not be empty"},
		{"32 levels", dynamo.Item{"a": deepValue(32)}, accepted},
		{"33 levels", dynamo.Item{"a": deepValue(33)},
			"Nesting Levels have exceeded supported limits: Attributes in the item have nested " +
				"levels beyond supported limit"},
		{"33 levels with a checked value inside", dynamo.Item{
			"a": dynamo.L(dynamo.MarkChecked(deepValue(32)))},
			"Nesting Levels have exceeded supported limits: Attributes in the item have nested " +
				"levels beyond supported limit"},
		{"several faults: the first name in order", dynamo.Item{
			"b": dynamo.SS(), "a": dynamo.N("x"), "c": dynamo.Value{}},
			"The parameter cannot be converted to a numeric value: x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := accepted
			if _, err := expr.CheckItem(test.item); err != nil {
				got = message(err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestNamesThatAProjectionAndAnUpdateTouch(t *testing.T) {
	prepared, err := expr.NewParser().Prepare(&expr.Request{
		Projection: "a, b.c, #d[0], b.e", Update: "SET x = y, z.a = z.b REMOVE #d",
		Names: map[string]string{"#d": "d.x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	projection, update := prepared.Projection, prepared.Update
	if diff := cmp.Diff([]string{"a", "b", "d.x"}, projection.TopLevel()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b", "d.x"}, projection.Nested()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{"x": true, "z": true, "d.x": true, "y": false} {
		if got := update.Changes(name); got != want {
			t.Errorf("changes %s: %v", name, got)
		}
	}
}

func TestUpdateRefusesAnItemThatIsNotValid(t *testing.T) {
	// A store holds no such values; a caller that has another source of items may.
	for _, test := range []struct {
		update string
		value  dynamo.Value
		item   dynamo.Item
	}{
		{"SET a = a + :v", dynamo.Int(1), dynamo.Item{"a": dynamo.N("x")}},
		{"SET a = :v - a", dynamo.Int(1), dynamo.Item{"a": dynamo.N("x")}},
		{"ADD a :v", dynamo.NS("1"), dynamo.Item{"a": dynamo.NS("x")}},
		{"DELETE a :v", dynamo.NS("1"), dynamo.Item{"a": dynamo.NS("1", "1.0")}},
	} {
		prepared, err := expr.NewParser().Prepare(&expr.Request{
			Update: test.update, Values: map[string]dynamo.Value{":v": test.value},
		})
		if err != nil {
			t.Fatal(err)
		}
		if updated, err := prepared.Update.Apply(test.item); err == nil {
			t.Errorf("%s of %v gives %v", test.update, test.item, updated)
		}
	}
}

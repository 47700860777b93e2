package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/expr"
)

const accepted = "accepted"

// refusal prepares a request and returns the message of its refusal, or accepted.
func refusal(t *testing.T, r *expr.Request) string {
	t.Helper()
	if _, err := expr.NewParser().Prepare(r); err != nil {
		return message(err)
	}
	return accepted
}

func deepValue(levels int) dynamo.Value {
	v := dynamo.S("leaf")
	for range levels - 1 {
		v = dynamo.M(map[string]dynamo.Value{"n": v})
	}
	return v
}

func TestLimits(t *testing.T) {
	one := map[string]dynamo.Value{":v": dynamo.Int(1)}
	pad := func(text string, length int) string {
		return strings.Replace(text, " ", strings.Repeat(" ", length-len(text)+1), 1)
	}
	joined := func(count int, part, by string) string {
		return strings.TrimSuffix(strings.Repeat(part+by, count), by)
	}
	tooLong := func(kind string) string {
		return "Invalid " + kind + ": Expression size has exceeded the maximum allowed size; " +
			"expression size: 4097"
	}
	tooMany := "Invalid ConditionExpression: The expression contains too many operators; " +
		"operator count: 301"
	nesting := "Nesting Levels have exceeded supported limits: Attributes in the item have " +
		"nested levels beyond supported limit"
	for _, test := range []struct {
		name    string
		request expr.Request
		want    string
	}{
		{"condition of 4096 bytes", expr.Request{
			Condition: pad("a = :v", 4096), Values: one}, accepted},
		{"condition of 4097 bytes", expr.Request{
			Condition: pad("a = :v", 4097), Values: one}, tooLong("ConditionExpression")},
		{"filter of 4097 bytes", expr.Request{
			Filter: pad("a = :v", 4097), Values: one}, tooLong("FilterExpression")},
		{"key condition of 4097 bytes", expr.Request{
			KeyCondition: pad("a = :v", 4097), Values: one}, tooLong("KeyConditionExpression")},
		{"update of 4097 bytes", expr.Request{
			Update: pad("SET a = :v", 4097), Values: one}, tooLong("UpdateExpression")},
		{"projection of 4097 bytes", expr.Request{
			Projection: pad("a, b", 4097)}, tooLong("ProjectionExpression")},
		{"size comes before syntax", expr.Request{
			Condition: strings.Repeat("(", 4097)}, tooLong("ConditionExpression")},

		{"300 operators and a function that does not count", expr.Request{
			Condition: joined(150, "a<b", " or ") + " or attribute_exists(c)",
		}, accepted},
		{"300 operators and a NOT", expr.Request{
			Condition: joined(150, "a<b", " or ") + " or not attribute_exists(c)",
		}, tooMany},
		{"301 operators", expr.Request{
			Condition: joined(151, "a<b", " or ")}, tooMany},
		{"many more operators", expr.Request{
			Condition: joined(455, "a<b", " or ")}, tooMany},
		{"301 nested operators", expr.Request{
			Condition: strings.Repeat("a<b or (", 150) + "a<b" + strings.Repeat(")", 150),
		}, tooMany},
		{"299 nested operators", expr.Request{
			Condition: strings.Repeat("a<b or (", 149) + "a<b" + strings.Repeat(")", 149),
		}, accepted},
		{"301 NOTs", expr.Request{
			Condition: strings.Repeat("not ", 300) + "a<b"}, tooMany},
		{"150 BETWEENs whose AND does not count", expr.Request{
			Condition: joined(150, "a between b and c", " or ")}, accepted},
		{"151 BETWEENs", expr.Request{
			Condition: joined(151, "a between b and c", " or ")}, tooMany},

		{"IN with 100 operands", expr.Request{
			Condition: "b IN (" + joined(100, "a", ",") + ")"}, accepted},
		{"IN with 101 operands", expr.Request{
			Condition: "b IN (" + joined(101, "a", ",") + ")"},
			"Invalid ConditionExpression: The IN operator is provided with too many operands; " +
				"number of operands: 101"},

		{"value of 32 levels", expr.Request{
			Condition: "a = :v", Values: map[string]dynamo.Value{":v": deepValue(32)}}, accepted},
		{"value of 33 levels", expr.Request{
			Condition: "a = :v", Values: map[string]dynamo.Value{":v": deepValue(33)}}, nesting},
		{"value of very many levels", expr.Request{
			Condition: "a = :v",
			Values:    map[string]dynamo.Value{":v": deepValue(100_000)},
		}, nesting},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refusal(t, &test.request); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLimitsOfPlaceholders(t *testing.T) {
	name := func(length int) string { return "#" + strings.Repeat("n", length-1) }
	value := func(length int) string { return ":" + strings.Repeat("v", length-1) }
	long := strings.Repeat("x", expr.AttributeNameMax)
	for _, test := range []struct {
		name, placeholder, attribute, value, want string
		size                                      int
	}{
		{"255 bytes", name(255), "a", value(255), accepted, 1},
		{"a name of 256 bytes", name(256), "a", value(255),
			"ExpressionAttributeNames contains invalid key: The expression attribute map " +
				"contains a key that is too long; size of key: 256", 1},
		{"a value of 256 bytes", name(255), "a", value(256),
			"ExpressionAttributeValues contains invalid key: The expression attribute map " +
				"contains a key that is too long; size of key: 256", 1},
		{"an attribute name of 65535 bytes", "#n", long, ":v", accepted, 1},
		{"an attribute name of 65536 bytes", "#n", long + "x", ":v",
			"ExpressionAttributeNames contains invalid value: Attribute name is too large, " +
				"must be less than 65536 bytes for key #n", 1},
		{"2 MB in all", "#n", "a", ":v", accepted, 2<<20 - len("#n") - len("a") - len(":v")},
		{"2 MB and one byte", "#n", "a", ":v", "ExpressionAttributeValues exceeds max size",
			2<<20 - len("#n") - len("a") - len(":v") + 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := refusal(t, &expr.Request{
				Condition: test.placeholder + " = " + test.value,
				Names:     map[string]string{test.placeholder: test.attribute},
				Values: map[string]dynamo.Value{
					test.value: dynamo.S(strings.Repeat("x", test.size)),
				},
			})
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestHostileNesting prepares the deepest texts that fit. A parser whose recursion had no bound
// would not survive them; a wrong message would mean that it gave up early.
func TestHostileNesting(t *testing.T) {
	repeat := func(count int, open, middle, closing string) string {
		return strings.Repeat(open, count) + middle + strings.Repeat(closing, count)
	}
	const condition, update = "Invalid ConditionExpression: ", "Invalid UpdateExpression: "
	for _, test := range []struct {
		name    string
		request expr.Request
		want    string
	}{
		{"open parentheses", expr.Request{Condition: repeat(4096, "(", "", "")},
			condition + `Syntax error; token: "<EOF>", near: "("`},
		{"parentheses around a condition", expr.Request{Condition: repeat(2045, "(", "a<b", ")")},
			condition + "The expression has redundant parentheses;"},
		{"parentheses around an operand",
			expr.Request{Condition: repeat(2045, "(", "a", ")") + "<b"},
			condition + "The expression has redundant parentheses;"},
		{"NOTs", expr.Request{Condition: strings.Repeat("not ", 1000) + "a<b"},
			condition + "The expression contains too many operators; operator count: 301"},
		{"unknown functions", expr.Request{Condition: "a<" + repeat(1360, "f(", "b", ")")},
			condition + "Invalid function name; function: f"},
		{"sizes of sizes", expr.Request{Condition: "a<" + repeat(680, "size(", "b", ")")},
			condition + "Incorrect operand type for operator or function; operator or " +
				"function: size, operand type: N"},
		{"an update's parentheses", expr.Request{Update: "SET a=" + repeat(2040, "(", "b", ")")},
			update + "The expression has redundant parentheses;"},
		{"if_not_exists",
			expr.Request{Update: "SET a=" + repeat(220, "if_not_exists(a,", "b", ")")},
			accepted},
		{"a path", expr.Request{Projection: "a" + strings.Repeat(".b", 2040)},
			"Invalid ProjectionExpression: The document path has too many nesting levels; " +
				"nesting levels: 2041"},
		{"indexes", expr.Request{Projection: "a" + strings.Repeat("[0]", 1300)},
			"Invalid ProjectionExpression: The document path has too many nesting levels; " +
				"nesting levels: 1301"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refusal(t, &test.request); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestUpdateRefusesWhatNestsTooDeep(t *testing.T) {
	prepared, err := expr.NewParser().Prepare(&expr.Request{
		Update: "SET a.n = :v", Values: map[string]dynamo.Value{":v": deepValue(32)},
	})
	if err != nil {
		t.Fatal(err)
	}
	old := dynamo.Item{"a": dynamo.M(nil)}
	want := "Nesting Levels have exceeded supported limits: Attributes in the item have nested " +
		"levels beyond supported limit"
	if _, err = prepared.Update.Apply(old); err == nil || message(err) != want {
		t.Errorf("32 levels below an attribute: %v, want %q", err, want)
	}
	prepared, err = expr.NewParser().Prepare(&expr.Request{
		Update: "SET a.n = :v", Values: map[string]dynamo.Value{":v": deepValue(31)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = prepared.Update.Apply(old); err != nil {
		t.Errorf("31 levels below an attribute: %v", err)
	}
}

func TestManyOperandsAreFast(t *testing.T) {
	// Each of these texts is about as long as one may be; quadratic work would show.
	var targets []string
	values := map[string]dynamo.Value{}
	for i := range 400 {
		targets = append(targets, fmt.Sprintf("a%d=:%d", i, i))
		values[fmt.Sprintf(":%d", i)] = dynamo.Int(int64(i))
	}
	prepared, err := expr.NewParser().Prepare(&expr.Request{
		Update: "SET " + strings.Join(targets, ","), Values: values,
	})
	if err != nil {
		t.Fatal(err)
	}
	item, err := prepared.Update.Apply(dynamo.Item{})
	if err != nil || len(item) != len(targets) {
		t.Fatalf("%d attributes, %v; want %d", len(item), err, len(targets))
	}
}

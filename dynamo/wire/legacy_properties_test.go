package wire_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

// TestLegacyConditionsMeanWhatTheySay compares filters and Expected on random items with what the
// words of the conditions mean.
func TestLegacyConditionsMeanWhatTheySay(t *testing.T) {
	client := clientOf(wire.NewHandler(openStore(t), wire.Options{}))
	ctx := context.Background()
	key := keyOf("p", "s")
	rapid.Check(t, func(rt *rapid.T) {
		item := dynamo.Item{"pk": dynamo.S("p"), "sk": dynamo.S("s")}
		for _, name := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(rt, "has "+name) {
				item[name] = anyValue(rt, name)
			}
		}
		put := attributes{}
		for name, v := range item {
			put[name] = sdkValue(v)
		}
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: put})
		if err != nil {
			rt.Fatal(err)
		}
		conditions := map[string]condition{}
		for _, name := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(rt, "condition of "+name) {
				conditions[name] = anyCondition(rt, name)
			}
		}
		scan := &dynamodb.ScanInput{TableName: table, ScanFilter: map[string]types.Condition{}}
		update := &dynamodb.UpdateItemInput{
			TableName: table, Key: key, Expected: map[string]types.ExpectedAttributeValue{},
		}
		want, some := true, false
		for name, c := range conditions {
			scan.ScanFilter[name] = types.Condition{
				ComparisonOperator: c.operator, AttributeValueList: c.list(),
			}
			update.Expected[name] = types.ExpectedAttributeValue{
				ComparisonOperator: c.operator, AttributeValueList: c.list(),
			}
			holds := c.holds(item[name])
			want, some = want && holds, some || holds
		}
		if len(conditions) > 1 && rapid.Bool().Draw(rt, "or") {
			scan.ConditionalOperator, update.ConditionalOperator = "OR", "OR"
			want = some
		}
		out, err := client.Scan(ctx, scan)
		if err != nil {
			rt.Fatalf("%v: %v", conditions, err)
		}
		if got := out.Count == 1; got != want {
			rt.Errorf("filter %v of %v: got %v, want %v", conditions, item, got, want)
		}
		_, err = client.UpdateItem(ctx, update)
		var failed *types.ConditionalCheckFailedException
		if err != nil && !errors.As(err, &failed) {
			rt.Fatalf("%v: %v", conditions, err)
		}
		if got := err == nil; got != want {
			rt.Errorf("expected %v of %v: got %v, want %v", conditions, item, got, want)
		}
	})
}

type condition struct {
	operator types.ComparisonOperator
	values   []dynamo.Value
}

func (c condition) list() []types.AttributeValue {
	var out []types.AttributeValue
	for _, v := range c.values {
		out = append(out, sdkValue(v))
	}
	return out
}

// holds is the meaning of a condition by the documentation of the legacy parameters.
func (c condition) holds(v dynamo.Value) bool {
	switch {
	case c.operator == "NULL":
		return v.IsAbsent()
	case v.IsAbsent():
		return c.operator == "NE"
	case c.operator == "NOT_NULL":
		return true
	}
	order, ordered := v.Compare(c.values[0])
	switch c.operator {
	case "EQ":
		return v.Equal(c.values[0])
	case "NE":
		return !v.Equal(c.values[0])
	case "LT":
		return ordered && order < 0
	case "LE":
		return ordered && order <= 0
	case "GT":
		return ordered && order > 0
	case "GE":
		return ordered && order >= 0
	case "BETWEEN":
		upper, _ := v.Compare(c.values[1])
		return ordered && order >= 0 && upper <= 0
	case "IN":
		return slices.ContainsFunc(c.values, v.Equal)
	case "BEGINS_WITH":
		return v.Kind() == c.values[0].Kind() &&
			strings.HasPrefix(v.S()+string(v.B()), c.values[0].S()+string(c.values[0].B()))
	case "CONTAINS":
		return holdsIn(v, c.values[0])
	case "NOT_CONTAINS":
		return !holdsIn(v, c.values[0])
	}
	panic("no such operator: " + c.operator)
}

func holdsIn(whole, part dynamo.Value) bool {
	switch whole.Kind() {
	case dynamo.KindS:
		return part.Kind() == dynamo.KindS && strings.Contains(whole.S(), part.S())
	case dynamo.KindB:
		return part.Kind() == dynamo.KindB &&
			strings.Contains(string(whole.B()), string(part.B()))
	case dynamo.KindSS:
		return part.Kind() == dynamo.KindS && slices.Contains(whole.SS(), part.S())
	case dynamo.KindNS:
		return part.Kind() == dynamo.KindN && slices.Contains(whole.NS(), part.N())
	case dynamo.KindL:
		return slices.ContainsFunc(whole.L(), part.Equal)
	}
	return false
}

// The values are few, so that they meet.
func scalar(rt *rapid.T, kind dynamo.Kind, what string) dynamo.Value {
	switch kind {
	case dynamo.KindN:
		return dynamo.CanonicalN(rapid.SampledFrom([]string{"-1", "0", "1", "1.5", "10"}).Draw(rt,
			what))
	case dynamo.KindB:
		return dynamo.B([]byte(rapid.StringOfN(rapid.RuneFrom([]rune("xy")), 1, 3, -1).Draw(rt,
			what)))
	}
	return dynamo.S(rapid.StringOfN(rapid.RuneFrom([]rune("xy")), 1, 3, -1).Draw(rt, what))
}

var scalars = []dynamo.Kind{dynamo.KindS, dynamo.KindN, dynamo.KindB}

func anyValue(rt *rapid.T, what string) dynamo.Value {
	kind := rapid.SampledFrom(append(scalars, dynamo.KindBOOL, dynamo.KindNULL, dynamo.KindSS,
		dynamo.KindNS, dynamo.KindL)).Draw(rt, "kind of "+what)
	switch kind {
	case dynamo.KindBOOL:
		return dynamo.Bool(rapid.Bool().Draw(rt, what))
	case dynamo.KindNULL:
		return dynamo.Null()
	case dynamo.KindSS:
		return dynamo.SS(scalar(rt, dynamo.KindS, what).S())
	case dynamo.KindNS:
		return dynamo.NS(scalar(rt, dynamo.KindN, what).N())
	case dynamo.KindL:
		return dynamo.L(scalar(rt, dynamo.KindN, what), scalar(rt, dynamo.KindS, what))
	}
	return scalar(rt, kind, what)
}

func anyCondition(rt *rapid.T, what string) condition {
	c := condition{operator: rapid.SampledFrom(types.ComparisonOperator("").Values()).Draw(rt,
		"operator of "+what)}
	kind := rapid.SampledFrom(scalars).Draw(rt, "kind of "+what)
	switch c.operator {
	case "NULL", "NOT_NULL":
	case "EQ", "NE":
		c.values = []dynamo.Value{anyValue(rt, what)}
	case "BETWEEN":
		c.values = []dynamo.Value{scalar(rt, kind, "low"), scalar(rt, kind, "high")}
		if order, _ := c.values[0].Compare(c.values[1]); order > 0 {
			slices.Reverse(c.values)
		}
	case "IN":
		for range rapid.IntRange(1, 3).Draw(rt, "how many") {
			c.values = append(c.values, scalar(rt, kind, what))
		}
	case "BEGINS_WITH":
		kind = rapid.SampledFrom([]dynamo.Kind{dynamo.KindS, dynamo.KindB}).Draw(rt, "kind")
		c.values = []dynamo.Value{scalar(rt, kind, what)}
	default:
		c.values = []dynamo.Value{scalar(rt, kind, what)}
	}
	return c
}

func sdkValue(v dynamo.Value) types.AttributeValue {
	switch v.Kind() {
	case dynamo.KindS:
		return text(v.S())
	case dynamo.KindN:
		return number(v.N())
	case dynamo.KindB:
		return &types.AttributeValueMemberB{Value: v.B()}
	case dynamo.KindBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case dynamo.KindNULL:
		return &types.AttributeValueMemberNULL{Value: true}
	case dynamo.KindSS:
		return &types.AttributeValueMemberSS{Value: v.SS()}
	case dynamo.KindNS:
		return &types.AttributeValueMemberNS{Value: v.NS()}
	}
	list := &types.AttributeValueMemberL{}
	for _, e := range v.L() {
		list.Value = append(list.Value, sdkValue(e))
	}
	return list
}

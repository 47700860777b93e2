package dynamo_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// each holds one value of each kind, with its size in bytes.
func each() map[dynamo.Kind]struct {
	value dynamo.Value
	size  int
} {
	type sized = struct {
		value dynamo.Value
		size  int
	}
	return map[dynamo.Kind]sized{
		dynamo.KindS:    {dynamo.S("Māori"), 6},
		dynamo.KindN:    {dynamo.N("-12345"), 5},
		dynamo.KindB:    {dynamo.B([]byte{1, 2, 3}), 3},
		dynamo.KindBOOL: {dynamo.Bool(true), 1},
		dynamo.KindNULL: {dynamo.Null(), 1},
		dynamo.KindL:    {dynamo.L(dynamo.S("ab"), dynamo.Bool(false)), 3 + 1 + 2 + 1 + 1},
		dynamo.KindM:    {dynamo.M(dynamo.Item{"key": dynamo.S("v")}), 3 + 1 + 3 + 1},
		dynamo.KindSS:   {dynamo.SS("a", "bc"), 3},
		dynamo.KindNS:   {dynamo.NS("1", "100.5"), 2 + 4},
		dynamo.KindBS:   {dynamo.BS([]byte("abc"), nil), 3},
	}
}

func TestAValueTellsItsKindAndGivesOnlyThat(t *testing.T) {
	for kind, one := range each() {
		v := one.value
		if v.Kind() != kind || v.IsAbsent() {
			t.Errorf("%v has kind %v", v, v.Kind())
		}
		if dynamo.KindOf(kind.String()) != kind {
			t.Errorf("KindOf(%q) is %v", kind, dynamo.KindOf(kind.String()))
		}
		given := map[dynamo.Kind]bool{
			dynamo.KindS: v.S() != "", dynamo.KindN: v.N() != "", dynamo.KindB: v.B() != nil,
			dynamo.KindBOOL: v.Bool(), dynamo.KindL: v.L() != nil, dynamo.KindM: v.M() != nil,
			dynamo.KindSS: v.SS() != nil, dynamo.KindNS: v.NS() != nil,
			dynamo.KindBS: v.BS() != nil,
		}
		for k, ok := range given {
			if ok != (k == kind) {
				t.Errorf("%v gives something as %v: %v", v, k, ok)
			}
		}
	}
	if kind := dynamo.KindOf("XX"); kind != dynamo.Absent {
		t.Errorf("KindOf(XX) is %v", kind)
	}
}

func TestSizesAreToTheByte(t *testing.T) {
	total, item := 0, dynamo.Item{}
	for kind, one := range each() {
		if got := one.value.Size(); got != one.size {
			t.Errorf("%v has size %d, want %d", one.value, got, one.size)
		}
		item[kind.String()] = one.value
		total += len(kind.String()) + one.size
	}
	if item.Size() != total {
		t.Errorf("the item has size %d, want %d", item.Size(), total)
	}
	if size := unsafe.Sizeof(dynamo.Value{}); size != 24 {
		t.Errorf("a Value takes %d bytes, its documentation says 24", size)
	}
}

func named(name string, v dynamo.Value) dynamo.Value { return dynamo.M(dynamo.Item{name: v}) }

func TestEqualFollowsTheService(t *testing.T) {
	n := dynamo.N
	tests := map[string]struct {
		a, b dynamo.Value
		want bool
	}{
		"numbers by value":         {n("1.0"), n("1"), true},
		"a number is no string":    {n("1"), dynamo.S("1"), false},
		"sets without order":       {dynamo.SS("a", "b"), dynamo.SS("b", "a"), true},
		"number sets by value":     {dynamo.NS("1", "2.0"), dynamo.NS("2", "1.00"), true},
		"binary sets":              {dynamo.BS([]byte("a")), dynamo.BS([]byte("b")), false},
		"lists in order":           {dynamo.L(n("1"), n("2")), dynamo.L(n("2"), n("1")), false},
		"lists all through":        {dynamo.L(n("1e1")), dynamo.L(n("10")), true},
		"maps all through":         {named("a", n("1")), named("a", n("1.0")), true},
		"maps with other names":    {named("a", n("1")), named("b", n("1")), false},
		"null":                     {dynamo.Null(), dynamo.Null(), true},
		"booleans":                 {dynamo.Bool(true), dynamo.Bool(false), false},
		"absent equals nothing":    {dynamo.Value{}, dynamo.Value{}, false},
		"a set is not its element": {dynamo.SS("a"), dynamo.S("a"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.a.Equal(tt.b); got != tt.want {
				t.Errorf("%v = %v is %v", tt.a, tt.b, got)
			}
			if got := tt.b.Equal(tt.a); got != tt.want {
				t.Errorf("%v = %v is %v", tt.b, tt.a, got)
			}
		})
	}
}

func TestOnlyStringsNumbersAndBinariesAreOrdered(t *testing.T) {
	for kind, one := range each() {
		_, ok := one.value.Compare(one.value)
		want := kind == dynamo.KindS || kind == dynamo.KindN || kind == dynamo.KindB
		if ok != want {
			t.Errorf("%v can be ordered: %v", kind, ok)
		}
	}
	if order, ok := dynamo.Int(9).Compare(dynamo.Int(10)); !ok || order >= 0 {
		t.Errorf("9 against 10: %d, %v", order, ok)
	}
	if order, ok := dynamo.S("9").Compare(dynamo.S("10")); !ok || order <= 0 {
		t.Errorf("\"9\" against \"10\": %d, %v", order, ok)
	}
	if _, ok := dynamo.S("1").Compare(dynamo.Int(1)); ok {
		t.Error("a string and a number were ordered")
	}
}

func TestStringIsDynamoDBsNotation(t *testing.T) {
	item := dynamo.Item{"b": dynamo.L(dynamo.Null(), dynamo.Bool(true)), "a": dynamo.NS("1", "2")}
	want := `{"a":{"NS":["1","2"]},"b":{"L":[{"NULL":true},{"BOOL":true}]}}`
	if got := item.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := dynamo.B(make([]byte, 5)).String(); !strings.Contains(got, "5 bytes") {
		t.Errorf("binary is %s", got)
	}
}

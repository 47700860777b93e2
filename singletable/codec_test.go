package singletable_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	st "github.com/exchequer-dev/exchequer/singletable"
)

type (
	colour string
	cents  int64
	// version is text that is not a string.
	version struct{ Major, Minor int }
	inner   struct {
		Name  string `dynamodbav:"name"`
		Count *int   `dynamodbav:"count,omitempty"`
		Next  *inner `dynamodbav:"next,omitempty"`
	}
	base struct {
		ID      string
		Created time.Time
	}
	everything struct {
		base
		Text     string
		Colour   colour
		Int      int
		Int8     int8
		Uint64   uint64
		Cents    cents
		Flag     bool
		Raw      []byte
		At       time.Time `dynamodbav:",seconds"`
		Day      time.Time `dynamodbav:",day"`
		Epoch    time.Time `dynamodbav:"ttl,unixtime"`
		Never    time.Time
		Maybe    *string
		Nothing  *string
		Names    []colour
		Pointers []*int
		Table    map[colour]int
		Nested   inner
		List     []inner
		Set      []string    `dynamodbav:",stringset"`
		Numbers  []st.Number `dynamodbav:",numberset"`
		Blobs    [][]byte    `dynamodbav:",binaryset"`
		Empty    []string    `dynamodbav:",stringset"`
		Any      any
		Exact    st.Number
		Version  version
		Value    dynamo.Value
		Ignored  string `dynamodbav:"-"`
		Blank    string `dynamodbav:",omitempty"`
		Zero     int    `dynamodbav:",omitempty"`
	}
)

func (v version) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "v%d.%d", v.Major, v.Minor), nil
}

func (v *version) UnmarshalText(b []byte) error {
	_, err := fmt.Sscanf(string(b), "v%d.%d", &v.Major, &v.Minor)
	return err
}

func newEverything() (*st.Table, *st.Entity[everything]) {
	table := st.NewTable("everything", st.Keys("PK"))
	return table, st.NewEntity[everything](table, "Everything", st.Primary("X#<ID>#<Version>"))
}

func fullOfEverything() everything {
	seven, word := 7, "word"
	return everything{
		base: base{ID: "1", Created: opened}, Text: "", Colour: "red", Int: -3, Int8: -128,
		Uint64: 1<<64 - 1, Cents: 1 << 60, Flag: true, Raw: []byte{0, 1},
		At: opened.Truncate(time.Second), Day: opened.Truncate(24 * time.Hour),
		Epoch: opened.Truncate(time.Second), Maybe: &word, Names: []colour{"red", ""},
		Pointers: []*int{&seven, nil}, Table: map[colour]int{"red": 1},
		Nested: inner{Name: "outer", Next: &inner{Name: "inner", Count: &seven}},
		List:   []inner{{Name: "a"}}, Set: []string{"x", "y"}, Numbers: []st.Number{"1", "2.5"},
		Blobs: [][]byte{{1}, {2}},
		Any:   map[string]any{"list": []any{"a", true, nil, st.Number("1.50")}},
		Exact: "-0.000000000000000000000000000000000001", Version: version{1, 2},
		Value: dynamo.Bool(true),
	}
}

func TestEveryTypeComesBackAsItWas(t *testing.T) {
	table, e := newEverything()
	s, _ := openTables(t, table)
	ctx := context.Background()
	want := fullOfEverything()
	if err := e.Create(ctx, s, want); err != nil {
		t.Fatal(err)
	}
	got, found, err := e.Get(ctx, s, everything{base: base{ID: "1"}, Version: version{1, 2}})
	if err != nil || !found {
		t.Fatal(found, err)
	}
	want.Any = map[string]any{"list": []any{"a", true, nil, st.Number("1.5")}}
	opts := cmp.Options{cmp.AllowUnexported(everything{}, base{}),
		cmp.Comparer(func(a, b dynamo.Value) bool { return a.Equal(b) })}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Error(diff)
	}
}

func TestAttributesAreStoredAsDocumented(t *testing.T) {
	_, e := newEverything()
	item, err := e.Item(fullOfEverything())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"PK": `{"S":"X#1#v1.2"}`, "ID": `{"S":"1"}`, "Created": `{"S":"2026-01-02T10:30:00.123Z"}`,
		"Text": `{"S":""}`, "Colour": `{"S":"red"}`, "Uint64": `{"N":"18446744073709551615"}`,
		"At": `{"S":"2026-01-02T10:30:00Z"}`, "Day": `{"S":"2026-01-02"}`,
		"ttl": `{"N":"1767349800"}`, "Maybe": `{"S":"word"}`,
		"Pointers": `{"L":[{"N":"7"},{"NULL":true}]}`,
		"Table":    `{"M":{"red":{"N":"1"}}}`, "Set": `{"SS":["x","y"]}`,
		"Numbers": `{"NS":["1","2.5"]}`,
		"Nested":  `{"M":{"name":{"S":"outer"},"next":{"M":{"count":{"N":"7"},"name":{"S":"inner"}}}}}`,
		"Version": `{"S":"v1.2"}`, "Value": `{"BOOL":true}`,
	} {
		if got := item[name].String(); got != want {
			t.Errorf("%s is stored as %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"Never", "Nothing", "Empty", "Ignored", "Blank", "Zero"} {
		if v, ok := item[name]; ok {
			t.Errorf("%s is stored as %s", name, v)
		}
	}
}

func TestStoredValuesOfTheWrongTypeNameTheAttribute(t *testing.T) {
	_, e := newEverything()
	item, err := e.Item(fullOfEverything())
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]dynamo.Value{
		"Text": dynamo.Int(1), "Int8": dynamo.Int(300), "Int": dynamo.N("1.5"),
		"At":  dynamo.S("noon"),
		"Set": dynamo.L(), "Flag": dynamo.S("true"), "Uint64": dynamo.Int(-1),
		"Nested": dynamo.M(map[string]dynamo.Value{"name": dynamo.Int(1)}),
		"Names":  dynamo.L(dynamo.Int(1)),
	} {
		bad := item.Clone()
		bad[name] = v
		if _, err := e.Decode(bad); err == nil || !strings.Contains(err.Error(),
			"attribute "+name) {
			t.Errorf("%s=%s says %v", name, v, err)
		}
	}
	keyed := item.Clone()
	keyed["Version"] = dynamo.S("1") // It is part of the primary key, which decides.
	if v, err := e.Decode(keyed); err != nil || v.Version != fullOfEverything().Version {
		t.Errorf("a field of the primary key is %v, %v", v.Version, err)
	}
	null := item.Clone()
	null["Text"], null["Unknown"] = dynamo.Null(), dynamo.S("x")
	if _, err := e.Decode(null); err != nil {
		t.Errorf("a NULL and an unknown attribute say %v", err)
	}
}

func TestTypesThatCannotBeStoredAreProblems(t *testing.T) {
	type nested struct{ Rate float32 }
	type bad struct {
		ID    string
		F     float64
		C     chan int
		M     map[int]string
		Deep  []nested
		Same1 string `dynamodbav:"same"`
		Same2 string `dynamodbav:"same"`
		Odd   string `dynamodbav:"odd,omitemtpy"`
		Set   []bool `dynamodbav:",stringset"`
	}
	table := st.NewTable("bad", st.Keys("PK"))
	e := st.NewEntity[bad](table, "Bad", st.Primary("X#<ID>"))
	_, err := e.Item(bad{ID: "1"})
	var model *st.ModelError
	if !errors.As(err, &model) {
		t.Fatal(err)
	}
	for _, want := range []string{"field F: a float", "field C: values of type chan int",
		"field M: the keys of a map must be strings", "field Deep: field Rate: a float",
		"two fields have the attribute same", `field Odd: unknown tag option "omitemtpy"`,
		"field Set: bool cannot be the element of a set"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no problem %q in %v", want, err)
		}
	}
}

func TestNumbersKeepTheirDigitsInJSON(t *testing.T) {
	var n st.Number
	if err := json.Unmarshal([]byte(`"12345678901234567890.123456789"`), &n); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(n)
	if err != nil || string(out) != "12345678901234567890.123456789" {
		t.Error(string(out), err)
	}
	if err := json.Unmarshal([]byte(`"x"`), &n); err == nil {
		t.Error("x is a number")
	}
}

package row_test

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
)

func every() dynamo.Item {
	return dynamo.Item{
		"s": dynamo.S("text"), "empty": dynamo.S(""), "n": dynamo.CanonicalN("-12.5"),
		"b": dynamo.B([]byte{0, 1, 2}), "t": dynamo.Bool(true), "f": dynamo.Bool(false),
		"null": dynamo.Null(), "l": dynamo.L(dynamo.S("a"), dynamo.L(), dynamo.Int(7)),
		"m":  dynamo.M(map[string]dynamo.Value{"x": dynamo.Null(), "": dynamo.Int(1)}),
		"ss": dynamo.SS("a", "b"), "ns": dynamo.NS("1", "2"), "bs": dynamo.BS([]byte("x"), nil),
	}
}

func TestRowsKeepEveryType(t *testing.T) {
	item := every()
	raw := row.Append(nil, item, item.Size())
	v, err := row.NewView(raw)
	if err != nil {
		t.Fatal(err)
	}
	if v.Size() != item.Size() {
		t.Errorf("size %d, want %d", v.Size(), item.Size())
	}
	got, err := v.Item()
	if err != nil || !got.Equal(item) {
		t.Fatalf("got %v, %v\nwant %v", got, err, item)
	}
	for name, want := range item {
		if one, ok := v.Attribute(name); !ok || !one.Equal(want) || !one.Checked() {
			t.Errorf("attribute %s is %v, %v", name, one, ok)
		}
	}
	if _, ok := v.Attribute("missing"); ok {
		t.Error("found an attribute that is not there")
	}
}

func TestATruncatedRowIsReported(t *testing.T) {
	item := every()
	raw := row.Append(nil, item, item.Size())
	for n := range len(raw) - 1 {
		v, err := row.NewView(raw[:n])
		if err != nil {
			continue
		}
		if got, err := v.Item(); v.Exists() && !errors.Is(err, row.ErrCorrupt) {
			t.Fatalf("%d of %d bytes decoded to %v, %v", n, len(raw), got, err)
		}
		if _, err := v.With(nil); v.Exists() && !errors.Is(err, row.ErrCorrupt) {
			t.Fatalf("%d of %d bytes were changed: %v", n, len(raw), err)
		}
	}
}

// TestChangesOfTheEncodedItemAreThoseOfTheItem compares With to decoding, changing and encoding.
func TestChangesOfTheEncodedItemAreThoseOfTheItem(t *testing.T) {
	values := every()
	names := slices.Sorted(maps.Keys(values))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string, most int) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, most, rapid.ID).
				Draw(t, label)
		}
		old := dynamo.Item{"key": dynamo.S("always")}
		for _, name := range draw("attributes", len(names)) {
			old[name] = values[rapid.SampledFrom(names).Draw(t, "value")]
		}
		for i := range rapid.SampledFrom([]int{0, 150}).Draw(t, "more") {
			old["more"+strconv.Itoa(i)] = dynamo.Int(int64(i)) // a count of two bytes
		}
		want := old.Clone()
		var changes []row.Change
		for _, name := range draw("changed", 5) {
			v := values[rapid.SampledFrom(names).Draw(t, "value")]
			want[name] = v
			if rapid.Bool().Draw(t, "removed") {
				v = dynamo.Value{}
				delete(want, name)
			}
			changes = append(changes, row.Change{Name: name, Value: v})
		}
		v, err := row.NewView(row.Append(nil, old, old.Size()))
		if err != nil {
			t.Fatal(err)
		}
		if v, err = v.With(changes); err != nil {
			t.Fatal(err)
		}
		again, err := row.NewView(v.Append(nil))
		if err != nil || again != v {
			t.Fatalf("the row of the view is another one: %v", err)
		}
		got, err := v.Item()
		if err != nil || !got.Equal(want) || v.Size() != want.Size() {
			t.Fatalf("got %v of size %d, %v\nwant %v of size %d", got, v.Size(), err, want,
				want.Size())
		}
	})
}

func FuzzAnyBytesDecodeOrFail(f *testing.F) {
	f.Add(row.Append(nil, every(), every().Size()))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := row.NewView(raw)
		if err != nil {
			return
		}
		item, err := v.Item()
		if err != nil {
			return
		}
		for name := range item {
			v.Attribute(name)
		}
	})
}

// BenchmarkWith changes three of the eleven attributes of an account, as each payment does.
func BenchmarkWith(b *testing.B) {
	item := dynamo.Item{
		"PK": dynamo.S("ACCOUNT#7f3c9d1e"), "SK": dynamo.S("METADATA"),
		"GSI1PK": dynamo.S("USER#1"), "GSI1SK": dynamo.S("ACCOUNT#7f3c9d1e"),
		"AccountID": dynamo.S("7f3c9d1e"), "UserID": dynamo.S("1"),
		"Balance": dynamo.CanonicalN("150.25"), "Currency": dynamo.S("USD"),
		"Status": dynamo.S("active"), "Version": dynamo.Int(7),
		"LastPostedAt": dynamo.S("2026-01-02T10:30:00.123Z"),
	}
	changes := []row.Change{{Name: "Balance", Value: dynamo.CanonicalN("150.5")},
		{Name: "Version", Value: dynamo.Int(8)},
		{Name: "LastPostedAt", Value: dynamo.S("2026-01-02T10:30:01.123Z")}}
	v, _ := row.NewView(row.Append(nil, item, item.Size()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.With(changes); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	item := dynamo.Item{
		"PK": dynamo.S("ACCOUNT#1"), "SK": dynamo.S("METADATA"), "Balance": dynamo.Int(15000),
		"Currency": dynamo.S("USD"), "Status": dynamo.S("active"), "Version": dynamo.Int(7),
	}
	raw := row.Append(nil, item, item.Size())
	b.ReportAllocs()
	for b.Loop() {
		v, _ := row.NewView(raw)
		if _, err := v.Item(); err != nil {
			b.Fatal(err)
		}
	}
}

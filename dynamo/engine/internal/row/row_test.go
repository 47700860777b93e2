package row_test

import (
	"errors"
	"testing"

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
	}
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

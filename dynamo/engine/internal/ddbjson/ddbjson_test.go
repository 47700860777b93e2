package ddbjson_test

import (
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/ddbjson"
)

var every = dynamo.Item{
	"s": dynamo.S("a \"quote\" <&> ü \u2028 \n"), "empty": dynamo.S(""),
	"n": dynamo.N("-12.5"), "b": dynamo.B([]byte{0, 255}), "t": dynamo.Bool(true),
	"f": dynamo.Bool(false), "null": dynamo.Null(), "l": dynamo.L(dynamo.S("x"), dynamo.L()),
	"m":  dynamo.M(map[string]dynamo.Value{"": dynamo.N("1"), "deep": dynamo.M(nil)}),
	"ss": dynamo.SS("a", "b"), "ns": dynamo.NS("1", "2.5"), "bs": dynamo.BS([]byte{1}, []byte{}),
}

func TestItemsComeBackAsTheyWere(t *testing.T) {
	text := ddbjson.AppendItem(nil, every)
	got, err := ddbjson.Item(text)
	if err != nil || !got.Equal(every) {
		t.Errorf("%s\nbecame %v, %v", text, got, err)
	}
	if again := ddbjson.AppendItem(nil, got); string(again) != string(text) {
		t.Errorf("the same item is written as\n%s\nand\n%s", text, again)
	}
}

func TestWhatIsNoItemIsRefused(t *testing.T) {
	for _, text := range []string{
		``, `1`, `[]`, `{`, `{"a":1}`, `{"a":{}}`, `{"a":{"S":1}}`, `{"a":{"N":1}}`,
		`{"a":{"X":"1"}}`, `{"a":{"S":"1","N":"1"}}`, `{"a":{"NULL":false}}`, `{"a":{"B":"*"}}`,
		`{"a":{"L":{}}}`, `{"a":{"M":[]}}`, `{"a":{"S":"1"},"a":{"S":"2"}}`, `{} {}`,
		`{"a":` + strings.Repeat(`{"L":[`, 1000),
		`{"a":` + strings.Repeat(`{"M":{"a":`, 100_000),
	} {
		if item, err := ddbjson.Item([]byte(text)); err == nil {
			t.Errorf("%.60s is read as %v", text, item)
		}
	}
}

func FuzzItem(f *testing.F) {
	f.Add(string(ddbjson.AppendItem(nil, every)))
	f.Fuzz(func(t *testing.T, text string) {
		item, err := ddbjson.Item([]byte(text))
		if err != nil {
			return
		}
		written := ddbjson.AppendItem(nil, item)
		again, err := ddbjson.Item(written)
		if err != nil {
			t.Fatalf("%s is read, written as %s, and refused: %v", text, written, err)
		}
		if string(ddbjson.AppendItem(nil, again)) != string(written) {
			t.Errorf("%s is written in two ways", written)
		}
	})
}

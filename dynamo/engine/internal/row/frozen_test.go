package row_test

import (
	"encoding/hex"
	"maps"
	"slices"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine/internal/row"
	"github.com/exchequer-dev/exchequer/test/frozen"
)

// Rows are on the disks of users, so that no type of value may ever be encoded differently. Each
// sample has one attribute, because the order of several is open.
func TestTheFormatOfRowsIsFrozen(t *testing.T) {
	item := every()
	var samples []frozen.Sample
	for _, name := range slices.Sorted(maps.Keys(item)) {
		one := dynamo.Item{name: item[name]}
		if name == "m" {
			one = dynamo.Item{"m": dynamo.M(map[string]dynamo.Value{"x": dynamo.Null()})}
		}
		raw := row.Append(nil, one, one.Size())
		samples = append(samples, frozen.Sample{
			Name: "v1 " + name, Value: hex.EncodeToString(raw),
		})
	}
	frozen.Check(t, "rows", samples...)
}

// A row of an earlier release is read as what was stored, with its attributes in any order.
func TestAFrozenRowIsRead(t *testing.T) {
	for _, s := range frozen.Read(t, "rows") {
		raw, err := hex.DecodeString(s.Value)
		if err != nil {
			t.Fatal(err)
		}
		view, err := row.NewView(raw)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		got, err := view.Item()
		name := s.Name[len("v1 "):]
		want := every()[name]
		if name == "m" {
			want = dynamo.M(map[string]dynamo.Value{"x": dynamo.Null()})
		}
		if err != nil || len(got) != 1 || !got[name].Equal(want) {
			t.Errorf("%s is read as %v, %v", s.Name, got, err)
		}
	}
}

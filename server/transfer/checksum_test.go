package transfer_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/server/transfer"
)

func checksum(items ...dynamo.Item) string {
	var c transfer.Checksum
	for _, item := range items {
		c.Add(item)
	}
	return c.String()
}

// text draws short strings of few letters, so that those drawn are often equal.
var text = rapid.StringOfN(rapid.SampledFrom([]rune("ab\x00é")), 0, 3, -1)

// digits draws the canonical text of a number.
var digits = rapid.Custom(func(t *rapid.T) string {
	n, err := dynamo.CanonicalNumber(fmt.Sprintf("%de%d", rapid.IntRange(-999, 999).Draw(t, "n"),
		rapid.IntRange(-5, 5).Draw(t, "exponent")))
	if err != nil {
		t.Fatal(err)
	}
	return n
})

// value draws a value of any type, of so many levels at most.
func value(depth int) *rapid.Generator[dynamo.Value] {
	return rapid.Custom(func(t *rapid.T) dynamo.Value {
		kinds := 8
		if depth > 0 {
			kinds = 10
		}
		strings := rapid.SliceOfNDistinct(text, 1, 4, rapid.ID)
		switch rapid.IntRange(1, kinds).Draw(t, "kind") {
		case 1:
			return dynamo.S(text.Draw(t, "s"))
		case 2:
			return dynamo.N(digits.Draw(t, "n"))
		case 3:
			return dynamo.B([]byte(text.Draw(t, "b")))
		case 4:
			return dynamo.Bool(rapid.Bool().Draw(t, "bool"))
		case 5:
			return dynamo.Null()
		case 6:
			return dynamo.SS(strings.Draw(t, "ss")...)
		case 7:
			return dynamo.NS(rapid.SliceOfNDistinct(digits, 1, 4, rapid.ID).Draw(t, "ns")...)
		case 8:
			var all [][]byte
			for _, s := range strings.Draw(t, "bs") {
				all = append(all, []byte(s))
			}
			return dynamo.BS(all...)
		case 9:
			return dynamo.L(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "l")...)
		}
		return dynamo.M(rapid.MapOfN(text, value(depth-1), 0, 3).Draw(t, "m"))
	})
}

func item(t *rapid.T, name string) dynamo.Item {
	return dynamo.Item(rapid.MapOfN(text, value(2), 1, 4).Draw(t, name))
}

// respell returns the same value in another spelling.
func respell(r *rand.Rand, v dynamo.Value) dynamo.Value {
	number := func(n string) string {
		n, whole := "+0"+n, !strings.Contains(n, ".")
		if strings.HasPrefix(n, "+0-") {
			n = "-00" + n[len("+0-"):]
		}
		if whole {
			n += "."
		}
		return n + "00E-0"
	}
	shuffled := func(n int, swap func(i, j int)) { r.Shuffle(n, swap) }
	switch v.Kind() {
	case dynamo.KindN:
		return dynamo.N(number(v.N()))
	case dynamo.KindL:
		all := slices.Clone(v.L())
		for i := range all {
			all[i] = respell(r, all[i])
		}
		return dynamo.L(all...)
	case dynamo.KindM:
		return dynamo.M(respellItem(r, v.M()))
	case dynamo.KindSS:
		all := slices.Clone(v.SS())
		shuffled(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return dynamo.SS(all...)
	case dynamo.KindNS:
		all := slices.Clone(v.NS())
		shuffled(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := range all {
			all[i] = number(all[i])
		}
		return dynamo.NS(all...)
	case dynamo.KindBS:
		all := slices.Clone(v.BS())
		shuffled(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return dynamo.BS(all...)
	}
	return v
}

func respellItem(r *rand.Rand, item map[string]dynamo.Value) dynamo.Item {
	other := make(dynamo.Item, len(item))
	for name, v := range item {
		other[name] = respell(r, v)
	}
	return other
}

func TestSpellingAndOrderDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) dynamo.Item {
			return item(t, "item")
		}), 0, 5).Draw(t, "items")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		other := make([]dynamo.Item, len(items))
		for i, to := range r.Perm(len(items)) {
			other[to] = respellItem(r, items[i])
		}
		if a, b := checksum(items...), checksum(other...); a != b {
			t.Errorf("%v has %s,\n%v has %s", items, a, other, b)
		}
	})
}

// TestEveryDifferenceMatters compares with what DynamoDB calls equal, on items that are often so.
func TestEveryDifferenceMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := item(t, "a"), item(t, "b")
		if rapid.Bool().Draw(t, "one attribute only") {
			names := slices.Sorted(maps.Keys(a))
			b = a.Clone()
			b[rapid.SampledFrom(names).Draw(t, "name")] = value(2).Draw(t, "value")
		}
		if equal := checksum(a) == checksum(b); equal != a.Equal(b) {
			t.Errorf("equal %t, checksums equal %t:\n%v\n%v", a.Equal(b), equal, a, b)
		}
		rest := []dynamo.Item{item(t, "c"), item(t, "d")}
		with := checksum(append(slices.Clone(rest), a)...)
		for name, other := range map[string]string{
			"an item less":  checksum(rest...),
			"an item twice": checksum(append(slices.Clone(rest), a, a)...),
			"another item":  checksum(append(slices.Clone(rest), b)...),
		} {
			if same := with == other; same && (name != "another item" || !a.Equal(b)) {
				t.Errorf("%s has the same checksum", name)
			}
		}
	})
}

// TestChecksumsStay pins the checksum down, for it is compared between versions of the program.
func TestChecksumsStay(t *testing.T) {
	for _, test := range []struct {
		name  string
		items []dynamo.Item
		want  string
	}{
		{"no item", nil, "00000000000000000000000000000000"},
		{"every type", []dynamo.Item{thing(7)}, "c5704ee96f443a359e3006507f448f0a"},
		{"three items", []dynamo.Item{thing(1), thing(2), thing(3)},
			"a10c9e575eeb699095a50534bdb54331"},
	} {
		if got := checksum(test.items...); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

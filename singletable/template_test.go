package singletable_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	st "github.com/exchequer-dev/exchequer/singletable"
)

// Parts has a field of each form that a key can hold; all of them live in the key alone.
type Parts struct {
	A    string    `dynamodbav:",keyonly"`
	B    string    `dynamodbav:",keyonly"`
	N    int64     `dynamodbav:",keyonly"`
	D    st.Number `dynamodbav:",keyonly"`
	T    time.Time `dynamodbav:",keyonly"`
	Flag bool      `dynamodbav:",keyonly"`
	Raw  []byte    `dynamodbav:",keyonly"`
}

func partsEntity(templates ...string) *st.Entity[Parts] {
	return st.NewEntity[Parts](st.NewTable("parts", st.Keys("PK", "SK")), "Parts",
		st.Primary(templates...))
}

// Stored has the same fields as attributes of their own.
type Stored struct {
	A, B string
	N    int64
	D    st.Number
	T    time.Time
	Flag bool
	Raw  []byte
}

func storedEntity(templates ...string) *st.Entity[Stored] {
	return st.NewEntity[Stored](st.NewTable("stored", st.Keys("PK", "SK")), "Stored",
		st.Primary(templates...))
}

// anyText draws text with what could break a key: separators, escapes, the greatest rune.
func anyText() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("ab#%|-/2\x00é\U0010FFFE\U0010FFFF世")), 1, 12, -1)
}

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(-62135596799000, 253402300799999).Draw(t,
			"ms")).UTC()
	})
}

func anyDecimal() *rapid.Generator[st.Number] {
	return rapid.Custom(func(t *rapid.T) st.Number {
		n := rapid.Int64Range(-999_999_999, 999_999_999).Draw(t, "n")
		text := fmt.Sprintf("%d.%02d", n/100, max(n%100, -(n%100)))
		if n < 0 && n > -100 {
			text = "-" + text
		}
		if c, ok := strings.CutSuffix(text, "0"); ok && strings.Contains(c, ".") {
			text = strings.TrimSuffix(strings.TrimRight(c, "0"), ".")
		}
		if text == "-0" {
			text = "0"
		}
		return st.Number(text)
	})
}

func TestKeysGiveBackTheFieldsTheyAreMadeOf(t *testing.T) {
	entities := map[string]*st.Entity[Parts]{
		"hash separators": partsEntity("X#<A>#<B>",
			"<N:int(19)>#<D:decimal(9.2)>#<T>#<Flag>#<Raw>"),
		"other separators": partsEntity("<A>|<B>/x<Raw>",
			"<T:reverse><Flag>:<N:int(19)>,<D>"),
		"micros and layout": partsEntity("<A>#<N>#<T:micros>",
			"<T:layout(20060102150405.000)><B:plain>#<D:decimal(9.2)>#<Flag>#<Raw>"),
	}
	for name, e := range entities {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := Parts{A: anyText().Draw(t, "A"), B: anyText().Draw(t, "B"),
					N: rapid.Int64().Draw(t, "N"), D: anyDecimal().Draw(t, "D"),
					T: anyTime().Draw(t, "T"), Flag: rapid.Bool().Draw(t, "Flag"),
					Raw: rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "Raw")}
				if strings.HasPrefix(name, "micros") {
					v.B = "b"
				}
				item, err := e.Item(v)
				if err != nil {
					t.Fatal(err)
				}
				if !e.Owns(item) {
					t.Fatalf("%s is not recognised", item)
				}
				got, err := e.Decode(item)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(v, got); diff != "" {
					t.Fatalf("%s\n%s", item, diff)
				}
			})
		})
	}
}

func TestDifferentValuesMakeDifferentKeys(t *testing.T) {
	e := storedEntity("X#<A>#<B>", "<B>|<A>")
	rapid.Check(t, func(t *rapid.T) {
		v := Stored{A: anyText().Draw(t, "A"), B: anyText().Draw(t, "B")}
		w := Stored{A: anyText().Draw(t, "A2"), B: anyText().Draw(t, "B2")}
		a, err1 := e.Key(v)
		b, err2 := e.Key(w)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		same := v.A == w.A && v.B == w.B
		if equal := a["PK"].Equal(b["PK"]) || a["SK"].Equal(b["SK"]); equal != same {
			t.Fatalf("%v and %v: keys %s and %s", v, w, a, b)
		}
	})
}

func TestOrderedFormatsSortAsTheirValuesDo(t *testing.T) {
	key := func(t *rapid.T, e *st.Entity[Stored], v Stored) string {
		k, err := e.Key(v)
		if err != nil {
			t.Fatal(err)
		}
		return k["SK"].S()
	}
	for _, format := range []string{"int(19)", "decimal(19)"} {
		e := storedEntity("x", "<N:"+format+">#tail")
		rapid.Check(t, func(t *rapid.T) {
			a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
			ka, kb := key(t, e, Stored{N: a}), key(t, e, Stored{N: b})
			if (a < b) != (ka < kb) || (a == b) != (ka == kb) {
				t.Fatalf("%s: %d and %d make %q and %q", format, a, b, ka, kb)
			}
		})
	}
	for format, down := range map[string]bool{"millis": false, "nanos": false, "reverse": true,
		"layout(2006-01-02T150405.000)": false} {
		e := storedEntity("x", "<T:"+format+">#tail")
		rapid.Check(t, func(t *rapid.T) {
			a, b := anyTime().Draw(t, "a"), anyTime().Draw(t, "b")
			if a.Year() < 0 || b.Year() < 0 {
				t.Skip()
			}
			ka, kb := key(t, e, Stored{T: a}), key(t, e, Stored{T: b})
			if down {
				ka, kb = kb, ka
			}
			if a.Before(b) != (ka < kb) {
				t.Fatalf("%s: %s and %s make %q and %q", format, a, b, ka, kb)
			}
		})
	}
	e := storedEntity("x", "<D:decimal(9.2)>")
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(-9999, 9999).Draw(t, "a"), rapid.Int64Range(-9999, 9999).Draw(t,
			"b")
		ka := key(t, e, Stored{D: st.Number(fmt.Sprintf("%de-2", a))})
		kb := key(t, e, Stored{D: st.Number(fmt.Sprintf("%de-2", b))})
		if (a < b) != (ka < kb) {
			t.Fatalf("%d and %d make %q and %q", a, b, ka, kb)
		}
	})
}

func TestFormatsRenderAsDocumented(t *testing.T) {
	v := Stored{A: "Main#1", B: "50%", N: 42, D: "-5.5", T: opened, Flag: true, Raw: []byte{0xab}}
	for _, c := range []struct{ template, want string }{
		{"S#<A>", "S#Main%231"}, {"S#<B>", "S#50%25"}, {"<A:lower>", "main%231"},
		{"<A:upper>", "MAIN%231"}, {"<N>", "42"}, {"<N:int(5)>", "00042"},
		{"<D>", "-5.5"}, {"<D:decimal(3.2)>", "-994.49"}, {"<T>", "2026-01-02T10:30:00.123Z"},
		{"<T:seconds>", "2026-01-02T10:30:00Z"}, {"<T:day>", "2026-01-02"},
		{"<T:month>", "2026-01"}, {"<T:year>", "2026"}, {"<T:hour>", "2026-01-02T10"},
		{"<T:layout(2006-01-02T150405)>", "2026-01-02T103000"},
		{"<T:reverse>", "251634950999876"}, {"<Flag>", "true"}, {"<Raw>", "ab"},
		{"<B>#<A:shardSuffix(1)>", "50%25#"}, {"<N>x<A:shard(1)>", "42x0"},
		{"a<A>b", "aMain%231b"},
	} {
		e := storedEntity("x", c.template)
		k, err := e.Key(v)
		if err != nil {
			t.Errorf("%s: %v", c.template, err)
			continue
		}
		if got := k["SK"].S(); got != c.want {
			t.Errorf("%s makes %q, want %q", c.template, got, c.want)
		}
	}
}

func TestBadTemplatesAreRefusedWithAReason(t *testing.T) {
	for template, want := range map[string]string{
		"<A": "not closed", "<>": "not closed, or empty", "<A:int(5)>": "does not take text",
		"<N:int>": "needs a width", "<D:decimal(30.30)>": "up to 38", "<A><B>": "nothing separates",
		"<N>-<A>": "could be part of the value", "<A:shard(0)>": "outside 1 to 1000",
		"<A:shard(many)>": "neither a number of shards nor declared", "<A:shard": "not closed",
		"<T:layout()>": "needs a layout", "<T:layout(Jan 2)>": "fixed width",
		"<A>é": "could be part", "<A:int(5>": "lacks a parenthesis", "<:day>": "names no field",
	} {
		e := storedEntity("x", template)
		if _, err := e.Key(Stored{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s says %v, want %q", template, err, want)
		}
	}
}

func TestTooLongAndMissingPartsNeverMakeAKey(t *testing.T) {
	e := storedEntity("P#<A>", "S#<B>")
	if _, err := e.Key(Stored{A: strings.Repeat("x", 2047), B: "b"}); err == nil ||
		!strings.Contains(err.Error(), "2049 bytes long, more than 2048") {
		t.Error(err)
	}
	if _, err := e.Key(Stored{A: "a", B: strings.Repeat("#", 340)}); err != nil {
		t.Error("a sort key of 1022 bytes is refused:", err)
	}
	if _, err := e.Key(Stored{A: "a", B: strings.Repeat("x", 1023)}); err == nil {
		t.Error("a sort key of 1025 bytes is allowed")
	}
	for _, v := range []Stored{{}, {A: "a"}, {B: "b"}} {
		if k, err := e.Key(v); err == nil || len(k) == 2 {
			t.Errorf("%+v makes %s", v, k)
		}
	}
	if _, err := e.Key(Stored{A: "\xff", B: "b"}); err == nil {
		t.Error("text that is no UTF-8 makes a key")
	}
}

func TestShardsAreStableAndEven(t *testing.T) {
	e := storedEntity("<A:shard(8)>", "<A>")
	counts := map[string]int{}
	var first []string
	for i := range 8000 {
		k, err := e.Key(Stored{A: fmt.Sprintf("id-%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		counts[k["PK"].S()]++
		if i < 8 {
			first = append(first, k["PK"].S())
		}
	}
	for shard, n := range counts {
		if n < 850 || n > 1150 {
			t.Errorf("shard %s has %d of 8000", shard, n)
		}
	}
	// Keys that were written must be found again by every later version.
	if want := []string{"4", "6", "3", "2", "3", "6", "6", "6"}; !slices.Equal(first, want) {
		t.Errorf("the shards of the first ids are %v, not %v", first, want)
	}
}

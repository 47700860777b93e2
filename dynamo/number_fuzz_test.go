package dynamo_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"regexp"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
)

var numberGrammar = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// FuzzCanonicalNumber holds the parser against the grammar as a regular expression, and against
// the value that math/big reads.
func FuzzCanonicalNumber(f *testing.F) {
	for _, text := range []string{
		"0", "-0", "42", "-0.5", "00042", "1.5E2", ".5", "5.", "1e+2", "0.0e126", "0e126",
		"1e999999999", "1E-131", nines38, nines38 + "9", greatest, smallest, longest,
		"", ".", "1.2.3", "e2", "1e", "NaN", "1_000",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := dynamo.CanonicalNumber(text)
		var refusal *dynamo.NumberError
		if err != nil && !errors.As(err, &refusal) {
			t.Fatalf("%q: not a NumberError: %v", text, err)
		}
		unreadable := refusal != nil && refusal.Reason == dynamo.NumberUnreadable
		if numberGrammar.MatchString(text) == unreadable {
			t.Fatalf("%q: the grammar disagrees: %q, %v", text, got, err)
		}
		if err != nil {
			return
		}
		again, err := dynamo.CanonicalNumber(got)
		if err != nil || again != got || !canonicalShape(got) {
			t.Fatalf("%q: %q is not canonical: %q, %v", text, got, again, err)
		}
		// For a zero with a huge exponent math/big would build that power of ten.
		if got != "0" && rat(t, text).Cmp(rat(t, got)) != 0 {
			t.Fatalf("%q became %q", text, got)
		}
		encoded := dynamo.AppendOrderedNumber(nil, got)
		back, rest, err := dynamo.DecodeOrderedNumber(encoded)
		if err != nil || back != got || len(rest) > 0 {
			t.Fatalf("%q came back as %q, %q, %v", got, back, rest, err)
		}
	})
}

// FuzzDecodeOrderedNumber checks that what is decoded is exactly what is encoded.
func FuzzDecodeOrderedNumber(f *testing.F) {
	for _, vector := range orderedVectors {
		b, err := hex.DecodeString(vector.hex)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, 0, 1, 2))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, rest, err := dynamo.DecodeOrderedNumber(b)
		if err != nil {
			return
		}
		if again, err := dynamo.CanonicalNumber(text); err != nil || again != text {
			t.Fatalf("% x decodes to %q, which is not canonical: %v", b, text, err)
		}
		used := b[:len(b)-len(rest)]
		if encoded := dynamo.AppendOrderedNumber(nil, text); !bytes.Equal(encoded, used) {
			t.Fatalf("% x decodes to %s, which encodes to % x", used, text, encoded)
		}
	})
}

func BenchmarkCanonicalNumber(b *testing.B) {
	for _, text := range []string{"42", "-1500.25", nines38, "1.50", "1E50"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = dynamo.CanonicalNumber(text)
			}
		})
	}
}

func BenchmarkCompareNumbers(b *testing.B) {
	for b.Loop() {
		_ = dynamo.CompareNumbers("1500.25", "1500.5")
	}
}

func BenchmarkAddNumbers(b *testing.B) {
	for _, c := range []struct{ name, a, b string }{
		{"small", "1500.25", "-5.5"}, {"large", nines38, "-1"}, {"gap", greatest, "1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = dynamo.AddNumbers(c.a, c.b)
			}
		})
	}
}

func BenchmarkNumberSize(b *testing.B) {
	for b.Loop() {
		_ = dynamo.NumberSize("1500.25")
	}
}

func BenchmarkAppendOrderedNumber(b *testing.B) {
	for _, text := range []string{"42", "-1500.25", nines38} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			var buffer []byte
			for b.Loop() {
				buffer = dynamo.AppendOrderedNumber(buffer[:0], text)
			}
		})
	}
}

func BenchmarkDecodeOrderedNumber(b *testing.B) {
	encoded := dynamo.AppendOrderedNumber(nil, "-1500.25")
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = dynamo.DecodeOrderedNumber(encoded)
	}
}

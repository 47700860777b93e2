package money_test

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/money"
)

var plainDecimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$`)

// FuzzParseDecimal holds the parser against the grammar as a regular expression, and against the
// value that math/big reads.
func FuzzParseDecimal(f *testing.F) {
	for _, text := range []string{
		"0", "-0", "5.50", ".5", "5.", "+1",
		"007", nines, nines + "9", nines + ".1", tiniest, "1e5", "",
		"18446744073709551616.5",
		"1" + strings.Repeat("0", 38), "0." + strings.Repeat("0", 60) + "1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := money.ParseDecimal(text)
		var syntax *money.SyntaxError
		if isSyntax := errors.As(err, &syntax); isSyntax == plainDecimal.MatchString(text) {
			t.Fatalf("%q: the grammar disagrees: %s, %v", text, got, err)
		}
		if syntax != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("math/big does not read %q", text)
		}
		if len(text) < 100 && withinLimits(exact) != (err == nil) {
			t.Fatalf("%q: the limits disagree: %s, %v", text, got, err)
		}
		if err != nil {
			return
		}
		if again, err := money.ParseDecimal(got.String()); err != nil || again != got {
			t.Fatalf("%q: %s came back as %s, %v", text, got, again, err)
		}
		if back, _ := new(big.Rat).SetString(got.String()); back.Cmp(exact) != 0 {
			t.Fatalf("%q became %s", text, got)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, text := range []string{"5.50", "-1234567.89", nines} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := money.Parse(text, "USD"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, c := range []struct{ name, x, y string }{
		{"short", "1500.00", "-5.50"}, {"long", nines[:36], "-0.05"},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, y := usd(c.x), usd(c.y)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Add(y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCmp(b *testing.B) {
	x, y := usd("1500.5"), usd("1500.25")
	b.ReportAllocs()
	for b.Loop() {
		if order, err := x.Cmp(y); err != nil || order != 1 {
			b.Fatal(order, err)
		}
	}
}

func BenchmarkDecimalText(b *testing.B) {
	for _, text := range []string{"5.50", "-1234567.89", nines} {
		b.Run(text, func(b *testing.B) {
			a := usd(text)
			b.ReportAllocs()
			for b.Loop() {
				_ = a.Decimal()
			}
		})
	}
}

func BenchmarkConvert(b *testing.B) {
	a, yen, dollar := usd("100"), dec(b, "186.75"), dec(b, "1.1684")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Convert("JPY", yen, dollar, money.HalfUp); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	a := usd("100")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Split(7); err != nil {
			b.Fatal(err)
		}
	}
}

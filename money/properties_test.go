package money_test

import (
	"encoding/json"
	"flag"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
)

// TestMain lets EXCHEQUER_ROUNDS set how many cases each property tries. A property that fails
// prints its seed.
func TestMain(m *testing.M) {
	if rounds := os.Getenv("EXCHEQUER_ROUNDS"); rounds != "" {
		if err := flag.Set("rapid.checks", rounds); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestDecimalsAgreeWithRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := decimals().Draw(t, "x"), decimals().Draw(t, "y")
		a, b := mustDec(t, x), mustDec(t, y)
		p, q := rational(t, x), rational(t, y)
		if got, want := a.Cmp(b), p.Cmp(q); got != want || (a == b) != (want == 0) {
			t.Fatalf("compared: %d, want %d", got, want)
		}
		if a.Sign() != p.Sign() || a.Neg().Sign() != -p.Sign() || a.Abs().Sign() < 0 {
			t.Fatal("signs differ")
		}
		check(t, "sum", new(big.Rat).Add(p, q), first(a.Add(b)))
		check(t, "difference", new(big.Rat).Sub(p, q), first(a.Sub(b)))
		check(t, "product", new(big.Rat).Mul(p, q), first(a.Mul(b)))
	})
}

func TestRoundingAgreesWithRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := decimals().Draw(t, "x"), decimals().Draw(t, "y")
		a, b := mustDec(t, x), mustDec(t, y)
		p, q := rational(t, x), rational(t, y)
		digits := rapid.IntRange(0, money.FractionDigitsMax).Draw(t, "digits")
		rounding := money.Rounding(rapid.IntRange(0, 3).Draw(t, "rounding"))
		rounded := a.Round(digits, rounding)
		if want := round(p, digits, rounding); rational(t, rounded.String()).Cmp(want) != 0 {
			t.Fatalf("rounded: %s, want %s", rounded, want.FloatString(digits))
		}
		if b.IsZero() {
			return
		}
		exact := new(big.Rat).Quo(p, q)
		check(t, "quotient", round(exact, digits, rounding), first(a.Quo(b, digits, rounding)))
		exact.Mul(exact, p)
		check(t, "ratio", round(exact, digits, rounding), first(a.MulQuo(a, b, digits, rounding)))
		if step := b.Abs(); step.Sign() > 0 {
			size := new(big.Rat).Abs(q)
			want := round(new(big.Rat).Quo(p, size), 0, rounding)
			check(t, "step", want.Mul(want, size), first(a.RoundToStep(step, rounding)))
		}
	})
}

func TestDecimalsSurviveEveryEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := mustDec(t, decimals().Draw(t, "x"))
		var fromJSON, fromToken, fromNumber, fromText money.Decimal
		data, err := json.Marshal(a)
		if err == nil {
			err = json.Unmarshal(data, &fromJSON)
		}
		if err == nil {
			err = json.Unmarshal([]byte(a.String()), &fromToken)
		}
		number, numberErr := a.MarshalNumber()
		if err != nil || numberErr != nil || fromNumber.UnmarshalNumber(number) != nil ||
			fromText.UnmarshalText([]byte(a.Text(5))) != nil {
			t.Fatal("an encoding failed", err, numberErr)
		}
		for _, got := range []money.Decimal{fromJSON, fromToken, fromNumber, fromText} {
			if got != a {
				t.Fatalf("%s came back as %s", a, got)
			}
		}
	})
}

func TestAllocationIsExactAndFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amounts().Draw(t, "amount")
		weights := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 20).Draw(t, "weights")
		weights[rapid.IntRange(0, len(weights)-1).Draw(t, "weighty")] += 1
		parts, err := a.Allocate(weights...)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := money.Sum(parts...); err != nil || sum != a {
			t.Fatalf("parts add up to %s, %v", sum, err)
		}
		total := new(big.Rat)
		for _, w := range weights {
			total.Add(total, new(big.Rat).SetInt64(w))
		}
		digits := max(a.Currency().Digits(), a.FractionDigits())
		unit := new(big.Rat).Quo(big.NewRat(1, 1), powerOfTen(digits))
		type loss struct {
			rest   *big.Rat
			gotOne bool
		}
		var before []loss
		for i, part := range parts {
			share := rational(t, a.Decimal())
			share.Mul(share.Abs(share), new(big.Rat).Quo(new(big.Rat).SetInt64(weights[i]), total))
			floor := round(share, digits, money.Down)
			got := rational(t, part.Abs().Decimal())
			extra := new(big.Rat).Sub(got, floor)
			if extra.Sign() != 0 && extra.Cmp(unit) != 0 || weights[i] == 0 && !part.IsZero() {
				t.Fatalf("part %d is %s of a share of %s", i, part, share.FloatString(digits+3))
			}
			if part.Sign()*a.Sign() < 0 || part.FractionDigits() > digits {
				t.Fatalf("part %d of %s is %s", i, a, part)
			}
			now := loss{new(big.Rat).Sub(share, floor), extra.Sign() != 0}
			for j, then := range before {
				// Who got a unit lost more than who got none, or as much and stands earlier.
				order := then.rest.Cmp(now.rest)
				wrongLater := now.gotOne && !then.gotOne && order >= 0
				wrongEarlier := then.gotOne && !now.gotOne && order < 0
				if wrongLater || wrongEarlier {
					t.Fatalf("the unit went to the wrong one of %d and %d: %s", j, i, texts(parts))
				}
			}
			before = append(before, now)
		}
	})
}

func TestSplitIsEvenAndEarliestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amounts().Draw(t, "amount")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		parts, err := a.Split(n)
		if err != nil || len(parts) != n {
			t.Fatal(len(parts), err)
		}
		if sum, err := money.Sum(parts...); err != nil || sum != a {
			t.Fatalf("parts add up to %s, %v", sum, err)
		}
		digits := max(a.Currency().Digits(), a.FractionDigits())
		unit := new(big.Rat).Quo(big.NewRat(1, 1), powerOfTen(digits))
		greatest := rational(t, parts[0].Abs().Decimal())
		for i, part := range parts[1:] {
			before := rational(t, parts[i].Abs().Decimal())
			now := rational(t, part.Abs().Decimal())
			if now.Cmp(before) > 0 || new(big.Rat).Sub(greatest, now).Cmp(unit) > 0 {
				t.Fatalf("not even: %s", texts(parts))
			}
		}
	})
}

func TestAmountsSurviveJSONAndMinorUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amounts().Draw(t, "amount")
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var got money.Amount
		if err := json.Unmarshal(data, &got); err != nil || got != a {
			t.Fatalf("%s came back as %s, %v", data, got, err)
		}
		if got, err := money.Parse(a.Text(), a.Currency()); err != nil || got != a {
			t.Fatalf("%s came back as %s, %v", a, got, err)
		}
		rounded := a.Round(money.HalfEven)
		if !rounded.Fits() || a.Fits() != (rounded == a) {
			t.Fatalf("rounded to %s", rounded)
		}
		minor, err := rounded.Minor()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := money.FromMinor(minor, a.Currency()); err != nil || got != rounded {
			t.Fatalf("%d came back as %s, %v", minor, got, err)
		}
	})
}

// decimals draws texts of numbers within the limits: short ones, which meet and cancel, and ones of
// up to 38 digits with the point anywhere.
func decimals() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := rapid.StringMatching(`[0-9]{1,5}`).Draw(t, "short")
		if rapid.Bool().Draw(t, "long") {
			digits = rapid.StringMatching(`([0-9]{1,38}|9{18,38}|10{17,37})`).Draw(t, "digits")
		}
		point := rapid.IntRange(0, len(digits)).Draw(t, "point")
		if zeros := money.FractionDigitsMax - len(digits); point == 0 && zeros > 0 {
			digits = strings.Repeat("0", rapid.IntRange(0, zeros).Draw(t, "zeros")) + digits
		}
		sign := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		if point == len(digits) {
			return sign + digits
		}
		return sign + digits[:point] + "." + digits[point:]
	})
}

// amounts draws amounts in currencies of 0, 2 and 3 digits; some do not fit their currency.
func amounts() *rapid.Generator[money.Amount] {
	return rapid.Custom(func(t *rapid.T) money.Amount {
		currency := rapid.SampledFrom([]money.Currency{"JPY", "USD", "BHD"}).Draw(t, "currency")
		minor := rapid.Int64Range(-1_000_000_000_000, 1_000_000_000_000).Draw(t, "minor")
		scale := currency.Digits()
		if rapid.IntRange(0, 3).Draw(t, "fits") == 0 {
			scale += rapid.IntRange(1, 4).Draw(t, "too many digits")
		}
		units, err := money.NewDecimal(minor, scale)
		if err != nil {
			t.Fatal(err)
		}
		a, err := money.New(units, currency)
		if err != nil {
			t.Fatal(err)
		}
		return a
	})
}

// result is what an operation returned.
type result struct {
	d   money.Decimal
	err error
}

func first(d money.Decimal, err error) result { return result{d, err} }

// check compares a result with the exact one, or with the refusal that the exact one deserves.
func check(t *rapid.T, name string, exact *big.Rat, got result) {
	t.Helper()
	if !withinLimits(exact) {
		if _, isLimit := got.err.(*money.LimitError); !isLimit {
			t.Fatalf("%s: got %s, %v; want a limit error", name, got.d, got.err)
		}
		return
	}
	if got.err != nil || rational(t, got.d.String()).Cmp(exact) != 0 {
		t.Fatalf("%s: got %s, %v; want %s", name, got.d, got.err, exact.FloatString(40))
	}
}

// withinLimits counts digits in the text that math/big writes.
func withinLimits(exact *big.Rat) bool {
	const enough = 4 * money.FractionDigitsMax
	whole, fraction, _ := strings.Cut(new(big.Rat).Abs(exact).FloatString(enough), ".")
	fraction = strings.TrimRight(fraction, "0")
	digits := strings.TrimLeft(whole+fraction, "0")
	return len(fraction) <= money.FractionDigitsMax && len(digits) <= money.DigitsMax
}

// round rounds by the definition of each rounding.
func round(exact *big.Rat, digits int, rounding money.Rounding) *big.Rat {
	scaled := new(big.Rat).Mul(new(big.Rat).Abs(exact), powerOfTen(digits))
	floor := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(floor))
	half := rest.Cmp(big.NewRat(1, 2))
	up := false
	switch rounding {
	case money.HalfUp:
		up = half >= 0
	case money.HalfEven:
		up = half > 0 || half == 0 && floor.Bit(0) == 1
	case money.Up:
		up = rest.Sign() > 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	rounded := new(big.Rat).Quo(new(big.Rat).SetInt(floor), powerOfTen(digits))
	if exact.Sign() < 0 {
		rounded.Neg(rounded)
	}
	return rounded
}

func powerOfTen(n int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
}

func rational(t *rapid.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("math/big does not read %q", text)
	}
	return r
}

func mustDec(t *rapid.T, text string) money.Decimal {
	t.Helper()
	d, err := money.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

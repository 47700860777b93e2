package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
)

var (
	nines   = strings.Repeat("9", money.DigitsMax)
	tiniest = "0." + strings.Repeat("0", money.FractionDigitsMax-1) + "1"
)

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.00", "0"}, {"+0.0", "0"}, {"5", "5"}, {"5.50", "5.5"},
		{"-5.50", "-5.5"}, {"+5", "5"}, {".50", "0.5"}, {"5.", "5"}, {"-.5", "-0.5"},
		{"007.10", "7.1"}, {"1200", "1200"}, {"0.05", "0.05"}, {"1000000.000001", "1000000.000001"},
		{"9223372036854775807", "9223372036854775807"},
		{"9223372036854775808", "9223372036854775808"},
		{"18446744073709551615", "18446744073709551615"},
		{"18446744073709551616", "18446744073709551616"},
		{"10000000000000000000", "10000000000000000000"},
		{"-99999999999999999999.99", "-99999999999999999999.99"},
		{"12345678901234567890.0000000001", "12345678901234567890.0000000001"},
		{nines, nines}, {"-" + nines, "-" + nines}, {nines + ".000", nines}, {"000" + nines, nines},
		{"0." + nines, "0." + nines},
		{nines[:20] + "." + nines[20:], nines[:20] + "." + nines[20:]},
		{tiniest, tiniest}, {"0." + strings.Repeat("0", 200), "0"},
		{"1" + strings.Repeat("0", 37), "1" + strings.Repeat("0", 37)},
	} {
		t.Run(c.text+" is "+c.want, func(t *testing.T) {
			got, err := money.ParseDecimal(c.text)
			if err != nil || got.String() != c.want {
				t.Fatalf("got %s, %v", got, err)
			}
			if again := dec(t, c.want); again != got || !again.Equal(got) {
				t.Errorf("%#v and %#v are not equal", again, got)
			}
		})
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	t.Run("what is no plain decimal", func(t *testing.T) {
		for _, text := range []string{
			"", " ", " 5", "5 ", "5,50", "1,000.00", "1_000", "5.5.0", "--5", "+-5", "-", "+", ".",
			"-.",
			"1e2", "1E-2", "0x10", "NaN", "Infinity", "-inf", "$5", "5 USD", "٣", "５", "5\n", "5-",
			"(5)",
		} {
			got, err := money.ParseDecimal(text)
			var syntax *money.SyntaxError
			if !errors.As(err, &syntax) || syntax.Text != text || got != (money.Decimal{}) {
				t.Errorf("%q: got %s, %v", text, got, err)
			}
		}
	})
	t.Run("what has too many digits", func(t *testing.T) {
		for _, text := range []string{
			nines + "9", "-" + nines + "9", nines + ".1",
			"1" + strings.Repeat("0", 38), tiniest + "1",
			"0.0" + nines, nines[:30] + "." + nines[:9], strings.Repeat("9", 400),
		} {
			_, err := money.ParseDecimal(text)
			var limit *money.LimitError
			if !errors.As(err, &limit) {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
	t.Run("with messages that say what to do", func(t *testing.T) {
		for text, want := range map[string]string{
			"":     "the number is empty; write a plain decimal, such as 5.50 or -12",
			"5,50": `"5,50" is not a plain decimal number, such as 5.50 or -12`,
			nines + "9": nines + "9 has more than 38 digits, " +
				"or more than 38 after the point",
			strings.Repeat("x", 61): `"` + strings.Repeat("x", 60) +
				`…" is not a plain decimal number, such as 5.50 or -12`,
		} {
			if _, err := money.ParseDecimal(text); err == nil || err.Error() != want {
				t.Errorf("%q: got %v, want %s", text, err, want)
			}
		}
	})
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		text   string
		digits int
		want   string
	}{
		{"5.5", 2, "5.50"}, {"5", 2, "5.00"}, {"5", 0, "5"}, {"5", -1, "5"}, {"5.505", 2, "5.505"},
		{"0", 3, "0.000"}, {"-0.5", 3, "-0.500"}, {"0.05", 0, "0.05"}, {"1200", 1, "1200.0"},
		{nines, 2, nines + ".00"}, {tiniest, 40, tiniest + "00"},
	} {
		if got := dec(t, c.text).Text(c.digits); got != c.want {
			t.Errorf("%s with %d digits is %s, want %s", c.text, c.digits, got, c.want)
		}
	}
}

func TestNewDecimal(t *testing.T) {
	for _, c := range []struct {
		coefficient int64
		scale       int
		want        string
	}{
		{550, 2, "5.5"}, {0, 5, "0"}, {-1, 3, "-0.001"}, {1200, 2, "12"}, {7, 0, "7"},
		{math.MaxInt64, 0, "9223372036854775807"}, {math.MinInt64, 0, "-9223372036854775808"},
		{math.MinInt64, 18, "-9.223372036854775808"}, {1, 38, tiniest},
	} {
		got, err := money.NewDecimal(c.coefficient, c.scale)
		if err != nil || got != dec(t, c.want) {
			t.Errorf("%d, %d: got %s, %v; want %s", c.coefficient, c.scale, got, err, c.want)
		}
	}
	for _, scale := range []int{-1, 39, math.MaxInt} {
		if got, err := money.NewDecimal(1, scale); err == nil {
			t.Errorf("scale %d: got %s", scale, got)
		}
	}
}

func TestInt64(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-7", -7, true}, {"9223372036854775807", math.MaxInt64, true},
		{"-9223372036854775808", math.MinInt64, true}, {"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false}, {"5.5", 0, false}, {nines, 0, false},
		{"18446744073709551616", 0, false},
	} {
		if got, ok := dec(t, c.text).Int64(); ok != c.ok || ok && got != c.want {
			t.Errorf("%s: got %d, %v", c.text, got, ok)
		}
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		text                       string
		digits                     int
		halfUp, halfEven, down, up string
	}{
		{"24.785", 2, "24.79", "24.78", "24.78", "24.79"},
		{"24.775", 2, "24.78", "24.78", "24.77", "24.78"},
		{"-24.785", 2, "-24.79", "-24.78", "-24.78", "-24.79"}, {"0.5", 0, "1", "0", "0", "1"},
		{"1.5", 0, "2", "2", "1", "2"}, {"2.5", 0, "3", "2", "2", "3"},
		{"-0.4", 0, "0", "0", "0", "-1"},
		{"0.51", 0, "1", "1", "0", "1"}, {"0.49999", 0, "0", "0", "0", "1"},
		{"5.5", 2, "5.5", "5.5", "5.5", "5.5"},
		{"9.995", 2, "10", "10", "9.99", "10"}, {"5.5", -3, "6", "6", "5", "6"},
		{"0." + nines, 0, "1", "1", "0", "1"},
		{tiniest, 37, "0", "0", "0", tiniest[:len(tiniest)-2] + "1"},
		{"0." + strings.Repeat("0", 37) + "5", 37, "0." + strings.Repeat("0", 36) + "1", "0", "0",
			"0." + strings.Repeat("0", 36) + "1"},
		{"12345678901234567890.123456789012345678", 0, "12345678901234567890",
			"12345678901234567890",
			"12345678901234567890", "12345678901234567891"},
	} {
		for rounding, want := range map[money.Rounding]string{
			money.HalfUp: c.halfUp, money.HalfEven: c.halfEven, money.Down: c.down, money.Up: c.up,
		} {
			if got := dec(t, c.text).Round(c.digits, rounding).String(); got != want {
				t.Errorf("%s to %d digits, %s: got %s, want %s",
					c.text, c.digits, rounding, got, want)
			}
		}
	}
}

func TestMulQuo(t *testing.T) {
	for _, c := range []struct {
		name            string
		d, above, below string
		digits          int
		want            string
		halfEven        string
	}{
		{"100 USD in JPY over the euro, rounded once", "100", "186.75", "1.1684", 0, "15983", ""},
		{"1,000,000 USD in JPY", "1000000", "186.75", "1.1684", 0, "159833961", ""},
		{"500 SIT in EUR", "500", "1", "239.640", 2, "2.09", ""},
		{"1000 ITL in EUR to three digits", "1000", "1", "1936.27", 3, "0.516", ""},
		{"a half", "1", "1", "8", 2, "0.13", "0.12"},
		{"negative", "-1", "1", "8", 2, "-0.13", "-0.12"},
		{"signs cancel", "-1", "-1", "8", 2, "0.13", "0.12"},
		{"zero", "0", "7", "8", 2, "0", ""},
		{"itself", nines, "0.1", "0.1", 0, nines, ""},
		{"a product beyond the limit on the way", nines, nines, nines, 0, nines, ""},
		{"tiny below", "1", "1", tiniest, 0, "", ""},
		{"tiny above", tiniest, tiniest, tiniest, 38, tiniest, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rounding := range []money.Rounding{money.HalfUp, money.HalfEven} {
				want := c.want
				if rounding == money.HalfEven && c.halfEven != "" {
					want = c.halfEven
				}
				got, err := dec(t, c.d).MulQuo(dec(t, c.above), dec(t, c.below), c.digits, rounding)
				var limit *money.LimitError
				if want == "" {
					if !errors.As(err, &limit) {
						t.Errorf("got %s, %v", got, err)
					}
				} else if err != nil || got != dec(t, want) {
					t.Errorf("%s: got %s, %v; want %s", rounding, got, err, want)
				}
			}
		})
	}
	one := money.DecimalFromInt(1)
	_, err := one.Quo(money.Decimal{}, 2, money.HalfUp)
	if !errors.Is(err, money.ErrDivisionByZero) {
		t.Errorf("division by zero: %v", err)
	}
	for _, digits := range []int{-1, 39} {
		if got, err := one.Quo(one, digits, money.HalfUp); err == nil {
			t.Errorf("%d digits: got %s", digits, got)
		}
	}
}

func TestArithmeticStopsAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(a, b money.Decimal) (money.Decimal, error)
		a, b string
		want string // Empty for a *LimitError.
	}{
		{"greatest sum", money.Decimal.Add, nines[:37] + "8", "1", nines},
		{"sum one above", money.Decimal.Add, nines, "1", ""},
		{"sum far above", money.Decimal.Add, nines, nines, ""},
		{"sum with digits on both ends", money.Decimal.Add, nines, "0.1", ""},
		{"sum with a great span", money.Decimal.Add, nines, tiniest, ""},
		{"sum of small scales", money.Decimal.Add, "0." + nines, tiniest, "1"},
		{"lowest difference", money.Decimal.Sub, "-" + nines[:37] + "8", "1", "-" + nines},
		{"difference one below", money.Decimal.Sub, "-" + nines, "1", ""},
		{"difference that gets short", money.Decimal.Sub, nines, nines, "0"},
		{"greatest product", money.Decimal.Mul, nines, "1", nines},
		{"product with zeros to trim", money.Decimal.Mul, nines, "0.1", nines[:37] + ".9"},
		{"product too great", money.Decimal.Mul, nines, "10", ""},
		{"product too fine", money.Decimal.Mul, tiniest, "0.1", ""},
		{"product of 37 digits", money.Decimal.Mul, "1.000000000000000001", "1.000000000000000001",
			"1.000000000000000002000000000000000001"},
		{"product of 39 digits", money.Decimal.Mul, "1.0000000000000000001",
			"1.0000000000000000001", ""},
		{"product of long factors", money.Decimal.Mul, nines, nines, ""},
		{"product with zero", money.Decimal.Mul, nines, "0", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.do(dec(t, c.a), dec(t, c.b))
			var limit *money.LimitError
			if c.want == "" {
				if !errors.As(err, &limit) || got != (money.Decimal{}) {
					t.Errorf("got %s, %v", got, err)
				}
				return
			}
			if err != nil || got != dec(t, c.want) {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestDecimalEncodings(t *testing.T) {
	type record struct {
		Rate money.Decimal            `json:"rate"`
		By   map[money.Decimal]string `json:"by,omitempty"`
	}
	t.Run("writes strings", func(t *testing.T) {
		by := map[money.Decimal]string{dec(t, "-0.10"): "x"}
		got, err := json.Marshal(record{dec(t, "5.50"), by})
		if want := `{"rate":"5.5","by":{"-0.1":"x"}}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
	})
	for data, want := range map[string]string{
		`"5.50"`: "5.5", `5.50`: "5.5", `"\u0035"`: "5", `0.1`: "0.1",
		`1e-7`: "0.0000001", `1.5E+3`: "1500",
		`12345678901234567890.123456789012345678`: "12345678901234567890.123456789012345678",
		`null`:  "0",
		`0e999`: "0",
	} {
		t.Run("reads "+data, func(t *testing.T) {
			var got record
			err := json.Unmarshal([]byte(`{"rate":`+data+`}`), &got)
			if err != nil || got.Rate != dec(t, want) {
				t.Errorf("got %s, %v", got.Rate, err)
			}
		})
	}
	for _, data := range []string{
		`""`, `"1e2"`, `"5,5"`, `true`, `{}`, `[]`, `1e999999999999999999999`, `1e-39`,
		`1e38`, nines + "9",
	} {
		t.Run("refuses "+data, func(t *testing.T) {
			got := record{Rate: dec(t, "7")}
			if err := json.Unmarshal([]byte(`{"rate":`+data+`}`), &got); err == nil {
				t.Errorf("got %s", got.Rate)
			}
			if got.Rate != dec(t, "7") {
				t.Errorf("changed to %s", got.Rate)
			}
		})
	}
	t.Run("is a DynamoDB Number", func(t *testing.T) {
		var d money.Decimal
		for text, want := range map[string]string{
			"5.5": "5.5", "-42": "-42", "1E2": "100", "1.50e-3": "0.0015", nines: nines,
		} {
			if err := d.UnmarshalNumber(text); err != nil || d != dec(t, want) {
				t.Errorf("%s: got %s, %v", text, d, err)
			}
			if got, err := d.MarshalNumber(); err != nil || got != want {
				t.Errorf("%s: wrote %s, %v", text, got, err)
			}
		}
		for _, text := range []string{"", "x", "1e", "1e126", "NaN", "1e2.5"} {
			if err := d.UnmarshalNumber(text); err == nil {
				t.Errorf("%q: read as %s", text, d)
			}
		}
	})
	t.Run("is a text", func(t *testing.T) {
		var d money.Decimal
		if err := d.UnmarshalText([]byte("5.50")); err != nil || d != dec(t, "5.5") {
			t.Errorf("got %s, %v", d, err)
		}
		if err := d.UnmarshalText([]byte("1e2")); err == nil {
			t.Errorf("got %s", d)
		}
		if got, err := d.MarshalText(); err != nil || string(got) != "5.5" {
			t.Errorf("wrote %s, %v", got, err)
		}
	})
}

func TestDecimalIsComparable(t *testing.T) {
	seen := map[money.Decimal]string{dec(t, "5.50"): "found"}
	if seen[dec(t, "5.5")] != "found" {
		t.Error("equal numbers are different map keys")
	}
	if diff := cmp.Diff(dec(t, "5.50"), dec(t, "5.5")); diff != "" {
		t.Errorf("go-cmp sees a difference:\n%s", diff)
	}
}

func dec(t testing.TB, text string) money.Decimal {
	t.Helper()
	d, err := money.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

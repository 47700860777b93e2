package dynamo_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
)

const (
	overflowText = "Number overflow. Attempting to store a number with magnitude " +
		"larger than supported range"
	underflowText = "Number underflow. Attempting to store a number with magnitude " +
		"smaller than supported range"
	preciseText = "Attempting to store more than 38 significant digits in a Number"
	unreadable  = "The parameter cannot be converted to a numeric value"
)

var (
	nines38    = strings.Repeat("9", 38)
	greatest   = nines38 + strings.Repeat("0", 88)
	smallest   = "0." + strings.Repeat("0", 129) + "1"
	longest    = "-0." + strings.Repeat("0", 129) + nines38
	tenTo125   = "1" + strings.Repeat("0", 125)
	tenTo50    = "1" + strings.Repeat("0", 50)
	tenToMin38 = "0." + strings.Repeat("0", 37) + "1"
)

func TestCanonicalNumber(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0", "0"}, {"-0", "0"}, {"+0", "0"}, {"0.0", "0"}, {"-0.000", "0"},
		{".0", "0"}, {"0.", "0"},
		{"00042", "42"}, {"42", "42"}, {"-42", "-42"}, {"+5", "5"}, {"1.0", "1"},
		{"3.1400", "3.14"},
		{"1.5E2", "150"}, {"1E2", "100"}, {"1e+2", "100"}, {"15e-1", "1.5"}, {"1E-38", tenToMin38},
		{".5", "0.5"}, {"5.", "5"}, {"-.5", "-0.5"}, {"-5.", "-5"}, {"00.50", "0.5"},
		{"0100.0010", "100.001"},
		{"0.0e126", "0"}, {"0e125", "0"},
		{"0e-500", "0"}, {"0.1e126", tenTo125}, {"1E125", tenTo125},
		{"1e0000000000000000000002", "100"},
		{"9.9999999999999999999999999999999999999E125", greatest}, {greatest, greatest},
		{"-9.9999999999999999999999999999999999999E125", "-" + greatest},
		{"1E-130", smallest}, {smallest, smallest}, {longest, longest},
		{"-9.9999999999999999999999999999999999999E-130", longest},
		{nines38, nines38}, {nines38 + ".000", nines38}, {"000" + nines38, nines38},
		{nines38[:37] + ".9", nines38[:37] + ".9"}, {"0." + nines38, "0." + nines38},
		{strings.Repeat("0", 1000) + "7" + strings.Repeat("0", 100) + "e-100", "7"},
		{"0." + strings.Repeat("0", 500) + "7e501", "7"},
	} {
		t.Run(c.text+" is "+c.want, func(t *testing.T) {
			got, err := dynamo.CanonicalNumber(c.text)
			if err != nil || got != c.want {
				t.Fatalf("got %q, %v", got, err)
			}
			if again, err := dynamo.CanonicalNumber(got); err != nil || again != got {
				t.Errorf("canonical text is not stable: %q, %v", again, err)
			}
		})
	}
}

func TestCanonicalNumberRefuses(t *testing.T) {
	type row struct {
		text   string
		reason dynamo.NumberReason
		want   string
	}
	rows := []row{
		{"", dynamo.NumberUnreadable, unreadable},
		{nines38 + "9", dynamo.NumberTooPrecise, preciseText},
		{"-" + nines38 + "9", dynamo.NumberTooPrecise, preciseText},
		{"1" + strings.Repeat("0", 37) + "1", dynamo.NumberTooPrecise, preciseText},
		{"1" + strings.Repeat("0", 37) + ".1", dynamo.NumberTooPrecise, preciseText},
		{"0." + nines38 + "1", dynamo.NumberTooPrecise, preciseText},
		{"1" + strings.Repeat("0", 100) + "1e-50", dynamo.NumberTooPrecise, preciseText},
		{"1E126", dynamo.NumberOverflow, overflowText},
		{"-1E126", dynamo.NumberOverflow, overflowText},
		{"0e126", dynamo.NumberOverflow, overflowText},
		{tenTo125 + "0", dynamo.NumberOverflow, overflowText},
		{"1e999999999", dynamo.NumberOverflow, overflowText},
		{"1e99999999999999999999999999", dynamo.NumberOverflow, overflowText},
		{nines38 + "9e200", dynamo.NumberOverflow, overflowText},
		{"1E-131", dynamo.NumberUnderflow, underflowText},
		{"-1e-131", dynamo.NumberUnderflow, underflowText},
		{"1e-999999999", dynamo.NumberUnderflow, underflowText},
		{"0." + strings.Repeat("0", 130) + "1", dynamo.NumberUnderflow, underflowText},
	}
	for _, text := range []string{
		" 5", "1 ", "1 2", "\t1", "1_000", "1,000", "1+2", "1-2", "--1", "+-1", "1.2.3", "e2", "1e",
		"1e+", "1e-", "1e5.5", "1e5e5", ".", "-", "+", "-.", "NaN", "nan", "Infinity", "-Infinity",
		"inf", "0x10", "1f", "٣", "1\x00", nines38 + "9x", "1e126x", "0e126x",
	} {
		rows = append(rows, row{text, dynamo.NumberUnreadable, unreadable + ": " + text})
	}
	for _, c := range rows {
		t.Run(c.text+" refused", func(t *testing.T) {
			got, err := dynamo.CanonicalNumber(c.text)
			var refusal *dynamo.NumberError
			if !errors.As(err, &refusal) {
				t.Fatalf("got %q, %v", got, err)
			}
			if refusal.Reason != c.reason || err.Error() != c.want {
				t.Errorf("got reason %d, %q; want %d, %q", refusal.Reason, err, c.reason, c.want)
			}
		})
	}
}

func TestCanonicalNumberAllocatesNothing(t *testing.T) {
	for _, text := range []string{
		"0", "42", "-0.5", "1500.25", nines38, greatest, smallest, longest,
	} {
		if n := testing.AllocsPerRun(100, func() { _, _ = dynamo.CanonicalNumber(text) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
	// A refused number costs its error only, whatever its exponent.
	for _, text := range []string{"1e999999999", "-1e-999999999"} {
		if n := testing.AllocsPerRun(100, func() { _, _ = dynamo.CanonicalNumber(text) }); n > 1 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func TestNumberSize(t *testing.T) {
	for _, c := range []struct {
		size  int
		texts string
	}{
		{1, "0 -0"}, {2, "1 12 42 0042 15"}, {3, "123 1234"}, {4, "12345 123456"},
		{5, "1234567 12345678"}, {6, "123456789 1234567891"}, {7, "12345678912 123456789123"},
		{11, "1234567890123456789"}, {20, nines38}, {2, "100"}, {3, "1010"}, {2, "0.0000001"},
		{2, "1E125 1E-100"}, {3, "1.5 1.2 1.200"}, {4, "1.234 100.5"}, {5, "3.14159"}, {2, "0.15"},
		{3, "-42"}, {5, "-12345"}, {3, "-1E125 -0.15"}, {21, "-" + nines38}, {20, "0." + nines38},
	} {
		for _, text := range strings.Fields(c.texts) {
			if got := dynamo.NumberSize(canonical(t, text)); got != c.size {
				t.Errorf("size of %s is %d, want %d", text, got, c.size)
			}
		}
	}
}

func TestArithmetic(t *testing.T) {
	for _, c := range []struct{ a, b, sum, difference string }{
		{"0", "0", "0", "0"}, {"1", "2", "3", "-1"},
		{"-1", "1", "0", "-2"}, {"5", "0", "5", "5"},
		{"0", "5", "5", "-5"}, {"0.1", "0.2", "0.3", "-0.1"}, {"0.5", "0.5", "1", "0"},
		{"1500", "5.5", "1505.5", "1494.5"}, {"-0.05", "0.05", "0", "-0.1"},
		{"99.99", "0.01", "100", "99.98"},
		{"999999999999999999", "1", "1000000000000000000", "999999999999999998"},
		{"9999999999999999999", "1", "10000000000000000000", "9999999999999999998"},
		{"-9999999999999999999", "1", "-9999999999999999998", "-10000000000000000000"},
		{"0.00000000000000001", "1", "1.00000000000000001", "-0.99999999999999999"},
		{nines38, "1", "1" + strings.Repeat("0", 38), nines38[:37] + "8"},
		{nines38, nines38, overflowText, "0"},
		{"1e40", nines38 + "00", overflowText, "1e2"}, {"1e38", "-1", nines38, overflowText},
		{"1e38", nines38, overflowText, "1"},
		{"1e38", "1" + nines38[:37], overflowText, "80000000000000000000000000000000000001"},
		{"1e39", "-1", overflowText, overflowText}, {tenTo50, "1", overflowText, overflowText},
		{"1", tenTo50, overflowText, overflowText}, {"9e125", "9e125", overflowText, "0"},
		{"9e125", "1e125", overflowText, "8e125"}, {"-9e125", "1e125", "-8e125", overflowText},
		{"1e125", "1e-130", overflowText, overflowText},
		{"-1e125", "1e-130", overflowText, overflowText},
		{greatest, "1e88", overflowText, nines38[:37] + "8" + strings.Repeat("0", 88)},
		{"1.5e-130", "1e-130", "2.5e-130", underflowText}, {"1e-130", "-1e-130", "0", "2e-130"},
		{greatest, greatest, overflowText, "0"}, {longest, longest, overflowText, "0"},
	} {
		t.Run(c.a+" and "+c.b, func(t *testing.T) {
			a, b := canonical(t, c.a), canonical(t, c.b)
			for _, op := range []struct {
				name string
				do   func(a, b string) (string, error)
				want string
			}{
				{"sum", dynamo.AddNumbers, c.sum},
				{"difference", dynamo.SubtractNumbers, c.difference},
			} {
				got, err := op.do(a, b)
				if err != nil {
					got = err.Error()
				}
				want := op.want
				if text, err := dynamo.CanonicalNumber(want); err == nil {
					want = text
				}
				if got != want {
					t.Errorf("%s: got %s, want %s", op.name, got, want)
				}
			}
		})
	}
}

func TestArithmeticOfHugeGapsAllocatesOnlyItsAnswer(t *testing.T) {
	a, b := canonical(t, "1e125"), canonical(t, "1e-130")
	if n := testing.AllocsPerRun(100, func() { _, _ = dynamo.AddNumbers(a, b) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// orderedVectors are ascending.
var orderedVectors = []struct{ text, hex string }{
	{"-9.9999999999999999999999999999999999999E125", "4000" + strings.Repeat("9b", 19) + "ff"},
	{"-123.45", "407bf2dcccff"}, {"-100", "407bf4ff"}, {"-1", "407df4ff"},
	{"-0.5", "407eccff"},
	{"-1E-130", "40fff4ff"}, {"0", "80"}, {"1E-130", "c0000b00"}, {"0.00000001", "c07a0b00"},
	{"0.5", "c0813300"}, {"1", "c0820b00"}, {"1.5", "c0821000"}, {"2", "c0821500"},
	{"9", "c0825b00"},
	{"10", "c0830b00"}, {"12.34", "c0830d2300"}, {"99", "c0836400"}, {"100", "c0840b00"},
	{"101", "c0840b0b00"}, {"150", "c0841000"}, {"1000", "c0850b00"},
	{"12345678901234567890123456789012345678",
		"c0a7" + strings.Repeat("0d23394f5b", 3) + "0d23394f00"},
	{"9.9999999999999999999999999999999999999E125", "c0ff" + strings.Repeat("64", 19) + "00"},
}

func TestOrderedNumber(t *testing.T) {
	var last []byte
	for _, c := range orderedVectors {
		text := canonical(t, c.text)
		got := dynamo.AppendOrderedNumber(nil, text)
		if diff := cmp.Diff(c.hex, hex.EncodeToString(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
		if bytes.Compare(last, got) >= 0 {
			t.Errorf("%s does not follow the number before it", c.text)
		}
		last = got
		back, rest, err := dynamo.DecodeOrderedNumber(append(slices.Clone(got), "rest"...))
		if err != nil || back != text || string(rest) != "rest" {
			t.Errorf("%s came back as %s, %q, %v", c.text, back, rest, err)
		}
	}
	kept := dynamo.AppendOrderedNumber([]byte("kept"), "1")
	if want := "kept\xc0\x82\x0b\x00"; string(kept) != want {
		t.Errorf("appended %q, want %q", kept, want)
	}
}

func TestDecodeOrderedNumberRefuses(t *testing.T) {
	for _, c := range []struct{ name, hex string }{
		{"nothing", ""}, {"unknown class", "0082"},
		{"only a class", "c0"}, {"no pairs", "c08200"},
		{"no end", "c0820b"}, {"zero in front", "c0820200"},
		{"pair of zeros in front", "c082010b00"},
		{"pair of zeros at the end", "c0820b0100"}, {"pair over 99", "c0826500"},
		{"pair far over", "c082ff00"},
		{"39 digits", "c082" + strings.Repeat("64", 20) + "00"}, {"negative without end", "407df4"},
		{"negative with the end of a positive", "407df400"},
	} {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		if text, _, err := dynamo.DecodeOrderedNumber(b); err == nil {
			t.Errorf("%s: read as %s", c.name, text)
		}
	}
}

// TestNumbersAgreeWithBig compares everything with math/big, for numbers of all shapes.
func TestNumbersAgreeWithBig(t *testing.T) {
	random := seededRandom(t)
	for range numberRounds(t, 3000) {
		a, b := randomNumber(random), randomNumber(random)
		x, y := canonical(t, a), canonical(t, b)
		xRat, yRat := rat(t, a), rat(t, b)
		if rat(t, x).Cmp(xRat) != 0 || !canonicalShape(x) {
			t.Fatalf("%s became %s", a, x)
		}
		want := xRat.Cmp(yRat)
		if got := dynamo.CompareNumbers(x, y); got != want {
			t.Fatalf("compare %s with %s: got %d, want %d", x, y, got, want)
		}
		xBytes, yBytes := dynamo.AppendOrderedNumber(nil, x), dynamo.AppendOrderedNumber(nil, y)
		if got := bytes.Compare(xBytes, yBytes); got != want {
			t.Fatalf("bytes of %s and %s: got %d, want %d", x, y, got, want)
		}
		if want != 0 && (bytes.HasPrefix(xBytes, yBytes) || bytes.HasPrefix(yBytes, xBytes)) {
			t.Fatalf("of %s and %s, one encoding begins the other", x, y)
		}
		back, rest, err := dynamo.DecodeOrderedNumber(xBytes)
		if err != nil || back != x || len(rest) > 0 {
			t.Fatalf("%s came back as %s, %q, %v", x, back, rest, err)
		}
		checkArithmetic(t, x, y, new(big.Rat).Add(xRat, yRat), dynamo.AddNumbers)
		checkArithmetic(t, x, y, new(big.Rat).Sub(xRat, yRat), dynamo.SubtractNumbers)
	}
}

// checkArithmetic compares an operation with its exact answer, or with the refusal that the exact
// answer deserves.
func checkArithmetic(
	t *testing.T, x, y string, exact *big.Rat, do func(a, b string) (string, error),
) {
	t.Helper()
	got, err := do(x, y)
	want := exact.FloatString(200)
	want = strings.TrimSuffix(strings.TrimRight(want, "0"), ".")
	if want == "" || want == "-" {
		want = "0"
	}
	text, wantErr := dynamo.CanonicalNumber(want)
	var refusal *dynamo.NumberError
	if errors.As(wantErr, &refusal) && refusal.Reason == dynamo.NumberTooPrecise {
		refusal.Reason = dynamo.NumberOverflow
	}
	if got != text || errorText(err) != errorText(wantErr) {
		t.Fatalf("%s with %s: got %s, %v; want %s, %v", x, y, got, err, text, wantErr)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// randomNumber writes a number within all bounds, in any notation. Half of the numbers are short
// and near to one another, so that carries, cancellation and equality happen.
func randomNumber(random *rand.Rand) string {
	count, exponent := 1+random.IntN(4), random.IntN(7)-3
	if random.IntN(2) == 0 {
		count, exponent = 1+random.IntN(38), random.IntN(256)-130
		if random.IntN(2) == 0 {
			exponent = random.IntN(60) - 20
		}
	}
	digits := make([]byte, count)
	for i := range digits {
		switch random.IntN(4) {
		case 0:
			digits[i] = '9'
		case 1:
			digits[i] = '0'
		default:
			digits[i] = byte('0' + random.IntN(10))
		}
	}
	if digits[0] == '0' && random.IntN(20) > 0 {
		digits[0] = '1'
	}
	if digits[0] == '0' {
		digits = []byte("0")
		exponent = 0
	}
	sign := []string{"", "-", "+"}[random.IntN(3)]
	return sign + string(digits[:1]) + "." + string(digits[1:]) + "e" + strconv.Itoa(exponent)
}

// canonicalShape says, in another way than the package, what canonical text looks like.
func canonicalShape(text string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return (whole == "0" || whole == strings.TrimLeft(whole, "0") && whole != "") && text != "-0" &&
		point == (fraction != "") && fraction == strings.TrimRight(fraction, "0") &&
		!strings.ContainsAny(text, "eE+ ")
}

func canonical(t testing.TB, text string) string {
	t.Helper()
	got, err := dynamo.CanonicalNumber(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return got
}

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("math/big does not read %q", text)
	}
	return r
}

// seededRandom prints its seed when the test fails.
func seededRandom(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("EXCHEQUER_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("run again with EXCHEQUER_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func numberRounds(t *testing.T, usual int) int {
	text := os.Getenv("EXCHEQUER_ROUNDS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
)

func TestCurrency(t *testing.T) {
	for code, digits := range map[string]int{
		"USD": 2, "EUR": 2, "JPY": 0, "KRW": 0, "ISK": 0, "BHD": 3, "KWD": 3, "IQD": 3,
		"CLF": 4, "HUF": 2,
	} {
		c, err := money.ParseCurrency(code)
		if err != nil || c != money.Currency(code) || c.Digits() != digits || !c.Known() {
			t.Errorf("%s: got %s with %d digits, %v", code, c, c.Digits(), err)
		}
	}
	for code, want := range map[string]string{
		"":     "the currency is missing; write a code of ISO 4217, such as USD",
		"usd":  `unknown currency "usd"; write USD`,
		"Eur":  `unknown currency "Eur"; write EUR`,
		" JPY": `unknown currency " JPY"; write JPY`,
		"US":   `unknown currency "US"; write a code of ISO 4217, such as USD`,
		"XYZ":  `unknown currency "XYZ"; write a code of ISO 4217, such as USD`,
		"$":    `unknown currency "$"; write a code of ISO 4217, such as USD`,
	} {
		c, err := money.ParseCurrency(code)
		var unknown *money.CurrencyError
		if !errors.As(err, &unknown) || err.Error() != want || c != "" {
			t.Errorf("%q: got %q, %v; want %s", code, c, err, want)
		}
	}
	if money.Currency("XYZ").Digits() != 0 || money.Currency("").Known() {
		t.Error("an unknown currency has digits, or the empty one is known")
	}
}

func TestAmountTexts(t *testing.T) {
	for _, c := range []struct {
		text          string
		currency      money.Currency
		decimal, full string
		fits          bool
	}{
		{"5.50", "USD", "5.5", "5.50 USD", true}, {"5", "USD", "5", "5.00 USD", true},
		{"-0.05", "USD", "-0.05", "-0.05 USD", true}, {"5.505", "USD", "5.505", "5.505 USD", false},
		{"500", "JPY", "500", "500 JPY", true}, {"500.00", "JPY", "500", "500 JPY", true},
		{"500.5", "JPY", "500.5", "500.5 JPY", false}, {"1.5", "BHD", "1.5", "1.500 BHD", true},
		{"1.2345", "BHD", "1.2345", "1.2345 BHD", false}, {"0", "USD", "0", "0.00 USD", true},
		{"-0", "USD", "0", "0.00 USD", true}, {nines, "USD", nines, nines + ".00 USD", true},
	} {
		t.Run(c.full, func(t *testing.T) {
			a, err := money.Parse(c.text, c.currency)
			if err != nil {
				t.Fatal(err)
			}
			text := c.full[:len(c.full)-len(" USD")]
			got := []any{a.Decimal(), a.Text(), a.String(), a.Fits(), a.Currency(), a.Units()}
			want := []any{c.decimal, text, c.full, c.fits, c.currency, dec(t, c.decimal)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	var (
		syntax  *money.SyntaxError
		limit   *money.LimitError
		unknown *money.CurrencyError
	)
	if _, err := money.Parse("5,50", "USD"); !errors.As(err, &syntax) {
		t.Errorf("a comma: %v", err)
	}
	if _, err := money.Parse(nines+"9", "USD"); !errors.As(err, &limit) {
		t.Errorf("39 digits: %v", err)
	}
	if _, err := money.Parse("5.50", "usd"); !errors.As(err, &unknown) || unknown.Hint != "USD" {
		t.Errorf("lower case: %v", err)
	}
	if _, err := money.Parse("5.50", ""); !errors.As(err, &unknown) {
		t.Errorf("no currency: %v", err)
	}
	if _, err := money.New(money.Decimal{}, "XYZ"); !errors.As(err, &unknown) {
		t.Errorf("unknown currency: %v", err)
	}
	if _, err := money.FromMinor(1, "XYZ"); !errors.As(err, &unknown) {
		t.Errorf("unknown currency: %v", err)
	}
}

func TestMinor(t *testing.T) {
	for _, c := range []struct {
		minor int64
		want  money.Amount
	}{
		{550, usd("5.50")}, {-1, usd("-0.01")}, {0, usd("0")}, {550, jpy("550")},
		{1500, bhd("1.5")},
		{math.MaxInt64, usd("92233720368547758.07")}, {math.MinInt64, jpy("-9223372036854775808")},
	} {
		got, err := money.FromMinor(c.minor, c.want.Currency())
		if err != nil || got != c.want {
			t.Errorf("%d: got %s, %v; want %s", c.minor, got, err, c.want)
		}
		if back, err := got.Minor(); err != nil || back != c.minor {
			t.Errorf("%s: got %d, %v", got, back, err)
		}
	}
	var fraction *money.FractionError
	_, err := usd("5.505").Minor()
	if want := "5.505 USD has 3 fraction digits, and USD has 2"; !errors.As(err, &fraction) ||
		err.Error() != want {
		t.Errorf("got %v", err)
	}
	var limit *money.LimitError
	for _, text := range []string{"92233720368547758.08", nines} {
		if _, err := usd(text).Minor(); !errors.As(err, &limit) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAddAndSubtract(t *testing.T) {
	sum, err := usd("0.10").Add(usd("0.20"))
	if err != nil || sum != usd("0.30") {
		t.Errorf("sum: %s, %v", sum, err)
	}
	difference, err := usd("0.10").Sub(usd("0.30"))
	if err != nil || difference != usd("-0.2") || difference.Sign() != -1 {
		t.Errorf("difference: %s, %v", difference, err)
	}
	if usd("-3").Abs() != usd("3") || usd("3").Neg() != usd("-3") || usd("0").Neg() != usd("0") {
		t.Error("signs are wrong")
	}
	var limit *money.LimitError
	if _, err := usd(nines).Add(usd("1")); !errors.As(err, &limit) {
		t.Errorf("39 digits: %v", err)
	}
}

func TestCurrenciesDoNotMix(t *testing.T) {
	const want = "amounts in USD and JPY do not mix"
	for name, err := range map[string]error{
		"Add": second(usd("1").Add(jpy("1"))), "Sub": second(usd("1").Sub(jpy("0"))),
		"Cmp": second(usd("1").Cmp(jpy("1"))), "Sum": second(money.Sum(usd("1"), jpy("1"))),
	} {
		var mismatch *money.MismatchError
		if !errors.As(err, &mismatch) || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if usd("1").Equal(jpy("1")) || usd("0") == jpy("0") {
		t.Error("amounts of two currencies are equal")
	}
}

func TestZeroAmount(t *testing.T) {
	var zero money.Amount
	if !zero.IsZero() || zero.String() != "0" || zero.Currency() != "" || !zero.Fits() {
		t.Errorf("the zero amount is %s", zero)
	}
	for _, a := range []money.Amount{usd("5.50"), jpy("-3"), bhd("0"), zero} {
		if got, err := zero.Add(a); err != nil || got != a {
			t.Errorf("zero + %s = %s, %v", a, got, err)
		}
		if got, err := a.Add(zero); err != nil || got != a {
			t.Errorf("%s + zero = %s, %v", a, got, err)
		}
		if got, err := a.Sub(zero); err != nil || got != a {
			t.Errorf("%s - zero = %s, %v", a, got, err)
		}
		if got, err := a.Cmp(zero); err != nil || got != a.Sign() {
			t.Errorf("%s compared with zero: %d, %v", a, got, err)
		}
	}
	if got, err := money.Sum(); err != nil || got != zero {
		t.Errorf("the empty sum is %s, %v", got, err)
	}
	if got, err := money.Sum(usd("1"), usd("2.5"), zero); err != nil || got != usd("3.5") {
		t.Errorf("sum: %s, %v", got, err)
	}
}

func TestMultiply(t *testing.T) {
	for _, c := range []struct {
		name string
		got  func() (money.Amount, error)
		want money.Amount
	}{
		{"a share of 2.5 %", func() (money.Amount, error) {
			return usd("19.99").Mul(dec(t, "0.025"), money.HalfUp)
		}, usd("0.50")},
		{"a third", func() (money.Amount, error) {
			return usd("100").MulQuo(dec(t, "1"), dec(t, "3"), money.HalfUp)
		}, usd("33.33")},
		{"a fee rounded up", func() (money.Amount, error) {
			return jpy("101").Mul(dec(t, "0.01"), money.Up)
		}, jpy("2")},
		{"dollars in yen over the euro", func() (money.Amount, error) {
			return usd("100").Convert("JPY", dec(t, "186.75"), dec(t, "1.1684"), money.HalfUp)
		}, jpy("15983")},
		{"an amount in its own currency", func() (money.Amount, error) {
			return jpy("-2800").Convert("JPY", dec(t, "186.75"), dec(t, "186.75"), money.HalfUp)
		}, jpy("-2800")},
		{"the greatest amount", func() (money.Amount, error) {
			return jpy(nines).Mul(dec(t, "1."+nines[:37]), money.Down)
		}, money.Amount{}},
		{"the greatest amount by less than one", func() (money.Amount, error) {
			return jpy(nines).Mul(dec(t, "0."+nines), money.HalfUp)
		}, jpy(nines[:37] + "8")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.got()
			if got != c.want || (err != nil) != (c.want == money.Amount{}) {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
	if _, err := usd("1").Convert("usd", dec(t, "1"), dec(t, "1"), money.HalfUp); err == nil {
		t.Error("converted into an unknown currency")
	}
}

func TestRoundAmount(t *testing.T) {
	for _, c := range []struct {
		a        money.Amount
		rounding money.Rounding
		want     money.Amount
	}{
		{usd("24.785"), money.HalfUp, usd("24.79")}, {usd("24.785"), money.HalfEven, usd("24.78")},
		{jpy("0.5"), money.HalfUp, jpy("1")}, {jpy("0.5"), money.HalfEven, jpy("0")},
		{bhd("1.2345"), money.Down, bhd("1.234")}, {bhd("-1.2341"), money.Up, bhd("-1.235")},
		{usd("5.5"), money.Up, usd("5.5")},
	} {
		if got := c.a.Round(c.rounding); got != c.want || !got.Fits() {
			t.Errorf("%s %s: got %s, want %s", c.a, c.rounding, got, c.want)
		}
	}
}

func TestRoundToStep(t *testing.T) {
	chf := func(text string) money.Amount { return money.MustParse(text, "CHF") }
	for _, c := range []struct {
		a        money.Amount
		step     string
		rounding money.Rounding
		want     money.Amount
	}{
		{chf("1.02"), "0.05", money.HalfUp, chf("1")},
		{chf("1.03"), "0.05", money.HalfUp, chf("1.05")},
		{chf("1.025"), "0.05", money.HalfUp, chf("1.05")},
		{chf("1.025"), "0.05", money.HalfEven, chf("1")},
		{chf("-1.03"), "0.05", money.HalfUp, chf("-1.05")},
		{chf("1.04"), "0.05", money.Down, chf("1")},
		{chf("1.01"), "0.05", money.Up, chf("1.05")},
		{usd("7.30"), "0.5", money.HalfUp, usd("7.5")},
		{jpy("149"), "100", money.HalfUp, jpy("100")},
		{jpy("150"), "100", money.HalfUp, jpy("200")},
		{usd("0"), "3", money.Up, usd("0")}, {jpy(nines), "2", money.Down, jpy(nines[:37] + "8")},
	} {
		got, err := c.a.RoundToStep(dec(t, c.step), c.rounding)
		if err != nil || got != c.want {
			t.Errorf("%s by %s, %s: got %s, %v; want %s", c.a, c.step, c.rounding, got, err, c.want)
		}
	}
	for _, step := range []string{"0", "-0.05"} {
		_, err := chf("1").RoundToStep(dec(t, step), money.HalfUp)
		if !errors.Is(err, money.ErrStep) {
			t.Errorf("step %s: %v", step, err)
		}
	}
	var limit *money.LimitError
	if _, err := jpy(nines).RoundToStep(dec(t, "2"), money.Up); !errors.As(err, &limit) {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestAmountJSON(t *testing.T) {
	for _, c := range []struct {
		a    money.Amount
		want string
	}{
		{usd("5.5"), `{"amount":"5.50","currency":"USD"}`},
		{jpy("5"), `{"amount":"5","currency":"JPY"}`},
		{bhd("-1.2345"), `{"amount":"-1.2345","currency":"BHD"}`},
		{money.Amount{}, `{"amount":"0","currency":""}`},
	} {
		sent, err := json.Marshal(c.a)
		if err != nil || string(sent) != c.want {
			t.Errorf("%s: got %s, %v", c.a, sent, err)
		}
		got := usd("99")
		if err := json.Unmarshal(sent, &got); err != nil || got != c.a {
			t.Errorf("%s came back as %s, %v", c.a, got, err)
		}
	}
	got := usd("99")
	if err := json.Unmarshal([]byte(`{"currency":"USD","amount":5.50}`), &got); err != nil ||
		got != usd("5.5") {
		t.Errorf("a JSON number: got %s, %v", got, err)
	}
	if err := json.Unmarshal([]byte("null"), &got); err != nil || got != usd("5.5") {
		t.Errorf("null: got %s, %v", got, err)
	}
	for _, data := range []string{
		`{}`, `{"currency":"USD"}`, `{"amount":"5"}`, `{"amount":null,"currency":"USD"}`, `"5 USD"`,
		`5`,
		`{"amount":"5","currency":"usd"}`, `{"amount":"5,0","currency":"USD"}`, `[]`,
		`{"amount":` + nines + `9,"currency":"USD"}`,
	} {
		got := usd("7")
		if err := json.Unmarshal([]byte(data), &got); err == nil || got != usd("7") {
			t.Errorf("%s: got %s, %v", data, got, err)
		}
	}
}

func TestMustParsePanicsOnABadLiteral(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	money.MustParse("5,50", "USD")
}

func usd(text string) money.Amount { return money.MustParse(text, "USD") }

func jpy(text string) money.Amount { return money.MustParse(text, "JPY") }

func bhd(text string) money.Amount { return money.MustParse(text, "BHD") }

func second[T any](_ T, err error) error { return err }

package money_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/money"
)

func TestCashIsRoundedToCoins(t *testing.T) {
	for _, c := range []struct{ in, currency, want string }{
		{"1.02", "CHF", "1.00"}, {"1.025", "CHF", "1.05"}, {"1.03", "CAD", "1.05"},
		{"10.24", "DKK", "10.00"}, {"10.25", "DKK", "10.50"}, {"10.49", "SEK", "10.00"},
		{"10.50", "NOK", "11.00"}, {"99.51", "CZK", "100.00"}, {"1234.56", "HUF", "1235.00"},
		{"4.94", "NZD", "4.90"}, {"4.96", "NZD", "5.00"}, {"4.97", "AUD", "4.95"},
		{"4.97", "USD", "4.97"}, {"4.975", "EUR", "4.98"}, {"4.5", "JPY", "5"},
		{"1.0005", "BHD", "1.001"}, {"-1.03", "CHF", "-1.05"},
	} {
		got, err := money.MustParse(c.in, money.Currency(c.currency)).RoundCash(money.HalfUp)
		if err != nil || got.Text() != c.want {
			t.Errorf("%s %s is paid as %s, %v; want %s", c.in, c.currency, got.Text(), err, c.want)
		}
	}
}

// Rounding to the minor unit first would take some of these over the middle between two coins.
func TestCashIsConvertedAndRoundedOnce(t *testing.T) {
	for _, c := range []struct{ in, above, below, currency, half, up string }{
		{"1", "10.496", "1", "SEK", "10.00", "11.00"}, {"1", "10.5", "1", "SEK", "11.00", "11.00"},
		{"1", "1.046", "1", "NZD", "1.00", "1.10"}, {"1", "0.5", "3", "CHF", "0.15", "0.20"},
		{"-1", "1.024999", "1", "CHF", "-1.00", "-1.05"},
		{"1", "1.024999", "1", "USD", "1.02", "1.03"}, {"0.5", "2.5", "1", "JPY", "1", "2"},
	} {
		for rounding, want := range map[money.Rounding]string{
			money.HalfUp: c.half, money.Up: c.up,
		} {
			above, below := money.MustParse(c.above, "EUR"), money.MustParse(c.below, "EUR")
			got, err := money.MustParse(c.in, "EUR").ConvertCash(money.Currency(c.currency),
				above.Units(), below.Units(), rounding)
			if err != nil || got.Text() != want || string(got.Currency()) != c.currency {
				t.Errorf("%s at %s / %s, %s: %s, %v; want %s", c.in, c.above, c.below, rounding,
					got, err, want)
			}
		}
	}
	one := money.MustParse("1", "EUR")
	if _, err := one.ConvertCash("XYZ", one.Units(), one.Units(), money.Up); err == nil {
		t.Error("an unknown currency is taken")
	}
}

func TestCashStepsAreNotMinorUnits(t *testing.T) {
	for code, want := range map[money.Currency]string{
		"CHF": "0.05", "SEK": "1", "NZD": "0.1", "USD": "0.01", "JPY": "1", "KWD": "0.001",
	} {
		if got := code.CashStep().String(); got != want {
			t.Errorf("a step of %s is %s, want %s", code, got, want)
		}
	}
	if money.Currency("CHF").Digits() != 2 {
		t.Error("coins change the digits of an account in CHF")
	}
}

func TestRetiredCurrenciesHaveAmounts(t *testing.T) {
	for code, digits := range map[money.Currency]int{"HRK": 2, "BGN": 2, "ITL": 0, "TRL": 0} {
		if code.Known() || !code.Retired() || code.Digits() != digits {
			t.Errorf("%s: known %t, retired %t, %d digits", code, code.Known(), code.Retired(),
				code.Digits())
		}
		amount, err := money.Parse("7.5", code)
		if err != nil || amount.Currency() != code {
			t.Errorf("7.5 %s is %v, %v", code, amount, err)
		}
		if _, err := money.ParseCurrency(string(code)); err == nil {
			t.Errorf("%s is read as a currency of today", code)
		}
	}
	if money.Currency("EUR").Retired() || money.Currency("XYZ").Retired() {
		t.Error("EUR or XYZ is retired")
	}
	if _, err := money.Parse("1", "XYZ"); err == nil {
		t.Error("there are amounts of XYZ")
	}
}

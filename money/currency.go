package money

import (
	"strings"

	"github.com/bojanz/currency"
)

// Currency is a code of ISO 4217 in upper case, such as "USD". The empty currency is that of the
// zero Amount only.
type Currency string

// ParseCurrency returns the currency of a code. Codes in lower case are refused: data that has
// them was not made with care, and a second spelling would make a second key. The error is a
// *CurrencyError.
func ParseCurrency(code string) (Currency, error) {
	c := Currency(code)
	if !c.Known() {
		return "", unknownCurrency(code)
	}
	return c, nil
}

// Known tells whether ISO 4217 has this code today. Codes that a program has registered with
// github.com/bojanz/currency are known too. See Retired for those of the past.
func (c Currency) Known() bool {
	return c != "" && currency.IsValid(string(c))
}

// Digits returns how many fraction digits the currency's minor unit has by ISO 4217: 2 for USD, 0
// for JPY, 3 for BHD. It is 0 for an unknown code.
func (c Currency) Digits() int {
	digits, ok := currency.GetDigits(string(c))
	if !ok {
		digits = retired[c]
	}
	return int(digits)
}

func (c Currency) name() string {
	if c == "" {
		return "no currency"
	}
	return string(c)
}

func unknownCurrency(code string) *CurrencyError {
	hint := strings.ToUpper(strings.TrimSpace(code))
	if !Currency(hint).Known() {
		hint = ""
	}
	return &CurrencyError{Code: echo(code), Hint: hint}
}

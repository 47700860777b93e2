package money

import (
	"strings"

	"github.com/bojanz/currency"
)

// Currency is an ISO 4217 code in upper case, such as "USD". Only the zero Amount has the empty
// currency.
type Currency string

// ParseCurrency returns the currency of a code. Lower-case codes are refused, because a second
// spelling would make a second key. The error is a *CurrencyError.
func ParseCurrency(code string) (Currency, error) {
	c := Currency(code)
	if !c.Known() {
		return "", unknownCurrency(code)
	}
	return c, nil
}

// Known reports whether ISO 4217 has this code today. Codes that a program registered with
// github.com/bojanz/currency are known too. See Retired for withdrawn codes.
func (c Currency) Known() bool {
	return c != "" && currency.IsValid(string(c))
}

// Digits returns the number of fraction digits of the currency's minor unit by ISO 4217: 2 for USD,
// 0 for JPY, 3 for BHD. It is 0 for an unknown code.
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

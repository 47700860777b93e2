package money

import (
	"errors"
	"fmt"
)

// Errors without details.
var (
	// ErrDivisionByZero is returned by every operation that divides.
	ErrDivisionByZero = errors.New("division by zero")
	// ErrStep is returned for a rounding step that is not more than zero.
	ErrStep = errors.New("a rounding step must be more than zero")
	// ErrWeights is returned by Allocate for weights that are negative or all zero.
	ErrWeights = errors.New("weights must not be negative, and one must be more than zero")
	// ErrParts is returned by Allocate and Split for no parts, or for more than PartsMax.
	ErrParts = fmt.Errorf("there must be 1 to %d parts", PartsMax)
)

// SyntaxError reports a text that is not a plain decimal number.
type SyntaxError struct {
	Text string // the text or its beginning
}

// Error returns the text and the expected form.
func (e *SyntaxError) Error() string {
	if e.Text == "" {
		return "the number is empty; write a plain decimal, such as 5.50 or -12"
	}
	return fmt.Sprintf("%q is not a plain decimal number, such as 5.50 or -12", e.Text)
}

// LimitError reports a number with too many digits.
type LimitError struct {
	Text string // the number or its beginning; empty for the result of an operation
}

// Error returns the limits.
func (e *LimitError) Error() string {
	what := "the result"
	if e.Text != "" {
		what = e.Text
	}
	return fmt.Sprintf("%s has more than %d digits, or more than %d after the point",
		what, DigitsMax, FractionDigitsMax)
}

// CurrencyError reports an unknown currency code.
type CurrencyError struct {
	Code string // the code or its beginning
	Hint string // a code that may be the intended one, or empty
}

// Unit reports whether the code is that of a metal, a unit of account, a test or no currency in ISO
// 4217, which have no minor unit.
func (e *CurrencyError) Unit() bool {
	switch e.Code {
	case "XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX":
		return true
	}
	return false
}

// Error returns the code, and one that may be the intended one.
func (e *CurrencyError) Error() string {
	if e.Code == "" {
		return "the currency is missing; write a code of ISO 4217, such as USD"
	}
	if e.Unit() {
		return fmt.Sprintf("%s has no minor unit in ISO 4217, so that there are no amounts in it",
			e.Code)
	}
	if e.Hint != "" {
		return fmt.Sprintf("unknown currency %q; write %s", e.Code, e.Hint)
	}
	return fmt.Sprintf("unknown currency %q; write a code of ISO 4217, such as USD", e.Code)
}

// MismatchError reports an operation on amounts of different currencies.
type MismatchError struct {
	First, Second Currency
}

// Error names both currencies.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("amounts in %s and %s do not mix", e.First.name(), e.Second.name())
}

// FractionError reports an amount that is not a whole number of its currency's minor units.
type FractionError struct {
	Amount Amount
}

// Error returns the amount and both numbers of digits.
func (e *FractionError) Error() string {
	return fmt.Sprintf("%s has %d fraction digits, and %s has %d", e.Amount,
		e.Amount.FractionDigits(), e.Amount.currency.name(), e.Amount.currency.Digits())
}

// echoMax is the maximum number of bytes of a refused text in an error: enough to find the text,
// and not enough to fill a log.
const echoMax = 60

func echo(text string) string {
	if len(text) > echoMax {
		return text[:echoMax] + "…"
	}
	return text
}

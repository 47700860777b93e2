package money

import (
	"errors"
	"fmt"
)

// Errors that have nothing to tell but themselves.
var (
	// ErrDivisionByZero is returned by every operation that divides.
	ErrDivisionByZero = errors.New("division by zero")
	// ErrStep is returned for a rounding step that is not more than zero.
	ErrStep = errors.New("a rounding step must be more than zero")
	// ErrWeights is returned by Allocate for weights that are negative or that are all zero.
	ErrWeights = errors.New("weights must not be negative, and one must be more than zero")
	// ErrParts is returned by Allocate and Split for no parts, or for more than PartsMax.
	ErrParts = fmt.Errorf("there must be 1 to %d parts", PartsMax)
)

// SyntaxError says that a text is no plain decimal number.
type SyntaxError struct {
	Text string // As it was given, or its beginning.
}

// Error repeats the text and shows what is expected.
func (e *SyntaxError) Error() string {
	if e.Text == "" {
		return "the number is empty; write a plain decimal, such as 5.50 or -12"
	}
	return fmt.Sprintf("%q is not a plain decimal number, such as 5.50 or -12", e.Text)
}

// LimitError says that a number has too many digits.
type LimitError struct {
	Text string // The number, or its beginning; empty for the result of an operation.
}

// Error names the limits.
func (e *LimitError) Error() string {
	what := "the result"
	if e.Text != "" {
		what = e.Text
	}
	return fmt.Sprintf("%s has more than %d digits, or more than %d after the point",
		what, DigitsMax, FractionDigitsMax)
}

// CurrencyError says that there is no currency of this code.
type CurrencyError struct {
	Code string // As it was given, or its beginning.
	Hint string // The code that may have been meant, or empty.
}

// Unit reports whether the code is one of ISO 4217 for a metal, a unit of account, a test or no
// currency at all, which have no minor unit.
func (e *CurrencyError) Unit() bool {
	switch e.Code {
	case "XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX":
		return true
	}
	return false
}

// Error names the code, and the one that may have been meant.
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

// MismatchError says that two amounts of different currencies met.
type MismatchError struct {
	First, Second Currency
}

// Error names both currencies.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("amounts in %s and %s do not mix", e.First.name(), e.Second.name())
}

// FractionError says that an amount is no whole number of its currency's minor units.
type FractionError struct {
	Amount Amount
}

// Error names the amount and both counts of digits.
func (e *FractionError) Error() string {
	return fmt.Sprintf("%s has %d fraction digits, and %s has %d", e.Amount,
		e.Amount.FractionDigits(), e.Amount.currency.name(), e.Amount.currency.Digits())
}

// echoMax is how many bytes of a refused text an error repeats: enough to find it, and not enough
// to fill a log.
const echoMax = 60

func echo(text string) string {
	if len(text) > echoMax {
		return text[:echoMax] + "…"
	}
	return text
}

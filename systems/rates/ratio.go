package rates

import (
	"errors"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// Ratio is an exact rate: Above / Below. An inverse or a cross rate seldom has a decimal form, and
// one that was cut to some digits is wrong for large amounts; so rates are kept as quotients until
// an amount is converted. Both numbers are more than zero, but in the zero Ratio.
type Ratio struct{ Above, Below money.Decimal }

// one is the ratio of a currency to itself.
func one() Ratio { return ratioOf(money.DecimalFromInt(1)) }

func ratioOf(rate money.Decimal) Ratio { return Ratio{rate, money.DecimalFromInt(1)} }

// Inverse returns 1 / r, exactly.
func (r Ratio) Inverse() Ratio { return Ratio{r.Below, r.Above} }

// Mul returns r × other, exactly. The error is a *money.LimitError.
func (r Ratio) Mul(other Ratio) (Ratio, error) {
	above, err1 := r.Above.Mul(other.Above)
	below, err2 := r.Below.Mul(other.Below)
	if err := errors.Join(err1, err2); err != nil {
		return Ratio{}, err
	}
	if above == below {
		return one(), nil
	}
	return Ratio{above, below}, nil
}

// Cmp compares two ratios: -1, 0 or +1. The error is a *money.LimitError.
func (r Ratio) Cmp(other Ratio) (int, error) {
	left, err1 := r.Above.Mul(other.Below)
	right, err2 := other.Above.Mul(r.Below)
	return left.Cmp(right), errors.Join(err1, err2)
}

// shownDigits is how many significant digits the decimal form of a derived rate has. It is for
// people and plots; amounts are converted by the ratio.
const shownDigits = 12

// Decimal returns the ratio as a decimal: exactly where it is a plain rate, and otherwise rounded
// to twelve significant digits. It is for reading, not for calculating.
func (r Ratio) Decimal() money.Decimal {
	if r.Below == money.DecimalFromInt(1) {
		return r.Above
	}
	// The place of the first significant digit follows from a first division, which may be cut; the
	// second one rounds, once.
	for _, digits := range []int{shownDigits, money.FractionDigitsMax} {
		d, err := r.Above.Quo(r.Below, digits, money.Down)
		if err == nil && d.IsZero() {
			continue
		}
		digits = min(max(0, shownDigits-firstDigit(d)), money.FractionDigitsMax)
		if d, err = r.Above.Quo(r.Below, digits, money.HalfUp); err == nil {
			return d
		}
	}
	return money.Decimal{} // Smaller than any number can be.
}

// firstDigit returns the place of the first significant digit of a number: 3 for 159.8, 0 for 0.5,
// -2 for 0.005.
func firstDigit(d money.Decimal) int {
	whole, fraction, _ := strings.Cut(d.String(), ".")
	if whole != "0" {
		return len(whole)
	}
	return len(strings.TrimLeft(fraction, "0")) - len(fraction)
}

// Of converts an amount, rounded once, to the digits of the other currency. The error is a
// *money.CurrencyError or a *money.LimitError.
func (r Ratio) Of(
	amount money.Amount, to money.Currency, rounding money.Rounding,
) (money.Amount, error) {
	return amount.Convert(to, r.Above, r.Below, rounding)
}

// OfCash is Of, rounded once, to what can be paid in coins.
func (r Ratio) OfCash(
	amount money.Amount, to money.Currency, rounding money.Rounding,
) (money.Amount, error) {
	return amount.ConvertCash(to, r.Above, r.Below, rounding)
}

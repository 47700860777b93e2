package money

import (
	"slices"

	"github.com/cockroachdb/apd/v3"
)

// PartsMax is the maximum number of parts into which an amount is divided. It limits the memory of
// one call, and no payment is shared by more.
const PartsMax = 100_000

// Allocate divides the amount in proportion to the weights. The sum of the parts is exactly the
// amount. A part is a whole number of the currency's minor units; an amount with more digits than
// its currency is divided in units of its own last digit.
//
// Each part is first rounded toward zero. The remaining units are added, one each, to the parts
// that lost most by that; if parts lost the same, to the earlier one. So 1.00 USD by 1, 1, 1 is
// 0.34, 0.33, 0.33, and by 0, 1, 2 is 0.00, 0.33, 0.67.
//
// The error is ErrParts, ErrWeights or a *LimitError.
func (a Amount) Allocate(weights ...int64) ([]Amount, error) {
	if len(weights) == 0 || len(weights) > PartsMax {
		return nil, ErrParts
	}
	var sum, weight, product apd.BigInt
	for _, w := range weights {
		if w < 0 {
			return nil, ErrWeights
		}
		sum.Add(&sum, weight.SetInt64(w))
	}
	if sum.Sign() == 0 {
		return nil, ErrWeights
	}
	digits := max(a.currency.Digits(), a.FractionDigits())
	total := a.minorUnits(digits)
	left := new(apd.BigInt).Set(total)
	shares := make([]share, len(weights))
	for i, w := range weights {
		s := &shares[i]
		s.units.QuoRem(product.Mul(total, weight.SetInt64(w)), &sum, &s.rest)
		left.Sub(left, &s.units)
	}
	byRest := make([]*share, len(shares))
	for i := range shares {
		byRest[i] = &shares[i]
	}
	slices.SortStableFunc(byRest, func(x, y *share) int { return y.rest.Cmp(&x.rest) })
	// The number of remaining units is smaller than the number of parts that lost something. So no
	// part gets two, and a part without weight gets none.
	var one apd.BigInt
	one.SetInt64(1)
	for _, s := range byRest[:left.Int64()] {
		s.units.Add(&s.units, &one)
	}
	return a.parts(shares, digits)
}

// Split divides the amount into n parts that differ by at most one minor unit. The earlier parts
// are the larger ones: 1.00 USD by 3 is 0.34, 0.33, 0.33. The error is ErrParts or a *LimitError.
func (a Amount) Split(n int) ([]Amount, error) {
	if n < 1 || n > PartsMax {
		return nil, ErrParts
	}
	weights := make([]int64, n)
	for i := range weights {
		weights[i] = 1
	}
	return a.Allocate(weights...)
}

// share is one part of an amount during its division.
type share struct {
	units apd.BigInt // in minor units
	rest  apd.BigInt // lost by rounding toward zero, in fractions of the sum of weights
}

// minorUnits returns the magnitude of a in units of 10^-digits.
func (a Amount) minorUnits(digits int) *apd.BigInt {
	var units, power apd.BigInt
	a.units.big(&units)
	return units.Mul(&units, powerOfTen(&power, digits-a.FractionDigits()))
}

// parts converts shares, in units of 10^-digits, to amounts with the sign of a.
func (a Amount) parts(shares []share, digits int) ([]Amount, error) {
	amounts := make([]Amount, len(shares))
	for i := range shares {
		part, err := fromBig(&shares[i].units, digits, a.units.negative)
		if amounts[i], err = of(a.currency)(part, err); err != nil {
			return nil, err
		}
	}
	return amounts, nil
}

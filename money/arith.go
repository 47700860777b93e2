package money

import (
	"math/bits"

	"github.com/cockroachdb/apd/v3"
)

// Add returns d + other, exactly. The error is a *LimitError.
func (d Decimal) Add(other Decimal) (Decimal, error) {
	if d.scale < other.scale {
		d, other = other, d
	}
	high, low, ok := scaleUp(other.high, other.low, int(d.scale-other.scale))
	if !ok {
		// the last digit of the sum is that of d, so the sum cannot be shortened
		return Decimal{}, &LimitError{}
	}
	sum := Decimal{scale: d.scale, negative: d.negative}
	switch {
	case d.negative == other.negative:
		var carry bool
		if sum.high, sum.low, carry = addCarry(d.high, d.low, high, low); carry {
			return Decimal{}, &LimitError{}
		}
	case cmp128(d.high, d.low, high, low) >= 0:
		sum.high, sum.low = sub128(d.high, d.low, high, low)
	default:
		sum.high, sum.low = sub128(high, low, d.high, d.low)
		sum.negative = other.negative
	}
	return sum.trim().checked()
}

// Sub returns d - other, exactly. The error is a *LimitError.
func (d Decimal) Sub(other Decimal) (Decimal, error) {
	return d.Add(other.Neg())
}

// Mul returns d × other, exactly. The error is a *LimitError. If the product will be rounded, use
// MulQuo, whose intermediate results have no such limit.
func (d Decimal) Mul(other Decimal) (Decimal, error) {
	scale := int(d.scale) + int(other.scale)
	negative := d.negative != other.negative
	if d.high|other.high == 0 && scale <= FractionDigitsMax {
		high, low := bits.Mul64(d.low, other.low)
		product := Decimal{high: high, low: low, scale: uint8(scale), negative: negative}
		return product.trim().checked()
	}
	var a, b apd.BigInt
	d.big(&a)
	other.big(&b)
	a.Mul(&a, &b)
	return fromBig(&a, scale, negative)
}

// Quo returns d / other, rounded to the given number of digits after the point. The error is
// ErrDivisionByZero or a *LimitError.
func (d Decimal) Quo(other Decimal, digits int, rounding Rounding) (Decimal, error) {
	return d.MulQuo(DecimalFromInt(1), other, digits, rounding)
}

// MulQuo returns d × numerator / denominator, rounded once at the end to the given number of digits
// after the point. The error is ErrDivisionByZero, or a *LimitError for the result or for a number
// of digits that is negative or more than FractionDigitsMax.
func (d Decimal) MulQuo(
	numerator, denominator Decimal, digits int, rounding Rounding,
) (Decimal, error) {
	if denominator.IsZero() {
		return Decimal{}, ErrDivisionByZero
	}
	if digits < 0 || digits > FractionDigitsMax {
		return Decimal{}, &LimitError{}
	}
	negative := d.negative != (numerator.negative != denominator.negative)
	var above, below, factor apd.BigInt
	d.big(&above)
	numerator.big(&factor)
	above.Mul(&above, &factor)
	denominator.big(&below)
	// Fraction digits of the numerator become factors of the denominator, and vice versa.
	shift := digits + int(denominator.scale) - int(d.scale) - int(numerator.scale)
	if shift >= 0 {
		above.Mul(&above, powerOfTen(&factor, shift))
	} else {
		below.Mul(&below, powerOfTen(&factor, -shift))
	}
	return fromBig(quoRound(&above, &below, rounding), digits, negative)
}

// Round returns d with at most the given number of digits after the point. A negative number means
// 0.
func (d Decimal) Round(digits int, rounding Rounding) Decimal {
	digits = max(digits, 0)
	drop := int(d.scale) - digits
	if drop <= 0 {
		return d
	}
	if d.high == 0 && drop < pow64Max {
		by := pow64[drop]
		quotient, rest := d.low/by, d.low%by
		if rounding.up(quotient%2 == 1, rest == 0, cmpHalf(rest, by)) {
			quotient++
		}
		return Decimal{low: quotient, scale: uint8(digits), negative: d.negative}.trim()
	}
	var coefficient, by apd.BigInt
	d.big(&coefficient)
	quotient := quoRound(&coefficient, powerOfTen(&by, drop), rounding)
	// A rounded coefficient is shorter than the original one, so this cannot fail.
	rounded, _ := fromBig(quotient, digits, d.negative)
	return rounded
}

// RoundToStep returns the multiple of step that is nearest to d by the rounding: with a step of
// 0.05, 1.03 is rounded to 1.05. The error is ErrStep or a *LimitError.
func (d Decimal) RoundToStep(step Decimal, rounding Rounding) (Decimal, error) {
	if step.Sign() <= 0 {
		return Decimal{}, ErrStep
	}
	var above, below, power apd.BigInt
	d.big(&above)
	step.big(&below)
	above.Mul(&above, powerOfTen(&power, int(step.scale)))
	below.Mul(&below, powerOfTen(&power, int(d.scale)))
	steps := quoRound(&above, &below, rounding)
	step.big(&below)
	steps.Mul(steps, &below)
	return fromBig(steps, int(step.scale), d.negative)
}

// big sets z to the coefficient.
func (d Decimal) big(z *apd.BigInt) {
	z.SetUint64(d.low)
	if d.high != 0 {
		var high apd.BigInt
		high.SetUint64(d.high)
		z.Add(z, high.Lsh(&high, 64))
	}
}

// fromBig returns coefficient / 10^scale if it is within the limits. It overwrites the coefficient.
func fromBig(coefficient *apd.BigInt, scale int, negative bool) (Decimal, error) {
	if coefficient.Sign() == 0 {
		return Decimal{}, nil
	}
	var quotient, rest, ten apd.BigInt
	ten.SetInt64(10)
	for scale > 0 {
		quotient.QuoRem(coefficient, &ten, &rest)
		if rest.Sign() != 0 {
			break
		}
		coefficient.Set(&quotient)
		scale--
	}
	if coefficient.BitLen() > 128 || scale > FractionDigitsMax {
		return Decimal{}, &LimitError{}
	}
	d := Decimal{scale: uint8(scale), negative: negative}
	d.high = quotient.Rsh(coefficient, 64).Uint64()
	d.low = coefficient.Sub(coefficient, quotient.Lsh(&quotient, 64)).Uint64()
	return d.checked()
}

// powerOfTen sets z to 10^n and returns it.
func powerOfTen(z *apd.BigInt, n int) *apd.BigInt {
	if n <= pow64Max {
		return z.SetUint64(pow64[n])
	}
	var ten, exponent apd.BigInt
	return z.Exp(ten.SetInt64(10), exponent.SetInt64(int64(n)), nil)
}

func add128(aHigh, aLow, bHigh, bLow uint64) (high, low uint64) {
	high, low, _ = addCarry(aHigh, aLow, bHigh, bLow)
	return high, low
}

func addCarry(aHigh, aLow, bHigh, bLow uint64) (high, low uint64, carry bool) {
	low, over := bits.Add64(aLow, bLow, 0)
	high, over = bits.Add64(aHigh, bHigh, over)
	return high, low, over != 0
}

// sub128 subtracts b from a, which must not be smaller.
func sub128(aHigh, aLow, bHigh, bLow uint64) (high, low uint64) {
	low, borrow := bits.Sub64(aLow, bLow, 0)
	high, _ = bits.Sub64(aHigh, bHigh, borrow)
	return high, low
}

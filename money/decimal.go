package money

import (
	"math/bits"
	"strconv"
)

// The limits of a number. DynamoDB stores numbers of up to 38 significant digits, and a larger
// amount must be refused before it reaches the store.
const (
	// DigitsMax is the maximum number of significant digits.
	DigitsMax = 38
	// FractionDigitsMax is the maximum number of digits after the point.
	FractionDigitsMax = 38
)

// 10^DigitsMax as a number of 128 bits: the first coefficient that is too large.
const (
	tooGreatHigh = 5421010862427522170
	tooGreatLow  = 687399551400673280
)

// Decimal is an exact decimal number: coefficient / 10^scale, with a sign. The zero value is 0.
//
// The coefficient is below 10^38, so it needs 128 bits. A fraction never ends with a zero, and zero
// has no sign. Therefore a == b exactly if a and b are equal numbers.
type Decimal struct {
	high, low uint64 // the coefficient
	scale     uint8  // number of its digits after the point
	negative  bool
}

// NewDecimal returns coefficient / 10^scale: NewDecimal(550, 2) is 5.5. The error is a *LimitError
// for a scale that is negative or more than FractionDigitsMax.
func NewDecimal(coefficient int64, scale int) (Decimal, error) {
	if scale < 0 || scale > FractionDigitsMax {
		return Decimal{}, &LimitError{}
	}
	d := DecimalFromInt(coefficient)
	d.scale = uint8(scale)
	return d.trim(), nil
}

// DecimalFromInt returns an integer as a Decimal.
func DecimalFromInt(n int64) Decimal {
	if n < 0 {
		// Negation in two's complement is also correct for the smallest int64.
		return Decimal{low: -uint64(n), negative: true}
	}
	return Decimal{low: uint64(n)}
}

// Sign returns -1, 0 or +1.
func (d Decimal) Sign() int {
	switch {
	case d.negative:
		return -1
	case d.IsZero():
		return 0
	}
	return 1
}

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool {
	return d == Decimal{}
}

// FractionDigits returns the number of digits after the point: 1 for 5.50.
func (d Decimal) FractionDigits() int {
	return int(d.scale)
}

// Int64 returns d as an integer, and reports whether it is an integer that fits.
func (d Decimal) Int64() (n int64, ok bool) {
	if d.scale > 0 {
		return 0, false
	}
	return d.signedCoefficient()
}

// signedCoefficient returns the coefficient with the sign, and reports whether it fits.
func (d Decimal) signedCoefficient() (n int64, ok bool) {
	n = int64(d.low)
	if d.negative {
		n = -n
	}
	// The coefficient of the smallest int64 is one above that of the largest.
	return n, d.high == 0 && (n == 0 || (n < 0) == d.negative)
}

// Equal reports whether both are the same number, as == does. It is for go-cmp and generic code.
func (d Decimal) Equal(other Decimal) bool {
	return d == other
}

// Cmp compares two numbers and returns -1, 0 or +1.
func (d Decimal) Cmp(other Decimal) int {
	switch {
	case d == other:
		return 0
	case d.negative != other.negative:
		if d.negative {
			return -1
		}
		return 1
	}
	order := d.cmpMagnitude(other)
	if d.negative {
		return -order
	}
	return order
}

func (d Decimal) cmpMagnitude(other Decimal) int {
	if d.scale < other.scale {
		return -other.cmpMagnitude(d)
	}
	high, low, ok := scaleUp(other.high, other.low, int(d.scale-other.scale))
	if !ok {
		return -1
	}
	return cmp128(d.high, d.low, high, low)
}

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	d.negative = !d.negative && !d.IsZero()
	return d
}

// Abs returns d without its sign.
func (d Decimal) Abs() Decimal {
	d.negative = false
	return d
}

// String returns the shortest plain text: "5.5", "-0.05", "1200".
func (d Decimal) String() string {
	return d.Text(0)
}

// Text returns d with at least the given number of digits after the point: 5.5 with two digits is
// "5.50". It never rounds.
func (d Decimal) Text(digits int) string {
	var buffer [64]byte
	return string(d.append(buffer[:0], digits))
}

// append appends d with at least the given number of digits after the point.
func (d Decimal) append(dst []byte, digits int) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	var buffer [DigitsMax + 1]byte
	all := appendCoefficient(buffer[:0], d.high, d.low)
	whole := len(all) - int(d.scale)
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, all[:whole]...)
		all = all[whole:]
	}
	if d.scale == 0 && digits <= 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	if d.scale > 0 {
		dst = append(dst, all...)
	}
	for n := int(d.scale); n < digits; n++ {
		dst = append(dst, '0')
	}
	return dst
}

// trim removes zeros at the end of the fraction, and the sign of zero.
func (d Decimal) trim() Decimal {
	for d.scale > 0 {
		high, low, digit := div128(d.high, d.low, 10)
		if digit != 0 {
			return d
		}
		d.high, d.low = high, low
		d.scale--
	}
	if d.high == 0 && d.low == 0 {
		return Decimal{}
	}
	return d
}

// checked returns d if its coefficient is within the limit.
func (d Decimal) checked() (Decimal, error) {
	if cmp128(d.high, d.low, tooGreatHigh, tooGreatLow) >= 0 {
		return Decimal{}, &LimitError{}
	}
	return d, nil
}

// pow64Max is the largest exponent of a power of ten that fits in 64 bits.
const pow64Max = 19

var pow64 = [pow64Max + 1]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// scaleUp multiplies a number of 128 bits by 10^n. It reports false if the product has more than
// 128 bits, in which case the product is more than three times 10^DigitsMax.
func scaleUp(high, low uint64, n int) (productHigh, productLow uint64, ok bool) {
	for n > 0 && high|low != 0 {
		power := pow64[min(n, pow64Max)]
		n -= pow64Max
		over, upper := bits.Mul64(high, power)
		carry, lower := bits.Mul64(low, power)
		sum, overflow := bits.Add64(upper, carry, 0)
		if over|overflow != 0 {
			return 0, 0, false
		}
		high, low = sum, lower
	}
	return high, low, true
}

// div128 divides a number of 128 bits.
func div128(high, low, by uint64) (quotientHigh, quotientLow, rest uint64) {
	if high == 0 {
		return 0, low / by, low % by
	}
	quotientLow, rest = bits.Div64(high%by, low, by)
	return high / by, quotientLow, rest
}

func cmp128(aHigh, aLow, bHigh, bLow uint64) int {
	switch {
	case aHigh < bHigh, aHigh == bHigh && aLow < bLow:
		return -1
	case aHigh == bHigh && aLow == bLow:
		return 0
	}
	return 1
}

// appendCoefficient appends the digits of a number of 128 bits below 10^38.
func appendCoefficient(dst []byte, high, low uint64) []byte {
	if high == 0 {
		return strconv.AppendUint(dst, low, 10)
	}
	_, upper, lower := div128(high, low, pow64[pow64Max])
	dst = strconv.AppendUint(dst, upper, 10)
	at := len(dst)
	for range pow64Max {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= at; i-- {
		dst[i] = byte('0' + lower%10)
		lower /= 10
	}
	return dst
}

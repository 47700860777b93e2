package dynamo

import (
	"strconv"
	"strings"
)

// AddNumbers returns the exact sum a + b of canonical texts. The error is a *NumberError: overflow
// if the sum is out of range or needs more than NumberDigitsMax digits, underflow if it is closer
// to zero than 1E-130.
func AddNumbers(a, b string) (string, error) {
	return sumNumbers(a, b, false)
}

// SubtractNumbers returns a - b, with the rules of AddNumbers.
func SubtractNumbers(a, b string) (string, error) {
	return sumNumbers(a, b, true)
}

func sumNumbers(a, b string, subtract bool) (string, error) {
	if text, ok := sumSmall(a, b, subtract); ok {
		return text, nil
	}
	var x, y decimal
	x.load(a)
	y.load(b)
	if subtract {
		y.negative = !y.negative
	}
	if reason := x.add(&y); reason != 0 {
		return "", &NumberError{Reason: reason}
	}
	return x.text(), nil
}

// smallDigitsMax is the maximum number of digits with which two numbers can be added as int64.
const smallDigitsMax = 18

var powersOfTen = [smallDigitsMax + 1]int64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// sumSmall adds numbers that fit into an int64 after scaling to the same number of fraction digits.
// Such a sum is always in range. It reports false for other numbers.
func sumSmall(a, b string, subtract bool) (text string, ok bool) {
	x, xScale, xOK := loadSmall(a)
	y, yScale, yOK := loadSmall(b)
	if !xOK || !yOK {
		return "", false
	}
	if subtract {
		y = -y
	}
	scale := max(xScale, yScale)
	if x, ok = scaleUp(x, scale-xScale); !ok {
		return "", false
	}
	if y, ok = scaleUp(y, scale-yScale); !ok {
		return "", false
	}
	return textOfSmall(x+y, scale), true
}

// loadSmall converts canonical text to coefficient / 10^scale.
func loadSmall(text string) (coefficient int64, scale int, ok bool) {
	digits := text
	if isNegative(text) {
		digits = text[1:]
	}
	if len(digits) > smallDigitsMax+len(".") {
		return 0, 0, false
	}
	last := len(digits) - 1
	if last == smallDigitsMax && strings.IndexByte(digits, '.') < 0 {
		return 0, 0, false
	}
	for i := 0; i < len(digits); i++ {
		if digits[i] == '.' {
			scale = last - i
			continue
		}
		coefficient = coefficient*10 + int64(digits[i]-'0')
	}
	if len(digits) != len(text) {
		coefficient = -coefficient
	}
	return coefficient, scale, true
}

// scaleUp multiplies by 10^n if the product is below 10^smallDigitsMax.
func scaleUp(coefficient int64, n int) (int64, bool) {
	bound := powersOfTen[smallDigitsMax-n]
	if coefficient >= bound || coefficient <= -bound {
		return 0, false
	}
	return coefficient * powersOfTen[n], true
}

func textOfSmall(coefficient int64, scale int) string {
	for scale > 0 && coefficient%10 == 0 {
		coefficient /= 10
		scale--
	}
	if scale == 0 {
		return strconv.FormatInt(coefficient, 10)
	}
	var digits, text [smallDigitsMax + 8]byte
	dst := text[:0]
	if coefficient < 0 {
		dst = append(dst, '-')
		coefficient = -coefficient
	}
	all := strconv.AppendInt(digits[:0], coefficient, 10)
	whole := len(all) - scale
	if whole <= 0 {
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -whole)
		return string(append(dst, all...))
	}
	dst = append(dst, all[:whole]...)
	dst = append(dst, '.')
	return string(append(dst, all[whole:]...))
}

// sumWidth is the maximum number of decimal positions, from the first digit of one number to the
// last digit of either, over which a sum can have at most NumberDigitsMax digits: the digits, one
// position for a carry and one for a borrow.
const sumWidth = NumberDigitsMax + 2

// add sets d to d + other. It returns 0, or the reason why the sum cannot be represented; d is then
// undefined.
func (d *decimal) add(other *decimal) NumberReason {
	if other.count == 0 {
		return 0
	}
	if d.count == 0 {
		*d = *other
		return 0
	}
	large, small := d, other
	if large.magnitudeBelow(small) {
		large, small = small, large
	}
	// The last digit of a sum is not zero if only one number has a digit there, so a wide span
	// means too many digits. Time and memory are therefore independent of the distance of the
	// numbers.
	top := large.exponent
	bottom := min(large.lastExponent(), small.lastExponent())
	if top-bottom+1 > sumWidth {
		return NumberOverflow
	}
	// Position 0 is reserved for the carry.
	var sum [1 + sumWidth]int8
	for i := range large.count {
		sum[1+i] = int8(large.digits[i])
	}
	sign := int8(1)
	if large.negative != small.negative {
		sign = -1
	}
	offset := 1 + top - small.exponent
	for i := range small.count {
		sum[offset+i] += sign * int8(small.digits[i])
	}
	for i := len(sum) - 1; i > 0; i-- {
		switch {
		case sum[i] > 9:
			sum[i] -= 10
			sum[i-1]++
		case sum[i] < 0:
			sum[i] += 10
			sum[i-1]--
		}
	}
	return d.assign(large.negative, top+1, sum[:])
}

// assign sets d to the digits, the first of which has the given power of ten. Zeros at both ends
// are removed.
func (d *decimal) assign(negative bool, exponent int, digits []int8) NumberReason {
	for len(digits) > 0 && digits[0] == 0 {
		digits = digits[1:]
		exponent--
	}
	for len(digits) > 0 && digits[len(digits)-1] == 0 {
		digits = digits[:len(digits)-1]
	}
	switch {
	case len(digits) == 0:
		*d = decimal{}
		return 0
	case len(digits) > NumberDigitsMax, exponent > NumberExponentMax:
		return NumberOverflow
	case exponent < NumberExponentMin:
		return NumberUnderflow
	}
	d.negative, d.exponent, d.count = negative, exponent, len(digits)
	for i, digit := range digits {
		d.digits[i] = byte(digit)
	}
	return 0
}

// lastExponent returns the power of ten of the last digit.
func (d *decimal) lastExponent() int {
	return d.exponent - d.count + 1
}

// magnitudeBelow reports whether |d| < |other|. Neither may be zero.
func (d *decimal) magnitudeBelow(other *decimal) bool {
	if d.exponent != other.exponent {
		return d.exponent < other.exponent
	}
	return string(d.digits[:d.count]) < string(other.digits[:other.count])
}

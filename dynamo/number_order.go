package dynamo

import "errors"

// The ordered encoding of a number. The order of the bytes is the order of the numbers:
//
//	zero       80
//	positive   C0, exponent of the first digit + 130, digit pairs + 1, 00
//	negative   40, then the complement of what follows the C0 of the positive number
//
// A pair is two decimal digits, 0 to 99, so its byte is 1 to 100. An odd last digit is followed by
// a zero. No encoding is a prefix of another, so other parts of a key can follow. The exponents
// that DynamoDB allows are exactly the 256 values of a byte.
const (
	orderedNegative = 0x40
	orderedZero     = 0x80
	orderedPositive = 0xC0
	orderedEnd      = 0x00
	// The class, the exponent, the pairs and the end.
	orderedNumberMax = 1 + 1 + NumberDigitsMax/2 + 1
)

var (
	errOrderedShort = errors.New("ordered number ends too early")
	errOrderedBytes = errors.New("bytes are not an ordered number")
)

// AppendOrderedNumber appends the ordered encoding of a number in canonical text, which has at most
// 22 bytes, and returns the extended slice.
func AppendOrderedNumber(dst []byte, canonical string) []byte {
	var d decimal
	d.load(canonical)
	if d.count == 0 {
		return append(dst, orderedZero)
	}
	var buffer [orderedNumberMax]byte
	buffer[0] = orderedPositive
	buffer[1] = byte(d.exponent - NumberExponentMin)
	n := 2
	for i := 0; i < d.count; i += 2 {
		pair := d.digits[i] * 10
		if i+1 < d.count {
			pair += d.digits[i+1]
		}
		buffer[n] = pair + 1
		n++
	}
	buffer[n] = orderedEnd
	n++
	if d.negative {
		buffer[0] = orderedNegative
		for i := 1; i < n; i++ {
			buffer[i] = ^buffer[i]
		}
	}
	return append(dst, buffer[:n]...)
}

// DecodeOrderedNumber decodes the ordered encoding at the start of b. It returns the number's
// canonical text and the remaining bytes, which alias b. It returns an error if b does not begin
// with an encoding of AppendOrderedNumber.
func DecodeOrderedNumber(b []byte) (text string, rest []byte, err error) {
	if len(b) == 0 {
		return "", nil, errOrderedShort
	}
	var d decimal
	var mask byte
	switch b[0] {
	case orderedZero:
		return "0", b[1:], nil
	case orderedPositive:
	case orderedNegative:
		d.negative = true
		mask = 0xFF
	default:
		return "", nil, errOrderedBytes
	}
	if len(b) < 2 {
		return "", nil, errOrderedShort
	}
	d.exponent = int(b[1]^mask) + NumberExponentMin
	for i := 2; i < len(b); i++ {
		pair := b[i] ^ mask
		if pair == orderedEnd {
			if !d.trimOrdered() {
				return "", nil, errOrderedBytes
			}
			return d.text(), b[i+1:], nil
		}
		pair--
		if pair > 99 || d.count == NumberDigitsMax {
			return "", nil, errOrderedBytes
		}
		d.digits[d.count], d.digits[d.count+1] = pair/10, pair%10
		d.count += 2
	}
	return "", nil, errOrderedShort
}

// trimOrdered removes the zero that completes the last pair. It reports false for digits that are
// not a valid encoding: none, a zero at the front, or a pair of zeros at the end.
func (d *decimal) trimOrdered() bool {
	if d.count == 0 || d.digits[0] == 0 {
		return false
	}
	if d.digits[d.count-1] == 0 {
		d.count--
	}
	return d.digits[d.count-1] != 0
}

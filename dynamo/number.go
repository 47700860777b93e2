package dynamo

import "strings"

// A DynamoDB number is stored as canonical plain text: an optional minus sign, digits without
// leading zeros, and, if the number has a fraction, a point and digits without trailing zeros. It
// never has an exponent and is never a float: "42", "-0.5", "0". Two numbers are equal exactly if
// their canonical texts are equal.

// The limits of a number, from "Supported data types and naming rules in Amazon DynamoDB".
const (
	// NumberDigitsMax is the maximum number of significant digits, without leading and trailing
	// zeros.
	NumberDigitsMax = 38
	// NumberExponentMax is the exponent of the leading digit of the largest number, 9.99…E+125.
	NumberExponentMax = 125
	// NumberExponentMin is the exponent of the leading digit of the smallest positive number,
	// 1E-130.
	NumberExponentMin = -130
)

// numberTextMax is the maximum length of a canonical text: a sign, "0.", the zeros before the
// leading digit of the smallest exponent, and all digits.
const numberTextMax = 1 + 2 + (-NumberExponentMin - 1) + NumberDigitsMax

// exponentCap is the value at which a parsed exponent is clamped. It is far greater than the length
// of any text, so no number of zeros can bring a clamped exponent back into range.
const exponentCap = int64(1) << 40

// NumberReason is the reason why a number is refused.
type NumberReason int

// The reasons why a number is refused.
const (
	// NumberUnreadable means that the text is not a number.
	NumberUnreadable NumberReason = iota + 1
	// NumberTooPrecise means more than NumberDigitsMax significant digits.
	NumberTooPrecise
	// NumberOverflow means a magnitude above 9.99…E+125, or a sum that needs more than
	// NumberDigitsMax digits.
	NumberOverflow
	// NumberUnderflow means a nonzero magnitude below 1E-130.
	NumberUnderflow
)

// NumberError reports an invalid number. Its message is DynamoDB's.
type NumberError struct {
	Reason NumberReason
	Text   string // the invalid text; set only for NumberUnreadable
}

// Error returns DynamoDB's message.
func (e *NumberError) Error() string {
	const magnitude = ". Attempting to store a number with magnitude "
	switch e.Reason {
	case NumberTooPrecise:
		return "Attempting to store more than 38 significant digits in a Number"
	case NumberOverflow:
		return "Number overflow" + magnitude + "larger than supported range"
	case NumberUnderflow:
		return "Number underflow" + magnitude + "smaller than supported range"
	}
	const unreadable = "The parameter cannot be converted to a numeric value"
	if e.Text == "" {
		return unreadable
	}
	return unreadable + ": " + e.Text
}

// CanonicalNumber parses the text of a number as DynamoDB does and returns its canonical text. The
// grammar is: an optional sign, digits with at most one point and at least one digit, and an
// optional exponent ("E" or "e", an optional sign, digits). A canonical text is returned unchanged,
// without allocation.
//
// The error is a *NumberError. If several reasons apply, the range is reported before the number of
// digits.
func CanonicalNumber(text string) (string, error) {
	if isCanonicalNumber(text) {
		return text, nil
	}
	var d decimal
	if reason := d.parse(text); reason != 0 {
		if reason != NumberUnreadable {
			text = ""
		}
		return "", &NumberError{Reason: reason, Text: text}
	}
	return d.text(), nil
}

// CompareNumbers compares two canonical texts by value, exactly. The result is -1, 0 or +1.
func CompareNumbers(a, b string) int {
	if a == b {
		return 0
	}
	aNegative, bNegative := isNegative(a), isNegative(b)
	switch {
	case aNegative && bNegative:
		return comparePositive(b[1:], a[1:])
	case aNegative:
		return -1
	case bNegative:
		return 1
	}
	return comparePositive(a, b)
}

// NumberSize returns the stored size in bytes of a number in canonical text: one byte, one more for
// a minus sign, and one for each two significant digits before the point and for each two after it.
// Zero has one byte.
func NumberSize(text string) int {
	size := 1
	if isNegative(text) {
		text, size = text[1:], 2
	}
	whole, fraction := splitPoint(text)
	if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	if whole == "" || whole == "0" {
		whole = ""
		fraction = strings.TrimLeft(fraction, "0")
	}
	return size + (len(whole)+1)/2 + (len(fraction)+1)/2
}

// isCanonicalNumber reports whether text is canonical and within all limits.
func isCanonicalNumber(text string) bool {
	if isNegative(text) {
		if text = text[1:]; text == "0" {
			return false
		}
	}
	if text == "" {
		return false
	}
	if text[0] == '0' {
		return text == "0" || isCanonicalFraction(text)
	}
	whole := countDigits(text)
	if whole == 0 || whole > NumberExponentMax+1 {
		return false
	}
	if whole == len(text) {
		return whole <= NumberDigitsMax || len(strings.TrimRight(text, "0")) <= NumberDigitsMax
	}
	fraction := text[whole+1:]
	return text[whole] == '.' && fraction != "" && fraction[len(fraction)-1] != '0' &&
		whole+len(fraction) <= NumberDigitsMax && countDigits(fraction) == len(fraction)
}

// isCanonicalFraction is isCanonicalNumber for a text that begins with a zero.
func isCanonicalFraction(text string) bool {
	if len(text) < len("0.1") || text[1] != '.' {
		return false
	}
	fraction := text[2:]
	zeros := 0
	for zeros < len(fraction) && fraction[zeros] == '0' {
		zeros++
	}
	digits := fraction[zeros:]
	return digits != "" && len(digits) <= NumberDigitsMax && -(zeros+1) >= NumberExponentMin &&
		digits[len(digits)-1] != '0' && countDigits(digits) == len(digits)
}

// comparePositive compares canonical texts without signs. If the parts before the point have the
// same length, the order of the texts is the order of the numbers.
func comparePositive(a, b string) int {
	aWhole, bWhole := countDigits(a), countDigits(b)
	if aWhole != bWhole {
		if aWhole < bWhole {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

func isNegative(text string) bool {
	return text != "" && text[0] == '-'
}

// countDigits returns the number of decimal digits at the beginning of text.
func countDigits(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i]-'0' > 9 {
			return i
		}
	}
	return len(text)
}

// splitPoint returns the parts before and after the point.
func splitPoint(text string) (whole, fraction string) {
	whole = text[:countDigits(text)]
	if len(whole) < len(text) {
		fraction = text[len(whole)+1:]
	}
	return whole, fraction
}

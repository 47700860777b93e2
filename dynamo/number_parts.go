package dynamo

// decimal is a number taken apart: ±d₁.d₂d₃… × 10^exponent. It lives on the stack, so taking a
// number apart allocates nothing, whatever its exponent.
type decimal struct {
	negative bool
	count    int // How many digits are in use; zero has none.
	exponent int // The power of ten of the first digit.
	// digits holds values 0 to 9; the first and the last in use are never 0.
	digits [NumberDigitsMax]byte
}

// parse reads text by the grammar of CanonicalNumber. It returns 0, or why text is refused.
func (d *decimal) parse(text string) NumberReason {
	rest := text
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.negative = rest[0] == '-'
		rest = rest[1:]
	}
	var (
		seen     int   // Digits read, zeros included.
		fraction int   // Of these, after the point.
		point    bool  // The point was read.
		zeros    int   // Zeros read after the last digit that counts.
		lead     int   // How many digits came before the first that counts.
		over     bool  // There are more digits than d holds.
		exponent int64 // As written after the "E".
	)
	for ; rest != ""; rest = rest[1:] {
		c := rest[0]
		if c == '.' && !point {
			point = true
			continue
		}
		digit := c - '0'
		if digit > 9 {
			break
		}
		seen++
		if point {
			fraction++
		}
		if digit == 0 {
			if d.count > 0 {
				zeros++
			}
			continue
		}
		if d.count == 0 {
			lead = seen - 1
		}
		// Zeros count only now that another digit follows them.
		if d.count+zeros >= NumberDigitsMax {
			over = true
			continue
		}
		d.count += zeros
		zeros = 0
		d.digits[d.count] = digit
		d.count++
	}
	if seen == 0 {
		return NumberUnreadable
	}
	if rest != "" {
		var ok bool
		if exponent, ok = parseExponent(rest); !ok {
			return NumberUnreadable
		}
	}
	if d.count == 0 {
		// DynamoDB measures a written zero by the exponent of its last digit, so it takes
		// 0.0e126 and refuses 0e126.
		d.negative = false
		if exponent-int64(fraction) > NumberExponentMax {
			return NumberOverflow
		}
		return 0
	}
	exponent += int64(seen - fraction - lead - 1)
	switch {
	case exponent > NumberExponentMax:
		return NumberOverflow
	case exponent < NumberExponentMin:
		return NumberUnderflow
	case over:
		return NumberTooPrecise
	}
	d.exponent = int(exponent)
	return 0
}

// parseExponent reads "E", an optional sign and digits, to the end of text. What is greater than
// exponentCap is cut to it.
func parseExponent(text string) (exponent int64, ok bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if text == "" || countDigits(text) != len(text) {
		return 0, false
	}
	for i := 0; i < len(text); i++ {
		exponent = min(exponent*10+int64(text[i]-'0'), exponentCap)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// load takes canonical text apart. It checks nothing, but no text makes it fail.
func (d *decimal) load(text string) {
	d.count, d.exponent = 0, 0
	if d.negative = isNegative(text); d.negative {
		text = text[1:]
	}
	whole, fraction := splitPoint(text)
	if whole == "0" {
		zeros := 0
		for zeros < len(fraction) && fraction[zeros] == '0' {
			zeros++
		}
		d.exponent = -(zeros + 1)
		whole, fraction = fraction[zeros:], ""
	} else {
		d.exponent = len(whole) - 1
	}
	n := 0
	for i := 0; i < len(whole) && n < NumberDigitsMax; i++ {
		d.digits[n] = whole[i] - '0'
		n++
	}
	for i := 0; i < len(fraction) && n < NumberDigitsMax; i++ {
		d.digits[n] = fraction[i] - '0'
		n++
	}
	for n > 0 && d.digits[n-1] == 0 {
		n--
	}
	d.count = n
}

// text returns the canonical text, with one allocation.
func (d *decimal) text() string {
	var buffer [numberTextMax]byte
	return string(d.appendText(buffer[:0]))
}

func (d *decimal) appendText(dst []byte) []byte {
	if d.count == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	if d.exponent < 0 {
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -d.exponent-1)
		return appendDigits(dst, d.digits[:d.count])
	}
	whole := d.exponent + 1
	if d.count <= whole {
		dst = appendDigits(dst, d.digits[:d.count])
		return appendZeros(dst, whole-d.count)
	}
	dst = appendDigits(dst, d.digits[:whole])
	dst = append(dst, '.')
	return appendDigits(dst, d.digits[whole:d.count])
}

func appendDigits(dst, digits []byte) []byte {
	for _, digit := range digits {
		dst = append(dst, '0'+digit)
	}
	return dst
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

package dynamo

// decimal is a decoded number: ±d₁.d₂d₃… × 10^exponent. It has a fixed size and can be on the
// stack, so decoding a number never allocates, even with a large exponent.
type decimal struct {
	negative bool
	count    int // number of digits in use; zero has none
	exponent int // power of ten of the first digit
	// digits holds values 0 to 9. The first and last digits in use are not 0.
	digits [NumberDigitsMax]byte
}

// parse parses text by the grammar of CanonicalNumber. It returns 0, or the reason why text is
// invalid.
func (d *decimal) parse(text string) NumberReason {
	rest := text
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.negative = rest[0] == '-'
		rest = rest[1:]
	}
	var (
		seen     int   // digits, including zeros
		fraction int   // digits after the point
		point    bool  // whether the point was parsed
		zeros    int   // zeros after the last significant digit
		lead     int   // digits before the first significant digit
		over     bool  // whether there are more digits than d holds
		exponent int64 // the exponent as written after "E"
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
		// Zeros are significant only now, because another digit follows them.
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
		// DynamoDB checks zero by the exponent of its last digit, so it accepts 0.0e126 and refuses
		// 0e126.
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

// parseExponent parses "E", an optional sign and digits, to the end of text. A value above
// exponentCap is clamped.
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

// load decodes canonical text. It validates nothing, but no text makes it panic.
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

package money

import "encoding/json"

// ParseDecimal reads a plain decimal number: an optional sign, digits with at most one point and
// at least one digit. Exponents, spaces and grouping are refused. The error is a *SyntaxError or a
// *LimitError.
func ParseDecimal(text string) (Decimal, error) {
	return parseDecimal(text, false)
}

// exponentMax is the greatest exponent that is read where exponents are. No number within the
// limits needs more, and a longer one could only be an attack or a mistake.
const exponentMax = 200

// parseDecimal reads plain decimals and, if told to, a decimal exponent after them.
func parseDecimal(text string, exponents bool) (Decimal, error) {
	rest := text
	var d Decimal
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.negative = rest[0] == '-'
		rest = rest[1:]
	}
	whole, rest := cutDigits(rest)
	fraction := ""
	if rest != "" && rest[0] == '.' {
		fraction, rest = cutDigits(rest[1:])
	}
	exponent := 0
	if rest != "" {
		var ok bool
		if exponent, ok = parseExponent(rest); !ok || !exponents {
			return Decimal{}, &SyntaxError{Text: echo(text)}
		}
	}
	if whole == "" && fraction == "" {
		return Decimal{}, &SyntaxError{Text: echo(text)}
	}
	// Zeros at both ends are no digits of the number, however many there are.
	for whole != "" && whole[0] == '0' {
		whole = whole[1:]
	}
	for fraction != "" && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	if whole == "" && fraction == "" {
		return Decimal{}, nil
	}
	scale := len(fraction) - exponent
	ok := d.appendDigits(whole) && d.appendDigits(fraction)
	if ok && scale < 0 {
		d.high, d.low, ok = scaleUp(d.high, d.low, -scale)
		scale = 0
	}
	if !ok || scale > FractionDigitsMax {
		return Decimal{}, &LimitError{Text: echo(text)}
	}
	d.scale = uint8(scale)
	d, err := d.trim().checked()
	if err != nil {
		return Decimal{}, &LimitError{Text: echo(text)}
	}
	return d, nil
}

// appendDigits puts digits at the end of the coefficient. It reports false when they do not fit.
func (d *Decimal) appendDigits(digits string) bool {
	for digits != "" {
		// As many digits as fit into 64 bits are put in at once.
		part := digits[:min(len(digits), pow64Max)]
		digits = digits[len(part):]
		var value uint64
		for i := 0; i < len(part); i++ {
			value = value*10 + uint64(part[i]-'0')
		}
		high, low, ok := scaleUp(d.high, d.low, len(part))
		if !ok {
			return false
		}
		d.high, d.low = add128(high, low, 0, value)
		if cmp128(d.high, d.low, tooGreatHigh, tooGreatLow) >= 0 {
			return false
		}
	}
	return true
}

// cutDigits returns the digits that text begins with, and what follows them.
func cutDigits(text string) (digits, rest string) {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return text[:n], text[n:]
}

// parseExponent reads "e", an optional sign and digits to the end of text. An exponent beyond
// exponentMax is read as one just beyond it.
func parseExponent(text string) (exponent int, ok bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := text != "" && text[0] == '-'
	if negative || text != "" && text[0] == '+' {
		text = text[1:]
	}
	digits, rest := cutDigits(text)
	if digits == "" || rest != "" {
		return 0, false
	}
	for i := 0; i < len(digits); i++ {
		exponent = min(exponent*10+int(digits[i]-'0'), exponentMax+1)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// MarshalText writes the shortest plain text.
func (d Decimal) MarshalText() ([]byte, error) {
	return d.append(nil, 0), nil
}

// UnmarshalText reads what ParseDecimal reads.
func (d *Decimal) UnmarshalText(text []byte) error {
	return d.set(string(text), false)
}

// MarshalNumber returns the text under which d is stored as a DynamoDB Number.
func (d Decimal) MarshalNumber() (string, error) {
	return d.String(), nil
}

// UnmarshalNumber reads a stored DynamoDB Number. A number that another program stored may have an
// exponent, and may be outside the limits, for DynamoDB allows magnitudes from 1E-130 to 1E+125;
// that is a *LimitError.
func (d *Decimal) UnmarshalNumber(text string) error {
	return d.set(text, true)
}

// MarshalJSON writes a string: readers in other languages would make a float of a number.
func (d Decimal) MarshalJSON() ([]byte, error) {
	dst := append(make([]byte, 0, 24), '"')
	return append(d.append(dst, 0), '"'), nil
}

// UnmarshalJSON reads a string as ParseDecimal does, and a JSON number digit by digit, never as a
// float. As usual, null changes nothing.
func (d *Decimal) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) == 0 || data[0] != '"' {
		return d.set(string(data), true)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return d.set(text, false)
}

func (d *Decimal) set(text string, exponents bool) error {
	parsed, err := parseDecimal(text, exponents)
	if err == nil {
		*d = parsed
	}
	return err
}

package money

import "encoding/json"

// ParseDecimal parses a plain decimal number: an optional sign, digits with at most one point and
// at least one digit. Exponents, spaces and grouping are refused. The error is a *SyntaxError or a
// *LimitError.
func ParseDecimal(text string) (Decimal, error) {
	return parseDecimal(text, false)
}

// exponentMax is the maximum exponent in texts that may have one. No number within the limits needs
// more; a larger one is an attack or a mistake.
const exponentMax = 200

// parseDecimal parses plain decimals and, with exponents, a decimal exponent after them.
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
	// Zeros at both ends are not digits of the number, however many there are.
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

// appendDigits appends digits to the coefficient. It reports false if they do not fit.
func (d *Decimal) appendDigits(digits string) bool {
	for digits != "" {
		// As many digits as fit in 64 bits are appended at once.
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

// cutDigits returns the digits at the beginning of text, and the rest.
func cutDigits(text string) (digits, rest string) {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return text[:n], text[n:]
}

// parseExponent parses "e", an optional sign and digits to the end of text. An exponent above
// exponentMax is replaced by exponentMax + 1.
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

// MarshalText returns the shortest plain text.
func (d Decimal) MarshalText() ([]byte, error) {
	return d.append(nil, 0), nil
}

// UnmarshalText parses the forms of ParseDecimal.
func (d *Decimal) UnmarshalText(text []byte) error {
	return d.set(string(text), false)
}

// MarshalNumber returns the text under which d is stored as a DynamoDB Number.
func (d Decimal) MarshalNumber() (string, error) {
	return d.String(), nil
}

// UnmarshalNumber parses a stored DynamoDB Number. A number of another program may have an
// exponent. It may also be outside the limits, because DynamoDB allows magnitudes from 1E-130 to
// 1E+125; the error is then a *LimitError.
func (d *Decimal) UnmarshalNumber(text string) error {
	return d.set(text, true)
}

// MarshalJSON returns a string, because readers in other languages would convert a number to a
// float.
func (d Decimal) MarshalJSON() ([]byte, error) {
	dst := append(make([]byte, 0, 24), '"')
	return append(d.append(dst, 0), '"'), nil
}

// UnmarshalJSON parses a string as ParseDecimal does, and a JSON number digit by digit, never as a
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

package money

import "encoding/json"

// Amount is an exact number of a currency's major units. Two amounts are equal, also by ==, if both
// their numbers and currencies are. The zero value is zero without a currency; see Add.
type Amount struct {
	units    Decimal
	currency Currency
}

// New returns an amount of units of a currency: New(5.5, "USD") is 5.50 USD. The number may have
// more fraction digits than the currency. The error is a *CurrencyError.
func New(units Decimal, currency Currency) (Amount, error) {
	if !currency.valid() {
		return Amount{}, unknownCurrency(string(currency))
	}
	return Amount{units: units, currency: currency}, nil
}

// Parse parses a plain decimal text, see ParseDecimal, as an amount of a currency. The error is a
// *SyntaxError, *LimitError or *CurrencyError.
func Parse(text string, currency Currency) (Amount, error) {
	units, err := ParseDecimal(text)
	if err != nil {
		return Amount{}, err
	}
	return New(units, currency)
}

// MustParse is Parse for literals in tests and package-level variables. It panics if Parse returns
// an error, so it must never be called with external input.
func MustParse(text string, currency Currency) Amount {
	a, err := Parse(text, currency)
	if err != nil {
		panic(err)
	}
	return a
}

// FromMinor returns an amount of minor units: FromMinor(550, "USD") is 5.50 USD, and
// FromMinor(550, "JPY") is 550 JPY. The error is a *CurrencyError.
func FromMinor(minor int64, currency Currency) (Amount, error) {
	if !currency.valid() {
		return Amount{}, unknownCurrency(string(currency))
	}
	return of(currency)(NewDecimal(minor, currency.Digits()))
}

// Minor returns the amount in minor units: 550 for 5.50 USD. The error is a *FractionError if the
// amount does not fit its currency, and a *LimitError if the number does not fit an int64.
func (a Amount) Minor() (int64, error) {
	if !a.Fits() {
		return 0, &FractionError{Amount: a}
	}
	d := a.units
	var ok bool
	d.high, d.low, ok = scaleUp(d.high, d.low, a.currency.Digits()-int(d.scale))
	if ok {
		var minor int64
		if minor, ok = d.signedCoefficient(); ok {
			return minor, nil
		}
	}
	return 0, &LimitError{Text: a.String()}
}

// Units returns the number of major units.
func (a Amount) Units() Decimal { return a.units }

// Currency returns the currency. It is empty for the zero Amount.
func (a Amount) Currency() Currency { return a.currency }

// Sign returns -1, 0 or +1.
func (a Amount) Sign() int { return a.units.Sign() }

// IsZero reports whether the number is 0, in any currency.
func (a Amount) IsZero() bool { return a.units.IsZero() }

// FractionDigits returns the number of digits after the point: 1 for 5.50 USD.
func (a Amount) FractionDigits() int { return a.units.FractionDigits() }

// Fits reports whether the amount has no more fraction digits than its currency.
func (a Amount) Fits() bool { return a.FractionDigits() <= a.currency.Digits() }

// Equal reports whether number and currency are equal, as == does. It is for go-cmp and generic
// code.
func (a Amount) Equal(b Amount) bool { return a == b }

// Cmp compares two amounts of one currency and returns -1, 0 or +1. The zero Amount can be compared
// with every currency. The error is a *MismatchError.
func (a Amount) Cmp(b Amount) (int, error) {
	if _, err := common(a, b); err != nil {
		return 0, err
	}
	return a.units.Cmp(b.units), nil
}

// Add returns a + b, exactly. The sum with the zero Amount is the other amount, with its currency.
// The error is a *MismatchError or a *LimitError.
func (a Amount) Add(b Amount) (Amount, error) {
	currency, err := common(a, b)
	if err != nil {
		return Amount{}, err
	}
	return of(currency)(a.units.Add(b.units))
}

// Sub returns a - b, with the rules of Add.
func (a Amount) Sub(b Amount) (Amount, error) {
	return a.Add(b.Neg())
}

// Sum returns the sum of amounts of one currency, and the zero Amount for no amounts. The error is
// a *MismatchError or a *LimitError.
func Sum(amounts ...Amount) (Amount, error) {
	var total Amount
	for _, a := range amounts {
		var err error
		if total, err = total.Add(a); err != nil {
			return Amount{}, err
		}
	}
	return total, nil
}

// Neg returns -a.
func (a Amount) Neg() Amount {
	a.units = a.units.Neg()
	return a
}

// Abs returns a without its sign.
func (a Amount) Abs() Amount {
	a.units = a.units.Abs()
	return a
}

// Mul returns a × factor, rounded once to the currency's digits. For the exact product, multiply
// Units. The error is a *LimitError.
func (a Amount) Mul(factor Decimal, rounding Rounding) (Amount, error) {
	return a.MulQuo(factor, DecimalFromInt(1), rounding)
}

// MulQuo returns a × numerator / denominator, rounded once to the currency's digits. The error is
// ErrDivisionByZero or a *LimitError.
func (a Amount) MulQuo(numerator, denominator Decimal, rounding Rounding) (Amount, error) {
	digits := a.currency.Digits()
	return of(a.currency)(a.units.MulQuo(numerator, denominator, digits, rounding))
}

// Convert returns a in another currency: a × numerator / denominator, rounded once to that
// currency's digits. With two rates against the euro, 100 USD in yen is
//
//	usd.Convert("JPY", yenPerEuro, dollarsPerEuro, money.HalfUp)
//
// so that no cross rate is rounded in between. The error is a *CurrencyError, ErrDivisionByZero or
// a *LimitError.
func (a Amount) Convert(
	to Currency, numerator, denominator Decimal, rounding Rounding,
) (Amount, error) {
	if !to.valid() {
		return Amount{}, unknownCurrency(string(to))
	}
	return of(to)(a.units.MulQuo(numerator, denominator, to.Digits(), rounding))
}

// Round returns a with at most as many fraction digits as its currency has.
func (a Amount) Round(rounding Rounding) Amount {
	a.units = a.units.Round(a.currency.Digits(), rounding)
	return a
}

// RoundToStep returns the multiple of step that is nearest to a by the rounding. It is for cash
// payments: 0.05 for CHF, 0.50 for DKK. The balance of an account is never rounded in this way. The
// error is ErrStep or a *LimitError.
func (a Amount) RoundToStep(step Decimal, rounding Rounding) (Amount, error) {
	return of(a.currency)(a.units.RoundToStep(step, rounding))
}

// Decimal returns the number as the shortest plain text: "5.5".
func (a Amount) Decimal() string { return a.units.String() }

// Text returns the number with at least as many fraction digits as the currency has: "5.50".
// Additional digits are kept.
func (a Amount) Text() string { return a.units.Text(a.currency.Digits()) }

// String returns Text and the currency: "5.50 USD".
func (a Amount) String() string {
	if a.currency == "" {
		return a.Text()
	}
	var buffer [64]byte
	dst := a.units.append(buffer[:0], a.currency.Digits())
	dst = append(dst, ' ')
	return string(append(dst, a.currency...))
}

// amountJSON is the JSON form of an amount: {"amount":"5.50","currency":"USD"}.
type amountJSON struct {
	Amount   string   `json:"amount"`
	Currency Currency `json:"currency"`
}

// MarshalJSON returns {"amount":"5.50","currency":"USD"}. The number is the result of Text.
func (a Amount) MarshalJSON() ([]byte, error) {
	return json.Marshal(amountJSON{Amount: a.Text(), Currency: a.currency})
}

// UnmarshalJSON parses the result of MarshalJSON. The number may also be a JSON number, which is
// parsed digit by digit. As usual, null changes nothing. The error is that of Parse.
func (a *Amount) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var form struct {
		Amount   *Decimal `json:"amount"`
		Currency Currency `json:"currency"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	if form.Amount == nil {
		return &SyntaxError{}
	}
	if form.Currency == "" && form.Amount.IsZero() {
		*a = Amount{}
		return nil
	}
	read, err := New(*form.Amount, form.Currency)
	if err == nil {
		*a = read
	}
	return err
}

// common returns the currency of two amounts. That of the zero Amount is the other one's.
func common(a, b Amount) (Currency, error) {
	switch {
	case a.currency == b.currency, b.currency == "":
		return a.currency, nil
	case a.currency == "":
		return b.currency, nil
	}
	return "", &MismatchError{First: a.currency, Second: b.currency}
}

// of returns a function that combines the result of an operation on units with a currency.
func of(currency Currency) func(Decimal, error) (Amount, error) {
	return func(units Decimal, err error) (Amount, error) {
		if err != nil {
			return Amount{}, err
		}
		return Amount{units: units, currency: currency}, nil
	}
}

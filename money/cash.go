package money

// cashSteps are the smallest cash amounts in hundredths, for currencies in which they are larger
// than the minor unit. They are those of the countries' rules for rounding the total of a purchase,
// as listed in the Unicode CLDR, and of New Zealand and Australia, which it lacks.
var cashSteps = map[Currency]int64{
	"AUD": 5, "CAD": 5, "CHF": 5, "CZK": 100, "DKK": 50, "HUF": 100, "NOK": 100, "NZD": 10,
	"SEK": 100,
}

// CashStep returns the smallest cash amount of the currency: 0.05 for CHF, 0.01 for USD, 1 for JPY.
func (c Currency) CashStep() Decimal {
	if step, ok := cashSteps[c]; ok {
		return Decimal{low: uint64(step), scale: 2}.trim()
	}
	return Decimal{low: 1, scale: uint8(c.Digits())}
}

// ConvertCash is Convert to an amount that can be paid in cash: rounded once, to a multiple of
// CashStep. The error is a *CurrencyError, ErrDivisionByZero or a *LimitError.
func (a Amount) ConvertCash(
	to Currency, numerator, denominator Decimal, rounding Rounding,
) (Amount, error) {
	if !to.valid() {
		return Amount{}, unknownCurrency(string(to))
	}
	step := to.CashStep()
	each, err := denominator.Mul(step)
	if err != nil {
		return Amount{}, err
	}
	steps, err := a.units.MulQuo(numerator, each, 0, rounding)
	if err != nil {
		return Amount{}, err
	}
	return of(to)(steps.Mul(step))
}

// RoundCash returns the amount as it is paid in cash: 1.03 CHF is 1.05 CHF. It is only for cash
// payments; the balance of an account is never rounded in this way. The error is a *LimitError.
func (a Amount) RoundCash(rounding Rounding) (Amount, error) {
	return a.RoundToStep(a.currency.CashStep(), rounding)
}

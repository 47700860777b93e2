package bankfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/money"
)

// money reads the amount of a row with its sign, its currency and the amount in another currency.
func (p *csvParser) money(r *record, e *Entry) error {
	t := p.t
	amount, parts, settled, err := p.signed(r)
	if err != nil {
		return err
	}
	if p.f.mapping.Invert && !settled {
		amount = amount.Neg()
	}
	if settled && p.w.first {
		t.signs.settled++
	}
	e.Amount = amount
	e.Currency = currencyOf(p.cell(r, t.currency))
	if e.Currency == "" {
		e.Currency = p.signCurrency(r, parts.currency)
	}
	if e.Currency == "" {
		e.Currency = t.named
	}
	foreign := p.cell(r, t.foreign)
	if foreign == "" {
		return nil
	}
	n, text, err := p.w.amount(foreign, r.line)
	currency := currencyOf(p.cell(r, t.foreignCurrency))
	if currency == "" {
		currency = currencyOf(text.currency)
	}
	// The same amount over again is not foreign.
	if err != nil || currency == "" || currency == e.Currency {
		return nil
	}
	if n.Sign() != amount.Sign() && amount.Sign() != 0 {
		n = n.Neg()
	}
	e.Foreign, e.ForeignCurrency = n, currency
	return nil
}

// takeFee takes off the amount what the bank took beside it, so that the entry is what the balance
// moved by. A fee is positive whichever way the money went.
func (p *csvParser) takeFee(r *record, e *Entry) error {
	cell := p.cell(r, p.t.fee)
	if cell == "" {
		return nil
	}
	fee, _, err := p.w.amount(cell, r.line)
	if err != nil {
		return err
	}
	e.Amount, err = e.Amount.Sub(fee)
	return err
}

// signCurrency returns the currency that the sign beside an amount means. A sign of several
// currencies means the account's if that is one of them; else it is a doubt.
func (p *csvParser) signCurrency(r *record, sign string) money.Currency {
	if sign == "" {
		return ""
	}
	account := p.f.defaultCurrency()
	several := sharedSigns[strings.TrimSuffix(strings.ToUpper(sign), ".")]
	if slices.Contains(several, account) {
		return account
	}
	c := currencyOf(sign)
	if c == "" && len(several) > 0 && account != "" && p.t.strange.Text == "" && p.w.first {
		p.t.strange = cellAt{r.line, strings.Clone(clip(sign))}
	}
	if c != "" && p.w.first {
		p.t.signs.signed++
	}
	return c
}

// sharedSigns are signs that several currencies have, in upper case.
var sharedSigns = map[string][]money.Currency{
	"$": {
		"USD", "AUD", "NZD", "CAD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "BBD", "BSD",
		"BZD", "BMD", "BND", "FJD", "GYD", "JMD", "KYD", "LRD", "NAD", "SBD", "SRD", "TTD", "UYU",
		"XCD", "DOP", "CUP",
	},
	"KR": {"SEK", "NOK", "DKK", "ISK"},
	"¥":  {"JPY", "CNY"}, "￥": {"JPY", "CNY"}, "元": {"CNY", "TWD"},
	"RS": {
		"INR",
		"PKR",
		"LKR",
		"NPR",
		"MUR",
		"SCR",
	}, "₨": {"INR", "PKR", "LKR", "NPR", "MUR", "SCR"},
	"£": {"GBP", "EGP", "LBP", "SYP", "GIP", "FKP", "SHP"},
	"R": {"ZAR"}, "LEI": {"RON", "MDL"}, "DIN": {"RSD", "MKD", "DZD"}, "FR": {"CHF"},
	"L": {"HNL", "MDL", "ALL"}, "Q": {"GTQ"}, "B/": {"PAB"}, "S/": {"PEN"}, "BS": {"BOB", "VES"},
	"DH": {"AED", "MAD"}, "DHS": {"AED", "MAD"}, "TK": {"BDT"}, "RM": {"MYR"}, "RP": {"IDR"},
}

// signed reads the amount from whichever columns hold it. Settled is whether a word says the
// direction.
func (p *csvParser) signed(r *record) (n money.Decimal, text amountText, settled bool, err error) {
	t := p.t
	if p.w.first {
		p.countSigns(r)
	}
	pair := t.habits.pair
	if p.w.first {
		pair = t.amount < 0
	}
	cell := p.cell(r, t.amount)
	if pair || cell == "" && (t.debit >= 0 || t.credit >= 0) {
		n, text, err = p.pair(r)
		return n, text, false, err
	}
	n, text, err = p.w.amount(cell, r.line)
	if err != nil {
		return n, text, false, err
	}
	word := ""
	if t.flag >= 0 {
		word = p.cell(r, t.flag)
	}
	flag := flagOf(word, p.f.mapping.OutFlags, p.f.mapping.InFlags)
	switch {
	case text.side != 0 && flag == 0:
		return n, text, true, nil
	case flag == 0 && word == "":
		if t.habits.rest != 0 && !text.negative {
			return turned(n, t.habits.rest), text, true, nil
		}
		return n, text, false, nil
	case flag == 0:
		return n, text, false, fmt.Errorf("%q says neither debit nor credit", clip(word))
	case t.habits.flagRepeats:
	case t.habits.flagWords:
		n = turned(n.Abs(), flag)
	default:
		n = turned(n, flag)
	}
	return n, text, true, nil
}

// turned returns an amount with the other sign if the direction is out.
func turned(n money.Decimal, direction int) money.Decimal {
	if direction < 0 {
		return n.Neg()
	}
	return n
}

// pair reads a debit and a credit column. A zero beside the other one is no amount.
func (p *csvParser) pair(r *record) (money.Decimal, amountText, error) {
	t := p.t
	debit, dt, errD := p.w.amount(p.side(r, t.debit), r.line)
	credit, ct, errC := p.w.amount(p.side(r, t.credit), r.line)
	switch {
	case errD != nil && !errors.Is(errD, errNoAmount):
		return debit, dt, errD
	case errC != nil && !errors.Is(errC, errNoAmount):
		return credit, ct, errC
	case errD != nil && errC != nil:
		return debit, dt, errNoAmount
	case errD == nil && errC == nil && debit.Sign() != 0 && credit.Sign() != 0:
		return debit, dt, errors.New("both debit and credit are filled")
	case errD != nil || errC == nil && debit.Sign() == 0:
		if t.habits.creditSigned {
			credit = credit.Neg()
		}
		return credit, ct, nil
	}
	if t.habits.debitSigned {
		return debit, dt, nil
	}
	return debit.Neg(), dt, nil
}

// countSigns gathers, in the first pass, how the bank writes signs.
func (p *csvParser) countSigns(r *record) {
	t := p.t
	sign := func(col int) int {
		cell := p.cell(r, col)
		a, err := splitAmount(cell)
		if err != nil || strings.Trim(a.digits, "0.,") == "" {
			return 0
		}
		if a.negative {
			return -1
		}
		return 1
	}
	s := &t.signs
	amount := sign(t.amount)
	switch {
	case amount < 0:
		s.amountNeg++
	case amount > 0:
		s.amountPos++
	}
	p.countWords(r, amount)
	switch debit := sign(t.debit); {
	case debit < 0:
		if s.debitNeg == 0 {
			s.debitExample = cellAt{r.line, strings.Clone(clip(p.cell(r, t.debit)))}
		}
		s.debitNeg++
	case debit > 0:
		s.debitPos++
	}
	switch credit := sign(t.credit); {
	case credit < 0:
		if s.creditNeg == 0 {
			s.creditExample = cellAt{r.line, strings.Clone(clip(p.cell(r, t.credit)))}
		}
		s.creditNeg++
	case credit > 0:
		s.creditPos++
	}
}

// countWords gathers, in the first pass, how signs stand beside words for the direction.
func (p *csvParser) countWords(r *record, amount int) {
	t := p.t
	s := &t.signs
	if amount == 0 {
		return
	}
	cell := p.cell(r, t.amount)
	a, _ := splitAmount(cell)
	switch {
	case a.side < 0:
		s.sideOut++
	case a.side > 0:
		s.sideIn++
	default:
		s.plain++
	}
	if amount > 0 && strings.ContainsAny(cell, "+(-") {
		s.plus++
	}
	if amount > 0 && s.example.Text == "" {
		s.example = cellAt{r.line, strings.Clone(clip(cell))}
	}
	if t.flag < 0 {
		return
	}
	word := p.cell(r, t.flag)
	switch flag := flagOf(word, p.f.mapping.OutFlags, p.f.mapping.InFlags); {
	case flag < 0 && amount < 0:
		s.outNeg++
	case flag < 0:
		s.outPos++
	case flag > 0 && amount < 0:
		s.inNeg++
	case flag > 0:
		s.inPos++
	case word == "" && amount < 0:
		s.restNeg++
	case word == "":
		s.restPos++
	}
}

// namedCurrency returns the currency in the name of the amount's column.
func (t *table) namedCurrency() money.Currency {
	for _, col := range []int{t.amount, t.debit, t.credit} {
		if col >= 0 && col < len(t.header) {
			if code := headerCurrency(t.header[col]); code != "" {
				return money.Currency(code)
			}
		}
	}
	return ""
}

// headerCurrency returns the currency of a header such as "Amount (EUR)", "Betrag EUR" or "CAD$".
func headerCurrency(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ")] ")
	text = text[strings.LastIndexAny(text, " ([")+1:]
	if code := strings.TrimSuffix(text, "$"); len(code) == 3 {
		text = code
	}
	if c := currencyOf(text); c.Known() && (text == string(c) || currencySigns[text] == c) {
		return string(c)
	}
	return ""
}

package bankfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/bankfile/internal/scan"
	"github.com/exchequer-dev/exchequer/money"
)

// money sets the amount of a row with its sign, its currency and the amount in another currency.
func (p *csvParser) money(r *scan.Record, e *Entry) error {
	t := p.t
	amount, parts, settled, err := p.signed(r)
	if err != nil {
		return err
	}
	if p.t.set.mapping.Invert && !settled {
		amount = amount.Neg()
	}
	if settled && p.w.first {
		t.signs.settled++
	}
	e.Amount = amount
	e.Currency = cells.CurrencyOf(p.cell(r, t.currency))
	if e.Currency == "" {
		e.Currency = p.signCurrency(r, parts.Currency)
	}
	if e.Currency == "" {
		e.Currency = t.named
	}
	foreign := p.cell(r, t.foreign)
	if foreign == "" {
		return nil
	}
	n, text, err := p.w.amount(foreign, r.Line)
	currency := cells.CurrencyOf(p.cell(r, t.foreignCurrency))
	if currency == "" {
		currency = cells.CurrencyOf(text.Currency)
	}
	// The same amount in the same currency is not foreign.
	if err != nil || currency == "" || currency == e.Currency {
		return nil
	}
	if n.Sign() != amount.Sign() && amount.Sign() != 0 {
		n = n.Neg()
	}
	e.Foreign, e.ForeignCurrency = n, currency
	return nil
}

// takeFee subtracts the bank's fee from the amount, so that the entry is the change of the balance.
// A fee is positive for both directions.
func (p *csvParser) takeFee(r *scan.Record, e *Entry) error {
	cell := p.cell(r, p.t.fee)
	if cell == "" {
		return nil
	}
	fee, _, err := p.w.amount(cell, r.Line)
	if err != nil {
		return err
	}
	e.Amount, err = e.Amount.Sub(fee)
	return err
}

// signCurrency returns the currency of a sign next to an amount. A sign of several currencies means
// the account's if that is one of them; otherwise it is a doubt.
func (p *csvParser) signCurrency(r *scan.Record, sign string) money.Currency {
	if sign == "" {
		return ""
	}
	account := p.t.set.defaultCurrency()
	several := cells.SharedSigns[strings.TrimSuffix(strings.ToUpper(sign), ".")]
	if slices.Contains(several, account) {
		return account
	}
	c := cells.CurrencyOf(sign)
	if c == "" && len(several) > 0 && account != "" && p.t.strange.Text == "" && p.w.first {
		p.t.strange = cells.At{Line: r.Line, Text: strings.Clone(cells.Clip(sign))}
	}
	if c != "" && p.w.first {
		p.t.signs.signed++
	}
	return c
}

// signed reads the amount from the columns that have it. Settled is whether a word decided the
// direction.
func (p *csvParser) signed(
	r *scan.Record,
) (n money.Decimal, text cells.Amount, settled bool, err error) {
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
	n, text, err = p.w.amount(cell, r.Line)
	if err != nil {
		return n, text, false, err
	}
	word := ""
	if t.flag >= 0 {
		word = p.cell(r, t.flag)
	}
	flag := flagOf(word, p.t.set.mapping.OutFlags, p.t.set.mapping.InFlags)
	switch {
	case text.Side != 0 && flag == 0:
		return n, text, true, nil
	case flag == 0 && word == "":
		if t.habits.rest != 0 && !text.Negative {
			return turned(n, t.habits.rest), text, true, nil
		}
		return n, text, false, nil
	case flag == 0:
		return n, text, false, fmt.Errorf("%q means neither debit nor credit", cells.Clip(word))
	case t.habits.flagRepeats:
	case t.habits.flagWords:
		n = turned(n.Abs(), flag)
	default:
		n = turned(n, flag)
	}
	return n, text, true, nil
}

// turned returns the negated amount if the direction is out.
func turned(n money.Decimal, direction int) money.Decimal {
	if direction < 0 {
		return n.Neg()
	}
	return n
}

// pair reads a debit and a credit column. A zero next to the other one is ignored.
func (p *csvParser) pair(r *scan.Record) (money.Decimal, cells.Amount, error) {
	t := p.t
	debit, dt, errD := p.w.amount(p.side(r, t.debit), r.Line)
	credit, ct, errC := p.w.amount(p.side(r, t.credit), r.Line)
	switch {
	case errD != nil && !errors.Is(errD, cells.ErrNoAmount):
		return debit, dt, errD
	case errC != nil && !errors.Is(errC, cells.ErrNoAmount):
		return credit, ct, errC
	case errD != nil && errC != nil:
		return debit, dt, cells.ErrNoAmount
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

// countSigns counts, in the first pass, how the bank writes signs.
func (p *csvParser) countSigns(r *scan.Record) {
	t := p.t
	sign := func(col int) int {
		cell := p.cell(r, col)
		a, err := cells.SplitAmount(cell)
		if err != nil || strings.Trim(a.Digits, "0.,") == "" {
			return 0
		}
		if a.Negative {
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
			s.debitExample = cells.At{
				Line: r.Line,
				Text: strings.Clone(cells.Clip(p.cell(r, t.debit))),
			}
		}
		s.debitNeg++
	case debit > 0:
		s.debitPos++
	}
	switch credit := sign(t.credit); {
	case credit < 0:
		if s.creditNeg == 0 {
			s.creditExample = cells.At{
				Line: r.Line,
				Text: strings.Clone(cells.Clip(p.cell(r, t.credit))),
			}
		}
		s.creditNeg++
	case credit > 0:
		s.creditPos++
	}
}

// countWords counts, in the first pass, the signs next to words for the direction.
func (p *csvParser) countWords(r *scan.Record, amount int) {
	t := p.t
	s := &t.signs
	if amount == 0 {
		return
	}
	cell := p.cell(r, t.amount)
	a, _ := cells.SplitAmount(cell)
	switch {
	case a.Side < 0:
		s.sideOut++
	case a.Side > 0:
		s.sideIn++
	default:
		s.plain++
	}
	if amount > 0 && strings.ContainsAny(cell, "+(-") {
		s.plus++
	}
	if amount > 0 && s.example.Text == "" {
		s.example = cells.At{Line: r.Line, Text: strings.Clone(cells.Clip(cell))}
	}
	if t.flag < 0 {
		return
	}
	word := p.cell(r, t.flag)
	switch flag := flagOf(word, p.t.set.mapping.OutFlags, p.t.set.mapping.InFlags); {
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
	if c := cells.CurrencyOf(text); c.Known() &&
		(text == string(c) || cells.CurrencySigns[text] == c) {
		return string(c)
	}
	return ""
}

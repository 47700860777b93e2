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
	amount, parts, err := p.signed(r)
	if err != nil {
		return err
	}
	e.Amount = amount
	e.Currency = currencyOf(p.cell(r, t.currency))
	if e.Currency == "" {
		e.Currency = currencyOf(parts.currency)
	}
	if e.Currency == "" {
		e.Currency = t.namedCurrency()
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

// signed reads the amount from whichever columns hold it.
func (p *csvParser) signed(r *record) (money.Decimal, amountText, error) {
	t := p.t
	if p.w.first {
		p.countSigns(r)
	}
	pair := t.habits.pair
	if p.w.first {
		pair = t.amount < 0
	}
	if pair {
		return p.pair(r)
	}
	cell := p.cell(r, t.amount)
	if cell == "" && (t.debit >= 0 || t.credit >= 0) {
		return p.pair(r)
	}
	n, text, err := p.w.amount(cell, r.line)
	if err != nil || t.flag < 0 {
		return n, text, err
	}
	word := p.cell(r, t.flag)
	flag := flagOf(word, p.f.mapping.OutFlags, p.f.mapping.InFlags)
	switch {
	case flag == 0 && word == "":
		return n, text, nil
	case flag == 0:
		return n, text, fmt.Errorf("%q says neither debit nor credit", clip(word))
	case t.habits.flagRepeats:
		return n, text, nil
	case flag < 0:
		n = n.Neg()
	}
	return n, text, nil
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
	if flagOf(p.cell(r, t.flag), p.f.mapping.OutFlags, p.f.mapping.InFlags) < 0 {
		switch {
		case amount < 0:
			s.outNeg++
		case amount > 0:
			s.outPos++
		}
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

// outWords and inWords are what banks write in a column of direction, folded.
var (
	outWords = []string{
		"d", "dr", "db", "dbt", "dbit", "debit", "debet", "debito", "af", "out", "outflow",
		"s", "soll", "belastung", "lastschrift", "money out", "kiadas", "terheles", "-", "−",
		"obciazenie", "withdrawal", "paid out", "expense", "cargo", "addebito", "dare", "ut",
		"debitering", "sortie", "uitgaand", "debit card", "sent", "vydej", "odchozi",
	}
	inWords = []string{
		"c", "cr", "crd", "crdt", "credit", "credito", "bij", "in", "inflow", "h",
		"haben", "gutschrift", "money in", "bevetel", "jovairas", "+", "uznanie", "deposit",
		"paid in", "income", "abono", "accredito", "avere", "kreditering", "entree", "inkomend",
		"received", "prijem", "prichozi", "kredit",
	}
)

// flagOf returns -1 for money out, 1 for money in, 0 for a word that says neither.
func flagOf(word string, out, in []string) int {
	if word == "" {
		return 0
	}
	if slices.ContainsFunc(out, func(w string) bool { return strings.EqualFold(w, word) }) {
		return -1
	}
	if slices.ContainsFunc(in, func(w string) bool { return strings.EqualFold(w, word) }) {
		return 1
	}
	plain := strings.TrimSuffix(fold(trimBlanks(word)), ".")
	switch {
	case slices.Contains(outWords, plain):
		return -1
	case slices.Contains(inWords, plain):
		return 1
	}
	return 0
}

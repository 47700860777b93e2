package bankfile

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/exchequer-dev/exchequer/bankfile/internal/cells"
	"github.com/exchequer-dev/exchequer/money"
)

// finishEntry sends an entry: its details as separate entries if their sum is the amount, otherwise
// the whole.
func (p *camtParser) finishEntry() error {
	c := p.entry
	p.entry = nil
	raw := string(bytes.TrimSuffix(p.raw, []byte{'\n'}))
	if c.status == "INFO" {
		return stoppedUnless(p.w.skip(c.line, raw, "for information only; nothing was booked"))
	}
	e, warnings, why := c.whole(p.w.known())
	if why != "" {
		return stoppedUnless(p.w.refuse(c.line, raw, why))
	}
	if c.cut {
		warnings = append(warnings, Warning{WarnTruncated, "A value was too long and was cut."})
	}
	if len(c.details) > 1 {
		parts, ok := c.parts(e, p.w.known().Account)
		if ok {
			for i, part := range parts {
				if !p.w.entry(c.details[i].line, raw, part, warnings) {
					return errStopped
				}
			}
			return nil
		}
		warnings = append(warnings, Warning{WarnDetails, fmt.Sprintf(
			"Its %d details do not add up to %s; it is booked whole.", len(c.details), e.Amount)})
	}
	if c.many {
		warnings = append(warnings, Warning{WarnDetails, fmt.Sprintf(
			"It has more than %d details; it is booked whole.", DetailsMax)})
	}
	return stoppedUnless(p.w.entry(c.line, raw, e, warnings))
}

// whole reads the entry itself, with the texts of its only detail if it has one.
func (c *camtEntry) whole(s *Statement) (e Entry, warnings []Warning, why string) {
	amount, err := camtAmount(c.amount, c.sign)
	if err != nil {
		return e, nil, err.Error()
	}
	booked, bookedOK := camtDate(c.booked)
	value, valueOK := camtDate(c.value)
	switch {
	case !bookedOK && c.booked != "":
		return e, nil, fmt.Sprintf("there is no such date of booking as %q", cells.Clip(c.booked))
	case !bookedOK && !valueOK:
		return e, nil, "it has no date of booking and no value date"
	case !bookedOK:
		booked = value
	}
	e = Entry{
		Date: booked, ValueDate: value, Amount: amount, Currency: cells.CurrencyOf(c.currency),
		Reversal: c.reversal, Pending: c.status == "PDNG" || c.status == "FUTR",
		BankID: cmp.Or(c.servicer, c.ref), Memo: cells.Collapse(c.info),
		Category: cmp.Or(c.domain, c.code),
	}
	if e.Currency == "" {
		e.Currency = s.Currency
	}
	if len(c.details) == 1 {
		d := &c.details[0]
		d.describe(&e, s.Account)
		if d.sign != "" && d.sign != c.sign {
			warnings = append(warnings, Warning{WarnSign, fmt.Sprintf(
				"Its detail is %s, the entry is %s; the entry counts.",
				cells.Clip(d.sign), c.sign)})
		}
		d.foreign(&e)
	}
	return e, warnings, ""
}

// describe adds the other side and the purpose from a detail. The other side is never the
// statement's own account, regardless of the direction.
func (d *camtDetail) describe(e *Entry, own string) {
	paid := e.Amount.Sign() < 0
	if own != "" && d.creditorAccount != d.debtorAccount {
		paid = paid && d.creditorAccount != own || d.debtorAccount == own
	}
	e.Name, e.Counterparty = d.debtor, d.debtorAccount
	if paid {
		e.Name, e.Counterparty = d.creditor, d.creditorAccount
	}
	// Some banks write the other side into the wrong element, which is better than no name.
	e.Name = cmp.Or(e.Name, d.creditor, d.debtor)
	if text := cmp.Or(string(d.remittance), d.reference, d.information); text != "" {
		e.Memo = cells.Collapse(text)
	}
	if d.endToEnd != "NOTPROVIDED" {
		e.Reference = d.endToEnd
	}
	e.Reference = cmp.Or(e.Reference, d.reference)
	if day, ok := camtDate(d.acted); ok {
		e.AuthorisedDate = day
	}
}

// foreign sets the amount before conversion.
func (d *camtDetail) foreign(e *Entry) {
	currency := cells.CurrencyOf(d.instructedCcy)
	if currency == "" || currency == e.Currency {
		return
	}
	n, err := money.ParseDecimal(d.instructed)
	// Some banks write a zero if there is no such amount.
	if err != nil || n.IsZero() && !e.Amount.IsZero() {
		return
	}
	if e.Amount.Sign() < 0 {
		n = n.Neg()
	}
	e.Foreign, e.ForeignCurrency = n, currency
}

// parts returns an entry for each detail, if the sum of their amounts is exactly the whole.
func (c *camtEntry) parts(whole Entry, own string) ([]Entry, bool) {
	var sum money.Decimal
	parts := make([]Entry, 0, len(c.details))
	for i := range c.details {
		d := &c.details[i]
		text, currency := d.amount, d.currency
		if text == "" {
			text, currency = d.txAmount, d.txCurrency
		}
		if code := cells.CurrencyOf(currency); code != "" && code != whole.Currency {
			return nil, false
		}
		n, err := camtAmount(text, cmp.Or(d.sign, c.sign))
		if err != nil {
			return nil, false
		}
		if sum, err = sum.Add(n); err != nil {
			return nil, false
		}
		e := whole
		e.Amount = n
		e.Memo = ""
		d.describe(&e, own)
		e.Memo = cmp.Or(e.Memo, whole.Memo)
		d.foreign(&e)
		// The entry's own id would repeat at every part.
		e.BankID = cmp.Or(d.servicer, d.txID)
		if e.BankID == whole.BankID || e.BankID == "" {
			e.BankID = ""
			if whole.BankID != "" {
				e.BankID = fmt.Sprintf("%s/%d", whole.BankID, i+1)
			}
		}
		parts = append(parts, e)
	}
	return parts, sum == whole.Amount
}

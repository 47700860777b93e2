package parsed

import (
	"encoding/binary"
	"errors"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// Row is one row of a file.
type Row struct {
	bankfile.Row
	// Older are the contents by which the row is known if the file is read by the mappings of
	// earlier files of the account. See bankfile.Key.
	Older []string
}

// errDamaged means that stored bytes are not those of a row.
var errDamaged = errors.New("the stored rows are damaged")

// appendRow appends the stored form of a row. The raw text of an entry is not stored, because it is
// only shown for rows that are not entries.
func appendRow(b []byte, r *Row) []byte {
	b = append(b, byte(r.Outcome))
	b = binary.AppendUvarint(b, uint64(r.Line))
	b = binary.AppendVarint(b, int64(r.Statement))
	b = appendText(b, r.Why)
	b = binary.AppendUvarint(b, uint64(len(r.Warnings)))
	for _, w := range r.Warnings {
		b = appendText(appendText(b, string(w.Code)), w.Text)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Older)))
	for _, content := range r.Older {
		b = appendText(b, content)
	}
	if r.Outcome != bankfile.Read {
		return appendText(b, r.Raw)
	}
	return appendEntry(b, &r.Entry)
}

func appendEntry(b []byte, e *bankfile.Entry) []byte {
	for _, flag := range [...]bool{e.HasBalance, e.UniqueID, e.Reversal, e.Pending, e.Deletes} {
		if flag {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	for _, text := range [...]string{
		string(e.Date), string(e.ValueDate), string(e.AuthorisedDate), string(e.Currency),
		string(e.ForeignCurrency), e.Name, e.Memo, e.Counterparty, e.Reference, e.Category,
		e.Details, e.BankID, e.Corrects,
	} {
		b = appendText(b, text)
	}
	for _, amount := range [...]money.Decimal{e.Amount, e.Foreign, e.Balance} {
		b = appendText(b, amount.String())
	}
	b = binary.AppendUvarint(b, uint64(len(e.Splits)))
	for _, s := range e.Splits {
		b = appendText(appendText(appendText(b, s.Amount.String()), s.Category), s.Memo)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decoder reads the stored form of one row. The texts of the row are parts of its text. The first
// error ends it, and it returns zero values from then on.
type decoder struct {
	text string
	err  error
}

func (d *decoder) row() Row {
	var r Row
	r.Outcome = bankfile.Outcome(d.byte())
	r.Line = int(d.uvarint())
	r.Statement = int(d.varint())
	r.Why = d.string()
	for range d.count() {
		r.Warnings = append(r.Warnings,
			bankfile.Warning{Code: bankfile.WarningCode(d.string()), Text: d.string()})
	}
	for range d.count() {
		r.Older = append(r.Older, d.string())
	}
	if r.Outcome == bankfile.Read {
		d.entry(&r.Entry)
	} else {
		r.Raw = d.string()
	}
	if d.text != "" {
		d.fail()
	}
	return r
}

func (d *decoder) entry(e *bankfile.Entry) {
	for _, flag := range [...]*bool{
		&e.HasBalance, &e.UniqueID, &e.Reversal, &e.Pending, &e.Deletes,
	} {
		*flag = d.byte() == 1
	}
	e.Date, e.ValueDate = bankfile.Date(d.string()), bankfile.Date(d.string())
	e.AuthorisedDate = bankfile.Date(d.string())
	e.Currency, e.ForeignCurrency = money.Currency(d.string()), money.Currency(d.string())
	for _, text := range [...]*string{
		&e.Name, &e.Memo, &e.Counterparty, &e.Reference, &e.Category, &e.Details, &e.BankID,
		&e.Corrects,
	} {
		*text = d.string()
	}
	e.Amount, e.Foreign, e.Balance = d.decimal(), d.decimal(), d.decimal()
	for range d.count() {
		e.Splits = append(e.Splits,
			bankfile.Split{Amount: d.decimal(), Category: d.string(), Memo: d.string()})
	}
}

func (d *decoder) fail() { d.text, d.err = "", errDamaged }

func (d *decoder) byte() byte {
	if d.text == "" {
		d.fail()
		return 0
	}
	b := d.text[0]
	d.text = d.text[1:]
	return b
}

// uvarint reads an unsigned number as package encoding/binary writes it.
func (d *decoder) uvarint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) varint() int64 {
	n := d.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// count reads the number of the members that follow, each of which has at least one byte.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.text)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count()
	text := d.text[:n]
	d.text = d.text[n:]
	return text
}

func (d *decoder) decimal() money.Decimal {
	n, err := money.ParseDecimal(d.string())
	if err != nil {
		d.fail()
	}
	return n
}

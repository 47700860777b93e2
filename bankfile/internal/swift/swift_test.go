package swift_test

import (
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile/internal/swift"
)

func TestLine(t *testing.T) {
	for name, c := range map[string]struct{ line, date, value, amount, doubt, err string }{
		"the year of the value date": {line: "2601020103D9,50NMSC", date: "2026-01-03",
			value: "2026-01-02", amount: "-9.5"},
		"booked before the turn of the year": {line: "2601021231C1,NMSC", date: "2025-12-31",
			value: "2026-01-02", amount: "1"},
		"booked after the turn of the year": {line: "2512310102C1,NMSC", date: "2026-01-02",
			value: "2025-12-31", amount: "1"},
		"reversed credit is money out": {line: "260102RC5,NMSC", date: "2026-01-02", amount: "-5"},
		"reversed debit is money in":   {line: "260102RD5,NMSC", date: "2026-01-02", amount: "5"},
		"the letter of the currency":   {line: "260102CR5,NMSC", date: "2026-01-02", amount: "5"},
		"no such entry date": {line: "2601020231D5,NMSC", date: "2026-01-02", amount: "-5",
			doubt: "There is no such entry date as \"0231\"; the value date counts."},
		"neither date exists": {line: "260231D5,NMSC",
			err: "there is no such date as \"260231\""},
		"a line that is not of an entry": {line: "NONREF", err: "\"NONREF\" has no value date"},
		"a line without debit and credit": {line: "2601029,NMSC",
			err: "\"2601029,NMSC\" has no mark of debit or credit"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := swift.ReadLine(c.line)
			if err != nil || c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if c.value == "" {
				c.value = c.date
			}
			if l.Date != c.date || l.Amount.String() != c.amount {
				t.Errorf("%s of %s; want %s of %s", l.Amount, l.Date, c.amount, c.date)
			}
			if l.ValueDate != c.value {
				t.Errorf("value date %s, want %s", l.ValueDate, c.value)
			}
			if got := len(l.Doubts); got > 1 || (c.doubt != "") != (got == 1) ||
				got == 1 && l.Doubts[0] != c.doubt {
				t.Errorf("doubts %q, want %q", l.Doubts, c.doubt)
			}
		})
	}
}

func TestInformationOfEachForm(t *testing.T) {
	want := swift.Note{Name: "A. Baker", Memo: "Bread", Counterparty: "DE02120300000000202051",
		Reference: "E-7"}
	for name, lines := range map[string][]string{
		"subfields": {"166?00?20EREF+E-7?21SVWZ+Bread", "?31DE02120300000000202051?32A. Baker"},
		"codes between slashes": {"/IBAN/DE02120300000000202051/NAME/A. Baker/EREF/E-7",
			"/REMI/Bread"},
		"keywords": {"EREF+E-7SVWZ+BreadIBAN+DE02120300000000202051ABWA+A. Baker"},
	} {
		t.Run(name, func(t *testing.T) {
			var n swift.Note
			n.ReadInformation(lines)
			if n != want {
				t.Errorf("%+v, want %+v", n, want)
			}
		})
	}
}

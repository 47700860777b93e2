package bankfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// mt940 makes a statement of 100 EUR to the closing balance, of lines between the two.
func mt940(closing string, lines ...string) string {
	return ":20:STATEMENT\n:25:NL71RABO0123456789\n:28C:7/1\n:60F:C260101EUR100,\n" +
		strings.Join(lines, "\n") + "\n:62F:" + closing + "\n-\n"
}

func TestMT940Statement(t *testing.T) {
	r := mustRead(t, mt940("C260105EUR87,5",
		":61:2601030104D12,5NTRFINVOICE 9//BANK1", ":86:Corner Dairy", "Milk"))
	s := r.file.Statements[0]
	if r.file.Format != bankfile.MT940 || s.Kind != bankfile.Final || s.Currency != "EUR" ||
		s.Account != "NL71RABO0123456789" || s.ID != "7" || s.Opening.Amount.String() != "100" ||
		s.Opening.Date != "2026-01-01" || s.Closing.Amount.String() != "87.5" {
		t.Errorf("statement %+v %+v %+v", s, s.Opening, s.Closing)
	}
	e := r.entries()[0]
	if e.Date != "2026-01-04" || e.ValueDate != "2026-01-03" || e.Amount.String() != "-12.5" ||
		e.Reference != "INVOICE 9" || e.BankID != "BANK1" || e.Memo != "Corner Dairy Milk" ||
		e.Currency != "EUR" {
		t.Errorf("entry %+v", e)
	}
	if !r.totals[0].Checked || !r.totals[0].Agrees || len(r.rows) != 1 {
		t.Errorf("totals %+v, rows %q", r.totals[0], r.brief())
	}
}

func TestMT940AmountsHaveACommaAndPerhapsNothingBehindIt(t *testing.T) {
	for written, want := range map[string]string{
		"C9,": "9", "C11,8": "11.8", "C00,12": "0.12", "D001,12": "-1.12", "CR5,50": "5.5",
		"DR5,50": "-5.5", "RC5,": "-5", "RD5,": "5", "RCR5,": "-5", "D1234567,89": "-1234567.89",
		"C000000000025,00": "25", "D12.50": "-12.5", "C9.": "9", "CR5.5": "5.5",
		"D1.234,56": "-1234.56",
	} {
		t.Run(written, func(t *testing.T) {
			e := mustRead(t, mt940("C260105EUR0,", ":61:260103"+written+"NTRFNONREF")).entries()
			if len(e) != 1 || e[0].Amount.String() != want || e[0].Reference != "" ||
				e[0].Category != "NTRF" {
				t.Fatalf("got %+v", e)
			}
			if e[0].Reversal != strings.HasPrefix(written, "R") {
				t.Errorf("reversal is %v", e[0].Reversal)
			}
		})
	}
}

func TestMT940Days(t *testing.T) {
	for line, want := range map[string][2]bankfile.Date{
		"260103D1,NTRFX":     {"2026-01-03", "2026-01-03"},
		"2601030104D1,NTRFX": {"2026-01-04", "2026-01-03"},
		"2512310102D1,NTRFX": {"2026-01-02", "2025-12-31"}, // Booked after New Year.
		"2601021231D1,NTRFX": {"2025-12-31", "2026-01-02"}, // Booked before it.
		"2602300301D1,NTRFX": {"2026-03-01", ""},           // 30 February, of banks' calendars.
	} {
		t.Run(line, func(t *testing.T) {
			r := mustRead(t, mt940("C260105EUR99,", ":61:"+line))
			e := r.entries()
			if len(e) != 1 || e[0].Date != want[0] || e[0].ValueDate != want[1] {
				t.Fatalf("got %+v", e)
			}
			if r.warned(bankfile.WarnDate) != (want[1] == "") {
				t.Error("the warning is wrong")
			}
		})
	}
	t.Run("a day that does not exist at all is refused", func(t *testing.T) {
		r := mustRead(t, mt940("C260105EUR99,", ":61:260230D1,NTRFX"))
		if r.rows[0].Outcome != bankfile.Refused || r.rows[0].Line != 5 {
			t.Errorf("got %q", r.brief())
		}
	})
}

// TestMT940TextIsNotATag is cmxl#30: purposes are wrapped where they happen to be.
func TestMT940TextIsNotATag(t *testing.T) {
	for _, wrapped := range []string{
		":08 Karten 12", ":26:37 Folge", ":20:15 Uhr", "-5 % Rabatt", ":99:", ":60 km", "::",
		":25:00 Uhr", ":28C:00",
	} {
		t.Run(wrapped, func(t *testing.T) {
			r := mustRead(t, mt940("C260105EUR88,",
				":61:260103D5,NTRFX", ":86:Text", wrapped, "more",
				":61:260104D7,NTRFX", ":86:Other"))
			e := r.entries()
			if len(e) != 2 || e[0].Memo != "Text "+wrapped+" more" || e[1].Memo != "Other" {
				t.Errorf("got %q, %q", r.brief(), e[0].Memo)
			}
			if !r.totals[0].Agrees {
				t.Errorf("totals %+v", r.totals)
			}
		})
	}
}

func TestMT940Information(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  bankfile.Entry
	}{
		"subfields with glued words": {
			[]string{
				":86:166?00GUTSCHRIFT?20EREF+R 1?21SVWZ+Invoice 12?22 of May?30BANKDEFF",
				"?31DE02100100100006820101?32Erika?33 Muster?34000"},
			bankfile.Entry{Name: "Erika Muster", Memo: "Invoice 12 of May", Reference: "R 1",
				Counterparty: "DE02100100100006820101", Category: "GUTSCHRIFT"},
		},
		"fints-hbci-php#98: a code cut at the line end": {
			[]string{":86:166?00LASTSCHRIFT?20Text?30BANKDEFF?3", "1DE02100100100006820101?32Shop"},
			bankfile.Entry{Name: "Shop", Memo: "Text", Counterparty: "DE02100100100006820101",
				Category: "LASTSCHRIFT"},
		},
		"a question mark of the text": {
			[]string{":86:166?00X?20Why? 20 reasons?32Shop"},
			bankfile.Entry{Name: "Shop", Memo: "Why? 20 reasons", Category: "X"},
		},
		"slash codes": {
			[]string{":86:/EREF/E1/BENM//NAME/JOHN DOE/REMI/Invoice 7/ISDT/2026-01-02"},
			bankfile.Entry{Name: "JOHN DOE", Memo: "Invoice 7", Reference: "E1", Category: "NTRF"},
		},
		"free text": {
			[]string{":86:POS  12:30", "Corner Dairy"},
			bankfile.Entry{Memo: "POS 12:30 Corner Dairy", Category: "NTRF"},
		},
		"a bank's code is no account": {
			[]string{":86:106?00FEE?20Monthly?3012345678?32Bank"},
			bankfile.Entry{Name: "Bank", Memo: "Monthly", Category: "FEE"},
		},
		"remarks of the bank before the text": {
			[]string{":NS:22Owner", "23Account", ":86:Text"},
			bankfile.Entry{Memo: "Text", Category: "NTRF"},
		},
		"remarks of the bank behind the text": {
			[]string{":86:Text", ":NS:22Owner", "23Account"},
			bankfile.Entry{Memo: "Text", Category: "NTRF"},
		},
		"several texts of one entry": {
			[]string{":86:/MARF/M1/CSID/C1/BENM//NAME/JOHN DOE", ":86:/REMI/Invoice 7", "of May"},
			bankfile.Entry{Name: "JOHN DOE", Memo: "Invoice 7 of May", Category: "NTRF"},
		},
		"free text that begins with an amount": {
			[]string{":86:250.99 USD AMAZON"},
			bankfile.Entry{Memo: "250.99 USD AMAZON", Category: "NTRF"},
		},
		"free text that begins with a decimal comma": {
			[]string{":86:250,00 EUR SHOP 20,00"},
			bankfile.Entry{Memo: "250,00 EUR SHOP 20,00", Category: "NTRF"},
		},
		"the account below the entry": {
			[]string{"NL70ABNA0987654321", ":86:Text"},
			bankfile.Entry{Memo: "Text", Counterparty: "NL70ABNA0987654321", Category: "NTRF"},
		},
		"the amount before its conversion": {
			[]string{"/OCMT/USD12,50/", ":86:Text"},
			bankfile.Entry{Memo: "Text", ForeignCurrency: "USD", Category: "NTRF"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, mt940("C260105EUR95,",
				append([]string{":61:260103D5,NTRFNONREF"}, c.lines...)...))
			e := r.entries()[0]
			if e.ForeignCurrency == "USD" && e.Foreign.String() != "-12.5" {
				t.Errorf("foreign %s", e.Foreign)
			}
			got := bankfile.Entry{Name: e.Name, Memo: e.Memo, Reference: e.Reference,
				Counterparty: e.Counterparty, Category: e.Category,
				ForeignCurrency: e.ForeignCurrency}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMT940Frames is cmxl#8 and others: what carries a statement is no part of it.
func TestMT940Frames(t *testing.T) {
	body := mt940("C260105EUR95,", ":61:260103D5,NTRFX", ":86:Text")
	for name, text := range map[string]string{
		"none":    body,
		"no dash": strings.TrimSuffix(body, "-\n"),
		"SWIFT blocks": "{1:F01BANKDEFFXXX0}{2:O940}{4:\n" + strings.TrimSuffix(body,
			"-\n") + "-}\n",
		"blocks, one line": "{1:F01BANKDEFFXXX0}{4:" + strings.TrimSuffix(body, "-\n") + "-}{5:}\n",
		"SOH and ETX":      "\x01\n" + strings.TrimSuffix(body, "-\n") + "-\x03",
		"bank's preamble":  "BANKNL2A\n940\nBANKNL2A\n" + body,
		"lines CR LF":      strings.ReplaceAll(body, "\n", "\r\n"),
		"lines CR":         strings.ReplaceAll(body, "\n", "\r"),
		"lines CR CR LF":   strings.ReplaceAll(body, "\n", "\r\r\n"),
		"byte order mark":  "\ufeff" + body,
		"blank lines":      "\n\n" + strings.ReplaceAll(body, ":61:", "\n:61:"),
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, text)
			if diff := cmp.Diff([]string{"2026-01-03 -5 EUR"}, r.brief()); diff != "" {
				t.Error(diff)
			}
			if r.entries()[0].Memo != "Text" || !r.totals[0].Agrees {
				t.Errorf("%+v %+v", r.entries()[0], r.totals)
			}
		})
	}
}

func TestMT940TextOfTheStatementBelongsToNoEntry(t *testing.T) {
	text := strings.Replace(mt940("C260105EUR95,", ":61:260103D5,NTRFX", ":86:Text"),
		"\n-\n", "\n:86:Thank you\n-\n", 1)
	r := mustRead(t, text)
	if len(r.rows) != 2 || r.rows[0].Entry.Memo != "Text" ||
		r.rows[1].Outcome != bankfile.Skipped ||
		r.rows[1].Raw != "Thank you" {
		t.Errorf("got %+v", r.rows)
	}
}

func TestMT942IsInterim(t *testing.T) {
	r := mustRead(t, ":20:X\n:25:PL1\n:28C:1/1\n:34F:PLN0\n:13D:2601031815+0100\n"+
		":61:260103CN0,01NTRFNONREF//B1\n:86:Text\n:90D:0PLN0,00\n:90C:1PLN0,01\n-\n")
	if s := r.file.Statements[0]; s.Kind != bankfile.Interim || s.Currency != "PLN" {
		t.Errorf("statement %+v", s)
	}
	if diff := cmp.Diff([]string{"2026-01-03 0.01 PLN"}, r.brief()); diff != "" {
		t.Error(diff)
	}
}

func TestMT940EntriesThatCannotBeReadAreRefused(t *testing.T) {
	for _, line := range []string{
		"", "2601", "26010X", "260103", "260103X5,NTRF", "260103D,NTRF", "260103DNTRF",
		"260103D1,2,3NTRF", "260103D" + strings.Repeat("9", 50) + ",NTRF",
	} {
		t.Run(line, func(t *testing.T) {
			r := mustRead(t, mt940("C260105EUR100,", ":61:"+line, ":86:Text"))
			if len(r.rows) < 1 || r.rows[0].Outcome != bankfile.Refused || r.rows[0].Line != 5 {
				t.Errorf("got %q", r.brief())
			}
		})
	}
}

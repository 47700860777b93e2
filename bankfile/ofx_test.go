package bankfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

const ofxHeader = `OFXHEADER:100
DATA:OFXSGML
VERSION:102
ENCODING:USASCII
CHARSET:1252

`

// ofx makes a statement of one account out of transactions.
func ofx(transactions ...string) string {
	return ofxHeader + "<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>NZD\n" +
		"<BANKACCTFROM><BANKID>01<ACCTID>0102-0123456-00<ACCTTYPE>CHECKING</BANKACCTFROM>\n" +
		"<BANKTRANLIST>\n" + strings.Join(transactions, "\n") + "</BANKTRANLIST>\n" +
		"<LEDGERBAL><BALAMT>100.00<DTASOF>20260131</LEDGERBAL>" +
		"</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
}

// trn makes a transaction without end tags, as OFX 1 has them.
func trn(date, amount, id, more string) string {
	return fmt.Sprintf("<STMTTRN>\n<TRNTYPE>OTHER\n<DTPOSTED>%s\n<TRNAMT>%s\n<FITID>%s\n%s</STMTTRN>",
		date, amount, id, more)
}

func TestOFXWithoutEndTags(t *testing.T) {
	r := mustRead(t, ofx(
		trn("20260103", "-12.50", "a1", "<NAME>Corner Dairy\n<MEMO>Milk\n<CHECKNUM>77\n"),
		trn("20260104120000[+13:NZDT]", "2000.00", "a2", "<NAME>Wages\n"),
	))
	f := r.file
	if f.Format != bankfile.OFX || len(f.Statements) != 1 {
		t.Fatalf("%s with %d statements", f.Format, len(f.Statements))
	}
	s := f.Statements[0]
	if s.Account != "0102-0123456-00" || s.Currency != "NZD" || s.Closing == nil ||
		s.Closing.Amount.String() != "100" || s.Closing.Date != "2026-01-31" {
		t.Errorf("statement %+v, closing %+v", s, s.Closing)
	}
	want := []string{"2026-01-03 -12.5 NZD", "2026-01-04 2000 NZD"}
	if diff := cmp.Diff(want, r.brief()); diff != "" {
		t.Error(diff)
	}
	e := r.entries()[0]
	if e.Name != "Corner Dairy" || e.Memo != "Milk" || e.Reference != "77" || e.BankID != "a1" ||
		!e.UniqueID {
		t.Errorf("entry %+v", e)
	}
}

// TestOFXInEveryDress reads one transaction in the forms that banks give the file around it.
func TestOFXInEveryDress(t *testing.T) {
	body := "<OFX><STMTRS><CURDEF>AUD</CURDEF><BANKACCTFROM><ACCTID>9</ACCTID></BANKACCTFROM>" +
		"<BANKTRANLIST><STMTTRN><DTPOSTED>20260103</DTPOSTED><TRNAMT>5.00</TRNAMT>" +
		"<FITID>1</FITID><NAME>Shop</NAME></STMTTRN></BANKTRANLIST></STMTRS></OFX>"
	for name, text := range map[string]string{
		"no header":                     body,
		"blank lines before the header": strings.Repeat("\n", 12) + ofxHeader + body,
		"header on one line":            "OFXHEADER:100 DATA:OFXSGML CHARSET:1252 " + body,
		"no blank line after it":        "OFXHEADER:100\nDATA:OFXSGML\n" + body,
		"XML header": `<?xml version="1.0" encoding="UTF-8"?>` +
			`<?OFX OFXHEADER="200" VERSION="211"?>` + body,
		"only a processing instruction": "<?OFX?>" + body,
		"header in a comment":           "<!-- OFXHEADER:100 --><?xml version=\"1.0\"?>" + body,
		"lower case":                    strings.ToLower(body),
		"a prefix of its own": `<?xml version="1.0"?><?OFX OFXHEADER="200"?>` +
			strings.NewReplacer("<OFX>", `<ns2:OFX xmlns:ns2="http://ofx.net/types/2003/04">`,
				"</OFX>", "</ns2:OFX>").Replace(body),
		"a name space": strings.Replace(body, "<OFX>",
			`<OFX xmlns="http://ofx.net/types/2003/04">`, 1),
		"a name space on the next line": strings.Replace(body, "<OFX>",
			"<OFX\n xmlns=\"http://ofx.net/types/2003/04\">", 1),
		"line ends CR": strings.ReplaceAll(ofxHeader, "\n", "\r") + body,
		"SGML body under an XML header": `<?xml version="1.0"?>` + strings.NewReplacer(
			"</CURDEF>", "\n", "</ACCTID>", "\n", "</DTPOSTED>", "\n", "</TRNAMT>", "\n",
			"</FITID>", "\n", "</NAME>", "\n").Replace(body),
		"list not closed":         strings.Replace(body, "</BANKTRANLIST>", "", 1),
		"card closed by a bank's": strings.Replace(body, "<STMTRS>", "<CCSTMTRS>", 1),
		"transactions not closed": strings.Replace(body, "</STMTTRN>", "", 1),
		"two lists": strings.Replace(body, "<BANKTRANLIST>",
			"<BANKTRANLIST></BANKTRANLIST><BANKTRANLIST>", 1),
		"decimal comma":     strings.Replace(body, "5.00", "5,00", 1),
		"dollar and blanks": strings.Replace(body, "5.00", " $ 5.00 ", 1),
		"an amount behind many blanks": strings.Replace(body, "5.00",
			"$"+longBlanks+"5.000", 1),
		"byte order mark": "\ufeff" + body,
		"CDATA":           strings.Replace(body, "Shop", "<![CDATA[Shop]]>", 1),
		"empty tags": strings.Replace(body, "<NAME>",
			"<MEMO></MEMO><CHECKNUM/><NAME>", 1),
		"QFX": strings.NewReplacer("<OFX>", "<OFX><SONRS><INTU.BID>3000<INTU.USERID>x</SONRS>",
			"<STMTTRN>", "<STMTTRN><INTU.XX>y").Replace(body),
		"the name in the payee": strings.Replace(body, "<NAME>Shop</NAME>",
			"<PAYEE><NAME>Shop</NAME></PAYEE>", 1),
	} {
		t.Run(name, func(t *testing.T) {
			e := mustRead(t, text).entries()
			if len(e) != 1 || e[0].Date != "2026-01-03" || e[0].Amount.String() != "5" ||
				!strings.EqualFold(e[0].Name, "shop") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// TestOFXDatesAreTheDaysThatAreWritten is libofx#39, #14, actual#1053 and ofx4j#30: the day is
// never moved by a zone, neither the one written nor that of the machine.
func TestOFXDatesAreTheDaysThatAreWritten(t *testing.T) {
	for written, want := range map[string]bankfile.Date{
		"20200406000000[-03:EST]":      "2020-04-06",
		"20190102":                     "2019-01-02",
		"20260131050000":               "2026-01-31", // Local midnight written as UTC.
		"20260131235959.999[+13:NZDT]": "2026-01-31",
		"20260101000000[0:GMT]":        "2026-01-01",
	} {
		t.Run(written, func(t *testing.T) {
			e := mustRead(t, ofx(trn(written, "1.00", "x", ""))).entries()
			if len(e) != 1 || e[0].Date != want {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// TestOFXTextIsKept is buckets#627, jgnash#35, #61, libofx#72 and ofxparser#53.
func TestOFXTextIsKept(t *testing.T) {
	for written, want := range map[string]string{
		"A&W #5567":           "A&W #5567",
		"AT&T":                "AT&T",
		"A &amp; B":           "A & B",
		"A &amp;amp; B":       "A &amp; B",
		"Caf&#233;":           "Café",
		"Caf&#xE9;":           "Café",
		"Acme &copy; Ltd":     "Acme &copy; Ltd",
		"lone &":              "lone &",
		"a < b":               "a < b",
		"1 &lt; 2":            "1 < 2",
		"&":                   "&",
		"&#0;":                "&#0;",
		"&#99999999999;":      "&#99999999999;",
		"R&D; more":           "R&D; more",
		"<![CDATA[B&Q <1>]]>": "B&Q <1>",
	} {
		t.Run(written, func(t *testing.T) {
			e := mustRead(t, ofx(trn("20260103", "1.00", "x", "<NAME>"+written+"\n"))).entries()
			if len(e) != 1 || e[0].Name != want {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// TestBytesDeclaredWrongly is a file that says USASCII and has letters of Windows-1252 or UTF-8.
func TestBytesDeclaredWrongly(t *testing.T) {
	utf8 := ofx(trn("20260103", "1.00", "x", "<NAME>Café €\n"))
	latin := strings.NewReplacer("é", "\xe9", "€", "\x80").Replace(utf8)
	for name, text := range map[string]string{"UTF-8": utf8, "Windows-1252": latin} {
		t.Run(name, func(t *testing.T) {
			e := mustRead(t, text).entries()
			if len(e) != 1 || e[0].Name != "Café €" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestOFXIDs(t *testing.T) {
	t.Run("buckets#889: the same id in two accounts is two ids", func(t *testing.T) {
		one := ofx(trn("20260103", "1.00", "7", ""))
		text := strings.Replace(one, "</STMTTRNRS>", "</STMTTRNRS><STMTTRNRS><STMTRS><CURDEF>NZD"+
			"<BANKACCTFROM><ACCTID>other</BANKACCTFROM><BANKTRANLIST>"+
			trn("20260104", "2.00", "7", "")+"</BANKTRANLIST></STMTRS></STMTTRNRS>", 1)
		r := mustRead(t, text)
		e := r.entries()
		if len(e) != 2 || !e[0].UniqueID || !e[1].UniqueID || len(r.file.Statements) != 2 ||
			r.rows[1].Statement != 1 {
			t.Errorf("got %+v", r.rows)
		}
	})
	t.Run("beancount-import#216: a fee with the id of its purchase is a second row",
		func(t *testing.T) {
			r := mustRead(t, ofx(trn("20260103", "-100.00", "7", ""), trn("20260103", "-3.00", "7",
				"")))
			e := r.entries()
			if len(e) != 2 || e[0].UniqueID || e[1].UniqueID || !r.warned(bankfile.WarnID) {
				t.Errorf("got %+v", r.rows)
			}
		})
	t.Run("an empty id is none", func(t *testing.T) {
		e := mustRead(t, ofx(trn("20260103", "1.00", "", ""), trn("20260103", "1.00", "",
			""))).entries()
		if len(e) != 2 || e[0].BankID != "" || e[0].UniqueID {
			t.Errorf("got %+v", e)
		}
	})
}

func TestOFXCorrectionsSayWhatTheyCorrect(t *testing.T) {
	e := mustRead(t, ofx(
		trn("20260103", "1.00", "a", ""),
		trn("20260104", "1.10", "b", "<CORRECTFITID>a<CORRECTACTION>REPLACE\n"),
		trn("20260105", "0.00", "c", "<CORRECTFITID>b<CORRECTACTION>DELETE\n"),
	)).entries()
	if len(e) != 3 || e[1].Corrects != "a" || e[1].Deletes || e[2].Corrects != "b" ||
		!e[2].Deletes {
		t.Errorf("got %+v", e)
	}
}

func TestOFXDaysBesideTheDayOfPosting(t *testing.T) {
	for more, want := range map[string][2]bankfile.Date{
		"<DTUSER>20260102\n<DTAVAIL>20260105\n": {"2026-01-05", "2026-01-02"},
		"<VALUEDATE>20260106\n":                 {"2026-01-06", ""},
		"<DTUSER>20260000\n<DTAVAIL>soon\n":     {"", ""},
	} {
		e := mustRead(t, ofx(trn("20260103", "1.00", "x", more))).entries()
		if len(e) != 1 || e[0].Date != "2026-01-03" || e[0].ValueDate != want[0] ||
			e[0].AuthorisedDate != want[1] {
			t.Errorf("%q: %+v", more, e)
		}
	}
}

func TestOFXPendingTransactions(t *testing.T) {
	r := mustRead(t, strings.Replace(ofx(trn("20260103", "1.00", "a", "")), "</BANKTRANLIST>",
		"</BANKTRANLIST><BANKTRANLISTP><DTASOF>20260131<STMTTRNP><TRNTYPE>POS<DTTRAN>20260130"+
			"<TRNAMT>-2.50<NAME>Shop</STMTTRNP></BANKTRANLISTP>", 1))
	if diff := cmp.Diff([]string{"2026-01-03 1 NZD", "2026-01-30 -2.5 NZD"},
		r.brief()); diff != "" {
		t.Fatal(diff)
	}
	if e := r.entries(); e[0].Pending || !e[1].Pending || r.totals[0].Sum.String() != "1" {
		t.Errorf("%+v, totals %+v", e, r.totals)
	}
}

// Other accounts are named within a statement: those of a transfer, or of a period's end.
func TestTheFirstAccountOfAnOFXStatementIsItsOwn(t *testing.T) {
	for name, text := range map[string]string{
		"a transfer of securities": "<OFX><INVSTMTRS><CURDEF>USD<INVACCTFROM><BROKERID>b.example" +
			"<ACCTID>9</INVACCTFROM><INVTRANLIST><TRANSFER><INVTRAN><FITID>1</INVTRAN>" +
			"<INVACCTFROM><BROKERID>other.example<ACCTID>8</INVACCTFROM></TRANSFER>" +
			"</INVTRANLIST></INVSTMTRS></OFX>",
		"the end of a period": "<OFX><STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>b.example" +
			"<ACCTID>9</BANKACCTFROM></STMTRS><STMTENDRS><BANKACCTFROM><BANKID>other.example" +
			"<ACCTID>8<ACCTTYPE>SAVINGS</BANKACCTFROM></STMTENDRS></OFX>",
	} {
		t.Run(name, func(t *testing.T) {
			s := mustRead(t, text).file.Statements
			if len(s) != 1 || s[0].Account != "9" || s[0].Bank != "b.example" ||
				s[0].Type != "" {
				t.Errorf("statements %+v", s)
			}
		})
	}
}

func TestOFXRowsThatCannotBeReadAreRefused(t *testing.T) {
	r := mustRead(t, ofx(
		trn("201120000000", "$120", "a", ""),
		trn("20260103", "", "b", ""),
		trn("20260103", "1.00", "c", ""),
	))
	if len(r.rows) != 3 || r.rows[0].Outcome != bankfile.Refused ||
		r.rows[1].Outcome != bankfile.Refused || r.totals[0].Refused != 2 || r.totals[0].Read != 1 {
		t.Errorf("got %q", r.brief())
	}
}

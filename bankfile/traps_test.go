package bankfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// TestTrapsOfRealFiles has one small file for each thing that makes real files hard, with all
// that is read from it: "date amount currency|name|memo|counterparty|reference|id".
func TestTrapsOfRealFiles(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"CSV: fields padded to a width, and the amount twice": {
			table("Rekeningnummer;Naam;Munt;Datum;Omschrijving;Bedrag;credit;debet;Naam tegenpartij",
				"BE11;SMITH JOHN  ;EUR;28/02/2018;COSTS     28-02;-3,40;        ;-3,40;          "),
			[]string{"2018-02-28 -3.4 EUR||COSTS     28-02|||"},
		},
		"CSV: words of SEPA glued together in one field": {
			table("Buchungstag;Buchungstext;Verwendungszweck;Name Zahlungsbeteiligter;Betrag",
				"22.02.18;LASTSCHRIFT;EREF+R 1MREF+M2CRED+DE98SVWZ+02/2018 Invoice;Cable Co;-36,99"),
			[]string{"2018-02-22 -36.99|Cable Co|LASTSCHRIFT 02/2018 Invoice||R 1|"},
		},
		"CSV: a stray comma behind the header, and a name that stands twice": {
			"Datum zaúčtování;Název protiúčtu;Částka;Původní částka;Původní částka;Id transakce,\n" +
				"27.05.2018;\"Anna\";\"-1,00\";\"\";\"\";1000000001\n",
			[]string{"2018-05-27 -1|Anna||||1000000001"},
		},
		"CSV: a direction that repeats the sign, and dates with a point behind": {
			table("Tranzakció dátuma,Partner neve,Tranzakció összege,Devizanem,Bevétel/Kiadás",
				"2019.04.19.,Shop,-350,HUF,outflow", "2019.04.17.,Wages,1290,HUF,inflow"),
			[]string{"2019-04-19 -350 HUF|Shop||||", "2019-04-17 1290 HUF|Wages||||"},
		},
		"CSV: moments of UTC and amounts without cents": {
			table("id,created,amount,currency,local_amount,local_currency,description",
				"tx_1,2018-02-25 23:34:56 +0000,-10,GBP,-10,GBP,Shop"),
			[]string{"2018-02-25 -10 GBP||Shop|||tx_1"},
		},
		"CSV: original and booked amount, short years, no line end": {
			strings.TrimSuffix(table("Belegdatum;Buchungsdatum;Originalbetrag;Originalwährung;"+
				"Buchungsbetrag;Buchungswährung;Buchungsreferenz",
				"19.02.18;20.02.18;-5,50;USD;-5,00;EUR;0510"), "\n"),
			[]string{"2018-02-20 -5 EUR|||||0510"},
		},
		"CSV: a moment within the text is text": {
			table("Buchungstag;Wertstellung;Buchungstext;Betrag;Währung;IBAN Auftraggeberkonto",
				`02.03.2018;02.03.2018;"Shop//Hamburg 2018-03-01T11:33:59 KFN 1";-17,22;EUR;DE89`),
			[]string{"2018-03-02 -17.22 EUR||Shop//Hamburg 2018-03-01T11:33:59 KFN 1|||"},
		},
		"OFX: a number of a cheque that is 0, and blanks behind names": {
			ofx(trn("20131215", "-16.85", "1", "<CHECKNUM>0\n<NAME><![CDATA[ALDI STORE  ]]>\n")),
			[]string{"2013-12-15 -16.85 NZD|ALDI STORE||||1"},
		},
		"OFX: empty elements, and the currency in the transaction alone": {
			"<OFX><STMTRS><CURDEF></CURDEF><STMTTRN><TRNTYPE>Credit</TRNTYPE><DTPOSTED>20180507" +
				"</DTPOSTED><TRNAMT>12.34</TRNAMT><FITID></FITID><NAME></NAME><MEMO>Transfer" +
				"</MEMO><CURRENCY><CURRATE>1.0</CURRATE><CURSYM>AUD</CURSYM></CURRENCY></STMTTRN>" +
				"<LEDGERBAL><BALAMT></BALAMT><DTASOF></DTASOF></LEDGERBAL></STMTRS></OFX>",
			[]string{"2018-05-07 12.34 AUD||Transfer|||"},
		},
		"QIF: categories within categories, and the year in two digits": {
			"!Type:Bank\nD12/19/18\nPOutlet\nT-100.58\nLUsual:Shopping\n^\n",
			[]string{"2018-12-19 -100.58|Outlet||||"},
		},
		"MT940: text in fixed columns, tabs and no-break spaces": {
			mt940("C260105EUR91,", ":61:2601030103D9,N192NONREF",
				":86:GIRO   100 SHOP     BETALINGSKENM. 1", "22\t3\u00a04", ""),
			[]string{"2026-01-03 -9 EUR||GIRO 100 SHOP BETALINGSKENM. 1 22 3 4|||"},
		},
		"MT940: codes between slashes, wrapped within a name": {
			mt940("C260105EUR75,", ":61:260103D000000000025,00N102EREF", "NL70ABNA0987654321",
				":86:/EREF/01-01-2013 12:00 0030000987654321/BENM//NAME/CONTRA ACCOUN",
				"T HOLDER/REMI//ISDT/2013-07-11"),
			[]string{"2026-01-03 -25 EUR|CONTRA ACCOUNT HOLDER||NL70ABNA0987654321|" +
				"01-01-2013 12:00 0030000987654321|"},
		},
		"camt: an entry in another currency is no part of the sum": {
			camt("053", 6, balance("OPBD", "10", "CRDT")+balance("CLBD", "10", "CRDT")+
				strings.Replace(ntry("200000", "DBIT", ""), `Ccy="CHF"`, `Ccy="SEK"`, 1)),
			[]string{"2026-01-03 -200000 SEK|||||"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, c.text)
			var got []string
			for i, row := range r.rows {
				e := row.Entry
				got = append(got, strings.Join([]string{r.brief()[i], e.Name, e.Memo,
					e.Counterparty, e.Reference, e.BankID}, "|"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// Some files hold balances and no entry; they are read, and say that nothing moved.
func TestFilesOfBalancesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // Opening or else closing balances.
	}{
		"MT940 amounts": {":60F:C100318EUR380115,1\n:60F:C100318EUR0,12\n:60F:C100318EUR001,12\n",
			[]string{"380115.1", "0.12", "1.12"}},
		"OFX of two accounts": {"<OFX><STMTRS><CURDEF>USD<BANKACCTFROM><ACCTID>9100" +
			"</BANKACCTFROM><LEDGERBAL><BALAMT>111<DTASOF>20120603</LEDGERBAL></STMTRS><STMTRS>" +
			"<CURDEF>USD<BANKACCTFROM><ACCTID>9200</BANKACCTFROM><LEDGERBAL><BALAMT>222<DTASOF>" +
			"20120603133220.000[-7:PDT]</LEDGERBAL></STMTRS></OFX>", []string{"111", "222"}},
		"camt with moments of nine digits": {camt("053", 2, strings.Replace(balance("OPBD",
			"5442.09000", "CRDT"), "<Dt>2026-01-01</Dt>",
			"<DtTm>2026-01-01T00:00:00.000000000</DtTm>", 1)), []string{"5442.09"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, c.text)
			var got []string
			for _, s := range r.file.Statements {
				b := s.Opening
				if b == nil {
					b = s.Closing
				}
				got = append(got, b.Amount.String())
				if b.Date == "" {
					t.Errorf("the balance %s has no date", b.Amount)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(r.rows) != 0 {
				t.Errorf("rows %q, balances (-want +got):\n%s", r.brief(), diff)
			}
		})
	}
}

// The message of a bank may be followed by more than a dash, and begin with a line of its own.
func TestMT940LinesOfTheBankAroundAMessage(t *testing.T) {
	body := strings.TrimSuffix(mt940("C260105EUR95,", ":61:260103D5,NTRFX", ":86:Text"), "-\n")
	for name, text := range map[string]string{
		"a dash and letters": "0000 01INGBNL2AXXXX00001\n940 00\n" + body + "-XXX\n",
		"a tag of its own":   ":940:\n" + body,
		"twice": body + "-\n" + strings.Replace(body, ":28C:7/1", ":28C:8/1", 1) +
			"-\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, text)
			for i, e := range r.entries() {
				if e.Memo != "Text" || !r.totals[i].Agrees {
					t.Errorf("entry %+v, total %+v", e, r.totals[i])
				}
			}
			if len(r.rows) != len(r.file.Statements) {
				t.Errorf("rows %q", r.brief())
			}
			if r.file.Format != bankfile.MT940 {
				t.Errorf("format %s", r.file.Format)
			}
		})
	}
}

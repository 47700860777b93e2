package bankfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

func ofxReports() []report {
	return []report{
		{
			name: "buckets#627, ccavanaugh/jgnash#35, #61: an ampersand that is not escaped",
			text: ofx(trn("20240506", "-1.50", "1", "<NAME>A&W #5567\n"),
				trn("20240507", "-2.50", "2", "<NAME>AT&amp;T\n")),
			want:  []string{"2024-05-06 -1.5 NZD", "2024-05-07 -2.5 NZD"},
			names: []string{"A&W #5567", "AT&T"},
		},
		{
			name: "libofx#72, asgrim/ofxparser#53: an unknown entity, an ampersand alone",
			text: ofx(trn("20240506", "-1.50", "1", "<NAME>Shop &copy; &\n")),
			want: []string{"2024-05-06 -1.5 NZD"}, names: []string{"Shop &copy; &"},
		},
		{
			name: "jbms/beancount-import#216: a fee with the id of its purchase",
			text: ofx(trn("20240506", "-10.00", "77", "<NAME>Shop\n"),
				trn("20240506", "-0.30", "77", "<NAME>Fee\n")),
			want:  []string{"2024-05-06 -10 NZD", "2024-05-06 -0.3 NZD"},
			names: []string{"Shop", "Fee"},
		},
	}
}

// camtStatement makes a camt.053 of 100 EUR to a closing balance, out of entries.
func camtStatement(closing string, entries ...string) string {
	balance := func(code, amount string) string {
		return `<Bal><Tp><CdOrPrtry><Cd>` + code + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` +
			amount +
			`</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2024-05-06</Dt></Dt></Bal>`
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
<GrpHdr><MsgId>M</MsgId></GrpHdr><Stmt><Id>S1</Id>
<Acct><Id><IBAN>NL71RABO0123456789</IBAN></Id><Ccy>EUR</Ccy></Acct>
` + balance("OPBD", "100.00") + balance("CLBD", closing) + strings.Join(entries, "\n") +
		`</Stmt></BkToCstmrStmt></Document>`
}

// booked makes an entry that is booked on 6 May 2024.
func booked(amount, sign, more string) string {
	return fmt.Sprintf(`<Ntry><Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd>`+
		`</Sts><BookgDt><Dt>2024-05-06</Dt></BookgDt>%s</Ntry>`, amount, sign, more)
}

// details makes the details of a batch.
func details(amounts ...string) string {
	var b strings.Builder
	b.WriteString("<NtryDtls>")
	for i, a := range amounts {
		fmt.Fprintf(&b, `<TxDtls><Amt Ccy="EUR">%s</Amt><RltdPties><Dbtr><Pty><Nm>Payer %d</Nm>`+
			`</Pty></Dbtr></RltdPties></TxDtls>`, a, i+1)
	}
	return b.String() + "</NtryDtls>"
}

func swiftReports() []report {
	const d = "2026-01-04"
	return []report{
		{
			name: "railslove/cmxl#30: a wrapped line that looks like a tag",
			text: mt940("C260105EUR87,5", ":61:2601030104D12,5NTRFNONREF", ":86:Paid at 14",
				":08 Karten 12"),
			want: []string{d + " -12.5 EUR"}, names: []string{"Paid at 14 :08 Karten 12"},
		},
		{
			name: "railslove/cmxl#8: the blocks of the network",
			text: "{1:F01BANKNL2AXXXX0000000000}{2:I940BANKNL2AXXXXN}{4:\n" +
				mt940("C260105EUR87,5", ":61:2601030104D12,5NTRFNONREF", ":86:Shop") + "-}\n",
			want: []string{d + " -12.5 EUR"}, names: []string{"Shop"},
		},
		{
			name: "mschindler83/fints-hbci-php#98, iamtorsten/libfintx#62: a code across two lines",
			text: mt940("C260105EUR87,5", ":61:2601030104D12,5NTRFNONREF",
				":86:105?00LASTSCHRIFT?20Strom Mai?30DRESDEFF508?3",
				"1DE14508800500000000011?32Stadtwerke"),
			want: []string{d + " -12.5 EUR"}, names: []string{"Stadtwerke"},
		},
		{
			name: "OCA/bank-statement-import PR#976: a batch with charges is booked once",
			text: camtStatement("1626.00", booked("1526.00", "CRDT", details("1000.00", "500.00"))),
			want: []string{"2024-05-06 1526 EUR"},
		},
		{
			name:  "OCA/bank-statement-import PR#976: a batch whose details make the whole",
			text:  camtStatement("1626.00", booked("1526.00", "CRDT", details("1500.00", "26.00"))),
			want:  []string{"2024-05-06 1500 EUR", "2024-05-06 26 EUR"},
			names: []string{"Payer 1", "Payer 2"},
		},
		{
			name: "metasfresh/metasfresh#1947: several entries in one statement",
			text: camtStatement("110.00", booked("5.00", "CRDT", ""), booked("7.00", "CRDT", ""),
				booked("2.00", "DBIT", "")),
			want: []string{"2024-05-06 5 EUR", "2024-05-06 7 EUR", "2024-05-06 -2 EUR"},
		},
		{
			name: "firefly#8736, #11539, #7747: no value date, no amount, no name",
			text: camtStatement("100.00", booked("0.00", "CRDT", "")),
			want: []string{"2024-05-06 0 EUR"}, names: []string{""},
		},
	}
}

// firefly#11460: the amount before conversion is kept.
func TestForeignAmountsAreKept(t *testing.T) {
	r := mustRead(t, camtStatement("90.00", booked("10.00", "DBIT", `<NtryDtls><TxDtls><AmtDtls>`+
		`<InstdAmt><Amt Ccy="USD">10.85</Amt></InstdAmt></AmtDtls></TxDtls></NtryDtls>`)))
	e := r.entries()[0]
	if e.Foreign.String() != "-10.85" || e.ForeignCurrency != "USD" {
		t.Errorf("foreign %s %s", e.Foreign, e.ForeignCurrency)
	}
	if !r.totals[0].Agrees {
		t.Errorf("totals %+v", r.totals[0])
	}
}

// moov and actual#608 ask for this: an id is one only where it stands once for its account.
func TestIDsAreScopedToTheAccountAndMustNotRepeat(t *testing.T) {
	// buckets#889, #894 and firefly#12093, #10914, #12041.
	one := ofx(trn("20240506", "-1.00", "42", ""))
	two := strings.Replace(one, "0102-0123456-00", "0102-0123456-50", 1)
	cut := strings.Index(one, "</STMTTRNRS>")
	both := one[:cut] + two[strings.Index(two, "<STMTRS>"):]
	r := mustRead(t, both)
	if len(r.file.Statements) != 2 || len(r.entries()) != 2 {
		t.Fatalf("%d statements, rows %q", len(r.file.Statements), r.brief())
	}
	for _, e := range r.entries() {
		if !e.UniqueID {
			t.Errorf("the id %q of one of two accounts does not count", e.BankID)
		}
	}
	r = mustRead(t, ofx(trn("20240506", "-1.00", "42", ""), trn("20240507", "-2.00", "42", ""),
		trn("20240507", "-2.00", "43", "")))
	got := []bool{}
	for _, e := range r.entries() {
		got = append(got, e.UniqueID)
	}
	if diff := cmp.Diff([]bool{false, false, true}, got); diff != "" {
		t.Errorf("unique (-want +got):\n%s", diff)
	}
}

// keysOf returns the keys of all entries of a file.
func keysOf(t *testing.T, text string) []bankfile.Key {
	t.Helper()
	r, err := read(text, bankfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var keys bankfile.Keys
	var all []bankfile.Key
	for _, e := range r.entries() {
		all = append(all, keys.Of("account", e))
	}
	return all
}

func TestKeysMakeAnImportRepeatable(t *testing.T) {
	cases := map[string]string{
		"actual#2432: three equal rows of a day": amounts("-1.00", "-1.00", "-1.00"),
		"ledgersmb/LedgerSMB#8936: OFX over again": ofx(trn("20240506", "-1.00", "1", ""),
			trn("20240506", "-1.00", "2", "")),
		"jbms/beancount-import#216: a shared id": ofx(trn("20240506", "-10.00", "77",
			"<NAME>Shop\n"),
			trn("20240506", "-0.30", "77", "<NAME>Fee\n")),
		"actual#5627: the same interest each day": dates("2024-05-06", "2024-05-07", "2024-05-08"),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			first, again := keysOf(t, text), keysOf(t, text)
			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("a second reading gives other keys:\n%s", diff)
			}
			seen := map[string]bool{}
			for _, k := range first {
				if seen[k.Content] || k.ID != "" && seen["id "+k.ID] {
					t.Errorf("key %+v stands twice", k)
				}
				seen[k.Content], seen["id "+k.ID] = true, true
			}
		})
	}
}

// A statement that overlaps the last one gives the rows of both the same keys.
func TestKeysOfOverlappingFilesAgree(t *testing.T) {
	older := keysOf(t, dates("2024-05-06", "2024-05-07", "2024-05-07"))
	newer := keysOf(t, dates("2024-05-07", "2024-05-07", "2024-05-08"))
	if diff := cmp.Diff(older[1:], newer[:2]); diff != "" {
		t.Errorf("keys (-older +newer):\n%s", diff)
	}
}

// Blanks and capitals differ between two downloads of the same bank; amounts and days do not.
func TestKeysKnowWhatCounts(t *testing.T) {
	key := func(change func(*bankfile.Entry)) string {
		e := mustRead(t, amounts("-1.00")).entries()[0]
		change(&e)
		var keys bankfile.Keys
		return keys.Of("account", e).Content
	}
	plain := key(func(*bankfile.Entry) {})
	for name, change := range map[string]func(*bankfile.Entry){
		"blanks":   func(e *bankfile.Entry) { e.Memo = "  " + e.Memo + " " },
		"capitals": func(e *bankfile.Entry) { e.Memo = strings.ToUpper(e.Memo) },
		"an id":    func(e *bankfile.Entry) { e.BankID, e.UniqueID = "7", true },
		"category": func(e *bankfile.Entry) { e.Category = "Food" },
	} {
		if key(change) != plain {
			t.Errorf("%s changed the key", name)
		}
	}
	for name, change := range map[string]func(*bankfile.Entry){
		"amount":   func(e *bankfile.Entry) { e.Amount = e.Amount.Neg() },
		"day":      func(e *bankfile.Entry) { e.Date = "2024-05-07" },
		"currency": func(e *bankfile.Entry) { e.Currency = "EUR" },
		"text":     func(e *bankfile.Entry) { e.Memo += "x" },
	} {
		if key(change) == plain {
			t.Errorf("another %s did not change the key", name)
		}
	}
}

// teelur/budget-board#863: a file of 1,879 rows gives 1,879 rows.
func TestNoRowIsLost(t *testing.T) {
	var b strings.Builder
	b.WriteString("Date;Name;Amount\n")
	for i := range 1879 {
		fmt.Fprintf(&b, "2024-05-%02d;Shop %d;-%d.25\n", 1+i%31, i, i)
	}
	if r := mustRead(t, b.String()); len(r.rows) != 1879 || len(r.entries()) != 1879 {
		t.Errorf("%d rows, %d entries", len(r.rows), len(r.entries()))
	}
}

// buckets/application#200 and Expensify/App#97779: preview and import are the same reading, and
// what a person set stays set.
func TestAMappingReadsTheNextFileInTheSameWay(t *testing.T) {
	text := amounts("14.000", "7.500")
	_, err := read(text, bankfile.Options{})
	if diff := cmp.Diff([]bankfile.Topic{bankfile.AskDecimal}, asked(err)); diff != "" {
		t.Fatal(diff)
	}
	first, err := read(text, bankfile.Options{Mapping: &bankfile.Mapping{
		Version: 1, Decimal: ".", Invert: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := first.file.Mapping()
	if !m.Invert || m.Decimal != "." || m.Delimiter != ";" || len(m.Columns) != 3 {
		t.Errorf("mapping %+v", m)
	}
	// The person moves the text to another role; signs stay inverted.
	for i := range m.Columns {
		if m.Columns[i].Role == bankfile.RoleMemo {
			m.Columns[i].Role = bankfile.RoleName
		}
	}
	second, err := read(text, bankfile.Options{Mapping: &m})
	if err != nil {
		t.Fatal(err)
	}
	e := second.entries()[0]
	if e.Amount.String() != "-14" || e.Name != "Shop" || e.Memo != "" {
		t.Errorf("entry %+v", e)
	}
	if diff := cmp.Diff(first.brief(), second.brief()); diff != "" {
		t.Errorf("rows (-first +second):\n%s", diff)
	}
}

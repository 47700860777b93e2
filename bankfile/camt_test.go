package bankfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// camt makes a statement of one account, in a message and version such as 053 and 2.
func camt(message string, version int, body string) string {
	root := map[string]string{"052": "BkToCstmrAcctRpt", "053": "BkToCstmrStmt",
		"054": "BkToCstmrDbtCdtNtfctn"}[message]
	inner := map[string]string{"052": "Rpt", "053": "Stmt", "054": "Ntfctn"}[message]
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.%s.001.%02d"><%s><GrpHdr><MsgId>M</MsgId></GrpHdr>
<%s><Id>S-1</Id><Acct><Id><IBAN>CH9300762011623852957</IBAN></Id><Ccy>CHF</Ccy></Acct>
%s
</%s></%s></Document>`, message, version, root, inner, body, inner, root)
}

// balance makes a Bal element.
func balance(code, amount, sign string) string {
	return fmt.Sprintf(`<Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp><Amt Ccy="CHF">%s</Amt>`+
		`<CdtDbtInd>%s</CdtDbtInd><Dt><Dt>2026-01-01</Dt></Dt></Bal>`, code, amount, sign)
}

// ntry makes a booked Ntry element with what more says.
func ntry(amount, sign, more string) string {
	return fmt.Sprintf(`<Ntry><Amt Ccy="CHF">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts>BOOK</Sts>`+
		`<BookgDt><Dt>2026-01-03</Dt></BookgDt><ValDt><Dt>2026-01-05</Dt></ValDt>%s</Ntry>`,
		amount, sign, more)
}

// tx makes a TxDtls element.
func tx(amount, sign, name string) string {
	return fmt.Sprintf(`<TxDtls><Refs><EndToEndId>E-%s</EndToEndId></Refs><Amt Ccy="CHF">%s</Amt>`+
		`<CdtDbtInd>%s</CdtDbtInd><RltdPties><Cdtr><Nm>%s</Nm></Cdtr></RltdPties></TxDtls>`,
		name, amount, sign, name)
}

func TestCamtOfEveryMessageAndVersion(t *testing.T) {
	for message, kind := range map[string]bankfile.Kind{
		"052": bankfile.Interim, "053": bankfile.Final, "054": bankfile.Advice,
	} {
		for version := 2; version <= 12; version++ {
			t.Run(fmt.Sprintf("%s version %d", message, version), func(t *testing.T) {
				status, name := "<Sts>BOOK</Sts>", "<Dbtr><Nm>Anna</Nm></Dbtr>"
				if version >= 8 {
					status, name = "<Sts><Cd>BOOK</Cd></Sts>",
						"<Dbtr><Pty><Nm>Anna</Nm></Pty></Dbtr>"
				}
				text := camt(message, version,
					`<Ntry><Amt Ccy="CHF">8.85</Amt><CdtDbtInd>CRDT</CdtDbtInd>`+
						status+`<BookgDt><DtTm>2026-01-03T23:30:00-05:00</DtTm></BookgDt>`+
						`<AcctSvcrRef>R1</AcctSvcrRef><NtryDtls><TxDtls><RltdPties>`+name+
						`<DbtrAcct><Id><IBAN>CH2401234004141414141</IBAN></Id></DbtrAcct></RltdPties>`+
						`<RmtInf><Ustrd>Rent</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`)
				r := mustRead(t, text)
				s, e := r.file.Statements[0], r.entries()
				if r.file.Format != bankfile.CAMT || s.Kind != kind || s.ID != "S-1" ||
					s.Account != "CH9300762011623852957" || s.Currency != "CHF" || len(e) != 1 {
					t.Fatalf("statement %+v, rows %q", s, r.brief())
				}
				want := bankfile.Entry{Date: "2026-01-03", Amount: e[0].Amount, Currency: "CHF",
					Name: "Anna", Counterparty: "CH2401234004141414141", Memo: "Rent",
					BankID: "R1", UniqueID: true}
				if diff := cmp.Diff(want, e[0]); diff != "" || e[0].Amount.String() != "8.85" {
					t.Errorf("%s %s", e[0].Amount, diff)
				}
			})
		}
	}
}

func TestCamtBalances(t *testing.T) {
	entry := ntry("10.00", "DBIT", "")
	for name, c := range map[string]struct {
		body   string
		checks bool
		agrees bool
	}{
		"opening and closing": {
			balance("OPBD", "100", "CRDT") + balance("CLBD", "90", "CRDT") + entry, true, true},
		"the previous closing opens": {
			balance("PRCD", "100", "CRDT") + balance("CLBD", "90", "CRDT") + entry, true, true},
		"opening before previous": {
			balance("OPBD", "100", "CRDT") + balance("PRCD", "50", "CRDT") +
				balance("CLBD", "90", "CRDT") + entry, true, true},
		"available is not booked": {
			balance("OPAV", "100", "CRDT") + balance("CLAV", "70", "CRDT") +
				balance("FWAV", "1", "CRDT") + entry, false, false},
		"overdrawn": {
			balance("OPBD", "5", "DBIT") + balance("CLBD", "15", "DBIT") + entry, true, true},
		"a gap": {
			balance("OPBD", "100", "CRDT") + balance("CLBD", "89.99", "CRDT") + entry, true, false},
		"balances after the entries": {
			entry + balance("OPBD", "100", "CRDT") + balance("CLBD", "90", "CRDT"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, camt("053", 2, c.body))
			total := r.totals[0]
			if total.Checked != c.checks || total.Agrees != c.agrees {
				t.Errorf("totals %+v", total)
			}
			warned := r.rows[len(r.rows)-1].Outcome == bankfile.Warned
			if warned != (c.checks && !c.agrees) {
				t.Errorf("rows %q", r.brief())
			}
		})
	}
}

func TestCamtBatches(t *testing.T) {
	details := func(all ...string) string {
		return "<AcctSvcrRef>B</AcctSvcrRef><NtryDtls>" + strings.Join(all, "") + "</NtryDtls>"
	}
	for name, c := range map[string]struct {
		entry string
		want  []string
	}{
		"details that make the whole are booked one by one": {
			ntry("30.00", "DBIT", details(tx("10.00", "DBIT", "a"), tx("20.00", "DBIT", "b"))),
			[]string{"2026-01-03 -10 CHF", "2026-01-03 -20 CHF"}},
		"OCA PR#976: a batch of 1526 with 26 of charges is 1526 in all": {
			ntry("1526.00", "DBIT", details(tx("1000.00", "DBIT", "a"), tx("500.00", "DBIT", "b"))),
			[]string{"2026-01-03 -1526 CHF"}},
		"details that repeat the whole are booked once": {
			ntry("30.00", "DBIT", details(tx("30.00", "DBIT", "a"), tx("30.00", "DBIT", "b"))),
			[]string{"2026-01-03 -30 CHF"}},
		"details without amounts are booked once": {
			ntry("30.00", "DBIT", details("<TxDtls></TxDtls>", "<TxDtls></TxDtls>")),
			[]string{"2026-01-03 -30 CHF"}},
		"one detail with another sign: the entry counts": {
			ntry("77.70", "DBIT", details(tx("77.70", "CRDT", "a"))),
			[]string{"2026-01-03 -77.7 CHF"}},
		"a return within a batch": {
			ntry("10.00", "DBIT", details(tx("15.00", "DBIT", "a"), tx("5.00", "CRDT", "b"))),
			[]string{"2026-01-03 -15 CHF", "2026-01-03 5 CHF"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, camt("053", 4, c.entry))
			if diff := cmp.Diff(c.want, r.brief()); diff != "" {
				t.Error(diff)
			}
			ids := map[string]bool{}
			for _, e := range r.entries() {
				if ids[e.BankID] {
					t.Errorf("the id %q stands twice", e.BankID)
				}
				ids[e.BankID] = true
			}
		})
	}
}

func TestCamtMarks(t *testing.T) {
	entry := ntry("5.00", "DBIT", "")
	t.Run("pending entries are marked and not summed", func(t *testing.T) {
		r := mustRead(t, camt("052", 6, strings.Replace(entry, "BOOK", "PDNG", 1)))
		if e := r.entries(); len(e) != 1 || !e[0].Pending || r.totals[0].Pending != 1 ||
			!r.totals[0].Sum.IsZero() {
			t.Errorf("got %+v, %+v", e, r.totals)
		}
	})
	t.Run("information is skipped", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, strings.Replace(entry, "BOOK", "INFO", 1)))
		if len(r.rows) != 1 || r.rows[0].Outcome != bankfile.Skipped || r.totals[0].Skipped != 1 {
			t.Errorf("got %q", r.brief())
		}
	})
	t.Run("OCA#375: a reversal is marked, and its sign is not turned again", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, strings.Replace(entry, "<Sts>",
			"<RvslInd>true</RvslInd><Sts>", 1)))
		if e := r.entries(); len(e) != 1 || !e[0].Reversal || e[0].Amount.String() != "-5" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("firefly#8736: no value date", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, strings.Replace(entry,
			"<ValDt><Dt>2026-01-05</Dt></ValDt>", "", 1)))
		if e := r.entries(); len(e) != 1 || e[0].Date != "2026-01-03" || e[0].ValueDate != "" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("without a date of booking, the value date is the day", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, strings.Replace(entry,
			"<BookgDt><Dt>2026-01-03</Dt></BookgDt>", "", 1)))
		if e := r.entries(); len(e) != 1 || e[0].Date != "2026-01-05" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("firefly#11539: an amount of zero, and #7747: no name", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, ntry("0.0", "CRDT", "")))
		if e := r.entries(); len(e) != 1 || !e[0].Amount.IsZero() || e[0].Name != "" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("firefly#11460: the amount in another currency", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, ntry("9.30", "DBIT",
			`<NtryDtls><TxDtls><AmtDtls><InstdAmt>`+
				`<Amt Ccy="USD">10.00</Amt></InstdAmt></AmtDtls></TxDtls></NtryDtls>`)))
		if e := r.entries(); len(e) != 1 || e[0].ForeignCurrency != "USD" ||
			e[0].Foreign.String() != "-10" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("a foreign amount of zero stands for nothing", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, ntry("9.30", "DBIT",
			`<NtryDtls><TxDtls><AmtDtls><InstdAmt>`+
				`<Amt Ccy="USD">0</Amt></InstdAmt></AmtDtls></TxDtls></NtryDtls>`)))
		if e := r.entries(); len(e) != 1 || e[0].ForeignCurrency != "" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("the day of the purchase", func(t *testing.T) {
		r := mustRead(t, camt("053", 8, ntry("9.30", "DBIT", `<NtryDtls><TxDtls><RltdDts>`+
			`<TxDtTm>2026-01-02T23:30:00Z</TxDtTm></RltdDts></TxDtls></NtryDtls>`)))
		if e := r.entries(); len(e) != 1 || e[0].AuthorisedDate != "2026-01-02" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("too many decimals are kept", func(t *testing.T) {
		r := mustRead(t, camt("053", 2, ntry("8.8555", "CRDT", "")))
		if e := r.entries(); e[0].Amount.String() != "8.8555" || !r.warned(bankfile.WarnDecimals) {
			t.Errorf("got %+v", r.rows)
		}
	})
}

// TestCamtManyEntriesAndStatements is metasfresh#1947.
func TestCamtManyEntriesAndStatements(t *testing.T) {
	text := camt("053", 2, ntry("1", "CRDT", "")+ntry("2", "CRDT", ""))
	text = strings.Replace(text, "</Stmt>",
		"</Stmt><Stmt><Id>S-2</Id><Acct><Id><Othr><Id>77-1</Id></Othr>"+
			"</Id><Ccy>EUR</Ccy></Acct>"+ntry("3", "DBIT", "")+"</Stmt>", 1)
	r := mustRead(t, text)
	if len(r.file.Statements) != 2 || r.file.Statements[1].Account != "77-1" ||
		len(r.entries()) != 3 ||
		r.rows[2].Statement != 1 {
		t.Errorf("got %q in %+v", r.brief(), r.file.Statements)
	}
}

func TestCamtDressedOtherwise(t *testing.T) {
	text := camt("053", 2, ntry("5", "CRDT", "<AddtlNtryInf>Grüße</AddtlNtryInf>"))
	for name, dressed := range map[string]string{
		"a prefix": strings.NewReplacer("</", "</n:", "<Document xmlns=", "<n:Document xmlns:n=",
			"<?", "<?").Replace(prefixed(text)),
		"ISO-8859-1": strings.NewReplacer("ü", "\xfc", "ß", "\xdf",
			"UTF-8", "ISO-8859-1").Replace(text),
		"declared ISO-8859-1, written in UTF-8": strings.Replace(text, "UTF-8", "ISO-8859-1", 1),
		"byte order mark":                       "\ufeff" + text,
		"one line":                              strings.ReplaceAll(text, "\n", ""),
		"CR LF":                                 strings.ReplaceAll(text, "\n", "\r\n"),
		"an envelope with a head": strings.NewReplacer("<Document",
			"<BizMsgEnvlp><AppHdr><Fr><FIId><Id>X</Id></FIId></Fr></AppHdr><Document",
			"</Document>", "</Document></BizMsgEnvlp>").Replace(text),
		"no document around it": strings.NewReplacer("</Document>", "", text[strings.Index(text,
			"<Document"):strings.Index(text, "<BkToCstmr")], "").Replace(text),
		"no document around it, and a prefix": strings.NewReplacer("</Document>", "", "</", "</n:",
			text[strings.Index(text, "<Document"):strings.Index(text, "<BkToCstmr")], "").Replace(
			prefixed(text)),
		"comments": strings.ReplaceAll(text, "<Ntry>",
			"<!-- <Ntry> --><Ntry>"),
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, dressed)
			if e := r.entries(); len(e) != 1 || e[0].Amount.String() != "5" ||
				e[0].Memo != "Grüße" {
				t.Errorf("got %+v", e)
			}
			if s := r.file.Statements; len(s) != 1 || s[0].ID != "S-1" ||
				s[0].Account != "CH9300762011623852957" || s[0].Currency != "CHF" {
				t.Errorf("statements %+v", s)
			}
		})
	}
}

// prefixed gives start tags a prefix.
func prefixed(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if text[i] == '<' && i+1 < len(text) && text[i+1] >= 'A' && text[i+1] <= 'Z' &&
			!strings.HasPrefix(text[i:], "<Document") {
			b.WriteString("n:")
		}
	}
	return b.String()
}

func TestCamtThatIsDamagedOrHostile(t *testing.T) {
	whole := camt("053", 2, ntry("5", "CRDT", ""))
	bomb := strings.Replace(whole, "<Document",
		`<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>`+
			"<Document", 1)
	for name, text := range map[string]string{
		"cut":             whole[:len(whole)-30],
		"tags that cross": strings.Replace(whole, "</Sts>", "</BookgDt>", 1),
		"nested without end": strings.Replace(whole, "<Ntry>", strings.Repeat("<a>",
			10_000)+"<Ntry>", 1),
		"another message": strings.NewReplacer("camt.053", "pain.001", "BkToCstmrStmt",
			"CstmrCdtTrfInitn").Replace(whole),
		"not a bank's at all": "<?xml version=\"1.0\"?><note>hello</note>",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(text, bankfile.Options{})
			var format *bankfile.FormatError
			var limit *bankfile.LimitError
			if !errors.As(err, &format) && !errors.As(err, &limit) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("entities that a file declares are not expanded", func(t *testing.T) {
		r, err := read(strings.Replace(bomb, "</Ntry>",
			"<AddtlNtryInf>&b;</AddtlNtryInf></Ntry>", 1),
			bankfile.Options{})
		if err == nil && r.entries()[0].Memo != "&b;" {
			t.Errorf("got %+v", r.entries())
		}
	})
}

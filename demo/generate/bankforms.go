package main

import (
	"fmt"
	"strings"
)

// writtenFile is a bank's file with its content.
type writtenFile struct {
	bankFile
	content string
}

// Opening balances, in cents, of the accounts whose files give them.
const (
	openingEveryday = 184_012
	openingBerlin   = 95_000
)

// bankFiles writes the files in the order in which they are to be imported. The second file of the
// everyday account repeats the days from 1 to 10 February; in the third file of Berlin the purchase
// of 31 March is booked, which is pending in the second one.
func bankFiles(accounts []bankAccount) []writtenFile {
	everyday, card, cash := &accounts[0], &accounts[1], &accounts[2]
	lisbon, berlin := &accounts[3], &accounts[4]
	first := everyday.between("01-01", "02-10")
	second := everyday.between("02-01", "03-31")
	repeated := len(everyday.between("02-01", "02-10"))
	january, spring := berlin.between("01-01", "01-31"), berlin.between("02-01", "03-31")
	pending := berlin.between("03-31", "03-31")
	lisbonText, badLine := semicolons(lisbon.movements)
	return []writtenFile{
		{bankFile{File: "everyday-january.ofx", Account: everyday.ID, Format: "ofx",
			New: len(first)}, ofxSGML(everyday, first, "02-11")},
		{bankFile{File: "everyday-march.qfx", Account: everyday.ID, Format: "ofx",
			New: len(second) - repeated, Known: repeated}, ofxXML(everyday, second)},
		{bankFile{File: "card.csv", Account: card.ID, Format: "csv", New: len(card.movements)},
			cardCSV(card.movements)},
		{bankFile{File: "cash.qif", Account: cash.ID, Format: "qif", New: len(cash.movements)},
			qif(cash.movements)},
		{bankFile{File: "lisbon.csv", Account: lisbon.ID, Format: "csv",
			Answers: map[string]string{"dateOrder": "day-month-year"},
			New:     len(lisbon.movements), Skipped: 2, Refused: []int{badLine}}, lisbonText},
		{bankFile{File: "berlin-january.sta", Account: berlin.ID, Format: "mt940",
			New: len(january), Balanced: true}, mt940(berlin, january)},
		{bankFile{File: "berlin-today.xml", Account: berlin.ID, Format: "camt",
			New: len(pending)}, camtReport(pending)},
		{bankFile{File: "berlin-march.xml", Account: berlin.ID, Format: "camt",
			New: len(spring) - len(pending), Merged: len(pending), Balanced: true},
			camtStatement(berlin, spring)},
	}
}

// compact writes a day without hyphens.
func compact(day string) string { return strings.ReplaceAll(day, "-", "") }

// europeanDay writes a day as 05/01/2026.
func europeanDay(day string) string { return day[8:] + "/" + day[5:7] + "/" + day[:4] }

func ofxKind(cents int64) string {
	if cents < 0 {
		return "DEBIT"
	}
	return "CREDIT"
}

// ids gives the ids that a bank made for movements: a day, and a number of the day.
func ids(movements []movement) []string {
	out, perDay := make([]string, len(movements)), map[string]int{}
	for i, m := range movements {
		perDay[m.day]++
		out[i] = fmt.Sprintf("%s%03d", compact(m.day), perDay[m.day])
	}
	return out
}

// ofxSGML writes OFX 1: SGML, in which most tags are not closed.
func ofxSGML(a *bankAccount, movements []movement, before string) string {
	var b strings.Builder
	b.WriteString(`OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>
<DTSERVER>20260211<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>
<STMTRS><CURDEF>NZD
<BANKACCTFROM><BANKID>12<BRANCHID>3456<ACCTID>12-3456-0123456-00<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260101<DTEND>20260210
`)
	for i, id := range ids(movements) {
		m := movements[i]
		fmt.Fprintf(&b, "<STMTTRN><TRNTYPE>%s<DTPOSTED>%s<TRNAMT>%s<FITID>%s\n<NAME>%s<MEMO>%s\n"+
			"</STMTTRN>\n", ofxKind(m.cents), compact(m.day), inUnits(m.cents), id, m.who, m.memo)
	}
	fmt.Fprintf(&b, `</BANKTRANLIST>
<LEDGERBAL><BALAMT>%s<DTASOF>20260210</LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`, inUnits(a.balanceBefore(before, openingEveryday)))
	return b.String()
}

// ofxXML writes OFX 2, which is XML, with what Quicken adds to it.
func ofxXML(a *bankAccount, movements []movement) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
 <SIGNONMSGSRSV1><SONRS><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>
  <DTSERVER>20260401080000[+13:NZDT]</DTSERVER><LANGUAGE>ENG</LANGUAGE>
  <INTU.BID>03000</INTU.BID></SONRS></SIGNONMSGSRSV1>
 <BANKMSGSRSV1><STMTTRNRS><TRNUID>2</TRNUID>
  <STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>
  <STMTRS><CURDEF>NZD</CURDEF>
   <BANKACCTFROM><BANKID>12</BANKID><BRANCHID>3456</BRANCHID>
    <ACCTID>12-3456-0123456-00</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
   <BANKTRANLIST><DTSTART>20260201</DTSTART><DTEND>20260331</DTEND>
`)
	for i, id := range ids(movements) {
		m := movements[i]
		// A time at the edge of a day: no time zone may move it to the day before.
		fmt.Fprintf(&b, "    <STMTTRN><TRNTYPE>%s</TRNTYPE><DTPOSTED>%s000000[+13:NZDT]</DTPOSTED>\n"+
			"     <TRNAMT>%s</TRNAMT><FITID>%s</FITID>\n     <NAME>%s</NAME><MEMO>%s</MEMO></STMTTRN>\n",
			ofxKind(m.cents), compact(m.day), inUnits(m.cents), id, m.who, m.memo)
	}
	fmt.Fprintf(&b, `   </BANKTRANLIST>
   <LEDGERBAL><BALAMT>%s</BALAMT><DTASOF>20260331</DTASOF></LEDGERBAL>
  </STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`, inUnits(a.balanceBefore("04-01", openingEveryday)))
	return b.String()
}

// cardCSV writes the format of a card of a bank in New Zealand: amounts without signs, next to a
// letter for the direction, the latest first.
func cardCSV(movements []movement) string {
	var b strings.Builder
	b.WriteString("Card,Type,Amount,Details,TransactionDate,ProcessedDate,ForeignCurrencyAmount," +
		"ConversionCharge\r\n")
	for i := len(movements) - 1; i >= 0; i-- {
		m, kind := movements[i], "C"
		if m.cents < 0 {
			kind, m.cents = "D", -m.cents
		}
		day := europeanDay(m.day)
		fmt.Fprintf(&b, "4711-****-****-0815,%s,%s,%s,%s,%s,,\r\n", kind, inUnits(m.cents), m.who,
			day, day)
	}
	return b.String()
}

// qif writes what a program for personal finance hands on.
func qif(movements []movement) string {
	var b strings.Builder
	b.WriteString("!Type:Cash\n")
	for _, m := range movements {
		fmt.Fprintf(&b, "D%s\nT%s\nP%s\n", europeanDay(m.day), inUnits(m.cents), m.who)
		if m.memo != "" {
			fmt.Fprintf(&b, "M%s\n", m.memo)
		}
		b.WriteString("^\n")
	}
	return b.String()
}

// semicolons writes a file as in Portugal: semicolons, a decimal comma, points between thousands,
// lines before the header. No day in it is after the twelfth, so that nothing decides between day
// and month. One row is damaged; its line is returned.
func semicolons(movements []movement) (text string, badLine int) {
	const damagedBefore = "2026-03-09"
	var b strings.Builder
	b.WriteString("\ufeffConta corrente Azul\r\nPeríodo;01/01/2026 a 12/03/2026\r\n\r\n" +
		"Data;Descrição;Montante;Moeda\r\n")
	line := 4
	for _, m := range movements {
		if m.day == damagedBefore {
			b.WriteString("08/03/2026;Farmácia Central;#VALOR!;EUR\r\n") // A spreadsheet did that.
			line++
			badLine = line
		}
		line++
		amount := strings.ReplaceAll(inUnits(m.cents), ".", ",")
		if at := len(amount) - len("000,00"); at > 0 && amount[at-1] != '-' {
			amount = amount[:at] + "." + amount[at:]
		}
		who := m.who
		if m.memo != "" {
			who += " " + m.memo
		}
		fmt.Fprintf(&b, "%s;%s;%s;EUR\r\n", europeanDay(m.day), who, amount)
	}
	return b.String(), badLine
}

const berlinIBAN = "DE02100100100006820101"

// mt940 writes the messages of SWIFT, with the subfields of German banks.
func mt940(a *bankAccount, movements []movement) string {
	var b strings.Builder
	side := func(cents int64) (string, string) {
		letter := "C"
		if cents < 0 {
			letter, cents = "D", -cents
		}
		return letter, strings.ReplaceAll(inUnits(cents), ".", ",")
	}
	letter, amount := side(openingBerlin)
	fmt.Fprintf(&b, ":20:STARTUMS\r\n:25:%s\r\n:28C:1/1\r\n:60F:%s260101EUR%s\r\n", berlinIBAN,
		letter, amount)
	for i, m := range movements {
		letter, amount := side(m.cents)
		day := compact(m.day)[2:]
		fmt.Fprintf(&b, ":61:%s%s%s%sNMSCNONREF//%d\r\n:86:166?00UMSATZ?20%s?32%s\r\n", day, day[2:],
			letter, amount, 7001+i, m.memo, m.who)
	}
	letter, amount = side(a.balanceBefore("02-01", openingBerlin))
	fmt.Fprintf(&b, ":62F:%s260131EUR%s\r\n-\r\n", letter, amount)
	return b.String()
}

// camtEntry writes an entry of camt in a state, on a day that need not be that of the movement.
func camtEntry(m movement, reference, state, day string) string {
	side, party := "CRDT", "Dbtr"
	if m.cents < 0 {
		side, party, m.cents = "DBIT", "Cdtr", -m.cents
	}
	booked := fmt.Sprintf("<BookgDt><Dt>%s</Dt></BookgDt>", day)
	return fmt.Sprintf(`   <Ntry>
    <Amt Ccy="EUR">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts>%s</Sts>
    %s<ValDt><Dt>%s</Dt></ValDt>%s
    <NtryDtls><TxDtls><RltdPties><%s><Nm>%s</Nm></%s></RltdPties>
     <RmtInf><Ustrd>%s</Ustrd></RmtInf></TxDtls></NtryDtls>
   </Ntry>
`, inUnits(m.cents), side, state, booked, day, reference, party, m.who, party, m.memo)
}

// camtReport writes camt.052: what is not booked yet, a day before it will be.
func camtReport(movements []movement) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.02">
 <BkToCstmrAcctRpt>
  <GrpHdr><MsgId>R-0330</MsgId><CreDtTm>2026-03-30T18:00:00</CreDtTm></GrpHdr>
  <Rpt><Id>R-0330</Id><CreDtTm>2026-03-30T18:00:00</CreDtTm>
   <Acct><Id><IBAN>%s</IBAN></Id><Ccy>EUR</Ccy></Acct>
`, berlinIBAN)
	for _, m := range movements {
		b.WriteString(camtEntry(m, "", "PDNG", "2026-03-30"))
	}
	b.WriteString("  </Rpt>\n </BkToCstmrAcctRpt>\n</Document>\n")
	return b.String()
}

// camtStatement writes camt.053: what is booked, with the balances around it.
func camtStatement(a *bankAccount, movements []movement) string {
	var b strings.Builder
	balance := func(code, day string, cents int64) {
		fmt.Fprintf(&b, `   <Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">%s</Amt>
    <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>%s</Dt></Dt></Bal>
`, code, inUnits(cents), day)
	}
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">
 <BkToCstmrStmt>
  <GrpHdr><MsgId>S-0331</MsgId><CreDtTm>2026-03-31T23:00:00</CreDtTm></GrpHdr>
  <Stmt><Id>S-0331</Id><CreDtTm>2026-03-31T23:00:00</CreDtTm>
   <Acct><Id><IBAN>%s</IBAN></Id><Ccy>EUR</Ccy></Acct>
`, berlinIBAN)
	balance("OPBD", "2026-02-01", a.balanceBefore("02-01", openingBerlin))
	balance("CLBD", "2026-03-31", a.balanceBefore("04-01", openingBerlin))
	for i, m := range movements {
		reference := fmt.Sprintf("<AcctSvcrRef>%d</AcctSvcrRef>", 8001+i)
		// From version 4 on the status has a code element.
		b.WriteString(camtEntry(m, reference, "<Cd>BOOK</Cd>", m.day))
	}
	b.WriteString("  </Stmt>\n </BkToCstmrStmt>\n</Document>\n")
	return b.String()
}

package bankfile_test

import (
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// written is an entry before a bank writes it.
type written struct {
	day        time.Time
	cents      int64
	name, memo string
	id         string
}

// bank writes statements in one format, with the balances where it has them.
type bank struct {
	words []string // What its texts are made of.
	write func(entries []written, opening int64) string
	ids   bool // It gives ids.
	names bool // It parts the name from the memo.
	whole bool // It gives both balances.
}

// awkward are words that some format has a use for of its own.
var awkward = []string{
	"Shop", "A&W", "AT&T;", "&amp;", "Café", "Łódź", `"quoted"`, `1"`, "a,b", "c;d", "it's", "100%",
	"-5.00", "#1", "日本", "😀", "x:y", "=1+1", "/REMI", "?20x", "EUR", "^", "!Type:Bank", "\\", "|",
	"(12)", "31/12/2026", "''", "]]>", "a=b", "OFXHEADER", "D", "T5", "<!--", "<b>", "<", "—",
	"<OFX>", "<html>", "<Document>", ":20:", "eurofxref",
}

// swift are words of the letters that SWIFT allows.
var swift = []string{
	"Shop", "A+W", "it's", "-5.00", "-", "x:y", "(12)", "31/12", "EUR", "1,5", "No.7", "/X", ":61",
}

var banks = map[string]bank{
	"CSV":         {words: awkward, write: writeCSV(","), ids: true, names: true},
	"CSV of ;":    {words: awkward, write: writeCSV(";"), ids: true, names: true},
	"CSV of tabs": {words: awkward, write: writeCSV("\t"), ids: true, names: true},
	"OFX 1":       {words: awkward, write: writeOFX(false), ids: true, names: true},
	"OFX 2":       {words: awkward, write: writeOFX(true), ids: true, names: true},
	"QIF":         {words: awkward, write: writeQIF, names: true},
	"MT940":       {words: swift, write: writeMT940, ids: true, names: true, whole: true},
	"camt.053":    {words: awkward, write: writeCamt, ids: true, names: true, whole: true},
}

func cents(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

func writeCSV(delimiter string) func([]written, int64) string {
	quote := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	return func(entries []written, _ int64) string {
		var b strings.Builder
		b.WriteString(strings.Join([]string{"Booking date", "Payee", "Description", "Amount",
			"Transaction ID"}, delimiter) + "\n")
		for _, e := range entries {
			b.WriteString(strings.Join([]string{e.day.Format("02/01/2006"), quote(e.name),
				quote(e.memo), cents(e.cents), e.id}, delimiter) + "\n")
		}
		return b.String()
	}
}

func escape(text string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return ""
	}
	return b.String()
}

func writeOFX(closed bool) func([]written, int64) string {
	return func(entries []written, _ int64) string {
		tag := func(name, text string) string {
			if closed {
				return "<" + name + ">" + escape(text) + "</" + name + ">"
			}
			return "<" + name + ">" + escape(text) + "\n"
		}
		var all []string
		for _, e := range entries {
			all = append(all, "<STMTTRN>"+tag("DTPOSTED", e.day.Format("20060102150405[-3:EST]"))+
				tag("TRNAMT", cents(e.cents))+tag("FITID", e.id)+tag("NAME", e.name)+
				tag("MEMO", e.memo)+"</STMTTRN>")
		}
		return ofx(all...)
	}
}

func writeQIF(entries []written, _ int64) string {
	var b strings.Builder
	b.WriteString("!Type:Bank\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "D%s\nT%s\nP%s\nM%s\n^\n", e.day.Format("02/01'06"), cents(e.cents), e.name,
			e.memo)
	}
	return b.String()
}

func writeMT940(entries []written, opening int64) string {
	mark := func(n int64) (string, string) {
		letter := "C"
		if n < 0 {
			letter, n = "D", -n
		}
		return letter, strings.Replace(cents(n), ".", ",", 1)
	}
	var b strings.Builder
	letter, amount := mark(opening)
	fmt.Fprintf(&b, ":20:X\n:25:NL71RABO0123456789\n:28C:1/1\n:60F:%s250101EUR%s\n", letter, amount)
	closing := opening
	for _, e := range entries {
		closing += e.cents
		letter, amount := mark(e.cents)
		fmt.Fprintf(&b, ":61:%s%s%s%sNTRFNONREF//%s\n", e.day.Format("060102"),
			e.day.Format("0102"), letter, amount, e.id)
		// Lines end at 65 letters, wherever that is.
		text := ":86:166?00X?20SVWZ+"
		for i, rest := 0, e.memo; ; i++ {
			if len(rest) <= 20 {
				text += rest
				break
			}
			text, rest = text+rest[:20]+fmt.Sprintf("?%d", 21+i), rest[20:]
		}
		text += "?32" + e.name
		for len(text) > 65 {
			b.WriteString(text[:65] + "\n")
			text = text[65:]
		}
		b.WriteString(text + "\n")
	}
	letter, amount = mark(closing)
	fmt.Fprintf(&b, ":62F:%s260101EUR%s\n-\n", letter, amount)
	return b.String()
}

func writeCamt(entries []written, opening int64) string {
	mark := func(n int64) (string, string) {
		if n < 0 {
			return cents(-n), "DBIT"
		}
		return cents(n), "CRDT"
	}
	closing := opening
	var all strings.Builder
	for _, e := range entries {
		closing += e.cents
		amount, sign := mark(e.cents)
		side := "Dbtr"
		if e.cents < 0 {
			side = "Cdtr"
		}
		fmt.Fprintf(&all, `<Ntry><Amt Ccy="CHF">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd>`+
			`</Sts><BookgDt><DtTm>%s</DtTm></BookgDt><AcctSvcrRef>%s</AcctSvcrRef><NtryDtls>`+
			`<TxDtls><RltdPties><%[5]s><Pty><Nm>%[6]s</Nm></Pty></%[5]s></RltdPties><RmtInf><Ustrd>`+
			`%[7]s</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`, amount, sign,
			e.day.Format("2006-01-02T15:04:05-07:00"), e.id, side, escape(e.name), escape(e.memo))
	}
	openAmount, openSign := mark(opening)
	closeAmount, closeSign := mark(closing)
	return camt("053", 8, balance("OPBD", openAmount, openSign)+
		balance("CLBD", closeAmount, closeSign)+all.String())
}

// randomEntries makes entries with awkward texts, in the order of their days.
func randomEntries(random *rand.Rand, words []string) []written {
	text := func(count int) string {
		var all []string
		for range 1 + random.IntN(count) {
			all = append(all, words[random.IntN(len(words))])
		}
		return strings.Join(all, " ")
	}
	// The first day is past the twelfth, so that the file shows its order.
	day := time.Date(2025, 1, 13, 9, 30, 0, 0, time.UTC)
	var entries []written
	for i := range 1 + random.IntN(20) {
		entries = append(entries, written{day: day, name: text(2), memo: text(8),
			cents: random.Int64N(1_000_000) - 500_000, id: fmt.Sprintf("ID%06d", i)})
		day = day.AddDate(0, 0, random.IntN(4))
	}
	return entries
}

// What a bank wrote comes back: days, amounts, names, texts and ids, in every format, however
// awkward the texts are; and the balances agree.
func TestWhatABankWroteComesBack(t *testing.T) {
	for name, b := range banks {
		t.Run(name, func(t *testing.T) {
			random := seeded(t)
			for range 60 * int(rounds()) {
				entries := randomEntries(random, b.words)
				text := b.write(entries, random.Int64N(100_000)-50_000)
				text = dressed(random, text)
				checkWritten(t, b, entries, text)
				if t.Failed() {
					t.Fatal(text)
				}
			}
		})
	}
}

// dressed gives a text one of the line ends and encodings that banks use.
func dressed(random *rand.Rand, text string) string {
	ends := []string{"\n", "\r\n", "\r", "\r\r\n"}
	text = strings.ReplaceAll(text, "\n", ends[random.IntN(len(ends))])
	switch random.IntN(5) {
	case 0:
		return "\ufeff" + text
	case 1:
		return utf16of("\ufeff"+text, binary.LittleEndian)
	case 2:
		return utf16of("\ufeff"+text, binary.BigEndian)
	}
	return text
}

func checkWritten(t *testing.T, b bank, entries []written, text string) {
	t.Helper()
	r, err := read(text, bankfile.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	type line struct{ Date, Amount, Name, Memo, ID string }
	var want, got []line
	for _, e := range entries {
		amount, err := money.NewDecimal(e.cents, 2)
		if err != nil {
			t.Fatal(err)
		}
		l := line{e.day.Format("2006-01-02"), amount.String(), e.name, e.memo, ""}
		if b.ids {
			l.ID = e.id
		}
		want = append(want, l)
	}
	for _, row := range r.rows {
		e := row.Entry
		if row.Outcome != bankfile.Read {
			t.Errorf("%s line %d: %s", row.Outcome, row.Line, row.Why)
		}
		got = append(got, line{string(e.Date), e.Amount.String(), e.Name, e.Memo, e.BankID})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if len(r.totals) == 0 {
		t.Error("no statement")
	} else if total := r.totals[0]; total.Checked != b.whole || total.Agrees != b.whole {
		t.Errorf("total %+v", total)
	}
}

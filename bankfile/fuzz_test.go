package bankfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// rowsMax is how many rows a fuzzed file may give for each of its bytes: a row takes some bytes,
// and each statement may add one warning for a balance.
const rowsMax = 2

// readAnything opens and reads a file that nobody made, answers its questions with the first
// choice, and checks what is promised of every file.
func readAnything(t *testing.T, text string, options bankfile.Options) {
	file, err := bankfile.Open(strings.NewReader(text), int64(len(text)), options)
	var undecided *bankfile.UndecidedError
	if errors.As(err, &undecided) {
		m := undecided.Mapping
		for _, q := range undecided.Questions {
			if q.Text == "" {
				t.Fatalf("a question without words: %+v", q)
			}
			if len(q.Choices) == 0 {
				return
			}
			if err := m.Answer(q.Topic, q.Choices[0].Value); err != nil {
				t.Fatalf("the first choice of %+v: %v", q, err)
			}
		}
		options.Mapping = &m
		file, err = bankfile.Open(strings.NewReader(text), int64(len(text)), options)
		if again := (*bankfile.UndecidedError)(nil); errors.As(err, &again) {
			for _, q := range again.Questions {
				for _, before := range undecided.Questions {
					if q.Topic == before.Topic {
						t.Fatalf("%s is asked again after its answer", q.Topic)
					}
				}
			}
		}
	}
	if err != nil {
		if err.Error() == "" {
			t.Fatal("an error without words")
		}
		return
	}
	for _, s := range file.Statements {
		if max(len(s.Account), len(s.Bank), len(s.Type), len(s.ID)) > bankfile.NameMax {
			t.Fatalf("a text of the statement is too long: %+v", s)
		}
	}
	rows, read := 0, 0
	totals, err := file.Each(func(row bankfile.Row) bool {
		rows++
		checkRow(t, file, row)
		if row.Outcome == bankfile.Read {
			read++
		}
		return true
	})
	sum := 0
	for _, total := range totals {
		sum += total.Read
	}
	if err == nil && sum != read {
		t.Fatalf("%d rows were read, the totals say %d", read, sum)
	}
	if rows > rowsMax*len(text)+rowsMax {
		t.Fatalf("%d rows of %d bytes", rows, len(text))
	}
	// Whoever stops gets no more.
	got := 0
	for range file.Rows() {
		got++
		break
	}
	if got > 1 {
		t.Fatal("rows after the end")
	}
}

// checkRow checks one row by itself.
func checkRow(t *testing.T, file *bankfile.File, row bankfile.Row) {
	t.Helper()
	if row.Statement >= len(file.Statements) || row.Statement < -1 {
		t.Fatalf("statement %d of %d", row.Statement, len(file.Statements))
	}
	if len(row.Raw) > bankfile.RawMax {
		t.Fatalf("%d bytes of raw text", len(row.Raw))
	}
	if row.Outcome != bankfile.Read {
		if row.Why == "" {
			t.Fatalf("a row is %s without a reason", row.Outcome)
		}
		return
	}
	e := row.Entry
	if len(e.Date) != len("2026-01-31") || e.Date[4] != '-' || e.Date[7] != '-' {
		t.Fatalf("the date %q", e.Date)
	}
	if e.UniqueID && e.BankID == "" {
		t.Fatal("an empty id is unique")
	}
	for _, text := range []string{e.Name, e.Memo, e.Reference, e.Counterparty, e.Category,
		e.BankID} {
		if len(text) > bankfile.RecordMax {
			t.Fatalf("a text of %d bytes", len(text))
		}
	}
}

// seeds adds texts to a fuzz target, whole and cut in the middle.
func seeds(f *testing.F, texts ...string) {
	for _, text := range texts {
		f.Add(text)
		f.Add(text[:len(text)/2])
		f.Add(strings.ReplaceAll(text, "\n", "\r"))
	}
}

func FuzzOpen(f *testing.F) {
	seeds(f, "Date,Amount\n2026-01-31,1\n", qif("2026-01-31", "1"), mt940("C260105EUR95,",
		":61:260103D5,NTRFX"),
		ofx(trn("20260103", "1.00", "x", "")), camt("053", 2, ntry("1", "CRDT", "")),
		"\xff\xfeD\x00a\x00", "%PDF-1.4", "PK\x03\x04", "\x00\x00\x00", "<html>", "a;b\n1;2\n")
	f.Fuzz(func(t *testing.T, text string) { readAnything(t, text, bankfile.Options{}) })
}

func FuzzOFX(f *testing.F) {
	seeds(f, ofx(trn("20260103", "1.00", "x", "<NAME>A&W &amp; <![CDATA[x]]>\n")), "<OFX>",
		"<OFX><STMTTRN><STMTTRN>", trn("20260103", "$"+longBlanks+"1.234", "1", ""),
		trn("20260103", strings.Repeat("-", 100)+"1.234", "1", ""))
	f.Fuzz(func(t *testing.T, text string) { readAnything(t, "<OFX>"+text, bankfile.Options{}) })
}

func FuzzQIF(f *testing.F) {
	seeds(f, qif("31/01/2026", "1.234", "6/ 4'18", "(5)"), "!Account\nNx\n^\n!Type:Cat\nNy\n^\n")
	f.Fuzz(func(t *testing.T, text string) {
		readAnything(t, "!Type:Bank\n"+text,
			bankfile.Options{})
	})
}

func FuzzMT940(f *testing.F) {
	seeds(f, mt940("C260105EUR95,", ":61:2601030104RCR5,50NTRFX//Y", "/OCMT/USD1,/",
		":86:166?00A?20SVWZ+b?3", "1C"),
		":60F:C100318EUR1,\n:61:\n:86:\n",
		mtPage{number: "7/1", opening: "F 1,", closing: "M 1,"}.String()+
			mtPage{number: "7/3", opening: "M 2,", closing: "M 2,"}.String())
	f.Fuzz(func(t *testing.T, text string) {
		readAnything(t, ":20:X\n:25:Y\n:28C:1\n"+text,
			bankfile.Options{})
	})
}

func FuzzCamt(f *testing.F) {
	seeds(f, camt("053", 4, balance("OPBD", "1", "CRDT")+ntry("3", "DBIT", "<NtryDtls>"+tx("1",
		"DBIT", "a")+
		tx("2", "DBIT", "b")+"</NtryDtls>")))
	f.Fuzz(func(t *testing.T, text string) {
		readAnything(t, "<Document><BkToCstmrStmt>"+text, bankfile.Options{})
	})
}

func FuzzCSV(f *testing.F) {
	seeds(f, "Date,Amount\n2026-01-31,1\n", "Datum;Soll;Haben\n31.01.26;1,5;\n",
		"a\tb\n01/02/2026\t1.234\n",
		"\"Date\",\"Amount\"\n\"2026-01-31\",\"1\n2\"\n\"x",
		"title\n\nDate,Debit,Credit,Balance\n1/2/2026,-1,,5\n",
		westpac+"03/09/2026,-15.99,Music Co,,,,\n",
		"Date,Amount,State,Account number\n,1,pending,a\n1/2/2026,2,declined,\n")
	f.Fuzz(func(t *testing.T, text string) {
		readAnything(t, text,
			bankfile.Options{Currency: "EUR"})
	})
}

// FuzzAmountAndDate reads one cell each: whatever comes is an entry or a refusal.
func FuzzAmountAndDate(f *testing.F) {
	for _, cell := range []string{"1.234,56-", "(5)", "−1", "€ 5.--", "1'000", "31/01/2026",
		"Jun 29, 2022", "\xff", longBlanks + "1.234", "04/17/2023 10:00 ȺȺȺ as of x"} {
		f.Add(cell, cell)
	}
	f.Fuzz(func(t *testing.T, date, amount string) {
		readAnything(t, "!Type:Bank\nD"+date+"\nT"+amount+"\n^\n", bankfile.Options{})
	})
}

func FuzzMapping(f *testing.F) {
	f.Add(`{"version":1,"delimiter":";","columns":[{"index":1,"role":"date"},{"index":0,"role":"amount"}]}`, "1;2026-01-31\n")
	f.Add(`{"version":1,"columns":[{"index":5,"name":"Amount","role":"amount"}]}`,
		"Date,Amount\n2026-01-31,1\n")
	f.Fuzz(func(t *testing.T, mapping, text string) {
		m, err := bankfile.ParseMapping([]byte(mapping))
		if err != nil {
			return
		}
		readAnything(t, text, bankfile.Options{Mapping: &m})
	})
}

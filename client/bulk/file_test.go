package bulk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client/bulk"
)

const header = "key,type,from,to,amount,currency,merchant,description\n"

// describe writes a row on one line: what it asks for, or what is wrong with it.
func describe(r bulk.Row) string {
	if r.Wrong != nil {
		return fmt.Sprintf("%d wrong: %s", r.Line, r.Wrong.Sentence)
	}
	p := r.Posting
	text := fmt.Sprintf("%d %s %s", r.Line, p.IdempotencyKey, p.Type)
	for _, l := range p.Legs {
		text += fmt.Sprintf(" %s:%s:%s", l.AccountID, l.Type, l.Amount)
	}
	for _, extra := range []string{string(p.MerchantID), p.Description} {
		if extra != "" {
			text += fmt.Sprintf(" %q", extra)
		}
	}
	if len(p.Metadata) > 0 {
		text += fmt.Sprint(" ", p.Metadata)
	}
	return text
}

// rowKeys are the keys of rows that have none of their own, without the occurrence.
var rowKeys = regexp.MustCompile("row1-[0-9a-f]{32}")

func read(t *testing.T, content string, keep ...string) (*bulk.File, []string) {
	t.Helper()
	f, err := bulk.OpenReader(strings.NewReader(content), keep...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	var rows []string
	for row, err := range f.Read() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rowKeys.ReplaceAllString(describe(row), "ROW"))
	}
	if f.Rows != len(rows) {
		t.Errorf("the file says it has %d rows, and %d were read", f.Rows, len(rows))
	}
	return f, rows
}

func TestRowsAreReadAsWritten(t *testing.T) {
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"plain", header + "k1,payment,a,,5.50,USD,m,Coffee\n",
			[]string{`2 k1 payment a:debit:5.50 USD @merchant:credit:5.50 USD "m" "Coffee"`}},
		{"no newline at the end", header + "k1,transfer,a,b,1,USD,,",
			[]string{`2 k1 transfer a:debit:1.00 USD b:credit:1.00 USD`}},
		{"columns in another order and in capitals", "Amount;CURRENCY;To;From\n5;NZD;b;a\n",
			[]string{`2 ROW.1 transfer a:debit:5.00 NZD b:credit:5.00 NZD`}},
		{"tabs", "from\tto\tamount\tcurrency\na\tb\t5\tNZD\n",
			[]string{`2 ROW.1 transfer a:debit:5.00 NZD b:credit:5.00 NZD`}},
		{"byte order mark and carriage returns",
			"\xef\xbb\xbf" + strings.ReplaceAll(header+"k1,transfer,a,b,1,USD,,x\n", "\n", "\r\n"),
			[]string{`2 k1 transfer a:debit:1.00 USD b:credit:1.00 USD "x"`}},
		{"quoted newlines, quotes and commas",
			header + "k1,transfer,a,b,1,USD,,\"two\r\nlines, \"\"quoted\"\"\"\nk2,transfer,a,b,1,USD,,\n",
			[]string{
				`2 k1 transfer a:debit:1.00 USD b:credit:1.00 USD "two\nlines, \"quoted\""`,
				`4 k2 transfer a:debit:1.00 USD b:credit:1.00 USD`,
			}},
		{"blank lines and rows of separators",
			"\n" + header + "\n,,,,,,,\nk1,transfer,a,b,1,USD,,\n\n",
			[]string{`5 k1 transfer a:debit:1.00 USD b:credit:1.00 USD`}},
		{"spaces around cells, but not in descriptions", header + " k1 ,, a,b , 1 ,USD ,, x \n",
			[]string{`2 k1 transfer a:debit:1.00 USD b:credit:1.00 USD " x "`}},
		{"sides that follow from the type",
			header + "k1,deposit,,b,1,USD,,\nk2,withdrawal,a,,1,USD,,\nk3,,a,,1,USD,m,\n",
			[]string{
				`2 k1 deposit @deposits:debit:1.00 USD b:credit:1.00 USD`,
				`3 k2 withdrawal a:debit:1.00 USD @withdrawals:credit:1.00 USD`,
				`4 k3 payment a:debit:1.00 USD @merchant:credit:1.00 USD "m"`,
			}},
		{"exact amounts, however many digits",
			header + "k1,,a,b,12345678901234567890.12,USD,,\n",
			[]string{`2 k1 transfer a:debit:12345678901234567890.12 USD` +
				` b:credit:12345678901234567890.12 USD`}},
		{"JSON", `{"key":"k1","from":"a","to":"b","amount":0.10,"currency":"USD"}` + "\n\n" +
			`{"type":"fee","legs":[{"account":"a","type":"debit","amount":"2.5","currency":"USD"},` +
			`{"account":"b","type":"credit","amount":2.50,"currency":"USD"}],` +
			`"metadata":{"order":7,"ok":true,"note":null},"key":null}`,
			[]string{
				`1 k1 transfer a:debit:0.10 USD b:credit:0.10 USD`,
				`3 ROW.1 fee a:debit:2.50 USD b:credit:2.50 USD map[note: ok:true order:7]`,
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got := read(t, test.content)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenRowsAreReportedAndTheNextIsRead(t *testing.T) {
	const good = "k,transfer,a,b,1,USD,,"
	for _, test := range []struct{ name, row, wrong string }{
		{"too few cells", "k,transfer,a", "has 3 cells where the header has 8"},
		{"too many cells", good + ",", "has 9 cells where the header has 8: a cell that holds the " +
			"separator must be quoted"},
		{"bare quote", `k,transfer,a,b,1,USD,,5" pipe`,
			"has a quote inside a cell that does not begin with one"},
		{"text after a quote", `k,transfer,a,b,1,USD,,"5"pipe`,
			"has text between a closing quote and the end of the cell"},
		{"Latin-1", "k,transfer,a,b,1,USD,,caf\xe9", "is not UTF-8"},
		{"zero byte", "k,transfer,a,b,1,USD,,\x00", "has a zero byte, so the file is not text"},
		{"endless line", "k,transfer,a,b,1,USD,," + strings.Repeat("x", 1<<17),
			"is longer than a row can be"},
		{"no amount", "k,transfer,a,b,,USD,,", "has no amount"},
		{"no currency", "k,transfer,a,b,1,,,", "has no currency"},
		{"decimal comma", `k,transfer,a,b,"1,50",USD,,`, `cannot be read: "1,50" is not a plain ` +
			`decimal number, such as 5.50 or -12`},
		{"unknown currency", "k,transfer,a,b,1,XQZ,,",
			`cannot be read: unknown currency "XQZ"; write a code of ISO 4217, such as USD`},
		{"a tab in a key", "rent\t2026,transfer,a,b,1,USD,,",
			`has the key "rent\t2026", with control characters`},
		{"no debtor", "k,transfer,,b,1,USD,,", `names no account in "from"`},
		{"no creditor", "k,transfer,a,,1,USD,,", `names no account in "to"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got := read(t, header+test.row+"\n"+good+"\n")
			want := []string{
				"2 wrong: The row " + test.wrong,
				"3 k transfer a:debit:1.00 USD b:credit:1.00 USD",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenLinesOfJSONAreReported(t *testing.T) {
	const good = `{"key":"k","from":"a","to":"b","amount":"1","currency":"USD"}`
	for _, test := range []struct{ name, row, wrong string }{
		{"no object", `[1]`, "is not a JSON object"},
		{"incomplete", `{"key":"k"`, "is not complete JSON"},
		{"text behind", good + " x", "has text after its JSON object"},
		{"two amounts", `{"amount":"1","amount":"2"}`, `has the member "amount" twice`},
		{"nested amount", `{"amount":{"value":1}}`, `has "amount" with several values`},
		{"legs and sides", `{"from":"a","legs":[]}`,
			`has legs and one of "from", "to" and "amount"; give either`},
		{"legs of no array", `{"legs":7}`, `has "legs" that are no array`},
		{"a leg with a slip", `{"legs":[{"acount":"a"}]}`,
			`has legs[0] with a member "acount" that has no meaning`},
		{"binary exponent", `{"from":"a","to":"b","amount":1e2,"currency":"USD"}`,
			`cannot be read: "1e2" is not a plain decimal number, such as 5.50 or -12`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, got := read(t, good+"\n"+test.row+"\n"+good+"\n")
			want := []string{
				"1 k transfer a:debit:1.00 USD b:credit:1.00 USD",
				"2 wrong: The row " + test.wrong,
				"3 k transfer a:debit:1.00 USD b:credit:1.00 USD",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenFilesAreRefusedBeforeAnythingIsPosted(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"empty", "", "The file is empty"},
		{"blank", "\n\n", "The file is empty"},
		{"UTF-16", "\xff\xfek\x00", "The file is UTF-16"},
		{"no amount", "key,from,to,currency\n", `line 1: The header has no column "amount"`},
		{"no header", "k,transfer,a,b,1,USD\n", `line 1: The header has no column "amount"`},
		{"a column twice", "amount,currency,from,From\n",
			`line 1: The column "from" is there twice`},
		{"old line ends", "amount,currency\r1,USD\r",
			"line 1: Lines end in carriage returns alone"},
		{"an array of JSON", "[{}]", "The file is an array of JSON"},
		{"an object of JSON over several lines", "{\n\"amount\": 1\n}\n",
			"line 1: The file is JSON, but not one object a line"},
		{"an open quote", header + "k,transfer,a,b,1,USD,,\"oops\nk2,transfer,a,b,1,USD,,\n",
			"line 2: A quote is opened and never closed"},
		{"an open quote and much behind it",
			header + "k,,,,,,,\"" + strings.Repeat("k,transfer,a,b,1,USD,,\n", 1<<13),
			"line 2: A quote is opened and never closed"},
		{"an open quote in the header", "amount,\"currency\n",
			"line 1: A quote is opened and never closed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := bulk.OpenReader(strings.NewReader(test.content))
			if err == nil {
				t.Fatal("it was accepted", f.Close())
			}
			var wrong *bulk.FileError
			if !errors.As(err, &wrong) || wrong.Error() != test.want || wrong.Try == "" {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestOtherColumnsAreNamedOrKept(t *testing.T) {
	const content = "at,from,to,amount,currency,batch\nnoon,a,b,1,USD,7\n"
	f, rows := read(t, content)
	if diff := cmp.Diff([]string{"at", "batch"}, f.Unused); diff != "" {
		t.Error(diff)
	}
	_, kept := read(t, content, "Batch")
	want := []string{
		"2 ROW.1 transfer a:debit:1.00 USD b:credit:1.00 USD",
		"2 ROW.1 transfer a:debit:1.00 USD b:credit:1.00 USD map[batch:7]",
	}
	if diff := cmp.Diff(want, append(rows, kept...)); diff != "" {
		t.Error(diff)
	}
	if _, err := bulk.OpenReader(strings.NewReader(content), "bach"); err == nil {
		t.Error("a column that is not there was kept")
	}
}

func TestKeysOfRowsWithoutOneFollowTheFile(t *testing.T) {
	const content = "from,to,amount,currency\na,b,1,USD\na,b,1,USD\n"
	path := filepath.Join(t.TempDir(), "payments.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := func() []string {
		f, err := bulk.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var keys []string
		for row := range f.Read() {
			keys = append(keys, row.Posting.IdempotencyKey)
		}
		return keys
	}
	first, second := keys(), keys()
	if diff := cmp.Diff(first, second); diff != "" || first[0] == first[1] {
		t.Errorf("keys %q are not one for each row: %s", first, diff)
	}
}

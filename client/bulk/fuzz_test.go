package bulk_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/client/bulk"
)

// FuzzFile feeds anything. A file is refused as a whole, with a reason, or it gives the same rows
// each time, in the order of their lines, each of which is complete or says what is wrong.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		header + "k1,payment,a,,5.50,USD,m,Coffee\n",
		header + "k1,transfer,a,b,1,USD,,\"two\r\nlines, \"\"quoted\"\"\"\n",
		"Amount;CURRENCY;To;From\n5;NZD;b;a\n",
		header + "k1,transfer,a,b,1,USD,,\"open\n",
		`{"key":"k1","from":"a","to":"b","amount":0.10,"currency":"USD"}` + "\n",
		`{"legs":[{"account":"a","type":"debit","amount":"2.5","currency":"USD"}]}` + "\n",
		"\xef\xbb\xbfamount,currency\n\xff\n", "\"", ",", "{", "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := bulk.OpenReader(bytes.NewReader(content))
		var wrong *bulk.FileError
		if errors.As(err, &wrong) && wrong.Wrong != "" && wrong.Try != "" {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		first, second := described(t, file), described(t, file)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatal(diff)
		}
		if len(first) != file.Rows {
			t.Fatalf("%d rows were read, and the file says it has %d", len(first), file.Rows)
		}
	})
}

// described reads a file and checks what must hold for every row.
func described(t *testing.T, file *bulk.File) []string {
	var rows []string
	line := 0
	for row, err := range file.Read() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Line <= line {
			t.Fatalf("line %d came after line %d", row.Line, line)
		}
		line = row.Line
		if row.Wrong == nil && row.Posting.IdempotencyKey == "" {
			t.Fatalf("the row of line %d has no key and nothing wrong with it", row.Line)
		}
		rows = append(rows, describe(row))
	}
	return rows
}

// Whatever the standard library writes as CSV is read as it was.
func TestTextsSurviveCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \",;\t\n'é寿")))
		want := rapid.SliceOfN(text, 1, 8).Draw(t, "descriptions")
		var content strings.Builder
		w := csv.NewWriter(&content)
		w.UseCRLF = rapid.Bool().Draw(t, "CRLF")
		_ = w.Write([]string{"description", "from", "to", "amount", "currency"})
		for _, description := range want {
			_ = w.Write([]string{description, "a", "b", "1", "USD"})
		}
		w.Flush() // Writing to memory cannot fail.
		file, err := bulk.OpenReader(strings.NewReader(content.String()))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var got []string
		for row, err := range file.Read() {
			if err != nil || row.Wrong != nil {
				t.Fatal(row.Wrong, err)
			}
			got = append(got, row.Posting.Description)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

package parsed_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/parsed"
)

// fill sets every field of a value to something that no other field has.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	if d, ok := v.Addr().Interface().(*money.Decimal); ok {
		*d = money.DecimalFromInt(int64(-*n))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8: // The outcome, which decides what is stored.
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a field is a %s", v.Kind())
	}
}

// store stores rows, and returns them as a file.
func store(t *testing.T, h parsed.Header, rows []parsed.Row, totals []bankfile.Total) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parsed.NewWriter(&b, h)
	for i := range rows {
		if err := w.Write(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(totals); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(stored []byte, key string) (*parsed.File, []parsed.Row, []bankfile.Total, error) {
	f, err := parsed.Open(bytes.NewReader(stored), int64(len(stored)), key)
	if err != nil {
		return nil, nil, nil, err
	}
	var rows []parsed.Row
	totals, err := f.Each(func(r *parsed.Row) bool { rows = append(rows, *r); return true })
	return f, rows, totals, err
}

// A field that is added to a row, a statement or a total and is not stored would be lost between
// the upload of a file and its import.
func TestEveryFieldIsStored(t *testing.T) {
	n := 0
	var h parsed.Header
	fill(t, reflect.ValueOf(&h).Elem(), &n)
	rows := make([]parsed.Row, 4)
	for i := range rows {
		fill(t, reflect.ValueOf(&rows[i]).Elem(), &n)
		if rows[i].Outcome = bankfile.Outcome(i); i == int(bankfile.Read) {
			rows[i].Raw = "" // See appendRow.
		} else {
			rows[i].Entry = bankfile.Entry{}
		}
	}
	rows = append(rows, parsed.Row{}, parsed.Row{Row: bankfile.Row{
		Outcome: bankfile.Skipped, Statement: -1, Line: 1 << 40}})
	totals := make([]bankfile.Total, 2)
	for i := range totals {
		fill(t, reflect.ValueOf(&totals[i]).Elem(), &n)
	}
	f, got, sums, err := read(store(t, h, rows, totals), h.Key)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f.Header, h) {
		t.Errorf("the header %+v is read as %+v", h, f.Header)
	}
	if !reflect.DeepEqual(got, rows) {
		t.Errorf("the rows\n%+v are read as\n%+v", rows, got)
	}
	if !reflect.DeepEqual(sums, totals) {
		t.Errorf("the totals %+v are read as %+v", totals, sums)
	}
}

// Rows are read only if they were stored under the key that is asked for.
func TestRowsOfAnotherReadingAreOutdated(t *testing.T) {
	stored := store(t, parsed.Header{Key: "one"}, make([]parsed.Row, 3), nil)
	if _, rows, _, err := read(stored, "one"); err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for name, c := range map[string]struct {
		stored []byte
		key    string
	}{
		"a different key":    {stored, "two"},
		"no key":             {stored, ""},
		"a different format": {bytes.Replace(stored, []byte("rows 1"), []byte("rows 2"), 1), "one"},
		"nothing":            {nil, "one"},
		"a beginning":        {stored[:5], "one"},
	} {
		if _, _, _, err := read(c.stored, c.key); !errors.Is(err, parsed.ErrOutdated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any damage ends in an error or in rows, never in a panic or in a file that ends too early.
func TestDamagedRows(t *testing.T) {
	rows := make([]parsed.Row, 20)
	n := 0
	for i := range rows {
		fill(t, reflect.ValueOf(&rows[i]).Elem(), &n)
	}
	stored := store(t, parsed.Header{Key: "k"}, rows, nil)
	for cut := range len(stored) {
		if _, got, _, err := read(stored[:cut], "k"); err == nil {
			t.Fatalf("of %d bytes of %d: %d rows without an error", cut, len(stored), len(got))
		}
	}
	for at := range stored {
		changed := bytes.Clone(stored)
		changed[at] ^= 0x55
		_, _, _, _ = read(changed, "k")
	}
}

// The rows of a file that was opened by its own mapping are those of the file that it was taken
// from: what is kept of an upload is the same whether a mapping was found or given.
func TestAFileIsReadTheSameByItsOwnMapping(t *testing.T) {
	paths, err := filepath.Glob(
		filepath.Join("..", "..", "..", "bankfile", "testdata", "banks", "*"),
	)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, err := bankfile.Open(bytes.NewReader(text), int64(len(text)), bankfile.Options{})
		if err != nil {
			continue // It asks a question.
		}
		m := first.Mapping()
		again, err := bankfile.Open(bytes.NewReader(text), int64(len(text)),
			bankfile.Options{Mapping: &m})
		if err != nil {
			t.Errorf("%s by its own mapping: %v", path, err)
			continue
		}
		files++
		was, now := rowsOf(t, first), rowsOf(t, again)
		if !reflect.DeepEqual(was, now) {
			t.Errorf("%s by its own mapping:\n%+v\nwas\n%+v", path, now, was)
		}
		h := parsed.HeaderOf(first)
		h.Key = "k"
		_, stored, _, err := read(store(t, h, was, nil), "k")
		if err != nil {
			t.Fatal(err)
		}
		for i := range was {
			if was[i].Outcome == bankfile.Read {
				was[i].Raw = ""
			}
		}
		if !reflect.DeepEqual(stored, was) {
			t.Errorf("%s is stored as\n%+v\nnot\n%+v", path, stored, was)
		}
	}
	if files < 10 {
		t.Errorf("only %d files of %s", files, strings.Join(paths, ", "))
	}
}

func rowsOf(t *testing.T, f *bankfile.File) []parsed.Row {
	t.Helper()
	var rows []parsed.Row
	for row, err := range f.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, parsed.Row{Row: row})
	}
	return rows
}

func BenchmarkRead(b *testing.B) {
	row := parsed.Row{Row: bankfile.Row{Line: 7, Entry: bankfile.Entry{Date: "2026-01-02",
		Amount: money.DecimalFromInt(-5), Currency: "NZD", Name: "Shop number 7 in a street",
		Memo: "Coffee", BankID: "id-12345"}}}
	var buf bytes.Buffer
	w := parsed.NewWriter(&buf, parsed.Header{Key: "k"})
	for range b.N {
		row.Line++
		if err := w.Write(&row); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(nil); err != nil {
		b.Fatal(err)
	}
	f, err := parsed.Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "k")
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if _, err := f.Each(func(*parsed.Row) bool { return true }); err != nil {
		b.Fatal(err)
	}
}

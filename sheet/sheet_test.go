package sheet_test

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/exchequer-dev/exchequer/sheet"
)

func TestCells(t *testing.T) {
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", "+1+1": "'+1+1", "-1+1": "'-1+1", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "＝1": "'＝1", "-": "'-",
		`-2+3+cmd|' /C calc'!A0`: `'-2+3+cmd|' /C calc'!A0`, "-5.50 USD": "'-5.50 USD",
		"-1e5": "'-1e5", "-0x1": "'-0x1", "--1": "'--1", "-1.": "'-1.", "+64 9 123": "'+64 9 123",
		"-5.50": "-5.50", "+3": "+3", "-0": "-0", "12.00": "12.00", "": "", "a=1": "a=1",
		"Coffee": "Coffee", "'quoted'": "'quoted'", "'=1": "''=1", "''=1": "'''=1",
		" =1": " =1",
	} {
		got := sheet.Text(cell)
		if got != want {
			t.Errorf("%q becomes %q, want %q", cell, got, want)
		}
		if back := sheet.Plain(got); back != cell {
			t.Errorf("%q is read back as %q", cell, back)
		}
	}
}

func FuzzCellsComeBack(f *testing.F) {
	f.Add("=1+1")
	f.Add("''-x")
	f.Fuzz(func(t *testing.T, cell string) {
		text := sheet.Text(cell)
		if back := sheet.Plain(text); back != cell {
			t.Errorf("%q is written %q and read %q", cell, text, back)
		}
	})
}

func TestAWriterMakesEachCellText(t *testing.T) {
	var out bytes.Buffer
	w := sheet.NewWriter(&out)
	record := []string{"=1", "-5.50", "@x,y", "a"}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for i, want := range []string{"'=1", "-5.50", "'@x,y", "a"} {
		if rows[0][i] != want {
			t.Errorf("cell %d is %q, want %q", i, rows[0][i], want)
		}
	}
	if record[0] != "=1" {
		t.Error("the caller's record was changed")
	}
}

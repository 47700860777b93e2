package bankfile_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// A file whose cells do not tell which column is the amount is asked about, and the answer counts.
func TestColumnsAreAskedFor(t *testing.T) {
	text := table("2024-05-06,Shop,-1.50,7.10", "2024-05-07,Shop,-2.50,7.30")
	_, err := read(text, bankfile.Options{})
	var ask *bankfile.UndecidedError
	if !errors.As(err, &ask) || len(ask.Questions) != 1 ||
		ask.Questions[0].Topic != "amountColumn" {
		t.Fatalf("error %v", err)
	}
	if n := len(ask.Questions[0].Choices); n != 2 {
		t.Fatalf("%d choices: %+v", n, ask.Questions[0])
	}
	m := ask.Mapping
	if err := m.Answer(ask.Questions[0].Topic, ask.Questions[0].Choices[0].Value); err != nil {
		t.Fatal(err)
	}
	r, err := read(text, bankfile.Options{Mapping: &m})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2024-05-06 -1.5", "2024-05-07 -2.5"}, r.brief()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestAFewNegativeDebitsAreAskedAbout(t *testing.T) {
	text := table("Date,Debit,Credit", "2024-05-06,-15.00,", "2024-05-07,,20.00")
	_, err := read(text, bankfile.Options{})
	if diff := cmp.Diff([]bankfile.Topic{bankfile.AskDebit}, asked(err)); diff != "" {
		t.Fatal(diff)
	}
	var question *bankfile.UndecidedError
	if errors.As(err, &question) {
		// Each of its choices is a reading of its own.
		got := map[string]bool{}
		for _, c := range question.Questions[0].Choices {
			m := question.Mapping
			if err := m.Answer(bankfile.AskDebit, c.Value); err != nil {
				t.Fatal(err)
			}
			r, err := read(text, bankfile.Options{Mapping: &m})
			if err != nil {
				t.Fatal(err)
			}
			got[r.brief()[0]] = true
		}
		if diff := cmp.Diff(map[string]bool{"2024-05-06 15": true, "2024-05-06 -15": true},
			got); diff != "" {
			t.Errorf("readings (-want +got):\n%s", diff)
		}
	}
	for sign, want := range map[bankfile.DebitSign]string{
		bankfile.DebitOut: "2024-05-06 15", bankfile.DebitSigned: "2024-05-06 -15",
	} {
		r, err := read(text, bankfile.Options{Mapping: &bankfile.Mapping{Version: 1,
			DebitSign: sign}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.brief()[0]; got != want {
			t.Errorf("%s: %s, want %s", sign, got, want)
		}
	}
}

func TestALoneNegativeCreditIsAskedAbout(t *testing.T) {
	text := table("Date,Debit,Credit", "2024-05-06,,-15.00")
	_, err := read(text, bankfile.Options{})
	if diff := cmp.Diff([]bankfile.Topic{bankfile.AskCredit}, asked(err)); diff != "" {
		t.Fatal(diff)
	}
	for sign, want := range map[bankfile.CreditSign]string{
		bankfile.CreditIn: "2024-05-06 -15", bankfile.CreditSigned: "2024-05-06 15",
	} {
		m := bankfile.Mapping{Version: bankfile.MappingVersion}
		if err := m.Answer(bankfile.AskCredit, string(sign)); err != nil {
			t.Fatal(err)
		}
		r, err := read(text, bankfile.Options{Mapping: &m})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.brief()[0]; got != want {
			t.Errorf("%s: %s, want %s", sign, got, want)
		}
	}
}

func TestMappingsAreSmallJSON(t *testing.T) {
	r := mustRead(t, table("Date,Name,Amount", "2024-05-06,Shop,-1.50"))
	data, err := json.Marshal(r.file.Mapping())
	if err != nil || len(data) > 400 {
		t.Fatalf("%d bytes, %v: %s", len(data), err, data)
	}
	m, err := bankfile.ParseMapping(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.file.Mapping(), m); diff != "" {
		t.Errorf("mapping (-want +got):\n%s", diff)
	}
	for name, text := range map[string]string{
		"no JSON": "x", "another version": `{"version":9}`,
		"a role":   `{"version":1,"columns":[{"role":"x"}]}`,
		"a mark":   `{"version":1,"decimal":"x"}`,
		"an index": `{"version":1,"columns":[{"role":"date","index":9999}]}`,
		"too long": `{"version":1,"name":"` + strings.Repeat("x", bankfile.MappingSizeMax) + `"}`,
	} {
		if _, err := bankfile.ParseMapping([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAMappingThatDoesNotFitIsRefused(t *testing.T) {
	m := bankfile.Mapping{Version: 1, Columns: []bankfile.Column{
		{Index: 0, Name: "Date", Role: bankfile.RoleDate},
		{Index: 5, Name: "Betrag", Role: bankfile.RoleAmount},
	}}
	_, err := read(table("Date,Name,Amount", "2024-05-06,Shop,-1.50"),
		bankfile.Options{Mapping: &m})
	var format *bankfile.FormatError
	if !errors.As(err, &format) || !strings.Contains(format.Why, `"Betrag"`) {
		t.Errorf("error %v", err)
	}
}

// A file of whole numbers and of dates that say their own order decides nothing for the next one.
func TestOfColumnsWithOneNameAMappingMeansTheNearest(t *testing.T) {
	text := table("Date,Amount,Amount,Amount EUR", "2026-01-02,-1.00,-2.00,-3.00",
		"2026-01-03,-1.00,-2.00,-3.00")
	for index, want := range map[int]string{1: "-1", 2: "-2", 3: "-3"} {
		name := "Amount"
		if index == 3 {
			name = "Amount EUR"
		}
		r, err := read(text, bankfile.Options{Mapping: &bankfile.Mapping{Version: 1,
			Columns: []bankfile.Column{{Index: 0, Name: "Date", Role: bankfile.RoleDate},
				{Index: index, Name: name, Role: bankfile.RoleAmount}}}})
		if err != nil {
			t.Fatal(err)
		}
		if e := r.entries(); len(e) != 2 || e[0].Amount.String() != want {
			t.Errorf("column %d: got %q", index, r.brief())
		}
	}
}

func TestAMappingKeepsOnlyWhatWasDecided(t *testing.T) {
	points := mustRead(t, table("Date;Name;Amount", "06.05.2024;Shop;-1")).file.Mapping()
	m := mustRead(t, table("Date;Name;Amount", "2024-05-06;Shop;-1")).file.Mapping()
	for _, m := range []bankfile.Mapping{points, m} {
		if m.DateOrder != "" || m.Decimal != "" {
			t.Errorf("order %q, decimal %q", m.DateOrder, m.Decimal)
		}
	}
	r, err := read(table("Date;Name;Amount", "16/05/2024;Shop;-1.234,56"),
		bankfile.Options{Mapping: &m})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2024-05-16 -1234.56"}, r.brief()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// A habit that no row of the first file showed is found out in the next one.
func TestAMappingKeepsNoHabitOfSignsThatNoRowShowed(t *testing.T) {
	for name, c := range map[string]struct {
		header, first string
		next          []string
		want          []string
	}{
		"a column of debits that was empty": {
			"Date,Description,Debit,Credit", "2024-05-06,Pay,,20.00",
			[]string{"2024-05-07,Shop,-20.00,", "2024-05-08,Shop,-1.00,", "2024-05-09,Shop,-2.00,"},
			[]string{"2024-05-07 -20", "2024-05-08 -1", "2024-05-09 -2"},
		},
		"a direction that was never out": {
			"Date,Description,D/C,Amount", "2024-05-06,Pay,C,20.00",
			[]string{"2024-05-07,Shop,D,-20.00"}, []string{"2024-05-07 -20"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mustRead(t, table(c.header, c.first)).file.Mapping()
			if m.DebitSign != "" || m.CreditSign != "" || m.FlagSign != "" {
				t.Errorf("mapping %+v", m)
			}
			next := table(append([]string{c.header}, c.next...)...)
			r, err := read(next, bankfile.Options{Mapping: &m})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.brief()); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

package bankfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// TestDatesThatSayTheirOrder reads dates that need no other date of the file.
func TestDatesThatSayTheirOrder(t *testing.T) {
	for cell, want := range map[string]bankfile.Date{
		"2024-05-06":                     "2024-05-06",
		"2024/05/06":                     "2024-05-06",
		"2024.05.06.":                    "2024-05-06",
		"20240506":                       "2024-05-06",
		"20240506120000":                 "2024-05-06",
		"2024-05-06T23:59:59+13:00":      "2024-05-06",
		"2018-02-25 12:34:56 +0000":      "2018-02-25",
		"6.5.2024":                       "2024-05-06",
		"06.05.24":                       "2024-05-06",
		"13.03.21":                       "2021-03-13",
		"16/12/2024":                     "2024-12-16",
		"12/16/2024":                     "2024-12-16",
		"29-Jun-2022":                    "2022-06-29",
		"29-Jun-22":                      "2022-06-29",
		"01 NOV 2021":                    "2021-11-01",
		"1 nov 2021":                     "2021-11-01",
		"Jun 29, 2022":                   "2022-06-29",
		"June 1st, 2022":                 "2022-06-01",
		"6 März 2024":                    "2024-03-06",
		"25/12/98":                       "1998-12-25",
		"31/12/2024 23:59":               "2024-12-31",
		"12/31'24":                       "2024-12-31",
		"1/31' 2":                        "2002-01-31",
		"04/17/2023 as of 04/15/2023":    "2023-04-17",
		"29/02/2024":                     "2024-02-29",
		"Mon, 6 May 2024":                "2024-05-06",
		"2024-05-06 00:00:00.0000000000": "2024-05-06",
	} {
		t.Run(cell, func(t *testing.T) {
			e := mustRead(t, qif(cell, "1.00")).entries()
			if len(e) != 1 || e[0].Date != want {
				t.Errorf("got %v, want %s", e, want)
			}
		})
	}
}

func TestTheSecondDateOfACellIsTheValueDate(t *testing.T) {
	e := mustRead(t, table("Date,Payee,Amount",
		"04/17/2023 as of 04/15/2023,Shop,-1.00")).entries()
	if len(e) != 1 || e[0].Date != "2023-04-17" || e[0].ValueDate != "2023-04-15" {
		t.Errorf("got %+v", e)
	}
	for cell, want := range map[string]bankfile.Date{
		"04/17/2023 10:00 AS OF 04/15/2023":     "2023-04-15",
		"04/17/2023 10:00 ȺȺȺ as of 04/15/2023": "2023-04-15", // Lower case takes more bytes.
		"04/17/2023 10:00 ȺȺȺ as of x":          "",
	} {
		e := mustRead(t, qif(cell, "1.00")).entries()
		if len(e) != 1 || e[0].Date != "2023-04-17" || e[0].ValueDate != "" && want == "" {
			t.Errorf("%s: got %+v", cell, e)
		}
		e = mustRead(t, table("Date,Payee,Amount", cell+",Shop,-1.00")).entries()
		if len(e) != 1 || e[0].ValueDate != want {
			t.Errorf("%s: got %+v", cell, e)
		}
	}
}

func TestWhatIsNoDateIsRefusedWithItsText(t *testing.T) {
	for _, cell := range []string{
		"31/02/2024", "30.02.2024", "2024-13-01", "2023-02-29", "99/99/9999", "yesterday", "1/2",
		"20241301", "12345678", "0000-00-00", "2024-05", "32/13/2024", "5/6/7/8",
	} {
		t.Run(cell, func(t *testing.T) {
			r := mustRead(t, qif(cell, "1.00", "2024-05-06", "2.00"))
			if r.rows[0].Outcome != bankfile.Refused || r.rows[0].Line != 2 {
				t.Fatalf("got %q", r.brief())
			}
			if len(r.entries()) != 1 {
				t.Errorf("got %q", r.brief())
			}
		})
	}
}

// TestTheOrderIsOneForTheFile is the whole kind of bug in which each row is read on its own.
func TestTheOrderIsOneForTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		want  []string
	}{
		"a day above 12 in the first row": {
			[]string{"16/12/2024", "09/12/2024"}, []string{"2024-12-16", "2024-12-09"}},
		"a day above 12 in the last row": {
			[]string{"03/07/2026", "08/07/2026", "31/07/2026"},
			[]string{"2026-07-03", "2026-07-08", "2026-07-31"}},
		"the month first": {
			[]string{"12/19/18", "01/02/19"}, []string{"2018-12-19", "2019-01-02"}},
		"with dashes": {
			[]string{"15-01-2025", "09-01-2025", "31-12-2024"},
			[]string{"2025-01-15", "2025-01-09", "2024-12-31"}},
		"with a blank before the day": {
			[]string{"6/ 4'18", "6/14'18"}, []string{"2018-06-04", "2018-06-14"}},
		"one month first among days": {
			[]string{"31/01/2026", "01/31/2026", "30/01/2026", "29/01/2026"},
			[]string{"2026-01-31", "2026-01-30", "2026-01-29"}},
		"one day first among months": {
			[]string{"01/31/26", "31/01/32", "01/30/26"}, []string{"2026-01-31", "2026-01-30"}},
		"a short year first that no other order fits": {
			[]string{"26/05/13", "98/05/14", "26/12/31"},
			[]string{"2026-05-13", "1998-05-14", "2026-12-31"}},
		"a date that no order fits decides nothing": {
			[]string{"26/05/13", "98/05/14", "99/99/99"}, []string{"2026-05-13", "1998-05-14"}},
		"short days of one month": {
			[]string{"13/05/26", "20/05/26", "01/05/26"},
			[]string{"2026-05-13", "2026-05-20", "2026-05-01"}},
		"one short day":                 {[]string{"26/05/13"}, []string{"2013-05-26"}},
		"points, and all can be either": {[]string{"05.06.2026"}, []string{"2026-06-05"}},
		"points, the month first": {
			[]string{"05.06.2026", "05.13.2026"}, []string{"2026-05-06", "2026-05-13"}},
		"points, and a short year that could come first": {
			[]string{"26.05.13", "26.05.20"}, []string{"2013-05-26", "2020-05-26"}},
		"points and slashes, of which one shows the order": {
			[]string{"05.06.2026", "06/05/2026", "05/13/2026"},
			[]string{"2026-05-06", "2026-06-05", "2026-05-13"}},
	} {
		t.Run(name, func(t *testing.T) {
			var pairs, got []string
			for _, cell := range c.cells {
				pairs = append(pairs, cell, "1.00")
			}
			for _, e := range mustRead(t, qif(pairs...)).entries() {
				got = append(got, string(e.Date))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnOpenOrderIsAsked(t *testing.T) {
	for name, cells := range map[string][]string{
		"points and slashes":                 {"05.06.2026", "1", "05/06/2026", "2"},
		"as many that fit one as the other":  {"31/01/2026", "1", "01/31/2026", "2"},
		"a short year that may come first":   {"26/05/13", "1", "26/05/20", "2"},
		"a short year or month or day first": {"10/05/12", "1", "10/06/11", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(qif(cells...), bankfile.Options{})
			var ask *bankfile.UndecidedError
			if !errors.As(err, &ask) || len(ask.Questions[0].Choices) < 2 ||
				ask.Questions[0].Topic != bankfile.AskOrder {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a short year is the likelier where it differs less than the day", func(t *testing.T) {
		_, err := read(qif("26/05/13", "1", "26/05/20", "2"), bankfile.Options{})
		var ask *bankfile.UndecidedError
		if !errors.As(err, &ask) {
			t.Fatal(err)
		}
		want := []bankfile.Choice{
			{Value: string(bankfile.YearFirst), Meaning: "2026-05-13"},
			{Value: string(bankfile.DayFirst), Meaning: "2013-05-26"},
		}
		if diff := cmp.Diff(want, ask.Questions[0].Choices); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(ask.Questions[0].Text, "year") {
			t.Errorf("the question is %q", ask.Questions[0].Text)
		}
	})
	t.Run("an order that is known holds for dates with points too", func(t *testing.T) {
		m := bankfile.Mapping{Version: bankfile.MappingVersion, DateOrder: bankfile.MonthFirst}
		r, err := read(qif("05.06.2026", "1"), bankfile.Options{Mapping: &m})
		if err != nil || r.entries()[0].Date != "2026-05-06" {
			t.Errorf("%v, %v", r.brief(), err)
		}
	})
	text := qif("03/07/2026", "1.00", "04/07/2026", "2.00")
	_, err := read(text, bankfile.Options{})
	if diff := cmp.Diff([]bankfile.Topic{bankfile.AskOrder}, asked(err)); diff != "" {
		t.Fatalf("%v\n%s", err, diff)
	}
	t.Run("with what each answer means, however long the cell is", func(t *testing.T) {
		_, err := read(qif("03/"+longBlanks+"07/2026", "1.00"), bankfile.Options{})
		var ask *bankfile.UndecidedError
		if !errors.As(err, &ask) || len(ask.Questions[0].Choices) != 2 {
			t.Errorf("got %v", err)
		}
	})
	for answer, want := range map[bankfile.Order]bankfile.Date{
		bankfile.DayFirst: "2026-07-03", bankfile.MonthFirst: "2026-03-07",
	} {
		m := bankfile.Mapping{Version: bankfile.MappingVersion}
		if err := m.Answer(bankfile.AskOrder, string(answer)); err != nil {
			t.Fatal(err)
		}
		r, err := read(text, bankfile.Options{Mapping: &m})
		if err != nil || r.entries()[0].Date != want {
			t.Errorf("answer %s: %v, %v", answer, r.brief(), err)
		}
	}
	t.Run("the answer refuses what it cannot read, instead of turning it", func(t *testing.T) {
		m := bankfile.Mapping{Version: bankfile.MappingVersion, DateOrder: bankfile.DayFirst}
		r, err := read(qif("03/07/2026", "1", "07/31/2026", "2"), bankfile.Options{Mapping: &m})
		if err != nil {
			t.Fatal(err)
		}
		if r.entries()[0].Date != "2026-07-03" || r.rows[1].Outcome != bankfile.Refused {
			t.Errorf("got %q", r.brief())
		}
	})
}

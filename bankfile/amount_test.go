package bankfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// longBlanks push what follows them out of the part of a cell that is shown.
var longBlanks = strings.Repeat(" ", 100)

// TestAmountsAreReadAsPeopleWriteThem reads every cell as the only amount of a file.
func TestAmountsAreReadAsPeopleWriteThem(t *testing.T) {
	for cell, want := range map[string]string{
		"12.50":          "12.5",
		"(12.50)":        "-12.5",
		"($30.00)":       "-30",
		"€(63.12)":       "-63.12",
		"-12.50":         "-12.5",
		"12.50-":         "-12.5",
		"25,00-":         "-25",
		"−100,00":        "-100",
		"- $220.00":      "-220",
		"-$220.00":       "-220",
		"$-220.00":       "-220",
		"--$21.78":       "21.78",
		"+ £1,100.00":    "1100",
		"1.234,56":       "1234.56",
		"1,234.56":       "1234.56",
		"1,234.56-":      "-1234.56",
		"1 234.56":       "1234.56",
		"1 234,56":       "1234.56",
		"1\u00a0234,56":  "1234.56",
		"1\u202f234,56":  "1234.56",
		"1'234.56":       "1234.56",
		"1’234.56":       "1234.56",
		"1,000.-":        "1000",
		"1.000,-":        "1000",
		"1000,-":         "1000",
		"EUR 1.000,-":    "1000",
		".50":            "0.5",
		"-.50":           "-0.5",
		"5.":             "5",
		"4.711,98 €":     "4711.98",
		"12,5":           "12.5",
		"25.00000":       "25",
		"1,256.0000000":  "1256",
		"2.530.000.000,": "2530000000",
		"12,34,567.80":   "1234567.8",
		"0":              "0",
		"+7":             "7",
		"0,12":           "0.12",
		"0.125":          "0.125",
		"1234.567":       "1234.567",
		"Rs. 250.00":     "250",
		"kr 99,50":       "99.5",
		"+ £1,100.00 CR": "1100",
		"£1,100.00 DR":   "-1100",

		"1.234,56 D":   "-1234.56",
		"200,00 C":     "200",
		"D 12.50":      "-12.5",
		"C 12.50":      "12.5",
		"DR 12.50":     "-12.5",
		"Cr. 12.50":    "12.5",
		"DR EUR 12.50": "-12.5",
		"EUR DR 12.50": "-12.5",
		"DR 12.50 EUR": "-12.5",
		"12.50 D EUR":  "-12.5",
		"12.50 EUR D":  "-12.5",

		"$" + longBlanks + "12.50":         "12.5",
		strings.Repeat("-", 100) + "12.50": "12.5",
	} {
		t.Run(cell+" is "+want, func(t *testing.T) {
			e := mustRead(t, qif("2024-05-06", cell)).entries()
			if len(e) != 1 || e[0].Amount.String() != want {
				t.Errorf("got %v", e)
			}
		})
	}
}

func TestWhatIsNoAmountIsRefusedWithItsLine(t *testing.T) {
	for _, cell := range []string{
		"abc", "7,5O", "7.5OO", "lO.50", "1l.50", "O,75", "1.2.3,4,5", "12.50.", "1,23,4.00.1",
		"12 EUR 13", "(12", "1e5", "--", "-", "€",
		"D 12.50 C", "DR 12.50 DR", "EUR 1 USD", "EUR USD 1",
		"12.50 ABCDEFGHIJK", "1234567890123456789012345678901234567890", "NaN", "0x10", "1_000",
	} {
		t.Run(cell, func(t *testing.T) {
			r := mustRead(t, qif("2024-05-06", cell, "2024-05-07", "1.00"))
			if len(r.rows) != 2 || r.rows[0].Outcome != bankfile.Refused || r.rows[0].Line != 2 {
				t.Fatalf("got %q", r.brief())
			}
			if r.rows[0].Why == "" || len(r.entries()) != 1 {
				t.Errorf("got %q", r.brief())
			}
		})
	}
}

func TestAnEmptyAmountIsNotZero(t *testing.T) {
	r := mustRead(t, "!Type:Bank\nD2024-05-06\nPShop\n^\nD2024-05-07\nT0.00\n^\n")
	want := []string{"refused line 2: the amount: no amount", "2024-05-07 0"}
	if diff := cmp.Diff(want, r.brief()); diff != "" {
		t.Error(diff)
	}
}

// TestTheDecimalMarkIsOneForTheFile is about amounts that alone could be read in two ways.
func TestTheDecimalMarkIsOneForTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		want  []string
	}{
		"a comma elsewhere decides": {[]string{"1.234", "5,50"}, []string{"1234", "5.5"}},
		"a point elsewhere decides": {[]string{"1,234", "5.50"}, []string{"1234", "5.5"}},
		"even if it comes last": {[]string{"1.234", "2.345", "0,99"}, []string{"1234",
			"2345", "0.99"}},
		"both marks in one cell decide": {[]string{"4.711,98", "14.000"}, []string{"4711.98",
			"14000"}},
		"three decimals are kept": {[]string{"1,234.500", "14.000"}, []string{"1234.5",
			"14"}},
		"two groups decide": {[]string{"1.234.567", "14.000"}, []string{"1234567",
			"14000"}},
		"each speaks for itself if mixed": {[]string{"1.50", "2,50"}, []string{"1.5", "2.5"}},
	} {
		t.Run(name, func(t *testing.T) {
			var pairs []string
			for _, cell := range c.cells {
				pairs = append(pairs, "2024-05-06", cell)
			}
			var got []string
			for _, e := range mustRead(t, qif(pairs...)).entries() {
				got = append(got, e.Amount.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatNoAmountDecidesIsAsked(t *testing.T) {
	for cell, shown := range map[string]string{
		"14.000": "14.000", "173,900": "173,900", "$" + longBlanks + "1.234": "$  ",
		strings.Repeat("-", 100) + "1,234": "---",
	} {
		_, err := read(qif("2024-05-06", cell), bankfile.Options{})
		if diff := cmp.Diff([]bankfile.Topic{bankfile.AskDecimal}, asked(err)); diff != "" {
			t.Fatalf("%s: %v", cell, err)
		}
		if !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), shown) {
			t.Errorf("the question shows no example: %v", err)
		}
		var ask *bankfile.UndecidedError
		if errors.As(err, &ask) && len(ask.Questions[0].Choices) != 2 {
			t.Errorf("%s: choices %+v", cell, ask.Questions[0].Choices)
		}
	}
	t.Run("a point then is a mark of thousands or of cents", func(t *testing.T) {
		for answer, want := range map[string]string{".": "14", ",": "14000"} {
			m := bankfile.Mapping{Version: bankfile.MappingVersion}
			if err := m.Answer(bankfile.AskDecimal, answer); err != nil {
				t.Fatal(err)
			}
			r, err := read(qif("2024-05-06", "14.000"), bankfile.Options{Mapping: &m})
			if err != nil || r.entries()[0].Amount.String() != want {
				t.Errorf("answer %q: %v, %v", answer, r.brief(), err)
			}
		}
	})
	t.Run("not in a currency without cents", func(t *testing.T) {
		for _, cell := range []string{"173,900", "¥" + longBlanks + "173,900"} {
			r, err := read(qif("2024-05-06", cell), bankfile.Options{Currency: "JPY"})
			if err != nil || r.entries()[0].Amount.String() != "173900" {
				t.Errorf("%s: %v, %v", cell, r.brief(), err)
			}
		}
	})
}

func TestTooManyDecimalsAreKeptWithAWarning(t *testing.T) {
	r, err := read(qif("2024-05-06", "1234.567"), bankfile.Options{Currency: "EUR"})
	if err != nil || r.entries()[0].Amount.String() != "1234.567" {
		t.Fatalf("%v, %v", r.brief(), err)
	}
	if !r.warned(bankfile.WarnDecimals) {
		t.Error("there is no warning")
	}
	if r, _ := read(qif("2024-05-06", "1234.50"), bankfile.Options{Currency: "EUR"}); r.warned(
		bankfile.WarnDecimals) {
		t.Error("a warning for an amount that fits")
	}
}

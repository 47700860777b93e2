package bankfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/bankfile"
)

func TestQIFRecord(t *testing.T) {
	r := mustRead(t, "!Type:CCard\nD2026-01-31\nT-1,234.50\nN1042\nPCorner Dairy\nMMilk\nLFood:Dairy\nCX\n^\n")
	s := r.file.Statements[0]
	if r.file.Format != bankfile.QIF || s.Currency != "" || s.Type != "ccard" {
		t.Errorf("%s, %+v", r.file.Format, s)
	}
	e := r.entries()[0]
	if e.Date != "2026-01-31" || e.Amount.String() != "-1234.5" || e.Name != "Corner Dairy" ||
		e.Memo != "Milk" || e.Category != "Food:Dairy" || e.Reference != "1042" || e.BankID != "" {
		t.Errorf("got %+v", e)
	}
}

func TestQIFTransfersAndSplits(t *testing.T) {
	r := mustRead(t, "!Type:Bank\nD2026-01-31\nT-30.00\nPMarket\nL[Savings]\n^\n"+
		"D2026-01-31\nT-30.00\nPMarket\nSFood\nEBread\n$-10.00\nSHome\n$-20.00\n^\n"+
		"D2026-01-31\nT-30.00\nSFood\n$-10.00\n^\n")
	e := r.entries()
	if len(e) != 3 || e[0].Counterparty != "Savings" || e[0].Category != "" {
		t.Fatalf("got %+v", e)
	}
	var parts []string
	for _, s := range e[1].Splits {
		parts = append(parts, s.Category+" "+s.Memo+" "+s.Amount.String())
	}
	if diff := cmp.Diff([]string{"Food Bread -10", "Home  -20"}, parts); diff != "" {
		t.Error(diff)
	}
	if len(r.rows[1].Warnings) != 0 || len(r.rows[2].Warnings) != 1 ||
		r.rows[2].Warnings[0].Code != bankfile.WarnDetails {
		t.Errorf("warnings %+v, %+v", r.rows[1].Warnings, r.rows[2].Warnings)
	}
}

func TestQIFAccountsAndLists(t *testing.T) {
	r := mustRead(t, "!Option:AutoSwitch\n!Account\nNCheque\nTBank\n^\n!Type:Bank\nD2026-01-30\nT1\n^\n"+
		"!Account\nNCard\nTCCard\n^\n!Type:CCard\nD2026-01-31\nT2\n^\n!Type:Cat\nNFood\nE\n^\n"+
		"!Type:Invst\nD2026-01-31\nNBuy\nYACME\n^\n")
	if len(r.file.Statements) != 2 || r.file.Statements[0].Account != "Cheque" ||
		r.file.Statements[1].Account != "Card" {
		t.Fatalf("statements %+v", r.file.Statements)
	}
	var got []string
	for _, row := range r.rows {
		got = append(got, row.Outcome.String())
	}
	if diff := cmp.Diff([]string{"read", "read", "skipped", "skipped"}, got); diff != "" {
		t.Errorf("%s%q", diff, r.brief())
	}
}

func TestQIFOpeningBalanceIsNoEntry(t *testing.T) {
	r := mustRead(t, "!Type:Bank\nD2026-01-01\nT100.00\nPOpening Balance\nL[Cheque]\n^\nD2026-01-02\nT5\nPShop\n^\n")
	s := r.file.Statements[0]
	if s.Account != "Cheque" || s.Opening == nil || s.Opening.Amount.String() != "100" ||
		len(r.entries()) != 1 || r.rows[0].Outcome != bankfile.Skipped {
		t.Errorf("%+v, %q", s, r.brief())
	}
}

// The opening balance may stand before what shows the order of day and month.
func TestTheDayOfAQIFOpeningBalanceHasTheOrderOfTheFile(t *testing.T) {
	const opening = "!Type:Bank\nD1/2/26\nT100\nPOpening Balance\nL[Cheque]\n^\n"
	for next, want := range map[string]bankfile.Date{
		"1/31/26": "2026-01-02", "31/1/26": "2026-02-01",
	} {
		s := mustRead(t, opening+"D"+next+"\nT5\n^\n").file.Statements
		if len(s) != 1 || s[0].Opening == nil || s[0].Opening.Date != want {
			t.Errorf("before %s: %+v", next, s[0].Opening)
		}
	}
}

// What is read a second time is no longer than what is read once.
func TestTheNameOfAQIFAccountIsBounded(t *testing.T) {
	name := strings.Repeat("x", 2*bankfile.NameMax)
	s := mustRead(t, "!Account\nN"+name+"\n^\n!Type:Bank\nD31/1/26\nT5\n^\n").file.Statements
	if len(s) != 1 || len(s[0].Account) != bankfile.NameMax {
		t.Errorf("%d statements with an account of %d bytes", len(s), len(s[0].Account))
	}
}

func TestQIFInOtherDress(t *testing.T) {
	for name, text := range map[string]string{
		"no header":           "D31/01/2026\nT-5.00\nPShop\n^\n",
		"lower case header":   "!type:bank\nD31/01/2026\nT-5.00\nPShop\n^\n",
		"no caret at the end": "!Type:Bank\nD31/01/2026\nT-5.00\nPShop\n",
		"blank lines":         "\n!Type:Bank \n\nD31/01/2026\n\nT-5.00\nPShop\n^\n\n",
		"only U":              "!Type:Bank\nD31/01/2026\nU-5.00\nPShop\n^\n",
		"byte order mark":     "\ufeff!Type:Bank\nD31/01/2026\nT-5.00\nPShop\n^\n",
		"Windows-1252 money":  "!Type:Bank\nD31/01/2026\nT-5.00\nPShop\nMCaf\xe9\n^\n",
		"end of file mark":    "!Type:Bank\nD31/01/2026\nT-5.00\nPShop\n^\n\x1a",
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, text)
			if diff := cmp.Diff([]string{"2026-01-31 -5"}, r.brief()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestQIFCardInverts is firefly#1263 and #1660: charges are positive, and one setting turns all.
func TestQIFCardInverts(t *testing.T) {
	m := bankfile.Mapping{Version: bankfile.MappingVersion, Invert: true}
	r, err := read(qif("2026-01-30", "5.00", "2026-01-31", "($67.00)"),
		bankfile.Options{Mapping: &m})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2026-01-30 -5", "2026-01-31 67"}, r.brief()); diff != "" {
		t.Error(diff)
	}
	if !r.file.Mapping().Invert || strings.Contains(r.brief()[0], "+") {
		t.Error("the setting is not kept")
	}
}

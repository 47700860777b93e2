package bankfile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/bankfile"
)

// movement is an entry of a file whose balances are checked, with the balance after it.
type movement struct {
	day           int
	amount, after string
	currency      string // Empty means that of the statement.
}

// sixMoves take 100 to 94.
func sixMoves() []movement {
	return []movement{
		{3, "5", "105", ""}, {4, "-2", "103", ""}, {5, "-20", "83", ""}, {6, "4.5", "87.5", ""},
		{7, "7.5", "95", ""}, {8, "-1", "94", ""},
	}
}

// ledgerForm writes movements in one format. An empty opening or closing is absent.
type ledgerForm struct {
	write func(opening, closing string, moves []movement) string
	// Whether the format compares opening, entries and closing; and whether their order counts.
	compares, ordered bool
}

func ledgerForms() map[string]ledgerForm {
	return map[string]ledgerForm{
		"MT940": {compares: true, write: mtForm},
		"camt.053": {compares: true, write: func(opening, closing string, moves []movement) string {
			return camtForm("053", opening, closing, moves)
		}},
		"camt.052": {compares: true, write: func(opening, closing string, moves []movement) string {
			return camtForm("052", opening, closing, moves)
		}},
		"CSV, oldest first": {compares: true, ordered: true, write: csvForm},
		"CSV, newest first": {compares: true, ordered: true,
			write: func(opening, closing string, moves []movement) string {
				moves = slices.Clone(moves)
				slices.Reverse(moves)
				return csvForm(opening, closing, moves)
			}},
		// The balance of OFX is the closing one alone.
		"OFX": {write: ofxForm},
	}
}

func signedBalance(amount string) string {
	if rest, negative := strings.CutPrefix(amount, "-"); negative {
		return "D260101EUR" + strings.ReplaceAll(rest, ".", ",")
	}
	return "C260101EUR" + strings.ReplaceAll(amount, ".", ",")
}

func mtForm(opening, closing string, moves []movement) string {
	text := ":20:STATEMENT\n:25:NL71RABO0123456789\n:28C:7/1\n"
	if opening != "" {
		text += ":60F:" + signedBalance(opening) + "\n"
	}
	for i, m := range moves {
		side, digits := "C", strings.ReplaceAll(m.amount, ".", ",")
		if rest, negative := strings.CutPrefix(digits, "-"); negative {
			side, digits = "D", rest
		}
		if !strings.Contains(digits, ",") {
			digits += ","
		}
		text += fmt.Sprintf(":61:2601%02d%s%sNTRFREF%d\n", m.day, side, digits, i)
	}
	if closing != "" {
		text += ":62F:" + signedBalance(closing) + "\n"
	}
	return text + "-\n"
}

func camtForm(message, opening, closing string, moves []movement) string {
	body := ""
	for code, amount := range map[string]string{"OPBD": opening, "CLBD": closing} {
		if amount != "" {
			body += balance(code, amount, "CRDT")
		}
	}
	for _, m := range moves {
		side, digits := "CRDT", m.amount
		if rest, negative := strings.CutPrefix(digits, "-"); negative {
			side, digits = "DBIT", rest
		}
		entry := ntry(digits, side, "")
		if m.currency != "" {
			entry = strings.Replace(entry, "CHF", m.currency, 1)
		}
		body += entry
	}
	return camt(message, 8, body)
}

func csvForm(opening, closing string, moves []movement) string {
	rows := []string{"Date;Amount;Currency;Balance"}
	for _, m := range moves {
		after := m.after
		if opening == "" || closing == "" {
			after = ""
		}
		currency := m.currency
		if currency == "" {
			currency = "EUR"
		}
		rows = append(rows, fmt.Sprintf("2026-01-%02d;%s;%s;%s", m.day, m.amount, currency, after))
	}
	return table(rows...)
}

func ofxForm(_, closing string, moves []movement) string {
	var all []string
	for i, m := range moves {
		more := ""
		if m.currency != "" {
			more = "<CURRENCY><CURRATE>1.5<CURSYM>" + m.currency + "</CURRENCY>\n"
		}
		all = append(all, trn(fmt.Sprintf("202601%02d", m.day), m.amount, fmt.Sprint(i), more))
	}
	text := ofx(all...)
	if closing == "" {
		from, to := strings.Index(text, "<LEDGERBAL>"), strings.Index(text, "</LEDGERBAL>")
		return text[:from] + text[to+len("</LEDGERBAL>"):]
	}
	return strings.Replace(text, "<BALAMT>100.00", "<BALAMT>"+closing, 1)
}

// TestBalancesOfEachFormatAreChecked breaks what the check of balances compares, in each format:
// it reports that the balances fit only if they do, and nothing if it could not compare them.
func TestBalancesOfEachFormatAreChecked(t *testing.T) {
	const fits, differs, open = "fits", "differs", "not checked"
	for name, c := range map[string]struct {
		change           func(moves []movement) []movement
		opening, closing string
		want, ordered    string // ordered is the result in a format whose order counts.
	}{
		"it fits": {nil, "100", "94", fits, fits},
		"an entry is missing": {func(m []movement) []movement { return slices.Delete(m, 2, 3) },
			"100", "94", differs, differs},
		"two entries are missing": {func(m []movement) []movement { return slices.Delete(m, 1, 3) },
			"100", "94", differs, differs},
		"an entry is there twice": {
			func(m []movement) []movement { return slices.Insert(m, 2, m[2]) },
			"100", "94", differs, differs},
		"an entry has the other sign": {func(m []movement) []movement {
			m[2].amount = "20"
			return m
		}, "100", "94", differs, differs},
		"an amount is another one": {func(m []movement) []movement {
			m[3].amount = "4.49"
			return m
		}, "100", "94", differs, differs},
		"the first entries change places": {func(m []movement) []movement {
			m[0], m[1] = m[1], m[0]
			return m
		}, "100", "94", fits, differs},
		"the last entries change places": {func(m []movement) []movement {
			m[4], m[5] = m[5], m[4]
			return m
		}, "100", "94", fits, differs},
		"the closing balance is another one": {func(m []movement) []movement {
			m[5].after = "94.01"
			return m
		}, "100", "94.01", differs, differs},
		"the opening balance is absent": {nil, "", "94", open, open},
		"the closing balance is absent": {nil, "100", "", open, open},
		"both balances are absent":      {nil, "", "", open, open},
		"one entry is of another currency": {func(m []movement) []movement {
			m[2].currency = "USD"
			return m
		}, "100", "94", open, open},
	} {
		for form, f := range ledgerForms() {
			if form == "MT940" && strings.Contains(name, "currency") {
				continue // Its entries have no currency of their own.
			}
			t.Run(name+", "+form, func(t *testing.T) {
				moves := sixMoves()
				if c.change != nil {
					moves = c.change(moves)
				}
				r := mustRead(t, f.write(c.opening, c.closing, moves))
				if len(r.totals) != 1 {
					t.Fatalf("%d statements", len(r.totals))
				}
				want := c.want
				switch {
				case !f.compares:
					want = open
				case f.ordered:
					want = c.ordered
				}
				total := r.totals[0]
				got := map[[2]bool]string{{true, true}: fits, {true, false}: differs,
					{false, false}: open}[[2]bool{total.Checked, total.Agrees}]
				if got != want {
					t.Errorf("the result is %q, want %q: %+v\n%q", got, want, total, r.brief())
				}
				warned := slices.ContainsFunc(r.rows, func(row bankfile.Row) bool {
					return row.Outcome == bankfile.Warned
				})
				if warned != (want == differs) {
					t.Errorf("%s, and the rows are %q", got, r.brief())
				}
			})
		}
	}
}

// The balances of two currencies are not compared with each other.
func TestBalancesOfTwoCurrenciesAreNotCompared(t *testing.T) {
	text := mtForm("100", "94", sixMoves())
	text = strings.Replace(text, ":62F:C260101EUR", ":62F:C260101USD", 1)
	r := mustRead(t, text)
	if total := r.totals[0]; total.Checked || total.Agrees {
		t.Errorf("total %+v", total)
	}
}

package bankfile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
)

// mtPage is a message of one page: its number, its balances with their tags, and its entries.
type mtPage struct {
	account, number  string
	opening, closing string // Such as "F 100," or "M 95,5".
	entries          []string
}

func (p mtPage) String() string {
	if p.account == "" {
		p.account = "NL71RABO0123456789"
	}
	var b strings.Builder
	fmt.Fprintf(&b, ":20:X\n:25:%s\n:28C:%s\n:60%s:C260101EUR%s\n", p.account, p.number,
		p.opening[:1], p.opening[2:])
	for _, e := range p.entries {
		fmt.Fprintf(&b, ":61:260103%sNTRFX\n:86:Text\n", e)
	}
	fmt.Fprintf(&b, ":62%s:C260105EUR%s\n-\n", p.closing[:1], p.closing[2:])
	return b.String()
}

func TestMT940PagesMakeOneStatement(t *testing.T) {
	one := mtPage{number: "7/1", opening: "F 100,", closing: "M 95,", entries: []string{"D5,"}}
	two := mtPage{number: "7/2", opening: "M 95,", closing: "M 98,", entries: []string{"C3,"}}
	three := mtPage{number: "7/3", opening: "M 98,", closing: "F 90,", entries: []string{"D8,"}}
	other := mtPage{account: "DE1", number: "7/1", opening: "F 1,", closing: "F 3,",
		entries: []string{"C2,"}}
	plain := func(p mtPage) mtPage { p.number = "7"; return p }
	final := func(p mtPage) mtPage {
		p.opening, p.closing = "F"+p.opening[1:], "F"+p.closing[1:]
		return p
	}
	const entries = "2026-01-03 -5 EUR|2026-01-03 3 EUR|2026-01-03 -8 EUR"
	for name, c := range map[string]struct {
		pages []mtPage
		want  []string // Rows in brief.
		all   int      // Statements.
		first bankfile.Total
	}{
		"three pages": {pages: []mtPage{one, two, three}, want: strings.Split(entries, "|"), all: 1,
			first: bankfile.Total{Read: 3, Checked: true, Agrees: true}},
		"pages without numbers": {pages: []mtPage{plain(one), plain(two), plain(three)},
			want: strings.Split(entries, "|"), all: 1,
			first: bankfile.Total{Read: 3, Checked: true, Agrees: true}},
		"pages of a bank that writes final balances alone": {
			pages: []mtPage{final(one), final(two), final(three)},
			want:  strings.Split(entries, "|"), all: 1,
			first: bankfile.Total{Read: 3, Checked: true, Agrees: true}},
		"another account's statement between two pages": {
			pages: []mtPage{one, other, two, three},
			want: []string{"2026-01-03 -5 EUR", "2026-01-03 2 EUR", "2026-01-03 3 EUR",
				"2026-01-03 -8 EUR"},
			all: 2, first: bankfile.Total{Read: 3, Checked: true, Agrees: true}},
		"the page in the middle is missing": {pages: []mtPage{one, three}, all: 1,
			want: []string{"2026-01-03 -5 EUR",
				"warned line 12: In the statement 7 the page 2 is missing: a page begins with 98, " +
					"and the previous one ended with 95.",
				"2026-01-03 -8 EUR",
				"warned line 16: The opening balance 100 and the entries of -13 make 87, but the " +
					"closing balance is 90: the difference is 3."},
			first: bankfile.Total{Read: 2, Checked: true}},
		"the first page is missing": {pages: []mtPage{two, three}, all: 1,
			want: []string{
				"warned line 4: The statement 7 begins with an intermediate balance: the " +
					"previous page is missing.",
				"2026-01-03 3 EUR", "2026-01-03 -8 EUR"},
			first: bankfile.Total{Read: 2, Checked: true, Agrees: true}},
		"the last page is missing": {pages: []mtPage{one, two}, all: 1,
			want: []string{"2026-01-03 -5 EUR", "2026-01-03 3 EUR",
				"warned line 16: The statement 7 ends with an intermediate balance: the next page is " +
					"missing."},
			first: bankfile.Total{Read: 2, Checked: true, Agrees: true}},
		"a page that does not add up": {
			pages: []mtPage{one, {number: "7/2", opening: "M 95,", closing: "M 98,",
				entries: []string{"C4,"}}, three},
			all: 1,
			want: []string{"2026-01-03 -5 EUR", "2026-01-03 4 EUR",
				"warned line 15: A page of the statement 7 begins with 95, and its entries of 4 " +
					"make 99, but it ends with 98.",
				"2026-01-03 -8 EUR",
				"warned line 24: The opening balance 100 and the entries of -9 make 91, but the " +
					"closing balance is 90: the difference is -1."},
			first: bankfile.Total{Read: 3, Checked: true}},
		"two pages without numbers that do not meet": {
			pages: []mtPage{plain(one), plain(three)}, all: 1,
			want: []string{"2026-01-03 -5 EUR",
				"warned line 12: A page of the statement 7 begins with 98, but the previous one " +
					"ended with 95: a page may be missing.",
				"2026-01-03 -8 EUR",
				"warned line 16: The opening balance 100 and the entries of -13 make 87, but the " +
					"closing balance is 90: the difference is 3."},
			first: bankfile.Total{Read: 2, Checked: true}},
		"a lone page is told of once": {
			pages: []mtPage{{number: "9/1", opening: "F 1,", closing: "M 3,",
				entries: []string{"C1,"}}},
			all: 1,
			want: []string{"2026-01-03 1 EUR",
				"warned line 7: A page of the statement 9 begins with 1, and its entries of 1 make " +
					"2, but it ends with 3.",
				"warned line 8: The statement 9 ends with an intermediate balance: the next page is " +
					"missing."},
			first: bankfile.Total{Read: 1, Checked: true}},
		"equal numbers of whole statements stay apart": {
			pages: []mtPage{
				{number: "0", opening: "F 1,", closing: "F 2,", entries: []string{"C1,"}},
				{number: "0", opening: "F 2,", closing: "F 3,", entries: []string{"C1,"}}},
			all: 2, want: []string{"2026-01-03 1 EUR", "2026-01-03 1 EUR"},
			first: bankfile.Total{Read: 1, Checked: true, Agrees: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for _, p := range c.pages {
				text.WriteString(p.String())
			}
			r := mustRead(t, text.String())
			if diff := cmp.Diff(c.want, r.brief()); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if len(r.file.Statements) != c.all {
				t.Fatalf("%d statements", len(r.file.Statements))
			}
			got := r.totals[0]
			if got.Read != c.first.Read || got.Checked != c.first.Checked ||
				got.Agrees != c.first.Agrees {
				t.Errorf("total %+v", got)
			}
		})
	}
}

func TestAStatementOfPagesHasTheirFirstAndLastBalance(t *testing.T) {
	r := mustRead(t, mtPage{number: "12/1", opening: "F 10,", closing: "M 20,",
		entries: []string{"C10,"}}.String()+mtPage{number: "12/2", opening: "M 20,",
		closing: "F 15,", entries: []string{"D5,"}}.String())
	s, total := r.file.Statements[0], r.totals[0]
	if total.Opening != s.Opening || total.Closing != s.Closing {
		t.Errorf("total %+v", total)
	}
	if s.ID != "12" || s.Opening.Amount.String() != "10" || s.Closing.Amount.String() != "15" {
		t.Errorf("statement %+v %+v %+v", s, s.Opening, s.Closing)
	}
}

// However a statement is cut into pages, and whatever stands between them, it gives the same
// entries and the same check.
func TestPagesGiveWhatTheWholeStatementGives(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 50 * int(rounds()) {
		n := 1 + random.IntN(30)
		var entries []string
		sums := []int{500}
		for range n {
			amount := random.IntN(2000) - 1000
			sign, written := "C", amount
			if amount < 0 {
				sign, written = "D", -amount
			}
			entries = append(entries, fmt.Sprintf("%s%d,", sign, written))
			sums = append(sums, sums[len(sums)-1]+amount)
		}
		balance := func(tag string, at int) string { return fmt.Sprintf("%s %d,", tag, sums[at]) }
		var b strings.Builder
		for from, page := 0, 1; from < n; page++ {
			to := min(n, from+1+random.IntN(10))
			p := mtPage{number: fmt.Sprintf("3/%d", page), opening: balance("M", from),
				closing: balance("M", to), entries: entries[from:to]}
			if from == 0 {
				p.opening = balance("F", 0)
			}
			if to == n {
				p.closing = balance("F", n)
			}
			// The sign of a balance stands before its date.
			text := p.String()
			text = signed(text, ":60", sums[from])
			b.WriteString(signed(text, ":62", sums[to]))
			if random.IntN(3) == 0 {
				b.WriteString(mtPage{account: "DE2", number: fmt.Sprintf("%d/1", page),
					opening: "F 1,", closing: "F 1,"}.String())
			}
			from = to
		}
		r := mustRead(t, b.String())
		want, err := money.NewDecimal(int64(sums[n]-500), 0)
		if err != nil {
			t.Fatal(err)
		}
		total := r.totals[0]
		if total.Read != n || total.Sum != want || !total.Agrees {
			t.Fatalf("total %+v of %d entries\n%s", total, n, b.String())
		}
		for _, row := range r.rows {
			if row.Outcome == bankfile.Warned {
				t.Fatalf("%s\n%s", row.Why, b.String())
			}
		}
	}
}

// signed writes a negative balance as a debit.
func signed(text, tag string, amount int) string {
	if amount >= 0 {
		return text
	}
	at := strings.Index(text, tag)
	line := text[at:]
	return text[:at] + strings.Replace(strings.Replace(line, ":C", ":D", 1), "EUR-", "EUR", 1)
}

func TestMT942MessagesOfOneReportAreOne(t *testing.T) {
	message := func(number, more string) string {
		return ":20:X\n:25:PL1\n:28C:" + number + "\n:34F:PLN0\n" + more + "-\n"
	}
	r := mustRead(t, message("4/1", ":61:260103CN0,01NTRFX\n")+message("4/2",
		":61:260103CN0,02NTRFX\n")+message("4/4", ":61:260103CN0,04NTRFX\n")+message("5/1", ""))
	want := []string{"2026-01-03 0.01 PLN", "2026-01-03 0.02 PLN",
		"warned line 16: In the statement 4 the page 3 is missing.", "2026-01-03 0.04 PLN"}
	if diff := cmp.Diff(want, r.brief()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if s := r.file.Statements; len(s) != 2 || s[0].Kind != bankfile.Interim || s[1].ID != "5" {
		t.Errorf("statements %+v", s)
	}
}

func TestMT942CountsAreCompared(t *testing.T) {
	report := func(counts string) string {
		return ":20:X\n:25:PL1\n:28C:4/1\n:34F:PLN0\n:61:260103CN0,01NTRFX\n" +
			":61:260103CN0,02NTRFX\n:61:260103D5,NTRFX\n" + counts + "-\n"
	}
	for counts, want := range map[string][]string{
		":90D:1PLN5,00\n:90C:2PLN0,03\n": nil,
		":90D:1PLN5,00\n:90C:3PLN0,04\n": {
			"warned line 9: The bank counts 3 credits of 0.04, but there are 2 of 0.03."},
		":90D:0PLN0,00\n:90C:2PLN0,03\n": {
			"warned line 8: The bank counts 0 debits of 0, but there are 1 of 5."},
		":90D:\n:90C:x\n": nil,
	} {
		got := mustRead(t, report(counts)).brief()[3:]
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", counts, diff)
		}
	}
}

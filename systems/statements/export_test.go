package statements

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/statements/book"
	"github.com/exchequer-dev/exchequer/systems/statements/journal"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

func export(t tb, p *Person, e Export) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := p.Export(context.Background(), &out, e); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// exported is a person whose rows show what every form makes of them.
func exported(t *testing.T) *Person {
	p := newShelf(t, Options{}).user(t, "someone", "a", "b")
	put(t, p,
		Transaction{AccountID: "a", ID: "txn-202601-1", Date: "2026-01-05", Amount: dec("-30.5"),
			Merchant: "Market", Text: "EFTPOS MARKET 12", TagIDs: []string{"food", "week"},
			Notes: "first line\nsecond: line", BankID: "B-1"},
		Transaction{AccountID: "a", ID: "txn-202601-2", Date: "2026-01-06", Amount: dec("-200"),
			Transfer: true, Text: "TO SAVINGS"},
		Transaction{AccountID: "b", ID: "txn-202601-3", Date: "2026-01-06", Amount: dec("200"),
			Transfer: true, Text: "FROM EVERYDAY", Pending: true},
		Transaction{AccountID: "a", ID: "txn-202602-4", Date: "2026-02-01", Amount: dec("-100"),
			Merchant: `=cmd|' /C calc'!A0`, Counterparty: "+64-21", ValueDate: "2026-02-02",
			Foreign: dec("-55.5"), ForeignCurrency: "EUR",
			Splits: []Split{{Amount: dec("-60"), TagIDs: []string{"home"}, Notes: "paint"},
				{Amount: dec("-40")}}},
		Transaction{AccountID: "a", ID: "txn-202602-5", Date: "2026-02-03", Amount: dec("1500"),
			Merchant: "Work", TagIDs: []string{"food"}})
	return p
}

func TestExportsAreAsTheyAlwaysWere(t *testing.T) {
	p := exported(t)
	ten := map[string]money.Decimal{"a": dec("10")}
	for name, e := range map[string]Export{
		"all.csv":       {Format: ExportCSV},
		"all.json":      {Format: ExportJSON},
		"all.jsonl":     {Format: ExportJSONLines},
		"all.beancount": {Format: ExportBeancount, Openings: ten},
		"all.journal":   {Format: ExportHledger, Openings: ten},
		"february.journal": {Format: ExportHledger, Accounts: []string{"a"}, From: "2026-02-02",
			To: "2026-02-28", Opening: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := export(t, p, e)
			// When it was written is no part of what is compared.
			got = strings.ReplaceAll(got, p.now().Format("2006-01-02T15:04:05Z"), "NOW")
			path := filepath.Join("testdata", "export", name)
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// nasty are texts that mean something in one of the forms.
var nasty = []string{"", "Café Söhne", `"quoted" \ back`, "; comment", "a  two blanks", "(code)",
	"[2020-13-45]", "date:2020-13-45", "# hash", "| bar", "* star", "! mark", "=1+1", "@SUM(1)",
	"-12.50", "+64 21", "\tTab", "'already", "new\nline", "食物", "x:y:z", "{curly}", "\u2028", "=",
	"  blank  ", "a,b", "tag: value, other: value", "%", "end comment", "~ monthly", "2020-01-01",
	"assets:x  5 NZD", "\u200b", "ʻāina 🍕"}

// nastyTags makes tags and accounts with these texts.
func nastyTags(t tb, p *Person) {
	t.Helper()
	ctx := context.Background()
	for i, text := range nasty {
		tag := Tag{UserID: p.id, ID: fmt.Sprintf("tag-%d", i), CreatedAt: p.now(), Version: 1,
			Text: fmt.Sprintf("%s %d", book.PlainLine(text), i)}
		if i%2 == 0 && book.PlainLine(text) != "" {
			tag.Text = book.PlainLine(text)
		}
		if err := modelOf(p).tags.Create(ctx, p.store(), tag); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range []string{"a", "b"} {
		name := []string{"Savings (joint); 50%", "savings -joint- , 50%"}[i]
		_, _, err := p.CreateAccount(ctx, NewAccount{ID: id, Name: name, Currency: "NZD"})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// withTexts gives rows the texts of their tags.
func withTexts(t tb, p *Person, rows []Transaction) []Transaction {
	t.Helper()
	tags, err := p.Tags(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	texts := func(ids []string) (out []string) {
		for _, id := range ids {
			for _, tag := range tags {
				if tag.ID == id {
					out = append(out, tag.Text)
				}
			}
		}
		return out
	}
	for i := range rows {
		rows[i].Tags = texts(rows[i].TagIDs)
		for k := range rows[i].Splits {
			rows[i].Splits[k].Tags = texts(rows[i].Splits[k].TagIDs)
		}
	}
	return rows
}

func nastyRow(t *rapid.T, i int) Transaction {
	text := func(what string) string { return rapid.SampledFrom(nasty).Draw(t, what) }
	row := Transaction{AccountID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "account"),
		ID:       fmt.Sprintf("txn-2026%02d-%d", rapid.IntRange(1, 3).Draw(t, "month"), i),
		Date:     Date(fmt.Sprintf("2026-0%d-1%d", rapid.IntRange(1, 3).Draw(t, "m"), i%10)),
		Merchant: text("merchant"), Text: text("text"), Notes: text("notes"),
		Reference: text("reference"), Counterparty: text("counterparty"),
		Category: text("category"), Pending: rapid.Bool().Draw(t, "pending"),
		Transfer:    rapid.IntRange(0, 4).Draw(t, "transfer") == 0,
		Currency:    rapid.SampledFrom([]money.Currency{"NZD", "JPY", "KWD"}).Draw(t, "currency"),
		Annotations: []Annotation{{ID: "x", Text: text("annotation")}, {ID: "y", Text: "z"}},
	}
	amount, err := money.NewDecimal(int64(rapid.IntRange(-99_999, 99_999).Draw(t, "amount")),
		rapid.IntRange(0, 4).Draw(t, "scale"))
	if err != nil {
		t.Fatal(err)
	}
	row.Amount = amount
	tag := func() []string {
		n := rapid.IntRange(-1, len(nasty)-1).Draw(t, "tag")
		if n < 0 {
			return nil
		}
		return []string{fmt.Sprintf("tag-%d", n), "tag-0"}[:1+min(n, 1)]
	}
	if row.TagIDs = tag(); rapid.IntRange(0, 2).Draw(t, "split") == 0 {
		half, err := amount.MulQuo(dec("1"), dec("2"), 2, money.HalfEven)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := amount.Sub(half)
		if err != nil {
			t.Fatal(err)
		}
		row.Splits = []Split{{Amount: half, TagIDs: tag(), Notes: text("part")}, {Amount: rest}}
	}
	return row
}

func TestAnExportIsReadAgain(t *testing.T) {
	s := newShelf(t, Options{})
	round := 0
	rounds(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		round++
		p := s.user(t, fmt.Sprintf("user-%d", round))
		nastyTags(r, p)
		var rows []Transaction
		for i := range rapid.IntRange(1, 12).Draw(r, "rows") {
			rows = append(rows, nastyRow(r, i))
		}
		putTagged(r, p, withTexts(r, p, rows)...)
		text := export(r, p, Export{Format: ExportCSV, From: "2026-01-01",
			To: "2026-12-31"})
		file, err := bankfile.Open(strings.NewReader(text), int64(len(text)),
			bankfile.Options{Mapping: &bankfile.Mapping{Version: bankfile.MappingVersion,
				Decimal: "."}})
		if err != nil {
			r.Fatalf("%v\n%s", err, text)
		}
		var got []string
		for row, err := range file.Rows() {
			if err != nil {
				r.Fatal(err)
			}
			if row.Outcome == bankfile.Refused || row.Outcome == bankfile.Skipped {
				r.Fatalf("line %d: %s: %s", row.Line, row.Outcome, row.Why)
			}
			if row.Outcome == bankfile.Read {
				e := row.Entry
				got = append(got, fmt.Sprint(file.Statements[row.Statement].Account, " ", e.Date,
					" ", e.Amount, " ", e.Currency, " ", e.Pending, " ", e.Foreign,
					e.ForeignCurrency))
			}
		}
		var want []string
		for t, err := range all(p) {
			if err != nil {
				r.Fatal(err)
			}
			want = append(want, fmt.Sprint(t.AccountID, " ", t.Date, " ", t.Amount, " ", t.Currency,
				" ", t.Pending, " ", t.Foreign, t.ForeignCurrency))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatal(diff)
		}
		year := Export{Format: ExportJSONLines, From: "2026-01-01", To: "2026-12-31"}
		for line := range strings.Lines(export(r, p, year)) {
			var t Transaction
			if err := book.ParseRecord([]byte(line), &t); err != nil {
				r.Fatal(err)
			}
		}
		var array []map[string]any
		year.Format = ExportJSON
		if err := json.Unmarshal([]byte(export(r, p, year)), &array); err != nil {
			r.Fatal(err)
		}
		if len(array) != len(rows) {
			r.Fatalf("%d of %d rows", len(array), len(rows))
		}
	})
}

// all yields everything in the order of exports.
func all(p *Person) func(yield func(*Transaction, error) bool) {
	return func(yield func(*Transaction, error) bool) {
		j := &joint{p: p, accounts: []string{"a", "b"}, from: "2026-01-01", to: "2026-12-31",
			chunk: 3}
		for at, err := range j.steps(context.Background(), point{}) {
			if (err != nil || at.row != nil) && !yield(at.row, err) {
				return
			}
		}
	}
}

// TestJournalsAreAcceptedByTheirPrograms lets hledger and bean-check read journals of nasty rows,
// with assertions of what the accounts come to.
func TestJournalsAreAcceptedByTheirPrograms(t *testing.T) {
	s := newShelf(t, Options{})
	for name, c := range map[string]struct {
		format ExportFormat
		assert func(account string, sum money.Decimal, of money.Currency) string
		args   []string
	}{
		"hledger": {ExportHledger, func(account string, sum money.Decimal,
			of money.Currency) string {
			return fmt.Sprintf("\n2027-01-01 sum\n    %s  0 %s = %s %s\n", account, of, sum, of)
		}, []string{"check", "--strict", "-f"}},
		"bean-check": {ExportBeancount, func(account string, sum money.Decimal,
			of money.Currency) string {
			return fmt.Sprintf("\n2027-01-01 balance %s %s %s\n", account, sum, of)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed", name)
			}
			p := s.user(t, "reader of "+name)
			nastyTags(t, p)
			var rows []Transaction
			for i := range 150 {
				rows = append(rows, rapid.Custom(func(r *rapid.T) Transaction {
					return nastyRow(r, i)
				}).Example(i))
			}
			rows = withTexts(t, p, rows)
			// Another program wrote parts that do not add up.
			rows[3].Splits = []Split{{Amount: dec("1.23")}}
			putTagged(t, p, rows...)
			text := export(t, p, Export{Format: c.format, Openings: map[string]money.Decimal{
				"a": dec("-7.5")}})
			sums := map[string]map[money.Currency]money.Decimal{"a": {"NZD": dec("-7.5")}, "b": {}}
			for _, row := range rows {
				sum, err := sums[row.AccountID][row.Currency].Add(row.Amount)
				if err != nil {
					t.Fatal(err)
				}
				sums[row.AccountID][row.Currency] = sum
			}
			names := namesOf(mustStart(t, p))
			for account, of := range sums {
				for currency, sum := range of {
					text += c.assert(journal.AccountName(c.format, names, account), sum,
						currency)
				}
			}
			path := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, append(c.args, path)...)
			command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
			if out, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v: %.4000s", err, out)
			}
		})
	}
}

func mustStart(t tb, p *Person) Start {
	t.Helper()
	start, err := p.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return start
}

func TestRowsOfYearsThatBeancountDoesNotKnowAreCounted(t *testing.T) {
	p := newShelf(t, Options{}).user(t, "someone", "a")
	put(t, p, Transaction{AccountID: "a", Date: "1699-12-31", Amount: dec("-1")},
		Transaction{AccountID: "a", Date: "1700-01-01", Amount: dec("-1")},
		Transaction{AccountID: "a", Date: "2100-01-01", Amount: dec("-1")})
	for format, want := range map[ExportFormat]Exported{
		ExportBeancount: {Rows: 1, LeftOut: 2}, ExportHledger: {Rows: 3}, ExportCSV: {Rows: 3},
	} {
		got, err := p.Export(t.Context(), io.Discard, Export{Format: format})
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", format, got, err)
		}
	}
}

func TestFormulasAreTextAndNumbersStayNumbers(t *testing.T) {
	text := export(t, exported(t), Export{Format: ExportCSV})
	if !strings.Contains(text, "2026-02-01,-100.00,NZD,'=cmd|") || strings.Contains(text, ",=") {
		t.Error(text)
	}
}

func TestAnExportIsRefusedInWords(t *testing.T) {
	p := exported(t)
	for name, c := range map[string]struct {
		e    Export
		want error
	}{
		"no form":        {Export{}, ErrInvalid},
		"opening of CSV": {Export{Format: ExportCSV, Opening: true}, ErrInvalid},
		"no account":     {Export{Format: ExportCSV, Accounts: []string{"c"}}, ErrNoAccount},
		"opening of nobody": {Export{Format: ExportHledger,
			Openings: map[string]money.Decimal{"c": {}}}, ErrNoAccount},
		"no day": {Export{Format: ExportCSV, From: "2026-02-30"}, ErrInvalid},
		"no range": {Export{Format: ExportCSV, From: "2026-02-02",
			To: "2026-02-01"}, ErrInvalid},
	} {
		if _, err := p.Export(t.Context(), io.Discard, c.e); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	broken := errors.New("the disk is full")
	_, err := p.Export(t.Context(), failing{broken}, Export{Format: ExportCSV})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

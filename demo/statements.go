package demo

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/chart"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
	"github.com/exchequer-dev/exchequer/money"
)

//go:embed statements
var statementFiles embed.FS

// bankBooks is the content of the files of a person's banks, and the expected result.
type bankBooks struct {
	Accounts []client.NewBankAccount `json:"accounts"`
	Files    []bankFile              `json:"files"`
	// Flows are by currency and month, without transfers; Tags by currency, month and tag.
	Flows map[money.Currency]map[string]client.Flow            `json:"flows"`
	Tags  map[money.Currency]map[string]map[string]client.Flow `json:"tags"`
	// Rows and Sums are what each account has in the end.
	Rows map[client.BankAccountID]int           `json:"rows"`
	Sums map[client.BankAccountID]money.Decimal `json:"sums"`
}

// bankFile is a file, and the expected results of its rows.
type bankFile struct {
	File     string               `json:"file"`
	Account  client.BankAccountID `json:"account"`
	Format   string               `json:"format"`
	Answers  map[string]string    `json:"answers"`
	New      int                  `json:"new"`
	Known    int                  `json:"known"`
	Merged   int                  `json:"merged"`
	Skipped  int                  `json:"skipped"`
	Refused  []int                `json:"refused"` // Lines.
	Balanced bool                 `json:"balanced"`
}

// The days that the files are about, and the month that is shown.
const (
	bankFirst, bankLast       client.Date = "2026-01-01", "2026-03-31"
	bankMonthFirst, bankMonth             = "2026-02-01", "2026-02"
	bankMonthLast             client.Date = "2026-02-28"
)

// bankRules are the person's rules, by the tag that they give; without one they find transfers.
var bankRules = []struct {
	tag   string
	words []string
}{
	{"Groceries", []string{"market", "mercado", "kiezmarkt"}},
	{"Rent", []string{"rent week", "quarto"}},
	{"Eating out", []string{"blue door", "nori", "padaria"}},
	{"Salary", []string{"salary", "fatura", "honorar"}},
	{"Power", []string{"meridian power"}},
	{"Transport", []string{"ferry", "city transport", "strassenbahn"}},
	{"", []string{"card payment", "payment received"}},
}

// bankStatements takes the files of five accounts in and shows where the money went.
func (s *story) bankStatements(ctx context.Context) error {
	s.title("One person's bank files of three months, in every format, make one list")
	text, err := statementFiles.ReadFile("statements/expected.json")
	if err != nil {
		return err
	}
	var want bankBooks
	if err := json.Unmarshal(text, &want); err != nil {
		return fmt.Errorf("statements/expected.json: %w", err)
	}
	for _, a := range want.Accounts {
		if _, err := s.client.CreateBankAccount(ctx, a); err != nil {
			return fmt.Errorf("create account %s: %w", a.ID, err)
		}
	}
	if err := s.makeRules(ctx); err != nil {
		return err
	}
	t := grid.New(grid.Left("FILE"), grid.Left("ACCOUNT"), grid.Left("FORMAT"), grid.Right("NEW"),
		grid.Right("KNOWN"), grid.Right("MERGED"), grid.Right("REFUSED"), grid.Left("BALANCES"))
	uploads := map[string]client.Upload{}
	for _, f := range want.Files {
		u, err := s.takeIn(ctx, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.File, err)
		}
		uploads[f.File] = u
		balances := ""
		if u.Checked {
			balances = map[bool]string{true: "fit", false: "do not fit"}[u.Agrees]
		}
		t.Add(f.File, string(f.Account), u.Format, fmt.Sprint(u.Counts.New),
			fmt.Sprint(u.Counts.Known), fmt.Sprint(u.Counts.Merged), fmt.Sprint(u.Counts.Refused),
			balances)
	}
	s.table(t)
	s.say("   The second file repeats ten days of the first. Days such as 05/01/2026 could be of May, so")
	s.say("   the file from Lisbon was asked about; its broken line 13 is refused, and nothing else. What")
	s.say("   was pending in one file from Berlin is booked in the next, and is one purchase.")
	s.command("statements accounts add Everyday --currency NZD --id everyday")
	s.command("statements upload demo/statements/everyday-january.ofx --account everyday")
	if err := s.bankState(ctx, want); err != nil {
		return err
	}
	if err := s.showMonth(ctx, want); err != nil {
		return err
	}
	return s.undoAndAgain(ctx, want, uploads)
}

// makeRules makes the rules with their tags.
func (s *story) makeRules(ctx context.Context) error {
	for _, r := range bankRules {
		rule := client.RuleFields{Name: r.tag, Any: true}
		for _, word := range r.words {
			rule.Conditions = append(rule.Conditions,
				client.RuleCondition{Field: "text", Op: "contains", Text: word})
		}
		if r.tag == "" {
			own := true
			rule.Name, rule.Set.Transfer = "Between own accounts", &own
		} else {
			tag, err := s.client.CreateTag(ctx, r.tag)
			if err != nil {
				return err
			}
			rule.Set.TagIDs = []client.TagID{tag.ID}
		}
		if _, err := s.client.CreateRule(ctx, client.NewRule{RuleFields: rule}); err != nil {
			return err
		}
	}
	return nil
}

// takeIn uploads a file, answers what it leaves open, and imports it as previewed.
func (s *story) takeIn(ctx context.Context, f bankFile) (client.Upload, error) {
	content, err := statementFiles.ReadFile("statements/" + f.File)
	if err != nil {
		return client.Upload{}, err
	}
	sent, err := s.client.Upload(ctx, f.Account, client.NewUpload{
		ID: client.UploadID("demo-" + f.File), FileName: f.File, Body: bytes.NewReader(content),
		Size: int64(len(content)),
	})
	if err != nil {
		return client.Upload{}, err
	}
	got := sent.ReceivedFile
	if len(got.Questions) > 0 {
		got, err = s.client.AnswerQuestions(ctx, f.Account, got.Upload.ID, f.Answers)
		if err != nil {
			return client.Upload{}, err
		}
	}
	preview, err := s.client.PreviewUpload(ctx, f.Account, got.Upload.ID, 0)
	if err != nil {
		return client.Upload{}, err
	}
	u, err := s.client.ImportUpload(ctx, f.Account, got.Upload.ID,
		client.Import{Digest: preview.Upload.Digest})
	if err != nil {
		return client.Upload{}, err
	}
	return u, s.compareFile(ctx, f, u)
}

// compareFile notes the differences between the import of a file and the expected result.
func (s *story) compareFile(ctx context.Context, f bankFile, u client.Upload) error {
	want := client.UploadCounts{New: f.New, Known: f.Known, Merged: f.Merged, Skipped: f.Skipped,
		Refused: len(f.Refused)}
	if u.Counts != want {
		s.differ("%s: the counts are %+v, not %+v", f.File, u.Counts, want)
	}
	if u.Format != f.Format || u.Checked != f.Balanced || u.Agrees != f.Balanced {
		s.differ("%s: the format is %s, not %s; the balances: %t and %t, not %t", f.File, u.Format,
			f.Format, u.Checked, u.Agrees, f.Balanced)
	}
	var lines []int
	for row, err := range s.client.AllUploadRows(ctx, f.Account, u.ID, "refused") {
		if err != nil {
			return err
		}
		lines = append(lines, row.Line)
	}
	if !slices.Equal(lines, f.Refused) {
		s.differ("%s: the lines %v were refused, not %v", f.File, lines, f.Refused)
	}
	return nil
}

// bankState notes which accounts do not have what they must.
func (s *story) bankState(ctx context.Context, want bankBooks) error {
	rows := 0
	for _, a := range want.Accounts {
		n, sum := 0, money.Decimal{}
		q := client.DaysQuery{From: bankFirst, To: bankLast}
		for t, err := range s.client.AllBankTransactions(ctx, a.ID, q) {
			if err != nil {
				return err
			}
			n++
			if sum, err = sum.Add(t.Amount); err != nil {
				return err
			}
		}
		rows += n
		if n != want.Rows[a.ID] || !sum.Equal(want.Sums[a.ID]) {
			s.differ("account %s has %d rows that make %s, not %d that make %s", a.ID, n, sum,
				want.Rows[a.ID], want.Sums[a.ID])
		}
		checked, err := s.client.CheckTotals(ctx, a.ID, false, nil)
		if err != nil {
			return err
		}
		if checked.Verdict != client.VerdictSound || checked.Rows != n {
			s.differ("account %s: %d totals of %d rows differ", a.ID, len(checked.Differences),
				checked.Rows)
		}
	}
	s.say("   %d transactions, and their sums are those worked out beforehand.", rows)
	return nil
}

// showMonth shows a month with the tags of the rules, and the spending of all of them.
func (s *story) showMonth(ctx context.Context, want bankBooks) error {
	t := grid.New(grid.Left("DATE"), grid.Left("ACCOUNT"), grid.Left("MERCHANT").UpTo(26),
		grid.Right("AMOUNT"), grid.Left("TAGS"))
	list, err := s.client.SearchBankTransactions(ctx, client.BankSearch{
		From: bankMonthFirst, To: bankMonthLast, PageQuery: client.PageQuery{Limit: shownRows},
	})
	if err != nil {
		return err
	}
	for _, row := range list.Items {
		t.Add(string(row.Date), string(row.AccountID), row.Merchant,
			row.Amount.Text(row.Currency.Digits())+" "+string(row.Currency),
			strings.Join(row.Tags, ", "))
	}
	s.table(t)
	s.command("statements month %s", bankMonth)
	spent, err := s.client.Spending(ctx, client.ReportQuery{From: bankFirst, To: bankLast})
	if err != nil {
		return err
	}
	s.compareSpending(want, spent)
	for _, of := range spent.Currencies {
		if of.Currency != "NZD" {
			continue
		}
		if err := s.drawSpending(spent.Months, of); err != nil {
			return err
		}
	}
	s.command("statements report --from 2026-01 --to 2026-03")
	return nil
}

// compareSpending notes where spending is not what it must be.
func (s *story) compareSpending(want bankBooks, got client.Spending) {
	figures, wrong := 0, len(s.differences)
	same := func(what string, a, b client.Flow) {
		figures++
		if !a.In.Equal(b.In) || !a.Out.Equal(b.Out) || a.Count != b.Count {
			s.differ("%s: %s in and %s out of %d rows, not %s and %s of %d", what, a.In, a.Out,
				a.Count, b.In, b.Out, b.Count)
		}
	}
	for _, of := range got.Currencies {
		for i, month := range got.Months {
			what := fmt.Sprintf("%s in %s", of.Currency, month)
			same(what, of.Flows[i], want.Flows[of.Currency][month])
			tags := maps.Clone(want.Tags[of.Currency][month])
			for _, series := range of.Series {
				same(what+", tag "+series.Label, series.Flows[i], tags[series.Label])
				delete(tags, series.Label)
			}
			for _, tag := range slices.Sorted(maps.Keys(tags)) {
				s.differ("%s: there is no tag %s", what, tag)
			}
		}
	}
	if len(got.Currencies) != len(want.Flows) {
		s.differ("there are %d currencies, not %d", len(got.Currencies), len(want.Flows))
	}
	if len(s.differences) == wrong {
		s.say("   %d totals by month, currency and tag agree with it to the cent.", figures)
	}
}

// drawSpending draws the spending in one currency.
func (s *story) drawSpending(months []string, of client.CurrencySpending) error {
	c := chart.Chart{Title: "Spending by tag", Unit: string(of.Currency), Categories: months,
		Digits: of.Currency.Digits()}
	for _, series := range of.Series {
		if series.Total.Out.Sign() == 0 {
			continue
		}
		drawn := chart.Series{Label: series.Label}
		if drawn.Label == "" {
			drawn.Label = "(no tag)"
		}
		for _, f := range series.Flows {
			drawn.Values = append(drawn.Values, f.Out.Neg())
		}
		c.Series = append(c.Series, drawn)
	}
	var text bytes.Buffer
	if err := chart.Text(&text, c, chart.TextOptions{Width: chartWidth}); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		s.say("%s", strings.TrimRight("   "+line, " \n"))
	}
	return nil
}

// chartWidth leaves room for the indent of the story.
const chartWidth = 76

// undoAndAgain undoes one import and does it again.
func (s *story) undoAndAgain(
	ctx context.Context, want bankBooks, uploads map[string]client.Upload,
) error {
	f := want.Files[len(want.Files)-1]
	u := uploads[f.File]
	undone, err := s.client.UndoImport(ctx, f.Account, u.ID, client.Undo{})
	if err != nil {
		return err
	}
	list, err := s.client.BankTransactions(ctx, f.Account,
		client.DaysQuery{From: bankFirst, To: bankLast})
	if err != nil {
		return err
	}
	left := want.Rows[f.Account] - f.New
	if len(list.Items) != left || undone.Status != client.UploadReverted {
		s.differ("%d rows are left without %s, which is %s; not %d", len(list.Items), f.File,
			undone.Status, left)
	}
	pending := slices.ContainsFunc(list.Items, func(t client.BankTransaction) bool {
		return t.Pending
	})
	if !pending {
		s.differ("what %s had booked is not pending again", f.File)
	}
	s.say("   %s is undone: %d of %d rows are left, one of them pending again. The same file", f.File,
		len(list.Items), want.Rows[f.Account])
	s.say("   once more, and everything is as it was:")
	s.command("statements undo %s --account berlin", f.File)
	if _, err := s.takeIn(ctx, f); err != nil {
		return err
	}
	return s.bankState(ctx, want)
}

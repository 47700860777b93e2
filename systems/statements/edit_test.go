package statements_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// dec reads a decimal of a test.
func dec(text string) money.Decimal {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// desk is a person at work on one account.
type desk struct {
	*books
	*statements.Person
	t       testing.TB
	account string
}

func newDesk(t testing.TB) *desk {
	// Ids that count, so that what is drawn at random can be drawn again.
	var ids atomic.Int64
	b := open(t, statements.Options{
		NewID: func() string { return fmt.Sprintf("%026d", ids.Add(1)) }})
	p := b.person("someone")
	return &desk{b, p, t, b.account(p, "Everyday").ID}
}

// add types a transaction in.
func (d *desk) add(n statements.NewTransaction) statements.Transaction {
	d.t.Helper()
	n.AccountID = d.account
	t, _, err := d.AddTransaction(d.t.Context(), n)
	if err != nil {
		d.t.Fatal(err)
	}
	return t
}

// coffee types in one that has nothing but a merchant.
func (d *desk) coffee(date statements.Date) statements.Transaction {
	d.t.Helper()
	return d.add(statements.NewTransaction{Date: date, Amount: dec("-4.50"), Merchant: "Café"})
}

func (d *desk) at(t statements.Transaction) statements.At {
	return statements.At{AccountID: d.account, ID: t.ID}
}

func (d *desk) change(
	t statements.Transaction, c statements.TransactionChange,
) statements.Transaction {
	d.t.Helper()
	after, err := d.ChangeTransaction(d.t.Context(), d.at(t), c)
	if err != nil {
		d.t.Fatal(err)
	}
	return after
}

// tag makes a tag and returns its id.
func (d *desk) tag(text string) string {
	d.t.Helper()
	tag, _, err := d.CreateTag(d.t.Context(), text)
	if err != nil {
		d.t.Fatal(err)
	}
	return tag.ID
}

func (d *desk) read(t statements.Transaction) statements.Transaction {
	d.t.Helper()
	got, err := d.Transaction(d.t.Context(), d.account, t.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	return got
}

// sheets returns what the sheets of the account say, by month.
func (d *desk) sheets() map[statements.Date]statements.Sheet {
	d.t.Helper()
	found, err := d.Sheets(d.t.Context(), d.account, "", "")
	if err != nil {
		d.t.Fatal(err)
	}
	out := map[statements.Date]statements.Sheet{}
	for _, s := range found {
		out[s.Month] = s
	}
	return out
}

func of[T any](v T) *T { return &v }

// fieldsOf lists the wrong fields of an error.
func fieldsOf(err error) []string {
	var found *problem.Error
	var names []string
	if errors.As(err, &found) {
		for _, f := range found.Fields {
			names = append(names, f.Name)
		}
	}
	return names
}

func TestAFieldThatAPersonChangesIsTheirs(t *testing.T) {
	d := newDesk(t)
	food, fun := d.tag("Food"), d.tag("Fun")
	row := d.coffee("2025-08-13")
	if diff := cmp.Diff([]string{statements.FieldMerchant}, row.Edited); diff != "" {
		t.Error(diff)
	}
	after := d.change(row, statements.TransactionChange{
		Merchant: of("Café"), Notes: of("With Ana"), TagIDs: &[]string{food, fun, food}})
	want := row
	want.Notes, want.TagIDs, want.Tags = "With Ana", []string{food, fun}, []string{"Food", "Fun"}
	want.Edited = []string{statements.FieldMerchant, statements.FieldNotes, statements.FieldTags}
	want.Version++
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, d.read(row)); diff != "" {
		t.Error(diff)
	}
	again := d.change(row, statements.TransactionChange{Notes: of("With Ana")})
	if again.Version != after.Version {
		t.Error("a change to what it is already was written")
	}
	if got := d.sheets()["2025-08-01"].Tags[fun]; got.Count != 1 || got.Out != dec("-4.5") {
		t.Errorf("the total of a tag: %v", got)
	}
}

func TestADateMovesATransactionAcrossMonths(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-31")
	after := d.change(row, statements.TransactionChange{Date: of(statements.Date("2025-09-01"))})
	if after.ID != row.ID || after.Date != "2025-09-01" {
		t.Errorf("it became %s of %s", after.ID, after.Date)
	}
	if got := d.read(row); got.Date != "2025-09-01" || !slices.Contains(got.Edited, "date") {
		t.Errorf("by its id: %v", got)
	}
	_, err := d.TransactionOf(t.Context(), d.account, "2025-08-31", row.ID)
	if !errors.Is(err, statements.ErrNoTransaction) {
		t.Errorf("on the day before: %v", err)
	}
	sheets := d.sheets()
	if sheets["2025-08-01"].All.Count != 0 || sheets["2025-09-01"].All.Count != 1 {
		t.Errorf("totals: %v", sheets)
	}
	if back := d.change(row, statements.TransactionChange{
		Date: of(statements.Date("2025-08-30"))}); back.Date != "2025-08-30" {
		t.Errorf("moved back to %s", back.Date)
	}
	if d.sheets()["2025-08-01"].All.Count != 1 {
		t.Error("the total did not come back")
	}
}

func TestPartsAddUpToTheAmount(t *testing.T) {
	d := newDesk(t)
	food, home := d.tag("Food"), d.tag("Home")
	row := d.add(statements.NewTransaction{Date: "2025-08-13", Amount: dec("-10.00"),
		Merchant: "Market", TagIDs: []string{food}})
	parts := []statements.NewSplit{
		{Amount: dec("-7.01"), TagIDs: []string{food}},
		{Amount: dec("-2.98"), TagIDs: []string{home}}}
	_, err := d.ChangeTransaction(t.Context(), d.at(row),
		statements.TransactionChange{Splits: &parts})
	if diff := cmp.Diff([]string{"splits"}, fieldsOf(err)); diff != "" {
		t.Error(diff)
	}
	parts[1].Amount = dec("-2.99")
	after := d.change(row, statements.TransactionChange{Splits: &parts})
	if len(after.Splits) != 2 || after.Splits[1].Tags[0] != "Home" || after.TagIDs != nil {
		t.Errorf("divided: %+v", after)
	}
	sheet := d.sheets()["2025-08-01"]
	if sheet.Tags[food].Out != dec("-7.01") || sheet.Tags[home].Out != dec("-2.99") {
		t.Errorf("totals: %v", sheet.Tags)
	}
	_, err = d.ChangeTransaction(t.Context(), d.at(row),
		statements.TransactionChange{TagIDs: &[]string{home}})
	if diff := cmp.Diff([]string{"tagIds"}, fieldsOf(err)); diff != "" {
		t.Errorf("tags of a divided row: %s", diff)
	}
	_, err = d.ChangeTransaction(t.Context(), d.at(row),
		statements.TransactionChange{Amount: of(dec("-11"))})
	if diff := cmp.Diff([]string{"splits"}, fieldsOf(err)); diff != "" {
		t.Errorf("an amount that the parts do not make up: %s", diff)
	}
	whole := d.change(row, statements.TransactionChange{
		Splits: &[]statements.NewSplit{}, TagIDs: &[]string{home}})
	if whole.Splits != nil || !slices.Equal(whole.Tags, []string{"Home"}) {
		t.Errorf("made whole: %+v", whole)
	}
	if tags := d.sheets()["2025-08-01"].Tags; len(tags) != 1 || tags[home].Out != dec("-10") {
		t.Errorf("totals: %v", tags)
	}
}

func TestWhatIsWrongWithAChangeIsNamed(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-13")
	long := strings.Repeat("x", statements.NotesMax+1)
	many := make([]string, statements.TagsOfOneMax+1)
	for i := range many {
		many[i] = fmt.Sprint("tag-", i)
	}
	parts := make([]statements.NewSplit, statements.SplitsMax+1)
	type change = statements.TransactionChange
	day := func(d statements.Date) change { return change{Date: &d} }
	for name, test := range map[string]struct {
		change change
		want   string
	}{
		"a day that is none":      {day("2025-02-30"), "date"},
		"a year of two digits":    {day("0025-02-03"), "date"},
		"notes that are too long": {change{Notes: &long}, "notes"},
		"a merchant too long":     {change{Merchant: of(long[:statements.NameMax+1])}, "merchant"},
		"control characters":      {change{Notes: of("a\x00b")}, "notes"},
		"too many tags":           {change{TagIDs: &many}, "tagIds"},
		"one part":                {change{Splits: of(parts[:1])}, "splits"},
		"too many parts":          {change{Splits: &parts}, "splits"},
		"too many digits":         {change{Amount: of(dec("1234567890123456789"))}, "amount"},
		"a reset of the date":     {change{Reset: []string{"date"}}, "reset[0]"},
		"a reset of what is set":  {change{Notes: of(""), Reset: []string{"notes"}}, "reset[0]"},
		"too many tags of parts": {change{Splits: &[]statements.NewSplit{
			{Amount: dec("-4.50"), TagIDs: many[:45]}, {TagIDs: many[:45]}}}, "splits"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.ChangeTransaction(t.Context(), d.at(row), test.change)
			if !errors.Is(err, statements.ErrInvalid) {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{test.want}, fieldsOf(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := d.ChangeTransaction(t.Context(), d.at(row),
		statements.TransactionChange{TagIDs: &[]string{"tag-none"}})
	if !errors.Is(err, statements.ErrNoTag) {
		t.Errorf("a tag that is not there: %v", err)
	}
	_, err = d.ChangeTransaction(t.Context(), statements.At{AccountID: d.account, ID: "txn-none"},
		statements.TransactionChange{})
	if !errors.Is(err, statements.ErrNoTransaction) {
		t.Errorf("a transaction that is not there: %v", err)
	}
	if got := d.read(row); got.Version != row.Version {
		t.Errorf("something was written: %v", got)
	}
}

func TestNobodyOverwritesWhatTheyHaveNotSeen(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-13")
	d.change(row, statements.TransactionChange{Notes: of("First"), Version: row.Version})
	_, err := d.ChangeTransaction(t.Context(), d.at(row),
		statements.TransactionChange{Notes: of("Second"), Version: row.Version})
	if !errors.Is(err, statements.ErrChanged) {
		t.Errorf("a change of what was changed: %v", err)
	}
	err = d.DeleteTransaction(t.Context(), d.at(row), row.Version)
	if !errors.Is(err, statements.ErrChanged) {
		t.Errorf("a removal of what was changed: %v", err)
	}
	if got := d.read(row); got.Notes != "First" {
		t.Errorf("notes: %q", got.Notes)
	}
}

func TestChangesAtTheSameTimeAllHappen(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-13")
	const people = 8
	var all sync.WaitGroup
	errs := make([]error, people)
	for i := range people {
		all.Go(func() {
			_, _, _, errs[i] = d.Annotate(t.Context(), d.at(row),
				statements.NewAnnotation{Text: fmt.Sprint(i), Author: "someone"})
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := d.read(row); len(got.Annotations) != people {
		t.Errorf("%d annotations of %d", len(got.Annotations), people)
	}
}

func TestADeletedTransactionIsGone(t *testing.T) {
	d := newDesk(t)
	row := d.coffee("2025-08-13")
	if err := d.DeleteTransaction(t.Context(), d.at(row), row.Version); err != nil {
		t.Fatal(err)
	}
	_, err := d.Transaction(t.Context(), d.account, row.ID)
	if !errors.Is(err, statements.ErrNoTransaction) {
		t.Errorf("read: %v", err)
	}
	err = d.DeleteTransaction(t.Context(), d.at(row), 0)
	if !errors.Is(err, statements.ErrNoTransaction) {
		t.Errorf("deleted again: %v", err)
	}
	s := d.sheets()["2025-08-01"]
	if s.All.Count != 0 || !s.All.Out.IsZero() || len(s.Merchants) > 0 {
		t.Errorf("totals: %v", s)
	}
}

// TestATransactionOfAnotherProgramCanBeChanged writes the item of the table's design, as it stands
// there, and changes it.
func TestATransactionOfAnotherProgramCanBeChanged(t *testing.T) {
	d := newDesk(t)
	table := singletable.NewTable(statements.TableNameDefault, singletable.Keys("PK", "SK"))
	type foreign struct {
		Account  string             `dynamodbav:"account,keyonly"`
		Amount   singletable.Number `dynamodbav:"amount"`
		Currency string             `dynamodbav:"currency"`
		Merchant string             `dynamodbav:"merchant"`
		Date     string             `dynamodbav:"date"`
	}
	items := singletable.NewEntity[foreign](table, "Foreign",
		singletable.Primary("USER#someone#ACCOUNT#<account>#2025-08",
			"TRANSACTION#<date>#txn-abc123"))
	if err := items.Put(t.Context(), d.store, foreign{d.account, "150.75", "NZD", "Supermarket X",
		"2025-08-13"}); err != nil {
		t.Fatal(err)
	}
	at := statements.At{AccountID: d.account, ID: "txn-abc123"}
	noted := statements.TransactionChange{Notes: of("Weekly"), Version: statements.NoVersion}
	_, err := d.ChangeTransaction(t.Context(), at, noted)
	if !errors.Is(err, statements.ErrNoTransaction) {
		t.Errorf("without its day: %v", err)
	}
	at.Date = "2025-08-13"
	after, err := d.ChangeTransaction(t.Context(), at, noted)
	if err != nil || after.Notes != "Weekly" || after.Merchant != "Supermarket X" {
		t.Fatal(after, err)
	}
	if s := d.sheets()["2025-08-01"]; s.All.Count != 1 || s.All.In != dec("150.75") {
		t.Errorf("totals once it is known here: %v", s)
	}
	other := statements.TransactionChange{Notes: of("Monthly"), Version: statements.NoVersion}
	if _, err := d.ChangeTransaction(t.Context(), at, other); !errors.Is(err,
		statements.ErrChanged) {
		t.Errorf("by one who saw it before: %v", err)
	}
	at.Date = "" // It is known by its id now.
	if _, err := d.ChangeTransaction(t.Context(), at, statements.TransactionChange{
		Date: of(statements.Date("2025-09-01"))}); err != nil {
		t.Fatal(err)
	}
	if s := d.sheets(); s["2025-08-01"].All.Count != 0 || s["2025-09-01"].All.Count != 1 {
		t.Errorf("totals after it moved: %v", s)
	}
}

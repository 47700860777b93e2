package statements_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

// rule makes a rule, named after nothing unless it has a name.
func (d *desk) rule(r statements.Rule) statements.Rule {
	d.t.Helper()
	if r.Name == "" {
		r.Name = "A rule"
	}
	r, _, err := d.CreateRule(d.t.Context(), r)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// contains is the condition that the bank's text has some words.
func contains(words string) []statements.Condition {
	return []statements.Condition{
		{Field: statements.OnText, Op: statements.OpContains, Text: words}}
}

// year is all accounts in 2025.
var year = statements.RuleScope{From: "2025-01-01", To: "2025-12-31"}

// applied applies all rules to the past.
func (d *desk) applied() statements.Job {
	d.t.Helper()
	j, err := d.ApplyRules(d.t.Context(), year)
	if err == nil {
		j, err = d.RunJob(d.t.Context(), j.ID, nil)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return j
}

func TestRulesAreMadeChangedAndRemoved(t *testing.T) {
	d := newDesk(t)
	food := d.tag("Food")
	want := statements.Rule{ID: "r1", Name: "Coffee", Order: 2, Any: true, Stop: true,
		Conditions: []statements.Condition{
			{Field: statements.OnText, Op: statements.OpRegexp, Text: `^caf[eé]\b`},
			{Field: statements.OnAmount, Op: statements.OpBetween, Not: true,
				Amount: of(dec("-5")), To: of(dec("-4"))},
		},
		Set: statements.Setting{Merchant: "Café", TagIDs: []string{food}, Transfer: of(false)}}
	made := d.rule(want)
	want.UserID, want.Version = "someone", 1
	want.CreatedAt, want.UpdatedAt = clockStart, clockStart
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	if got, err := d.Rule(t.Context(), "r1"); err != nil || cmp.Diff(want, got) != "" {
		t.Error(err, cmp.Diff(want, got))
	}
	if again, made, err := d.CreateRule(t.Context(), want); err != nil || made ||
		again.Version != 1 {
		t.Errorf("a repeat: %v %v, %v", again, made, err)
	}
	other := want
	other.Name = "Tea"
	if _, _, err := d.CreateRule(t.Context(), other); !errors.Is(err, statements.ErrKeyUsed) {
		t.Errorf("its id for another: %v", err)
	}
	first := d.rule(statements.Rule{ID: "r0", Order: 1, Conditions: contains("x"),
		Set: statements.Setting{Merchant: "X"}})
	rules, err := d.Rules(t.Context())
	if err != nil || len(rules) != 2 || rules[0].ID != first.ID {
		t.Errorf("in the order of trying: %v %v", rules, err)
	}
	changed, err := d.ChangeRule(t.Context(), other)
	if err != nil || changed.Name != "Tea" || changed.Version != 2 {
		t.Error(changed, err)
	}
	if _, err := d.ChangeRule(t.Context(), other); !errors.Is(err, statements.ErrChanged) {
		t.Errorf("a change of what was changed: %v", err)
	}
	if err := d.DeleteRule(t.Context(), "r1", 1); !errors.Is(err, statements.ErrChanged) {
		t.Errorf("a removal of what was changed: %v", err)
	}
	if err := d.DeleteRule(t.Context(), "r1", 2); err != nil {
		t.Error(err)
	}
	if _, err := d.Rule(t.Context(), "r1"); !errors.Is(err, statements.ErrNoRule) {
		t.Error(err)
	}
}

func TestARuleThatCannotWorkIsRefused(t *testing.T) {
	d := newDesk(t)
	set := statements.Setting{Merchant: "X"}
	one := func(c statements.Condition) statements.Rule {
		return statements.Rule{Name: "x", Conditions: []statements.Condition{c}, Set: set}
	}
	for name, test := range map[string]struct {
		rule statements.Rule
		want []string
	}{
		"nothing at all": {statements.Rule{}, []string{"name", "conditions", "set"}},
		"an unknown field": {one(statements.Condition{Field: "colour", Op: statements.OpEquals,
			Text: "red"}), []string{"conditions[0].field"}},
		"a text that is less": {one(statements.Condition{Field: statements.OnText,
			Op: statements.OpLess, Text: "a"}), []string{"conditions[0].op"}},
		"a text with an amount": {one(statements.Condition{Field: statements.OnText,
			Op: statements.OpEquals, Text: "a", Amount: of(dec("1"))}),
			[]string{"conditions[0].amount"}},
		"no text": {one(statements.Condition{Field: statements.OnMerchant,
			Op: statements.OpBegins}), []string{"conditions[0].text"}},
		"blanks": {one(statements.Condition{Field: statements.OnMerchant,
			Op: statements.OpBegins, Text: "  "}), []string{"conditions[0].text"}},
		"an expression that is none": {one(statements.Condition{Field: statements.OnText,
			Op: statements.OpRegexp, Text: "("}), []string{"conditions[0].text"}},
		"an expression that repeats too much": {one(statements.Condition{Field: statements.OnText,
			Op: statements.OpRegexp, Text: "((a{30}){30}){30}"}), []string{"conditions[0].text"}},
		"no amount": {one(statements.Condition{Field: statements.OnAmount,
			Op: statements.OpMore}), []string{"conditions[0].amount"}},
		"a range that is upside down": {one(statements.Condition{Field: statements.OnAmount,
			Op: statements.OpBetween, Amount: of(dec("2")), To: of(dec("1"))}),
			[]string{"conditions[0].to"}},
		"an account that begins": {one(statements.Condition{Field: statements.OnAccount,
			Op: statements.OpBegins, Text: "a"}), []string{"conditions[0].op"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := d.CreateRule(t.Context(), test.rule)
			if diff := cmp.Diff(test.want, fieldsOf(err)); diff != "" {
				t.Error(err, diff)
			}
		})
	}
	r := statements.Rule{Name: "x", Conditions: contains("x"),
		Set: statements.Setting{TagIDs: []string{"tag-none"}}}
	if _, _, err := d.CreateRule(t.Context(), r); !errors.Is(err, statements.ErrNoTag) {
		t.Errorf("a tag that is not there: %v", err)
	}
	r = one(statements.Condition{Field: statements.OnAccount, Op: statements.OpEquals,
		Text: "none"})
	if _, _, err := d.CreateRule(t.Context(), r); !errors.Is(err, statements.ErrNoAccount) {
		t.Errorf("an account that is not there: %v", err)
	}
}

func TestNoRuleChangesWhatAPersonSet(t *testing.T) {
	d := newDesk(t)
	food, fun := d.tag("Food"), d.tag("Fun")
	row := d.add(statements.NewTransaction{Date: "2025-08-13", Amount: dec("-4"), Merchant: "CAFE"})
	d.change(row, statements.TransactionChange{Merchant: of("Ana's"), TagIDs: &[]string{fun}})
	d.change(row, statements.TransactionChange{TagIDs: &[]string{}})
	d.rule(statements.Rule{Conditions: contains("cafe"), Set: statements.Setting{
		Merchant: "Café", TagIDs: []string{food}, Notes: "From a rule", Transfer: of(true)}})
	if j := d.applied(); j.Changed != 1 || j.Read != 1 {
		t.Errorf("the job: %+v", j)
	}
	got := d.read(row)
	if got.Merchant != "Ana's" || got.TagIDs != nil {
		t.Errorf("what the person set: %q %v", got.Merchant, got.Tags)
	}
	if got.Notes != "From a rule" || !got.Transfer || len(got.Ruled) != 2 {
		t.Errorf("what the person did not set: %+v", got)
	}
	back := d.change(row, statements.TransactionChange{
		Reset: []string{statements.FieldMerchant, statements.FieldTags}})
	if back.Merchant != "Café" || len(back.Edited) != 0 || len(back.TagIDs) != 1 {
		t.Errorf("given back to the rules: %+v", back)
	}
	d.change(row, statements.TransactionChange{Notes: of("")})
	if j := d.applied(); j.Changed != 0 {
		t.Errorf("a rule over notes that were emptied: %+v", j)
	}
}

func TestRulesLeaveTheTagsOfADividedRow(t *testing.T) {
	d := newDesk(t)
	food, fun := d.tag("Food"), d.tag("Fun")
	row := d.add(statements.NewTransaction{Date: "2025-08-13", Amount: dec("-4"),
		Merchant: "CAFE", Splits: []statements.NewSplit{
			{Amount: dec("-3"), TagIDs: []string{fun}}, {Amount: dec("-1")}}})
	d.rule(statements.Rule{Conditions: contains("cafe"),
		Set: statements.Setting{TagIDs: []string{food}}})
	if j := d.applied(); j.Changed != 0 {
		t.Errorf("the job: %+v", j)
	}
	if diff := cmp.Diff(row, d.read(row)); diff != "" {
		t.Error(diff)
	}
}

func TestAPreviewTellsWhatTheJobDoes(t *testing.T) {
	d := newDesk(t)
	food, fun := d.tag("Food"), d.tag("Fun")
	for i := range 7 {
		d.add(statements.NewTransaction{Date: statements.Date(fmt.Sprintf("2025-%02d-10", i+1)),
			Amount: dec(fmt.Sprint(-i)), Notes: "x"})
	}
	row := d.add(statements.NewTransaction{Date: "2025-08-13", Amount: dec("-4"), Merchant: "CAFE"})
	d.change(row, statements.TransactionChange{Reset: []string{statements.FieldMerchant}})
	d.rule(statements.Rule{ID: "r1", Order: 1, Conditions: contains("cafe"),
		Set: statements.Setting{Merchant: "Café", TagIDs: []string{food}}})
	d.rule(statements.Rule{ID: "r2", Order: 2, Stop: true, Conditions: contains("cafe"),
		Set: statements.Setting{Merchant: "Second", TagIDs: []string{fun}}})
	d.rule(statements.Rule{ID: "r3", Order: 3, Conditions: contains("cafe"),
		Set: statements.Setting{Notes: "After a stop"}})
	d.rule(statements.Rule{ID: "r4", Disabled: true, Conditions: contains("cafe"),
		Set: statements.Setting{Notes: "Disabled"}})
	got, err := d.PreviewRules(t.Context(), year, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []statements.FieldChange{
		{Field: "merchant", RuleID: "r1", Before: "CAFE", After: "Café"},
		{Field: "tags", RuleID: "r2", Before: "", After: "Food, Fun"},
	}
	if got.Read != 8 || got.Changed != 1 || len(got.Rows) != 1 {
		t.Fatalf("preview: %+v", got)
	}
	if diff := cmp.Diff(want, got.Rows[0].Fields); diff != "" {
		t.Error(diff)
	}
	if d.read(row).Merchant != "CAFE" {
		t.Error("the preview changed the row")
	}
	draft, err := d.PreviewRules(t.Context(), year, &statements.Rule{Name: "A draft",
		Conditions: contains("cafe"), Set: statements.Setting{Notes: "Drafted"}})
	if err != nil || draft.Changed != 1 || draft.Rows[0].Fields[0].After != "Drafted" {
		t.Errorf("a draft: %+v %v", draft, err)
	}
	scope := year
	scope.RuleIDs = []string{"r4"}
	one, err := d.PreviewRules(t.Context(), scope, nil)
	if err != nil || one.Changed != 1 || one.Rows[0].Fields[0].After != "Disabled" {
		t.Errorf("one that is disabled, on demand: %+v %v", one, err)
	}
	if j := d.applied(); j.Changed != got.Changed || j.Read != got.Read {
		t.Errorf("the job: %+v", j)
	}
	after := d.read(row)
	if after.Merchant != "Café" || cmp.Diff([]string{"Food", "Fun"}, after.Tags) != "" {
		t.Errorf("the row: %+v", after)
	}
	if j := d.applied(); j.Changed != 0 {
		t.Errorf("the job again: %+v", j)
	}
	if err := d.DeleteRule(t.Context(), "r1", 0); err != nil {
		t.Fatal(err)
	}
	if got := d.read(row).Merchant; got != "Café" {
		t.Errorf("the rule is gone, and what it set is %q", got)
	}
}

func TestAScopeOfWhatIsNotThereIsRefused(t *testing.T) {
	d := newDesk(t)
	for want, scope := range map[error]statements.RuleScope{
		statements.ErrInvalid:   {From: "2025-02-01", To: "2025-01-01"},
		statements.ErrNoRule:    {From: year.From, To: year.To, RuleIDs: []string{"r"}},
		statements.ErrNoAccount: {From: year.From, To: year.To, AccountIDs: []string{"a"}},
	} {
		if _, err := d.PreviewRules(t.Context(), scope, nil); !errors.Is(err, want) {
			t.Errorf("preview: got %v, want %v", err, want)
		}
		if _, err := d.ApplyRules(t.Context(), scope); !errors.Is(err, want) {
			t.Errorf("apply: got %v, want %v", err, want)
		}
	}
}

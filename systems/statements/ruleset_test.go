package statements

import (
	"testing"

	"github.com/exchequer-dev/exchequer/money"
)

func TestAConditionLooksAtWhatTheBankWrote(t *testing.T) {
	p := person(t)
	amount, err := money.NewDecimal(-1250, 2)
	if err != nil {
		t.Fatal(err)
	}
	row := Transaction{AccountID: "a1", Currency: "NZD", Amount: amount, Merchant: "Renamed",
		Text: "CAFÉ  Nero 13/08/2025 / Card 1234", Counterparty: "NZ12-3456", Reference: "INV 7",
		Category: "Dining", Notes: "secret"}
	num := func(cents int64) *money.Decimal {
		d, err := money.NewDecimal(cents, 2)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	for _, test := range []struct {
		condition Condition
		want      bool
	}{
		{Condition{Field: OnText, Op: OpContains, Text: "café nero"}, true},
		{Condition{Field: OnText, Op: OpContains, Text: "Renamed"}, false},
		{Condition{Field: OnText, Op: OpContains, Text: "secret"}, false},
		{Condition{Field: OnText, Op: OpContains, Text: "secret", Not: true}, true},
		{Condition{Field: OnText, Op: OpBegins, Text: "CAFÉ"}, true},
		{Condition{Field: OnText, Op: OpBegins, Text: "Nero"}, false},
		{Condition{Field: OnText, Op: OpEnds, Text: "card 1234"}, true},
		{Condition{Field: OnText, Op: OpEnds, Text: "nero"}, false},
		{Condition{Field: OnMerchant, Op: OpEquals, Text: "Café NERO"}, true},
		{Condition{Field: OnMerchant, Op: OpEquals, Text: "Renamed"}, false},
		{Condition{Field: OnMerchant, Op: OpEquals, Text: "Café"}, false},
		{Condition{Field: OnText, Op: OpRegexp, Text: `^café.*\d{4}$`}, true},
		{Condition{Field: OnText, Op: OpRegexp, Text: `a|^x`}, true},
		{Condition{Field: OnText, Op: OpRegexp, Text: `^nero`}, false},
		{Condition{Field: OnText, Op: OpRegexp, Text: `(`}, false},
		{Condition{Field: OnCounterparty, Op: OpBegins, Text: "nz12"}, true},
		{Condition{Field: OnReference, Op: OpEquals, Text: "inv 7"}, true},
		{Condition{Field: OnCategory, Op: OpEquals, Text: "dining"}, true},
		{Condition{Field: OnAccount, Op: OpEquals, Text: "a1"}, true},
		{Condition{Field: OnAccount, Op: OpEquals, Text: "A1"}, false},
		{Condition{Field: OnCurrency, Op: OpEquals, Text: "nzd"}, true},
		{Condition{Field: OnCurrency, Op: OpEquals, Text: "EUR"}, false},
		{Condition{Field: OnAmount, Op: OpEquals, Amount: num(-1250)}, true},
		{Condition{Field: OnAmount, Op: OpLess, Amount: num(-1249)}, true},
		{Condition{Field: OnAmount, Op: OpLess, Amount: num(-1250)}, false},
		{Condition{Field: OnAmount, Op: OpMore, Amount: num(-1251)}, true},
		{Condition{Field: OnAmount, Op: OpMore, Amount: num(-1250)}, false},
		{Condition{Field: OnAmount, Op: OpBetween, Amount: num(-1250), To: num(0)}, true},
		{Condition{Field: OnAmount, Op: OpBetween, Amount: num(-2000), To: num(-1250)}, true},
		{Condition{Field: OnAmount, Op: OpBetween, Amount: num(-1249), To: num(0)}, false},
		{Condition{Field: "colour", Op: OpEquals, Text: "red"}, false},
	} {
		holds := func(any bool, conditions ...Condition) bool {
			rules, err := p.rules().rulesetOf(t.Context(), []Rule{{Any: any, Conditions: conditions,
				Set: Setting{Notes: "It held"}}})
			if err != nil {
				t.Fatal(err)
			}
			c := row.Clone()
			c.Notes = ""
			return rules.apply(c) && c.Notes == "It held"
		}
		yes := Condition{Field: OnAccount, Op: OpEquals, Text: "a1"}
		no := Condition{Field: OnAccount, Op: OpEquals, Text: "a1", Not: true}
		c := test.condition
		if got := holds(false, c); got != test.want {
			t.Errorf("%+v: %v", c, got)
		}
		if holds(false, yes, c) != test.want || holds(true, no, c) != test.want ||
			holds(false, no, c) || !holds(true, yes, c) {
			t.Errorf("%+v beside another", c)
		}
	}
}

func TestTheFirstRuleToSetAFieldWins(t *testing.T) {
	p := person(t)
	all := []Condition{{Field: OnAccount, Op: OpEquals, Text: "x", Not: true}}
	yes, no := true, false
	rules, err := p.rules().rulesetOf(t.Context(), []Rule{
		{ID: "r1", Conditions: all, Set: Setting{Merchant: "First", TagIDs: []string{"a"}}},
		{ID: "r2", Conditions: all, Set: Setting{Merchant: "Second", Transfer: &yes}},
		{ID: "r3", Conditions: all,
			Set: Setting{TagIDs: []string{"gone", "b", "a"}, Transfer: &no}},
	})
	if err != nil {
		t.Fatal(err)
	}
	row := &Transaction{AccountID: "a1", Merchant: "Bank", Text: "Bank"}
	if !rules.apply(row) || row.Merchant != "First" || !row.Transfer || len(row.TagIDs) != 2 ||
		row.Tags[1] != "b" || row.Ruled[FieldTags] != "r3" || row.Ruled[FieldTransfer] != "r2" {
		t.Errorf("the row: %+v", row)
	}
	if rules.apply(row) {
		t.Errorf("the rules changed it once more: %+v", row)
	}
	full := &Transaction{}
	for range TagsOfOneMax {
		full.TagIDs = append(full.TagIDs, p.newID("tag"))
	}
	if rules.apply(full); len(full.TagIDs) != TagsOfOneMax {
		t.Errorf("a row with all tags that it may have got %d", len(full.TagIDs))
	}
}

package statements

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// typeIn adds a transaction to account a.
func (i *intake) typeIn(n NewTransaction) Transaction {
	i.t.Helper()
	n.AccountID = "a"
	t, _, err := i.p.AddTransaction(context.Background(), n)
	if err != nil {
		i.t.Fatal(err)
	}
	return t
}

// change changes a transaction of account a.
func (i *intake) change(id string, c TransactionChange) {
	i.t.Helper()
	at := At{AccountID: "a", ID: id}
	if _, err := i.p.ChangeTransaction(context.Background(), at, c); err != nil {
		i.t.Fatal(err)
	}
}

// undo undoes an import into account a.
func (i *intake) undo(id string, edited Edits) {
	i.t.Helper()
	_, err := i.p.Undo(context.Background(), "a", id, UndoOptions{Edited: edited})
	if err != nil {
		i.t.Fatal(err)
	}
	i.adds("a")
}

// division shows the parts of the only transaction and its tags.
func (i *intake) division() (texts []string) {
	i.t.Helper()
	rows := i.rows("a")
	if len(rows) != 1 {
		i.t.Fatalf("%d rows, want one: %+v", len(rows), rows)
	}
	for _, s := range rows[0].Splits {
		texts = append(texts, s.Amount.String()+" "+s.Notes)
	}
	return append(texts, rows[0].Tags...)
}

func TestTagsOfAPersonStayWhereTheBanksRowBringsParts(t *testing.T) {
	qif := "!Type:Bank\nD2025-07-03\nT-100.00\nPMarket\nSFood\n$-60.00\nSHome\n$-40.00\n^\n"
	for name, test := range map[string]struct {
		tags []string
		want []string
	}{
		"tagged": {[]string{"Groceries"}, []string{"Tag Groceries"}},
		"bare":   {nil, []string{"-60 Food", "-40 Home"}},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			makeTag(t, i.p, "Groceries")
			i.typeIn(NewTransaction{Date: "2025-07-03", Amount: dec("-100"), Merchant: "Market",
				TagIDs: test.tags})
			i.counts("the bank's", i.bring("a", "1", qif), Counts{Merged: 1})
			if d := cmp.Diff(test.want, i.division()); d != "" {
				t.Errorf("parts and tags (-want +got):\n%s", d)
			}
			i.undo("1", "")
			if d := cmp.Diff(textsOfTags(test.tags), i.division()); d != "" {
				t.Errorf("parts and tags after undoing (-want +got):\n%s", d)
			}
		})
	}
}

// TestAnUndoKeepsHowAPersonDividesARowAnew undoes an import that found a divided row, or, where it
// cannot keep what the person has made of the parts since, asks.
func TestAnUndoKeepsHowAPersonDividesARowAnew(t *testing.T) {
	parts := func(first, second string) *[]NewSplit {
		return &[]NewSplit{{Amount: dec(first)}, {Amount: dec(second)}}
	}
	whole, home, food := []NewSplit{}, []string{"Home"}, []string{"Food"}
	same, more := "2025-07-03,-100.00,Market 12,booked", "2025-07-03,-110.00,Market 12,booked"
	divided, tagged := TransactionChange{Splits: parts("-60", "-40")},
		TransactionChange{TagIDs: &food}
	for name, test := range map[string]struct {
		first  TransactionChange
		booked string
		change TransactionChange
		asked  []string // About these fields.
		want   []string
	}{
		"as it was": {first: divided, booked: same, want: []string{"-60 ", "-40 "}},
		"other parts": {divided, same, TransactionChange{Splits: parts("-30", "-70")}, nil,
			[]string{"-30 ", "-70 "}},
		"tags for parts": {divided, same, TransactionChange{Splits: &whole, TagIDs: &home},
			[]string{FieldTags}, []string{"Tag Home"}},
		"parts given back": {divided, same, TransactionChange{Reset: []string{FieldSplits},
			TagIDs: &home}, []string{FieldTags}, []string{"Tag Home"}},
		"parts for tags": {tagged, same, TransactionChange{Splits: parts("-30", "-70")},
			[]string{FieldSplits}, []string{"-30 ", "-70 "}},
		"of another amount": {first: divided, booked: more, want: []string{"-60 ", "-40 "}},
		"other parts of it": {divided, more, TransactionChange{Splits: parts("-30", "-80")},
			[]string{FieldSplits}, []string{"-60 ", "-40 "}},
		"tags for parts of it": {divided, more, TransactionChange{Splits: &whole, TagIDs: &home},
			[]string{FieldSplits, FieldTags}, []string{"Tag Home"}},
		"parts for tags of it": {tagged, more, TransactionChange{Splits: parts("-30", "-80")},
			[]string{FieldSplits}, []string{"Tag Food"}},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			makeTag(t, i.p, "Home")
			makeTag(t, i.p, "Food")
			head := "Date,Amount,Description,Status\n"
			i.bring("a", "1", head+"2025-07-02,-100.00,Market,pending\n")
			id := i.rows("a")[0].ID
			i.change(id, test.first)
			i.counts("booked", i.bring("a", "2", head+test.booked+"\n"), Counts{Merged: 1})
			i.change(id, test.change)
			plan, err := i.p.PlanUndo(t.Context(), "a", "2")
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			for _, row := range plan.Edited {
				asked = append(asked, row.What...)
			}
			if !slices.Equal(asked, test.asked) {
				t.Errorf("it asks about %v, want %v", asked, test.asked)
			}
			i.undo("2", RemoveEdited)
			if d := cmp.Diff(test.want, i.division()); d != "" {
				t.Errorf("parts and tags (-want +got):\n%s", d)
			}
		})
	}
}

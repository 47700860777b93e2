package statements_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/systems/statements"
)

func TestARequestWithAKeyIsTakenOnce(t *testing.T) {
	d := newDesk(t)
	n := statements.NewTransaction{AccountID: d.account, Key: "k1", Date: "2025-08-31",
		Amount: dec("-4.50"), Merchant: " Café  Nero "}
	first, made, err := d.AddTransaction(t.Context(), n)
	if err != nil || !made || first.Merchant != "Café Nero" || first.Currency != "NZD" ||
		first.Source != statements.FromPerson {
		t.Fatal(first, made, err)
	}
	moved := d.change(first, statements.TransactionChange{Date: of(statements.Date("2025-10-01"))})
	again, made, err := d.AddTransaction(t.Context(), n)
	if err != nil || made {
		t.Fatal(made, err)
	}
	if diff := cmp.Diff(moved, again); diff != "" {
		t.Error(diff)
	}
	other := n
	other.Date = "2025-07-31"
	if _, _, err := d.AddTransaction(t.Context(), other); !errors.Is(err, statements.ErrKeyUsed) {
		t.Errorf("the key with another day: %v", err)
	}
	if err := d.DeleteTransaction(t.Context(), d.at(first), 0); err != nil {
		t.Fatal(err)
	}
	_, _, err = d.AddTransaction(t.Context(), n)
	if !errors.Is(err, statements.ErrNoTransaction) {
		t.Errorf("a repeat after it was deleted: %v", err)
	}
}

func TestEqualRequestsAtOnceMakeOneTransaction(t *testing.T) {
	d := newDesk(t)
	n := statements.NewTransaction{AccountID: d.account, Key: "k1", Date: "2025-08-31",
		Amount: dec("-4.50")}
	var all sync.WaitGroup
	var made atomic.Int64
	for range 6 {
		all.Go(func() {
			_, is, err := d.AddTransaction(t.Context(), n)
			if err != nil {
				t.Error(err)
			}
			if is {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 || d.sheets()["2025-08-01"].All.Count != 1 {
		t.Errorf("%d were made, the total has %d", made.Load(), d.sheets()["2025-08-01"].All.Count)
	}
}

func TestEqualTransactionsWithoutAKeyAreAllKept(t *testing.T) {
	d := newDesk(t)
	if a, b := d.coffee("2025-08-13"), d.coffee("2025-08-13"); a.ID == b.ID {
		t.Error("two coffees are one")
	}
	if n := d.sheets()["2025-08-01"].All.Count; n != 2 {
		t.Errorf("%d rows in the total", n)
	}
}

func TestATransactionIsAddedOnlyToAnAccountOfThePerson(t *testing.T) {
	d := newDesk(t)
	n := statements.NewTransaction{AccountID: d.account, Date: "2025-08-13", Amount: dec("1")}
	_, _, err := d.person("another").AddTransaction(t.Context(), n)
	if !errors.Is(err, statements.ErrNoAccount) {
		t.Errorf("by another person: %v", err)
	}
	n.Currency, n.Date = "XYZ", "13.8.2025"
	_, _, err = d.AddTransaction(t.Context(), n)
	if diff := cmp.Diff([]string{"date", "currency"}, fieldsOf(err)); diff != "" {
		t.Error(diff)
	}
}

func TestRulesFillInWhatAPersonLeftOut(t *testing.T) {
	d := newDesk(t)
	food, fun := d.tag("Food"), d.tag("Fun")
	d.rule(statements.Rule{Conditions: contains("café"), Set: statements.Setting{
		Merchant: "Café Nero", TagIDs: []string{food}}})
	plain := d.add(statements.NewTransaction{Date: "2025-08-13", Amount: dec("-4"),
		Merchant: "CAFÉ"})
	if plain.Merchant != "CAFÉ" || len(plain.TagIDs) != 1 || plain.TagIDs[0] != food {
		t.Errorf("only the tag was left out: %+v", plain)
	}
	own := d.add(statements.NewTransaction{Date: "2025-08-13", Amount: dec("-4"),
		Merchant: "CAFÉ", TagIDs: []string{fun}})
	if len(own.TagIDs) != 1 || own.TagIDs[0] != fun {
		t.Errorf("the person's tag: %+v", own)
	}
}

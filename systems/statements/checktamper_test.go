package statements

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// countedIn are the attributes of a row that totals are made of. The account has the currency of a
// row that has none.
var countedIn = []string{"amount", "currency", "merchant", "tagIds", "transfer"}

// otherValue returns another value of the same type.
func otherValue(v dynamo.Value) dynamo.Value {
	switch v.Kind() {
	case dynamo.KindN:
		return dynamo.Int(12345)
	case dynamo.KindBOOL:
		return dynamo.Bool(!v.Bool())
	case dynamo.KindL:
		return dynamo.L(dynamo.S("elsewhere"))
	}
	return dynamo.S("USD")
}

// rowTamperings returns each way to change what totals are made of.
func rowTamperings(item dynamo.Item) map[string]dynamo.Item {
	out := map[string]dynamo.Item{"deleted": nil}
	for _, name := range countedIn {
		v, ok := item[name]
		if !ok {
			continue
		}
		without, other, typed := maps.Clone(item), maps.Clone(item), maps.Clone(item)
		delete(without, name)
		other[name] = otherValue(v)
		typed[name] = dynamo.M(map[string]dynamo.Value{"a": dynamo.S("b")})
		if name != "currency" {
			out["without "+name] = without
		}
		out["another "+name], out[name+" of another type"] = other, typed
	}
	again := maps.Clone(item)
	again["SK"] = dynamo.S(item["SK"].S() + "-again")
	out["twice"] = again
	return out
}

// sheetTamperings returns each way to change one of the numbers of a sheet, however deep.
func sheetTamperings(item dynamo.Item) map[string]dynamo.Item {
	out := map[string]dynamo.Item{"deleted": nil}
	var descend func(m map[string]dynamo.Value, put func(map[string]dynamo.Value))
	descend = func(m map[string]dynamo.Value, put func(map[string]dynamo.Value)) {
		for name, v := range m {
			with := func(v dynamo.Value) {
				made := maps.Clone(m)
				made[name] = v
				put(made)
			}
			switch v.Kind() {
			case dynamo.KindN:
				with(dynamo.Int(12345))
			case dynamo.KindM:
				descend(v.M(), func(m map[string]dynamo.Value) { with(dynamo.M(m)) })
			}
		}
	}
	for name, v := range item {
		if v.Kind() != dynamo.KindM {
			continue
		}
		descend(v.M(), func(m map[string]dynamo.Value) {
			made := maps.Clone(item)
			made[name] = dynamo.M(m)
			out[name+" "+dynamo.M(m).String()] = made
		})
		typed := maps.Clone(item)
		typed[name] = dynamo.S("none")
		out[name+" of another type"] = typed
	}
	return out
}

// TestTamperingWithTotalsIsFound changes each row and each sheet of an account in every way, one at
// a time. A check finds it, and finds nothing once the change is undone.
func TestTamperingWithTotalsIsFound(t *testing.T) {
	s := newShelf(t, Options{})
	p := s.user(t, "someone", "a")
	put(t, p,
		Transaction{AccountID: "a", ID: "one", Date: "1970-01-05", Currency: "NZD",
			Amount: dec("-5"), Merchant: "M", TagIDs: []string{"food"}},
		Transaction{AccountID: "a", ID: "two", Date: "1970-01-06", Currency: "NZD",
			Amount: dec("7"), Transfer: true})
	tried := 0
	for _, item := range storetest.Items(t, s.db, TableNameDefault) {
		var ways map[string]dynamo.Item
		switch {
		case strings.HasPrefix(item["PK"].S(), "@statements#total#"):
			ways = sheetTamperings(item)
		case strings.HasPrefix(item["SK"].S(), "TRANSACTION#"):
			ways = rowTamperings(item)
		}
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			tried++
			made := ways[way]
			s.put(t, item, made)
			c := checkTotals(t, p, "a", CheckOptions{})
			if c.Verdict() != TotalsFaulty || c.Differ == 0 && c.Unreadable.Len() == 0 {
				t.Errorf("%s %s: %+v", item["SK"].S(), way, c)
			}
			if made != nil && made["SK"].S() != item["SK"].S() {
				s.put(t, made, nil)
			}
			s.put(t, item, item)
			if c := checkTotals(t, p, "a", CheckOptions{}); c.Verdict() != TotalsSound {
				t.Fatalf("%s %s, undone: %+v", item["SK"].S(), way, c)
			}
		}
	}
	if tried < 30 {
		t.Errorf("%d ways were tried", tried)
	}
}

// put writes what became of an item; nil deletes it.
func (s *shelf) put(t *testing.T, item, made dynamo.Item) {
	t.Helper()
	err := storetest.Retry(func() error {
		if made == nil {
			_, err := s.db.Delete(t.Context(), &dynamo.DeleteInput{TableName: TableNameDefault,
				Key: dynamo.Key{"PK": item["PK"], "SK": item["SK"]}})
			return err
		}
		_, err := s.db.Put(t.Context(), &dynamo.PutInput{TableName: TableNameDefault, Item: made})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestARepairLeavesAMonthWithAnUnreadableRow alone: its totals are unknown.
func TestARepairLeavesAMonthWithAnUnreadableRow(t *testing.T) {
	s := newShelf(t, Options{})
	p := s.user(t, "someone", "a")
	put(t, p, Transaction{AccountID: "a", ID: "one", Date: "1970-01-05", Currency: "NZD",
		Amount: dec("-5")})
	s.put(t, nil, dynamo.Item{"PK": dynamo.S("USER#someone#ACCOUNT#a#1970-01"),
		"SK": dynamo.S("TRANSACTION#1970-01-07#bad"), "amount": dynamo.S("much")})
	foreign(t, p, Transaction{AccountID: "a", ID: "foreign", Date: "1970-01-08",
		Currency: "NZD", Amount: dec("-1")})
	c := checkTotals(t, p, "a", CheckOptions{Repair: true})
	if c.Verdict() != TotalsFaulty || c.Unreadable.Len() != 1 || c.Repaired != 0 ||
		!strings.Contains(c.Unreadable.Items[0].Error(), "#bad") {
		t.Errorf("%+v", c)
	}
}

// busy is a store on which the totals of a month change after each time that its rows are read.
type busy struct {
	storetest.Database
	on    atomic.Bool
	sheet dynamo.Key
}

func (b *busy) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	out, err := b.Database.Query(ctx, in)
	if err != nil || !b.on.Load() || len(out.Items) == 0 ||
		!strings.HasPrefix(out.Items[0]["SK"].S(), "TRANSACTION#") {
		return out, err
	}
	_, err = b.Update(ctx, &dynamo.UpdateInput{TableName: in.TableName, Key: b.sheet,
		UpdateExpression: "ADD #v :one", Expressions: dynamo.Expressions{
			ExpressionAttributeNames:  map[string]string{"#v": "version"},
			ExpressionAttributeValues: map[string]dynamo.Value{":one": dynamo.Int(1)},
		}})
	return out, err
}

// TestAMonthThatChangesAllTheTimeIsUndecided has a difference that cannot be told from a write in
// progress.
func TestAMonthThatChangesAllTheTimeIsUndecided(t *testing.T) {
	s := newShelf(t, Options{})
	db := &busy{Database: s.db, sheet: dynamo.Key{
		"PK": dynamo.S("@statements#total#someone#a"), "SK": dynamo.S("1970-01#NZD")}}
	store := singletable.NewStore(db, singletable.Options{CursorKey: []byte("a key of tests")})
	b, err := New(store, Options{Now: s.opts.Now})
	if err != nil {
		t.Fatal(err)
	}
	p := s.user(t, "someone", "a")
	put(t, p, Transaction{AccountID: "a", ID: "one", Date: "1970-01-05", Currency: "NZD",
		Amount: dec("-5")})
	foreign(t, p, Transaction{AccountID: "a", ID: "foreign", Date: "1970-01-08",
		Currency: "NZD", Amount: dec("-1")})
	other, err := b.Person("someone")
	if err != nil {
		t.Fatal(err)
	}
	db.on.Store(true)
	c := checkTotals(t, other, "a", CheckOptions{})
	if c.Verdict() != TotalsUndecided || c.Differ != 0 || !slices.Equal(c.Undecided,
		[]string{"1970-01"}) {
		t.Errorf("%+v", c)
	}
	db.on.Store(false)
	if c = checkTotals(t, other, "a", CheckOptions{}); c.Verdict() != TotalsFaulty {
		t.Errorf("once it is quiet: %+v", c)
	}
	storetest.SetFaults(t, s.db, engine.Faults{Rules: []engine.Fault{
		{Kind: engine.FaultEarlyPage, Items: 1}}})
	if c = checkTotals(t, other, "a", CheckOptions{}); c.Rows != 2 || c.Differ != 1 {
		t.Errorf("on pages that end early: %+v", c)
	}
}

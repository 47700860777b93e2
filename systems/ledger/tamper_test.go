package ledger_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

const booksTable = "FinancialTransactions"

// variedBooks has every kind of item that the ledger writes, in every state.
func variedBooks(t *testing.T, opts ledger.Options) *books {
	t.Helper()
	b := openBooks(t, opts)
	b.account("alice", usd("100"))
	b.account("bob", usd("50"))
	b.account("kiwi", nzd("70"))
	b.account("shop", usd("0"))
	b.account("idle", usd("0"))
	b.account("closed", usd("0"))
	b.account("frozen", usd("5"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := b.CreateMerchant(t.Context(), ledger.NewMerchant{ID: "coffee", Name: "Coffee",
		Category: "food", SettlementAccountID: "shop"})
	must(err)
	_, err = b.OpenAccount(t.Context(), ledger.NewAccount{ID: "keyed", IdempotencyKey: "open",
		UserID: "u", AccountType: "checking", Currency: "USD"})
	must(err)
	_, err = b.CreateMerchant(t.Context(), ledger.NewMerchant{IdempotencyKey: "shop",
		Name: "Tea", Category: "food", SettlementAccountID: "shop"})
	must(err)
	_, err = b.FreezeAccount(t.Context(), "frozen")
	must(err)
	_, err = b.CloseAccount(t.Context(), "closed")
	must(err)
	p := ledger.PayMerchant("alice", "coffee", usd("5.5"))
	p.Description, p.Metadata = "a cup", map[string]string{"till": "3"}
	b.post(keyed("coffee", p))
	b.clock.Move(26 * time.Hour)
	back := b.post(keyed("back", transfer("bob", "alice", "7"))).Transaction.ID
	b.clock.Move(time.Hour)
	_, err = b.Reverse(t.Context(), reversing(back))
	must(err)
	_, err = b.Exchange(t.Context(), ledger.Exchanging{IdempotencyKey: "fx", From: "bob",
		To: "kiwi", Sold: usd("10"), Currency: "NZD",
		Rate: ledger.ExchangeRate{Above: money.DecimalFromInt(3), Below: money.DecimalFromInt(2)}})
	must(err)
	b.clock.Move(time.Hour)
	b.post(keyed("last", transfer("alice", "bob", "1.25")))
	b.clock.Move(26 * time.Hour)
	return b
}

// itemsOf returns all items of the ledger's table.
func (b *books) itemsOf() (items []dynamo.Item) {
	b.t.Helper()
	in := &dynamo.ScanInput{TableName: booksTable}
	for {
		out, err := b.db.Scan(context.WithoutCancel(b.t.Context()), in)
		if err != nil {
			b.t.Fatal(err)
		}
		items = append(items, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return items
		}
	}
}

func (b *books) putItem(item dynamo.Item) {
	b.t.Helper()
	err := storetest.Retry(func() error {
		_, err := b.db.Put(b.t.Context(), &dynamo.PutInput{TableName: booksTable, Item: item})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *books) deleteItem(item dynamo.Item) {
	b.t.Helper()
	err := storetest.Retry(func() error {
		_, err := b.db.Delete(b.t.Context(), &dynamo.DeleteInput{TableName: booksTable,
			Key: dynamo.Key{"PK": item["PK"], "SK": item["SK"]}})
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// everything is the check that the command line makes unless it is told otherwise.
func (b *books) everything() ledger.Reconciliation {
	b.t.Helper()
	r, err := b.Reconcile(b.t.Context(), ledger.ReconcileQuery{})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// tampering is one change of one item.
type tampering struct {
	name string
	item dynamo.Item // as it was
	made dynamo.Item // nil if it was deleted
	free bool        // the change is to an attribute that says nothing that can be checked
}

// noFact lists the attributes whose values stand nowhere else and follow from nothing, so that a
// change of them cannot be seen. The kind of item comes first.
var noFact = map[string]bool{
	"Merchant Name": true, "Merchant Category": true, "Merchant SettlementAccountID": true,
	"Merchant CreatedAt":  true,
	"Account AccountType": true, // but those of the ledger's own accounts
	"Account Status":      true, // active and frozen
	"Account Revision":    true, "Account OverdraftLimit": true,
	"Transaction TransactionType": true, "Transaction Description": true,
	"Transaction Metadata": true, "Transaction RequestHash": true, "StatusShards Version": true,
	"AccountEntry RequestHash": true, "Request CreatedAt": true,
}

// mayBeAbsent lists the attributes that items of the kind need not have.
var mayBeAbsent = map[string]bool{
	"Merchant Category": true, "Merchant SettlementAccountID": true, "Merchant CreatedAt": true,
	"Transaction Description": true, "Transaction Metadata": true, "Transaction MerchantID": true,
	"AccountEntry RequestHash": true, "AccountEntry RequestID": true,
	"Merchant RequestID": true, "Request CreatedAt": true,
}

func kindOf(item dynamo.Item) string { return item["Type"].S() }

// system reports whether an item is one of the ledger's own accounts.
func system(item dynamo.Item) bool { return strings.HasPrefix(item["PK"].S(), "ACCOUNT#@") }

// otherValue returns a value of the same type that is not v.
func otherValue(v dynamo.Value) dynamo.Value {
	switch v.Kind() {
	case dynamo.KindN:
		n, err := dynamo.AddNumbers(v.N(), "1")
		if err != nil {
			panic(err)
		}
		return dynamo.N(n)
	case dynamo.KindBOOL:
		return dynamo.Bool(!v.Bool())
	case dynamo.KindM:
		m := maps.Clone(v.M())
		m["tampered"] = dynamo.S("yes")
		return dynamo.M(m)
	}
	if t, err := time.Parse(time.RFC3339, v.S()); err == nil {
		return dynamo.S(t.Add(time.Second).Format("2006-01-02T15:04:05.000Z"))
	}
	switch v.S() {
	case "active":
		return dynamo.S("frozen")
	case "frozen":
		return dynamo.S("active")
	case "debit":
		return dynamo.S("credit")
	case "credit":
		return dynamo.S("debit")
	case "completed":
		return dynamo.S("failed")
	case "USD":
		return dynamo.S("EUR")
	case "NZD":
		return dynamo.S("AUD")
	}
	return dynamo.S(v.S() + "x")
}

// tamperings returns every change of one item: that it is deleted, that it is moved to another key,
// and for each attribute that it is changed, removed, and made unreadable.
func tamperings(item dynamo.Item) []tampering {
	kind := kindOf(item)
	// Without the numbers of shards they are found in the table, as in books of old releases.
	out := []tampering{{name: "deleted", item: item, free: kind == "StatusShards" ||
		kind == "Merchant" && item["ID"].S() != "coffee" && item["RequestID"].S() == ""}}
	for _, attr := range slices.Sorted(maps.Keys(item)) {
		id := kind + " " + attr
		free := noFact[id]
		if id == "Account AccountType" || id == "Account Status" {
			free = free && !system(item)
		}
		switch {
		case id == "Account Status" && item[attr].S() == "closed",
			id == "Transaction TransactionType" && item[attr].S() == "reversal":
			free = false
		case id == "Account Currency":
			free = item["Version"].N() == "0" // Without legs nothing else says the currency.
		}
		changed := maps.Clone(item)
		changed[attr] = otherValue(item[attr])
		t := tampering{name: attr + " is changed", item: item, made: changed, free: free}
		if attr == "PK" || attr == "SK" {
			t.name = attr + " is another one"
			out = append(out, t)
			continue
		}
		removed := maps.Clone(item)
		delete(removed, attr)
		unreadable := maps.Clone(item)
		unreadable[attr] = dynamo.L()
		out = append(out, t, tampering{name: attr + " is removed", item: item, made: removed,
			free: mayBeAbsent[id]})
		if !strings.HasPrefix(attr, "GSI") { // The store refuses index keys of another type.
			out = append(out, tampering{name: attr + " is a list", item: item, made: unreadable})
		}
	}
	return out
}

// roles returns one item of each role, and all items in longer runs.
func roles(items []dynamo.Item) (out []dynamo.Item) {
	seen := map[string]int{}
	for _, item := range items {
		role := fmt.Sprint(kindOf(item), system(item), item["Status"].S(), item["LegType"].S(),
			item["TransactionType"].S(), item["Version"].N() == "0", item["RequestID"].S() == "",
			item["MerchantID"].S() == "")
		if seen[role]++; seen[role] <= storetest.Rounds(1) {
			out = append(out, item)
		}
	}
	return out
}

// names reports whether a divergence names an item: by its key, or by the ids that it is about.
func names(d ledger.Divergence, item dynamo.Item) bool {
	for _, part := range [...]string{
		d.Entry, string(d.TransactionID), string(d.AccountID), string(d.LegID),
	} {
		for _, attr := range [...]string{"PK", "SK", "TransactionID", "AccountID"} {
			if text := item[attr].S(); part != "" && text != "" && text != "METADATA" &&
				strings.Contains(part+"#", strings.TrimLeft(
					text[strings.Index(text, "#")+1:], "#")) {
				return true
			}
		}
		if id := item["MerchantID"].S(); id != "" && strings.Contains(d.Want, id) {
			return true
		}
	}
	kind := kindOf(item)
	return (kind == "Merchant" || kind == "Request") && strings.Contains(d.Want, item["ID"].S())
}

// Every change that another client can make to an item of the table is found and named by the check
// that is made by default, if anything else in the books contradicts it.
func TestTamperingIsFound(t *testing.T) {
	b := variedBooks(t, ledger.Options{})
	if r := b.everything(); !r.Balanced() {
		t.Fatalf("the books are not sound to begin with: %v, %v", r.Divergences, r.Undecided)
	}
	all, tried, free := 0, 0, 0
	for _, item := range roles(b.itemsOf()) {
		for _, c := range tamperings(item) {
			if all++; all%storetest.Stride() != 0 {
				continue
			}
			tried++
			b.tamper(c)
			r := b.everything()
			named := slices.ContainsFunc(r.Divergences, func(d ledger.Divergence) bool {
				return names(d, item)
			})
			where := fmt.Sprintf("%s %s %s: %s", kindOf(item), item["PK"].S(), item["SK"].S(),
				c.name)
			// An amount without a currency cannot be written down, so that no client could read it.
			if slices.ContainsFunc(r.Totals, func(c ledger.CurrencyTotal) bool {
				return !c.Currency.Known() || c.Debits.Currency() != c.Currency ||
					c.Credits.Currency() != c.Currency || c.Balances.Currency() != c.Currency
			}) {
				t.Errorf("%s: the totals are %v", where, r.Totals)
			}
			switch {
			case c.free:
				free++
				if !r.Balanced() {
					t.Errorf("%s: it is listed as unknowable, but was found: %v", where,
						r.Divergences)
				}
			case r.Verdict() != ledger.VerdictDiverges:
				t.Errorf("%s: the verdict is %s", where, r.Verdict())
			case !named:
				t.Errorf("%s: it is not named in %v", where, r.Divergences)
			}
			b.untamper(c)
		}
	}
	if r := b.everything(); !r.Balanced() {
		t.Errorf("restored books are not sound: %v, %v", r.Divergences, r.Undecided)
	}
	t.Logf("%d changes of %d, of which %d cannot be seen", tried, all, free)
}

func (b *books) tamper(c tampering) {
	if c.made == nil || !c.made["PK"].Equal(c.item["PK"]) || !c.made["SK"].Equal(c.item["SK"]) {
		b.deleteItem(c.item)
	}
	if c.made != nil {
		b.putItem(c.made)
	}
}

func (b *books) untamper(c tampering) {
	if c.made != nil {
		b.deleteItem(c.made)
	}
	b.putItem(c.item)
}

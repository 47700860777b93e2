package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
)

const ledgerTable = "FinancialTransactions"

// tamperings is how often the books are tampered with at the end of a round.
const tamperings = 3

// settledAge is more than the age up to which the reconciliation leaves it open whether an index
// has yet to follow.
const settledAge = time.Hour

// checkedFacts are the attributes of each kind of item that stand in a second place too, or follow
// from others: a change of one of them must be found.
var checkedFacts = map[string][]string{
	"Account": {"ID", "Balance", "Currency", "Version", "UserID", "GSI1PK", "GSI1SK"},
	"TransactionLeg": {"ID", "TransactionID", "AccountID", "LegType", "Amount", "Currency",
		"BalanceAfter", "AccountVersion", "CreatedAt", "GSI1PK", "GSI1SK"},
	"Transaction": {"ID", "Status", "Amount", "Currency", "CreatedAt", "IdempotencyKey", "GSI1PK",
		"GSI1SK", "GSI2PK", "GSI2SK"},
	"AccountEntry": {"AccountID"},
}

// checked is a system whose items are tampered with, and the product's own check of them.
type checked struct {
	system, table string
	// facts returns the attributes of an item of which the check must find every change, or nil if
	// it says nothing of the item.
	facts func(dynamo.Item) []string
	// derivable reports whether an attribute may be absent, because its value follows from others.
	derivable func(item dynamo.Item, attribute string) bool
	// other returns the value that another item has, if that is a tampering of its own.
	other func(item dynamo.Item, attribute string) (dynamo.Value, bool)
	// unreadable reports that the check only finds what cannot be read.
	unreadable bool
	// times is how often items are tampered with in a round.
	times int
	find  func() ([]finding, error)
}

// finding is a line of a check. Names reports whether it names an item.
type finding struct {
	text  string
	names func(dynamo.Item) bool
}

// tamper changes items of all systems with a plain client, one at a time, and reports what the
// product's checks do not find or do not name. It puts everything back.
func (w *world) tamper(c *caller) error {
	w.jumped.Add(int64(settledAge))
	r := rand.New(rand.NewPCG(w.plan.Seed, 3))
	for _, k := range w.checks(c) {
		if err := w.tamperAll(r, k); err != nil {
			return err
		}
	}
	if !w.plan.lacks("payments") {
		return w.tamperWithHistory(c, r)
	}
	return nil
}

// checks are the checks of the systems that a round has.
func (w *world) checks(c *caller) []checked {
	var all []checked
	if w.plan.books() {
		all = append(all, w.checkedLedger(c))
	}
	for system, of := range map[string]func(*caller) checked{
		"locations": w.checkedLocations, "rates": w.checkedRates, "statements": w.checkedTotals,
	} {
		if !w.plan.lacks(system) {
			all = append(all, of(c))
		}
	}
	slices.SortFunc(all, func(a, b checked) int { return strings.Compare(a.system, b.system) })
	return all
}

func (w *world) checkedLedger(c *caller) checked {
	return checked{
		system: "ledger", table: ledgerTable, times: tamperings,
		facts: func(item dynamo.Item) []string {
			return slices.DeleteFunc(slices.Clone(checkedFacts[item["Type"].S()]),
				func(a string) bool {
					// An account without legs has no second place for its currency.
					return a == "Currency" && item["Version"].N() == "0"
				})
		},
		find: func() ([]finding, error) {
			got, err := c.Reconcile(w.ctx, client.ReconcileQuery{})
			if err != nil {
				return nil, err
			}
			if (got.Verdict == client.VerdictDiverges) != (got.Found > 0) {
				return nil, fmt.Errorf("the verdict is %q, and it found %d", got.Verdict, got.Found)
			}
			var found []finding
			for _, d := range got.Divergences {
				found = append(found, finding{fmt.Sprintf("%+v", d),
					func(item dynamo.Item) bool { return names(d, item) }})
			}
			return found, nil
		},
	}
}

// tamperAll tampers with items of one system.
func (w *world) tamperAll(r *rand.Rand, k checked) error {
	items, err := w.itemsOf(k)
	if err != nil || len(items) == 0 {
		return err
	}
	for range k.times {
		item := items[r.IntN(len(items))]
		if r.IntN(3) == 0 { // There is more of one kind than of any other.
			item = items[r.IntN(len(items))]
		}
		what, made := k.tampering(r, item)
		if what == "" {
			continue
		}
		if err := w.tamperWith(k, item, made, what); err != nil {
			return err
		}
	}
	found, err := k.find()
	if err != nil {
		return cannotTell("check "+k.system+" after all was put back", err)
	}
	if len(found) > 0 {
		return fmt.Errorf("%s is as it was before it was tampered with, and its check finds %s",
			k.system, toldFindings(found))
	}
	return nil
}

// tampering returns a change of an item: its new form, nil if it is deleted, and what was done.
func (k checked) tampering(r *rand.Rand, item dynamo.Item) (what string, made dynamo.Item) {
	facts := slices.DeleteFunc(k.facts(item), func(a string) bool { return !has(item, a) })
	if len(facts) == 0 {
		return "", nil
	}
	attribute := facts[r.IntN(len(facts))]
	made = maps.Clone(item)
	way := r.IntN(6)
	if k.unreadable {
		way = 2
	}
	switch way {
	case 0:
		return "it is deleted", nil
	case 1:
		if k.derivable == nil || !k.derivable(item, attribute) {
			delete(made, attribute)
			return attribute + " is removed", made
		}
	case 2:
		// The store refuses the key of an index that has another type.
		if !strings.HasPrefix(attribute, "GSI") && attribute != "createdAt" &&
			attribute != "itemType" {
			made[attribute] = dynamo.L()
			return attribute + " is a list", made
		}
	}
	if k.other != nil && r.IntN(2) == 0 {
		if v, is := k.other(item, attribute); is {
			made[attribute] = v
			return attribute + " is that of another", made
		}
	}
	made[attribute] = another(item[attribute])
	return attribute + " is changed", made
}

// has reports whether an item has an attribute with anything in it.
func has(item dynamo.Item, attribute string) bool {
	v, is := item[attribute]
	return is && (v.Kind() != dynamo.KindL || len(v.L()) > 0) &&
		(v.Kind() != dynamo.KindM || len(v.M()) > 0)
}

// another returns another value of the same type.
func another(v dynamo.Value) dynamo.Value {
	if v.Kind() == dynamo.KindN {
		n, err := dynamo.AddNumbers(v.N(), "1")
		if err != nil {
			panic(err) // Amounts here are small.
		}
		return dynamo.N(n)
	}
	switch v.Kind() {
	case dynamo.KindL:
		return dynamo.L(append(slices.Clone(v.L()), dynamo.S("elsewhere"))...)
	case dynamo.KindM:
		made := maps.Clone(v.M())
		first := slices.Min(slices.Collect(maps.Keys(made)))
		made[first] = another(made[first])
		return dynamo.M(made)
	case dynamo.KindBOOL:
		return dynamo.Bool(!v.Bool())
	}
	switch s := v.S(); {
	case s == "debit":
		return dynamo.S("credit")
	case s == "credit":
		return dynamo.S("debit")
	case s == "completed":
		return dynamo.S("failed")
	case s == "USD":
		return dynamo.S("NZD")
	case s == "NZD":
		return dynamo.S("USD")
	case strings.HasPrefix(s, "2026-04-0"):
		return dynamo.S("2026-03" + s[len("2026-03"):])
	case len(s) > len("2026-01-01T") && s[4] == '-' && s[len("2026-01-01")] == 'T':
		return dynamo.S("2020" + s[4:])
	default:
		return dynamo.S(s + "x")
	}
}

func (w *world) tamperWith(k checked, item, made dynamo.Item, what string) error {
	name := fmt.Sprintf("%s %s", item["PK"].S(), item["SK"].S())
	w.event("tampering: %s: %s", name, what)
	w.count("tampering:", k.system+" "+item["Type"].S()+item["itemType"].S()+" "+what)
	if err := w.change(k.table, item, made); err != nil {
		return cannotTell("tamper with "+name, err)
	}
	found, err := k.find()
	if err != nil {
		return cannotTell("check "+k.system+" when it was tampered with", err)
	}
	if !slices.ContainsFunc(found, func(f finding) bool { return f.names(item) }) {
		return fmt.Errorf("%s was tampered with (%s), and the check of %s does not name it: %s",
			name, what, k.system, toldFindings(found))
	}
	if err := w.change(k.table, item, item); err != nil {
		return cannotTell("put back "+name, err)
	}
	return nil
}

func toldFindings(found []finding) string {
	var lines []string
	for _, f := range found {
		lines = append(lines, f.text)
	}
	return fmt.Sprintf("%d findings\n  %s", len(found), strings.Join(lines, "\n  "))
}

// change puts an item in the place of another one; nil deletes that one.
func (w *world) change(table string, item, made dynamo.Item) error {
	if made != nil {
		_, err := w.db().Put(w.ctx, &dynamo.PutInput{TableName: table, Item: made})
		return err
	}
	key := dynamo.Key{"PK": item["PK"]}
	if sort, is := item["SK"]; is {
		key["SK"] = sort
	}
	_, err := w.db().Delete(w.ctx, &dynamo.DeleteInput{TableName: table, Key: key})
	return err
}

// names reports whether a divergence names the item: by its key, or by an id that is in its key.
func names(d client.Divergence, item dynamo.Item) bool {
	key := item["PK"].S() + "#" + item["SK"].S() + "#"
	for _, id := range []string{
		string(d.TransactionID), string(d.AccountID), string(d.LegID),
	} {
		if id != "" && strings.Contains(key, "#"+id+"#") {
			return true
		}
	}
	return d.Entry != "" && strings.Contains(d.Entry, item["PK"].S()) &&
		strings.Contains(d.Entry, item["SK"].S())
}

// itemsOf reads the items of a system that its check says something of, in the order of their keys.
func (w *world) itemsOf(k checked) (items []dynamo.Item, err error) {
	all, err := w.scan(k.table)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(item dynamo.Item) bool { return k.facts(item) == nil }), nil
}

// scan reads all items of a table.
func (w *world) scan(table string) (items []dynamo.Item, err error) {
	in := &dynamo.ScanInput{TableName: table}
	for {
		out, err := w.db().Scan(w.ctx, in)
		if err != nil {
			return nil, cannotTell("read table "+table, err)
		}
		items = append(items, out.Items...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return items, nil
		}
	}
}

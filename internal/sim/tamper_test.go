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

// tamper changes items of the ledger with a plain client, one at a time, and reports what the
// reconciliation does not find or does not name. It puts everything back.
func (w *world) tamper(c *caller) error {
	if !w.plan.books() {
		return nil
	}
	w.jumped.Add(int64(settledAge))
	items, err := w.ledgerItems()
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(w.plan.Seed, 3))
	for range tamperings {
		item := items[r.IntN(len(items))]
		if r.IntN(3) == 0 { // There are more legs than anything else.
			item = items[r.IntN(len(items))]
		}
		what, made := tampering(r, item)
		if what == "" {
			continue
		}
		if err := w.tamperWith(c, item, made, what); err != nil {
			return err
		}
	}
	return nil
}

// tampering returns a change of an item: its new form, nil if it is deleted, and what was done.
func tampering(r *rand.Rand, item dynamo.Item) (what string, made dynamo.Item) {
	facts := slices.DeleteFunc(slices.Clone(checkedFacts[item["Type"].S()]), func(a string) bool {
		_, has := item[a]
		// An account without legs has no second place for its currency.
		return !has || a == "Currency" && item["Version"].N() == "0"
	})
	if len(facts) == 0 {
		return "", nil
	}
	attribute := facts[r.IntN(len(facts))]
	made = maps.Clone(item)
	switch r.IntN(6) {
	case 0:
		return "it is deleted", nil
	case 1:
		delete(made, attribute)
		return attribute + " is removed", made
	case 2:
		if !strings.HasPrefix(attribute, "GSI") {
			made[attribute] = dynamo.L()
			return attribute + " is a list", made
		}
	}
	made[attribute] = another(item[attribute])
	return attribute + " is changed", made
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
	default:
		return dynamo.S(s + "x")
	}
}

func (w *world) tamperWith(c *caller, item, made dynamo.Item, what string) error {
	name := fmt.Sprintf("%s %s", item["PK"].S(), item["SK"].S())
	w.event("tampering: %s: %s", name, what)
	w.count("tampering:", item["Type"].S()+" "+what)
	key := dynamo.Key{"PK": item["PK"], "SK": item["SK"]}
	var err error
	if made == nil {
		_, err = w.db().Delete(w.ctx, &dynamo.DeleteInput{TableName: ledgerTable, Key: key})
	} else {
		_, err = w.db().Put(w.ctx, &dynamo.PutInput{TableName: ledgerTable, Item: made})
	}
	if err != nil {
		return cannotTell("tamper with "+name, err)
	}
	got, err := c.Reconcile(w.ctx, client.ReconcileQuery{})
	if err != nil {
		return cannotTell("reconcile books that were tampered with", err)
	}
	if got.Verdict != client.VerdictDiverges || got.Found == 0 {
		return fmt.Errorf("%s was tampered with (%s), and the reconciliation says %q: %+v", name,
			what, got.Verdict, got)
	}
	if !slices.ContainsFunc(got.Divergences, func(d client.Divergence) bool {
		return names(d, item)
	}) {
		return fmt.Errorf(
			"%s was tampered with (%s), and the reconciliation names other things: %+v",
			name,
			what,
			got.Divergences,
		)
	}
	_, err = w.db().Put(w.ctx, &dynamo.PutInput{TableName: ledgerTable, Item: item})
	if err != nil {
		return cannotTell("put back "+name, err)
	}
	return nil
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

// ledgerItems reads all items of the ledger's table in the order of their keys.
func (w *world) ledgerItems() (items []dynamo.Item, err error) {
	in := &dynamo.ScanInput{TableName: ledgerTable}
	for {
		out, err := w.db().Scan(w.ctx, in)
		if err != nil {
			return nil, cannotTell("read the ledger's table", err)
		}
		for _, item := range out.Items {
			if checkedFacts[item["Type"].S()] != nil {
				items = append(items, item)
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return items, nil
		}
	}
}

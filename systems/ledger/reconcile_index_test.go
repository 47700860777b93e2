package ledger_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// An index that does not hold what the table does is found, and the entry is named.
func TestBrokenIndexesAreFound(t *testing.T) {
	b := variedBooks(t, ledger.Options{})
	seen := map[string]int{}
	for _, item := range roles(b.itemsOf()) {
		if seen[kindOf(item)]++; seen[kindOf(item)] > storetest.Rounds(1) {
			continue
		}
		for _, index := range [...]string{"GSI1", "GSI2"} {
			if item[index+"PK"].IsAbsent() {
				continue
			}
			is := func(i dynamo.Item) bool {
				return i["PK"].Equal(item["PK"]) && i["SK"].Equal(item["SK"])
			}
			ghost := maps.Clone(item)
			ghost["PK"] = dynamo.S(item["PK"].S() + "-ghost")
			for name, x := range map[string]*brokenIndex{
				"lacks it": {name: index, alter: func(i dynamo.Item) dynamo.Item {
					if is(i) {
						return nil
					}
					return i
				}},
				"has another amount": {name: index, alter: func(i dynamo.Item) dynamo.Item {
					if is(i) && !i["Amount"].IsAbsent() {
						i["Amount"] = otherValue(i["Amount"])
					}
					return i
				}},
				"has another key": {name: index, alter: func(i dynamo.Item) dynamo.Item {
					if is(i) {
						i["PK"] = ghost["PK"]
					}
					return i
				}},
				"has a row that is not in the table": {name: index, ghost: ghost},
			} {
				if strings.Contains(name, "amount") && item["Amount"].IsAbsent() {
					continue
				}
				b.faces.index = x
				r := b.everything()
				b.faces.index = nil
				named := slices.ContainsFunc(r.Divergences, func(d ledger.Divergence) bool {
					return names(d, item)
				})
				if r.Verdict() != ledger.VerdictDiverges || !named {
					t.Errorf("%s %s of %s %s: %s, %v, %v", index, name, kindOf(item),
						item["PK"].S(), r.Verdict(), r.Divergences, r.Undecided)
				}
			}
		}
	}
	if r := b.everything(); !r.Balanced() {
		t.Errorf("the books themselves are sound: %v, %v", r.Divergences, r.Undecided)
	}
}

// What an index lacks of an item that has just been written decides nothing.
func TestAnIndexThatIsBehindIsUndecided(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("5"))
	last := b.post(transfer("alice", ledger.Clearing, "1"))
	for index, lost := range map[string]string{"GSI1": "LEG#", "GSI2": "METADATA"} {
		b.faces.index = &brokenIndex{name: index, alter: func(i dynamo.Item) dynamo.Item {
			if i["PK"].S() == "TXN#"+string(last.Transaction.ID) &&
				strings.HasPrefix(i["SK"].S(), lost) {
				return nil
			}
			return i
		}}
		r := b.everything()
		if r.Verdict() != ledger.VerdictUndecided || r.Balanced() || len(r.Divergences) > 0 {
			t.Errorf("%s: %s, %v", index, r.Verdict(), r.Divergences)
		}
		if len(r.Undecided) == 0 || r.Undecided[0].Kind != ledger.IndexBehind ||
			r.Undecided[0].TransactionID == "" && r.Undecided[0].AccountID == "" {
			t.Errorf("%s: undecided is %v", index, r.Undecided)
		}
		b.clock.Move(time.Hour)
		if r := b.everything(); r.Verdict() != ledger.VerdictDiverges {
			t.Errorf("%s, an hour later: %s", index, r.Verdict())
		}
		b.clock.Move(-time.Hour)
		b.faces.index = nil
	}
}

// The clock of the server that posts may be behind the one of the server that reconciles. An index
// that lacks a leg for a moment decides nothing then either.
func TestALagIsNotMeasuredByTheClocksOfServers(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		b := openBooks(t, ledger.Options{})
		b.account("alice", usd("5"))
		if version == "2" {
			b.post(transfer("alice", ledger.Clearing, "1"))
		}
		b.clock.Move(time.Hour)
		var lacked atomic.Bool
		b.faces.index = &brokenIndex{name: "GSI1", alter: func(i dynamo.Item) dynamo.Item {
			if i["AccountID"].S() == "alice" && i["AccountVersion"].N() == version &&
				lacked.CompareAndSwap(false, true) {
				return nil
			}
			return i
		}}
		if r := b.everything(); !r.Balanced() || !lacked.Load() {
			t.Errorf("leg %s: %v, %v", version, r.Divergences, r.Undecided)
		}
	}
}

// Sound books are sound for every range, and its sums are those of its days.
func TestSoundBooksAreSoundForEveryRange(t *testing.T) {
	b := variedBooks(t, ledger.Options{})
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	day := func() ledger.Date {
		switch random.IntN(6) {
		case 0:
			return ""
		case 1:
			return "0001-01-01"
		case 2:
			return "9999-12-31"
		}
		return ledger.DateOf(start.AddDate(0, 0, random.IntN(8)-2))
	}
	for range storetest.Rounds(60) {
		q := ledger.ReconcileQuery{From: day(), To: day()}
		if q.To != "" && q.From > q.To {
			q.From, q.To = q.To, q.From
		}
		r, err := b.Reconcile(t.Context(), q)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, q, err)
		}
		if !r.Balanced() || len(r.Divergences) > 0 {
			t.Fatalf("seed %d: from %q to %q: %s, %v, %v", seed, q.From, q.To, r.Verdict(),
				r.Divergences, r.Undecided)
		}
		want := map[string]int{}
		for _, item := range b.itemsOf() {
			if kindOf(item) != "TransactionLeg" {
				continue
			}
			date := ledger.Date(item["CreatedAt"].S()[:10])
			if date < q.From || q.To != "" && date > q.To {
				continue
			}
			want["legs"]++
		}
		if r.Legs != want["legs"] {
			t.Errorf("seed %d: from %q to %q: %d legs, want %d", seed, q.From, q.To, r.Legs,
				want["legs"])
		}
		for _, total := range r.Totals {
			if total.Debits != total.Credits || total.Balances.Text() != "0.00" {
				t.Errorf("seed %d: from %q to %q: %+v", seed, q.From, q.To, total)
			}
		}
	}
}

// All divergences can be listed, some at a time.
func TestDivergencesAreListedInParts(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("500"))
	b.account("bob", usd("0"))
	for range 130 {
		e := b.post(transfer("alice", "bob", "1")).Entry
		b.update("TXN#"+string(e.Transaction.ID), "METADATA", "SET Amount = :v",
			dynamo.Expressions{ExpressionAttributeValues: map[string]dynamo.Value{
				":v": dynamo.N("2"),
			}})
	}
	if !storetest.Remote() { // The parts fit together only if pages end alike.
		storetest.SetFaults(t, b.db, engine.Faults{})
	}
	seen := map[string]bool{}
	for skip := 0; ; {
		q := ledger.ReconcileQuery{Skip: skip, Limit: 50}
		r, err := b.Reconcile(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Found != 130 {
			t.Fatalf("%d were found, want 130", r.Found)
		}
		for _, d := range r.Divergences {
			seen[fmt.Sprint(d)] = true
		}
		if skip += len(r.Divergences); len(r.Divergences) < 50 {
			break
		}
	}
	if len(seen) != 130 {
		t.Errorf("%d were listed, want 130", len(seen))
	}
	if r := b.everything(); len(r.Divergences) != ledger.FindingsDefault || r.Found != 130 {
		t.Errorf("by default %d of %d were listed", len(r.Divergences), r.Found)
	}
}

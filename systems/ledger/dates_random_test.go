package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// putForeign writes a transaction as another program does, from one account to another.
func (b *books) putForeign(id, status, from, to, at string) {
	b.t.Helper()
	b.putItem(dynamo.Item{
		"PK": dynamo.S("TXN#" + id), "SK": dynamo.S("METADATA"),
		"GSI1PK": dynamo.S("STATUS#" + status), "GSI1SK": dynamo.S("CREATED#" + at),
		"GSI2PK": dynamo.S("IDEMPOTENCY#" + id), "GSI2SK": dynamo.S("TXN"),
		"Type": dynamo.S("Transaction"), "ID": dynamo.S(id), "IdempotencyKey": dynamo.S(id),
		"TransactionType": dynamo.S("payment"), "Status": dynamo.S(status),
		"Amount": dynamo.N("5"), "CreatedAt": dynamo.S(at),
	})
	for account, kind := range map[string]string{from: "debit", to: "credit"} {
		b.putItem(dynamo.Item{
			"PK": dynamo.S("TXN#" + id), "SK": dynamo.S("LEG#" + id + kind),
			"GSI1PK": dynamo.S("ACCOUNT#" + account),
			"GSI1SK": dynamo.S("LEG#" + at + "#" + id + kind),
			"Type":   dynamo.S("TransactionLeg"), "ID": dynamo.S(id + kind),
			"LegType": dynamo.S(kind), "AccountID": dynamo.S(account),
			"TransactionID": dynamo.S(id), "Amount": dynamo.N("5"), "CreatedAt": dynamo.S(at),
		})
	}
}

func (b *books) putForeignAccount(id, balance string) {
	b.putItem(dynamo.Item{
		"PK": dynamo.S("ACCOUNT#" + id), "SK": dynamo.S("METADATA"), "Type": dynamo.S("Account"),
		"ID": dynamo.S(id), "Balance": dynamo.N(balance), "Currency": dynamo.S("USD"),
		"Status": dynamo.S("active"), "AccountType": dynamo.S("checking"),
		"UserID": dynamo.S("u"), "GSI1PK": dynamo.S("USER#u"), "GSI1SK": dynamo.S("ACCOUNT#" + id),
	})
}

// What another program has posted to its own accounts is mended. What it has not completed is left
// as it is, because its date may be the day on which it is due. What it has posted to an account of
// the ledger is named.
func TestRepairDatesOfAnotherProgram(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.putForeignAccount("old", "-5")
	b.putForeignAccount("older", "5")
	b.account("alice", usd("100"))
	b.account("bob", usd("100"))
	b.putForeign("t1", "completed", "old", "older", "2099-01-01T10:30:00Z")
	b.putForeign("t2", "pending", "old", "older", "2099-01-01T10:30:00Z")
	before := b.everything()
	b.wantRepair(b.repairDates(true), 1, 0, 0, ledger.VerdictSound)
	if after := b.everything(); after.Found > before.Found {
		t.Errorf("%v, before %v", after.Divergences, before.Divergences)
	}
	b.wantRepair(b.repairDates(true), 0, 0, 0, ledger.VerdictSound)
	if s := b.statementOf("older", 2026); len(s.Legs) != 1 {
		t.Errorf("%+v", s)
	}
	b.putForeign("t3", "completed", "alice", "bob", "2099-01-01T10:30:00Z")
	r := b.repairDates(true)
	b.wantRepair(r, 1, 0, 0, ledger.VerdictFaulty)
	if f := r.Faults[0]; f.TransactionID != "t3" || f.Mended || f.Why == "" {
		t.Errorf("%+v", f)
	}
}

// Random postings of several processes, some with wrong clocks, with repairs that are stopped in
// between: the books always reconcile, and the last repair leaves nothing ahead.
func TestRepairDatesAfterRandomPostings(t *testing.T) {
	for round := range 6 {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		rnd := rand.New(rand.NewPCG(seed, 7))
		both := processes(t, ledger.Options{})
		b := both[0]
		ids := []ledger.AccountID{"a", "b", "c", "d", "e"}
		for _, id := range ids {
			b.account(id, usd("1000"))
		}
		var posted []ledger.TransactionID
		for range 60 {
			p := both[rnd.IntN(2)]
			switch rnd.IntN(12) {
			case 0:
				p.clock.Set(future.Add(time.Duration(rnd.IntN(100)) * time.Hour))
			case 1:
				p.clock.Set(b.now(both))
			case 2:
				p.clock.Set(b.now(both))
				n, stop := 0, 1+rnd.IntN(6)
				p.faces.onWrite(func(*dynamo.TransactWriteInput) error {
					if n++; n == stop {
						return errors.New("stop")
					}
					return nil
				})
				_, _ = p.RepairDates(t.Context(), ledger.RepairDatesQuery{Mend: true})
				p.faces.onWrite(nil)
			case 3:
				if len(posted) > 0 {
					_, _ = p.Reverse(t.Context(), reversing(posted[rnd.IntN(len(posted))]))
				}
			default:
				at := rnd.Perm(len(ids))
				posting := transfer(ids[at[0]], ids[at[1]], "1")
				if rnd.IntN(3) == 0 {
					posting = ledger.DepositInto(ids[at[0]], usd("1"))
				}
				if r, err := p.Post(t.Context(), posting); err == nil {
					posted = append(posted, r.Transaction.ID)
				}
			}
			p.clock.Move(time.Millisecond)
		}
		b.balanced(fmt.Sprintf("seed %d, before the last repair", seed))
		b.clock.Set(start.Add(time.Hour))
		if r := b.repairDates(true); !r.Mended() {
			t.Errorf("seed %d: %+v", seed, r)
		}
		b.wantNothingAhead()
		b.balanced(fmt.Sprintf("seed %d, after it", seed))
		if t.Failed() {
			return
		}
	}
}

// now returns a right instant that is not before another one of the processes.
func (b *books) now(all [2]*books) time.Time {
	at := start
	for _, p := range all {
		if now := p.clock.Now(); now.Before(future) && now.After(at) {
			at = now
		}
	}
	return at.Add(time.Millisecond)
}

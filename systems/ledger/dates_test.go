package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// future is what a wrong clock shows.
var future = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)

// repairDates runs the repair.
func (b *books) repairDates(mend bool) ledger.DateRepair {
	b.t.Helper()
	r, err := b.RepairDates(context.WithoutCancel(b.t.Context()),
		ledger.RepairDatesQuery{Mend: mend})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// wantRepair fails the test unless a repair found so many dates and has the verdict.
func (b *books) wantRepair(r ledger.DateRepair, transactions, accounts, openings int,
	verdict ledger.Verdict,
) {
	b.t.Helper()
	if r.Transactions != transactions || r.Accounts != accounts || r.Openings != openings ||
		r.Verdict() != verdict {
		b.t.Errorf("%d transactions, %d accounts, %d openings, %s; want %d, %d, %d, %s: %+v",
			r.Transactions, r.Accounts, r.Openings, r.Verdict(), transactions, accounts,
			openings, verdict, r)
	}
}

// balanced fails the test unless everything was compared and nothing diverges.
func (b *books) balanced(when string) ledger.Reconciliation {
	b.t.Helper()
	r := b.everything()
	if !r.Balanced() {
		b.t.Errorf("%s: %s: %v %v", when, r.Verdict(), r.Divergences, r.Undecided)
	}
	return r
}

// statement returns the statement of a year.
func (b *books) statementOf(id ledger.AccountID, year int) ledger.Statement {
	b.t.Helper()
	s, err := b.Statement(b.t.Context(), ledger.StatementQuery{
		AccountID: id,
		From:      ledger.Date(fmt.Sprintf("%d-01-01", year)),
		To:        ledger.Date(fmt.Sprintf("%d-12-31", year)),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// One posting of one bad second, and the others that it dated when accounts took over its date.
func TestRepairDatesOfOneBadSecond(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for _, id := range []ledger.AccountID{"a", "b", "d"} {
		b.account(id, usd("0"))
	}
	b.post(keyed("seed", ledger.DepositInto("a", usd("100"))))
	b.clock.Set(future)
	bad := b.post(keyed("bad", ledger.DepositInto("a", usd("1"))))
	b.post(keyed("b", ledger.DepositInto("b", usd("5"))))
	b.post(keyed("move", transfer("b", "d", "5")))
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	b.clock.Set(now)
	deposit := keyed("later", ledger.DepositInto("d", usd("7")))
	_, err := b.Post(t.Context(), deposit)
	wantProblem(t, err, ledger.ErrAccountFromFuture)
	b.balanced("before")

	writes := b.faces.writes()
	b.wantRepair(b.repairDates(false), 3, 4, 0, ledger.VerdictFaulty)
	if n := b.faces.writes(); n != writes {
		t.Errorf("without mend it wrote %d times", n-writes)
	}
	r := b.repairDates(true)
	b.wantRepair(r, 3, 4, 0, ledger.VerdictSound)
	for _, f := range r.Faults {
		if !f.Mended || !f.Is.Equal(now) || !f.Was.Equal(future) {
			t.Errorf("%+v", f)
		}
	}
	b.balanced("after")

	if r := b.post(deposit); !r.Transaction.CreatedAt.Equal(now) {
		t.Errorf("the next posting is dated %s", r.Transaction.CreatedAt)
	}
	s := b.statementOf("d", 2026)
	if s.Closing != usd("12") || len(s.Legs) != 2 {
		t.Errorf("the statement closes at %s with %d legs", s.Closing, len(s.Legs))
	}
	again := b.post(keyed("bad", ledger.DepositInto("a", usd("1"))))
	if !again.Replayed || again.Transaction.ID != bad.Transaction.ID ||
		!again.Transaction.CreatedAt.Equal(now) {
		t.Errorf("the repeat got %+v", again)
	}
	if r := b.balanced("finally"); r.Transactions != 5 {
		t.Errorf("%d transactions", r.Transactions)
	}
	writes = b.faces.writes()
	b.wantRepair(b.repairDates(true), 0, 0, 0, ledger.VerdictSound)
	if n := b.faces.writes(); n != writes {
		t.Errorf("a repeat wrote %d times", n-writes)
	}
}

// aheadBooks makes books with postings of a clock that was ahead, in two currencies, with an
// exchange, a reversal inside that time, one of an earlier transaction, an account and a merchant
// that were opened then, several instants, and more shards since.
func aheadBooks(t *testing.T) (b *books, transactions, accounts int) {
	t.Helper()
	b = openBooks(t, ledger.Options{})
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b.account("alice", usd("100"))
	b.account("bob", usd("100"))
	b.account("kiri", nzd("100"))
	early := b.post(keyed("early", transfer("alice", "bob", "3")))
	b.clock.Set(future)
	b.account("zoe", usd("0"))
	must(b.CreateMerchant(t.Context(), ledger.NewMerchant{ID: "shop", Name: "Shop",
		Category: "food", SettlementAccountID: "zoe", IdempotencyKey: "shop"}))
	b.post(keyed("f1", transfer("alice", "zoe", "10")))
	b.clock.Move(time.Hour)
	wrong := b.post(keyed("f2", transfer("bob", "zoe", "20")))
	b.clock.Move(-3 * time.Second) // It takes the hour of its accounts.
	must(b.Exchange(t.Context(), ledger.Exchanging{IdempotencyKey: "fx", From: "zoe",
		To: "kiri", Sold: usd("1"), Currency: "NZD",
		Rate: ledger.ExchangeRate{Above: money.DecimalFromInt(3), Below: money.DecimalFromInt(2)}}))
	must(b.Reverse(t.Context(), reversing(wrong.Transaction.ID)))
	must(b.Reverse(t.Context(), reversing(early.Transaction.ID)))
	b.post(ledger.Posting{Type: "split", Legs: []ledger.PostingLeg{
		{AccountID: "alice", Type: ledger.Debit, Amount: usd("1")},
		{AccountID: "bob", Type: ledger.Debit, Amount: usd("2")},
		{AccountID: "zoe", Type: ledger.Credit, Amount: usd("3")},
		{AccountID: "alice", Type: ledger.Credit, Amount: usd("4")},
		{AccountID: "bob", Type: ledger.Debit, Amount: usd("4")},
	}})
	b.clock.Set(start.Add(48 * time.Hour))
	must(b.Grow(t.Context(), 4, start.Add(24*time.Hour)))
	// A transaction that was spread while the clock was ahead, and one that was not.
	b.clock.Set(future.Add(2 * time.Hour))
	b.post(keyed("f3", transfer("alice", "bob", "1")))
	b.clock.Set(start.Add(48 * time.Hour))
	return b, 7, 6
}

// ledgerState is what a repair must not change.
func (b *books) ledgerState() map[string]string {
	state := map[string]string{}
	for _, item := range b.itemsOf() {
		text := ""
		for _, name := range []string{"Balance", "BalanceAfter", "AccountVersion", "Amount",
			"IdempotencyKey", "ReversedBy", "ReversalOf", "RequestHash", "Version", "Revision",
			"Status", "GSI2PK"} {
			if v, ok := item[name]; ok {
				text += fmt.Sprintf("%s=%v;", name, v)
			}
		}
		state[item["PK"].S()+" "+item["SK"].S()] = text
	}
	return state
}

// wantNothingAhead fails the test if any attribute or key has a date in the future.
func (b *books) wantNothingAhead() {
	b.t.Helper()
	for _, item := range b.itemsOf() {
		for name, v := range item {
			if text := fmt.Sprint(v); len(text) > 3 && containsYear(text) {
				b.t.Errorf("%s %s has %s %s", item["PK"].S(), item["SK"].S(), name, text)
			}
		}
	}
}

func containsYear(text string) bool {
	for i := range len(text) - 4 {
		if text[i:i+5] == "2099-" {
			return true
		}
	}
	return false
}

func TestRepairDatesOfManyKinds(t *testing.T) {
	b, transactions, accounts := aheadBooks(t)
	b.balanced("before")
	before := b.ledgerState()
	r := b.repairDates(true)
	// The account zoe with its entry, @exchange of two currencies with theirs, and the merchant
	// with the record of its request.
	b.wantRepair(r, transactions, accounts, 8, ledger.VerdictSound)
	b.wantNothingAhead()
	b.balanced("after")
	after := b.ledgerState()
	for key, text := range before {
		if after[key] != text {
			t.Errorf("%s was %s and is %s", key, text, after[key])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d items, %d before", len(after), len(before))
	}
	page, err := b.TransactionsByStatus(t.Context(), ledger.StatusQuery{Status: ledger.Completed})
	if err != nil || len(page.Items) != 9 {
		t.Errorf("%d completed transactions, %v", len(page.Items), err)
	}
	for _, id := range []ledger.AccountID{"alice", "bob", "zoe", "kiri"} {
		s := b.statementOf(id, 2026)
		if s.Closing != b.balance(id) {
			t.Errorf("the statement of %s closes at %s, its balance is %s", id, s.Closing,
				b.balance(id))
		}
	}
	b.post(transfer("zoe", "alice", "1"))
	b.post(ledger.DepositInto("bob", usd("1")))
	b.balanced("finally")
}

// A run may stop at any write, before or after it happened. The books reconcile then, and another
// run mends the rest, also with a clock that differs a little.
func TestRepairDatesStopsAnywhere(t *testing.T) {
	errStop := errors.New("stop")
	for _, skew := range []time.Duration{-ledger.ClockSkewMax / 2, time.Second} {
		for stop := 1; ; stop += storetest.Stride() {
			b, _, _ := aheadBooks(t)
			n := 0
			b.faces.onWrite(func(*dynamo.TransactWriteInput) error {
				if n++; n == stop {
					return errStop
				}
				return nil
			})
			_, err := b.RepairDates(t.Context(), ledger.RepairDatesQuery{Mend: true})
			b.faces.onWrite(nil)
			if err == nil {
				if stop < 8 {
					t.Errorf("only %d writes", stop)
				}
				break
			}
			if !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			b.balanced(fmt.Sprintf("stopped at write %d", stop))
			b.clock.Move(skew)
			if r := b.repairDates(true); !r.Mended() {
				t.Errorf("stopped at write %d: %+v", stop, r)
			}
			b.wantNothingAhead()
			b.balanced(fmt.Sprintf("stopped at write %d and repeated", stop))
		}
	}
}

// Another process remembers accounts as they were before the repair. It is served after it, and
// dates nothing in the future.
func TestRepairDatesBehindOtherProcesses(t *testing.T) {
	for name, opts := range batching {
		t.Run(name, func(t *testing.T) {
			both := processes(t, opts)
			b := both[0]
			b.account("alice", usd("100"))
			b.account("bob", usd("100"))
			both[1].clock.Set(future)
			wrong := both[1].post(keyed("f", transfer("alice", "bob", "1")))
			both[1].clock.Set(start)
			for _, p := range both { // Both remember the accounts now.
				_, err := p.Post(t.Context(), transfer("bob", "alice", "1"))
				wantProblem(t, err, ledger.ErrAccountFromFuture)
			}
			b.wantRepair(b.repairDates(true), 1, 2, 0, ledger.VerdictSound)
			for _, p := range both {
				r := p.post(transfer("bob", "alice", "1"))
				if r.Transaction.CreatedAt.After(start.Add(ledger.ClockSkewMax)) {
					t.Errorf("dated %s", r.Transaction.CreatedAt)
				}
			}
			if _, err := b.Reverse(t.Context(), reversing(wrong.Transaction.ID)); err != nil {
				t.Error(err)
			}
			b.wantNothingAhead()
			b.balanced("after")
		})
	}
}

// A posting or a reversal that another caller writes between the reads and the write of a
// transaction with the newest leg of an account makes that write begin again.
func TestRepairDatesWhileOthersPost(t *testing.T) {
	for name, meet := range map[string]func(b *books, last ledger.TransactionID) error{
		"posting": func(b *books, _ ledger.TransactionID) error {
			_, err := b.Post(t.Context(), transfer("bob", "carol", "1"))
			return err
		},
		"reversal": func(b *books, last ledger.TransactionID) error {
			_, err := b.Reverse(t.Context(), reversing(last))
			return err
		},
		"repair": func(b *books, _ ledger.TransactionID) error {
			at := b.clock.Now()
			defer b.clock.Set(at)
			b.clock.Set(start.Add(time.Second))
			b.repairDates(true)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			both := processes(t, ledger.Options{})
			b, other := both[0], both[1]
			b.account("alice", usd("100"))
			b.account("bob", usd("100"))
			b.account("carol", usd("100"))
			other.clock.Set(future)
			var last ledger.TransactionID
			for range 4 {
				last = other.post(transfer("alice", "bob", "1")).Transaction.ID
			}
			met := false
			b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
				switch {
				case met:
					return errors.New("stop")
				case writes(in, "ACCOUNT#bob"):
					met = true
					return meet(other, last)
				}
				return nil
			})
			_, err := b.RepairDates(t.Context(), ledger.RepairDatesQuery{Mend: true})
			b.faces.onWrite(nil)
			if !met || err == nil && name != "repair" {
				t.Errorf("met: %t, %v", met, err)
			}
			b.balanced("stopped after " + name)
			if r := b.repairDates(true); !r.Mended() {
				t.Errorf("%+v", r)
			}
			b.wantNothingAhead()
			b.balanced("after")
		})
	}
}

// writes reports whether a write of the store changes an item of a partition.
func writes(in *dynamo.TransactWriteInput, partition string) bool {
	return slices.ContainsFunc(in.Items, func(i dynamo.TransactWriteItem) bool {
		return i.Update != nil && i.Update.Key["PK"].S() == partition
	})
}

// A write whose answer was lost counts once.
func TestRepairDatesCountsALostAnswer(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("100"))
	b.account("bob", usd("100"))
	b.clock.Set(future)
	b.post(transfer("alice", "bob", "1"))
	b.clock.Set(start)
	lose := true
	b.faces.onWrite(func(in *dynamo.TransactWriteInput) error {
		if !lose {
			return nil
		}
		lose = false
		if _, err := b.db.TransactWrite(context.Background(), in); err != nil {
			return err
		}
		return &dynamo.Error{Code: dynamo.CodeInternalServerError}
	})
	b.wantRepair(b.repairDates(true), 1, 2, 0, ledger.VerdictSound)
	b.balanced("after")
}

// afterQuery calls a function once, after the answer to the first query.
type afterQuery struct {
	dynamo.DB
	then func()
}

func (d *afterQuery) Query(
	ctx context.Context, in *dynamo.QueryInput,
) (*dynamo.QueryOutput, error) {
	out, err := d.DB.Query(ctx, in)
	if then := d.then; then != nil {
		d.then = nil
		then()
	}
	return out, err
}

// A reversal that has read its original before the repair is accepted after it, and marks the
// original in the shard of its new date.
func TestAReversalThatMeetsARepair(t *testing.T) {
	for _, shards := range []int{1, 4} {
		both := processes(t, ledger.Options{})
		b, other := both[0], both[1]
		b.account("alice", usd("100"))
		b.account("bob", usd("100"))
		if shards > 1 {
			if _, err := b.Grow(t.Context(), shards, start.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		b.clock.Set(future)
		wrong := b.post(transfer("alice", "bob", "1"))
		b.clock.Set(start)
		other.faces.DB = &afterQuery{other.faces.DB, func() { b.repairDates(true) }}
		r, err := other.Reverse(t.Context(), reversing(wrong.Transaction.ID))
		if err != nil || !r.Transaction.CreatedAt.Equal(start) {
			t.Errorf("%d shards: dated %s, %v", shards, r.Transaction.CreatedAt, err)
		}
		b.balanced("after")
		b.wantNothingAhead()
		for _, status := range []ledger.TransactionStatus{ledger.Completed, ledger.Reversed} {
			page, err := b.TransactionsByStatus(t.Context(), ledger.StatusQuery{Status: status})
			want := 1
			if status == ledger.Completed {
				want = 3
			}
			if err != nil || len(page.Items) != want {
				t.Errorf("%d shards: %d are %s, want %d, %v", shards, len(page.Items), status,
					want, err)
			}
		}
	}
}

// Right postings of a run that takes long are not ahead of the clock.
func TestRepairDatesMovesWithTheClock(t *testing.T) {
	both := processes(t, ledger.Options{})
	b, other := both[0], both[1]
	for _, id := range []ledger.AccountID{"alice", "bob", "carol", "dave"} {
		b.account(id, usd("100"))
	}
	other.clock.Set(future)
	other.post(transfer("alice", "bob", "1"))
	other.clock.Set(start.Add(time.Hour))
	var right []ledger.TransactionID
	b.faces.onWrite(func(*dynamo.TransactWriteInput) error {
		if right == nil {
			b.clock.Set(start.Add(time.Hour))
			for range 20 { // Some of them are in the pages that follow.
				right = append(right, other.post(transfer("carol", "dave", "1")).Transaction.ID)
			}
		}
		return nil
	})
	r, err := b.RepairDates(t.Context(),
		ledger.DatePagesOf(1, ledger.RepairDatesQuery{Mend: true}))
	if err != nil {
		t.Fatal(err)
	}
	b.wantRepair(r, 1, 2, 0, ledger.VerdictSound)
	for _, id := range right {
		e, err := b.Entry(t.Context(), id)
		if err != nil || !e.Transaction.CreatedAt.Equal(start.Add(time.Hour)) {
			t.Errorf("the right posting is dated %s, %v", e.Transaction.CreatedAt, err)
		}
	}
	b.balanced("after")
}

// What no run can mend is named, with the reason, and nothing else is held up by it.
func TestRepairDatesLeavesWhatItCannotRead(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for _, id := range []ledger.AccountID{"a", "b", "c", "d"} {
		b.account(id, usd("10"))
	}
	b.clock.Set(future)
	broken := b.post(transfer("a", "b", "1"))
	after := b.post(transfer("b", "a", "2"))
	free := b.post(transfer("c", "d", "1"))
	b.clock.Set(start)
	for _, item := range b.itemsOf() {
		if item["PK"].S() == "TXN#"+string(broken.Transaction.ID) && item["SK"].S() == "METADATA" {
			item["Amount"] = dynamo.S("much")
			b.putItem(item)
		}
	}
	r := b.repairDates(true)
	b.wantRepair(r, 3, 4, 0, ledger.VerdictFaulty)
	why := map[ledger.TransactionID]bool{}
	for _, f := range r.Faults {
		if f.TransactionID != "" {
			why[f.TransactionID] = f.Mended
		}
		if !f.Mended && f.Why == "" {
			t.Errorf("no reason: %+v", f)
		}
	}
	if why[broken.Transaction.ID] || why[after.Transaction.ID] || !why[free.Transaction.ID] {
		t.Errorf("mended: %v", why)
	}
	b.post(transfer("d", "c", "1"))
	_, err := b.Post(t.Context(), transfer("a", "b", "1"))
	wantProblem(t, err, ledger.ErrAccountFromFuture)
}

// An account whose LastPostedAt alone is ahead gets the date of its newest leg.
func TestRepairDatesOfAnAccountAlone(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("100"))
	b.account("bob", usd("100"))
	for _, item := range b.itemsOf() {
		if item["PK"].S() == "ACCOUNT#alice" {
			item["LastPostedAt"] = dynamo.S("2099-01-01T00:00:00.000Z")
			b.putItem(item)
		}
	}
	b.wantRepair(b.repairDates(true), 0, 1, 0, ledger.VerdictSound)
	b.post(transfer("alice", "bob", "1"))
	b.balanced("after")
}

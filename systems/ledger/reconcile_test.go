package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// threeDays has postings on three days, reversals and two currencies.
func threeDays(t *testing.T, opts ledger.Options) *books {
	b := openBooks(t, opts)
	for i := range 10 {
		b.account(accountID(i), usd("100"))
		b.account(accountID(i)+"-nz", nzd("100"))
	}
	for day := range 3 {
		b.clock.Set(start.AddDate(0, 0, day))
		for i := range 60 {
			b.clock.Move(time.Second)
			r := b.post(ledger.TransferBetween(accountID(i%10), accountID((i+1)%10), usd("1.5")))
			from, to := accountID(i%10)+"-nz", accountID((i+3)%10)+"-nz"
			b.post(ledger.TransferBetween(from, to, nzd("2")))
			if i%7 == 0 {
				if _, err := b.Reverse(t.Context(), reversing(r.Transaction.ID)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	b.clock.Set(start.AddDate(0, 0, 10))
	return b
}

var oneDay = ledger.ReconcileQuery{From: "2026-01-03", To: "2026-01-03"}

func TestBooksThatAreRight(t *testing.T) {
	b := threeDays(t, ledger.Options{})
	r, err := b.Reconcile(t.Context(), oneDay)
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Reconciliation{
		From: "2026-01-03", To: "2026-01-03", Until: time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC),
		Items:        3*(20+3*(60*2+9)) + 2*(20+2) + 1,
		Transactions: 60*2 + 9, Legs: 2 * (60*2 + 9), Accounts: 20 + 2,
		Totals: []ledger.CurrencyTotal{
			{Currency: "NZD", Debits: nzd("120"), Credits: nzd("120"), Balances: nzd("0")},
			{Currency: "USD", Debits: usd("103.5"), Credits: usd("103.5"), Balances: usd("0")},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" || !r.Balanced() {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all := b.sound(); all.Transactions != 20+3*(60*2+9) {
		t.Errorf("over all days there are %d transactions", all.Transactions)
	}
	empty, err := b.Reconcile(t.Context(),
		ledger.ReconcileQuery{From: "2025-01-01", To: "2025-12-31"})
	if err != nil || empty.Transactions != 0 || !empty.Balanced() {
		t.Errorf("an empty year: %+v, %v", empty, err)
	}
}

// A run that ended anywhere can be continued, with the same outcome.
func TestReconciliationContinues(t *testing.T) {
	b := threeDays(t, ledger.Options{StatusShards: 3})
	q := ledger.PagesOf(10, ledger.ReconcileQuery{From: "2026-01-01", To: "2026-01-31"})
	var cursors []string
	q.Progress = func(p ledger.ReconcileProgress) { cursors = append(cursors, p.Cursor) }
	want, err := b.Reconcile(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(cursors) < 50 {
		t.Fatalf("there were %d steps", len(cursors))
	}
	for i := 0; i < len(cursors); i += 1 + len(cursors)/20 {
		cursor := cursors[i]
		q.Progress, q.Cursor = nil, cursor
		got, err := b.Reconcile(t.Context(), q)
		if err != nil {
			t.Fatalf("from step %d: %v", i, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from step %d (-whole +continued):\n%s", i, diff)
		}
	}
	q.To = "2026-02-01"
	for _, cursor := range []string{cursors[0], "x", "e30"} {
		q.Cursor = cursor
		if _, err := b.Reconcile(t.Context(), q); !isProblem(err, ledger.ErrInvalidCursor) {
			t.Errorf("with other days: %v", err)
		}
	}
}

// Each way in which a table can be damaged is found and named.
func TestDivergences(t *testing.T) {
	type damage struct {
		want []string
		do   func(b *books, e ledger.Entry)
	}
	set := func(name string, v dynamo.Value) dynamo.Expressions {
		return dynamo.Expressions{
			ExpressionAttributeNames:  map[string]string{"#n": name},
			ExpressionAttributeValues: map[string]dynamo.Value{":v": v},
		}
	}
	const update = "SET #n = :v"
	header := func(b *books, e ledger.Entry, name string, v dynamo.Value) {
		b.update("TXN#"+string(e.Transaction.ID), "METADATA", update, set(name, v))
	}
	leg := func(b *books, e ledger.Entry, name string, v dynamo.Value) {
		b.update("TXN#"+string(e.Transaction.ID), "LEG#"+string(e.Legs[0].ID), update, set(name, v))
	}
	remove := func(b *books, pk, sk string) {
		err := storetest.Retry(func() error {
			_, err := b.db.Delete(b.t.Context(), &dynamo.DeleteInput{
				TableName: "FinancialTransactions",
				Key:       dynamo.Key{"PK": dynamo.S(pk), "SK": dynamo.S(sk)},
			})
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	for name, c := range map[string]damage{
		"an amount of a leg": {
			[]string{"transaction_unbalanced", "balance_after_wrong", "totals_differ?"},
			func(b *books, e ledger.Entry) { leg(b, e, "Amount", dynamo.N("9")) },
		},
		"the amount of a header": {
			[]string{"amount_wrong"},
			func(b *books, e ledger.Entry) { header(b, e, "Amount", dynamo.N("9")) },
		},
		"a balance on a leg": {
			[]string{"balance_after_wrong"},
			func(b *books, e ledger.Entry) { leg(b, e, "BalanceAfter", dynamo.N("9")) },
		},
		"a leg that is gone": {
			[]string{"transaction_unbalanced", "version_gap"},
			func(b *books, e ledger.Entry) {
				remove(b, "TXN#"+string(e.Transaction.ID), "LEG#"+string(e.Legs[0].ID))
			},
		},
		"a leg of another account": {
			[]string{"version_gap"},
			func(b *books, e ledger.Entry) {
				b.update("TXN#"+string(e.Transaction.ID), "LEG#"+string(e.Legs[0].ID),
					"SET AccountID = :a, GSI1PK = :p", dynamo.Expressions{
						ExpressionAttributeValues: map[string]dynamo.Value{
							":a": dynamo.S("a0009"), ":p": dynamo.S("ACCOUNT#a0009"),
						},
					})
			},
		},
		"a stored balance": {
			[]string{"balance_wrong"},
			func(b *books, e ledger.Entry) {
				b.update("ACCOUNT#a0005", "METADATA", update, set("Balance", dynamo.N("9")))
			},
		},
		"an account that is gone": {
			[]string{"account_missing", "balances_not_zero"},
			func(b *books, e ledger.Entry) { remove(b, "ACCOUNT#a0005", "METADATA") },
		},
		"a header that is gone": {
			[]string{"header_missing"},
			func(b *books, e ledger.Entry) {
				remove(b, "TXN#"+string(e.Transaction.ID), "METADATA")
			},
		},
		"an account that is not in the directory": {
			[]string{"account_unlisted"},
			func(b *books, e ledger.Entry) {
				for shard := range 4 {
					remove(b, fmt.Sprintf("@ledger#accounts#%d", shard), "ACCOUNT#a0005")
				}
			},
		},
		"a reversed transaction without a reversal": {
			[]string{"not_linked"},
			func(b *books, e ledger.Entry) { b.setStatus(e.Transaction.ID, "reversed") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := threeDays(t, ledger.Options{})
			b.clock.Set(start.AddDate(0, 0, 2).Add(time.Hour))
			e := b.post(transfer("a0005", "a0006", "3")).Entry
			b.post(transfer("a0005", "a0006", "1"))
			b.clock.Set(start.AddDate(0, 0, 10))
			c.do(b, e)
			day := ledger.ReconcileQuery{From: "2026-01-04", To: "2026-01-04"}
			r, err := b.Reconcile(t.Context(), day)
			if err != nil {
				t.Fatal(err)
			}
			if r.Balanced() {
				t.Fatalf("nothing was found: %+v", r)
			}
			var got []string
			for _, d := range r.Divergences {
				got = append(got, string(d.Kind))
				if (d.Kind == "transaction_unbalanced" || d.Kind == "amount_wrong") &&
					d.TransactionID != e.Transaction.ID {
					t.Errorf("the wrong transaction is blamed: %s", d)
				}
			}
			for _, want := range c.want {
				if kind, maybe := strings.CutSuffix(want, "?"); !maybe && !contains(got, kind) {
					t.Errorf("found %v, want %v", r.Divergences, c.want)
				}
			}
			// Other days are not to blame for it.
			everywhere := []string{"balance_wrong", "account_missing", "account_unlisted"}
			if !contains(everywhere, c.want[0]) {
				if r, err := b.Reconcile(t.Context(), oneDay); err != nil || !r.Balanced() {
					t.Errorf("on another day: %v, %v", r.Divergences, err)
				}
			}
		})
	}
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// Postings that go on while the books are read are no divergence.
func TestReconcileWhileOthersPost(t *testing.T) {
	b := openBooks(t, ledger.Options{Now: time.Now})
	for i := range 5 {
		b.account(accountID(i), usd("100"))
	}
	// Each reconciliation is accompanied by some postings, so that the books do not outgrow it.
	turns, done := make(chan struct{}, 100), make(chan error)
	go func() {
		var last ledger.TransactionID
		i := 0
		done <- func() error {
			for range turns {
				r, err := b.Post(b.t.Context(),
					ledger.TransferBetween(accountID(i%5), accountID((i+1)%5), usd("0.01")))
				if err != nil {
					return err
				}
				if i%5 == 4 {
					_, err = b.Reverse(b.t.Context(), reversing(last))
				}
				if err != nil && problem.KindOf(err) == problem.Internal {
					return err
				}
				last = r.Transaction.ID
				i++
			}
			return nil
		}()
	}()
	for range storetest.Rounds(5) {
		for range cap(turns) - len(turns) {
			turns <- struct{}{}
		}
		r, err := b.Reconcile(t.Context(),
			ledger.ReconcileQuery{From: "2020-01-01", To: "2090-01-01"})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Divergences {
			t.Error(d)
		}
	}
	close(turns)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if r := b.sound(); !r.Balanced() {
		t.Error("the books are at rest")
	}
}

func TestReconcileIsRefused(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for _, q := range []ledger.ReconcileQuery{
		{Limit: -1}, {Skip: -1}, {Limit: ledger.FindingsMax + 1},
		{From: "2026-01-02", To: "2026-01-01"}, {From: "2026-1-1", To: "2026-01-02"},
	} {
		if _, err := b.Reconcile(t.Context(), q); !isProblem(err, ledger.ErrInvalidRequest) {
			t.Errorf("%+v: got %v", q, err)
		}
	}
	b.account("alice", usd("1"))
	broken := errors.New("the disk is gone")
	b.faces.failReads(broken)
	if _, err := b.Reconcile(t.Context(), oneDay); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// Amounts of 38 digits are kept exactly; their sums may be beyond what can be held, which is no
// divergence.
func TestTheGreatestAmounts(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("0"))
	half := money.MustParse("49999999999999999999999999999999999999", "USD")
	b.post(ledger.TransferBetween(ledger.Clearing, "alice", half))
	b.wantBalance("alice", half)
	b.post(ledger.TransferBetween(ledger.Suspense, "alice", half))
	b.wantBalance("alice", money.MustParse("99999999999999999999999999999999999998", "USD"))
	_, err := b.Post(t.Context(), transfer(ledger.Clearing, "alice", "2"))
	if !isProblem(err, ledger.ErrBalanceTooLarge) {
		t.Errorf("got %v", err)
	}
	b.post(ledger.TransferBetween("alice", ledger.Suspense, half))
	b.post(ledger.TransferBetween("alice", ledger.Clearing, half))
	b.wantBalance("alice", usd("0"))
	r := b.sound()
	if len(r.Totals) != 1 || !r.Totals[0].Beyond {
		t.Errorf("totals are %+v", r.Totals)
	}
	wide := money.MustParse("170141183460469231731687303715884105.72", "USD") // 2^127 cents
	b.post(ledger.TransferBetween(ledger.Clearing, "alice", wide))
	b.wantBalance("alice", wide)
}

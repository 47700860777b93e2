package ledger_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// byStatus reads all pages of a question by status.
func (b *books) byStatus(q ledger.StatusQuery) (found []ledger.TransactionID) {
	b.t.Helper()
	for {
		page, err := b.TransactionsByStatus(b.t.Context(), q)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, item := range page.Items {
			found = append(found, item.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return found
		}
	}
}

// A range includes its first instant, to the millisecond, and excludes its last.
func TestTransactionsByStatusAndTime(t *testing.T) {
	for _, shards := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d shards", shards), func(t *testing.T) {
			b := openBooks(t, ledger.Options{StatusShards: shards})
			b.clock.Set(start.AddDate(0, 0, -1))
			b.account("alice", usd("1000"))
			b.account("bob", usd("0"))
			midnight := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
			var ids []ledger.TransactionID
			at := func(i int) time.Time {
				return midnight.Add(time.Duration(i-20) * time.Millisecond)
			}
			for i := range 40 {
				b.clock.Set(at(i).Add(time.Duration(i%2) * 999 * time.Microsecond))
				ids = append(ids, b.post(coffee()).Transaction.ID)
			}
			for _, c := range []struct{ from, to int }{
				{0, 40}, {0, 20}, {20, 40}, {5, 6}, {5, 5}, {39, 40},
			} {
				want := ids[c.from:c.to]
				q := ledger.StatusQuery{
					Status: ledger.Completed, From: new(at(c.from)), To: new(at(c.to)),
					PageQuery: pagesOf(7),
				}
				if diff := cmp.Diff(want, b.byStatus(q), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("from %d to %d (-want +got):\n%s", c.from, c.to, diff)
				}
				q.NewestFirst = true
				newest := b.byStatus(q)
				slices.Reverse(newest)
				if diff := cmp.Diff(want, newest, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("newest first, from %d to %d (-want +got):\n%s", c.from, c.to, diff)
				}
			}
			// Open ends.
			if got := b.byStatus(ledger.StatusQuery{Status: ledger.Completed}); len(got) != 41 {
				t.Errorf("there are %d in all", len(got))
			}
			late := ledger.StatusQuery{Status: ledger.Completed, From: new(at(30))}
			if got := b.byStatus(late); len(got) != 10 {
				t.Errorf("there are %d from there on", len(got))
			}
			if got := b.byStatus(ledger.StatusQuery{Status: ledger.Failed}); len(got) != 0 {
				t.Errorf("%d failed", len(got))
			}
			for _, q := range []ledger.StatusQuery{
				{}, {Status: "done"}, {Status: ledger.Completed, From: new(at(2)), To: new(at(1))},
			} {
				_, err := b.TransactionsByStatus(t.Context(), q)
				wantProblem(t, err, ledger.ErrInvalidRequest)
			}
		})
	}
}

// With more shards, keys differ only in a number at the end; and shards may grow in use.
func TestStatusShards(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("100"))
	b.account("bob", usd("0"))
	for range 10 {
		b.clock.Move(time.Second)
		b.post(coffee())
	}
	if n := len(b.raw("GSI1", "STATUS#completed")); n != 11 {
		t.Errorf("%d are in STATUS#completed", n)
	}
	if _, err := b.Grow(t.Context(), 4, b.clock.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	grown := booksOn(t, b.db, ledger.Options{Now: b.clock.Now})
	b.clock.Move(time.Hour)
	var last ledger.TransactionID
	for range 40 {
		b.clock.Move(time.Second)
		last = grown.post(transfer("alice", "bob", "0.01")).Transaction.ID
	}
	total := 0
	for shard := range 4 {
		n := len(b.raw("GSI1", fmt.Sprintf("STATUS#completed#%d", shard)))
		if n == 0 {
			t.Errorf("shard %d is empty", shard)
		}
		total += n
	}
	if total != 40 {
		t.Errorf("%d are in the new shards", total)
	}
	all := grown.byStatus(ledger.StatusQuery{Status: ledger.Completed, PageQuery: pagesOf(9)})
	if len(all) != 51 || all[50] != last {
		t.Errorf("%d are found, of 51", len(all))
	}
	if _, err := grown.Reverse(t.Context(), reversing(last)); err != nil {
		t.Error(err)
	}
	if all := grown.byStatus(ledger.StatusQuery{Status: ledger.Reversed}); len(all) != 1 {
		t.Errorf("%d are reversed", len(all))
	}
	grown.sound()
}

func TestOptionsAreChecked(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	for _, bad := range []ledger.Options{
		{StatusShards: 65}, {StatusShards: -1}, {Tenant: "a#b"}, {Tenant: "@a"},
	} {
		if _, err := ledger.New(b.store, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// What each question costs: a read of up to 4 KB is a whole unit, or a half from an index. A
// payment writes five items, two units each in a transaction, and six entries of indexes, one unit
// each: the header's two, and one of each leg and account.
func TestUnits(t *testing.T) {
	b := aliceAndBob(t, ledger.Options{})
	if embedded, ok := b.db.(*engine.DB); ok { // faults would cost calls
		if err := embedded.SetFaults(engine.Faults{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.CreateMerchant(t.Context(), ledger.NewMerchant{ID: "m", Name: "M"}); err != nil {
		t.Fatal(err)
	}
	r := b.post(keyed("k", coffee()))
	for i := range 99 {
		b.post(keyed(fmt.Sprint(i), transfer("alice", "bob", "0.01")))
	}
	id := r.Transaction.ID
	for _, c := range []struct {
		name        string
		read, write float64
		calls       int
		ask         func(ctx context.Context) error
	}{
		{"merchant by id", 0.5, 0, 1, func(ctx context.Context) error {
			_, err := b.Merchant(ctx, "m")
			return err
		}},
		{"account by id", 1, 0, 1, func(ctx context.Context) error {
			_, err := b.Account(ctx, "alice")
			return err
		}},
		{"accounts of a user", 0.5, 0, 1, func(ctx context.Context) error {
			_, err := b.AccountsOfUser(ctx, "user-1", ledger.PageQuery{})
			return err
		}},
		{"transaction by id", 1, 0, 1, func(ctx context.Context) error {
			_, err := b.Transaction(ctx, id)
			return err
		}},
		{"transaction with its legs", 1, 0, 1, func(ctx context.Context) error {
			_, err := b.Entry(ctx, id)
			return err
		}},
		{"transaction by key", 0.5, 0, 1, func(ctx context.Context) error {
			_, err := b.TransactionByKey(ctx, "k")
			return err
		}},
		{"100 transactions by status", 5.5, 0, 2, func(ctx context.Context) error {
			_, err := b.TransactionsByStatus(ctx, ledger.StatusQuery{Status: ledger.Completed})
			return err
		}},
		{"100 legs of an account", 5, 0, 1, func(ctx context.Context) error {
			_, err := b.LegsOfAccount(ctx, ledger.LegsQuery{AccountID: "alice"})
			return err
		}},
		{"a statement of 100 rows", 7, 0, 4, func(ctx context.Context) error {
			_, err := b.Statement(ctx, ledger.StatementQuery{
				AccountID: "alice", From: "2026-01-01", To: "2026-12-31",
			})
			return err
		}},
		{"a payment", 0, 16, 1, func(ctx context.Context) error {
			_, err := b.Post(ctx, coffee())
			return err
		}},
		// A key of the caller's is looked for among the transactions of other programs first.
		{"a payment with a key", 0.5, 16, 2, func(ctx context.Context) error {
			_, err := b.Post(ctx, keyed("new", coffee()))
			return err
		}},
		{"a replay", 1.5, 0, 3, func(ctx context.Context) error {
			_, err := b.Post(ctx, keyed("k", coffee()))
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, meter := singletable.WithMeter(t.Context())
			if err := c.ask(ctx); err != nil {
				t.Fatal(err)
			}
			if meter.Read() != c.read || meter.Write() != c.write || meter.Calls() != c.calls {
				t.Errorf("it took %v read and %v write units in %d calls, want %v, %v and %d",
					meter.Read(), meter.Write(), meter.Calls(), c.read, c.write, c.calls)
			}
		})
	}
}

package statements

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/exchequer-dev/exchequer/money"
)

// spring is a clock of a time after the rows of these tests.
func spring() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// foreign writes a row as another program would: an item, and nothing else.
func foreign(t tb, p *Person, row Transaction) {
	t.Helper()
	row.UserID = p.id
	if err := modelOf(p).transactions.Put(context.Background(), p.store(), row); err != nil {
		t.Fatal(err)
	}
}

func checkTotals(t tb, p *Person, account string, o CheckOptions) Checked {
	t.Helper()
	c, err := p.CheckTotals(context.Background(), account, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestADifferenceThatAnotherProgramMadeIsFoundAndRepaired(t *testing.T) {
	p := newShelf(t, Options{Now: spring}).user(t, "someone", "a", "b")
	rows := put(t, p,
		Transaction{AccountID: "a", ID: "txn-1", Date: "2026-01-05", Amount: dec("-5"),
			Merchant: "M"},
		Transaction{AccountID: "a", ID: "txn-2", Date: "2026-02-05", Amount: dec("-7"),
			TagIDs: []string{"food"}},
		Transaction{AccountID: "b", Date: "2026-02-05", Amount: dec("3")})
	if c := checkTotals(t, p, "a", CheckOptions{}); c.Months != 2 || c.Rows != 2 || c.Differ != 0 {
		t.Fatalf("before anything: %+v", c)
	}
	// One row changed, one in a month that nothing tells of, and a sheet without rows.
	changed := *rows[1]
	changed.Amount = dec("-8")
	foreign(t, p, changed)
	foreign(t, p, Transaction{AccountID: "a", ID: "other", Date: "1999-12-31", Currency: "EUR",
		Amount: dec("1"), Merchant: "Elsewhere"})
	err := modelOf(p).sheets.Put(t.Context(), p.store(), Sheet{UserID: p.id, AccountID: "a",
		Month: "2026-01-01", Currency: "USD", Unnamed: Flow{Count: 1, In: dec("9")}, Version: 3})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	got := checkTotals(t, p, "a", CheckOptions{Progress: func(Checked) { told++ }})
	want := Checked{Months: 3, Rows: 3, Differ: 3, Differences: []Difference{
		{"1999-12", "EUR", "all", Flow{}, Flow{dec("1"), dec("0"), 1}},
		{"2026-01", "USD", "unnamed", Flow{dec("9"), dec("0"), 1}, Flow{}},
		{"2026-02", "NZD", "all", Flow{dec("0"), dec("-7"), 1}, Flow{dec("0"), dec("-8"), 1}},
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(money.Decimal.Equal)); diff != "" {
		t.Error(diff)
	}
	if told != 3 {
		t.Errorf("progress was told %d times", told)
	}
	if c := checkTotals(t, p, "a", CheckOptions{Repair: true}); c.Differ != 3 || c.Repaired != 3 {
		t.Errorf("repair: %+v", c)
	}
	if c := checkTotals(t, p, "a", CheckOptions{}); c.Differ != 0 || c.Rows != 3 {
		t.Errorf("after the repair: %+v", c)
	}
	// The row of the other program is one like all others from now on.
	row, err := p.Transaction(t.Context(), "a", "other")
	if err != nil || row.Version != 1 {
		t.Fatal(row, err)
	}
	after := row
	after.Amount = dec("2")
	writes := []change{{before: &row, after: &after}}
	if err := p.rows().write(t.Context(), nil, writes); err != nil {
		t.Fatal(err)
	}
	if c := checkTotals(t, p, "a", CheckOptions{}); c.Differ != 0 {
		t.Errorf("after a change of it: %+v", c)
	}
	if _, err := p.CheckTotals(t.Context(), "c", CheckOptions{}); !errors.Is(err, ErrNoAccount) {
		t.Error(err)
	}
}

// TestManyRowsOfAnotherProgramAreTakenIn has more of them than are written in as many writes as
// may be tried when others write meanwhile, and more bytes than one write takes.
func TestManyRowsOfAnotherProgramAreTakenIn(t *testing.T) {
	for name, c := range map[string]struct{ rows, bytes int }{
		"many":  {checkTries*rowsOfOneWrite + 5, 0},
		"large": {rowsOfOneWrite, 100 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			p := newShelf(t, Options{Now: spring}).user(t, "someone", "a")
			for i := range c.rows {
				foreign(t, p, Transaction{AccountID: "a", ID: fmt.Sprintf("row-%03d", i),
					Date: "2026-01-05", Currency: "NZD", Amount: dec("-1"),
					Annotations: []Annotation{{ID: "n", Text: full("x", c.bytes)}}})
			}
			got := checkTotals(t, p, "a", CheckOptions{Repair: true})
			if got.Differ != 1 || got.Repaired != 1 {
				t.Errorf("repair: %+v", got)
			}
			got = checkTotals(t, p, "a", CheckOptions{})
			if got.Differ != 0 || got.Rows != c.rows {
				t.Errorf("after the repair: %+v", got)
			}
		})
	}
}

func TestMerchantsBeyondTheLimitAreNoDifference(t *testing.T) {
	p := newShelf(t, Options{}).user(t, "someone", "a")
	var changes []change
	var rows []*Transaction
	for i := range MerchantsMax + 3 {
		rows = append(rows, &Transaction{AccountID: "a", ID: fmt.Sprintf("row-%03d", i),
			Date: "2026-01-05", Currency: "NZD", Amount: dec("-1"),
			Merchant: fmt.Sprintf("Merchant %03d", i)})
	}
	known := sheets{}
	flush := func() {
		if err := p.rows().write(t.Context(), known, changes); err != nil {
			t.Fatal(err)
		}
		changes = nil
	}
	for _, row := range rows {
		if changes = append(changes, change{after: row}); len(changes) == 90 {
			flush()
		}
	}
	flush()
	// One that was told apart goes and comes back, now among the rest.
	changes = []change{{before: rows[0]}}
	flush()
	back := *rows[0]
	changes = []change{{after: &back}}
	flush()
	if c := checkTotals(t, p, "a", CheckOptions{}); c.Differ != 0 || c.Rows != MerchantsMax+3 {
		t.Errorf("%+v", c)
	}
	lost := *rows[MerchantsMax+1]
	if err := modelOf(p).transactions.Delete(t.Context(), p.store(), lost); err != nil {
		t.Fatal(err)
	}
	if c := checkTotals(t, p, "a", CheckOptions{}); c.Differ != 1 {
		t.Errorf("%+v", c)
	}
}

// TestACheckAmongWritesFindsNothing checks while rows are written.
func TestACheckAmongWritesFindsNothing(t *testing.T) {
	p := newShelf(t, Options{}).user(t, "someone", "a")
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		for i := range 60 {
			put(t, p, Transaction{AccountID: "a", Amount: dec("-1"),
				Date: Date(fmt.Sprintf("2026-01-%02d", 1+i%28))})
		}
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		c, err := p.CheckTotals(t.Context(), "a", CheckOptions{})
		if err != nil && !errors.Is(err, ErrContended) || c.Differ != 0 {
			t.Fatal(c, err)
		}
	}
	group.Wait()
}

// TestACheckFindsWhatIsNotSo changes one random item behind the back of the package.
func TestACheckFindsWhatIsNotSo(t *testing.T) {
	shelf := newShelf(t, Options{})
	round := 0
	rounds(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		round++
		p := shelf.user(t, fmt.Sprintf("user-%d", round), "a")
		var rows []Transaction
		for i := range rapid.IntRange(1, 8).Draw(r, "rows") {
			row := *anyRow(r, "a", fmt.Sprintf("t%d", i))
			row.Splits = nil
			rows = append(rows, row)
		}
		written := put(r, p, rows...)
		if c := checkTotals(r, p, "a", CheckOptions{}); c.Differ != 0 {
			r.Fatalf("at first: %+v", c)
		}
		victim := *rapid.SampledFrom(written).Draw(r, "row")
		if rapid.Bool().Draw(r, "remove") {
			err := modelOf(p).transactions.Delete(context.Background(), p.store(), victim)
			if err != nil {
				r.Fatal(err)
			}
		} else {
			more, err := victim.Amount.Add(dec("0.01"))
			if err != nil {
				r.Fatal(err)
			}
			victim.Amount = more
			foreign(r, p, victim)
		}
		if c := checkTotals(r, p, "a", CheckOptions{Repair: true}); c.Differ != 1 {
			r.Fatalf("after the change: %+v", c)
		}
		if c := checkTotals(r, p, "a", CheckOptions{}); c.Differ != 0 {
			r.Fatalf("after the repair: %+v", c)
		}
	})
}

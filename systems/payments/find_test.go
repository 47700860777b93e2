package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// pages reads a list to its end.
func pages(
	t *testing.T, size int,
	read func(payments.PageQuery) (singletable.Page[payments.Payment], error),
) (ids []payments.PaymentID, sizes []int) {
	t.Helper()
	for cursor := ""; ; {
		page, err := read(payments.PageQuery{Size: size, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) > 0 {
			sizes = append(sizes, len(page.Items))
		}
		for _, p := range page.Items {
			ids = append(ids, p.ID)
		}
		if cursor = page.Next; cursor == "" {
			return ids, sizes
		}
	}
}

// 250 payments of one instant, from one account and from many, come in pages of 100 without a
// repeat or a gap, by account, by status and from the history.
func TestPaymentsOfOneInstantComeInPages(t *testing.T) {
	b := openRich(t)
	var want []payments.PaymentID
	for i := range 250 {
		want = append(want, b.schedule(order(fmt.Sprint(i), "1")).ID)
	}
	slices.Sort(want)
	day, _ := payments.Day("2019-09-25", time.UTC)
	check := func(name string, wantSizes []int,
		read func(payments.PageQuery) (singletable.Page[payments.Payment], error)) {
		t.Run(name, func(t *testing.T) {
			got, sizes := pages(t, 100, read)
			if !slices.Equal(got, want) {
				t.Errorf("%d payments, %d of them once; want %d in order", len(got),
					len(slices.Compact(slices.Sorted(slices.Values(got)))), len(want))
			}
			if !slices.Equal(sizes, wantSizes) {
				t.Errorf("pages of %v, want %v", sizes, wantSizes)
			}
		})
	}
	ofAccount := func(q payments.PageQuery) (singletable.Page[payments.Payment], error) {
		return b.PaymentsOfAccount(t.Context(), "alice", day, q)
	}
	byStatus := func(s payments.Status) func(payments.PageQuery) (
		singletable.Page[payments.Payment], error) {
		return func(q payments.PageQuery) (singletable.Page[payments.Payment], error) {
			return b.PaymentsByStatus(t.Context(), s, day, q)
		}
	}
	sizes := []int{100, 100, 50}
	check("of an account", sizes, ofAccount)
	check("by status", sizes, byStatus(payments.Scheduled))
	if r := b.run(); r.Paid != 250 {
		t.Fatalf("report %+v", r)
	}
	check("processed", sizes, byStatus(payments.Processed))
	b.clock.Move(24 * time.Hour)
	b.moveDay("2019-09-25")
	check("of an account, moved", sizes, ofAccount)
	check("processed, moved", sizes, byStatus(payments.Processed))
	check("the history of the day", sizes,
		func(q payments.PageQuery) (singletable.Page[payments.Payment], error) {
			return b.History(t.Context(), day, q)
		})
}

func TestADayIsHalfOpenAndTheAccounts(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.open(ledger.NewAccount{ID: "alice", UserID: "a", AccountType: "x", Currency: "NZD",
		Zone: "Pacific/Auckland"}, "100")
	b.account("bob", "")
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	// The clocks there went forward on 29 September 2019: that day had 23 hours.
	first := time.Date(2019, 9, 29, 0, 0, 0, 0, zone)
	last := time.Date(2019, 9, 29, 23, 59, 59, 999e6, zone)
	for i, at := range []time.Time{
		first.Add(-time.Millisecond), first, last, last.Add(time.Millisecond),
	} {
		n := order(fmt.Sprint(i), fmt.Sprint(i+1))
		n.At = at
		if p := b.schedule(n); p.Zone != "Pacific/Auckland" {
			t.Errorf("the payment's zone is %q", p.Zone)
		}
	}
	day, err := payments.Day("2019-09-29", zone)
	if err != nil || day.To.Sub(*day.From) != 23*time.Hour {
		t.Fatalf("day %v, %v", day, err)
	}
	for name, read := range map[string]func() (singletable.Page[payments.Payment], error){
		"account": func() (singletable.Page[payments.Payment], error) {
			return b.PaymentsOfAccount(t.Context(), "alice", day, payments.PageQuery{})
		},
		"status": func() (singletable.Page[payments.Payment], error) {
			return b.PaymentsByStatus(t.Context(), payments.Scheduled, day, payments.PageQuery{})
		},
	} {
		page, err := read()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range page.Items {
			got = append(got, p.Amount.Text())
		}
		if want := []string{"2.00", "3.00"}; !slices.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", name, got, want)
		}
	}
}

func TestTheNextNinetyDaysEndAtTheAccountsMidnight(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.open(ledger.NewAccount{ID: "alice", UserID: "a", AccountType: "x", Currency: "NZD",
		Zone: "Pacific/Auckland"}, "")
	r, err := b.NextDays(t.Context(), "alice", payments.NextDaysDefault)
	if err != nil {
		t.Fatal(err)
	}
	// It is 13:01 on 25 September there; 90 days later it is 24 December, in summer time.
	if want := time.Date(2019, 12, 23, 11, 0, 0, 0, time.UTC); !r.To.Equal(want) {
		t.Errorf("until %v, want %v", r.To, want)
	}
	if !r.From.Equal(start) {
		t.Errorf("from %v, want %v", r.From, start)
	}
	_, err = b.NextDays(t.Context(), "nobody", 90)
	if !errors.Is(err, ledger.ErrAccountNotFound) {
		t.Errorf("error %v", err)
	}
}

// An account that has no zone of its own has the ledger's, here as in its statements.
func TestAnAccountWithoutAZoneHasTheLedgers(t *testing.T) {
	b := openBank(t, payments.Options{})
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	books, err := ledger.New(b.store, ledger.Options{Now: b.clock.Now, Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	there, err := payments.New(b.store, books, payments.Options{Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	b.account("alice", "")
	b.account("bob", "")
	r, err := there.Schedule(t.Context(), order("k", "1"))
	if err != nil || r.Zone != "Pacific/Auckland" {
		t.Errorf("payment %+v, %v", r.Payment, err)
	}
	days, err := there.NextDays(t.Context(), "alice", 1)
	if want := time.Date(2019, 9, 25, 12, 0, 0, 0, time.UTC); err != nil || !days.To.Equal(want) {
		t.Errorf("a day from now ends at %v, %v; want %v", days.To, err, want)
	}
	if zone, err := b.Zone(t.Context(), "alice"); err != nil || zone != time.UTC {
		t.Errorf("where the ledger has none: %v, %v", zone, err)
	}
}

func TestACursorBelongsToItsQuestion(t *testing.T) {
	b := openRich(t)
	for i := range 3 {
		b.schedule(order(fmt.Sprint(i), "1"))
	}
	page, err := b.PaymentsOfAccount(t.Context(), "alice", payments.Range{},
		payments.PageQuery{Size: 1})
	if err != nil || page.Next == "" {
		t.Fatalf("page %+v, %v", page, err)
	}
	for name, cursor := range map[string]string{
		"cut short": page.Next[:len(page.Next)-3], "made up": "abc.def.ghi",
		"with its parts exchanged": exchanged(page.Next),
	} {
		_, err := b.PaymentsOfAccount(t.Context(), "alice", payments.Range{},
			payments.PageQuery{Size: 1, Cursor: cursor})
		if !errors.Is(err, payments.ErrInvalidCursor) {
			t.Errorf("a cursor %s: %v", name, err)
		}
	}
	_, err = b.PaymentsOfAccount(t.Context(), "bob", payments.Range{},
		payments.PageQuery{Size: 1, Cursor: page.Next})
	if !errors.Is(err, payments.ErrInvalidCursor) {
		t.Errorf("of another account: %v", err)
	}
	_, err = b.PaymentsByStatus(t.Context(), payments.Scheduled, payments.Range{},
		payments.PageQuery{Size: 1001})
	if !errors.Is(err, payments.ErrInvalidRequest) {
		t.Errorf("a page of 1,001: %v", err)
	}
}

func exchanged(cursor string) string {
	parts := strings.Split(cursor, ".")
	parts[0], parts[1] = parts[1], parts[0]
	return strings.Join(parts, ".")
}

// A shard that cannot be read fails the list; it is never left out.
func TestAListIsWholeOrAnError(t *testing.T) {
	b := openRich(t)
	for i := range 50 {
		b.schedule(order(fmt.Sprint(i), "1"))
	}
	broken := errors.New("shard 3 is down")
	b.faces.on(func(op string, in any) error {
		q, ok := in.(*dynamo.QueryInput)
		if !ok || q.IndexName == "" {
			return nil
		}
		for _, v := range q.ExpressionAttributeValues {
			if v.Kind() == dynamo.KindS && v.S() == "3" {
				return broken
			}
		}
		return nil
	}, nil)
	page, err := b.PaymentsByStatus(t.Context(), payments.Scheduled, payments.Range{},
		payments.PageQuery{})
	var shard *singletable.ShardError
	if !errors.As(err, &shard) || len(shard.Failed) != 1 || shard.Failed[0].Partition != "3" {
		t.Errorf("%d rows, error %v", len(page.Items), err)
	}
	if _, err = b.Run(t.Context(), payments.RunOptions{}); !errors.Is(err, broken) {
		t.Errorf("run: %v", err)
	}
}

// The number of shards grows. What is stored stays where it is, and every reader asks for it.
func TestShardsGrowWithoutRewriting(t *testing.T) {
	b := openRich(t)
	tomorrow := start.Add(24 * time.Hour)
	ids := map[string][]payments.PaymentID{}
	add := func(s *payments.Scheduler, n int, at time.Time) {
		for range n {
			order := order("", "1")
			order.At = at
			r, err := s.Schedule(t.Context(), order)
			if err != nil {
				t.Fatal(err)
			}
			ids["all"] = append(ids["all"], r.ID)
		}
	}
	stale := b.another()
	add(stale, 40, tomorrow) // It remembers five shards for a while.
	epochs, err := b.Grow(t.Context(), 20, tomorrow)
	if err != nil || len(epochs) != 2 || epochs[1].Count != 20 {
		t.Fatalf("epochs %+v, %v", epochs, err)
	}
	if _, err := b.Grow(t.Context(), 20, tomorrow); err != nil {
		t.Errorf("growing again: %v", err)
	}
	for name, test := range map[string]struct {
		count int
		from  time.Time
		want  error
	}{
		"fewer":    {10, tomorrow.AddDate(0, 1, 0), payments.ErrTooManyShards},
		"too many": {201, tomorrow.AddDate(0, 1, 0), payments.ErrTooManyShards},
		"earlier":  {30, start, payments.ErrEpochTooEarly},
	} {
		if _, err := b.Grow(t.Context(), test.count, test.from); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	add(stale, 40, tomorrow)
	add(b.Scheduler, 100, tomorrow)
	add(b.Scheduler, 20, start)
	if got := shardsOf(t, b, tomorrow); got < 15 || got > 20 {
		t.Errorf("payments are in %d shards", got)
	}
	for name, reader := range map[string]*payments.Scheduler{
		"who grew it": b.Scheduler, "who was there before": stale, "a new one": b.another(),
	} {
		got, _ := pages(t, 70, func(q payments.PageQuery) (
			singletable.Page[payments.Payment], error) {
			return reader.PaymentsByStatus(t.Context(), payments.Scheduled, payments.Range{}, q)
		})
		slices.Sort(got)
		want := slices.Sorted(slices.Values(ids["all"]))
		if !slices.Equal(got, want) {
			t.Errorf("%s finds %d, want %d", name, len(got), len(want))
		}
	}
	b.clock.Move(48 * time.Hour)
	if r, err := stale.Run(t.Context(), payments.RunOptions{}); err != nil || r.Paid != 200 {
		t.Errorf("run: %+v, %v", r, err)
	}
}

// shardsOf counts the shards that payments of a time are in.
func shardsOf(t *testing.T, b *bank, at time.Time) int {
	t.Helper()
	shards := map[string]bool{}
	day := at.Format("2006-01-02")
	for after := (dynamo.Key)(nil); ; {
		out, err := b.db.Query(context.Background(), &dynamo.QueryInput{
			TableName: "PaymentScheduler", KeyConditionExpression: "AccountID = :a",
			Expressions: dynamo.Expressions{ExpressionAttributeValues: map[string]dynamo.Value{
				":a": dynamo.S("alice"),
			}},
			ExclusiveStartKey: after, ConsistentRead: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range out.Items {
			if strings.HasPrefix(item["ScheduledTime"].S(), day) {
				shards[item["Sharded-GSI-PK"].S()] = true
			}
		}
		if after = out.LastEvaluatedKey; after == nil {
			return len(shards)
		}
	}
}

package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// endedDay schedules payments of one day that come to all three ends, and moves the clock past it.
func endedDay(b *bank, count int) (ids []payments.PaymentID) {
	b.account("nobody", "")
	for i := range count {
		n := order(fmt.Sprint(i), fmt.Sprintf("%d.25", i+1))
		n.At = start.Add(time.Duration(i) * time.Minute)
		if i%5 == 4 {
			n.PayeeID = "nobody"
		}
		n.Data = []byte("data of " + n.Key)
		p := b.schedule(n)
		ids = append(ids, p.ID)
		if i%5 == 3 {
			b.cancel(p.ID)
		}
	}
	b.vanish("nobody")
	b.clock.Move(24 * time.Hour)
	b.run()
	return ids
}

func TestADayIsMovedWhole(t *testing.T) {
	b := openRich(t)
	ids := endedDay(b, 50)
	told := payments.MoveProgress{}
	day, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC,
		func(p payments.MoveProgress) { told = p })
	if err != nil || !day.Moved || day.Waiting != 0 || day.Copied != 50 || day.Removed != 50 {
		t.Fatalf("move: %+v, %v", day, err)
	}
	if told.Copied != 50 || told.Removed != 50 {
		t.Errorf("progress: %+v", told)
	}
	want := []string{"PROCESSED 30 742.50", "CANCELLED 10 267.50", "FAILED 10 277.50"}
	var got []string
	for _, total := range day.Totals {
		got = append(got, fmt.Sprintf("%s %d %s", total.Status, total.Count, total.Sum.Text()))
	}
	if !slices.Equal(got, want) {
		t.Errorf("totals %q, want %q", got, want)
	}
	for i, id := range ids {
		if p := b.payment(id); string(p.Data) != fmt.Sprintf("data of %d", i) {
			t.Errorf("payment %d came out as %+v", i, p)
		}
	}
	if left := b.items("PaymentScheduler", "Payment"); left != 0 {
		t.Errorf("%d payments are left in the scheduler's table", left)
	}
	if there := b.items("TransactionHistory", "Payment"); there != 50 {
		t.Errorf("%d payments are in the history", there)
	}
}

// items counts the items of a type in a table.
func (b *bank) items(table, kind string) int {
	b.t.Helper()
	n := 0
	var after dynamo.Key
	for {
		out, err := b.db.Scan(context.Background(), &dynamo.ScanInput{
			TableName: table, ExclusiveStartKey: after,
		})
		if err != nil {
			b.t.Fatal(err)
		}
		for _, item := range out.Items {
			if item["Type"].S() == kind {
				n++
			}
		}
		if after = out.LastEvaluatedKey; after == nil {
			return n
		}
	}
}

func TestADayWithPaymentsThatWaitIsNotMoved(t *testing.T) {
	b := openRich(t)
	b.account("carol", "")
	n := order("poor", "5")
	n.AccountID = "carol"
	b.schedule(n)
	b.schedule(order("k", "5"))
	b.run()
	if _, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil); !errors.Is(err,
		payments.ErrDayNotOver) {
		t.Errorf("today: %v", err)
	}
	b.clock.Move(23 * time.Hour)
	day := b.moveDay("2019-09-25")
	if day.Moved || day.Waiting != 1 || day.Removed != 1 {
		t.Errorf("with one that waits: %+v", day)
	}
	for range payments.AttemptsDefault {
		b.clock.Move(2 * time.Hour)
		b.run()
	}
	if day = b.moveDay("2019-09-25"); !day.Moved || day.Waiting != 0 || day.Removed != 1 ||
		len(day.Totals) != 2 {
		t.Errorf("when it failed at last: %+v", day)
	}
	if _, err := b.MoveDay(t.Context(), "25 September", time.UTC, nil); !errors.Is(err,
		payments.ErrInvalidRequest) {
		t.Errorf("a day that is none: %v", err)
	}
}

func TestADateInAnotherZoneIsAnotherDay(t *testing.T) {
	b := openRich(t)
	endedDay(b, 5)
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	if day := b.moveDay("2019-09-25"); !day.Moved || day.Copied != 5 {
		t.Fatalf("move: %+v", day)
	}
	if _, begun, err := b.MovedDay(t.Context(), "2019-09-25", zone); begun || err != nil {
		t.Errorf("the other day was begun: %t, %v", begun, err)
	}
	// There, what was due after one in the morning in UTC was due in the afternoon.
	b.clock.Move(24 * time.Hour)
	day, err := b.MoveDay(t.Context(), "2019-09-25", zone, nil)
	if err != nil || !day.Moved || day.Copied != 0 || day.Day != "2019-09-25" ||
		len(day.Totals) != 3 {
		t.Errorf("the other day: %+v, %v", day, err)
	}
}

// A move is killed at every one of its writes, and called again.
func TestAMoveCanBeStoppedAnywhere(t *testing.T) {
	dead := errors.New("killed")
	for stop := 1; ; stop += 3 {
		b := openRich(t)
		ids := endedDay(b, 12)
		writes := 0
		count := func(op string, _ any) error {
			if op == "Query" {
				return nil
			}
			if writes++; writes >= stop {
				return dead
			}
			return nil
		}
		// Every other time the write that dies has happened.
		if stop%2 == 0 {
			b.faces.on(count, nil)
		} else {
			b.faces.on(nil, count)
		}
		b.faces.serial()
		_, err := b.MoveDay(t.Context(), "2019-09-25", time.UTC, nil)
		b.faces.on(nil, nil)
		if err == nil {
			if stop < 30 {
				t.Errorf("a move of 12 takes only %d writes", writes)
			}
			return
		}
		if !errors.Is(err, dead) {
			t.Fatal(err)
		}
		b.wantAll(ids)
		day := b.moveDay("2019-09-25")
		if !day.Moved {
			t.Fatalf("stopped at write %d: %+v", stop, day)
		}
		b.wantAll(ids)
		if left := b.items("PaymentScheduler", "Payment"); left != 0 {
			t.Fatalf("stopped at write %d: %d payments are left", stop, left)
		}
	}
}

// wantAll demands that every list has all payments, each once.
func (b *bank) wantAll(ids []payments.PaymentID) {
	b.t.Helper()
	want := slices.Sorted(slices.Values(ids))
	check := func(name string, got []payments.PaymentID) {
		slices.Sort(got)
		if !slices.Equal(got, want) {
			b.t.Errorf("%s: %d payments, want %d", name, len(got), len(want))
		}
	}
	var byStatus, ofAccount, byTime []payments.PaymentID
	for _, s := range payments.Statuses() {
		byStatus = append(byStatus, b.read(func(q payments.PageQuery) (
			singletable.Page[payments.Payment], error) {
			return b.PaymentsByStatus(context.Background(), s, payments.Range{}, q)
		})...)
	}
	ofAccount = b.read(func(q payments.PageQuery) (singletable.Page[payments.Payment], error) {
		return b.PaymentsOfAccount(context.Background(), "alice", payments.Range{}, q)
	})
	byTime = b.read(func(q payments.PageQuery) (singletable.Page[payments.Payment], error) {
		return b.History(context.Background(), payments.Range{}, q)
	})
	check("by status", byStatus)
	check("of the account", ofAccount)
	check("of the history", byTime)
}

// read reads a list in small pages.
func (b *bank) read(
	list func(payments.PageQuery) (singletable.Page[payments.Payment], error),
) (ids []payments.PaymentID) {
	b.t.Helper()
	const size = 7
	for cursor := ""; ; {
		page, err := list(payments.PageQuery{Size: size, Cursor: cursor})
		if err != nil {
			b.t.Fatal(err)
		}
		for _, p := range page.Items {
			ids = append(ids, p.ID)
		}
		if cursor = page.Next; cursor == "" {
			return ids
		}
	}
}

// Readers turn pages while a day is moved. Whatever they ask, they find every payment once.
func TestNothingIsInvisibleDuringAMove(t *testing.T) {
	for range storetest.Rounds(2) {
		b := openRich(t)
		ids := endedDay(b, 60)
		done := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			defer close(done)
			if _, err := b.MoveDay(context.Background(), "2019-09-25", time.UTC, nil); err != nil {
				t.Error(err)
			}
		})
		for range 3 {
			all.Go(func() {
				for more := true; more; {
					select {
					case <-done:
						more = false
					default:
					}
					b.wantAll(ids)
					for _, id := range ids[:10] {
						if _, err := b.Payment(context.Background(), id); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
	}
}

// Two moves of one day go on side by side, while one failed payment is replayed.
func TestMovesSideBySide(t *testing.T) {
	b := openRich(t)
	ids := endedDay(b, 40)
	var all sync.WaitGroup
	for range 3 {
		s := b.another()
		all.Go(func() {
			for range 5 {
				_, err := s.MoveDay(context.Background(), "2019-09-25", time.UTC, nil)
				if err != nil && !errors.Is(err, payments.ErrDayDiffers) {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		if _, err := b.Replay(context.Background(), ids[4]); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	b.run()
	if day := b.moveDay("2019-09-25"); !day.Moved {
		t.Errorf("in the end: %+v", day)
	}
	b.wantAll(ids)
	if there := b.items("TransactionHistory", "Payment"); there != 40 {
		t.Errorf("%d payments are in the history", there)
	}
}

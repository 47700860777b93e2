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

// startedWith returns a scheduler of a process that was started with another number of shards.
func (b *bank) startedWith(shards int) *payments.Scheduler {
	b.t.Helper()
	was := b.opts.Shards
	b.opts.Shards = shards
	defer func() { b.opts.Shards = was }()
	return b.another()
}

// counts are the numbers of shards as a scheduler knows them.
func (b *bank) counts(s *payments.Scheduler) (counts []int) {
	b.t.Helper()
	epochs, err := s.Epochs(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range epochs {
		counts = append(counts, e.Count)
	}
	return counts
}

// The first number of shards is data too: whatever a later process is started with, it finds, pays
// and moves the payments of all shards.
func TestAnotherStartHidesNoShard(t *testing.T) {
	for name, test := range map[string]struct{ first, later int }{
		"with fewer": {20, 0}, "with more": {2, 20}, "with one": {7, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := openBank(t, payments.Options{Shards: test.first})
			b.account("alice", "1000")
			b.account("bob", "")
			const count = 60
			var want []payments.PaymentID
			for i := range count {
				want = append(want, b.schedule(order(fmt.Sprint(i), "1")).ID)
			}
			slices.Sort(want)
			later := b.startedWith(test.later)
			if got := b.counts(later); !slices.Equal(got, []int{test.first}) {
				t.Errorf("it knows %v shards, want %d", got, test.first)
			}
			got, _ := pages(t, 100, func(q payments.PageQuery) (
				singletable.Page[payments.Payment], error) {
				return later.PaymentsByStatus(t.Context(), payments.Scheduled, payments.Range{}, q)
			})
			if !slices.Equal(got, want) {
				t.Errorf("it lists %d payments, want %d", len(got), count)
			}
			b.catchUp()
			r, err := later.Run(t.Context(), payments.RunOptions{})
			if err != nil || r.Paid != count {
				t.Errorf("run: %+v, %v", r, err)
			}
			b.clock.Move(24 * time.Hour)
			b.catchUp()
			day, err := later.MoveDay(t.Context(), "2019-09-25", time.UTC, nil)
			if err != nil || !day.Moved || day.Removed != count {
				t.Errorf("move: %+v, %v", day, err)
			}
			epochs, err := later.Grow(t.Context(), 30, start.AddDate(0, 0, 2))
			if err != nil || len(epochs) != 2 || epochs[0].Count != test.first {
				t.Errorf("grown: %+v, %v", epochs, err)
			}
		})
	}
}

// Processes that disagree write their first payments at once. One number holds for all of them.
func TestOneOfManyFirstStartsHolds(t *testing.T) {
	b := openRich(t)
	var all sync.WaitGroup
	for i := range 12 {
		s := b.startedWith(1 + i)
		all.Go(func() {
			// A list before the first write must not make a number pass for stored.
			if _, err := s.PaymentsByStatus(context.Background(), payments.Scheduled,
				payments.Range{}, payments.PageQuery{}); err != nil {
				t.Error(err)
			}
			for n := range 10 {
				if _, err := s.Schedule(context.Background(),
					order(fmt.Sprint(i, " ", n), "1")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 12 {
		if got, want := b.counts(b.startedWith(1+i)), b.counts(b.Scheduler); len(got) != 1 ||
			!slices.Equal(got, want) {
			t.Errorf("one of them knows %v shards, another %v", got, want)
		}
	}
	if r := b.run(); r.Paid != 120 {
		t.Errorf("run: %+v", r)
	}
}

// Who only reads writes nothing, the number of shards neither: it may have no right to.
func TestReadingStoresNoShards(t *testing.T) {
	b := openBank(t, payments.Options{Shards: 20})
	b.faces.on(func(op string, in any) error {
		if op != "Query" {
			t.Errorf("%s %+v", op, in)
		}
		return nil
	}, nil)
	page := payments.PageQuery{}
	_, byStatus := b.PaymentsByStatus(t.Context(), payments.Failed, payments.Range{}, page)
	_, history := b.History(t.Context(), payments.Range{}, page)
	_, _, day := b.MovedDay(t.Context(), "2019-09-24", time.UTC)
	for name, err := range map[string]error{
		"by status": byStatus, "the history": history, "a day": day,
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := b.counts(b.Scheduler); !slices.Equal(got, []int{20}) {
		t.Errorf("it knows %v shards", got)
	}
}

// A table of an earlier version has payments and no number. That of the options counts, and is
// stored with whatever is written next.
func TestShardsThatWereNeverStored(t *testing.T) {
	later := start.Add(time.Minute)
	for name, write := range map[string]func(b *bank, id payments.PaymentID) error{
		"scheduled": func(b *bank, _ payments.PaymentID) error {
			_, err := b.Schedule(b.t.Context(), order("another", "1"))
			return err
		},
		"changed": func(b *bank, id payments.PaymentID) error {
			_, err := b.Change(b.t.Context(), id, payments.Change{At: &later})
			return err
		},
		"paid": func(b *bank, id payments.PaymentID) error {
			_, _, err := b.Pay(b.t.Context(), id)
			return err
		},
		"paid by a run": func(b *bank, _ payments.PaymentID) error {
			r, err := b.Run(b.t.Context(), payments.RunOptions{})
			if r.Paid != 1 {
				b.t.Errorf("run: %+v", r)
			}
			return err
		},
		"moved": func(b *bank, _ payments.PaymentID) error {
			_, err := b.MoveDay(b.t.Context(), "2019-09-24", time.UTC, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openBank(t, payments.Options{Shards: 20})
			b.account("alice", "1000")
			b.account("bob", "")
			p := b.schedule(order("k", "1"))
			if err := storetest.Retry(func() error {
				_, err := b.db.Delete(t.Context(), &dynamo.DeleteInput{
					TableName: payments.TableNameDefault, Key: dynamo.Key{
						"AccountID":     dynamo.S("@payments#control#shards"),
						"ScheduledTime": dynamo.S("EPOCHS"),
					},
				})
				return err
			}); err != nil {
				t.Fatal(err)
			}
			b.Scheduler = b.another()
			if got := b.counts(b.Scheduler); !slices.Equal(got, []int{20}) {
				t.Errorf("before: %v shards", got)
			}
			if err := write(b, p.ID); err != nil {
				t.Fatal(err)
			}
			if got := b.counts(b.startedWith(3)); !slices.Equal(got, []int{20}) {
				t.Errorf("after: %v shards", got)
			}
		})
	}
}

// TestPaymentsOfOtherProgramsAreFoundInAllShards has payments in a table that says no number of
// shards: another program wrote them, or a release that did not store it.
func TestPaymentsOfOtherProgramsAreFoundInAllShards(t *testing.T) {
	for _, first := range []int{payments.ShardsMax, 17, payments.ShardsDefault, 2, 1} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			b := openBank(t, payments.Options{Shards: first})
			b.account("alice", "1000")
			b.account("bob", "")
			const count = 30
			for i := range count {
				b.schedule(order(fmt.Sprint(i), "1"))
			}
			for _, item := range storetest.Items(t, b.db, payments.TableNameDefault) {
				if item["Type"].S() != "ShardEpochs" {
					continue
				}
				err := storetest.Retry(func() error {
					_, err := b.db.Delete(t.Context(), &dynamo.DeleteInput{
						TableName: payments.TableNameDefault,
						Key: dynamo.Key{"AccountID": item["AccountID"],
							"ScheduledTime": item["ScheduledTime"]},
					})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			b.catchUp()
			for _, later := range []int{0, 1, 3} {
				s := b.startedWith(later)
				got, _ := pages(t, 100, func(q payments.PageQuery) (
					singletable.Page[payments.Payment], error) {
					return s.PaymentsByStatus(t.Context(), payments.Scheduled, payments.Range{}, q)
				})
				if len(got) != count {
					t.Errorf("a start with %d lists %d of %d payments", later, len(got), count)
				}
			}
			r, err := b.startedWith(1).Run(t.Context(), payments.RunOptions{})
			if err != nil || r.Paid != count {
				t.Errorf("run: %+v, %v", r, err)
			}
		})
	}
}

func TestAnotherNumberOfShardsIsRefused(t *testing.T) {
	b := openBank(t, payments.Options{Shards: 3})
	b.account("alice", "1000")
	b.account("bob", "")
	ctx := t.Context()
	if err := b.startedWith(7).CheckLayout(ctx); err != nil {
		t.Errorf("before the first payment: %v", err)
	}
	b.schedule(order("1", "1"))
	refused := func(given int, stored string) {
		t.Helper()
		err := b.startedWith(given).CheckLayout(ctx)
		var layout *singletable.LayoutError
		switch {
		case stored == "" && err != nil:
			t.Errorf("%d: %v", given, err)
		case stored != "" && (!errors.As(err, &layout) || layout.Stored != stored):
			t.Errorf("%d: %v, want that %s is stored", given, err, stored)
		}
	}
	refused(0, "")
	refused(3, "")
	refused(1, "3")
	refused(payments.ShardsDefault, "3")
	if _, err := b.Grow(ctx, 9, start.AddDate(0, 0, 2)); err != nil {
		t.Fatal(err)
	}
	refused(3, "")
	refused(9, "")
	refused(payments.ShardsDefault, "3, then 9")
}

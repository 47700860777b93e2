package payments_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// dying returns a hook that lets a run fail once it has claimed a payment, so that it can neither
// settle the payment nor release it.
func (b *bank) dying(p payments.Payment, dead error) func(op string, in any) error {
	return func(op string, in any) error {
		u, update := in.(*dynamo.UpdateInput)
		d, remove := in.(*dynamo.DeleteInput)
		switch {
		case op == "TransactWrite":
			return dead
		case update && u.TableName == payments.TableNameDefault,
			remove && d.TableName == payments.TableNameDefault:
			if b.payment(p.ID).Status == payments.Pending {
				return dead
			}
		}
		return nil
	}
}

// killed leaves the store as a run does that is killed in the middle: with claims of payments and
// leases of shards.
func (b *bank) killed(p payments.Payment) {
	b.t.Helper()
	dead := errors.New("killed")
	b.faces.on(b.dying(p, dead), nil)
	if _, err := b.Run(b.t.Context(), payments.RunOptions{Worker: "dead"}); !errors.Is(err, dead) {
		b.t.Fatalf("run: %v", err)
	}
	b.faces.on(nil, nil)
	if got := b.payment(p.ID); got.Status != payments.Pending || got.Attempt == "" {
		b.t.Fatalf("payment %+v", got)
	}
}

// A process that holds the store exclusively does not wait for the leases and claims of dead ones.
func TestARunThatIsAloneReleasesWhatTheDeadLeft(t *testing.T) {
	for _, projection := range []payments.Projection{
		payments.ProjectNarrow, payments.ProjectAll, payments.ProjectKeys,
	} {
		t.Run(string(projection), func(t *testing.T) {
			b := openBank(t, payments.Options{Projection: projection})
			b.account("alice", "100")
			b.account("bob", "")
			p := b.schedule(order("k", "5"))
			b.killed(p)
			b.clock.Move(time.Second)
			b.opts.Alone = true
			b.Scheduler = b.another()
			if r := b.run(); r.Paid != 1 || r.Waiting != 0 {
				t.Errorf("report %+v", r)
			}
			if got := b.payment(p.ID); got.Status != payments.Processed {
				t.Errorf("payment %+v", got)
			}
			if got := b.balance("bob"); got != "5.00" {
				t.Errorf("bob has %s, want 5.00", got)
			}
		})
	}
}

// A run that an attempt ends has the error of the attempt, not that of the reads which it ended.
func TestARunEndsWithTheErrorOfItsAttempt(t *testing.T) {
	if storetest.Remote() {
		t.Skip("time is simulated, which calls over a network cannot follow")
	}
	synctest.Test(t, func(t *testing.T) {
		b := openBank(t, payments.Options{})
		b.account("alice", "100")
		b.account("bob", "")
		p := b.schedule(order("k", "5"))
		dead := errors.New("killed")
		dying := b.dying(p, dead)
		b.faces.on(func(op string, in any) error {
			if q, ok := in.(*dynamo.QueryInput); ok && q.IndexName != "" {
				time.Sleep(time.Second) // The attempt has ended by then.
			}
			if op == "Delete" {
				return nil // The lease of the shard is given up.
			}
			return dying(op, in)
		}, nil)
		_, err := b.Run(t.Context(), payments.RunOptions{})
		if !errors.Is(err, dead) {
			t.Errorf("run: %v", err)
		}
	})
}

// The wait for another attempt is no claim: it is kept.
func TestARunThatIsAloneKeepsWaits(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "")
	b.account("bob", "")
	p := b.schedule(order("k", "5"))
	if r := b.run(); r.Postponed != 1 {
		t.Fatalf("report %+v", r)
	}
	b.clock.Move(time.Second)
	b.opts.Alone = true
	b.Scheduler = b.another()
	if r := b.run(); r.Postponed != 0 || r.Waiting != 1 {
		t.Errorf("report %+v", r)
	}
	if got := b.payment(p.ID); got.Attempts != 1 {
		t.Errorf("payment %+v", got)
	}
}

// Of equal requests at the same time exactly one is the first.
func TestOneOfManyEqualSchedulingsIsTheFirst(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "100")
	b.account("bob", "")
	const callers = 50
	for round := range 10 {
		receipts, errs := make([]payments.Receipt, callers), make([]error, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				receipts[i], errs[i] = b.Schedule(t.Context(), order(fmt.Sprint(round), "1"))
			})
		}
		all.Wait()
		firsts := 0
		for i := range callers {
			if errs[i] != nil || receipts[i].ID != receipts[0].ID {
				t.Fatalf("round %d: %+v, %v", round, receipts[i], errs[i])
			}
			if !receipts[i].Replayed {
				firsts++
			}
		}
		if firsts != 1 {
			t.Errorf("round %d: %d of %d are the first", round, firsts, callers)
		}
	}
}

// A run beside the shards and claims of a dead worker says what it waits for and until when, leaves
// no payment without a word, and pays all of them once their time is over.
func TestARunSaysWhatOthersHold(t *testing.T) {
	b := openBank(t, payments.Options{Shards: 1, Lease: 5 * time.Minute,
		ShardLease: 2 * time.Minute})
	b.account("alice", "100")
	b.account("bob", "")
	p := b.schedule(order("k", "5"))
	b.killed(p)
	leased := b.clock.Now().Add(2 * time.Minute)
	b.clock.Move(time.Second)
	var held []payments.Report
	r, err := b.another().Run(t.Context(), payments.RunOptions{
		Progress: func(r payments.Report) {
			if r.Shards > 0 {
				held = append(held, r)
				b.clock.Move(time.Minute) // The lease of the dead worker ends in the meantime.
			}
		},
	})
	if err != nil || r.Paid != 0 || r.Claimed != 1 || r.Waiting != 0 || r.Shards != 0 ||
		!r.ClaimedUntil.Equal(b.payment(p.ID).Until) {
		t.Errorf("report %+v, %v", r, err)
	}
	if len(held) == 0 || held[0].Shards != 1 || !held[0].ShardsUntil.Equal(leased) {
		t.Errorf("progress %+v, want a shard that is held until %s", held, leased)
	}
	b.clock.Move(5 * time.Minute)
	if r := b.run(); r.Paid != 1 || r.Claimed != 0 || !r.ClaimedUntil.IsZero() {
		t.Errorf("after the claim: %+v", r)
	}
}

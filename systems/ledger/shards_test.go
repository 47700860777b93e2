package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// startedWith returns the books as a process sees them that was started with a number of shards.
func (b *books) startedWith(shards int) *books {
	b.t.Helper()
	return booksOn(b.t, b.db, ledger.Options{StatusShards: shards, Now: b.clock.Now})
}

// forget deletes what says over how many shards transactions are spread, as in a table of a release
// that did not store it.
func (b *books) forget() {
	b.t.Helper()
	for _, item := range b.itemsOf() {
		if kindOf(item) == "StatusShards" {
			b.deleteItem(item)
		}
	}
}

// wantAll fails unless the lists of all statuses and the self-check have so many transactions.
func (b *books) wantAll(want int) {
	b.t.Helper()
	for _, newest := range []bool{false, true} {
		n := 0
		for _, status := range []ledger.TransactionStatus{ledger.Completed, ledger.Reversed} {
			n += len(b.byStatus(ledger.StatusQuery{Status: status, NewestFirst: newest,
				PageQuery: pagesOf(7)}))
		}
		if n != want {
			b.t.Errorf("%d transactions are listed, want %d", n, want)
		}
	}
	from, to := start.Add(-time.Hour), b.clock.Now().Add(time.Hour)
	in := ledger.StatusQuery{Status: ledger.Completed, From: &from, To: &to}
	part, all := b.byStatus(in), b.byStatus(ledger.StatusQuery{Status: ledger.Completed})
	if len(part) != len(all) {
		b.t.Errorf("%d of %d transactions are in the range of all", len(part), len(all))
	}
	if r := b.sound(); r.Transactions != want {
		b.t.Errorf("the self-check has %d transactions, want %d", r.Transactions, want)
	}
}

// TestWhatIsRefusedStoresNoShards posts nothing: a check, and a posting that is wrong or is refused
// for its merchant, write nothing, the number of shards included.
func TestWhatIsRefusedStoresNoShards(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	before := len(storetest.Items(t, b.db, ledger.TableNameDefault))
	p := keyed("k", ledger.DepositInto("nobody", usd("1")))
	if _, err := b.Check(t.Context(), p); err == nil {
		t.Error("a check finds an account that is not there")
	}
	for _, p := range []ledger.Posting{
		keyed("k", ledger.DepositInto("alice", usd("-1"))),
		keyed("k", ledger.PayMerchant("alice", "none", usd("1"))),
	} {
		if _, err := b.Post(t.Context(), p); err == nil {
			t.Errorf("%+v was posted", p)
		}
	}
	if after := len(storetest.Items(t, b.db, ledger.TableNameDefault)); after != before {
		t.Errorf("%d items became %d", before, after)
	}
}

// wantRefused fails unless the number of shards of a start is none of those that hold.
func (b *books) wantRefused(stored string) {
	b.t.Helper()
	var layout *singletable.LayoutError
	if err := b.CheckLayout(b.t.Context()); !errors.As(err, &layout) || layout.Stored != stored {
		b.t.Errorf("the layout: %v, want that %s is stored", err, stored)
	}
}

// The number of shards is data: whatever a later process is started with, it lists, counts and
// reverses the transactions of all shards, and the earlier process those of the later one.
func TestAnotherStartHidesNoTransaction(t *testing.T) {
	for name, test := range map[string]struct {
		first, later int
		stored       string
	}{
		"with more": {1, 3, "1"}, "with fewer": {5, 2, "5"}, "with one": {3, 1, "3"},
		"with all": {0, ledger.ShardsMax, "1"}, "with none given": {4, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := openBooks(t, ledger.Options{StatusShards: test.first})
			b.account("alice", usd("100"))
			b.account("bob", usd("0"))
			for range 12 {
				b.clock.Move(time.Second)
				b.post(transfer("alice", "bob", "1"))
			}
			later := b.startedWith(test.later)
			later.wantAll(13)
			if test.stored != "" {
				later.wantRefused(test.stored)
			}
			for range 12 {
				b.clock.Move(time.Second)
				made := later.post(transfer("alice", "bob", "1"))
				if b.r(made.Transaction.ID); b.t.Failed() {
					return
				}
			}
			b.wantAll(25 + 12)
			later.wantAll(25 + 12)
			if err := b.CheckLayout(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// r reverses a transaction.
func (b *books) r(id ledger.TransactionID) {
	b.t.Helper()
	if _, err := b.Reverse(b.t.Context(), reversing(id)); err != nil {
		b.t.Error(err)
	}
}

// Books of a release that stored no number of shards are read whole, also if they were written with
// several numbers, and the first posting stores what was found.
func TestBooksWithoutStoredShardsAreReadWhole(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	b.account("alice", usd("1000"))
	b.account("bob", usd("0"))
	want := 1
	for _, shards := range []int{1, 3, 7} {
		b.forget()
		old := b.startedWith(shards)
		for range 40 { // Enough for a transaction in the last shard of seven.
			b.clock.Move(time.Second)
			old.post(transfer("alice", "bob", "1"))
			want++
		}
	}
	b.forget()
	for shards, refused := range map[int]bool{0: false, 1: false, 7: false, 9: false, 2: true} {
		s := b.startedWith(shards)
		s.wantAll(want)
		if refused {
			s.wantRefused("1, then 7")
		} else if err := s.CheckLayout(t.Context()); err != nil {
			t.Errorf("%d shards: %v", shards, err)
		}
	}
	if slices.ContainsFunc(b.itemsOf(), func(i dynamo.Item) bool {
		return kindOf(i) == "StatusShards"
	}) {
		t.Error("a look has stored the number of shards")
	}
	s := b.startedWith(0)
	s.post(transfer("alice", "bob", "1"))
	epochs, err := s.Epochs(t.Context())
	if err != nil || len(epochs) != 2 || epochs[0].Count != 1 || epochs[1].Count != 7 {
		t.Errorf("%v is stored: %v", epochs, err)
	}
	b.startedWith(2).wantAll(want + 1)
}

// Only what was reversed is in a shard: it is found all the same.
func TestOneReversedTransactionShowsTheShards(t *testing.T) {
	b := openBooks(t, ledger.Options{StatusShards: 9})
	b.account("alice", usd("100"))
	for _, item := range b.itemsOf() {
		if id := item["ID"].S(); kindOf(item) == "Transaction" {
			b.r(ledger.TransactionID(id))
		}
	}
	b.forget()
	b.startedWith(1).wantAll(2)
}

// All that there is may be in shard 0 of several, whose key is not that of a single shard.
func TestTheFirstOfSeveralShardsIsFound(t *testing.T) {
	for n := range 200 { // The shard follows from the key: one in nine is in the first.
		b := openBooks(t, ledger.Options{StatusShards: 9})
		if _, err := b.OpenAccount(t.Context(), ledger.NewAccount{
			ID: "alice", UserID: "u", AccountType: "checking", Currency: "USD",
		}); err != nil {
			t.Fatal(err)
		}
		made := b.post(keyed(fmt.Sprint(n), ledger.DepositInto("alice", usd("1"))))
		for _, item := range b.itemsOf() {
			if item["ID"].S() == string(made.Transaction.ID) &&
				item["GSI1PK"].S() == "STATUS#completed#0" {
				b.forget()
				b.startedWith(1).wantAll(1)
				return
			}
		}
	}
	t.Fatal("no transaction came into the first shard")
}

// Processes that disagree post at once for the first time. One number holds for all of them.
func TestOneOfManyFirstNumbersHolds(t *testing.T) {
	b := openBooks(t, ledger.Options{})
	if _, err := b.OpenAccount(t.Context(), ledger.NewAccount{
		ID: "alice", UserID: "u", AccountType: "checking", Currency: "USD",
	}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		s := b.startedWith(1 + i)
		all.Go(func() {
			for range 5 {
				if _, err := s.Post(t.Context(), deposit("alice", "1")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 8 {
		b.startedWith(1 + i).wantAll(40)
	}
	if epochs, err := b.Epochs(t.Context()); err != nil || len(epochs) != 1 {
		t.Errorf("%v hold: %v", epochs, err)
	}
}

// deposit brings money into an account.
func deposit(to ledger.AccountID, amount string) ledger.Posting {
	return ledger.Posting{Type: ledger.Deposit, Currency: "USD", Legs: []ledger.PostingLeg{
		{AccountID: "@deposits-USD", Type: ledger.Debit, Amount: usd(amount)},
		{AccountID: to, Type: ledger.Credit, Amount: usd(amount)},
	}}
}

// A process that was started with anything, at any time, lists every transaction, while the number
// grows and tables forget it.
func TestRandomStartsHideNoTransaction(t *testing.T) {
	for round := range storetest.Rounds(3) {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			b := openBooks(t, ledger.Options{StatusShards: r.IntN(5)})
			b.account("alice", usd("1000"))
			b.account("bob", usd("0"))
			want, processes := 1, []*books{b}
			var last ledger.TransactionID
			for range 60 {
				b.clock.Move(time.Duration(r.IntN(30)) * time.Second)
				p := processes[r.IntN(len(processes))]
				switch r.IntN(8) {
				case 0:
					processes = append(processes, b.startedWith(r.IntN(12)))
				case 1:
					from := b.clock.Now().Add(time.Duration(r.IntN(60)-30) * time.Second)
					if r.IntN(2) == 0 {
						from = time.Time{}
					}
					_, err := p.Grow(t.Context(), 1+r.IntN(20), from)
					if err != nil && !isProblem(err, ledger.ErrInvalidStatusShards) &&
						!isProblem(err, ledger.ErrStatusEpochTooEarly) {
						t.Fatal(err)
					}
				case 2:
					if last != "" {
						p.r(last)
						last, want = "", want+1
					}
				case 3: // All processes end, and the next one finds a table of an old release.
					b.forget()
					processes = []*books{b.startedWith(r.IntN(12))}
				default:
					last, want = p.post(transfer("alice", "bob", "1")).Transaction.ID, want+1
				}
			}
			for _, p := range append(processes, b.startedWith(0), b.startedWith(1+r.IntN(64))) {
				p.wantAll(want)
			}
		})
	}
}

// The number of shards only grows, one change after the other, and a repeat changes nothing.
func TestGrow(t *testing.T) {
	b := openBooks(t, ledger.Options{StatusShards: 2})
	now := b.clock.Now()
	grow := func(count int, from time.Time) []ledger.Epoch {
		t.Helper()
		epochs, err := b.Grow(t.Context(), count, from)
		if err != nil {
			t.Fatal(err)
		}
		return epochs
	}
	grow(4, now.Add(time.Hour))
	if got := grow(4, now.Add(time.Hour)); len(got) != 2 {
		t.Errorf("a repeat: %v", got)
	}
	if got := grow(4, time.Time{}); len(got) != 2 {
		t.Errorf("a repeat without an instant: %v", got)
	}
	if got := grow(6, time.Time{}); len(got) != 3 || !got[2].From.After(got[1].From) {
		t.Errorf("grown before the last number holds: %v", got)
	}
	for _, c := range []struct {
		count int
		from  time.Time
		want  error
	}{
		{5, time.Time{}, ledger.ErrInvalidStatusShards},
		{65, time.Time{}, ledger.ErrInvalidStatusShards},
		{0, time.Time{}, ledger.ErrInvalidStatusShards},
		{7, now, ledger.ErrStatusEpochTooEarly},
		{6, now.Add(48 * time.Hour), ledger.ErrInvalidStatusShards},
	} {
		if _, err := b.Grow(t.Context(), c.count, c.from); !errors.Is(err, c.want) {
			t.Errorf("%d from %v: %v, want %v", c.count, c.from, err, c.want)
		}
	}
}

// Other programs write the key of the seed, without a shard, whatever the number of shards is.
func TestKeysWithoutAShardAreListed(t *testing.T) {
	b := openBooks(t, ledger.Options{StatusShards: 3})
	b.account("alice", usd("100"))
	for _, item := range b.itemsOf() {
		if kindOf(item) == "Transaction" {
			item["GSI1PK"] = dynamo.S("STATUS#completed")
			b.putItem(item)
		}
	}
	b.wantAll(1)
}

// A transaction in a shard that no list asks is a divergence.
func TestAShardThatNoListAsksIsFound(t *testing.T) {
	b := openBooks(t, ledger.Options{StatusShards: 3})
	b.account("alice", usd("100"))
	for _, item := range b.itemsOf() {
		if kindOf(item) == "Transaction" {
			item["GSI1PK"] = dynamo.S("STATUS#completed#3")
			b.putItem(item)
		}
	}
	r := b.everything()
	if r.Verdict() != ledger.VerdictDiverges || !slices.ContainsFunc(r.Divergences,
		func(d ledger.Divergence) bool {
			return d.Kind == ledger.IndexWrong && strings.Contains(d.Got, "completed#3")
		}) {
		t.Errorf("%s: %v", r.Verdict(), r.Divergences)
	}
	if _, err := b.Grow(t.Context(), 4, time.Time{}); err != nil {
		t.Fatal(err)
	}
	b.wantAll(1)
}

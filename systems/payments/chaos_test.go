package payments_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// Workers are killed at random calls to the store, and others take over, on a store with conflicts,
// throttles, lost answers and indexes that lag, while clocks jump and people cancel and change
// payments and send requests again. In the end every payment was settled once or has a reason, and
// ledger, scheduler and history agree to the cent.
func TestPaymentsSurviveWorkersThatAreKilled(t *testing.T) {
	if storetest.Remote() {
		t.Skip("faults are injected by the embedded database")
	}
	for round := range storetest.Rounds(6) {
		seed := uint64(time.Now().UnixNano()) + uint64(round)
		if text := os.Getenv("EXCHEQUER_SEED"); text != "" {
			seed, _ = strconv.ParseUint(text, 10, 64)
		}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { survive(t, seed) })
	}
}

const (
	chaosPayers   = 6
	chaosPayments = 40
	chaosWorkers  = 4
	// chaosTime bounds the part in which workers are killed.
	chaosTime = 400 * time.Millisecond
)

// storm is one round.
type storm struct {
	*bank
	mu     sync.Mutex
	rng    *rand.Rand
	orders []payments.NewPayment
	until  time.Time
	kills  atomic.Int64
}

// draw returns a random number below n.
func (s *storm) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n)
}

func survive(t *testing.T, seed uint64) {
	b := openBank(t, payments.Options{Retry: payments.Retry{
		Attempts: 3, First: time.Second, Last: time.Minute,
	}})
	b.faces.settle = nil
	s := &storm{bank: b, rng: rand.New(rand.NewPCG(seed, 1)), until: time.Now().Add(chaosTime)}
	for i := range chaosPayers {
		b.account(accountID(i), "100")
	}
	b.account("closed", "")
	for i := range chaosPayments {
		n := s.order(i)
		if s.orders = append(s.orders, n); n.PayeeID == "closed" {
			b.schedule(n) // The storm repeats it, which no refusal stands in the way of.
		}
	}
	if _, err := b.books.CloseAccount(t.Context(), "closed"); err != nil {
		t.Fatal(err)
	}
	f := engine.Strict()
	f.Seed = seed
	f.Rules = append(f.Rules,
		engine.Fault{Kind: engine.FaultThrottle, Rate: 0.02},
		engine.Fault{Kind: engine.FaultLostAnswer, Rate: 0.01})
	storetest.SetFaults(b.t, b.db, f)

	var all sync.WaitGroup
	all.Go(s.insert)
	all.Go(s.insert) // Every request is sent twice.
	all.Go(s.meddle)
	all.Go(s.archive)
	for range chaosWorkers {
		all.Go(s.work)
	}
	all.Wait()

	storetest.SetFaults(b.t, b.db, engine.Faults{})
	s.insertAll(b.Scheduler)
	s.finish()
	s.judge()
	t.Logf("%d kills", s.kills.Load())
}

// order makes a payment: some are too large for their payer, some to an account that is closed.
func (s *storm) order(i int) payments.NewPayment {
	n := payments.NewPayment{
		Key: fmt.Sprint(i), AccountID: accountID(s.rng.IntN(chaosPayers)),
		Amount: nzd(fmt.Sprintf("%d.%02d", s.rng.IntN(60), 1+s.rng.IntN(99))),
		At:     start.Add(time.Duration(s.rng.IntN(3600)) * time.Second),
	}
	for n.PayeeID = n.AccountID; n.PayeeID == n.AccountID; {
		n.PayeeID = accountID(s.rng.IntN(chaosPayers))
	}
	if s.rng.IntN(10) == 0 {
		n.PayeeID = "closed"
	}
	return n
}

func (s *storm) over() bool { return time.Now().After(s.until) }

// mortal is a store whose process is killed at one of its calls: that one may or may not happen,
// and none after it does.
type mortal struct {
	dynamo.DB
	left atomic.Int64
	late bool
}

var errKilled = errors.New("this process was killed")

// live makes a call, unless the process is dead.
func live[In, Out any](
	m *mortal, ctx context.Context, in *In, do func(context.Context, *In) (*Out, error),
) (*Out, error) {
	left := m.left.Add(-1)
	if left < 0 || left == 0 && !m.late {
		return nil, errKilled
	}
	out, err := do(ctx, in)
	if left == 0 {
		return nil, errKilled
	}
	return out, err
}

func (m *mortal) Get(ctx context.Context, in *dynamo.GetInput) (*dynamo.GetOutput, error) {
	return live(m, ctx, in, m.DB.Get)
}

func (m *mortal) Put(ctx context.Context, in *dynamo.PutInput) (*dynamo.PutOutput, error) {
	return live(m, ctx, in, m.DB.Put)
}

func (m *mortal) Update(
	ctx context.Context, in *dynamo.UpdateInput,
) (*dynamo.UpdateOutput, error) {
	return live(m, ctx, in, m.DB.Update)
}

func (m *mortal) Delete(
	ctx context.Context, in *dynamo.DeleteInput,
) (*dynamo.DeleteOutput, error) {
	return live(m, ctx, in, m.DB.Delete)
}

func (m *mortal) Query(ctx context.Context, in *dynamo.QueryInput) (*dynamo.QueryOutput, error) {
	return live(m, ctx, in, m.DB.Query)
}

func (m *mortal) BatchGet(
	ctx context.Context, in *dynamo.BatchGetInput,
) (*dynamo.BatchGetOutput, error) {
	return live(m, ctx, in, m.DB.BatchGet)
}

func (m *mortal) TransactWrite(
	ctx context.Context, in *dynamo.TransactWriteInput,
) (*dynamo.TransactWriteOutput, error) {
	return live(m, ctx, in, m.DB.TransactWrite)
}

// process returns a scheduler with a ledger, a clock and a life of its own.
func (s *storm) process(lifeMost int) *payments.Scheduler {
	m := &mortal{DB: s.db, late: s.draw(2) == 0}
	m.left.Store(int64(1 + s.draw(lifeMost)))
	ahead := time.Duration(s.draw(120)-60) * time.Second // Clocks differ by up to a minute.
	now := func() time.Time { return s.clock.Now().Add(ahead) }
	store := singletable.NewStore(m, singletable.Options{
		Now: now, CursorKey: []byte("payments of tests"),
		Retry: singletable.Retry{Budget: 200 * time.Millisecond},
	})
	books, err := ledger.New(store, ledger.Options{Now: now})
	if err != nil {
		s.t.Error(err)
	}
	opts := s.opts
	opts.Now = now
	p, err := payments.New(store, books, opts)
	if err != nil {
		s.t.Error(err)
	}
	return p
}

// work runs workers, each until it is killed.
func (s *storm) work() {
	for !s.over() {
		ctx, cancel := context.WithDeadline(context.Background(), s.until)
		_, err := s.process(400).Run(ctx, payments.RunOptions{Callers: 3, Lease: 5 * time.Second})
		cancel()
		if errors.Is(err, errKilled) {
			s.kills.Add(1)
		}
		s.clock.Move(time.Duration(s.draw(30)-2) * time.Second)
	}
}

// insert sends every request, from processes that are killed, until it is answered.
func (s *storm) insert() {
	for _, n := range s.orders {
		for !s.over() {
			if _, err := s.process(20).Schedule(context.Background(), n); err == nil {
				break
			}
		}
	}
}

// insertAll sends every request once more. All of them are answered now.
func (s *storm) insertAll(p *payments.Scheduler) {
	for _, n := range s.orders {
		if _, err := p.Schedule(context.Background(), n); err != nil {
			s.t.Errorf("request %s: %v", n.Key, err)
		}
	}
}

// meddle cancels, changes and replays payments.
func (s *storm) meddle() {
	for !s.over() {
		p := s.process(30)
		n := s.orders[s.draw(len(s.orders))]
		r, err := p.Schedule(context.Background(), n)
		if err != nil {
			continue
		}
		switch s.draw(8) {
		case 0:
			_, _ = p.Cancel(context.Background(), r.ID, 0)
		case 1, 2:
			amount := nzd(fmt.Sprintf("%d.%02d", s.draw(50), 1+s.draw(99)))
			_, _ = p.Change(context.Background(), r.ID, payments.Change{Amount: &amount})
		case 3, 4:
			at := r.At.Add(time.Duration(s.draw(600)-300) * time.Second)
			_, _ = p.Change(context.Background(), r.ID, payments.Change{At: &at})
		case 5:
			_, _ = p.Replay(context.Background(), r.ID)
		default:
			_, _, _ = p.Pay(context.Background(), r.ID)
		}
	}
}

// archive moves the day again and again, though it is never over for good.
func (s *storm) archive() {
	for !s.over() {
		s.clock.Move(time.Duration(s.draw(300)) * time.Second)
		zone := time.FixedZone("", 12*3600)
		_, _ = s.process(300).MoveDay(context.Background(), "2019-09-25", zone, nil)
		<-time.After(5 * time.Millisecond)
	}
}

// finish lets everything take its course.
func (s *storm) finish() {
	for range 8 {
		s.clock.Move(4 * time.Hour)
		s.run()
	}
	s.clock.Move(48 * time.Hour)
	s.catchUp()
	for _, day := range []string{"2019-09-24", "2019-09-25"} {
		if moved := s.moveDay(day); !moved.Moved {
			s.t.Errorf("day %s is not moved: %+v", day, moved)
		}
	}
}

// judge compares ledger, scheduler and history.
func (s *storm) judge() {
	t := s.t
	want := map[ledger.AccountID]money.Amount{}
	for i := range chaosPayers {
		want[accountID(i)] = nzd("100")
	}
	want["closed"] = nzd("0")
	if left := s.items("PaymentScheduler", "Payment"); left != 0 {
		t.Errorf("%d payments are left in the scheduler's table", left)
	}
	if there := s.items("TransactionHistory", "Payment"); there != len(s.orders) {
		t.Errorf("%d payments are in the history, want %d", there, len(s.orders))
	}
	found := map[payments.PaymentID]bool{}
	for page, cursor := 0, ""; page == 0 || cursor != ""; page++ {
		rows, err := s.History(t.Context(), payments.Range{},
			payments.PageQuery{Size: 7, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range rows.Items {
			found[p.ID] = true
			s.judgeOne(p, want)
		}
		cursor = rows.Next
	}
	if len(found) != len(s.orders) {
		t.Errorf("the history lists %d payments, want %d", len(found), len(s.orders))
	}
	for id, balance := range want {
		if got := s.balance(id); got != balance.Text() {
			t.Errorf("balance of %s is %s, by the history it is %s", id, got, balance.Text())
		}
	}
	posted := 0
	for cursor, more := "", true; more; {
		page, err := s.books.TransactionsByStatus(t.Context(), ledger.StatusQuery{
			Status: ledger.Completed, PageQuery: ledger.PageQuery{Cursor: cursor},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range page.Items {
			if tx.Type == ledger.Payment {
				posted++
				if !found[payments.PaymentID(tx.IdempotencyKey)] {
					t.Errorf("transaction %s is of no payment", tx.ID)
				}
			}
		}
		cursor, more = page.Next, page.Next != ""
	}
	paid := 0
	for id := range found {
		if s.payment(id).Status == payments.Processed {
			paid++
		}
	}
	if posted != paid {
		t.Errorf("the ledger has %d transactions of %d paid payments", posted, paid)
	}
}

// judgeOne compares a payment with the ledger, and moves its money between the wanted balances.
func (s *storm) judgeOne(p payments.Payment, want map[ledger.AccountID]money.Amount) {
	e, err := s.books.EntryByKey(s.t.Context(), string(p.ID))
	switch {
	case p.Status == payments.Processed:
		if err != nil || e.Transaction.ID != p.TransactionID || e.Transaction.Amount != p.Amount {
			s.t.Errorf("payment %+v, transaction %+v, %v", p, e.Transaction, err)
			return
		}
		want[p.AccountID], _ = want[p.AccountID].Sub(p.Amount)
		want[p.PayeeID], _ = want[p.PayeeID].Add(p.Amount)
	case !errors.Is(err, ledger.ErrTransactionNotFound):
		s.t.Errorf("payment %s is %s and has a transaction: %v", p.ID, p.Status, err)
	case p.Status == payments.Failed && p.Reason == "":
		s.t.Errorf("payment %s failed without a reason", p.ID)
	case !p.Status.Final():
		s.t.Errorf("payment %s is %s in the end", p.ID, p.Status)
	}
}

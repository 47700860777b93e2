package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func TestModelHasNoFaults(t *testing.T) {
	b := openBank(t, payments.Options{})
	report := b.Model().Check()
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	// Few shards are the design's own; more are added as data. The control item is written with the
	// first payment. Lists have no data, by choice of the projection.
	for _, w := range report.Warnings {
		if !strings.Contains(w.Text, "shard") && !strings.Contains(w.Text, "DataBlob") {
			t.Errorf("unexpected warning: %s", w)
		}
	}
}

func TestAPaymentIsPaidOnce(t *testing.T) {
	for _, projection := range []payments.Projection{
		payments.ProjectNarrow, payments.ProjectAll, payments.ProjectKeys,
	} {
		t.Run(string(projection), func(t *testing.T) {
			b := openBank(t, payments.Options{Projection: projection})
			b.account("alice", "100")
			b.account("bob", "")
			p := b.schedule(order("k", "30"))
			if got := b.run(); got.Paid != 1 {
				t.Fatalf("report %+v", got)
			}
			got := b.payment(p.ID)
			if got.Status != payments.Processed || got.TransactionID == "" || got.Attempt != "" {
				t.Errorf("payment %+v", got)
			}
			b.wantBalances(map[ledger.AccountID]string{"alice": "70.00", "bob": "30.00"})
			if again := b.run(); again.Paid+again.Elsewhere != 0 {
				t.Errorf("second run %+v", again)
			}
			b.wantByTransaction(got)
			b.clock.Move(24 * time.Hour)
			day := b.moveDay("2019-09-25")
			if !day.Moved || day.Copied != 1 || day.Removed != 1 || len(day.Totals) != 1 ||
				day.Totals[0].Sum.Text() != "30.00" {
				t.Errorf("move: %+v", day)
			}
			b.wantByTransaction(got)
			if again := b.moveDay("2019-09-25"); !again.Moved || again.Copied+again.Removed != 0 {
				t.Errorf("moved again: %+v", again)
			}
			noted, begun, err := b.MovedDay(t.Context(), "2019-09-25", time.UTC)
			if err != nil || !begun || !noted.Moved || noted.Totals[0].Count != 1 {
				t.Errorf("noted %+v, %t, %v", noted, begun, err)
			}
		})
	}
}

func (b *bank) wantByTransaction(p payments.Payment) {
	b.t.Helper()
	found, err := b.PaymentByTransaction(b.t.Context(), p.TransactionID)
	if err != nil || found.ID != p.ID || found.Status != payments.Processed {
		b.t.Errorf("payment by transaction: %+v, %v", found, err)
	}
}

func TestAMerchantIsPaid(t *testing.T) {
	b := openRich(t)
	if _, err := b.books.CreateMerchant(t.Context(), ledger.NewMerchant{
		ID: "shop", Name: "Shop", SettlementAccountID: "bob",
	}); err != nil {
		t.Fatal(err)
	}
	n := order("k", "3")
	n.PayeeID, n.MerchantID = "", "shop"
	b.schedule(n)
	b.run()
	if got := b.balance("bob"); got != "3.00" {
		t.Errorf("the shop has %s", got)
	}
}

func TestNothingIsPaidBeforeItsTimeAndNothingForgotten(t *testing.T) {
	b := openRich(t)
	n := order("k", "5")
	n.At = start.Add(time.Hour)
	b.schedule(n)
	b.clock.Move(time.Hour - time.Millisecond)
	if r := b.run(); r != (payments.Report{}) {
		t.Errorf("a millisecond early: %+v", r)
	}
	b.clock.Move(time.Millisecond)
	if r := b.run(); r.Paid != 1 {
		t.Errorf("on time: %+v", r)
	}
	late := order("late", "5")
	late.At = start.AddDate(-1, 0, 0) // The scheduler was down for a year.
	b.schedule(late)
	if r := b.run(); r.Paid != 1 {
		t.Errorf("a year late: %+v", r)
	}
}

func TestWhatWillNotPassFailsAtOnce(t *testing.T) {
	b := openRich(t)
	for payee, reason := range map[ledger.AccountID]string{
		"carol": "account_closed", "nobody": "account_not_found", "usd": "currency_mismatch",
	} {
		n := order("to "+string(payee), "5")
		n.PayeeID = payee
		b.account(payee, "")
		p := b.schedule(n)
		switch payee { // What comes to pass after a payment was scheduled.
		case "carol":
			if _, err := b.books.CloseAccount(t.Context(), payee); err != nil {
				t.Fatal(err)
			}
		default:
			b.vanish(payee)
			if payee == "usd" {
				b.open(ledger.NewAccount{
					ID: payee, UserID: "u", AccountType: "x", Currency: "USD",
				}, "")
			}
		}
		if r := b.run(); r.Failed != 1 {
			t.Errorf("to %s: %+v", payee, r)
		}
		got := b.payment(p.ID)
		if got.Status != payments.Failed || string(got.Reason) != reason || got.ReasonText == "" {
			t.Errorf("to %s: %+v", payee, got)
		}
		if _, err := b.books.EntryByKey(t.Context(), string(p.ID)); !errors.Is(err,
			ledger.ErrTransactionNotFound) {
			t.Errorf("to %s: the ledger has something: %v", payee, err)
		}
	}
	page, err := b.PaymentsByStatus(t.Context(), payments.Failed, payments.Range{},
		payments.PageQuery{})
	if err != nil || len(page.Items) != 3 || page.Items[0].Reason == "" {
		t.Errorf("the list of failures: %+v, %v", page.Items, err)
	}
}

func TestWhatMayPassIsTriedAgainAndThenFails(t *testing.T) {
	b := openBank(t, payments.Options{Retry: payments.Retry{
		Attempts: 3, First: time.Minute, Last: time.Hour,
	}})
	b.account("alice", "")
	b.account("bob", "")
	b.account("carol", "100")
	p := b.schedule(order("k", "5"))
	for i, wait := range []time.Duration{time.Minute, 2 * time.Minute} {
		if r := b.run(); r.Postponed != 1 {
			t.Fatalf("attempt %d: %+v", i+1, r)
		}
		got := b.payment(p.ID)
		if got.Status != payments.Pending || got.Attempts != i+1 || got.Attempt != "" ||
			got.Reason != "insufficient_funds" || !got.Until.Equal(b.clock.Now().Add(wait)) {
			t.Fatalf("after attempt %d: %+v", i+1, got)
		}
		b.clock.Move(wait - time.Millisecond)
		if r := b.run(); r.Postponed+r.Paid != 0 || r.Waiting != 1 {
			t.Fatalf("before its time: %+v", r)
		}
		b.clock.Move(time.Millisecond)
	}
	if r := b.run(); r.Failed != 1 {
		t.Fatalf("the last attempt: %+v", r)
	}
	p = b.payment(p.ID)
	if p.Status != payments.Failed || p.Reason != "insufficient_funds" {
		t.Fatalf("payment %+v", p)
	}

	// It goes to the history, funds come in, and it is replayed from there.
	b.clock.Move(24 * time.Hour)
	b.moveDay("2019-09-25")
	in := ledger.TransferBetween("carol", "alice", nzd("50"))
	if _, err := b.books.Post(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	replayed, err := b.Replay(t.Context(), p.ID)
	if err != nil || replayed.Status != payments.Scheduled || replayed.Attempts != 0 {
		t.Fatalf("replay: %+v, %v", replayed, err)
	}
	if again, err := b.Replay(t.Context(), p.ID); err != nil || again.Version != replayed.Version {
		t.Errorf("replayed again: %+v, %v", again, err)
	}
	if r := b.run(); r.Paid != 1 {
		t.Errorf("after the replay: %+v", r)
	}
	if _, err := b.Replay(t.Context(), p.ID); !errors.Is(err, payments.ErrNotFailed) {
		t.Errorf("replay of a paid one: %v", err)
	}
	if day := b.moveDay("2019-09-25"); !day.Moved || day.Copied != 1 {
		t.Errorf("moved after the replay: %+v", day)
	}
	b.wantBalances(map[ledger.AccountID]string{"alice": "45.00", "bob": "5.00"})
}

func TestMoneyThatComesInMeanwhileIsEnough(t *testing.T) {
	b := openBank(t, payments.Options{})
	b.account("alice", "")
	b.account("bob", "")
	b.schedule(order("k", "5"))
	b.run()
	if _, err := b.books.Post(t.Context(), ledger.DepositInto("alice", nzd("5"))); err != nil {
		t.Fatal(err)
	}
	b.clock.Move(time.Hour)
	if r := b.run(); r.Paid != 1 {
		t.Errorf("report %+v", r)
	}
}

func TestChange(t *testing.T) {
	b := openRich(t)
	b.account("carol", "")
	p := b.schedule(order("k", "5"))
	amount, payee, later := nzd("7"), ledger.AccountID("carol"), start.Add(time.Hour)
	text := "Rent, corrected"
	got := b.change(p.ID, payments.Change{
		Version: p.Version, Amount: &amount, PayeeID: &payee, At: &later, Description: &text,
	})
	if got.Version != 2 || got.Amount != amount || got.PayeeID != payee || !got.At.Equal(later) ||
		got.Description != text {
		t.Errorf("changed %+v", got)
	}
	if found := b.payment(p.ID); found.Amount != amount || !found.At.Equal(later) {
		t.Errorf("found %+v", found)
	}
	_, err := b.Change(t.Context(), p.ID, payments.Change{Version: 1, Amount: &amount})
	if !errors.Is(err, payments.ErrChanged) {
		t.Errorf("with an old version: %v", err)
	}
	zero, usd := nzd("0"), money.MustParse("1", "USD")
	self := ledger.AccountID("alice")
	for name, test := range map[string]struct {
		change payments.Change
		want   error
	}{
		"an amount of nothing": {payments.Change{Amount: &zero}, payments.ErrAmountNotPositive},
		"another currency":     {payments.Change{Amount: &usd}, payments.ErrCurrencyMismatch},
		"itself as payee":      {payments.Change{PayeeID: &self}, payments.ErrInvalidRequest},
	} {
		if _, err := b.Change(t.Context(), p.ID, test.change); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.clock.Move(time.Hour)
	b.run()
	b.wantBalances(map[ledger.AccountID]string{"carol": "7.00", "bob": "0.00"})
	if _, err := b.Change(t.Context(), p.ID, payments.Change{Amount: &amount}); !errors.Is(err,
		payments.ErrFinal) {
		t.Errorf("after it was paid: %v", err)
	}
	if _, err := b.Cancel(t.Context(), p.ID, 0); !errors.Is(err, payments.ErrFinal) {
		t.Errorf("cancelled after it was paid: %v", err)
	}
	if _, err := b.Cancel(t.Context(), "nobody's", 0); !errors.Is(err, payments.ErrNotFound) {
		t.Errorf("an unknown payment: %v", err)
	}
}

// Of a cancellation and a claim at once one wins, and both sides are told.
func TestCancelAndClaimHaveOneWinner(t *testing.T) {
	b := openRich(t)
	want := money.Amount{}
	paid, cancelled := 0, 0
	for i := range storetest.Rounds(60) {
		p := b.schedule(order(fmt.Sprint(i), "1"))
		var outcome payments.Outcome
		var payErr, cancelErr error
		var both sync.WaitGroup
		both.Go(func() { _, outcome, payErr = b.Pay(context.Background(), p.ID) })
		both.Go(func() { _, cancelErr = b.Cancel(context.Background(), p.ID, 0) })
		both.Wait()
		if payErr != nil {
			t.Fatal(payErr)
		}
		got := b.payment(p.ID)
		switch {
		case got.Status == payments.Processed && outcome == payments.Paid &&
			(errors.Is(cancelErr, payments.ErrClaimed) || errors.Is(cancelErr, payments.ErrFinal)):
			paid++
			want, _ = want.Add(p.Amount)
		case got.Status == payments.Cancelled && outcome == payments.Withdrawn && cancelErr == nil:
			cancelled++
		default:
			t.Fatalf("%s, the payer was told %s, the canceller %v", got.Status, outcome, cancelErr)
		}
	}
	if got := b.balance("bob"); paid > 0 && got != want.Text() {
		t.Errorf("bob has %s, want %s", got, want.Text())
	}
	t.Logf("%d paid, %d cancelled", paid, cancelled)
}

// A hundred workers see the same list of what is due, also as one that indexes show too late.
func TestAHundredWorkersPayOnce(t *testing.T) {
	b := openRich(t)
	const count = 60
	for i := range count {
		b.schedule(order(fmt.Sprint(i), "1"))
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	paid := 0
	for i := range 100 {
		worker := b.another()
		all.Go(func() {
			// Some share the shards by leases, some go at the payments themselves.
			if i%2 == 0 {
				r, err := worker.Run(context.Background(), payments.RunOptions{Callers: 4})
				mu.Lock()
				defer mu.Unlock()
				paid += r.Paid
				if err != nil {
					t.Error(err)
				}
				return
			}
			page, err := worker.PaymentsOfAccount(context.Background(), "alice", payments.Range{},
				payments.PageQuery{})
			if err != nil {
				t.Error(err)
			}
			for _, p := range page.Items {
				_, outcome, err := worker.Pay(context.Background(), p.ID)
				if err != nil {
					t.Error(err)
				}
				if outcome == payments.Paid {
					mu.Lock()
					paid++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if paid != count {
		t.Errorf("%d were paid, by what the workers say; want %d", paid, count)
	}
	if got := b.balance("bob"); got != "60.00" {
		t.Errorf("bob has %s", got)
	}
}

// A worker dies between its claim and the settlement. Its claim runs out, and another worker pays.
func TestAClaimThatNobodyFinishesIsTakenOver(t *testing.T) {
	b := openRich(t)
	p := b.schedule(order("k", "5"))
	dead := errors.New("killed")
	// The settlement fails in a way that nobody knows about, and so does what would be noted of it.
	b.faces.on(func(op string, in any) error {
		if op == "TransactWrite" {
			return dead
		}
		if u, ok := in.(*dynamo.UpdateInput); ok && u.TableName == payments.TableNameDefault &&
			b.payment(p.ID).Status == payments.Pending {
			return dead
		}
		return nil
	}, nil)
	if _, err := b.Run(t.Context(), payments.RunOptions{}); !errors.Is(err, dead) {
		t.Fatalf("run: %v", err)
	}
	b.faces.on(nil, nil)
	if got := b.payment(p.ID); got.Status != payments.Pending || got.Attempt == "" {
		t.Fatalf("payment %+v", got)
	}
	if _, err := b.Cancel(t.Context(), p.ID, 0); !errors.Is(err, payments.ErrClaimed) {
		t.Errorf("cancel while it is claimed: %v", err)
	}
	until := b.payment(p.ID).Until
	if r := b.run(); r.Paid+r.Waiting != 0 || r.Claimed != 1 || !r.ClaimedUntil.Equal(until) {
		t.Errorf("while the claim lasts: %+v, want one claim until %s", r, until)
	}
	b.clock.Move(payments.LeaseDefault)
	if r := b.run(); r.Paid != 1 {
		t.Errorf("after it: %+v", r)
	}
}

// A claim runs out while its worker still works. The other worker pays, and the first one is told.
func TestALeaseThatRunsOutNeverPaysTwice(t *testing.T) {
	b := openRich(t)
	p := b.schedule(order("k", "5"))
	held, goOn := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	b.faces.on(func(op string, _ any) error {
		if op == "TransactWrite" && first.CompareAndSwap(false, true) {
			close(held)
			<-goOn
		}
		return nil
	}, nil)
	slow := make(chan payments.Outcome)
	go func() {
		_, outcome, err := b.Pay(context.Background(), p.ID)
		if err != nil {
			t.Error(err)
		}
		slow <- outcome
	}()
	<-held
	b.clock.Move(payments.LeaseDefault)
	other := b.anotherProcess(t)
	if _, outcome, err := other.Pay(t.Context(), p.ID); err != nil || outcome != payments.Paid {
		t.Errorf("the second worker: %s, %v", outcome, err)
	}
	close(goOn)
	// The first finds that the transaction is there and that the payment is not its own any more.
	if outcome := <-slow; outcome != payments.PaidBefore {
		t.Errorf("the first worker: %s", outcome)
	}
	if got := b.balance("bob"); got != "5.00" {
		t.Errorf("bob has %s", got)
	}
}

// anotherProcess returns a scheduler with a ledger of its own, as in another process.
func (b *bank) anotherProcess(t *testing.T) *payments.Scheduler {
	t.Helper()
	books, err := ledger.New(b.store, ledger.Options{Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	opts := b.opts
	opts.Now = b.clock.Now
	s, err := payments.New(b.store, books, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARunIsPaced(t *testing.T) {
	for _, callers := range []int{1, 10} {
		b := openRich(t)
		for i := range 10 {
			b.schedule(order(fmt.Sprint(i), "1"))
		}
		begin := time.Now()
		// A payment takes about 25 units, and the first needs no waiting for.
		r, err := b.Run(t.Context(), payments.RunOptions{Units: 500, Callers: callers})
		if err != nil || r.Paid != 10 || r.Units < 100 {
			t.Fatalf("run: %+v, %v", r, err)
		}
		least := time.Duration((r.Units - r.Units/5) / 500 * float64(time.Second))
		if took := time.Since(begin); took < least {
			t.Errorf("%v units at 500 a second by %d callers took %v", r.Units, callers, took)
		}
	}
}

func TestARunThatIsToldToStopFinishesWhatItBegan(t *testing.T) {
	b := openRich(t)
	for i := range 50 {
		b.schedule(order(fmt.Sprint(i), "1"))
	}
	ctx, stop := context.WithCancel(t.Context())
	r, err := b.Run(ctx, payments.RunOptions{Callers: 4, Progress: func(r payments.Report) {
		if r.Paid == 10 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || r.Paid < 10 || r.Paid > 20 {
		t.Errorf("run: %+v, %v", r, err)
	}
	page, err := b.PaymentsByStatus(t.Context(), payments.Pending, payments.Range{},
		payments.PageQuery{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d payments are pending, error %v", len(page.Items), err)
	}
	if rest := b.run(); rest.Paid != 50-r.Paid {
		t.Errorf("the rest: %+v", rest)
	}
}

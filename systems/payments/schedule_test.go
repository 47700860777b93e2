package payments_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// openRich opens a bank where alice has plenty and bob nothing.
func openRich(t *testing.T) *bank {
	b := openBank(t, payments.Options{})
	b.account("alice", "1000000")
	b.account("bob", "")
	return b
}

func TestStoredItemIsTheDesigns(t *testing.T) {
	b := openRich(t)
	n := order("k", "12.50")
	n.Data = []byte("8 KB of anything")
	p := b.schedule(n)
	const at = "2019-09-25T01:01:01.000Z"
	out, err := b.db.Get(t.Context(), &dynamo.GetInput{
		TableName: "PaymentScheduler", ConsistentRead: true, Key: dynamo.Key{
			"AccountID": dynamo.S("alice"), "ScheduledTime": dynamo.S(at + "#" + string(p.ID)),
		},
	})
	if err != nil || out.Item == nil {
		t.Fatalf("item %v, error %v", out, err)
	}
	if got := out.Item["Status#Time"].S(); got != "SCHEDULED#"+at+"#"+string(p.ID) {
		t.Errorf("Status#Time is %q", got)
	}
	shard := out.Item["Sharded-GSI-PK"]
	if shard.Kind() != dynamo.KindS || shard.S() < "0" || shard.S() > "4" || len(shard.S()) != 1 {
		t.Errorf("Sharded-GSI-PK is %v", shard)
	}
	if got := string(out.Item["DataBlob"].B()); got != "8 KB of anything" {
		t.Errorf("DataBlob is %q", got)
	}
	if got := out.Item["Amount"].N(); got != "12.5" {
		t.Errorf("Amount is %s", got)
	}
}

func TestTheLargestPaymentFitsEightUnits(t *testing.T) {
	b := openBank(t, payments.Options{})
	long := func(c string) string { return strings.Repeat(c, 64) }
	b.open(ledger.NewAccount{ID: ledger.AccountID(long("a")), UserID: "u", AccountType: "x",
		Currency: "NZD", Zone: "America/Argentina/ComodRivadavia"}, "")
	b.account(ledger.AccountID(long("b")), "")
	p := b.schedule(payments.NewPayment{
		Key: "k", AccountID: ledger.AccountID(long("a")), PayeeID: ledger.AccountID(long("b")),
		Amount: nzd("999999999999999999999999999999999999.99"), At: start,
		Description: strings.Repeat("d", 280), Data: make([]byte, payments.DataMax),
	})
	b.vanish(ledger.AccountID(long("b")))
	if got := b.run(); got.Failed != 1 { // The payee does not exist: the item has a reason then.
		t.Fatalf("report %+v", got)
	}
	out, err := b.db.Get(t.Context(), &dynamo.GetInput{
		TableName: "PaymentScheduler", ConsistentRead: true, Key: dynamo.Key{
			"AccountID":     dynamo.S(long("a")),
			"ScheduledTime": dynamo.S("2019-09-25T01:01:01.000Z#" + string(p.ID)),
		},
	})
	if err != nil || out.Item == nil {
		t.Fatalf("item %v, error %v", out, err)
	}
	if size := out.Item.Size(); size > 8192 {
		t.Errorf("the item has %d bytes", size)
	}
}

func TestScheduleRefuses(t *testing.T) {
	b := openRich(t)
	for name, test := range map[string]struct {
		change func(*payments.NewPayment)
		want   error
		field  string
	}{
		"no payer": {func(n *payments.NewPayment) { n.AccountID = "" },
			payments.ErrInvalidRequest, "accountId"},
		"one of the ledger's own accounts": {func(n *payments.NewPayment) {
			n.AccountID = "@fees-NZD"
		}, payments.ErrInvalidRequest, "accountId"},
		"no payee": {func(n *payments.NewPayment) { n.PayeeID = "" },
			payments.ErrInvalidRequest, "payeeId"},
		"two payees": {func(n *payments.NewPayment) { n.MerchantID = "shop" },
			payments.ErrInvalidRequest, "merchantId"},
		"itself": {func(n *payments.NewPayment) { n.PayeeID = "alice" },
			payments.ErrInvalidRequest, "payeeId"},
		"no time": {func(n *payments.NewPayment) { n.At = time.Time{} },
			payments.ErrInvalidRequest, "at"},
		"a year of five digits": {func(n *payments.NewPayment) { n.At = start.AddDate(9000, 0, 0) },
			payments.ErrInvalidRequest, "at"},
		"a long description": {func(n *payments.NewPayment) {
			n.Description = strings.Repeat("d", 281)
		}, payments.ErrInvalidRequest, "description"},
		"much data": {func(n *payments.NewPayment) { n.Data = make([]byte, payments.DataMax+1) },
			payments.ErrDataTooLarge, "data"},
		"a long key": {func(n *payments.NewPayment) { n.Key = strings.Repeat("k", 256) },
			payments.ErrInvalidKey, "idempotencyKey"},
		"nothing": {func(n *payments.NewPayment) { n.Amount = nzd("0") },
			payments.ErrAmountNotPositive, "amount"},
		"a third of a cent": {func(n *payments.NewPayment) { n.Amount = nzd("0.333") },
			payments.ErrTooManyFractionDigits, "amount"},
		"an unknown account": {func(n *payments.NewPayment) { n.AccountID = "carol" },
			payments.ErrAccountNotFound, "accountId"},
		"another currency": {func(n *payments.NewPayment) {
			n.Amount = money.MustParse("1", "USD")
		}, payments.ErrCurrencyMismatch, "currency"},
	} {
		t.Run(name, func(t *testing.T) {
			n := order("k", "1")
			test.change(&n)
			_, err := b.Schedule(t.Context(), n)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if fields := fieldsOf(err); len(fields) != 1 || fields[0] != test.field {
				t.Errorf("fields %v, want %s", fields, test.field)
			}
		})
	}
	page, err := b.PaymentsOfAccount(t.Context(), "alice", payments.Range{}, payments.PageQuery{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("a refusal left %d payments, error %v", len(page.Items), err)
	}
}

func TestARepeatIsHarmlessWhateverBecameOfThePayment(t *testing.T) {
	for name, fate := range map[string]func(b *bank, p payments.Payment){
		"nothing": func(*bank, payments.Payment) {},
		"it was changed": func(b *bank, p payments.Payment) {
			amount := nzd("7")
			b.change(p.ID, payments.Change{Amount: &amount})
		},
		"it was put off": func(b *bank, p payments.Payment) {
			later := start.Add(time.Hour)
			b.change(p.ID, payments.Change{At: &later})
		},
		"it was cancelled": func(b *bank, p payments.Payment) { b.cancel(p.ID) },
		"it was paid":      func(b *bank, p payments.Payment) { b.run() },
		"it was put off, paid and moved": func(b *bank, p payments.Payment) {
			later := start.Add(time.Hour)
			b.change(p.ID, payments.Change{At: &later})
			b.clock.Move(24 * time.Hour)
			b.run()
			b.moveDay("2019-09-25")
		},
		"it was cancelled and moved": func(b *bank, p payments.Payment) {
			b.cancel(p.ID)
			b.clock.Move(24 * time.Hour)
			b.moveDay("2019-09-25")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openRich(t)
			n := order("k", "5")
			first := b.schedule(n)
			fate(b, first)
			was := b.payment(first.ID)
			for range 2 {
				again, err := b.Schedule(t.Context(), n)
				if err != nil || !again.Replayed || again.ID != first.ID ||
					again.Version != was.Version || again.Status != was.Status {
					t.Fatalf("repeat gave %+v, %v; want %+v", again, err, was)
				}
			}
			n.Amount = nzd("6")
			_, err := b.Schedule(t.Context(), n)
			if !errors.Is(err, payments.ErrKeyConflict) || fieldsOf(err)[0] != "amount" {
				t.Errorf("clash: %v", err)
			}
			b.clock.Move(48 * time.Hour)
			b.run()
			if got := b.balance("bob"); got != b.due(was) {
				t.Errorf("bob has %s in the end, want %s", got, b.due(was))
			}
		})
	}
}

// due is what the payee has once a payment took its course.
func (b *bank) due(p payments.Payment) string {
	if p.Status == payments.Cancelled {
		return "0.00"
	}
	return p.Amount.Text()
}

func TestEqualRequestsWithoutAKeyAreTwoPayments(t *testing.T) {
	b := openRich(t)
	one, other := b.schedule(order("", "5")), b.schedule(order("", "5"))
	if one.ID == other.ID {
		t.Fatal("the two are one")
	}
	b.run()
	if got := b.balance("bob"); got != "10.00" {
		t.Errorf("bob has %s", got)
	}
}

func TestTheSameKeyOfTwoAccountsIsTwoPayments(t *testing.T) {
	b := openRich(t)
	b.account("carol", "10")
	n := order("k", "5")
	one := b.schedule(n)
	n.AccountID = "carol"
	if other := b.schedule(n); other.ID == one.ID {
		t.Error("the two are one")
	}
}

func TestManyCallersWithOneKeyMakeOnePayment(t *testing.T) {
	b := openRich(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	ids, fresh := map[payments.PaymentID]bool{}, 0
	for range 100 {
		all.Go(func() {
			r, err := b.Schedule(context.Background(), order("k", "5"))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			ids[r.ID] = true
			if !r.Replayed {
				fresh++
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || fresh > 1 {
		t.Errorf("%d payments, %d of them new", len(ids), fresh)
	}
	b.run()
	if got := b.balance("bob"); got != "5.00" {
		t.Errorf("bob has %s", got)
	}
}

// ofAPayment tells whether a call puts a payment or its identity; the first payment of all stores
// the number of shards before that.
func ofAPayment(op string, in any) bool {
	put, ok := in.(*dynamo.PutInput)
	return ok && op == "Put" && put.Item["Type"].S() != "ShardEpochs"
}

// A request stops between its two writes. The payment is not there; the same request completes it.
func TestARequestThatStoppedHalfWayIsCompleted(t *testing.T) {
	b := openRich(t)
	stop := errors.New("pulled the plug")
	puts := 0
	b.faces.on(func(op string, in any) error {
		if !ofAPayment(op, in) {
			return nil
		}
		if puts++; puts == 2 {
			return stop
		}
		return nil
	}, nil)
	_, err := b.Schedule(t.Context(), order("k", "5"))
	b.faces.on(nil, nil)
	if !errors.Is(err, stop) {
		t.Fatalf("error %v", err)
	}
	page, err := b.PaymentsOfAccount(t.Context(), "alice", payments.Range{}, payments.PageQuery{})
	if err != nil || len(page.Items) != 0 {
		t.Fatalf("there are %d payments, error %v", len(page.Items), err)
	}
	r, err := b.Schedule(t.Context(), order("k", "5"))
	if err != nil {
		t.Fatal(err)
	}
	if got := b.run(); got.Paid != 1 {
		t.Errorf("report %+v", got)
	}
	if got := b.payment(r.ID); got.Status != payments.Processed {
		t.Errorf("payment %+v", got)
	}
}

// A request stops for long between its two writes; an equal one completes it, and the payment goes
// its way, out of the table. The first one then goes on, and writes a payment that must not count.
func TestALateSecondWriteIsNotPaid(t *testing.T) {
	for name, fate := range map[string]struct {
		do   func(b *bank, p payments.Payment)
		want string
	}{
		"after it was paid": {func(b *bank, _ payments.Payment) { b.run() }, "5.00"},
		"after it was cancelled": {func(b *bank, p payments.Payment) { b.cancel(p.ID) },
			"0.00"},
		"after it was put off": {func(b *bank, p payments.Payment) {
			later := start.Add(time.Hour)
			b.change(p.ID, payments.Change{At: &later})
		}, "5.00"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openRich(t)
			held, goOn := make(chan struct{}), make(chan struct{})
			puts := 0
			b.faces.on(func(op string, in any) error {
				if !ofAPayment(op, in) {
					return nil
				}
				if puts++; puts == 2 {
					close(held)
					<-goOn
				}
				return nil
			}, nil)
			var first payments.Receipt
			late := make(chan error)
			go func() {
				var err error
				first, err = b.Schedule(context.Background(), order("k", "5"))
				late <- err
			}()
			<-held
			b.faces.on(nil, nil)
			p := b.schedule(order("k", "5"))
			fate.do(b, p)
			b.clock.Move(24 * time.Hour)
			b.moveDay("2019-09-25")
			close(goOn)
			if err := <-late; err != nil {
				t.Fatal(err)
			}
			// The answer is the payment as it is, and no list has another one.
			if diff := cmp.Diff(b.payment(p.ID), first.Payment); diff != "" {
				t.Errorf("the late answer (-stored +answered):\n%s", diff)
			}
			list, err := b.PaymentsOfAccount(t.Context(), "alice", payments.Range{},
				payments.PageQuery{})
			if err != nil || len(list.Items) != 1 {
				t.Errorf("after the late answer there are %+v, error %v", list.Items, err)
			}
			b.clock.Move(time.Hour)
			b.run()
			b.run()
			if got := b.balance("bob"); got != fate.want {
				t.Errorf("bob has %s, want %s", got, fate.want)
			}
			page, err := b.PaymentsOfAccount(t.Context(), "alice", payments.Range{},
				payments.PageQuery{})
			if err != nil || len(page.Items) != 1 || !page.Items[0].Status.Final() {
				t.Errorf("in the end there are %+v, error %v", page.Items, err)
			}
		})
	}
}

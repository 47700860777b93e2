package payments_test

import (
	"errors"
	"fmt"
	"testing"
	"time"
	_ "time/tzdata" // The zones of these tests, wherever they run.

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/when"
)

// openStreet opens accounts and merchants of every sort.
func openStreet(t *testing.T) *bank {
	b := openRich(t)
	b.account("closed", "")
	b.account("frozen", "10")
	b.open(ledger.NewAccount{ID: "usd", UserID: "u", AccountType: "x", Currency: "USD"}, "")
	for _, m := range []ledger.NewMerchant{
		{ID: "shop", Name: "Shop", SettlementAccountID: "bob"},
		{ID: "away", Name: "Away", SettlementAccountID: "usd"},
		{ID: "shut", Name: "Shut", SettlementAccountID: "closed"},
		{ID: "cash", Name: "Cash"},
	} {
		if _, err := b.books.CreateMerchant(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.books.CloseAccount(t.Context(), "closed"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.books.FreezeAccount(t.Context(), "frozen"); err != nil {
		t.Fatal(err)
	}
	return b
}

// neverPaid are payments that the ledger refuses for good, with the problem and the member that it
// is about. Those without a problem may pass in time.
var neverPaid = map[string]struct {
	payer  ledger.AccountID
	payee  ledger.AccountID
	shop   ledger.MerchantID
	amount string
	want   error
	field  string
}{
	"to an account that does not exist": {payee: "nobody", want: ledger.ErrAccountNotFound,
		field: "payeeId"},
	"to a closed account": {payee: "closed", want: ledger.ErrAccountClosed, field: "payeeId"},
	"to an account of another currency": {payee: "usd", want: ledger.ErrCurrencyMismatch,
		field: "payeeId"},
	"to one of the ledger's own that is none": {payee: "@nothing", want: ledger.ErrAccountNotFound,
		field: "payeeId"},
	"to a merchant that does not exist": {shop: "nowhere", want: ledger.ErrMerchantNotFound,
		field: "merchantId"},
	"to a merchant without an account": {shop: "cash", want: ledger.ErrNoSettlementAccount,
		field: "merchantId"},
	"to a merchant with a closed account": {shop: "shut", want: ledger.ErrAccountClosed,
		field: "merchantId"},
	"to a merchant of another currency": {shop: "away", want: ledger.ErrCurrencyMismatch,
		field: "merchantId"},
	"from an account that does not exist": {payer: "nobody", payee: "bob",
		want: payments.ErrAccountNotFound, field: "accountId"},
	"from a closed account": {payer: "closed", payee: "bob", want: ledger.ErrAccountClosed,
		field: "accountId"},
	"from an account of another currency": {payer: "usd", payee: "bob",
		want: payments.ErrCurrencyMismatch, field: "currency"},
	"with too many digits": {payee: "bob", amount: "1.001",
		want: payments.ErrTooManyFractionDigits, field: "amount"},
	"from a frozen account": {payer: "frozen", payee: "bob"},
	"to a frozen account":   {payee: "frozen"},
	"without the funds":     {payer: "bob", payee: "alice", amount: "1000"},
	"to the ledger's fees":  {payee: "@fees"},
	"to a merchant":         {shop: "shop"},
}

func TestWhatCanNeverBePaidIsNotScheduled(t *testing.T) {
	b := openStreet(t)
	for name, c := range neverPaid {
		n := order(name, "1")
		n.PayeeID, n.MerchantID = c.payee, c.shop
		if c.payer != "" {
			n.AccountID = c.payer
		}
		if c.amount != "" {
			n.Amount = nzd(c.amount)
		}
		r, err := b.Schedule(t.Context(), n)
		checkDoor(t, name, err, c.want, c.field)
		if c.want == nil {
			continue
		}
		if _, err := b.Payment(t.Context(), r.ID); r.ID != "" || err == nil {
			t.Errorf("%s: the payment %q is there all the same", name, r.ID)
		}
	}
	if left := b.items("PaymentScheduler", "PaymentIdentity"); left != 5 {
		t.Errorf("%d payments have an identity, where 5 were accepted", left)
	}
}

func TestNoPaymentIsChangedIntoOneThatCanNeverBePaid(t *testing.T) {
	b := openStreet(t)
	for name, c := range neverPaid {
		if c.payer != "" {
			continue // The payer is never changed.
		}
		p := b.schedule(order(name, "1"))
		var change payments.Change
		if c.payee != "" {
			change.PayeeID = &c.payee
		}
		if c.shop != "" {
			change.MerchantID = &c.shop
		}
		if c.amount != "" {
			amount := nzd(c.amount)
			change.Amount = &amount
		}
		_, err := b.Change(t.Context(), p.ID, change)
		checkDoor(t, name, err, c.want, c.field)
		if got := b.payment(p.ID); c.want != nil && (got.Version != 1 || got.PayeeID != "bob") {
			t.Errorf("%s: the refused change left %+v", name, got)
		}
	}
}

func checkDoor(t *testing.T, name string, err, want error, field string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", name, err, want)
		return
	}
	if want == nil {
		return
	}
	if fields := problem.From(err).Fields; len(fields) != 1 || fields[0].Name != field {
		t.Errorf("%s: the fields are %v, want %s", name, fields, field)
	}
}

// A payment that was accepted is found by its request, whatever became of its accounts since.
func TestARepeatIsNotRefused(t *testing.T) {
	b := openRich(t)
	b.account("carol", "")
	b.account("dave", "10")
	for _, n := range []payments.NewPayment{
		{Key: "a", AccountID: "alice", PayeeID: "carol", Amount: nzd("1"), At: start},
		{Key: "b", AccountID: "dave", PayeeID: "bob", Amount: nzd("10"),
			Due: must(when.Parse("2019-09-26T10:00"))},
	} {
		first := b.schedule(n)
		b.clock.Move(24 * time.Hour)
		b.run()
		for _, id := range []ledger.AccountID{"carol", "dave"} {
			if a, _ := b.books.Account(t.Context(), id); a.Balance.Sign() == 0 {
				if _, err := b.books.CloseAccount(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
		}
		again, err := b.Schedule(t.Context(), n)
		if err != nil || !again.Replayed || again.ID != first.ID {
			t.Errorf("repeat of %s: %+v, %v", n.Key, again, err)
		}
		n.Description = "another"
		if _, err := b.Schedule(t.Context(), n); !errors.Is(err, payments.ErrKeyConflict) {
			t.Errorf("another request with the key %s: %v", n.Key, err)
		}
		if b.balance("carol") == "1.00" {
			if _, err := b.books.Post(t.Context(), ledger.TransferBetween("carol", "bob",
				nzd("1"))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// To look at the door takes one read unit for each account, and one for a merchant once. One more
// is the look at the identity after the payment was written.
func TestWhatTheDoorTakes(t *testing.T) {
	b := openStreet(t)
	b.schedule(order("first", "1")) // It stores the number of shards.
	for i, want := range []float64{3, 3, 4, 3} {
		n := order(fmt.Sprint(i), "1")
		if i >= 2 {
			n.PayeeID, n.MerchantID = "", "shop"
		}
		ctx, meter := singletable.WithMeter(t.Context())
		if _, err := b.Schedule(ctx, n); err != nil {
			t.Fatal(err)
		}
		if got := meter.Read(); got > want {
			t.Errorf("payment %d took %.1f read units, want at most %.1f", i, got, want)
		}
	}
}

// A day is the day of the account that pays, whichever way it is given, and is listed under it.
func TestADayIsTheDayOfThePayer(t *testing.T) {
	b := openRich(t)
	for i, name := range []string{
		"", "America/Los_Angeles", "Pacific/Auckland", "Asia/Kathmandu", "Europe/Berlin",
		"America/Sao_Paulo", "Pacific/Apia", "Pacific/Kiritimati",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		payer := ledger.AccountID(fmt.Sprintf("payer-%d", i))
		b.open(ledger.NewAccount{
			ID: payer, UserID: "u", AccountType: "x", Currency: "NZD", Zone: name,
		}, "")
		days := []string{"2027-10-01", "1970-01-02", "9999-12-30"}
		for day := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); day.Year() == 2027; {
			_, next := day.ZoneBounds()
			if next.IsZero() || next.Year() > 2027 {
				break
			}
			for around := -1; around <= 1; around++ {
				days = append(days, next.AddDate(0, 0, around).Format(time.DateOnly))
			}
			day = next
		}
		for _, day := range days {
			want, err := payments.Day(day, zone)
			if err != nil {
				t.Fatal(err)
			}
			n := order(day, "1")
			n.AccountID, n.At, n.Due = payer, time.Time{}, must(when.Parse(day))
			p := b.schedule(n)
			if !p.At.Equal(*want.From) {
				t.Errorf("%s in %q is due at %s, not at %s", day, name, p.At, *want.From)
			}
			other := order("to "+day, "1")
			other.AccountID = payer
			moved, err := b.Change(t.Context(), b.schedule(other).ID,
				payments.Change{Due: must(when.Parse(day))})
			if err != nil || !moved.At.Equal(*want.From) {
				t.Errorf("%s in %q: changed to %s, %v; not to %s", day, name, moved.At, err,
					*want.From)
			}
			page, err := b.PaymentsOfAccount(t.Context(), payer, want, payments.PageQuery{})
			if err != nil || len(page.Items) != 2 {
				t.Errorf("%s in %q lists %d payments, %v; want both", day, name,
					len(page.Items), err)
			}
		}
	}
}

// Only the first instant after a request fixes a time after it; a repeat gets the first payment.
func TestATimeAfterTheRequestIsFixedOnce(t *testing.T) {
	b := openRich(t)
	hours, none, past := 36*time.Hour, time.Duration(0), -time.Second
	n := order("f", "1")
	n.At, n.After = time.Time{}, &hours
	first := b.schedule(n)
	if want := start.Add(hours); !first.At.Equal(want) {
		t.Fatalf("due at %s, not at %s", first.At, want)
	}
	b.clock.Move(time.Hour)
	again, err := b.Schedule(t.Context(), n)
	if err != nil || !again.Replayed || !again.At.Equal(first.At) {
		t.Errorf("again: %+v, %v", again, err)
	}
	n.After = &none
	if _, err := b.Schedule(t.Context(), n); !errors.Is(err, payments.ErrKeyConflict) {
		t.Errorf("another time after it: %v", err)
	}
	n.Key = "now"
	if p := b.schedule(n); !p.At.Equal(b.clock.Now()) {
		t.Errorf("at once is %s", p.At)
	}
	n.Key, n.After = "past", &past
	if _, err := b.Schedule(t.Context(), n); !errors.Is(err, payments.ErrInvalidRequest) {
		t.Errorf("a time before the request: %v", err)
	}
	n.After, n.At = &hours, start
	if _, err := b.Schedule(t.Context(), n); !errors.Is(err, payments.ErrInvalidRequest) {
		t.Errorf("two times: %v", err)
	}
}

// The first instant of the year 1 was given; only what was not given is missing.
func TestTheZeroInstantIsNotMissing(t *testing.T) {
	b := openRich(t)
	n := order("zero", "1")
	n.At, n.Due = time.Time{}, when.At(time.Time{})
	_, err := b.Schedule(t.Context(), n)
	if fields := problem.From(err).Fields; len(fields) != 1 || fields[0].Name != "at" ||
		fields[0].Wrong != "must be in the years 1970 to 9999" {
		t.Errorf("the year 1: %v", err)
	}
	p := b.schedule(order("k", "1"))
	if _, err := b.Change(t.Context(), p.ID, payments.Change{Due: n.Due}); err == nil {
		t.Error("a payment was put off to the year 1")
	}
}

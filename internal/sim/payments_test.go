package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

// paymentModel is what is known of scheduled payments. The lock of the world guards it.
type paymentModel struct {
	orders map[string]*order // By account and key.
	known  []*order          // Those that were acknowledged, in that order.
}

// order is a payment that was asked for.
type order struct {
	account client.AccountID
	key     string
	payee   client.AccountID
	amount  int
	at      time.Time
	id      client.PaymentID // Once it was acknowledged.
	created time.Time
	ended   time.Duration // When it was acknowledged.
	doubt   bool
	denied  []string
	changes []*orderChange
	cancels []*orderChange
	replays []*orderChange
}

// orderChange is an attempt to change an order.
type orderChange struct {
	amount  int       // What it becomes, unless it stays.
	at      time.Time // When it becomes due, unless that stays.
	version uint64    // That the answer has.
	outcome
}

var paymentDeeds = map[string]deed{
	"schedule": schedule, "schedule at once": scheduleAtOnce,
	"pay amid change": payAmidChange, "schedule same key": scheduleSame,
	"change payment": changePayment,
	"cancel payment": cancelPayment, "pay payment": payPayment, "run payments": runPayments,
	"replay payment": replayPayment, "move day": moveDay, "read payment": readPayment,
	"list payments": listPayments, "list due": listDue,
}

var paymentTheme = []weight{
	{"schedule", 14}, {"schedule same key", 6}, {"schedule at once", 3},
	{"change payment", 8}, {"cancel payment", 6},
	{"pay payment", 6}, {"run payments", 10}, {"replay payment", 3}, {"move day", 4},
	{"read payment", 4}, {"list payments", 3}, {"list due", 3}, {"post", 4}, {"withdraw", 3},
	{"freeze", 2}, {"unfreeze", 3}, {"reconcile", 1}, {"repeat", 2},
}

// dues are how long after the clock of the round's beginning payments are due: on days that are
// over, at once, soon, after midnight in the zone of the accounts, and after each of the jumps.
var dues = []time.Duration{
	-36 * time.Hour, -24 * time.Hour, -12 * time.Hour, -time.Hour, 0, 100 * time.Millisecond,
	300 * time.Millisecond, time.Second, 2 * time.Minute, 30 * time.Minute, 31 * time.Minute,
	4 * time.Hour, 14 * time.Hour, 30 * 24 * time.Hour,
}

func (c *caller) schedule(s step, account client.AccountID, key string, payee client.AccountID,
	amount int, at time.Time,
) {
	w := c.w
	name := string(account) + " " + key
	w.mu.Lock()
	x := w.payments.orders[name]
	if x == nil {
		x = &order{account: account, key: key, payee: payee, amount: amount, at: at}
		w.payments.orders[name] = x
	}
	x.doubt = true
	w.mu.Unlock()
	currency := w.currencyOf(account)
	var got client.PaymentReceipt
	what := fmt.Sprintf("payment %q of %d from %s to %s at %s", key, amount, account, payee,
		at.Format(time.RFC3339Nano))
	o := c.call(s, what, func(ctx context.Context) (string, error) {
		var err error
		got, err = c.SchedulePayment(ctx, client.NewPayment{IdempotencyKey: key, AccountID: account,
			PayeeID: payee, Amount: cents(amount, currency), At: at, Data: []byte(key)})
		return fmt.Sprintf("replayed %v: %s", got.Replayed, toldPayment(got.ScheduledPayment)), err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.refused() {
		x.denied = append(x.denied, o.err.Error())
	}
	if !o.ok() {
		return
	}
	if x.id != "" && (x.id != got.ID || !x.created.Equal(got.CreatedAt)) {
		w.failure = cmpFailure(
			w.failure,
			fmt.Errorf("%v: payment %q was made twice: %s and %s", s, key,
				x.id, got.ID),
		)
	}
	if x.id != "" && !got.Replayed && x.ended < o.begin {
		w.failure = cmpFailure(w.failure, fmt.Errorf(
			"%v: payment %q was acknowledged already, and is new again", s, key))
	}
	if x.id == "" {
		x.id, x.created, x.ended = got.ID, got.CreatedAt, o.end
		w.payments.known = append(w.payments.known, x)
	}
}

// cmpFailure returns the first of two failures.
func cmpFailure(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func toldPayment(p client.ScheduledPayment) string {
	return fmt.Sprintf("%s %s version %d %s from %s to %s at %s attempts %d until %s %s %s", p.ID,
		p.Status, p.Version, p.Amount, p.AccountID, p.PayeeID, p.At.Format(time.RFC3339Nano),
		p.Attempts, p.Until.Format(time.RFC3339Nano), p.Reason, p.TransactionID)
}

func schedule(c *caller, s step) {
	from, to, _ := pair(s.A, s.B)
	c.schedule(s, from, fmt.Sprintf("o%d", s.ID), to, 1+s.C*5,
		startOfTime.Add(dues[(s.A+s.B)%len(dues)]))
}

func scheduleSame(c *caller, s step) {
	n := s.A % sharedKeys
	from, to, _ := pair(1+n, n/2)
	c.schedule(s, from, fmt.Sprintf("s%d", n), to, 100+n, startOfTime.Add(dues[n]))
}

// order returns one of the orders that were acknowledged, or nil.
func (w *world) order(n int) *order {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.payments.known) == 0 {
		return nil
	}
	return w.payments.known[n%len(w.payments.known)]
}

// changeOrder makes a change and notes it.
func (c *caller) changeOrder(s step, list *[]*orderChange, change *orderChange, what string,
	f func(context.Context) (client.ScheduledPayment, error),
) {
	w := c.w
	change.outcome = outcome{begin: time.Since(w.began), end: forever, err: client.ErrNoAnswer,
		doubt: true}
	w.mu.Lock()
	*list = append(*list, change)
	w.mu.Unlock()
	var version uint64
	o := c.call(s, what, func(ctx context.Context) (string, error) {
		got, err := f(ctx)
		version = got.Version
		return toldPayment(got), err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	change.outcome, change.version = o, version
}

func changePayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	if s.C%4 == 3 {
		c.postponeOrder(s, x)
		return
	}
	c.changeAmount(s, x, 1+s.B, uint64(s.C%4))
}

// changeAmount changes what an order pays, if it has a version; 0 means any.
func (c *caller) changeAmount(s step, x *order, amount int, version uint64) {
	c.changeOrder(s, &x.changes, &orderChange{amount: amount},
		fmt.Sprintf("payment %s becomes %d, if version %d", x.id, amount, version),
		func(ctx context.Context) (client.ScheduledPayment, error) {
			a := cents(amount, c.w.currencyOf(x.account))
			return c.ChangePayment(ctx, x.id, client.PaymentChange{Version: version, Amount: &a})
		})
}

// postponeOrder makes an order due at another time.
func (c *caller) postponeOrder(s step, x *order) {
	at := startOfTime.Add(dues[(s.B+s.C)%len(dues)])
	c.changeOrder(s, &x.changes, &orderChange{at: at},
		fmt.Sprintf("payment %s becomes due at %s", x.id, at.Format(time.RFC3339Nano)),
		func(ctx context.Context) (client.ScheduledPayment, error) {
			return c.ChangePayment(ctx, x.id, client.PaymentChange{At: &at})
		})
}

// scheduleAtOnce schedules a payment twice at the same time and, as soon as one of both requests is
// answered, makes it due at another time or cancels it, while the other is still at work.
func scheduleAtOnce(c *caller, s step) {
	from, to, _ := pair(s.A, s.B)
	key := fmt.Sprintf("at once %d", s.ID)
	answered := make(chan struct{}, 2)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			c.schedule(s, from, key, to, 1+s.C%100, startOfTime.Add(dues[s.C%8]))
			answered <- struct{}{}
		})
	}
	<-answered
	c.w.mu.Lock()
	x := c.w.payments.orders[string(from)+" "+key]
	known := x.id != ""
	c.w.mu.Unlock()
	switch {
	case !known:
	case s.C%3 == 0:
		c.cancelOrder(s, x)
	default:
		c.postponeOrder(s, x)
	}
	both.Wait()
}

// payAmidChange lets a worker stall that has claimed a payment, until its claim has run out. In the
// meantime another worker finds the account frozen and puts the payment off, and a client cancels
// it or changes its amount.
func payAmidChange(c *caller, s step) {
	w := c.w
	n := s.A % dollarAccounts
	from, key := accountID(n), fmt.Sprintf("amid %d", s.ID)
	stalling := s
	s.Stall = 0
	c.schedule(s, from, key, accountID((n+1)%dollarAccounts), 1+s.C%50, startOfTime.Add(-time.Hour))
	w.mu.Lock()
	x := w.payments.orders[string(from)+" "+key]
	known := x.id != ""
	w.mu.Unlock()
	if !known {
		return
	}
	stalling.Stall, stalling.StallFor = 3+s.C%8, 200+s.C
	var both sync.WaitGroup
	both.Go(func() { c.payOrder(stalling, x) })
	both.Go(func() {
		time.Sleep(30 * time.Millisecond) // More than a claim takes.
		w.event("%v: leases run out", s)
		w.jumped.Add(int64(leaseJump))
		c.changeStatus(s, from, client.AccountFrozen, c.FreezeAccount)
		c.payOrder(s, x)
		if s.B%2 == 0 {
			c.cancelOrder(s, x)
		} else {
			c.changeAmount(s, x, 60+s.C, 0)
		}
		c.changeStatus(s, from, client.AccountActive, c.UnfreezeAccount)
	})
	both.Wait()
}

func cancelPayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	c.cancelOrder(s, x)
}

func (c *caller) cancelOrder(s step, x *order) {
	c.changeOrder(s, &x.cancels, &orderChange{}, fmt.Sprintf("cancel payment %s", x.id),
		func(ctx context.Context) (client.ScheduledPayment, error) {
			return c.CancelPayment(ctx, x.id, 0)
		})
}

func replayPayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	c.changeOrder(s, &x.replays, &orderChange{}, fmt.Sprintf("replay payment %s", x.id),
		func(ctx context.Context) (client.ScheduledPayment, error) {
			return c.ReplayPayment(ctx, x.id)
		})
}

func payPayment(c *caller, s step) {
	if x := c.w.order(s.A); x != nil {
		c.payOrder(s, x)
	}
}

func (c *caller) payOrder(s step, x *order) {
	c.call(s, fmt.Sprintf("pay payment %s", x.id), func(ctx context.Context) (string, error) {
		got, outcome, err := c.PayPayment(ctx, x.id)
		return fmt.Sprintf("%s %s", outcome, toldPayment(got)), err
	})
}

func runPayments(c *caller, s step) {
	c.call(s, "run payments", func(ctx context.Context) (string, error) {
		got, err := c.RunPayments(ctx, client.PaymentRun{Callers: 1 + s.A%4})
		return fmt.Sprintf("%+v", got), err
	})
}

// moves of days are of those on which payments are due, in one zone or the other.
func moveDay(c *caller, s step) {
	day := client.Date([]string{"2026-04-02", "2026-04-03", "2026-04-03", "2026-04-04",
		"2026-04-05", "2026-05-04"}[s.C%6])
	in := []string{"", zone}[s.C/6%2]
	c.call(s, fmt.Sprintf("move %s in %q", day, in), func(ctx context.Context) (string, error) {
		got, err := c.MovePaymentDay(ctx, day, in, nil)
		return fmt.Sprintf("%+v", got), err
	})
}

// readPayment reads what was acknowledged, wherever it is by now.
func readPayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	o := c.call(s, fmt.Sprintf("payment %s", x.id), func(ctx context.Context) (string, error) {
		got, err := c.Payment(ctx, x.id)
		return toldPayment(got), err
	})
	if o.refused() {
		c.w.fail("%v: payment %s was acknowledged and cannot be read: %w", s, x.id, o.err)
	}
}

// expectPayments returns the payments that every list has by now.
func (w *world) expectPayments(match func(*order) bool) []client.PaymentID {
	until := time.Since(w.began) - lagMax
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []client.PaymentID
	for _, x := range w.payments.known {
		if x.ended < until && match(x) {
			found = append(found, x.id)
		}
	}
	return found
}

// moves reports whether a client asked for another time of a payment: its place in lists is another
// one then, before the cursor of a reader or behind it.
func (w *world) moves(id client.PaymentID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.payments.known, func(x *order) bool {
		return x.id == id &&
			slices.ContainsFunc(x.changes, func(o *orderChange) bool { return !o.at.IsZero() })
	})
}

// listPayments follows the payments of an account to their end while others change them. None of
// them is missing, and none is there twice.
func listPayments(c *caller, s step) {
	id := accountID(s.A)
	expected := c.w.expectPayments(func(x *order) bool { return x.account == id })
	seen := map[client.PaymentID]bool{}
	o := c.call(s, fmt.Sprintf("payments of %s", id), func(ctx context.Context) (string, error) {
		clear(seen)
		q := client.AccountPaymentsQuery{
			AccountID: id,
			PageQuery: client.PageQuery{Limit: 1 + s.B%10},
		}
		for p, err := range c.AllPaymentsOfAccount(ctx, q) {
			if err != nil {
				return "", err
			}
			if seen[p.ID] && !c.w.moves(p.ID) {
				return "", fmt.Errorf("payment %s is listed twice", p.ID)
			}
			seen[p.ID] = true
		}
		return fmt.Sprintf("%d payments", len(seen)), nil
	})
	for _, id := range expected {
		if o.ok() && !seen[id] && !c.w.moves(id) {
			c.w.fail("%v: payment %s is not in the list of its account", s, id)
		}
	}
}

// listDue follows a list over all accounts. Payments move on to other states in the meantime, so
// that only what is there twice is wrong.
func listDue(c *caller, s step) {
	status := []client.PaymentStatus{client.PaymentScheduled, client.PaymentProcessed, ""}[s.A%3]
	c.call(
		s,
		fmt.Sprintf("payments that are %q", status),
		func(ctx context.Context) (string, error) {
			seen := map[client.PaymentID]bool{}
			page := client.PageQuery{Limit: 1 + s.B%10}
			q := client.PaymentsQuery{Status: status, PageQuery: page}
			for p, err := range c.AllPayments(ctx, q) {
				if err != nil {
					return "", err
				}
				if seen[p.ID] && !c.w.moves(p.ID) {
					return "", fmt.Errorf("payment %s is listed twice", p.ID)
				}
				seen[p.ID] = true
			}
			return fmt.Sprintf("%d payments", len(seen)), nil
		},
	)
}

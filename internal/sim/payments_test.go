package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	amount  int
	version uint64 // That the answer has.
	outcome
}

var paymentDeeds = map[string]deed{
	"schedule": schedule, "schedule same key": scheduleSame, "change payment": changePayment,
	"cancel payment": cancelPayment, "pay payment": payPayment, "run payments": runPayments,
	"replay payment": replayPayment, "move day": moveDay, "read payment": readPayment,
	"list payments": listPayments, "list due": listDue,
}

var paymentTheme = []weight{
	{"schedule", 16}, {"schedule same key", 6}, {"change payment", 8}, {"cancel payment", 6},
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
func (c *caller) changeOrder(s step, list *[]*orderChange, amount int, what string,
	f func(context.Context) (client.ScheduledPayment, error),
) {
	w := c.w
	change := &orderChange{
		amount: amount,
		outcome: outcome{begin: time.Since(w.began), end: forever,
			err: client.ErrNoAnswer, doubt: true},
	}
	w.mu.Lock()
	*list = append(*list, change)
	w.mu.Unlock()
	o := c.call(s, what, func(ctx context.Context) (string, error) {
		got, err := f(ctx)
		change.version = got.Version
		return toldPayment(got), err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	change.outcome = o
}

func changePayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	amount := 1 + s.B
	version := uint64(s.C % 3)
	c.changeOrder(s, &x.changes, amount, fmt.Sprintf("payment %s becomes %d, if version %d", x.id,
		amount, version), func(ctx context.Context) (client.ScheduledPayment, error) {
		a := cents(amount, c.w.currencyOf(x.account))
		return c.ChangePayment(ctx, x.id, client.PaymentChange{Version: version, Amount: &a})
	})
}

func cancelPayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	c.changeOrder(s, &x.cancels, 0, fmt.Sprintf("cancel payment %s", x.id),
		func(ctx context.Context) (client.ScheduledPayment, error) {
			return c.CancelPayment(ctx, x.id, 0)
		})
}

func replayPayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
	c.changeOrder(s, &x.replays, 0, fmt.Sprintf("replay payment %s", x.id),
		func(ctx context.Context) (client.ScheduledPayment, error) {
			return c.ReplayPayment(ctx, x.id)
		})
}

func payPayment(c *caller, s step) {
	x := c.w.order(s.A)
	if x == nil {
		return
	}
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
	day := client.Date([]string{"2026-04-03", "2026-04-04", "2026-04-03", "2026-04-05",
		"2026-05-04"}[s.A%5])
	in := []string{"", zone}[s.B%2]
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
			PageQuery: client.PageQuery{Size: 1 + s.B%10},
		}
		for p, err := range c.AllPaymentsOfAccount(ctx, q) {
			if err != nil {
				return "", err
			}
			if seen[p.ID] {
				return "", fmt.Errorf("payment %s is listed twice", p.ID)
			}
			seen[p.ID] = true
		}
		return fmt.Sprintf("%d payments", len(seen)), nil
	})
	for _, id := range expected {
		if o.ok() && !seen[id] {
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
			q := client.PaymentsQuery{Status: status, PageQuery: client.PageQuery{Size: 1 + s.B%10}}
			for p, err := range c.AllPayments(ctx, q) {
				if err != nil {
					return "", err
				}
				if seen[p.ID] {
					return "", fmt.Errorf("payment %s is listed twice", p.ID)
				}
				seen[p.ID] = true
			}
			return fmt.Sprintf("%d payments", len(seen)), nil
		},
	)
}

// comparePayments runs what is due, and compares all payments with what was asked for. It marks the
// transactions that settled them.
func (w *world) comparePayments(c *caller, entries map[client.TransactionID]*stored) error {
	listed, err := w.listedPayments(c)
	if err != nil {
		return err
	}
	used := map[client.PaymentID]*order{}
	for _, x := range w.payments.orders {
		if x.id != "" {
			used[x.id] = x
		}
	}
	for id, p := range listed {
		x := used[id]
		if x == nil {
			x = w.payments.orders[string(p.AccountID)+" "+string(p.Data)]
		}
		if x == nil || x.id == "" && !x.doubt {
			return fmt.Errorf("there is a payment that no client asked for: %s", toldPayment(p))
		}
		if err := w.comparePayment(c, x, p, entries); err != nil {
			return fmt.Errorf("payment %q of %s: %w", x.key, x.account, err)
		}
	}
	for _, x := range w.payments.known {
		if _, ok := listed[x.id]; !ok {
			return fmt.Errorf(
				"payment %s, %q of %s, was acknowledged and is in no list",
				x.id,
				x.key,
				x.account,
			)
		}
	}
	return w.compareMoves(c, listed)
}

// listedPayments reads all payments by their accounts, and checks that the lists over all accounts
// have the same.
func (w *world) listedPayments(c *caller) (map[client.PaymentID]client.ScheduledPayment, error) {
	listed := map[client.PaymentID]client.ScheduledPayment{}
	for n := range allAccounts {
		q := client.AccountPaymentsQuery{AccountID: accountID(n)}
		for p, err := range c.AllPaymentsOfAccount(w.ctx, q) {
			if err != nil {
				return nil, cannotTell("list payments of an account", err)
			}
			if _, twice := listed[p.ID]; twice {
				return nil, fmt.Errorf("payment %s is in the lists of accounts twice", p.ID)
			}
			listed[p.ID] = p
		}
	}
	found := map[client.PaymentID]int{}
	for _, status := range []client.PaymentStatus{client.PaymentScheduled, client.PaymentPending,
		client.PaymentProcessed, client.PaymentCancelled, client.PaymentFailed} {
		for p, err := range c.AllPayments(w.ctx, client.PaymentsQuery{Status: status}) {
			if err != nil {
				return nil, cannotTell("list payments by status", err)
			}
			found[p.ID]++
			if q, ok := listed[p.ID]; !ok || q.Status != status || q.Version != p.Version {
				return nil, fmt.Errorf(
					"the list of those that are %s has %s, and its account's has %s",
					status,
					toldPayment(p),
					toldPayment(q),
				)
			}
		}
	}
	for id, p := range listed {
		if found[id] != 1 {
			return nil, fmt.Errorf("payment %s is %d times in the lists by status", toldPayment(p),
				found[id])
		}
		q, err := c.Payment(w.ctx, id)
		if err != nil {
			return nil, fmt.Errorf("payment %s is in a list and cannot be read: %w", id, err)
		}
		if toldPayment(p) != toldPayment(q) {
			return nil, fmt.Errorf("a list has payment %s, and by its id it is %s", toldPayment(p),
				toldPayment(q))
		}
	}
	return listed, nil
}

// comparePayment compares one payment with what is known of it.
func (w *world) comparePayment(
	c *caller, x *order, p client.ScheduledPayment, entries map[client.TransactionID]*stored,
) error {
	if p.AccountID != x.account || p.PayeeID != x.payee || !p.At.Equal(x.at) {
		return fmt.Errorf(
			"it is %s, and was asked for from %s to %s at %v",
			toldPayment(p),
			x.account,
			x.payee,
			x.at,
		)
	}
	if amounts := x.amounts(); !slices.Contains(amounts, int(minor(p.Amount))) {
		return fmt.Errorf("it is %s, and its amount can only be one of %v", toldPayment(p), amounts)
	}
	cancelled := slices.ContainsFunc(x.cancels, func(o *orderChange) bool { return o.ok() })
	maybe := slices.ContainsFunc(x.cancels, func(o *orderChange) bool { return !o.refused() })
	switch {
	case cancelled && p.Status != client.PaymentCancelled:
		return fmt.Errorf("it was cancelled and is %s", toldPayment(p))
	case p.Status == client.PaymentCancelled && !maybe:
		return fmt.Errorf("no client cancelled it, and it is %s", toldPayment(p))
	case p.Status == client.PaymentFailed && p.Reason == "":
		return fmt.Errorf("it failed without a reason: %s", toldPayment(p))
	case (p.Status == client.PaymentProcessed) != (p.TransactionID != ""):
		return fmt.Errorf("it is %s", toldPayment(p))
	case p.Status == client.PaymentPending && p.Reason == "":
		return fmt.Errorf("it is neither settled nor has it a reason: %s", toldPayment(p))
	case p.Status == client.PaymentScheduled && !p.At.After(w.now().Add(-time.Minute)):
		return fmt.Errorf("it is due, and all runs left it alone: %s", toldPayment(p))
	}
	var of []*stored
	for _, e := range entries {
		if strings.Contains(e.Transaction.IdempotencyKey, string(p.ID)) &&
			e.Transaction.ReversalOf == "" {
			e.known = true
			of = append(of, e)
		}
	}
	if p.Status != client.PaymentProcessed {
		if len(of) > 0 {
			return fmt.Errorf("it is %s, and there is %s", toldPayment(p), told(of[0].Entry))
		}
		return nil
	}
	if len(of) != 1 || of[0].Transaction.ID != p.TransactionID {
		return fmt.Errorf("it is %s, and %d transactions settled it", toldPayment(p), len(of))
	}
	if err := moves(fmt.Sprintf("debit %s %s", p.AccountID, p.Amount),
		fmt.Sprintf("credit %s %s", p.PayeeID, p.Amount))(of[0].Entry); err != nil {
		return fmt.Errorf("it is %s: %w", toldPayment(p), err)
	}
	by, err := c.PaymentByTransaction(w.ctx, p.TransactionID)
	if err != nil || by.ID != p.ID {
		return fmt.Errorf(
			"it is %s, and by its transaction there is %s, %w",
			toldPayment(p),
			by.ID,
			err,
		)
	}
	return nil
}

// amounts are those that a payment can have: that of the last change, or of one of several whose
// order is not known.
func (x *order) amounts() []int {
	all := append([]*orderChange{{amount: x.amount}}, x.changes...)
	var found []int
	for _, o := range all {
		if o.refused() {
			continue
		}
		later := slices.ContainsFunc(all, func(l *orderChange) bool {
			return l.ok() && !o.doubt && (l.begin > o.end || l.version > o.version && o.version > 0)
		})
		if !later {
			found = append(found, o.amount)
		}
	}
	return found
}

// compareMoves moves the days that are over, and compares what the moves count.
func (w *world) compareMoves(
	c *caller, listed map[client.PaymentID]client.ScheduledPayment,
) error {
	for _, day := range []string{"2026-04-02", "2026-04-03", "2026-04-04", "2026-04-05"} {
		for _, name := range []string{"", zone} {
			in, err := time.LoadLocation(name)
			if err != nil {
				return err
			}
			begin, err := time.ParseInLocation(time.DateOnly, day, in)
			if err != nil {
				return err
			}
			end := begin.AddDate(0, 0, 1)
			if w.now().Before(end.Add(time.Minute)) {
				continue
			}
			got, err := c.MovePaymentDay(w.ctx, client.Date(day), name, nil)
			if err != nil {
				return cannotTell("move a day", err)
			}
			waiting, final, moved := 0, 0, 0
			for _, p := range listed {
				if p.At.Before(begin) || !p.At.Before(end) {
					continue
				}
				if p.Status == client.PaymentScheduled || p.Status == client.PaymentPending {
					waiting++
				} else {
					final++
				}
			}
			for _, t := range got.Totals {
				moved += t.Count
			}
			if got.Waiting != waiting || moved != final || got.Moved != (waiting == 0) {
				return fmt.Errorf(
					"day %s in %q has %d payments that wait and %d at their end, and the "+
						"move says %+v",
					day,
					name,
					waiting,
					final,
					got,
				)
			}
		}
	}
	again, err := w.listedPayments(c)
	if err != nil {
		return fmt.Errorf("after moves of days: %w", err)
	}
	for id, p := range listed {
		if toldPayment(p) != toldPayment(again[id]) {
			return fmt.Errorf("payment %s is %s after its day was moved", toldPayment(p),
				toldPayment(again[id]))
		}
	}
	return nil
}

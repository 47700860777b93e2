package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

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
	if err := w.comparePaymentLists(c, listed); err != nil {
		return err
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
	for _, status := range paymentStatuses {
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
	if p.AccountID != x.account || p.PayeeID != x.payee ||
		!slices.ContainsFunc(x.times(), p.At.Equal) {
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

// amounts are those that a payment can have.
func (x *order) amounts() (found []int) {
	made := &orderChange{amount: x.amount}
	for _, o := range x.latest(made, func(o *orderChange) bool { return o.amount != 0 }) {
		found = append(found, o.amount)
	}
	return found
}

// times are those at which a payment can be due.
func (x *order) times() (found []time.Time) {
	made := &orderChange{at: x.at}
	for _, o := range x.latest(made, func(o *orderChange) bool { return !o.at.IsZero() }) {
		found = append(found, o.at)
	}
	return found
}

// latest returns the changes of some kind of which one can be the last one. It is several if their
// order is not known. The first is how the payment was made.
func (x *order) latest(made *orderChange, of func(*orderChange) bool) (found []*orderChange) {
	all := append([]*orderChange{made}, x.changes...)
	for _, o := range all {
		if o.refused() || !of(o) {
			continue
		}
		later := slices.ContainsFunc(all, func(l *orderChange) bool {
			return of(l) && l.ok() && !o.doubt &&
				(l.begin > o.end || l.version > o.version && o.version > 0)
		})
		if !later {
			found = append(found, o)
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
			begin, end, err := dayIn(day, name)
			if err != nil {
				return err
			}
			if w.now().Before(end.Add(time.Minute)) {
				continue
			}
			got, err := c.MovePaymentDay(w.ctx, client.Date(day), name, nil)
			if err != nil {
				return cannotTell("move a day", err)
			}
			waiting, ended, moved := 0, 0, 0
			var of []client.ScheduledPayment
			for _, p := range listed {
				if p.At.Before(begin) || !p.At.Before(end) {
					continue
				}
				of = append(of, p)
				if final(p) {
					ended++
				} else {
					waiting++
				}
			}
			for _, t := range got.Totals {
				moved += t.Count
			}
			if got.Waiting != waiting || moved != ended || got.Moved != (waiting == 0) {
				return fmt.Errorf(
					"day %s in %q has %d payments that wait and %d at their end, and the "+
						"move says %+v",
					day,
					name,
					waiting,
					ended,
					got,
				)
			}
			if err := w.comparePaymentDay(c, client.Date(day), name, of); err != nil {
				return err
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

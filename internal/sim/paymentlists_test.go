package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

var paymentStatuses = []client.PaymentStatus{client.PaymentScheduled, client.PaymentPending,
	client.PaymentProcessed, client.PaymentCancelled, client.PaymentFailed}

// final reports whether a payment has come to its end.
func final(p client.ScheduledPayment) bool {
	return p.Status != client.PaymentScheduled && p.Status != client.PaymentPending
}

// comparePaymentLists compares lists of one day, of instants and of the days of an account with all
// payments, which were compared with the model.
func (w *world) comparePaymentLists(
	c *caller, listed map[client.PaymentID]client.ScheduledPayment,
) error {
	days := []string{"2026-04-02", "2026-04-03", "2026-04-04", "2026-04-05", "2026-05-04"}
	day := days[w.plan.Seed%uint64(len(days))]
	for _, name := range []string{"", zone} {
		if err := w.comparePaymentsOfDay(c, listed, day, name); err != nil {
			return err
		}
	}
	if err := w.comparePaymentsBetween(c, listed); err != nil {
		return err
	}
	return w.comparePaymentDays(c, listed, day)
}

// dayIn returns the bounds of a day in a zone.
func dayIn(day, zone string) (begin, end time.Time, err error) {
	in, err := time.LoadLocation(zone)
	if err != nil {
		return begin, end, err
	}
	begin, err = time.ParseInLocation(time.DateOnly, day, in)
	return begin, begin.AddDate(0, 0, 1), err
}

func (w *world) comparePaymentsOfDay(
	c *caller, listed map[client.PaymentID]client.ScheduledPayment, day, zone string,
) error {
	begin, end, err := dayIn(day, zone)
	if err != nil {
		return err
	}
	for _, status := range append([]client.PaymentStatus{""}, paymentStatuses...) {
		want := selected(maps.Values(listed), toldPayment, func(p client.ScheduledPayment) bool {
			return !p.At.Before(begin) && p.At.Before(end) &&
				(p.Status == status || status == "" && final(p))
		})
		q := client.PaymentsQuery{Status: status, Date: client.Date(day), Zone: zone,
			PageQuery: client.PageQuery{Limit: 7}}
		name := fmt.Sprintf("payments of %s in %q that are %q", day, zone, status)
		if err := sameRows(name, c.AllPayments(w.ctx, q), toldPayment, want); err != nil {
			return err
		}
	}
	return nil
}

// comparePaymentsBetween compares the payments that are due before an instant, and from it on.
func (w *world) comparePaymentsBetween(
	c *caller, listed map[client.PaymentID]client.ScheduledPayment,
) error {
	all := maps.Values(listed)
	middle := startOfTime.Add(dues[w.plan.Seed%uint64(len(dues))])
	for _, status := range []client.PaymentStatus{"", client.PaymentScheduled} {
		for what, q := range map[string]client.PaymentsQuery{
			"before": {To: middle}, "since": {From: middle},
		} {
			q.Status = status
			want := selected(all, toldPayment, func(p client.ScheduledPayment) bool {
				return p.At.Before(middle) == q.From.IsZero() &&
					(p.Status == status || status == "" && final(p))
			})
			name := fmt.Sprintf("payments that are %q %s %v", status, what, middle)
			if err := sameRows(name, c.AllPayments(w.ctx, q), toldPayment, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparePaymentDays compares the payments of each account until a day in its own zone, and after
// it.
func (w *world) comparePaymentDays(
	c *caller, listed map[client.PaymentID]client.ScheduledPayment, day string,
) error {
	all := maps.Values(listed)
	for n := range allAccounts {
		id := accountID(n)
		_, end, err := dayIn(day, w.ledger.accounts[id].zone)
		if err != nil {
			return err
		}
		for what, q := range map[string]client.AccountPaymentsQuery{
			"until": {To: client.Date(day)},
			"after": {From: client.Date(end.Format(time.DateOnly))},
		} {
			q.AccountID, q.Limit = id, 5
			want := selected(all, toldPayment, func(p client.ScheduledPayment) bool {
				return p.AccountID == id && p.At.Before(end) == (q.From == "")
			})
			name := fmt.Sprintf("payments of %s %s %s", id, what, day)
			rows := c.AllPaymentsOfAccount(w.ctx, q)
			if err := sameRows(name, rows, toldPayment, want); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparePaymentDay checks that a day says of its history what the payments add up to, as its move
// did.
func (w *world) comparePaymentDay(
	c *caller, day client.Date, zone string, of []client.ScheduledPayment,
) error {
	got, err := c.PaymentDay(w.ctx, day, zone)
	if err != nil {
		return cannotTell("read a day of payments", err)
	}
	type total struct {
		count int
		sum   int64
	}
	name := func(status client.PaymentStatus, currency any) string {
		return fmt.Sprintf("%s %v", status, currency)
	}
	want, have := map[string]total{}, map[string]total{}
	for _, p := range of {
		if final(p) {
			t := want[name(p.Status, p.Amount.Currency())]
			want[name(p.Status, p.Amount.Currency())] = total{t.count + 1, t.sum + minor(p.Amount)}
		}
	}
	for _, t := range got.Totals {
		if t.Count > 0 {
			have[name(t.Status, t.Sum.Currency())] = total{t.Count, minor(t.Sum)}
		}
	}
	if !maps.Equal(want, have) {
		return fmt.Errorf("day %s in %q has the totals %v, and its payments add up to %v", day, zone,
			have, want)
	}
	if !slices.ContainsFunc(of, func(p client.ScheduledPayment) bool { return !final(p) }) !=
		got.Moved {
		return fmt.Errorf("day %s in %q was moved: %v, and it has the payments %v", day, zone,
			got.Moved, of)
	}
	return nil
}

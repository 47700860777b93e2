package payments

import (
	"context"
	"errors"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// openLookedMax bounds the payments that [Scheduler.OpenPayments] looks at, because no index leads
// from an account to the payments that it receives.
const openLookedMax = 20_000

// OpenPayments is how many payments that have not come to their end an account takes part in.
type OpenPayments struct {
	// From are those that it pays. To are those that it receives, by itself or as the account that
	// a merchant settles to.
	From, To int
	// Undecided reports whether there may be more: not every payment was looked at or could be
	// read.
	Undecided bool
}

// Err returns why an account cannot be closed without a payment that fails, or nil.
func (w OpenPayments) Err(id ledger.AccountID) error {
	switch {
	case w.From+w.To > 0:
		return ErrWaiting.With("account", id).With("from", w.From).With("to", w.To)
	case w.Undecided:
		return ErrWaitingUnknown.With("account", id)
	}
	return nil
}

// OpenPayments counts the payments that have not come to their end and that an account takes part
// in. Payments that are scheduled at the same time may be missing.
func (s *Scheduler) OpenPayments(
	ctx context.Context, id ledger.AccountID,
) (OpenPayments, error) {
	m, err := current(ctx, s)
	if err != nil {
		return OpenPayments{}, err
	}
	count := openCount{s: s, account: id, settles: map[ledger.MerchantID]bool{}}
	for item, err := range m.ofAccount.All(ctx, s.store, ByAccount{AccountID: id}) {
		if more, err := count.look(ctx, item, err); err != nil || !more {
			return count.out, err
		}
	}
	for _, status := range []Status{Scheduled, Pending} {
		for item, err := range m.byStatus.All(ctx, s.store, ByStatus{Status: status}) {
			if err == nil && item.AccountID == id {
				continue // It was counted.
			}
			if more, err := count.look(ctx, item, err); err != nil || !more {
				return count.out, err
			}
		}
	}
	return count.out, nil
}

// openCount is the state of [Scheduler.OpenPayments].
type openCount struct {
	s       *Scheduler
	account ledger.AccountID
	settles map[ledger.MerchantID]bool // which merchants settle to the account
	looked  int
	out     OpenPayments
}

// look counts one payment, and reports whether the next one is to be looked at.
func (c *openCount) look(ctx context.Context, item paymentItem, err error) (bool, error) {
	if c.looked++; c.looked > openLookedMax {
		c.out.Undecided = true
		return false, nil
	}
	if err != nil {
		if _, unread := singletable.AsUnreadable(err); unread {
			c.out.Undecided = true
			return true, nil
		}
		return false, failed("count payments of", c.account, err)
	}
	if item.Status.Final() {
		return true, nil
	}
	if item.AccountID == c.account {
		c.out.From++
		return true, nil
	}
	receives, err := c.receives(ctx, item)
	if receives {
		c.out.To++
	}
	return err == nil, err
}

// receives reports whether the account receives a payment.
func (c *openCount) receives(ctx context.Context, item paymentItem) (bool, error) {
	if item.PayeeID != "" || item.MerchantID == "" {
		return item.PayeeID == c.account, nil
	}
	settles, known := c.settles[item.MerchantID]
	if !known {
		merchant, err := c.s.books.Merchant(ctx, item.MerchantID)
		if errors.Is(err, ledger.ErrMerchantNotFound) {
			err = nil // The payment fails for that reason.
		}
		if err != nil {
			return false, err
		}
		settles = merchant.SettlementAccountID == c.account
		c.settles[item.MerchantID] = settles
	}
	return settles, nil
}

package payments

import (
	"context"
	"errors"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/when"
)

// Change has the members of a payment to change; those that are nil stay as they are.
type Change struct {
	// Version is the version that the caller knows; 0 means whichever there is.
	Version    uint64
	Amount     *money.Amount
	PayeeID    *ledger.AccountID
	MerchantID *ledger.MerchantID
	At         *time.Time
	// Due, in place of At, may also be a day or a local time in the zone of the account that pays.
	Due         when.Time
	Description *string
}

// apply returns the payment as it is after the change, or what is wrong with that. zone is that of
// the account that pays.
func (c Change) apply(p Payment, zone *time.Location) (Payment, error) {
	var wrong problem.Fields
	if c.PayeeID != nil {
		p.PayeeID, p.MerchantID = *c.PayeeID, ""
	}
	if c.MerchantID != nil {
		p.MerchantID = *c.MerchantID
		if c.PayeeID == nil {
			p.PayeeID = ""
		}
	}
	checkPayee(&wrong, p.PayeeID, p.MerchantID)
	if p.PayeeID == p.AccountID {
		wrong.Add("payeeId", "must be another account than the payer's")
	}
	if c.At != nil || c.Due.Given() {
		at := c.Due.In(zone)
		if !c.Due.Given() {
			at = *c.At
		}
		checkTime(&wrong, at)
		p.At = instant(at)
	}
	if c.Description != nil {
		checkDescription(&wrong, *c.Description)
		p.Description = *c.Description
	}
	if err := wrong.Err(ErrInvalidRequest); err != nil || c.Amount == nil {
		return p, err
	}
	if given := c.Amount.Currency(); given != p.Amount.Currency() {
		return p, ErrCurrencyMismatch.With("account", p.AccountID).
			With("currency", p.Amount.Currency()).With("given", given).
			Field("currency", "is not the account's")
	}
	p.Amount = *c.Amount
	return p, checkAmount(p.Amount)
}

// Change changes amount, payee, time or description of a payment until it is claimed, and returns
// it. Once a worker has it, it is ErrClaimed or ErrFinal; of a change and a claim at once one wins.
//
// A payment that can never be paid as it would be then is refused, as [Scheduler.Schedule] does it.
func (s *Scheduler) Change(ctx context.Context, id PaymentID, c Change) (Payment, error) {
	return s.edit(ctx, id, c.Version, func(p Payment) (Payment, error) {
		if err := free(p); err != nil {
			return p, err
		}
		zone := time.UTC
		if c.Due.Local() {
			var err error
			if zone, err = s.Zone(ctx, p.AccountID); err != nil {
				return p, err
			}
		}
		changed, err := c.apply(p, zone)
		if err != nil || c.PayeeID == nil && c.MerchantID == nil && c.Amount == nil {
			return changed, err
		}
		_, err = s.payable(ctx, changed)
		return changed, err
	})
}

// Cancel takes a payment back until it is claimed. Cancelling again changes nothing. version is the
// version that the caller knows; 0 means whichever there is.
func (s *Scheduler) Cancel(ctx context.Context, id PaymentID, version uint64) (Payment, error) {
	return s.edit(ctx, id, version, func(p Payment) (Payment, error) {
		if p.Status == Cancelled {
			return p, errUnchanged
		}
		p, err := p, free(p)
		p.Status, p.Until = Cancelled, time.Time{}
		return p, err
	})
}

// Replay schedules a failed payment again, from the history too, to be paid as soon as it is due.
// Its attempts are counted again from 0. Replaying a payment that is scheduled changes nothing.
// version, if given, is the version that the caller knows; 0 means whichever there is.
//
// A payment that comes back from the history goes against the way in which lists read both tables.
// A page of its account's payments that is being read at that very moment may lack it; the next
// reading has it.
func (s *Scheduler) Replay(
	ctx context.Context, id PaymentID, version ...uint64,
) (Payment, error) {
	return s.edit(ctx, id, first(version), func(p Payment) (Payment, error) {
		if p.Status == Scheduled {
			return p, errUnchanged
		}
		if p.Status != Failed {
			return p, ErrNotFailed.With("payment", p.ID).With("status", p.Status)
		}
		p.Status, p.Attempts, p.Reason, p.ReasonText = Scheduled, 0, "", ""
		return p, nil
	})
}

// first returns the version that was given, or 0.
func first(version []uint64) uint64 {
	if len(version) == 0 {
		return 0
	}
	return version[0]
}

// free returns why a payment cannot be changed, or nil.
func free(p Payment) error {
	switch {
	case p.waiting():
		return nil
	case p.Status == Pending:
		return ErrClaimed.With("payment", p.ID)
	}
	return ErrFinal.With("payment", p.ID).With("status", p.Status)
}

// errUnchanged makes edit write nothing.
var errUnchanged = errors.New("the payment is as it should be")

// edit reads a payment, lets it be changed, and writes it together with its identity, so that the
// two never differ. It begins again when another writer was faster.
func (s *Scheduler) edit(
	ctx context.Context, id PaymentID, version uint64, change func(Payment) (Payment, error),
) (Payment, error) {
	for {
		m, err := writing(ctx, s)
		if err != nil {
			return Payment{}, err
		}
		before, identity, err := m.find(ctx, s, id)
		if err != nil {
			return Payment{}, err
		}
		after, err := change(before)
		if errors.Is(err, errUnchanged) {
			return before, nil
		}
		// The state of the payment is more useful than the fact that it is another version.
		if err == nil && version != 0 && version != before.Version {
			err = ErrChanged.With("what", "Payment "+id).With("payment", id).
				With("version", before.Version).With("given", version)
		}
		if err != nil {
			return Payment{}, err
		}
		after.Version++
		after.UpdatedAt = instant(s.opts.Now())
		err = m.replace(ctx, s, before, after, identity)
		if errors.Is(err, singletable.ErrConditionFailed) {
			if err := ctx.Err(); err != nil {
				return Payment{}, err
			}
			continue
		}
		if err != nil {
			return Payment{}, failed("change payment", id, err)
		}
		return after, nil
	}
}

// replace writes a payment in place of an earlier version of it, where it belongs: under another
// key if its time is another one, out of the history if it was there.
func (m *model) replace(
	ctx context.Context, s *Scheduler, before, after Payment, identity located,
) error {
	tx := s.store.NewTx()
	same := m.fields.version.Equals(before.Version)
	if before.Status.Final() {
		// It may be in the history, or be copied there right now.
		m.past.DeleteTx(tx, at(before))
	}
	switch {
	case identity.in == m.history:
		// The item there can only be a late copy: the identity knows where the payment is.
		m.payments.PutTx(tx, itemOf(after))
	case !after.At.Equal(before.At):
		m.payments.DeleteTx(tx, at(before), same)
		m.payments.PutTx(tx, itemOf(after))
	default:
		m.payments.PutTx(tx, itemOf(after), same)
	}
	state := Scheduled // An identity knows whether there is an end, and not who is at work.
	if after.Status.Final() {
		state = after.Status
	}
	i := &m.identity
	m.identities.UpdateTx(tx, identityItem{ID: after.ID}, i.at.Set(after.At), i.state.Set(state),
		i.archived.Remove(), i.version.Set(identity.Version+1),
		singletable.If(i.version.Equals(identity.Version)))
	return tx.Commit(ctx)
}

package payments

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// Outcome is the result of an attempt to pay.
type Outcome string

// The outcomes.
const (
	// Paid means that the payment is PROCESSED now, by this attempt.
	Paid Outcome = "processed"
	// Refused means that it is FAILED now: it can never be paid as it is, or was tried often
	// enough.
	Refused Outcome = "failed"
	// Postponed means that it waits for its next attempt.
	Postponed Outcome = "postponed"
	// Elsewhere means that another worker has it at this moment. To a run it also is a payment that
	// was paid, changed or cancelled before the run came to it.
	Elsewhere Outcome = "elsewhere"
	// NotDue means that nothing was done because it is not due before its time, At.
	NotDue Outcome = "not_due"
	// Waiting means that nothing was done because an earlier attempt postponed it to Until.
	Waiting Outcome = "waiting"
	// Withdrawn means that nothing was done because it is CANCELLED.
	Withdrawn Outcome = "cancelled"
	// PaidBefore means that nothing was done because another attempt has paid it.
	PaidBefore Outcome = "processed_before"
	// RefusedBefore means that nothing was done because it is FAILED already.
	RefusedBefore Outcome = "failed_before"
)

// errElsewhere reports that a claim was lost.
var errElsewhere = errors.New("somebody else has the payment")

// Pay claims a payment that is due, settles it and returns it as it is then. If there is nothing to
// do, or nothing that this caller may do, the outcome is the reason: PaidBefore, RefusedBefore,
// Withdrawn, NotDue, Waiting or Elsewhere. The payment is returned as it is.
func (s *Scheduler) Pay(ctx context.Context, id PaymentID) (Payment, Outcome, error) {
	m, err := writing(ctx, s)
	if err != nil {
		return Payment{}, "", err
	}
	p, _, err := m.find(ctx, s, id)
	if err != nil {
		return Payment{}, "", err
	}
	if outcome := p.idle(s.opts.Now()); outcome != "" {
		return p, outcome, nil
	}
	paid, outcome, err := m.attempt(ctx, s, at(p))
	if err == nil && outcome == Elsewhere {
		if paid, _, err = m.find(ctx, s, id); err == nil {
			outcome = cmp.Or(paid.idle(s.opts.Now()), Elsewhere)
		}
	}
	return paid, outcome, err
}

// idle returns why an attempt to pay does nothing now, or "" if it can be made.
func (p Payment) idle(now time.Time) Outcome {
	switch {
	case p.Status == Processed:
		return PaidBefore
	case p.Status == Failed:
		return RefusedBefore
	case p.Status == Cancelled:
		return Withdrawn
	case p.At.After(now):
		return NotDue
	case p.Status == Pending && p.Until.After(now) && p.waiting():
		return Waiting
	case p.Status == Pending && p.Until.After(now):
		return Elsewhere
	}
	return ""
}

// attempt claims the payment with a key and settles it.
func (m *model) attempt(
	ctx context.Context, s *Scheduler, key paymentItem,
) (Payment, Outcome, error) {
	p, err := m.claim(ctx, s, key)
	if errors.Is(err, errElsewhere) {
		return paymentOf(key), Elsewhere, nil
	}
	if err != nil {
		return p, "", err
	}
	return m.settle(ctx, s, p)
}

// claim makes a payment that is scheduled, or whose claim or wait is over, this attempt's own for
// the time of a lease. One conditional update decides between all who want it.
func (m *model) claim(ctx context.Context, s *Scheduler, key paymentItem) (Payment, error) {
	now, attempt := instant(s.opts.Now()), s.opts.NewID()
	f := &m.fields
	item, err := m.payments.Update(ctx, s.store, key,
		f.status.Set(Pending), f.attempt.Set(attempt), f.attempts.Add(1),
		f.until.Set(now.Add(s.opts.Lease)), f.version.Add(1), f.updated.Set(now),
		singletable.If(singletable.Or(f.status.Equals(Scheduled),
			singletable.And(f.status.Equals(Pending), f.until.AtMost(now)))))
	switch {
	case errors.Is(err, singletable.ErrUnknown):
		return m.claimed(ctx, s, key, attempt)
	case errors.Is(err, singletable.ErrConditionFailed):
		return Payment{}, errElsewhere
	case err != nil:
		return Payment{}, failed("claim payment", key.ID, err)
	}
	return paymentOf(item), nil
}

// claimed returns the payment whose claim had no answer, if the claim is stored. One that comes
// into the store later is left to run out.
func (m *model) claimed(
	ctx context.Context, s *Scheduler, key paymentItem, attempt string,
) (Payment, error) {
	item, found, err := m.payments.Get(ctx, s.store, key, singletable.Consistent())
	if err != nil {
		return Payment{}, failed("read payment", key.ID, err)
	}
	if !found || item.Attempt != attempt {
		return Payment{}, errElsewhere
	}
	return paymentOf(item), nil
}

// settle pays a claimed payment. The ledger's transaction, the payment's new state and that of its
// identity are one write: a crash at any point leaves either all of it or none.
func (m *model) settle(
	ctx context.Context, s *Scheduler, p Payment,
) (Payment, Outcome, error) {
	done := p
	done.Status, done.Attempt, done.Until = Processed, "", time.Time{}
	done.Reason, done.ReasonText = "", ""
	done.Version++
	done.UpdatedAt = instant(s.opts.Now())
	receipt, err := s.books.PostWith(ctx, p.posting(), ledger.With{
		Owner:   ledger.OwnerPayments,
		Actions: 2,
		Add: func(tx *singletable.Tx, e ledger.Entry) {
			paid := done
			paid.TransactionID = e.Transaction.ID
			m.finishTx(tx, s, p, paid)
		},
	})
	done.TransactionID = receipt.Transaction.ID
	switch {
	case err == nil && receipt.Replayed:
		// The money moved already, by an attempt for this payment: only the mark is missing.
		err = m.finish(ctx, s, p, done)
	case errors.Is(err, ledger.ErrJoined):
		err = errElsewhere
	case err != nil && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded):
		return m.fail(ctx, s, p, err)
	}
	if errors.Is(err, errElsewhere) {
		return m.lost(ctx, s, p, done)
	}
	if err != nil {
		return p, "", failed("settle payment", p.ID, err)
	}
	return done, Paid, nil
}

// lost returns the result of an attempt that lost its payment: perhaps to itself, when the answer
// to its write did not come. Any other attempt claims the payment first, and so has a later
// version.
func (m *model) lost(
	ctx context.Context, s *Scheduler, p, done Payment,
) (Payment, Outcome, error) {
	item, found, err := m.payments.Get(ctx, s.store, at(p), singletable.Consistent())
	if err != nil {
		return p, "", failed("read payment", p.ID, err)
	}
	if found && item.Status == Processed && item.Version == done.Version {
		return paymentOf(item), Paid, nil
	}
	return p, Elsewhere, m.discard(ctx, s, p)
}

// finishTx adds to a transaction what ends an attempt: the payment as it is then, provided that the
// attempt still has it, and the state of its identity, provided that this is where it is.
func (m *model) finishTx(tx *singletable.Tx, s *Scheduler, p, done Payment) {
	f := &m.fields
	steps := []singletable.Step[paymentItem]{
		f.status.Set(done.Status), f.attempt.Remove(), f.until.Remove(),
		f.version.Set(done.Version), f.updated.Set(done.UpdatedAt),
		singletable.If(f.version.Equals(p.Version)),
	}
	if done.Reason != "" {
		steps = append(steps, f.reason.Set(done.Reason), f.reasonText.Set(done.ReasonText))
	} else {
		steps = append(steps, f.reason.Remove(), f.reasonText.Remove())
	}
	if done.TransactionID != "" {
		steps = append(steps, f.transaction.Set(done.TransactionID))
	}
	m.payments.UpdateTx(tx, at(p), steps...)
	i := &m.identity
	m.identities.UpdateTx(tx, identityItem{ID: p.ID}, i.state.Set(done.Status), i.version.Add(1),
		singletable.If(i.at.Equals(p.At), i.state.Equals(Scheduled), i.archived.Missing()))
}

// finish is finishTx alone; errElsewhere when the attempt has lost the payment.
func (m *model) finish(ctx context.Context, s *Scheduler, p, done Payment) error {
	tx := s.store.NewTx()
	m.finishTx(tx, s, p, done)
	err := tx.Commit(ctx)
	if errors.Is(err, singletable.ErrConditionFailed) {
		return errElsewhere
	}
	return err
}

// discard removes a payment that should not be there. It comes of a request that stopped for long
// between its two writes, while another one completed it and the payment went its way: its identity
// is elsewhere, or is final. A payment that another attempt has is left alone.
func (m *model) discard(ctx context.Context, s *Scheduler, p Payment) error {
	identity, err := m.identityOf(ctx, s, p.ID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if identity.At.Equal(p.At) && !identity.State.Final() {
		return nil
	}
	err = m.payments.Delete(ctx, s.store, at(p), m.fields.version.Equals(p.Version))
	if err != nil && !errors.Is(err, singletable.ErrConditionFailed) {
		return failed("remove a late copy of payment", p.ID, err)
	}
	return nil
}

// fail ends an attempt that the ledger refused: permanently, or until the next one.
func (m *model) fail(
	ctx context.Context, s *Scheduler, p Payment, cause error,
) (Payment, Outcome, error) {
	why := problem.From(cause)
	next := p
	next.Attempt, next.UpdatedAt = "", instant(s.opts.Now())
	next.Reason, next.ReasonText = why.Code, cutText(why.Sentence, reasonMax)
	next.Version++
	outcome := Postponed
	switch {
	case !passing(cause) || !trouble(cause) && p.Attempts >= s.opts.Retry.Attempts:
		outcome, next.Status, next.Until = Refused, Failed, time.Time{}
	default:
		next.Until = next.UpdatedAt.Add(s.opts.Retry.wait(p.Attempts))
	}
	var err error
	if outcome == Refused {
		err = m.finish(ctx, s, p, next)
	} else {
		err = m.postpone(ctx, s, p, next)
	}
	if errors.Is(err, errElsewhere) {
		return p, Elsewhere, m.discard(ctx, s, p)
	}
	if err != nil {
		return p, "", failed("end an attempt of payment", p.ID, err)
	}
	return next, outcome, nil
}

// postpone gives up a claim until the time of the next attempt.
func (m *model) postpone(ctx context.Context, s *Scheduler, p, next Payment) error {
	f := &m.fields
	_, err := m.payments.Update(ctx, s.store, at(p),
		f.attempt.Remove(), f.until.Set(next.Until), f.reason.Set(next.Reason),
		f.reasonText.Set(next.ReasonText), f.version.Set(next.Version),
		f.updated.Set(next.UpdatedAt), singletable.If(f.version.Equals(p.Version)))
	if errors.Is(err, singletable.ErrConditionFailed) {
		return errElsewhere
	}
	return err
}

// wait returns how long to wait after an attempt: First, doubled by every one before it, to Last.
func (r Retry) wait(attempts int) time.Duration {
	wait := r.First
	for i := 1; i < attempts && wait < r.Last; i++ {
		wait *= 2
	}
	return min(wait, r.Last)
}

// passing reports whether the reason may be gone later. A closed account, a wrong
// currency or a payee that does not exist stay as they are.
func passing(err error) bool { return trouble(err) || healing(err) }

// healing reports whether the books refuse a payment for a reason that time can heal.
func healing(err error) bool {
	return errors.Is(err, ledger.ErrInsufficientFunds) ||
		errors.Is(err, ledger.ErrAccountFrozen) || errors.Is(err, ledger.ErrBalanceTooLarge)
}

// trouble reports whether it is the store's or the machine's fault, which is retried without limit.
func trouble(err error) bool {
	switch problem.From(err).Kind {
	case problem.Internal, problem.Unavailable, problem.Throttled, problem.Changed:
		return true
	}
	return false
}

// cutText shortens a text to a number of bytes, between characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most]
}

package singletable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// retry is the state of the retries of one operation, which may have several calls.
type retry struct {
	s       *Store
	ctx     context.Context
	attempt int
	start   time.Time
	waited  time.Duration // the sum of the waits, because a Sleep of tests takes no time
	wait    time.Duration
	outage  outage
	last    error // the error before the current attempt; nil for the first
	// lost is set when a response to a write was lost, so that the write may have been made.
	lost bool
}

// outage is a period in which each call failed because the store did not answer.
type outage struct {
	on     bool
	since  time.Time
	waited time.Duration
}

func (s *Store) newRetry(ctx context.Context) retry {
	return retry{s: s, ctx: ctx, wait: s.opts.Retry.Base}
}

// next waits for the next attempt. If there is none, it returns an error that wraps cause.
func (r *retry) next(cause error) error {
	policy := r.s.opts.Retry
	r.attempt++
	r.last = cause
	if policy.Attempts > 0 && r.attempt >= policy.Attempts {
		return r.end(cause, fmt.Sprintf("gave up after %d attempts", r.attempt), nil)
	}
	if r.start.IsZero() {
		r.start = time.Now()
	}
	if !unanswered(cause) {
		r.outage = outage{}
	} else if !r.outage.on {
		r.outage = outage{on: true, since: time.Now(), waited: r.waited}
	}
	if o := &r.outage; o.on &&
		max(r.waited-o.waited, time.Since(o.since)) > policy.Outage {
		return r.end(cause, "gave up after "+policy.Outage.String(), nil)
	}
	if _, ok := r.ctx.Deadline(); !ok && max(r.waited, time.Since(r.start)) > policy.Budget {
		return r.end(cause, "gave up after "+policy.Budget.String(), nil)
	}
	// Full jitter, so that callers that conflicted once do not conflict again.
	pause := time.Duration(r.s.Draw(int64(r.wait) + 1))
	if err := r.s.opts.Sleep(r.ctx, pause); err != nil {
		return r.end(cause, "", err)
	}
	r.waited += pause
	r.wait = min(2*r.wait, policy.Max)
	return nil
}

// end returns the error of retries that are over. ended is the context's error if it ended them.
func (r *retry) end(cause error, why string, ended error) error {
	return &gaveUp{reason: reasonOf(cause), why: why, lost: r.lost, ended: ended, cause: cause}
}

// gaveUp reports a call that did not succeed within the time for retries.
type gaveUp struct {
	reason error // ErrUnreachable, ErrThrottled or ErrContended
	why    string
	lost   bool // whether the write may have been made
	ended  error
	cause  error
}

func (g *gaveUp) Error() string {
	text := g.reason.Error()
	if g.lost {
		text = ErrUnknown.Error() + ": " + text
	}
	if g.why != "" {
		text += ": " + g.why
	}
	if g.ended != nil {
		text += ": " + g.ended.Error()
	}
	return text + ": " + g.cause.Error()
}

// Is reports whether target is the reason, or a more general one.
func (g *gaveUp) Is(target error) bool {
	switch target {
	case g.reason:
		return true
	case ErrBusy:
		return g.reason != ErrUnreachable && !g.lost
	case ErrUnknown:
		return g.lost
	}
	return false
}

// Unwrap returns the error of the last call, and that of the context if it ended.
func (g *gaveUp) Unwrap() []error {
	if g.ended != nil {
		return []error{g.ended, g.cause}
	}
	return []error{g.cause}
}

// Passing converts the error of a call that did not use the kit, such as one about tables, to the
// form that the kit returns after its retries: with ErrUnreachable, ErrThrottled or ErrContended if
// it is transient. Other errors are returned unchanged.
func Passing(err error) error {
	if dynamo.Retryable(err) {
		return &gaveUp{reason: reasonOf(err), cause: err}
	}
	return err
}

// unanswered reports whether an error means that the store failed or could not be reached.
func unanswered(err error) bool {
	var e *dynamo.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == dynamo.CodeInternalServerError || e.Code == dynamo.CodeServiceUnavailable
}

// reasonOf returns the kind of a retryable error.
func reasonOf(err error) error {
	if unanswered(err) {
		return ErrUnreachable
	}
	var e *dynamo.Error
	if !errors.As(err, &e) {
		if errors.Is(err, errUnprocessed) {
			return ErrThrottled
		}
		return ErrContended // the item was changed since it was read
	}
	switch e.Code {
	case dynamo.CodeTransactionConflict, dynamo.CodeTransactionInProgress:
		return ErrContended
	case dynamo.CodeTransactionCanceled:
		// With both reasons the transaction waits for the other writers, because their throttling
		// ends first.
		for _, r := range e.Reasons {
			if r.Code == dynamo.ReasonTransactionConflict {
				return ErrContended
			}
		}
	case dynamo.CodeConditionalCheckFailed:
		return ErrContended
	}
	return ErrThrottled
}

// outcome is the meaning of a store's error for a retry.
type outcome uint8

const (
	outcomeDone    outcome = iota // success, or an error that will not change
	outcomeAgain                  // nothing was written, and a retry may succeed
	outcomeUnknown                // the write may have been made
)

func outcomeOf(err error) outcome {
	var e *dynamo.Error
	if !errors.As(err, &e) {
		return outcomeDone
	}
	switch e.Code {
	case dynamo.CodeInternalServerError, dynamo.CodeServiceUnavailable:
		if e.Unsent {
			return outcomeAgain
		}
		return outcomeUnknown
	case dynamo.CodeTransactionInProgress:
		return outcomeUnknown
	}
	if dynamo.Retryable(err) {
		return outcomeAgain
	}
	return outcomeDone
}

// request describes a call for the retry.
type request struct {
	op, table, index string
	write            bool
	// repeatable means that the call is idempotent.
	repeatable bool
	// happened, if it is set, reports from the error of a repeat whether an earlier attempt, whose
	// response was lost, made the write. A write that has it is repeated.
	happened func(refusal error) bool
	// age, if it is set, is that of the token by which the call is idempotent.
	age *tokenAge
}

// usage is the consumed capacity in a response.
type usage struct {
	one  *dynamo.ConsumedCapacity
	many []dynamo.ConsumedCapacity
}

// call makes one call to the store and retries it if that may help.
func (s *Store) call(
	ctx context.Context, req request, f func(ctx context.Context) (usage, error),
) error {
	r := s.newRetry(ctx)
	for {
		if req.age != nil {
			if err := req.age.begin(s, r.waited, r.last); err != nil {
				return err
			}
		}
		err := s.once(ctx, req, r.attempt+1, f)
		if err == nil {
			return nil
		}
		switch outcomeOf(err) {
		case outcomeDone:
			return r.refused(req, err)
		case outcomeUnknown:
			if req.write && !req.repeatable && req.happened == nil {
				return fmt.Errorf("%w: %w", ErrUnknown, err)
			}
			r.lost = req.write
			if req.age != nil {
				req.age.lost = true
			}
		}
		if err := r.next(err); err != nil {
			return err
		}
	}
}

// refused returns the error of a call that is not retried.
func (r *retry) refused(req request, err error) error {
	ended := r.ctx.Err() != nil && errors.Is(err, r.ctx.Err())
	if ended && r.last != nil {
		// The previous attempts used up the time.
		r.lost = r.lost || req.write
		return r.end(r.last, "", err)
	}
	if req.age != nil && req.age.over(r.s, r.waited) {
		return fmt.Errorf("%w: a repeat of it, whose token may be forgotten, failed: %v",
			ErrUnknown, err)
	}
	switch guess := r.lost && !req.repeatable; {
	case guess && req.happened(err):
		return nil
	case guess:
		// The write may have been made and overwritten since.
		return fmt.Errorf("%w: a repeat of it failed: %v", ErrUnknown, err)
	case ended && req.write:
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}

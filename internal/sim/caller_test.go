package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// caller is a client that works through its script.
type caller struct {
	*client.Client
	w      *world
	number int
}

func (w *world) newCaller(number int) *caller {
	c, err := client.New("http://127.0.0.1:8080", client.Options{
		Transport: network{w},
		// Without a wait that is drawn at random a round is the same again.
		Retry: client.Retry{Attempts: 4, Base: 1, Max: 1},
	})
	if err != nil {
		w.fail("new client: %w", err)
	}
	return &caller{c, w, number}
}

// outcome says what the client of a call knows about it.
type outcome struct {
	s          step
	begin, end time.Duration
	err        error
	// doubt says that the call may have done something, or may yet, though it failed.
	doubt bool
}

func (o outcome) ok() bool { return o.err == nil }

// refused reports whether the call has certainly done nothing, and never will.
func (o outcome) refused() bool { return o.err != nil && !o.doubt }

func (o outcome) code() problem.Code {
	var e *problem.Error
	if errors.As(o.err, &e) {
		return e.Code
	}
	return ""
}

// how names the outcome for the tally of a round.
func (o outcome) how() string {
	switch {
	case o.ok():
		return "done"
	case o.doubt:
		return "in doubt"
	case o.code() == "":
		return "without a code: " + o.err.Error()
	}
	return string(o.code())
}

// callTime is how long a client waits for the answer of one call.
const callTime = 45 * time.Second

// call makes one call of a step, and a second time if the first was given up in a hurry.
func (c *caller) call(s step, what string, f func(context.Context) (string, error)) outcome {
	a := &attempt{s: s, stall: int64(s.Stall),
		stallFor: time.Duration(s.StallFor) * time.Millisecond}
	o := outcome{s: s, begin: time.Since(c.w.began)}
	base := context.WithValue(c.w.ctx, attemptKey{}, a)
	try := func(d time.Duration) (answer string) {
		ctx, cancel := context.WithTimeout(base, d)
		defer cancel()
		answer, o.err = f(ctx)
		return answer
	}
	answer := ""
	if s.Hurry {
		answer = try(time.Duration(2+s.C%40) * time.Millisecond)
	}
	if !s.Hurry || o.err != nil && unknown(o.err) {
		answer = try(callTime)
	}
	o.end = time.Since(c.w.began)
	o.doubt = a.doubt || unknown(o.err)
	if o.err != nil {
		answer = o.err.Error()
		if o.doubt {
			answer += " (and nobody knows whether it did something)"
		}
	}
	c.w.event("%v: %s (since %v): %s", s, what, o.begin.Round(time.Microsecond), answer)
	c.w.count(s.Do, o.how())
	if o.err != nil && problem.KindOf(o.err) == problem.Internal {
		c.w.fail("%v: %s: %w", s, what, o.err)
	}
	return o
}

// unknown reports whether an error leaves open what the call did.
func unknown(err error) bool {
	switch problem.KindOf(err) {
	case problem.Unavailable, problem.Throttled, problem.Internal:
		return true
	}
	return false
}

// deed is an operation of a plan.
type deed func(c *caller, s step)

// do does a step.
func (c *caller) do(s step) {
	f := deeds[s.Do]
	if f == nil {
		c.w.fail("there is no operation %q", s.Do)
		return
	}
	f(c, s)
}

// systemDeeds are the operations of each system.
var systemDeeds = map[string]map[string]deed{
	"ledger": ledgerDeeds, "payments": paymentDeeds, "locations": locationDeeds,
	"rates": rateDeeds, "statements": bankDeeds,
}

// deeds are all operations.
var deeds = joined(ledgerDeeds, paymentDeeds, locationDeeds, rateDeeds, bankDeeds)

func joined(parts ...map[string]deed) map[string]deed {
	all := map[string]deed{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

// cents returns an amount.
func cents(n int, currency money.Currency) money.Amount {
	return money.MustParse(fmt.Sprintf("%d.%02d", n/100, n%100), currency)
}

// cannotTell is the error of a check whose own reads failed.
func cannotTell(what string, err error) error {
	return fmt.Errorf("when all is quiet, %s: %w", what, err)
}

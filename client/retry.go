package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// Retry configures retries of requests that are safe to repeat. The zero value means the defaults.
type Retry struct {
	// Attempts is the maximum number of attempts of one request. Default: 4. With 1 there are no
	// retries.
	Attempts int
	// Base and Max are the first and the maximum wait before a retry. The wait doubles with each
	// retry and is then drawn at random between half of it and all of it. Default: 50 ms and 2 s.
	Base, Max time.Duration
}

func (r Retry) withDefaults() Retry {
	if r.Attempts <= 0 {
		r.Attempts = 4
	}
	if r.Base <= 0 {
		r.Base = 50 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 2 * time.Second
	}
	return r
}

const (
	// budgetMax is the maximum number of retries in a burst.
	budgetMax = 20
	// successesPerRepeat is the number of successes for one more retry: on average one in ten
	// requests may be retried.
	successesPerRepeat = 10
)

// budget limits the retries of all requests together, so that a client does not multiply the load
// of a server that is overloaded.
type budget struct {
	mu   sync.Mutex
	left int // in successes
}

func newBudget() budget { return budget{left: budgetMax * successesPerRepeat} }

func (b *budget) earn() {
	b.mu.Lock()
	b.left = min(b.left+1, budgetMax*successesPerRepeat)
	b.mu.Unlock()
}

func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < successesPerRepeat {
		return false
	}
	b.left -= successesPerRepeat
	return true
}

// again reports whether to retry after an error, and how long to wait before.
func (c *Client) again(attempt int, err error) (wait time.Duration, ok bool) {
	if attempt >= c.opts.Retry.Attempts || !problem.KindOf(err).Retryable() ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		!c.budget.spend() {
		return 0, false
	}
	// It is limited at each step, because doubling first could overflow.
	most := c.opts.Retry.Max
	wait = min(c.opts.Retry.Base, most)
	for n := 1; n < attempt && wait < most; n++ {
		wait += min(wait, most-wait)
	}
	wait = wait/2 + rand.N(wait/2+1)
	var asked *delayedError
	if errors.As(err, &asked) {
		wait = max(wait, min(asked.after, c.opts.Retry.Max))
	}
	return wait, true
}

// sleep waits, and returns false if the context ended first.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// delayedError is the cause of an error whose response has a time for the next attempt.
type delayedError struct{ after time.Duration }

func (e *delayedError) Error() string { return "the server asked to wait " + e.after.String() }

// problemMax is the maximum size of a problem document.
const problemMax = 1 << 20

// refusal returns the problem in a response.
func refusal(r *request, response *http.Response) error {
	// An unreadable body is not a problem document, and is reported below.
	data, _ := io.ReadAll(io.LimitReader(response.Body, problemMax))
	e := decodeProblem(data)
	if e == nil {
		e = ErrStrangeAnswer.With("server", r.client.base.Host).With("status", response.StatusCode)
	}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err == nil && seconds > 0 {
		e = e.Wrap(&delayedError{time.Duration(seconds) * time.Second})
	}
	return e
}

// decodeProblem decodes a problem document (RFC 9457) of the API. It returns nil for any other
// data.
func decodeProblem(data []byte) *problem.Error {
	var document struct {
		Kind     problem.Kind      `json:"kind"`
		Code     problem.Code      `json:"code"`
		Detail   string            `json:"detail"`
		Hint     string            `json:"hint"`
		Fields   problem.Fields    `json:"fields"`
		Details  map[string]string `json:"details"`
		Instance string            `json:"instance"`
	}
	if json.Unmarshal(data, &document) != nil || document.Code == "" {
		return nil
	}
	e := &problem.Error{
		Kind: document.Kind, Code: document.Code, Sentence: document.Detail,
		Hint: document.Hint, Fields: document.Fields, Details: document.Details,
	}
	if document.Instance != "" {
		e = e.With(DetailRequest, document.Instance)
	}
	return e
}

// DetailRequest is the name of the detail with the id of the request, which is also in the server's
// log.
const DetailRequest = "request"

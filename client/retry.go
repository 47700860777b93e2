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

// Retry says how often a request that is safe to repeat is sent again. The zero value stands for
// the defaults.
type Retry struct {
	// Attempts bounds the number of tries of one request; 4 by default, 1 turns repeats off.
	Attempts int
	// Base and Max bound the wait before a repeat, which doubles from one to the other and is then
	// drawn at random between half of itself and the whole; 50 ms and 2 s by default.
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
	// budgetMax is how many repeats a client may send in a burst.
	budgetMax = 20
	// successesPerRepeat is how many successes earn one repeat more: in the long run one request
	// in ten may be sent again.
	successesPerRepeat = 10
)

// budget bounds the repeats of all requests together, so that a client does not send several times
// as much to a server as soon as that server has too much to do.
type budget struct {
	mu   sync.Mutex
	left int // In successes.
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

// again tells whether to send a request once more after an error, and how long to wait before.
func (c *Client) again(attempt int, err error) (wait time.Duration, ok bool) {
	if attempt >= c.opts.Retry.Attempts || !problem.KindOf(err).Retryable() ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		!c.budget.spend() {
		return 0, false
	}
	// Bounded at each step, as it would overflow if it were doubled first and bounded then.
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

// sleep waits, and returns false when the context ended first.
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

// delayedError is the cause of an error whose answer said when to try again.
type delayedError struct{ after time.Duration }

func (e *delayedError) Error() string { return "the server asked to wait " + e.after.String() }

// problemMax bounds what is read of a problem document.
const problemMax = 1 << 20

// refusal returns the problem that an answer tells.
func refusal(r *request, response *http.Response) error {
	// What cannot be read is no problem document, and is reported as such below.
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

// decodeProblem reads a problem document (RFC 9457) of the API. It returns nil for anything else.
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

// DetailRequest is the name of the detail of a problem that tells the id of the request, by which
// it is found in the server's log.
const DetailRequest = "request"

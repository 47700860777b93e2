package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// The errors of the network.
var (
	errLost   = errors.New("the network lost it")
	errNobody = errors.New("connection refused")
)

// attempt is what is known of one call of a client, over all requests that it took.
type attempt struct {
	// doubt says that a request of the call may have done something, or may yet, whatever the
	// answer that the client got says.
	doubt bool
	// sent counts its requests.
	sent int
	// calls counts the calls of the store that its requests make. Call stall takes stallFor more.
	s        step
	calls    atomic.Int64
	stall    int64
	stallFor time.Duration
}

type attemptKey struct{}

// network carries requests to processes.
type network struct{ w *world }

// RoundTrip sends a request, as the plan says.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ctx := n.w, r.Context()
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	if a == nil {
		a = &attempt{}
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	at := int(w.requests.Add(1))
	if at > 1 {
		a.sent++
	}
	for _, f := range w.faultsAt(faultJump, at) {
		w.jump(jumps[f.N%len(jumps)])
	}
	if len(w.faultsAt(faultLostRequest, at)) > 0 {
		return nil, errLost
	}
	for _, f := range w.faultsAt(faultTwice, at) {
		a.doubt = true
		w.background.Go(func() {
			time.Sleep(time.Duration(f.N) * time.Millisecond)
			again := r.Clone(context.WithoutCancel(ctx))
			_, _ = n.send(again, body, &attempt{}) // The call is in doubt anyway.
		})
	}
	lost := len(w.faultsAt(faultLostAnswer, at)) > 0
	response, err := n.send(r, body, a)
	switch {
	case err != nil:
		return nil, err
	case lost:
		a.doubt = true
		return nil, errLost
	}
	return response, nil
}

// send sends a request to one of the processes and waits for the whole answer.
func (n network) send(r *http.Request, body []byte, a *attempt) (*http.Response, error) {
	w := n.w
	p := w.processes[w.drawInt(processCount)]
	if w.phase.Load() == quiet {
		p = w.processes[0]
	}
	l := p.alive()
	if l == nil {
		l = w.processes[(p.number+1)%processCount].alive()
	}
	if l == nil {
		time.Sleep(100 * time.Millisecond)
		return nil, errNobody
	}
	sent := r.Clone(r.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	response, err := l.server.Transport().RoundTrip(sent)
	if err != nil {
		a.doubt = true
		return nil, err
	}
	data, err := io.ReadAll(response.Body)
	response.Body.Close()
	if l.dead.Load() {
		err = errLost
	}
	if w.phase.Load() == quiet {
		w.mu.Lock()
		w.reads.note(r, response.StatusCode)
		w.mu.Unlock()
	}
	if response.StatusCode == http.StatusCreated {
		w.noteCreated(r)
	}
	if response.StatusCode >= 500 {
		a.doubt = true
	}
	if err != nil {
		a.doubt = true
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(data))
	return response, nil
}

// noteCreated counts the answers that say that a request made something. There is one at most for
// each key.
func (w *world) noteCreated(r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return
	}
	key = r.URL.Path + " " + key
	w.mu.Lock()
	w.created[key]++
	n := w.created[key]
	w.mu.Unlock()
	if n > 1 {
		w.fail("%s was answered 201 %d times", key, n)
	}
}

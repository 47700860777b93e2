package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/singletable"
)

// The headers of every answer, and of requests that bring an id.
const (
	headerRequestID = "X-Request-Id"
	headerCalls     = "Exchequer-Calls"
	headerRead      = "Exchequer-Read-Units"
	headerWrite     = "Exchequer-Write-Units"

	// requestIDMax is the maximum length of an id that a request brings; UUIDs have 36.
	requestIDMax = 64
)

// Exchange is a request and its answer, for logs and measurements.
type Exchange struct {
	// ID is the request's own id, or one that was made for it.
	ID           string
	Method, Path string
	// Route is the path of the operation, with its parameters in braces; empty when there is none.
	Route  string
	Status int
	Bytes  int64
	Took   time.Duration
	// Code and Err tell the problem of an answer that is one.
	Code problem.Code
	Err  error
	// Key is the id of the API key, if there was one.
	Key string
	// Calls, Read and Write are the calls to the store and their capacity units.
	Calls       int
	Read, Write float64

	operation string // Its id, once it was routed.
	system    string // The system of the operation.
	trusted   bool
	caller    caller
	meter     *singletable.Meter
	request   *http.Request // Once it was routed.
	body      []byte        // The JSON that was sent, for operations that read it.
	// admitted marks a read that serves a request whose caller was admitted.
	admitted bool
}

type (
	exchangeKey struct{}
	trustKey    struct{}
)

// Trust marks the requests of a context as coming from this process, whose owner may do everything.
func Trust(ctx context.Context) context.Context { return context.WithValue(ctx, trustKey{}, true) }

// exchangeOf returns the exchange that a context belongs to.
func exchangeOf(ctx context.Context) *Exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*Exchange); ok {
		return x
	}
	return &Exchange{}
}

// ServeHTTP answers a request.
func (a *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now() // How long it took, not when it was: no matter for a clock of tests.
	x := &Exchange{ID: requestID(r), Method: r.Method, Path: r.URL.Path}
	x.trusted, _ = r.Context().Value(trustKey{}).(bool)
	ctx, meter := singletable.WithMeter(context.WithValue(r.Context(), exchangeKey{}, x))
	x.meter = meter
	r = r.WithContext(ctx)
	answer := &recorder{ResponseWriter: w, request: r, exchange: x}
	defer func() {
		whole := true
		if fault := recover(); fault != nil {
			whole = a.recovered(answer, fault)
		}
		x.Route, x.Status, x.Bytes = routeOf(r.Pattern), answer.status, answer.bytes
		x.Calls, x.Read, x.Write = meter.Calls(), meter.Read(), meter.Write()
		x.Took = time.Since(began)
		if a.opts.Done != nil {
			a.opts.Done(*x)
		}
		if !whole {
			// The answer has begun. Only breaking it off shows the client that it is not whole.
			panic(http.ErrAbortHandler)
		}
	}()
	h := w.Header()
	h.Set(headerRequestID, x.ID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization") // The same address answers each person with their own.
	if !x.trusted {
		if err := a.guard.check(r); err != nil {
			a.document(ctx, err).write(answer)
			return
		}
	}
	if unclean(r.URL.EscapedPath()) {
		answer.unrouted = http.StatusNotFound
		a.document(ctx, ErrRouteNotFound.With("path", r.URL.Path)).write(answer)
		return
	}
	a.mux.ServeHTTP(answer, r)
	if answer.unrouted != 0 {
		a.document(ctx, unrouted(answer)).write(answer)
	}
}

// unclean reports whether a path has an empty part, or one that means another folder. The router
// would answer such a path with a redirect in HTML, and the method and the body would be lost.
func unclean(path string) bool {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "." || part == ".." || part == "" && 0 < i && i < len(parts)-1 {
			return true
		}
	}
	return false
}

// unrouted returns the problem of a request that no operation takes.
func unrouted(w *recorder) error {
	path := w.request.URL.Path
	if w.unrouted == http.StatusMethodNotAllowed {
		return ErrMethodNotAllowed.With("path", path).With("method", w.request.Method).
			With("allowed", w.Header().Get("Allow"))
	}
	return ErrRouteNotFound.With("path", path)
}

// recovered answers a request whose handling panicked: that is a fault of ours, told to the log. It
// returns false when the answer had begun already.
func (a *Router) recovered(w *recorder, fault any) (whole bool) {
	err, ok := fault.(error)
	if !ok {
		err = fmt.Errorf("%v", fault)
	}
	if errors.Is(err, http.ErrAbortHandler) && w.exchange.Err != nil {
		return false // An answer that is broken off on purpose, and why is noted already.
	}
	if w.broken != nil {
		// The caller has left, or reads no more. The framework takes that for a fault of ours.
		w.exchange.Err = fmt.Errorf("send the answer: %w", w.broken)
		return false
	}
	err = fmt.Errorf("panic: %w", err)
	w.exchange.Err, w.exchange.Code = err, problem.CodeInternal
	if errors.Is(err, http.ErrAbortHandler) || w.status != 0 {
		return false
	}
	a.document(w.request.Context(), err).write(w)
	return true
}

// requestID returns the id that a request brings, if it can stand in a log as it is, or a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get(headerRequestID)
	if id == "" || len(id) > requestIDMax {
		return newRequestID()
	}
	for i := range len(id) {
		c := id[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '-' || c == '_' || c == '.'
		if !plain {
			return newRequestID()
		}
	}
	return id
}

// requestIDLength is enough not to meet an id twice in a log: 80 random bits.
const requestIDLength = 16

func newRequestID() string { return rand.Text()[:requestIDLength] }

// routeOf takes the method off a pattern of the router.
func routeOf(pattern string) string {
	for i := range len(pattern) {
		if pattern[i] == ' ' {
			return pattern[i+1:]
		}
	}
	return pattern
}

// recorder records the answer, adds its cost, and holds back what the router answers when no
// operation takes a request.
type recorder struct {
	http.ResponseWriter
	request  *http.Request
	exchange *Exchange
	status   int
	bytes    int64
	unrouted int
	broken   error       // Why a part of the answer could not be sent.
	stream   *longAnswer // Nil for ordinary answers.
}

// Unwrap lets http.ResponseController find the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the status with the cost so far.
func (w *recorder) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	own := w.request.Pattern == "" && w.unrouted == 0
	if own && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		w.unrouted = status
		return
	}
	if w.status = status; w.exchange.meter.Calls() > 0 {
		h, m := w.Header(), w.exchange.meter
		h.Set(headerCalls, strconv.Itoa(m.Calls()))
		h.Set(headerRead, strconv.FormatFloat(m.Read(), 'f', -1, 64))
		h.Set(headerWrite, strconv.FormatFloat(m.Write(), 'f', -1, 64))
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *recorder) Write(data []byte) (int, error) {
	if w.unrouted != 0 && w.status == 0 {
		return len(data), nil // The router's own words; a problem follows.
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	var n int
	var err error
	if w.stream != nil {
		n, err = w.stream.write(w.ResponseWriter, data)
	} else {
		n, err = w.ResponseWriter.Write(data)
	}
	w.bytes += int64(n)
	if err != nil && w.broken == nil {
		w.broken = err
	}
	return n, err
}

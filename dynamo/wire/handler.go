package wire

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Limits of requests ("Service, account, and table quotas" in the developer guide).
const (
	requestSizeMax = 16 << 20
	headerSizeMax  = 16 << 10
)

// Times that bound what a slow client can hold: its headers, its body (16 MB at 280 KB/s), all of
// its request and answer, and an idle connection.
const (
	headerTimeMax = 10 * time.Second
	readTimeMax   = 60 * time.Second
	wholeTimeMax  = 2 * time.Minute
	idleTimeMax   = 5 * time.Minute
)

// largeBody is from which size on requests wait for each other: what is read from such a body can
// take ten times its size, so that only as many as there are processors are in work at once.
const largeBody = 1 << 20

// Options configure a handler. The zero value is a good default.
type Options struct {
	// Region appears in the text of health checks; "local" by default.
	Region string
	// Logger is told of failures that clients are not told of; nothing is logged by default.
	Logger *slog.Logger
	// Auth says whether requests must be signed; AccessKeys are the keys that AuthFull knows, and
	// turn it on where there are any.
	Auth       Authentication
	AccessKeys []AccessKey
	// AllowedHosts are names under which the handler may be asked, and the hosts of whose pages
	// may call it from a browser, besides those of the machine itself; "*" allows all. With
	// AuthFull all are allowed: a page has no key.
	AllowedHosts []string
	// Now is the clock by which signatures expire; time.Now by default.
	Now func() time.Time
}

// Handler serves a store by the DynamoDB JSON protocol. It is safe for concurrent use.
//
// It reads a body as fast as it comes and sets no deadline: the server that mounts it does, see
// [NewServer].
type Handler struct {
	opts  Options
	ops   operations
	auth  *verifier
	guard guard
	large chan struct{} // holds a token for each large request that is in work
}

// NewHandler returns a handler over a store. Items are served always; tables, streams, statements,
// tags and archives where the store also implements [dynamo.Admin], [dynamo.Streams],
// [dynamo.PartiQL], [dynamo.Tagger] and [dynamo.Archiver]. Every other operation is answered by an
// UnknownOperationException.
func NewHandler(db dynamo.DB, opts Options) *Handler {
	if opts.Region == "" {
		opts.Region = "local"
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if len(opts.AccessKeys) > 0 {
		opts.Auth = AuthFull
	}
	return &Handler{
		opts: opts, ops: operationsOf(db), auth: newVerifier(&opts), guard: newGuard(&opts),
		large: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

// Operations returns the targets that the handler serves, such as "DynamoDB_20120810.GetItem", in
// order.
func (h *Handler) Operations() []string { return slices.Sorted(maps.Keys(h.ops)) }

// NewServer returns a server for the handler with the deadlines and limits that keep slow and huge
// requests from holding it. Its address is for the caller to set.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeMax,
		ReadTimeout:       readTimeMax,
		WriteTimeout:      wholeTimeMax,
		IdleTimeout:       idleTimeMax,
		MaxHeaderBytes:    headerSizeMax,
	}
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header()[headerRequestID] = []string{newRequestID()}
	if err := h.guard.check(req); err != nil {
		h.refuse(w, req, http.StatusForbidden, err)
		return
	}
	switch req.Method {
	case http.MethodPost:
		h.allowOrigin(w, req)
		h.answer(w, req)
	case http.MethodGet, http.MethodHead:
		h.health(w, req)
	case http.MethodOptions:
		h.preflight(w, req)
	default:
		h.refuse(w, req, http.StatusNotFound, unknownOperation())
	}
}

// answer serves an operation.
func (h *Handler) answer(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/" || !isJSON(req.Header.Get("Content-Type")) {
		h.refuse(w, req, http.StatusNotFound, unknownOperation())
		return
	}
	body, refusal := readBody(req)
	if refusal != nil {
		w.Header().Set("Connection", "close") // what is left of the body is not read
		h.refuse(w, req, statusOf(refusal.Code), refusal)
		return
	}
	if len(body) > largeBody {
		select {
		case h.large <- struct{}{}:
			defer func() { <-h.large }()
		case <-req.Context().Done():
			h.refuse(w, req, http.StatusServiceUnavailable, req.Context().Err())
			return
		}
	}
	out := buffers.Get().(*writer)
	defer out.release()
	if err := h.serve(req, body, out); err != nil {
		e := h.exception(req, err)
		out.b = out.b[:0]
		out.error(e)
		h.send(w, req, statusOf(e.Code), out.b)
		return
	}
	h.send(w, req, http.StatusOK, out.b)
}

// serve carries out the operation that a request names. No panic gets through.
func (h *Handler) serve(req *http.Request, body []byte, out *writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	op := h.ops[req.Header.Get("X-Amz-Target")]
	if op == nil {
		return unknownOperation()
	}
	if err := h.auth.verify(req, body); err != nil {
		return err
	}
	r := newReader(body)
	r.host = req.Host
	return op(req.Context(), r, out)
}

// exception returns what to tell the client of an error, and logs what it is not told.
func (h *Handler) exception(req *http.Request, err error) *dynamo.Error {
	e, internal := known(err)
	if internal {
		h.opts.Logger.ErrorContext(req.Context(), "request failed",
			"target", req.Header.Get("X-Amz-Target"), "error", err)
	}
	return e
}

func (h *Handler) refuse(w http.ResponseWriter, req *http.Request, status int, err error) {
	var out writer
	out.error(h.exception(req, err))
	h.send(w, req, status, out.b)
}

func unknownOperation() error { return &dynamo.Error{Code: codeUnknownOperation} }

// isJSON reports whether a content type is one that clients of the protocol send. None at all
// passes, for those who write requests by hand.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.TrimSpace(kind) {
	case "", "application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json":
		return true
	}
	return false
}

// What may be wrong with a body before it is read as JSON.
var (
	errTooLarge = &dynamo.Error{
		Code: codeTooLarge, Message: "The request is larger than 16 MB",
	}
	errCutOff = &dynamo.Error{
		Code: codeTimeout, Message: "The body of the request did not come in time",
	}
)

// bodyStep is how much of a body is made room for at first: a length that a client only claims
// takes no memory.
const bodyStep = 64 << 10

// readBody reads the whole body into a slice of its own, which the strings of the request alias.
func readBody(req *http.Request) ([]byte, *dynamo.Error) {
	if req.ContentLength > requestSizeMax {
		return nil, errTooLarge
	}
	size := int64(bodyStep)
	if req.ContentLength >= 0 {
		size = min(size, req.ContentLength)
	}
	body := make([]byte, 0, size+1) // one more, so that the end shows without growing
	for {
		n, err := req.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > requestSizeMax:
			return nil, errTooLarge
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, errCutOff
		}
		if len(body) == cap(body) {
			room := min(2*cap(body), requestSizeMax+1)
			if req.ContentLength >= 0 {
				room = min(room, int(req.ContentLength)+1)
			}
			body = slices.Grow(body, max(room-len(body), 1)) // the length may be a lie
		}
	}
}

// buffers holds writers for answers.
var buffers = sync.Pool{New: func() any { return &writer{b: make([]byte, 0, 4<<10)} }}

// bufferSizeMax is the greatest buffer that is kept for other answers: a full page.
const bufferSizeMax = 2 << 20

func (w *writer) release() {
	if cap(w.b) <= bufferSizeMax {
		w.b = w.b[:0]
		buffers.Put(w)
	}
}

// health answers a look at whether the server is there, at "/" and "/healthz".
func (h *Handler) health(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/" && req.URL.Path != "/healthz" {
		h.refuse(w, req, http.StatusNotFound, unknownOperation())
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "healthy: dynamodb.%s.amazonaws.com \n", h.opts.Region)
}

// preflightAge is how long a browser may remember that it was allowed to call, in seconds: two
// days, as the service says.
const preflightAge = "172800"

// allowOrigin lets pages read the answer: those of any origin, as the service does, that the guard
// let through.
func (h *Handler) allowOrigin(w http.ResponseWriter, req *http.Request) bool {
	if req.Header.Get("Origin") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers",
		"x-amzn-RequestId, x-amzn-ErrorType, x-amz-crc32, Date")
	return true
}

// preflight answers a browser that asks whether a page may call.
func (h *Handler) preflight(w http.ResponseWriter, req *http.Request) {
	if h.allowOrigin(w, req) {
		header := w.Header()
		header.Set("Access-Control-Max-Age", preflightAge)
		if asked := req.Header.Get("Access-Control-Request-Headers"); asked != "" {
			header.Set("Access-Control-Allow-Headers", asked)
		}
		if asked := req.Header.Get("Access-Control-Request-Method"); asked != "" {
			header.Set("Access-Control-Allow-Methods", asked)
		}
	}
	w.WriteHeader(http.StatusOK)
}

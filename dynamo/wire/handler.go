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

// Timeouts that limit slow clients: for the headers, the body (16 MB at 280 KB/s), the whole
// request with its response, and an idle connection.
const (
	headerTimeMax = 10 * time.Second
	readTimeMax   = 60 * time.Second
	wholeTimeMax  = 2 * time.Minute
	idleTimeMax   = 5 * time.Minute
)

// largeBody is the size above which requests are limited. Decoding such a body can take ten times
// its size, so only as many are processed concurrently as there are processors.
const largeBody = 1 << 20

// Options configure a handler. The zero value is a good default.
type Options struct {
	// Region appears in the text of health checks. Default: "local".
	Region string
	// Logger receives internal errors that are hidden from clients. By default nothing is logged.
	Logger *slog.Logger
	// Auth sets whether requests must be signed. AccessKeys are the accepted keys; if there are
	// any, Auth is AuthFull.
	Auth       Authentication
	AccessKeys []AccessKey
	// AllowedHosts are host names under which the handler can be reached, in addition to those of
	// the local machine. Pages of these hosts may call it from a browser. "*" allows all. With
	// AuthFull all hosts are allowed, because a page has no key.
	AllowedHosts []string
	// Now is the clock for the expiry of signatures. Default: time.Now.
	Now func() time.Time
}

// Handler serves a store by the DynamoDB JSON protocol. It is safe for concurrent use.
//
// It sets no deadline for reading a body. The server that mounts it does that; see [NewServer].
type Handler struct {
	opts  Options
	ops   operations
	auth  *verifier
	guard guard
	large chan struct{} // holds a token for each large request in progress
}

// NewHandler returns a handler for a store. Operations on items are always available. Those on
// tables, streams, statements, tags and archives are available if the store also implements
// [dynamo.Admin], [dynamo.Streams], [dynamo.PartiQL], [dynamo.Tagger] and [dynamo.Archiver].
// Statements are also available if the store can describe its tables. All other operations return
// an UnknownOperationException.
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

// Operations returns the targets that the handler serves, such as "DynamoDB_20120810.GetItem",
// sorted.
func (h *Handler) Operations() []string { return slices.Sorted(maps.Keys(h.ops)) }

// NewServer returns a server for the handler, with deadlines and limits against slow and large
// requests. The caller sets its address.
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

// ServeHTTP serves one request.
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
		w.Header().Set("Connection", "close") // the rest of the body is not read
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

// serve executes the operation of a request. A panic is returned as an error.
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

// exception returns the exception for the client, and logs an internal error.
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

// isJSON reports whether a content type is used by clients of the protocol. An empty one is
// accepted, for requests that are written by hand.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.TrimSpace(kind) {
	case "", "application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json":
		return true
	}
	return false
}

// Errors of a body before it is parsed.
var (
	errTooLarge = &dynamo.Error{
		Code: codeTooLarge, Message: "The request is larger than 16 MB",
	}
	errCutOff = &dynamo.Error{
		Code: codeTimeout, Message: "The body of the request did not come in time",
	}
)

// bodyStep is the initial buffer for a body. It is not the Content-Length, because a client could
// claim a large one without sending it.
const bodyStep = 64 << 10

// readBody reads the whole body into a new slice, which the strings of the request alias.
func readBody(req *http.Request) ([]byte, *dynamo.Error) {
	if req.ContentLength > requestSizeMax {
		return nil, errTooLarge
	}
	size := int64(bodyStep)
	if req.ContentLength >= 0 {
		size = min(size, req.ContentLength)
	}
	body := make([]byte, 0, size+1) // one more byte, so that the end is found without growing
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
			body = slices.Grow(body, max(room-len(body), 1)) // the Content-Length may be wrong
		}
	}
}

// buffers is the pool of buffers for responses.
var buffers = sync.Pool{New: func() any { return &writer{b: make([]byte, 0, 4<<10)} }}

// bufferSizeMax is the maximum size of a buffer that is returned to the pool: that of a full page.
const bufferSizeMax = 2 << 20

func (w *writer) release() {
	if cap(w.b) <= bufferSizeMax {
		w.b = w.b[:0]
		buffers.Put(w)
	}
}

// health serves the health check at "/" and "/healthz".
func (h *Handler) health(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/" && req.URL.Path != "/healthz" {
		h.refuse(w, req, http.StatusNotFound, unknownOperation())
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "healthy: dynamodb.%s.amazonaws.com \n", h.opts.Region)
}

// preflightAge is the number of seconds for which a browser may cache a preflight response: two
// days, as on the service.
const preflightAge = "172800"

// allowOrigin lets pages read the response. Any origin that the guard accepted is allowed, as on
// the service.
func (h *Handler) allowOrigin(w http.ResponseWriter, req *http.Request) bool {
	if req.Header.Get("Origin") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Expose-Headers",
		"x-amzn-RequestId, x-amzn-ErrorType, x-amz-crc32, Date")
	return true
}

// preflight serves a browser's preflight request.
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

package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
)

// Options of a [Client]. The zero value works.
type Options struct {
	// Key is the API key, sent as a bearer token.
	Key string
	// Token is the token of a user: an ID token or an access token of the server's issuer. It
	// excludes Key.
	Token string
	// Transport sends the requests; nil means a connection pool of the client.
	Transport http.RoundTripper
	// UserAgent identifies the caller in the server's log; empty means the name of this package.
	UserAgent string
	// Timeout is the maximum time for which the server may send nothing, before and during its
	// response. Default: TimeoutDefault. LongTimeout is that of streams, downloads and files, which
	// may take longer to begin. Default: LongTimeoutDefault. Negative values mean no limit. A
	// request that exceeds one of them is ErrNoAnswer and matches context.DeadlineExceeded.
	Timeout, LongTimeout time.Duration
	// Retry configures retries.
	Retry Retry
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base   *url.URL
	opts   Options
	http   *http.Client
	budget budget
}

const (
	userAgentDefault = "exchequer-client"
	// answerMax is the maximum size of a response; a page of 1,000 rows has less than a tenth of
	// it.
	answerMax = 64 << 20
	// idleConnectionsMax allows as many callers as a server is usually measured with to keep their
	// connections.
	idleConnectionsMax = 256
	// idleTimeout closes connections before the server does, so that no request is sent on a
	// closing one.
	idleTimeout = 60 * time.Second

	headerRequestID = "X-Request-Id"
	headerReplayed  = "Idempotent-Replayed"
	headerKey       = "Idempotency-Key"
)

// New returns a client of the server at an address such as "http://127.0.0.1:8080".
func New(baseURL string, opts Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(baseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("the server's address: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("the server's address %q must look like http://127.0.0.1:8080", baseURL)
	}
	if opts.Key != "" && opts.Token != "" {
		return nil, errors.New("give either an API key or a user's token")
	}
	if opts.UserAgent == "" {
		opts.UserAgent = userAgentDefault
	}
	opts.Retry = opts.Retry.withDefaults()
	if opts.Timeout == 0 {
		opts.Timeout = TimeoutDefault
	}
	if opts.LongTimeout == 0 {
		opts.LongTimeout = LongTimeoutDefault
	}
	if opts.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnectionsMax, idleConnectionsMax
		t.IdleConnTimeout = idleTimeout
		opts.Transport = t
	}
	return &Client{
		base: base, opts: opts, budget: newBudget(),
		// The API does not redirect. Following a redirect would send the key to another server.
		http: &http.Client{Transport: opts.Transport, CheckRedirect: refuseRedirect},
	}, nil
}

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// request is one request of the API.
type request struct {
	client *Client
	method string
	path   string // escaped
	values url.Values
	body   any
	file   io.Reader // a body that can be read only once
	size   int64     // of the file in bytes; 0 if it is unknown
	key    string    // the idempotency key; empty for none
	match  string    // the required ETag; empty for any
	accept string
	safe   bool // whether it may be sent twice
}

func (c *Client) get(path string, values url.Values) *request {
	return &request{client: c, method: http.MethodGet, path: path, values: values, safe: true}
}

func (c *Client) post(path string, body any) *request {
	return &request{client: c, method: http.MethodPost, path: path, body: body}
}

// answer sends a request and decodes its response.
func answer[T any](ctx context.Context, r *request) (T, error) {
	v, _, err := exchange[T](ctx, r)
	return v, err
}

// repeatable is answer for requests that create something once: replayed reports whether an
// earlier, equal request created it.
func repeatable[T any](ctx context.Context, r *request) (v T, replayed bool, err error) {
	v, header, err := exchange[T](ctx, r)
	return v, header.Get(headerReplayed) == "true", err
}

// receipt is answer for a posting.
func receipt(ctx context.Context, r *request) (Receipt, error) {
	e, replayed, err := repeatable[Entry](ctx, r)
	return Receipt{Entry: e, Replayed: replayed}, err
}

// only returns the only item of a list.
func only[T any](ctx context.Context, r *request) (T, error) {
	page, err := answer[Page[T]](ctx, r)
	if err == nil && len(page.Items) != 1 {
		err = fmt.Errorf("%s %s: %d items in the answer, not one", r.method, r.path,
			len(page.Items))
	}
	if err != nil {
		var none T
		return none, err
	}
	return page.Items[0], nil
}

func exchange[T any](ctx context.Context, r *request) (v T, header http.Header, err error) {
	response, err := r.send(ctx)
	if err != nil {
		return v, nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err != nil {
		return v, nil, r.broken(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, nil, fmt.Errorf("%s %s: the answer is no JSON of this API: %w", r.method,
			r.path, err)
	}
	return v, response.Header, nil
}

// send sends the request, with retries if they are allowed, and returns a successful response.
func (r *request) send(ctx context.Context) (*http.Response, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
	}
	for attempt := 1; ; attempt++ {
		response, err := r.once(ctx, body)
		if err == nil {
			r.client.budget.earn()
			return response, nil
		}
		wait, again := r.client.again(attempt, err)
		if !r.safe || !again || !sleep(ctx, wait) {
			return nil, err
		}
	}
}

func (r *request) once(ctx context.Context, body []byte) (*http.Response, error) {
	address := *r.client.base
	address.RawQuery = r.values.Encode()
	joined := address.JoinPath(r.path)
	p := patient(ctx, r.timeout())
	var content io.Reader = bytes.NewReader(body)
	if r.file != nil {
		content = sending{r.file, p}
	}
	sent, err := http.NewRequestWithContext(p.ctx, r.method, joined.String(), content)
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	h := sent.Header
	if r.file != nil {
		h.Set("Content-Type", "application/octet-stream")
		if r.size > 0 {
			sent.ContentLength = r.size
		}
	}
	h.Set("User-Agent", r.client.opts.UserAgent)
	h.Set("Accept", "application/json")
	if r.accept != "" {
		h.Set("Accept", r.accept)
	}
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		h.Set(headerKey, r.key)
	}
	if r.match != "" {
		h.Set("If-Match", r.match)
	}
	if bearer := r.client.opts.Key + r.client.opts.Token; bearer != "" { // one of them is empty
		h.Set("Authorization", "Bearer "+bearer)
	}
	response, err := r.client.http.Do(sent)
	if err != nil {
		err = p.cause(err)
		p.stop()
		return nil, r.broken(err)
	}
	p.progress(1)
	response.Body = receiving{response.Body, p}
	count(ctx, response.Header)
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return nil, refusal(r, response)
	}
	return response, nil
}

// timeout returns the maximum time for which the server may send nothing.
func (r *request) timeout() time.Duration {
	if r.file != nil || r.accept != "" {
		return r.client.opts.LongTimeout
	}
	return r.client.opts.Timeout
}

// broken returns the error of an incomplete response.
func (r *request) broken(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the method and the address are already in the error
	}
	return ErrNoAnswer.With("server", r.client.base.Host).
		Wrap(fmt.Errorf("%s %s: %w", r.method, r.path, err))
}

// newKey generates an idempotency key.
func newKey() string { return rand.Text() }

// Problems lists the problems of the client itself.
var Problems = problem.NewCatalogue("client")

var (
	// ErrNoAnswer reports that no response was received. The server may have executed the request.
	ErrNoAnswer = Problems.Define(problem.Unavailable, "server_unreachable",
		"The server at {server} gave no answer",
		"Check that it runs, and send the same request with the same key again")
	// ErrStrangeAnswer reports a response that is not from a server of this API.
	ErrStrangeAnswer = Problems.Define(problem.Unavailable, "answer_invalid",
		"The server at {server} answered with status {status} in a form that is not the API's",
		"Check the address and the proxies in front of the server")
)

// Ready returns nil if the server is ready. It does not retry, because not being ready is a valid
// result.
func (c *Client) Ready(ctx context.Context) error {
	r := c.get("/readyz", nil)
	r.safe = false
	_, err := answer[json.RawMessage](ctx, r)
	return err
}

// segment escapes a value as a segment of a path. Segments such as "..", which path cleaning would
// remove, are percent-encoded.
func segment[T ~string](value T) string {
	switch value {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(string(value))
}

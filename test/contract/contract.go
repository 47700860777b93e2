// Package contract compares what a server receives and sends with its own OpenAPI document. Tests
// put it around their servers, so that every test of the API is a test of the document too.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/cache"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/content"
	"github.com/pb33f/libopenapi-validator/errors"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

const (
	// bodyMax is the largest body that is validated, in bytes. Longer ones pass through.
	bodyMax = 4 << 20
	// findingsMax is the maximum number of findings that one test reports.
	findingsMax = 20
)

// Contract is an OpenAPI document, ready to validate with. It is safe for concurrent use.
type Contract struct {
	valid    validator.Validator
	model    *v3.Document
	document []byte
	// validating is held while the library validates, because that changes its model.
	validating sync.Mutex
}

// Parse reads an OpenAPI document in JSON.
func Parse(document []byte) (*Contract, error) {
	parsed, err := libopenapi.NewDocument(document)
	if err != nil {
		return nil, fmt.Errorf("parse the OpenAPI document: %w", err)
	}
	model, err := parsed.BuildV3Model()
	if err != nil {
		return nil, fmt.Errorf("build a model of the OpenAPI document: %w", err)
	}
	schemas := &lazyCache{SchemaCache: cache.NewDefaultCache()}
	schemas.opening.Store(true)
	defer schemas.opening.Store(false)
	return &Contract{
		valid: validator.NewValidatorFromV3Model(&model.Model, config.WithFormatAssertions(),
			config.WithSchemaCache(schemas),
			config.WithoutSecurityValidation(), config.WithRejectUndeclaredRequestBody(),
			config.WithBodyDecoder(lineTypes[0], content.JSONDecoder()),
			config.WithBodyDecoder(lineTypes[1], content.JSONDecoder())),
		model: &model.Model, document: document,
	}, nil
}

// lazyCache keeps a validator from compiling every schema when it is made, because most tests need
// few: while it opens, each schema looks as if it were compiled.
type lazyCache struct {
	cache.SchemaCache
	opening atomic.Bool
}

// Load returns a compiled schema.
func (c *lazyCache) Load(key uint64) (*cache.SchemaCacheEntry, bool) {
	if c.opening.Load() {
		return nil, true
	}
	return c.SchemaCache.Load(key)
}

// shared is the contract of all servers of a test binary: they have one document but for its
// version, and writing it takes longer than most tests.
var shared struct {
	once sync.Once
	*Contract
	err error
}

// of returns the contract of the document that a handler serves.
func of(h http.Handler) (*Contract, error) {
	shared.once.Do(func() {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			shared.err = fmt.Errorf("the OpenAPI document is answered with status %d", w.Code)
			return
		}
		shared.Contract, shared.err = Parse(w.Body.Bytes())
	})
	return shared.Contract, shared.err
}

// Watcher validates exchanges for one test, and fails the test for every finding once it has ended.
type Watcher struct {
	*Contract
	mu       sync.Mutex
	findings []string
	watched  int
	// yearOne reports whether a request had a time of the year 1, which later answers may have too.
	yearOne bool
}

// Watch returns a watcher over the document that a handler serves. The test fails at its end if an
// exchange did not conform.
func Watch(t testing.TB, h http.Handler) *Watcher {
	t.Helper()
	c, err := of(h)
	if err != nil {
		t.Fatal(err)
	}
	w := &Watcher{Contract: c}
	t.Cleanup(func() {
		for _, finding := range w.Findings() {
			t.Error(finding)
		}
	})
	return w
}

// Findings returns what did not conform, each finding once, and forgets it.
func (w *Watcher) Findings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.findings
	w.findings = nil
	return found
}

// Watched returns the number of exchanges that were validated.
func (w *Watcher) Watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watched
}

// Handler returns a handler that validates each exchange after it was answered.
func (w *Watcher) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		sent := &copied{}
		seen := r.Clone(r.Context())
		// The server looks at the body of its own request to see whether it must read the rest.
		carried := *r
		carried.Body = sent.tee(r.Body)
		answer := &recorder{ResponseWriter: rw}
		defer func() {
			// An answer that was broken off on purpose is not whole, and cannot conform.
			fault := recover()
			if fault == nil && r.Context().Err() == nil {
				w.judge(seen, sent, answer.response(), &answer.body)
			}
			if fault != nil {
				panic(fault)
			}
		}()
		h.ServeHTTP(answer, &carried)
	})
}

// RoundTripper returns a transport that validates each exchange once its answer was read.
func (w *Watcher) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		sent := &copied{}
		seen, carried := r.Clone(r.Context()), r.Clone(r.Context())
		carried.Body = sent.tee(r.Body)
		response, err := next.RoundTrip(carried)
		if err != nil {
			return nil, err
		}
		got := &copied{}
		whole := *response
		response.Body = &ending{got.tee(response.Body), func() {
			w.judge(seen, sent, &whole, got)
		}}
		return response, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// ending is a body that calls a function once it was read to its end.
type ending struct {
	io.ReadCloser
	ended func()
}

// Read reads from the body.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err == io.EOF && e.ended != nil {
		e.ended()
		e.ended = nil
	}
	return n, err
}

// copied is a copy of a body, as far as it was read.
type copied struct {
	bytes.Buffer
	long bool // Whether the body is longer than bodyMax.
}

// Write copies a part of the body.
func (c *copied) Write(p []byte) (int, error) {
	if c.long = c.long || c.Len()+len(p) > bodyMax; !c.long {
		c.Buffer.Write(p)
	}
	return len(p), nil
}

func (c *copied) tee(body io.ReadCloser) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body
	}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, c), body}
}

// recorder copies an answer on its way.
type recorder struct {
	http.ResponseWriter
	status int
	header http.Header
	body   copied
}

// Unwrap lets http.ResponseController find the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader sends the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.header = status, r.Header().Clone()
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	_, _ = r.body.Write(p) // A buffer takes everything.
	return r.ResponseWriter.Write(p)
}

func (r *recorder) response() *http.Response {
	if r.status == 0 {
		r.status, r.header = http.StatusOK, r.Header().Clone()
	}
	return &http.Response{StatusCode: r.status, Header: r.header}
}

// judge notes what does not conform in an exchange.
func (w *Watcher) judge(r *http.Request, sent *copied, answer *http.Response, got *copied) {
	findings := w.Exchange(r, sent, answer, got)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched++
	// The year 1 is Go's zero time: a member that is absent, unless a client has sent it.
	w.yearOne = w.yearOne || sent.long ||
		strings.Contains(r.URL.RequestURI()+sent.String(), "0001-01-01")
	if !w.yearOne && bytes.Contains(got.Bytes(), []byte(`"0001-01-01T`)) {
		findings = append(findings, fmt.Sprintf("%s %s: the answer has a time of the year 1",
			r.Method, r.URL.RequestURI()))
	}
	for _, finding := range findings {
		if len(w.findings) < findingsMax && !slices.Contains(w.findings, finding) {
			w.findings = append(w.findings, finding)
		}
	}
}

// Exchange returns what does not conform in a request and its answer, whose bodies are given.
func (c *Contract) Exchange(
	r *http.Request, sent *copied, answer *http.Response, got *copied,
) []string {
	c.validating.Lock()
	defer c.validating.Unlock()
	name := fmt.Sprintf("%s %s: status %d", r.Method, r.URL.RequestURI(), answer.StatusCode)
	var findings []string
	note := func(more string, errs []*errors.ValidationError) {
		for _, e := range errs {
			findings = append(findings, fmt.Sprintf("%s: %s: %s", name, more, sentence(e)))
		}
	}
	path, item, op := c.operation(r)
	if op == nil {
		if answer.StatusCode < 300 && strings.HasPrefix(r.URL.Path, "/v1/") {
			findings = append(findings, name+": the document does not have this operation")
		}
		return findings
	}
	request := r.Clone(r.Context())
	request.Body = io.NopCloser(bytes.NewReader(withoutNulls(sent.Bytes())))
	if !sent.long && answer.StatusCode < 300 {
		if op.RequestBody == nil || op.RequestBody.Content.GetOrZero("*/*") == nil {
			_, errs := c.valid.ValidateHttpRequestWithPathItem(request, item, path)
			note("an invalid request was accepted", errs)
		}
		for parameter := range r.URL.Query() {
			if !slices.ContainsFunc(op.Parameters, func(p *v3.Parameter) bool {
				return p.In == "query" && p.Name == parameter
			}) {
				findings = append(findings, name+": the parameter "+parameter+" is not described")
			}
		}
	}
	findings = append(findings, headers(name, op, answer)...)
	for _, body := range bodies(answer, got) {
		response := *answer
		response.Body = io.NopCloser(bytes.NewReader(body))
		_, errs := c.valid.GetResponseBodyValidator().ValidateResponseBodyWithPathItem(
			request, &response, item, path)
		note("the answer does not conform", errs)
	}
	return findings
}

// withoutNulls returns a JSON body without the members that are null, which count as left out.
func withoutNulls(body []byte) []byte {
	var value map[string]any
	if !bytes.Contains(body, []byte("null")) || json.Unmarshal(body, &value) != nil {
		return body
	}
	strip(value)
	text, err := json.Marshal(value)
	if err != nil {
		return body
	}
	return text
}

func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			}
			strip(member)
		}
	case []any:
		for _, element := range v {
			strip(element)
		}
	}
}

// lineTypes are the media types of JSON values one a line.
var lineTypes = []string{"application/x-ndjson", "application/jsonl"}

// bodies returns what is to be validated of an answer: its body, or each line of a stream.
func bodies(answer *http.Response, got *copied) [][]byte {
	switch {
	case got.long:
		return nil
	case slices.Contains(lineTypes, answer.Header.Get("Content-Type")):
		return bytes.Split(bytes.TrimSpace(got.Bytes()), []byte("\n"))
	}
	return [][]byte{got.Bytes()}
}

// everywhere are the headers that any answer may have, which the document describes once for all.
var everywhere = []string{
	"Content-Type", "Content-Length", "Date", "X-Request-Id", "X-Content-Type-Options",
	"Cache-Control", "Vary", "Exchequer-Calls", "Exchequer-Read-Units", "Exchequer-Write-Units",
}

// headers returns what is wrong with the status and the headers of an answer. The validator itself
// accepts headers that are not described, and bodies where none is.
func headers(name string, op *v3.Operation, answer *http.Response) (findings []string) {
	described := op.Responses.Codes.GetOrZero(fmt.Sprint(answer.StatusCode))
	if described == nil {
		if described = op.Responses.Default; answer.StatusCode != http.StatusInternalServerError {
			findings = append(findings, name+": the status is not described")
		}
	}
	if described == nil {
		return findings
	}
	known := slices.Clone(everywhere)
	if described.Headers != nil {
		for header := range described.Headers.KeysFromOldest() {
			known = append(known, http.CanonicalHeaderKey(header))
		}
	}
	for header := range answer.Header {
		if !slices.Contains(known, header) {
			findings = append(findings, name+": the header "+header+" is not described")
		}
	}
	bodiless := described.Content == nil || described.Content.Len() == 0
	if bodiless && answer.Header.Get("Content-Type") != "" &&
		answer.StatusCode != http.StatusNotModified {
		findings = append(findings, name+": the answer has a body, which is not described")
	}
	return findings
}

// operation returns the operation that a request is for, with its path; nil where there is none. A
// part of a path that is fixed is preferred to a parameter.
func (c *Contract) operation(r *http.Request) (path string, item *v3.PathItem, op *v3.Operation) {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	best := -1
	for template, candidate := range c.model.Paths.PathItems.FromOldest() {
		fixed, fits := fit(strings.Split(template, "/"), parts)
		found := candidate.GetOperations().GetOrZero(strings.ToLower(r.Method))
		if fits && found != nil && fixed > best {
			best, path, item, op = fixed, template, candidate, found
		}
	}
	return path, item, op
}

// fit reports whether a path has the form of a template, and how many parts of it are fixed.
func fit(template, parts []string) (fixed int, fits bool) {
	if len(template) != len(parts) {
		return 0, false
	}
	for i, part := range template {
		switch {
		case strings.HasPrefix(part, "{"):
			if parts[i] == "" || parts[i] == "." || parts[i] == ".." {
				return 0, false
			}
		case part == parts[i]:
			fixed++
		default:
			return 0, false
		}
	}
	return fixed, true
}

// sentence returns what a validator found, in one line.
func sentence(e *errors.ValidationError) string {
	text := e.Message + ": " + e.Reason
	for _, s := range e.SchemaValidationErrors {
		text += fmt.Sprintf(" [%s at %s]", s.Reason, strings.Join(s.InstancePath, "/"))
	}
	return text
}

package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
)

const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
	mediaLines   = "application/x-ndjson"

	// retryAfter is when a client may try again after a throttle, in seconds: by then the kit's
	// own retries of other requests have ended.
	retryAfter = "1"
)

// document is a problem as it is sent.
type document struct {
	api.Problem

	cause error
}

// newDocument returns the document of an error, as the answer to the request with an id.
func newDocument(err error, requestID string) *document {
	e := problemOf(err)
	d := &document{cause: err, Problem: api.Problem{
		Type: docsPath + "#" + string(e.Code), Title: title(e.Code), Detail: e.Sentence,
		Status: Status(e.Kind, e.Code), Instance: requestID, Kind: e.Kind, Code: e.Code,
		Hint: e.Hint, Details: e.Details,
	}}
	for _, f := range e.Fields {
		d.Fields = append(d.Fields, api.ProblemField(f))
	}
	return d
}

// complete adds what depends on the operation: the name of the system, if a shared problem has
// none, and the part of the request that has each wrong field.
func (d *document) complete(system string, p parameters) {
	if system == "" {
		return
	}
	for i, f := range d.Fields {
		if f.In == "" {
			d.Fields[i].In = p.in(f.Name)
		}
	}
	if problem.Shared.Has(d.Code) && d.Details[problem.DetailSystem] == "" {
		details := maps.Clone(d.Details)
		if details == nil {
			details = make(map[string]string, 1)
		}
		details[problem.DetailSystem] = system
		d.Details = details
	}
}

// title returns a code in words: insufficient_funds is "Insufficient funds".
func title(code problem.Code) string {
	words := strings.ReplaceAll(string(code), "_", " ")
	if words == "" {
		return ""
	}
	words = strings.NewReplacer(" json", " JSON", "api ", "API ").Replace(words)
	return strings.ToUpper(words[:1]) + words[1:]
}

// Error makes a document an error that the framework sends as it is.
func (d *document) Error() string { return d.Detail }

// GetStatus returns the status of the answer.
func (d *document) GetStatus() int { return d.Status }

// GetHeaders returns the headers that belong to the status.
func (d *document) GetHeaders() http.Header {
	h := http.Header{}
	switch {
	case d.Kind == problem.Unauthenticated, d.Kind == problem.Forbidden:
		if challenge := challengeOf(d); challenge != "" {
			h.Set("WWW-Authenticate", challenge)
		}
	case d.Kind.Retryable():
		h.Set("Retry-After", retryAfter)
	}
	return h
}

// ContentType returns the media type of problem documents.
func (d *document) ContentType(string) string { return mediaProblem }

// write sends the document as the answer.
func (d *document) write(w http.ResponseWriter) {
	for name, values := range d.GetHeaders() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(d.Status)
	// A client that is gone cannot be told.
	_ = json.NewEncoder(w).Encode(d)
}

package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

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

// document is a problem as it is sent (RFC 9457).
type document struct {
	Type     string            `json:"type" doc:"Where the problem is described" example:"/docs#insufficient_funds"`
	Title    string            `json:"title" doc:"The code in words" example:"Insufficient funds"`
	Status   int               `json:"status" doc:"The HTTP status" example:"422"`
	Detail   string            `json:"detail" doc:"What is wrong, in a sentence" example:"Account alice has 3.00 USD to spend, but 5.50 USD is needed"`
	Instance string            `json:"instance,omitempty" doc:"The id of the request, by which it is found in the log" example:"4DPQ2XKCR3VJ7M5T"`
	Kind     problem.Kind      `json:"kind" doc:"What sort of trouble it is" example:"refused"`
	Code     problem.Code      `json:"code" doc:"Which problem it is, for programs; codes are only ever added" example:"insufficient_funds"`
	Hint     string            `json:"hint,omitempty" doc:"What to try next" example:"Deposit money first, or raise the account's overdraft limit"`
	Fields   []documentField   `json:"fields,omitempty" nullable:"false" doc:"The wrong fields of the request"`
	Details  map[string]string `json:"details,omitempty" doc:"The values in the detail by name, for programs"`

	cause error
}

// documentField is one wrong field.
type documentField struct {
	Name  string     `json:"name" doc:"The path of the field" example:"legs[1].amount"`
	Wrong string     `json:"wrong" doc:"Completes a sentence that begins with the name" example:"must be more than zero"`
	In    problem.In `json:"in,omitempty" enum:"body,query,path,header" doc:"The part of the request that has the field" example:"body"`
}

// newDocument returns the document of an error, as the answer to the request with an id.
func newDocument(err error, requestID string) *document {
	e := problemOf(err)
	d := &document{
		Type: docsPath + "#" + string(e.Code), Title: title(e.Code), Detail: e.Sentence,
		Status: Status(e.Kind, e.Code), Instance: requestID, Kind: e.Kind, Code: e.Code,
		Hint: e.Hint, Details: e.Details, cause: err,
	}
	for _, f := range e.Fields {
		d.Fields = append(d.Fields, documentField(f))
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

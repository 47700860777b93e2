package api

import (
	"net/http"

	"github.com/exchequer-dev/exchequer/problem"
)

// Operation describes one operation. It is the part of an [Op] that does not depend on its types.
type Operation struct {
	// ID names the operation, Method and Path are how it is called. Parameters of the path are in
	// braces.
	ID, Method, Path string
	Chapter          *Chapter
	Summary          string
	Description      string
	// Scope is what the caller's API key must have.
	Scope Scope
	// Personal marks operations about the data of one person: the caller.
	Personal bool
	// Status is that of success; 0 means 200.
	Status int
	// Versioned marks answers with an ETag.
	Versioned bool
	// Replays marks operations that create something once: a repeat is answered with status 200 and
	// Idempotent-Replayed.
	Replays bool
	// NeedsKey marks operations that refuse a request without an Idempotency-Key.
	NeedsKey bool
	// Problems are the codes that the operation itself can report. Those that every operation can
	// report are not listed.
	Problems []problem.Code
	// Example is an example of the body.
	Example any
	// Safe reports for a request whether sending it twice has the result of sending it once. It may
	// be nil: then that holds for GET, PUT and DELETE.
	Safe func(in any) bool
	// AnyLayout marks operations that show or change how data is laid out. A setting of the server
	// that differs from the data does not stop them.
	AnyLayout bool

	// Stream marks operations that may take longer than an ordinary answer.
	Stream bool
}

// Chapter is a part of the documentation.
type Chapter struct {
	Name, Description string
	// System is the system that its operations belong to; empty for the server itself.
	System string
}

// Op is an operation with its request and its answer. [None] as an answer is an empty body.
type Op[In, Out any] struct{ *Operation }

// StreamOp is an operation that may take long. Its answer is a report, or lines with the progress
// and finally the report.
type StreamOp[In, Progress, Report any] struct{ *Operation }

// None is an answer without a body, or a request without parameters.
type None struct{}

// all are the operations that this package defines, in the order of their definition.
var all []*Operation

// Operations returns all operations.
func Operations() []*Operation { return all }

func define(o Operation) *Operation {
	all = append(all, &o)
	return &o
}

func op[In, Out any](o Operation) Op[In, Out] { return Op[In, Out]{define(o)} }

func streamOp[In, Progress, Report any](o Operation) StreamOp[In, Progress, Report] {
	o.Stream = true
	return StreamOp[In, Progress, Report]{define(o)}
}

// SafeToRepeat reports whether a request may be sent again when it is not known whether it was
// carried out.
func (o *Operation) SafeToRepeat(in any) bool {
	if o.Safe != nil {
		return o.Safe(in)
	}
	return o.Method == http.MethodGet || o.Method == http.MethodPut ||
		o.Method == http.MethodDelete
}

// always is Safe of an operation of which every request may be repeated.
func always(any) bool { return true }

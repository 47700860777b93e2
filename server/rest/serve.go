package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
)

// Answer is a successful answer. The zero Status means that of the operation.
type Answer[T any] struct {
	Status   int
	Location string
	// ETag is the tag of the state in Body, without quotes.
	ETag     string
	Replayed bool
	Body     T
}

// OK returns an answer with a body.
func OK[T any](body T) Answer[T] { return Answer[T]{Body: body} }

// Tagged returns an answer with a body and its ETag, which is given without quotes.
func Tagged[T any](etag string, body T) Answer[T] { return Answer[T]{ETag: etag, Body: body} }

// Made returns the answer to a request that creates something once: its status is 201, or 200 if an
// earlier, equal request created it. Location is the path of what was created.
func Made[T any](replayed bool, location string, body T) Answer[T] {
	status := http.StatusCreated
	if replayed {
		status = http.StatusOK
	}
	return Answer[T]{Status: status, Location: location, Replayed: replayed, Body: body}
}

// output is an Answer as the framework writes it. Headers that are empty are not sent.
type output[T any] struct {
	Status   int
	Location string `header:"Location"`
	ETag     string `header:"ETag"                doc:"Changes whenever the answer does"`
	Replayed string `header:"Idempotent-Replayed" doc:"true if an earlier, equal request created it"`
	Body     T
}

// outputOf returns an answer as it is written: without a body if the caller has it already.
func outputOf[T any](ctx context.Context, op *api.Operation, a Answer[T]) *output[T] {
	o := &output[T]{Status: a.Status, Location: a.Location, Body: a.Body}
	if o.Status == 0 {
		o.Status = statusOf(op)
	}
	if a.Replayed {
		o.Replayed = "true"
	}
	if a.ETag == "" {
		return o
	}
	o.ETag = `"` + a.ETag + `"`
	r := exchangeOf(ctx).request
	if op.Method != http.MethodGet || r == nil {
		return o
	}
	known, err := parseTags(r.Header.Get(headerIfNoneMatch))
	if err == nil && known.matchesWeakly(o.ETag) {
		o.Status = http.StatusNotModified
	}
	return o
}

func statusOf(op *api.Operation) int {
	if op.Status == 0 {
		return http.StatusOK
	}
	return op.Status
}

// Serve adds an operation that handle answers.
func Serve[In, Out any](
	r *Router, op api.Op[In, Out], handle func(context.Context, In) (Answer[Out], error),
) {
	o := op.Operation
	described := operationOf(o)
	h := r.describe(described)
	body := r.readBody(h, o, reflect.TypeFor[In]())
	if reflect.TypeFor[Out]() == reflect.TypeFor[api.None]() {
		huma.Register(r.huma, *h, func(ctx context.Context, in *In) (*struct{}, error) {
			err := r.prepare(ctx, described, body, in)
			if err == nil {
				_, err = handle(ctx, *in)
			}
			if err != nil {
				return nil, r.document(ctx, err)
			}
			return nil, nil
		})
	} else {
		huma.Register(r.huma, *h, func(ctx context.Context, in *In) (*output[Out], error) {
			var out Answer[Out]
			err := r.prepare(ctx, described, body, in)
			if err == nil {
				out, err = handle(ctx, *in)
			}
			if err != nil {
				return nil, r.document(ctx, err)
			}
			return outputOf(ctx, o, out), nil
		})
	}
	r.finishOperation(o, body)
}

// operationOf returns the router's form of an operation.
func operationOf(o *api.Operation) operation {
	return operation{
		id: o.ID, method: o.Method, path: o.Path, tag: o.Chapter.Name, system: o.Chapter.System,
		anyLayout: o.AnyLayout, summary: o.Summary, description: o.Description, scope: o.Scope,
		personal: o.Personal, status: o.Status, repeats: o.Replays, stream: o.Stream,
		problems: definitionsOf(o), example: o.Example,
	}
}

// definitionsOf returns the problems that an operation can report by their codes.
func definitionsOf(o *api.Operation) []*problem.Definition {
	var found []*problem.Definition
	for _, code := range o.Problems {
		d := definitionOf(o.Chapter.System, code)
		if d == nil {
			panic(fmt.Sprintf("operation %s reports %s, which is not defined", o.ID, code))
		}
		found = append(found, d)
	}
	return found
}

// definitionOf returns the problem with a code, that of a system if it has one.
func definitionOf(system string, code problem.Code) *problem.Definition {
	var found *problem.Definition
	for _, c := range Catalogues() {
		for _, d := range c.Definitions() {
			if d.Code() == code && (found == nil || c.Name() == system) {
				found = d
			}
		}
	}
	return found
}

// requestBody is how the body of an operation is read. Nil means that it has none.
type requestBody struct {
	field    []int // of the request
	of       reflect.Type
	shapes   payload.Shapes
	optional bool
}

// readBody lets an operation read the body that its request has.
func (a *Router) readBody(h *huma.Operation, o *api.Operation, in reflect.Type) *requestBody {
	field := api.BodyOf(in)
	if field == nil {
		return nil
	}
	t := in.FieldByIndex(field).Type
	b := &requestBody{field: field, of: t, shapes: payload.ShapesOf(t)}
	// A body in which nothing is required may be left out where an operation does something; what
	// changes something needs to say what.
	b.optional = o.Method == http.MethodPost && !b.shapes.Required(t)
	h.Middlewares = append(h.Middlewares, a.demandJSON(b.optional), a.receiveBody)
	return b
}

// receiveBody reads the body of a request within its limits. What it holds is checked by payload.
func (a *Router) receiveBody(ctx huma.Context, next func(huma.Context)) {
	_ = ctx.SetReadDeadline(time.Now().Add(a.opts.BodyTime)) // There is none in one process.
	data, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), a.opts.BodyMax+1))
	_ = ctx.SetReadDeadline(time.Time{})
	switch {
	case int64(len(data)) > a.opts.BodyMax:
		a.fail(ctx, problem.ErrBodyTooLarge.With("limit", a.opts.BodyMax))
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.fail(ctx, payload.ErrTooSlow.Wrap(err))
		return
	case err != nil:
		a.fail(ctx, payload.ErrMalformed.With("offset", len(data)).
			With("reason", "the body ends early").Wrap(err))
		return
	}
	exchangeOf(ctx.Context()).body = data
	next(ctx)
}

// prepare checks what every operation needs before it is carried out, and decodes the body.
func (a *Router) prepare(ctx context.Context, op operation, b *requestBody, in any) error {
	if err := a.laidOut(op); err != nil {
		return err
	}
	if b != nil {
		sent := exchangeOf(ctx).body
		if !b.optional || len(bytes.TrimSpace(sent)) > 0 {
			body := reflect.ValueOf(in).Elem().FieldByIndex(b.field).Addr()
			if err := b.shapes.Decode(sent, body.Interface()); err != nil {
				return err
			}
		}
	}
	return a.precondition(ctx, op, in)
}

// finishOperation completes the description of an operation by what its types do not say.
func (a *Router) finishOperation(o *api.Operation, b *requestBody) {
	// The framework keeps the description that it was given, by value, in its document.
	h := a.operationOf(operation{method: o.Method, path: o.Path})
	if b != nil {
		h.RequestBody = &huma.RequestBody{
			Required: !b.optional,
			Content: map[string]*huma.MediaType{
				mediaJSON: {Schema: a.schema(b.of), Example: o.Example},
			},
		}
		for part := range b.shapes {
			a.reads[refName(a.schema(part))] = true
		}
	}
	for status, response := range h.Responses {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		if !o.Versioned {
			delete(response.Headers, headerETag)
		}
		if !o.Replays {
			delete(response.Headers, "Idempotent-Replayed")
		}
		if o.Status != http.StatusCreated {
			delete(response.Headers, "Location")
		}
	}
	for _, p := range h.Parameters {
		// The handler checks it, so that the problem is that of the system.
		p.Required = p.Required || o.NeedsKey && p.Name == headerIdempotencyKey
	}
	if o.Versioned && o.Method == http.MethodGet {
		h.Parameters = append(h.Parameters, &huma.Param{
			Name: headerIfNoneMatch, In: "header",
			Description: "The ETag of the answer that the caller has",
			Schema:      &huma.Schema{Type: huma.TypeString},
		})
	}
}

// ServeStream adds an operation that does long work, and that reports its progress where the
// caller accepts lines.
func ServeStream[In, P, R any](
	r *Router, op api.StreamOp[In, P, R],
	handle func(ctx context.Context, in In, progress func(P)) (R, error),
) {
	o := op.Operation
	described := operationOf(o)
	described.description += " " + streams
	h := r.describe(described)
	body := r.readBody(h, o, reflect.TypeFor[In]())
	huma.Register(r.huma, *h, func(ctx context.Context, in *In) (*streamed, error) {
		if err := r.prepare(ctx, described, body, in); err != nil {
			return nil, r.document(ctx, err)
		}
		accept := ""
		if sent := exchangeOf(ctx).request; sent != nil {
			accept = sent.Header.Get("Accept")
		}
		return stream(r, accept, func(ctx context.Context, progress func(P)) (R, error) {
			return handle(ctx, *in, progress)
		}, func(p *P, report *R, d *api.Problem) any {
			return api.Line[P, R]{Progress: p, Report: report, Problem: d}
		}), nil
	})
	r.finishOperation(o, body)
	r.describeAnswer(described, map[string]*huma.MediaType{
		mediaJSON:  {Schema: r.schema(typeOf[R]())},
		mediaLines: {Schema: r.schema(typeOf[api.Line[P, R]]())},
	})
}

// Now returns the server's clock.
func (a *Router) Now() time.Time { return a.opts.Now() }

package rest

import (
	"context"
	"io"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
)

// Long work and large bodies, both ways: neither is held in memory, and neither is bound by the
// times of ordinary answers.

const (
	mediaAny = "*/*"
	mediaZip = "application/zip"
)

// ErrFormRefused reports that a file came inside a form.
var ErrFormRefused = Problems.Define(problem.Invalid, "body_is_form",
	"The body is a form, and this operation reads the file itself",
	"Send the bytes of the file as the body, with curl --data-binary @FILE for example")

// Streaming is embedded in the parameters of work that may take long and reports its progress.
type Streaming struct {
	Accept string `header:"Accept" hidden:"true"`
}

func (s *Streaming) accept() string { return s.Accept }

// streams explains the answers of long work.
const streams = "It may take long: with Accept: " + mediaLines + " the answer is a stream of " +
	"JSON objects, one a line, each with the member progress, and at last one with the member report " +
	"or problem. "

// work is long work on a request: it reports its progress and ends with a report.
type work[P, R any] func(ctx huma.Context, tell func(P)) (R, error)

// registerWork adds an operation that does long work and reports its progress.
func registerWork[P, R, I any, T interface {
	*I
	accept() string
}](a *Router, op operation, handle func(huma.Context, *I, func(P)) (R, error)) {
	op.stream = true
	op.description += " " + streams
	register(a, op, func(_ context.Context, in *I) (*streamed, error) {
		return worked(a, T(in).accept(), func(c huma.Context, tell func(P)) (R, error) {
			return handle(c, in, tell)
		}), nil
	})
	a.describeAnswer(op, map[string]*huma.MediaType{
		mediaJSON:  {Schema: a.schema(typeOf[R]())},
		mediaLines: {Schema: a.schema(typeOf[api.Line[P, R]]())},
	})
}

// worked answers with what long work comes to.
func worked[P, R any](a *Router, accept string, do work[P, R]) *streamed {
	return &streamed{Body: func(c huma.Context) {
		stream(a, accept, func(_ context.Context, tell func(P)) (R, error) { return do(c, tell) },
			func(p *P, r *R, d *api.Problem) any {
				return api.Line[P, R]{Progress: p, Report: r, Problem: d}
			}).Body(c)
	}}
}

// describeAnswer returns what a stream is of.
func (a *Router) describeAnswer(op operation, content map[string]*huma.MediaType) {
	response := a.operationOf(op).Responses["200"]
	response.Content = content
	if content[mediaJSON] != nil && content[mediaLines] != nil {
		return
	}
	response.Headers = map[string]*huma.Param{"Content-Disposition": {
		Description: "The name of the file (RFC 6266)", Schema: &huma.Schema{Type: huma.TypeString},
	}}
}

// operationOf returns the description of an operation that was registered.
func (a *Router) operationOf(op operation) *huma.Operation {
	path := a.huma.OpenAPI().Paths[op.path]
	switch op.method {
	case http.MethodPost:
		return path.Post
	case http.MethodPut:
		return path.Put
	case http.MethodDelete:
		return path.Delete
	}
	return path.Get
}

// WithFile is embedded in the parameters of operations whose body is a file.
type WithFile struct {
	ctx huma.Context
}

// Resolve keeps the body for the handler, which reads it as it comes.
func (f *WithFile) Resolve(ctx huma.Context) []error {
	f.ctx = ctx
	return nil
}

// registerFile adds an operation whose body is a file.
func registerFile[I, O any](
	a *Router, op operation, handle func(context.Context, *I) (*O, error),
) {
	op.stream, op.file = true, true
	register(a, op, handle)
	a.operationOf(op).RequestBody = &huma.RequestBody{
		Required: true, Description: "The bytes of the file, of whatever media type but a form",
		Content: map[string]*huma.MediaType{mediaAny: {
			Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"},
		}},
	}
}

// size returns the size of the file in bytes, or 0 if the request does not say.
func (f *WithFile) size() int64 {
	r, _ := humago.Unwrap(f.ctx)
	return max(r.ContentLength, 0)
}

// body returns the reader of the file, which has at most limit bytes.
func (f *WithFile) body(a *Router, limit int64) (*payload.File, error) {
	media, _, err := mime.ParseMediaType(f.ctx.Header("Content-Type"))
	if err == nil && media == "multipart/form-data" {
		return nil, ErrFormRefused
	}
	r, w := humago.Unwrap(f.ctx)
	if r.ContentLength > limit {
		return nil, problem.ErrBodyTooLarge.With("limit", limit)
	}
	return payload.NewFile(f.ctx.BodyReader(), limit, a.opts.BodyTime, w), nil
}

// download answers with bytes that are written as they come. What is wrong with the request itself
// is found before the first byte, so that it has a status of its own; later the answer is broken
// off, which is the only way to tell that it is not whole.
func (a *Router) download(
	media, fileName string, write func(huma.Context, io.Writer) error,
) *streamed {
	return &streamed{Body: func(c huma.Context) {
		w := &downloadWriter{c: c, media: media, fileName: fileName}
		err := write(c, w)
		switch {
		case err == nil:
			w.begin()
		case !w.begun:
			a.fail(c, err)
		default:
			a.document(c.Context(), err)
			panic(http.ErrAbortHandler)
		}
	}}
}

// downloadWriter begins the answer with its first byte.
type downloadWriter struct {
	c               huma.Context
	media, fileName string
	begun           bool
}

func (w *downloadWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.c.SetHeader("Content-Type", w.media)
	w.c.SetHeader("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": w.fileName}))
	w.c.SetStatus(http.StatusOK)
}

// Write sends bytes.
func (w *downloadWriter) Write(p []byte) (int, error) {
	w.begin()
	return w.c.BodyWriter().Write(p)
}

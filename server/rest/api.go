package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
	"github.com/exchequer-dev/exchequer/server/rest/person"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// Deps are what the API depends on. All are required.
type Deps struct {
	Ledger    *ledger.Ledger
	Locations *locations.Directory
	// Ledger and Payments have designs of their own in addition to Models, which change when their
	// shards grow.
	Payments *payments.Scheduler
	// Statements are the bank statements of persons.
	Statements *statements.Books
	Keys       *apikey.Keyring
	// Store is what access patterns are run on, Models are the designs that they belong to, and
	// Tables are what there is of them.
	Store  *singletable.Store
	Models []*singletable.Model
	// Personal are the designs of what belongs to persons; it may be empty. Their patterns are
	// listed like those of Models, but no API key may run them: they answer for any person.
	Personal []*singletable.Model
	Tables   Tables
}

// Options are the choices of an API.
type Options struct {
	// Version is the version in the description of the API.
	Version string
	// AskForKeys demands an API key for every operation. Without it every caller may do everything.
	AskForKeys bool
	// Authenticate, if set, returns the person that a user's token identifies. Personal operations
	// take such a token besides the API keys that are bound to a person.
	Authenticate func(ctx context.Context, token string) (person.Subject, error)
	// User is the person of every request if there is no authentication.
	User person.Subject
	// Hosts are names, without a port, that requests may be addressed to besides those of the
	// loopback interface. With AskForKeys an empty list allows every name.
	Hosts []string
	// BodyMax is the maximum size of a request's body in bytes.
	BodyMax int64
	// UploadMax is the maximum size of a file that a person uploads, in bytes.
	UploadMax int64
	// ArchiveMax is that of an archive that is brought back, which has all of those in it.
	ArchiveMax int64
	// SpoolMax is the maximum of bytes on disk of all archives that are being restored. SpoolRoom,
	// if set, returns why the disk has no room for one.
	SpoolMax  int64
	SpoolRoom func() error
	// StreamsMax bounds the long answers that are sent concurrently, and the large bodies that are
	// read; 0 is no bound. StallTime bounds the time for which a client may take nothing of one.
	StreamsMax int
	StallTime  time.Duration
	// Now is the clock by which places are open and rates are stale.
	Now func() time.Time
	// BodyTime bounds the time to read a body, and AnswerTime that to work out an answer.
	BodyTime, AnswerTime time.Duration
	// Done, if set, is told of every request once it is answered.
	Done func(Exchange)
	// Paid, if set, is told of what became of attempts to pay.
	Paid func(outcome payments.Outcome, n int)
	// Layout, if set, returns why a system of this server cannot be used: one of its tables is not
	// as it needs it, or a setting differs from what is stored with its data.
	Layout func(system string) error
	// Ready, if set, returns why the server cannot answer now.
	Ready func(context.Context) error
	// Metrics, if set, answers /metrics.
	Metrics http.Handler
}

// config describes the API as a whole. The framework's own pages are left out: they load scripts
// from the network.
func (a *Router) config() huma.Config {
	c := huma.DefaultConfig("Exchequer", a.opts.Version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil
	c.RejectUnknownQueryParameters = true
	form := huma.Format{Marshal: marshal, Unmarshal: json.Unmarshal}
	// The second name is that of every media type that ends in +json.
	c.Formats = map[string]huma.Format{mediaJSON: form, "json": form}
	c.Transformers = []huma.Transformer{a.transform}
	c.Info.Description = description
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		securityName: {
			Type: "http", Scheme: "bearer",
			Description: "An API key, unless the server runs without authentication. Operations about " +
				"a person's own data take one that was bound to that person when it was made.",
		},
		userSecurityName: {
			Type: "http", Scheme: "bearer", BearerFormat: "JWT",
			Description: "An ID token or an access token of the issuer that the server trusts. The " +
				"person is its subject (sub). It reaches that person's own data and nothing else.",
		},
	}
	c.Tags = tags
	c.Servers = []*huma.Server{
		{URL: "/", Description: "The server that this document was read from"},
		{URL: "http://127.0.0.1:8080", Description: "Where exchequer serve listens by default"},
	}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	return c
}

// schemaNames are the names of types whose own names say too little outside of this package.
var schemaNames = map[string]string{
	"UnreadableItem": "Unreadable", "Line": "ReconciliationLine",
	"Exchanging": "NewExchange", "Reversing": "NewReversal", "Overdraft": "NewOverdraft",
	"RunLine": "PaymentRunLine", "MoveLine": "MovedDayLine", "Reconcile": "NewReconciliation",
	"ChangedPayment": "PaymentChange", "Posting": "NewTransaction", "PostingLeg": "NewLeg",
}

// schemaName returns the name of the schema of a type: AccountList for list[account], JobLine for
// the lines of a stream that ends with a job.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	outer, inner, generic := strings.Cut(t.Name(), "[")
	if !generic {
		name := huma.DefaultSchemaNamer(t, hint)
		if better, ok := schemaNames[name]; ok {
			return better
		}
		return name
	}
	parts := strings.Split(strings.TrimSuffix(inner, "]"), ",")
	last := parts[len(parts)-1]
	last = last[strings.LastIndexByte(last, '.')+1:]
	return strings.ToUpper(last[:1]) + last[1:] + strings.ToUpper(outer[:1]) + outer[1:]
}

// The names of the ways to authenticate in the OpenAPI document.
const (
	securityName     = "key"
	userSecurityName = "user"
)

// marshal writes JSON with characters as they are: it is not for HTML.
func marshal(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// operation describes one operation of the API.
type operation struct {
	id, method, path string
	tag              string
	system           string // That it belongs to; "" for the server itself.
	anyLayout        bool   // Whether it works although a setting differs from the data.
	summary          string
	description      string
	scope            api.Scope
	personal         bool // Whether it is about one person's own data, whom personOf then names.
	status           int  // Of success; 0 means 200.
	repeats          bool // Whether a repeat of what made something is answered with status 200.
	stream           bool
	file             bool // Whether the body is a file.
	problems         []*problem.Definition
	example          any // Of the body.
}

// register adds an operation without a body.
func register[I, O any](
	a *Router, op operation, handle func(context.Context, *I) (*O, error),
) {
	h := a.describe(op)
	huma.Register(a.huma, *h, func(ctx context.Context, in *I) (*O, error) {
		err := a.laidOut(op)
		if err == nil {
			err = a.precondition(ctx, op, in)
		}
		var out *O
		if err == nil {
			out, err = handle(ctx, in)
		}
		if err != nil {
			return nil, a.document(ctx, err)
		}
		return out, nil
	})
}

// WithBody is embedded in the parameters of operations that read a body. The framework hands the
// bytes over; what they must be is the business of payload.
type WithBody struct {
	RawBody []byte `contentType:"application/json"`
}

func (b *WithBody) bytes() []byte { return b.RawBody }

// registerBody adds an operation that reads a JSON object.
func registerBody[B, I, O any, P interface {
	*I
	bytes() []byte
}](a *Router, op operation, handle func(context.Context, P, *B) (*O, error)) {
	h := a.describe(op)
	t := reflect.TypeFor[B]()
	read := payload.ShapesOf(t)
	// A body in which nothing is required may be left out where an operation does something; what
	// changes something needs to say what.
	optional := op.method == http.MethodPost && !read.Required(t)
	h.RequestBody = &huma.RequestBody{Required: !optional, Content: map[string]*huma.MediaType{}}
	h.SkipValidateBody = true
	h.MaxBodyBytes = a.opts.BodyMax + 1 // The framework refuses what reaches its limit.
	h.BodyReadTimeout = a.opts.BodyTime
	h.Middlewares = append(h.Middlewares, a.demandJSON(optional))
	huma.Register(a.huma, *h, func(ctx context.Context, in *I) (*O, error) {
		var body B
		err := a.laidOut(op)
		if sent := P(in).bytes(); err == nil && (!optional || len(bytes.TrimSpace(sent)) > 0) {
			err = read.Decode(sent, &body)
		}
		if err == nil {
			err = a.precondition(ctx, op, in)
		}
		var out *O
		if err == nil {
			out, err = handle(ctx, in, &body)
		}
		if err != nil {
			return nil, a.document(ctx, err)
		}
		return out, nil
	})
	h.RequestBody.Required = !optional // The framework requires whatever it reads.
	media := h.RequestBody.Content[mediaJSON]
	media.Schema = a.schema(t)
	media.Example = op.example
	for part := range read {
		a.reads[refName(a.schema(part))] = true
	}
}

// schema returns a reference to the schema of a type, which is described once for all.
func (a *Router) schema(t reflect.Type) *huma.Schema {
	return a.huma.OpenAPI().Components.Schemas.Schema(t, true, "")
}

// describe returns the framework's description of an operation.
func (a *Router) describe(op operation) *huma.Operation {
	status := op.status
	if status == 0 {
		status = http.StatusOK
	}
	h := &huma.Operation{
		OperationID: op.id, Method: op.method, Path: op.path, Summary: op.summary,
		Description: op.description, Tags: []string{op.tag}, DefaultStatus: status,
		Security:    security(op),
		Responses:   a.problemResponses(op),
		Middlewares: huma.Middlewares{note(op), a.authorise(access{op.scope, op.personal})},
	}
	if op.repeats {
		a.repeats = append(a.repeats, h.Responses)
	}
	a.problems[op.id] = op.problems
	h.Middlewares = append(h.Middlewares, a.strict(op))
	if op.stream {
		direction := streamsOut
		if op.file {
			direction = streamsIn
		}
		h.Middlewares = append(h.Middlewares, a.unbounded(direction))
	} else {
		h.Middlewares = append(h.Middlewares, a.bounded)
	}
	return h
}

// note keeps the operation of a request, for the problems that it may be answered with.
func note(op operation) func(huma.Context, func(huma.Context)) {
	system, _, _ := strings.Cut(string(op.scope), ":")
	return func(ctx huma.Context, next func(huma.Context)) {
		x := exchangeOf(ctx.Context())
		x.operation, x.system = op.id, system
		next(ctx)
	}
}

// security returns the ways to authenticate for an operation, of which one is enough.
func security(op operation) []map[string][]string {
	ways := []map[string][]string{{securityName: {string(op.scope)}}}
	if op.personal {
		ways = append(ways, map[string][]string{userSecurityName: {}})
	}
	return ways
}

// exchanged gives the framework's context the status that our own table has for a problem.
type exchanged struct {
	frameworkContext
	status int
}

// frameworkContext is a name under which the framework's context can be embedded: its own is that
// of one of its methods.
type frameworkContext = huma.Context

// Unwrap lets the adapter find its own context.
func (x *exchanged) Unwrap() huma.Context { return x.frameworkContext }

// SetStatus sends the status, or the one of the problem that is about to be sent.
func (x *exchanged) SetStatus(status int) {
	if x.status != 0 {
		status = x.status
	}
	x.frameworkContext.SetStatus(status)
}

// transform turns what the framework itself finds wrong into one of our problems.
func (a *Router) transform(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	d := a.document(ctx.Context(), a.frameworkProblem(model))
	if x, ok := ctx.(*exchanged); ok {
		x.status = d.Status
	}
	for name, values := range d.GetHeaders() {
		ctx.SetHeader(name, values[0])
	}
	return d, nil
}

// document makes the answer of an error, and notes the error for the log.
func (a *Router) document(ctx context.Context, err error) *document {
	x := exchangeOf(ctx)
	d := newDocument(err, x.ID)
	d.complete(x.system, a.parameters[x.operation])
	x.Code, x.Err = d.Code, err
	return d
}

// fail answers with an error, from a middleware.
func (a *Router) fail(ctx huma.Context, err error) {
	_, w := humago.Unwrap(ctx)
	a.document(ctx.Context(), err).write(w)
}

// demandJSON refuses bodies of another media type. Without a body there need be no type.
func (a *Router) demandJSON(optional bool) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		given := ctx.Header("Content-Type")
		if isJSON(given) || given == "" && optional && r.ContentLength == 0 {
			next(ctx)
			return
		}
		if given == "" {
			given = "of no media type"
		}
		a.fail(ctx, ErrUnsupportedMediaType.With("type", given))
	}
}

// bounded ends the work on an answer when its time is over.
func (a *Router) bounded(ctx huma.Context, next func(huma.Context)) {
	limited, cancel := context.WithTimeout(ctx.Context(), a.opts.AnswerTime)
	defer cancel()
	next(&exchanged{frameworkContext: huma.WithContext(ctx, limited)})
}

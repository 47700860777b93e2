package rest

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
)

// Router serves the operations of the API.
type Router struct {
	opts  Options
	keys  *apikey.Keyring
	mux   *http.ServeMux
	huma  huma.API
	guard *guard
	// reads are the names of the schemas of bodies, whose members are all that may be sent.
	reads map[string]bool
	// parameters are those of each operation, and problems what it can report, by its id.
	parameters map[string]parameters
	problems   map[string][]*problem.Definition
	// guarded returns what the conditions of a change are about, by the id of its operation;
	// readers are the operations that read resources with an ETag, by path.
	guarded map[string]guardedBy
	readers map[string]string
	// repeats are the answers of the operations that answer a repeat with status 200.
	repeats []map[string]*huma.Response
	streams *longAnswers
	spool   *spool
}

// NewRouter returns a router without operations. Keys are what callers may authenticate with.
func NewRouter(keys *apikey.Keyring, opts Options) *Router {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	a := &Router{
		keys: keys, opts: opts, mux: http.NewServeMux(), reads: map[string]bool{},
		parameters: map[string]parameters{}, problems: map[string][]*problem.Definition{},
		guarded: map[string]guardedBy{}, readers: map[string]string{},
		streams: newLongAnswers(opts.StreamsMax, opts.StallTime),
		spool:   &spool{most: opts.SpoolMax, room: opts.SpoolRoom},
	}
	a.guard = newGuard(opts.Hosts, !opts.AskForKeys)
	a.huma = humago.New(a.mux, a.config())
	schemas := a.huma.OpenAPI().Components.Schemas
	schemas.RegisterTypeAlias(typeOf[api.Instant](), typeOf[instantValue]())
	return a
}

// finish completes the description, once all operations are registered.
func (a *Router) finish() {
	a.guardChanges()
	a.keepParameters()
	a.registerPages()
}

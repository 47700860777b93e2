package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
)

// Bounds of parameters, in bytes. A value that is longer can be no id and no name that is stored,
// and a key of the store could not hold it.
const (
	pathValueMax  = 255
	queryValueMax = 1024
	keyMax        = 4 * 255 // The systems count its characters.
	// cursorMax is for cursors, which hold a position in each shard of a list.
	cursorMax = 64 << 10
)

const headerIdempotencyKey = "Idempotency-Key"

// parameters are the parameters of an operation, as its description names them.
type parameters struct {
	path    []string
	query   map[string]*huma.Param
	headers map[string]bool // By canonical name.
	body    bool            // Whether the operation reads one.
}

// in returns the part of a request that has a field. Systems name a field without it.
func (p parameters) in(field string) problem.In {
	root := field
	if end := strings.IndexAny(field, ".["); end >= 0 {
		root = field[:end]
	}
	switch {
	case slices.Contains(p.path, root):
		return problem.InPath
	case p.query[root] != nil:
		return problem.InQuery
	case p.headers[http.CanonicalHeaderKey(root)],
		root == "idempotencyKey" && p.headers[headerIdempotencyKey]:
		return problem.InHeader
	case p.body:
		return problem.InBody
	}
	return problem.InQuery
}

func parametersOf(op *huma.Operation) parameters {
	p := parameters{
		query: map[string]*huma.Param{}, headers: map[string]bool{}, body: op.RequestBody != nil,
	}
	for _, param := range op.Parameters {
		switch param.In {
		case "path":
			p.path = append(p.path, param.Name)
		case "query":
			p.query[param.Name] = param
		case "header":
			p.headers[http.CanonicalHeaderKey(param.Name)] = true
		}
	}
	return p
}

// keepParameters keeps the parameters of each operation, once all are registered.
func (a *Router) keepParameters() {
	for _, item := range a.huma.OpenAPI().Paths {
		for _, op := range operationsOf(item) {
			a.parameters[op.OperationID] = parametersOf(op)
		}
	}
}

// operationsOf returns the operations of a path.
func operationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// strict refuses every parameter that an operation cannot use, or could use only in part, because a
// parameter that is ignored makes the answer one to a different question.
func (a *Router) strict(op operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		exchangeOf(r.Context()).request = r
		if err := a.parameters[op.id].check(r); err != nil {
			a.fail(ctx, err)
			return
		}
		next(ctx)
	}
}

// check returns the problem of the parameters of a request. It joins the lines of headers that are
// lists (RFC 9110, 5.3), of which the framework reads only the first.
func (p parameters) check(r *http.Request) error {
	if err := p.checkKey(r); err != nil {
		return err
	}
	var wrong problem.Fields
	p.checkQuery(&wrong, r.URL.RawQuery)
	wrong.Place(problem.InQuery)
	for _, name := range p.path {
		checkText(&wrong, name, r.PathValue(name), pathValueMax)
	}
	wrong.Place(problem.InPath)
	for _, name := range []string{"Authorization", "Content-Type"} {
		if len(r.Header.Values(name)) > 1 {
			wrong.Add(name, "is given twice")
		}
	}
	for _, name := range []string{headerIfMatch, headerIfNoneMatch} {
		p.checkTags(&wrong, r, name)
	}
	wrong.Place(problem.InHeader)
	return wrong.Err(problem.ErrRequestInvalid)
}

// checkKey returns the problem of an Idempotency-Key that is sent and cannot be used. Only a header
// that is missing means that there is no key: an empty one is a mistake of the client, whose retry
// would be done again.
func (p parameters) checkKey(r *http.Request) error {
	keys := r.Header.Values(headerIdempotencyKey)
	if !p.headers[headerIdempotencyKey] || len(keys) == 0 {
		return nil
	}
	var wrong problem.Fields
	key := keys[0]
	switch {
	case len(keys) > 1:
		wrong.Add(headerIdempotencyKey, "is given twice")
	case strings.TrimSpace(key) == "":
		wrong.Add(headerIdempotencyKey, "is empty: give it 1 to 255 characters, or leave it out")
	default:
		checkText(&wrong, headerIdempotencyKey, key, keyMax)
	}
	return wrong.Err(problem.ErrIdempotencyKeyInvalid)
}

// checkQuery collects what is wrong with a query string, the parameters in their own order.
func (p parameters) checkQuery(wrong *problem.Fields, query string) {
	seen := map[string]bool{}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil || strings.Contains(pair, ";") {
			wrong.Add(printable(rawName), "cannot be read: encode it as a form does")
			continue
		}
		param, known := p.query[name]
		if !known {
			wrong.Add(printable(name), "is not known here")
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		switch {
		case err != nil:
			wrong.Add(name, "cannot be read: encode it as a form does")
		case seen[name] && param.Schema.Type != huma.TypeArray:
			wrong.Add(name, "is given twice")
		case value == "":
			wrong.Add(name, "is empty: give it a value, or leave it out")
		case name == "cursor":
			checkText(wrong, name, value, cursorMax)
		default:
			checkText(wrong, name, value, queryValueMax)
		}
		seen[name] = true
	}
}

// checkText collects what no text of a parameter may be.
func checkText(wrong *problem.Fields, name, text string, limit int) {
	switch {
	case len(text) > limit:
		wrong.Add(name, fmt.Sprintf("is too long: it may have %d bytes", limit))
	case !utf8.ValidString(text):
		wrong.Add(name, "must be UTF-8")
	default:
		if fault := payload.CheckLine(text); fault != "" {
			wrong.Add(name, fault)
		}
	}
}

// printable returns the name of a parameter as it can stand in an answer.
func printable(name string) string {
	const nameMax = 64
	if len(name) > nameMax {
		name = name[:nameMax] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || payload.CheckLine(string(r)) != "" {
			return '?'
		}
		return r
	}, name)
}

// checkTags collects what is wrong with a list of entity tags, and joins its lines.
func (p parameters) checkTags(wrong *problem.Fields, r *http.Request, name string) {
	lines := r.Header.Values(name)
	switch {
	case len(lines) == 0:
		return
	case !p.headers[name]:
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			wrong.Add(name, "is not known here: what this operation changes has no ETag")
		}
		return
	}
	joined := strings.Join(lines, ", ")
	if _, err := parseTags(joined); err != nil {
		wrong.Add(name, err.Error())
		return
	}
	r.Header[name] = slices.Clip([]string{joined})
}

package rest

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/problem"
)

// ErrPreconditionFailed is the problem of a condition that a resource without a problem of its own
// for changes does not meet.
var ErrPreconditionFailed = Problems.Define(problem.Changed, "precondition_failed",
	"{path} is not in the state that the request demands: its ETag is {etag}",
	"Read it again and decide again")

// guardChanges lets each operation that changes a resource with an ETag read If-Match and
// If-None-Match. Such a resource is the nearest path above the operation, or its own, that can be
// read: /v1/accounts/{id} for /v1/accounts/{id}/freeze.
func (a *Router) guardChanges() {
	paths := a.huma.OpenAPI().Paths
	for path, item := range paths {
		base := resourceOf(paths, path)
		if base == "" {
			continue
		}
		for _, op := range operationsOf(item) {
			if op != item.Get {
				changed := changedProblem(a.problems[op.OperationID])
				a.guarded[op.OperationID] = guardedBy{base, changed}
				describeCondition(op)
				if op.Responses["412"] == nil {
					op.Responses["412"] = a.problemResponse([]*problem.Definition{changed})
				}
			}
		}
		a.readers[base] = paths[base].Get.OperationID
	}
}

// resourceOf returns the path of the resource that a path changes, or "" where it has no ETag.
func resourceOf(paths map[string]*huma.PathItem, path string) string {
	for ; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if item := paths[path]; item != nil && item.Get != nil {
			if response := item.Get.Responses["200"]; response.Headers[headerETag] != nil {
				return path
			}
			return ""
		}
	}
	return ""
}

// guardedBy returns what the conditions of an operation are about.
type guardedBy struct {
	path    string // Of the resource, with parameters in braces.
	changed *problem.Definition
}

func changedProblem(definitions []*problem.Definition) *problem.Definition {
	for _, d := range definitions {
		if d.Kind() == problem.Changed {
			return d
		}
	}
	return ErrPreconditionFailed
}

// conditions are the headers of changes, and what they mean.
var conditions = []struct{ name, doc string }{
	{headerIfMatch, "ETags of the resource (RFC 9110, 13.1.1): the change is made only if it still " +
		"has one of them. * demands only that it exists"},
	{headerIfNoneMatch, "ETags of the resource (RFC 9110, 13.1.2): the change is made only if it " +
		"has none of them. * demands that it does not exist"},
}

// describeCondition adds the headers to an operation.
func describeCondition(op *huma.Operation) {
	for _, c := range conditions {
		known := slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool {
			return p.Name == c.name
		})
		if !known {
			op.Parameters = append(op.Parameters, &huma.Param{
				Name: c.name, In: "header", Description: c.doc, Schema: &huma.Schema{
					Type: huma.TypeString, Examples: []any{`"1"`},
				},
			})
		}
	}
}

// settled is implemented by parameters that read If-Match.
type settled interface{ Settle(tag string) }

// precondition evaluates the conditions of a change just before it is made, against the ETag that
// the resource has now. The parameters get this ETag, so that the system behind them compares once
// more, in the write itself.
func (a *Router) precondition(ctx context.Context, op operation, in any) error {
	r := exchangeOf(ctx).request
	if r == nil {
		return nil
	}
	match, noneMatch := r.Header.Get(headerIfMatch), r.Header.Get(headerIfNoneMatch)
	if match == "" && noneMatch == "" {
		return nil
	}
	expected, err := parseTags(match)
	if err != nil {
		return problem.ErrRequestInvalid.Field(headerIfMatch, err.Error())
	}
	excluded, err := parseTags(noneMatch)
	if err != nil {
		return problem.ErrRequestInvalid.Field(headerIfNoneMatch, err.Error())
	}
	guard, ok := a.guarded[op.id]
	if !ok {
		return single(in, expected)
	}
	etag := a.etagOf(ctx, r, guard.path)
	if etag == "" {
		if match != "" && op.method == http.MethodPut {
			return guard.failed(r, "none") // It would be created.
		}
		return nil // The operation says why there is none.
	}
	holds := expected.matches(etag)
	excludes := excluded.matchesWeakly(etag)
	for _, other := range guard.others(etag) {
		holds = holds || expected.matches(other)
		excludes = excludes || excluded.matchesWeakly(other)
	}
	if match != "" && !holds || noneMatch != "" && excludes {
		return guard.failed(r, etag)
	}
	if s, ok := in.(settled); ok && match != "" {
		if expected.any {
			etag = ""
		}
		s.Settle(etag)
	}
	return nil
}

// single gives the one ETag of a header to an operation on what cannot be read alone, which
// compares it in its write.
func single(in any, expected tagList) error {
	s, ok := in.(settled)
	switch {
	case !ok:
		return nil
	case expected.any:
		s.Settle("")
	case len(expected.tags) == 1 && !expected.tags[0].weak:
		s.Settle(expected.tags[0].opaque)
	default:
		return problem.ErrRequestInvalid.Field(headerIfMatch,
			"must be one ETag here, and not a weak one")
	}
	return nil
}

// failed returns the problem of a condition that does not hold, with the values that its sentence
// names.
func (g guardedBy) failed(r *http.Request, etag string) error {
	path := parentOf(r, g.path)
	id, err := url.PathUnescape(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil {
		id = path
	}
	e := g.changed.New()
	for _, name := range g.changed.Details() {
		switch name {
		case "etag", "version":
			e = e.With(name, strings.Trim(etag, `"`))
		case "given":
			e = e.With(name, strings.Trim(r.Header.Get(headerIfMatch), `"`))
		case "path", "what":
			e = e.With(name, path)
		default:
			e = e.With(name, id)
		}
	}
	return e
}

// tagMoments match the part of a location's ETag that depends on the clock, which is no change.
var tagMoments = regexp.MustCompile(`(\.(open|closed))?(\.stale)?"$`)

// others returns further tags that name the same state as an ETag: that of a location at another
// moment, and the version of a person's data, which the bodies of answers have, without the digest.
func (g guardedBy) others(etag string) (tags []string) {
	switch {
	case g.path == locationPath:
		state := strings.TrimSuffix(tagMoments.ReplaceAllString(etag, ""), `"`)
		for _, moment := range []string{"", ".open", ".closed"} {
			tags = append(tags, state+moment+`"`, state+moment+`.stale"`)
		}
	case strings.HasPrefix(g.path, "/v1/me/"):
		if version, _, found := strings.Cut(etag, "-"); found {
			tags = append(tags, version+`"`)
		}
	}
	return tags
}

// parentOf returns the beginning of the path of a request that has as many parts as a template.
func parentOf(r *http.Request, template string) string {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	return strings.Join(parts[:min(len(parts), strings.Count(template, "/")+1)], "/")
}

// etagOf returns the ETag of a resource as the caller would read it now, "" where there is none. It
// asks the operation that reads it, in the name of the caller, who was admitted already.
func (a *Router) etagOf(ctx context.Context, r *http.Request, path string) string {
	inner := *exchangeOf(ctx)
	inner.admitted = true
	get, err := http.NewRequestWithContext(
		context.WithValue(ctx, exchangeKey{}, &inner), http.MethodGet, parentOf(r, path), nil)
	if err != nil {
		return "" // The path of a request that was routed can be parsed.
	}
	get.URL.RawQuery = a.parameters[a.readers[path]].only(r.URL.Query()).Encode()
	answer := &discarded{header: http.Header{}}
	a.mux.ServeHTTP(answer, get)
	return answer.header.Get(headerETag)
}

// only returns the parameters of a query that an operation knows.
func (p parameters) only(query url.Values) url.Values {
	for name := range query {
		if p.query[name] == nil {
			query.Del(name)
		}
	}
	return query
}

// discarded is an answer of which only the headers are kept.
type discarded struct{ header http.Header }

// Header returns the headers of the answer.
func (d *discarded) Header() http.Header { return d.header }

// WriteHeader discards the status.
func (d *discarded) WriteHeader(int) {}

// Write discards a part of the body.
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }

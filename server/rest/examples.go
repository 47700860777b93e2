package rest

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// exemplify gives each answer an example, which is made of the examples of its members, and each
// operation a command line that calls it.
func (a *Router) exemplify() {
	registry := a.huma.OpenAPI().Components.Schemas
	for path, item := range a.huma.OpenAPI().Paths {
		for method, op := range methodsOf(item) {
			for status, response := range op.Responses {
				media := response.Content[mediaJSON]
				if strings.HasPrefix(status, "2") && media != nil && media.Example == nil {
					media.Example = exampleOf(registry, media.Schema, 0)
				}
			}
			if op.Extensions == nil {
				op.Extensions = map[string]any{}
			}
			op.Extensions["x-codeSamples"] = []any{map[string]any{
				"lang": "Shell", "label": "curl", "source": curlOf(method, path, op),
			}}
		}
	}
}

// methodsOf returns the operations of a path by their methods.
func methodsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{
		"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch,
		"DELETE": item.Delete,
	}
	maps.DeleteFunc(all, func(_ string, op *huma.Operation) bool { return op == nil })
	return all
}

// depthMax bounds how deep an example is nested.
const depthMax = 8

// exampleOf returns an example of a schema. Members that may be absent are in it if they have an
// example of their own.
func exampleOf(registry huma.Registry, s *huma.Schema, depth int) any {
	for s != nil && s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	switch {
	case s == nil || depth > depthMax:
		return nil
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case huma.TypeObject:
		made := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			member := s.Properties[name]
			if slices.Contains(s.Required, name) || len(member.Examples) > 0 {
				made[name] = exampleOf(registry, member, depth+1)
			}
		}
		return made
	case huma.TypeArray:
		if depth+1 > depthMax {
			return []any{}
		}
		return []any{exampleOf(registry, s.Items, depth+1)}
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 0
	case huma.TypeBoolean:
		return false
	}
	switch s.Format {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T09:00:00.000Z"
	}
	return ""
}

// curlOf returns a command line that calls an operation, with the examples of what it reads.
func curlOf(method, path string, op *huma.Operation) string {
	query := url.Values{}
	var headers []string
	for _, p := range op.Parameters {
		example := paramExample(p)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(example))
		case p.In == "query" && p.Required:
			query.Set(p.Name, example)
		case p.In == "header" && p.Name == headerIdempotencyKey:
			headers = append(headers, p.Name+": "+example)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	line := "curl"
	if method != "GET" && (method != "POST" || op.RequestBody == nil) {
		line += " -X " + method
	}
	line += ` "$EXCHEQUER_SERVER` + path + `" -H "Authorization: Bearer $EXCHEQUER_KEY"`
	for _, h := range headers {
		line += " -H '" + h + "'"
	}
	if op.RequestBody == nil {
		return line
	}
	media := op.RequestBody.Content[mediaJSON]
	if media == nil {
		return line + " --data-binary @FILE"
	}
	body, err := json.Marshal(media.Example)
	if err != nil {
		return line // Examples of bodies can all be written.
	}
	quoted := strings.ReplaceAll(string(body), "'", `'\''`)
	return line + " -H 'Content-Type: application/json' -d '" + quoted + "'"
}

func paramExample(p *huma.Param) string {
	if p.Schema != nil && len(p.Schema.Examples) > 0 {
		if text, ok := p.Schema.Examples[0].(string); ok {
			return text
		}
	}
	if p.Schema != nil && len(p.Schema.Enum) > 0 {
		if text, ok := p.Schema.Enum[0].(string); ok {
			return text
		}
	}
	return strings.ToUpper(p.Name)
}

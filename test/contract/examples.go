package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// exemplified is an operation with its examples.
type exemplified struct {
	Parameters []struct {
		Name, In string
		Schema   struct{ Examples, Enum []any }
		Example  any
	}
	RequestBody struct {
		Content map[string]struct{ Example json.RawMessage }
	}
	Responses map[string]struct {
		Content map[string]struct{ Example json.RawMessage }
	}
}

// Examples validates every example of the document: a request that is made of those of an
// operation, and each answer. It returns what does not conform, and the number of examples.
func (c *Contract) Examples() (findings []string, seen int) {
	var document struct {
		Paths map[string]map[string]exemplified
	}
	if err := json.Unmarshal(c.document, &document); err != nil {
		return []string{err.Error()}, 0
	}
	for path, methods := range document.Paths {
		for method, op := range methods {
			found, n := c.examplesOf(strings.ToUpper(method), path, op)
			findings, seen = append(findings, found...), seen+n
		}
	}
	return findings, seen
}

func (c *Contract) examplesOf(method, path string, op exemplified) (findings []string, seen int) {
	r, n, err := op.request(method, path)
	if err != nil {
		return []string{fmt.Sprintf("%s %s: %v", method, path, err)}, n
	}
	sent := op.RequestBody.Content["application/json"].Example
	r.Body = io.NopCloser(bytes.NewReader(sent))
	seen += n
	if len(sent) > 0 {
		seen++
	}
	template, item, found := c.operation(r)
	if found == nil || template != path {
		return []string{fmt.Sprintf("%s %s: its examples lead to %s", method, path, template)}, seen
	}
	if _, file := op.RequestBody.Content["*/*"]; !file {
		_, errs := c.valid.ValidateHttpRequestWithPathItem(r, item, path)
		for _, e := range errs {
			findings = append(findings, fmt.Sprintf("%s %s: %s", method, path, sentence(e)))
		}
	}
	for status, response := range op.Responses {
		for media, content := range response.Content {
			code, err := strconv.Atoi(status)
			if len(content.Example) == 0 || err != nil {
				continue
			}
			seen++
			_, errs := c.valid.GetResponseBodyValidator().ValidateResponseBodyWithPathItem(r,
				&http.Response{
					StatusCode: code, Header: http.Header{"Content-Type": {media}},
					Body: io.NopCloser(bytes.NewReader(content.Example)),
				}, item, path)
			for _, e := range errs {
				findings = append(findings,
					fmt.Sprintf("%s %s: status %s: %s", method, path, status, sentence(e)))
			}
		}
	}
	return findings, seen
}

// request returns a request with the examples of an operation's parameters, and their number.
func (op exemplified) request(method, path string) (*http.Request, int, error) {
	query, header, n := url.Values{}, http.Header{}, 0
	for _, p := range op.Parameters {
		values := p.Schema.Examples
		if p.Example != nil {
			values = append(values, p.Example)
		}
		if len(values) == 0 {
			values = p.Schema.Enum
		}
		text := "x"
		if len(values) > 0 {
			text = fmt.Sprint(values[0])
			n++
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case len(values) == 0:
		case p.In == "query":
			query.Set(p.Name, text)
		case p.In == "header":
			header.Set(p.Name, text)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r, err := http.NewRequest(method, "http://localhost"+path, nil)
	if err != nil {
		return nil, n, err
	}
	for name := range header {
		r.Header[name] = header[name]
	}
	if _, ok := op.RequestBody.Content["application/json"]; ok {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, n, nil
}

package rest

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/payload"
)

// isJSON reports whether a media type is JSON.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == mediaJSON
}

// frameworkProblem returns the problem that the framework means. It checks parameters, and reads
// bodies within their limits; what a body holds is checked by shapes.decode.
func (a *Router) frameworkProblem(model *huma.ErrorModel) error {
	switch model.Status {
	case http.StatusRequestEntityTooLarge:
		return problem.ErrBodyTooLarge.With("limit", a.opts.BodyMax)
	case http.StatusRequestTimeout:
		return payload.ErrTooSlow
	case http.StatusBadRequest:
		return problem.ErrRequestInvalid.Field("body", "is missing")
	case http.StatusUnprocessableEntity:
		var wrong problem.Fields
		for _, e := range model.Errors {
			in, name := parameterName(e.Location)
			wrong.Add(name, parameterFault(e.Message))
			wrong.Place(in)
		}
		if err := wrong.Err(problem.ErrRequestInvalid); err != nil {
			return err
		}
		return problem.ErrRequestInvalid
	}
	var causes []string
	for _, e := range model.Errors {
		causes = append(causes, e.Message)
	}
	return fmt.Errorf("%s: %s", model.Detail, strings.Join(causes, "; "))
}

// parameterName splits a location, such as query.limit, into the part of the request and the name.
func parameterName(location string) (problem.In, string) {
	if in, name, ok := strings.Cut(location, "."); ok {
		return problem.In(in), name
	}
	return "", location
}

// faults are the framework's words for what is wrong, and ours, which complete a sentence that
// begins with the parameter's name. The longest beginning that fits is used.
var faults = []struct{ theirs, ours string }{
	{"unknown query parameter", "is not known here"},
	{"required", "is missing"},
	{"invalid integer", "must be a whole number"},
	{"invalid boolean", "must be true or false"},
	{badValue, ""}, // The value's own words follow.
	{"expected number >= ", "must be at least "},
	{"expected number > ", "must be more than "},
	{"expected number <= ", "must be at most "},
	{"expected length >= ", "must be no shorter than "},
	{"expected length <= ", "must be no longer than "},
	{"expected value to be one of ", "must be one of "},
	{"expected string to be RFC 3339 date-time", "must be an instant such as 2026-01-02T10:30:00Z"},
	{"expected string to be RFC 3339 date", "must be a day such as 2026-01-31"},
	{"expected ", "must be "},
}

func parameterFault(message string) string {
	for _, f := range faults {
		if rest, ok := strings.CutPrefix(message, f.theirs); ok {
			if f.ours == "" || strings.HasSuffix(f.ours, " ") {
				return f.ours + rest
			}
			return f.ours
		}
	}
	return "is wrong: " + message
}

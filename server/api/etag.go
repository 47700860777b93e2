package api

import (
	"net/http"
	"strings"
)

// newTagged returns an answer with an ETag, without a body where the caller has it already.
func newTagged[T any](known, version string, body T) *tagged[T] {
	t := &tagged[T]{Status: http.StatusOK, ETag: `"` + version + `"`, Body: body}
	if matches(known, t.ETag) {
		t.Status = http.StatusNotModified
	}
	return t
}

// matches tells whether an If-None-Match header (RFC 9110, 13.1.2) names a tag. The comparison is
// weak, as that header asks for.
func matches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == tag || candidate == "*" {
			return true
		}
	}
	return false
}

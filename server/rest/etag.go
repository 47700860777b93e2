package rest

import (
	"errors"
	"net/http"
	"strings"
)

const (
	headerETag        = "ETag"
	headerIfMatch     = "If-Match"
	headerIfNoneMatch = "If-None-Match"
)

// newTagged returns an answer with an ETag, without a body where the caller has it already.
func newTagged[T any](known, version string, body T) *tagged[T] {
	t := &tagged[T]{Status: http.StatusOK, ETag: `"` + version + `"`, Body: body}
	if list, err := parseTags(known); err == nil && list.matchesWeakly(t.ETag) {
		t.Status = http.StatusNotModified
	}
	return t
}

// tagList is the value of If-Match or If-None-Match (RFC 9110, 13.1.1 and 13.1.2): any state of a
// resource that exists, or some entity tags.
type tagList struct {
	any  bool
	tags []entityTag
}

// entityTag is an entity tag (RFC 9110, 8.8.3).
type entityTag struct {
	weak   bool
	opaque string // With its quotes.
}

var errTagList = errors.New(`must be * or a list of ETags in quotes, such as "1", "2"`)

// parseTags reads a list of entity tags. A text without anything is an empty list. Empty elements
// are skipped, as RFC 9110, 5.6.1.2 demands.
func parseTags(text string) (tagList, error) {
	text = trimBlank(text)
	if text == "*" {
		return tagList{any: true}, nil
	}
	var list tagList
	for text != "" {
		if rest, empty := strings.CutPrefix(text, ","); empty {
			text = trimBlank(rest)
			continue
		}
		tag, rest, err := parseTag(text)
		if err != nil {
			return tagList{}, err
		}
		list.tags = append(list.tags, tag)
		rest = trimBlank(rest)
		if rest != "" && rest[0] != ',' {
			return tagList{}, errTagList
		}
		text = rest
	}
	return list, nil
}

// parseTag reads one entity tag, and returns what follows it.
func parseTag(text string) (tag entityTag, rest string, err error) {
	opaque, weak := strings.CutPrefix(text, "W/")
	if !strings.HasPrefix(opaque, `"`) {
		return entityTag{}, "", errTagList
	}
	end := strings.IndexByte(opaque[1:], '"') + 1
	if end < 1 {
		return entityTag{}, "", errTagList
	}
	for i := 1; i < end; i++ {
		if c := opaque[i]; c <= 0x20 || c == 0x7f {
			return entityTag{}, "", errTagList
		}
	}
	return entityTag{weak, opaque[:end+1]}, opaque[end+1:], nil
}

// trimBlank removes the optional white space of header fields at both ends.
func trimBlank(text string) string { return strings.Trim(text, " \t") }

// matches reports whether a list names a tag by the strong comparison, for which a weak tag equals
// nothing.
func (l tagList) matches(tag string) bool {
	for _, t := range l.tags {
		if !t.weak && t.opaque == tag {
			return true
		}
	}
	return l.any
}

// matchesWeakly reports whether a list names a tag by the weak comparison.
func (l tagList) matchesWeakly(tag string) bool {
	for _, t := range l.tags {
		if t.opaque == tag {
			return true
		}
	}
	return l.any
}

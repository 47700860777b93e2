package rest

import (
	"fmt"
	"strings"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
)

// challengeOf returns what a refusal asks for, in the form of RFC 6750, section 3: nothing but the
// scheme where nothing was sent, else why what was sent will not do. A refusal that is not about
// who the caller is asks for nothing.
func challengeOf(d *document) string {
	const scheme = `Bearer realm="exchequer"`
	switch {
	case d.Code == ErrKeyMissing.Code(), d.Code == ErrTokenMissing.Code():
		return scheme
	case d.Kind == problem.Unauthenticated:
		return fmt.Sprintf(`%s, error="invalid_token", error_description="%s"`, scheme,
			quotable(d.Detail))
	case d.Code == apikey.ErrScopeMissing.Code():
		return fmt.Sprintf(`%s, error="insufficient_scope", error_description="%s", scope="%s"`,
			scheme, quotable(d.Detail), quotable(d.Details["scope"]))
	case d.Code == ErrNotPersonal.Code(), d.Code == ErrKeyWithoutPerson.Code():
		return fmt.Sprintf(`%s, error="insufficient_scope", error_description="%s"`, scheme,
			quotable(d.Detail))
	}
	return ""
}

// quotable keeps of a text the characters that RFC 6750 allows in a description.
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, text)
}

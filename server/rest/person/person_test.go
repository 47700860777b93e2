package person_test

import (
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/server/rest/person"
)

func TestSubjectsAreCheckedByLengthAndCharacters(t *testing.T) {
	for _, c := range []struct{ name, subject, wrong string }{
		{"the one of a server without authentication", string(person.SubjectLocal), ""},
		{"a UUID", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", ""},
		{"one with signs", "auth0|5f7c8ec7c33c6c004bbafe82#%/", ""},
		{"the longest", strings.Repeat("x", person.SubjectMax), ""},
		{"none", "", "is missing"},
		{"a longer one", strings.Repeat("x", person.SubjectMax+1), "at most 255"},
		{"a blank", "a b", "no blanks"},
		{"a blank at the end", "alice ", "no blanks"},
		{"the end of a line", "alice\n", "no blanks"},
		{"a zero", "alice\x00", "visible"},
		{"a letter that looks like another", "аlice", "visible ASCII"},
		{"no UTF-8", "alice\xff", "visible ASCII"},
		{"a sign to erase", "alice\x7f", "visible"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := person.Subject(c.subject).Check()
			if c.wrong == "" {
				if err != nil {
					t.Errorf("refused: it %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got %v, want %q", err, c.wrong)
			}
		})
	}
}

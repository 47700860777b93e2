package problem

import (
	"fmt"
	"slices"
	"strings"
)

// Definition declares a problem. It is created by Catalogue.Define as a package-level variable, and
// never changes. It is itself an error, so that it can be the target of errors.Is, and so that a
// problem without details can be returned directly.
type Definition struct {
	kind     Kind
	code     Code
	sentence string
	hint     string
	system   string // that of Catalogue.Share, or empty
}

// Kind returns the problem's kind.
func (d *Definition) Kind() Kind { return d.kind }

// Code returns the problem's code.
func (d *Definition) Code() Code { return d.code }

// Sentence returns the sentence as declared, with the names of details in braces.
func (d *Definition) Sentence() string { return d.sentence }

// Hint returns the next step as declared; it may be empty.
func (d *Definition) Hint() string { return d.hint }

// System returns the name of the system that shares the problem, and "" for the declaration itself.
func (d *Definition) System() string { return d.system }

// SameCode reports whether both have the same code: they are one problem, perhaps of two systems.
func (d *Definition) SameCode(other *Definition) bool { return d.code == other.code }

// Details returns the names of the details in the sentence and the hint, without duplicates.
func (d *Definition) Details() []string {
	var names []string
	for _, template := range []string{d.sentence, d.hint} {
		for rest := template; ; {
			_, name, after, ok := cutPlaceholder(rest)
			if !ok {
				break
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			rest = after
		}
	}
	return names
}

// Error returns the sentence, without details.
func (d *Definition) Error() string {
	return fill(d.sentence, nil)
}

// Is reports whether target is a definition or an occurrence with the same code, such as that of
// another system that shares the problem.
func (d *Definition) Is(target error) bool {
	return d.New().Is(target)
}

// As lets errors.As find an *Error if a definition was returned directly.
func (d *Definition) As(target any) bool {
	e, ok := target.(**Error)
	if ok {
		*e = d.New()
	}
	return ok
}

// New returns an occurrence of the problem, without details except DetailSystem.
func (d *Definition) New() *Error {
	e := &Error{
		Kind: d.kind, Code: d.code, Sentence: fill(d.sentence, nil), Hint: fill(d.hint, nil),
		definition: d,
	}
	if d.system != "" {
		e.Details = map[string]string{DetailSystem: d.system}
	}
	return e
}

// With returns an occurrence with one detail; see Error.With.
func (d *Definition) With(name string, value any) *Error {
	return d.New().With(name, value)
}

// Field returns an occurrence with one wrong input field; see Error.Field.
func (d *Definition) Field(name, wrong string) *Error {
	return d.New().Field(name, wrong)
}

// Wrap returns an occurrence with a cause; see Error.Wrap.
func (d *Definition) Wrap(cause error) *Error {
	return d.New().Wrap(cause)
}

// missing is the text for a detail that was not given.
const missing = "?"

// fill replaces each {name} by the detail of that name.
func fill(template string, details map[string]string) string {
	var text strings.Builder
	for {
		before, name, after, ok := cutPlaceholder(template)
		text.WriteString(before)
		if !ok {
			return text.String()
		}
		value, given := details[name]
		if !given {
			value = missing
		}
		text.WriteString(value)
		template = after
	}
}

// cutPlaceholder splits text around its first {name}. Without one, before is the whole text.
func cutPlaceholder(text string) (before, name, after string, ok bool) {
	before, rest, ok := strings.Cut(text, "{")
	if !ok {
		return text, "", "", false
	}
	name, after, ok = strings.Cut(rest, "}")
	if !ok {
		return text, "", "", false
	}
	return before, name, after, true
}

// check returns the mistakes in the declaration.
func (d *Definition) check() (faults []string) {
	report := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%q: ", d.code)+fmt.Sprintf(format, args...))
	}
	if !d.code.valid() {
		report("a code is lower-case words joined by underscores")
	}
	if !d.kind.Known() {
		report("%q is not a kind", d.kind)
	}
	if d.sentence == "" {
		report("the sentence is missing")
	}
	for _, template := range []string{d.sentence, d.hint} {
		if strings.HasSuffix(template, ".") || strings.TrimSpace(template) != template {
			report("%q must not end with a full stop or have outer spaces", template)
		}
		if strings.Count(template, "{") != strings.Count(template, "}") {
			report("%q has a brace without its pair", template)
		}
	}
	if slices.Contains(d.Details(), "") {
		report("a detail has no name")
	}
	return faults
}

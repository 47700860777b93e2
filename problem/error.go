package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// TextMax is the maximum length in bytes of a detail and of the text about a field. Both may repeat
// the caller's input, and a response must not grow with it. Identifiers are far shorter.
const TextMax = 512

// Error is one occurrence of a problem. It is created by a Definition, or by Decode from JSON, and
// is immutable: With, Field and Wrap return new ones. Its JSON form has every member except the
// cause.
type Error struct {
	Kind     Kind   `json:"kind"`
	Code     Code   `json:"code"`
	Sentence string `json:"sentence"`
	// Hint is the next step; it may be empty.
	Hint string `json:"hint,omitempty"`
	// Fields are the invalid fields of the input, in the order in which they were found.
	Fields Fields `json:"fields,omitempty"`
	// Details are the values in the sentence by name, for programs.
	Details map[string]string `json:"details,omitempty"`

	cause      error
	definition *Definition // nil after Decode, because the sentence is already complete
}

// With returns the error with a detail, which replaces {name} in the sentence and the hint. The
// value is converted to text by fmt.Sprint and cut to TextMax bytes.
func (e *Error) With(name string, value any) *Error {
	made := *e
	made.Details = maps.Clone(e.Details)
	if made.Details == nil {
		made.Details = make(map[string]string, 4)
	}
	made.Details[name] = cut(fmt.Sprint(value))
	if d := e.definition; d != nil {
		made.Sentence, made.Hint = fill(d.sentence, made.Details), fill(d.hint, made.Details)
	}
	return &made
}

// Field returns the error with an additional invalid field of the input. name is the path of the
// field in the input, such as "legs[1].amount". wrong completes a sentence that begins with the
// name: "must be more than zero".
func (e *Error) Field(name, wrong string) *Error {
	made := *e
	made.Fields = append(e.Fields[:len(e.Fields):len(e.Fields)], newField(name, wrong))
	return &made
}

// Wrap returns the error with a cause, for errors.Is, errors.As and the log. The cause is not part
// of the JSON form.
func (e *Error) Wrap(cause error) *Error {
	made := *e
	made.cause = cause
	return &made
}

// Error returns the sentence, the invalid fields and the cause on one line, for logs. The texts for
// people are Sentence, Fields and Hint.
func (e *Error) Error() string {
	text := e.Sentence
	if len(e.Fields) > 0 {
		text += " (" + e.Fields.String() + ")"
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error {
	return e.cause
}

// Is reports whether target is a definition or an occurrence with the same code.
func (e *Error) Is(target error) bool {
	switch target := target.(type) {
	case *Definition:
		return target.code == e.Code
	case *Error:
		return target.Code == e.Code
	}
	return false
}

// From returns the first *Error that err wraps. An error that wraps none becomes the cause of one
// of kind Internal, whose sentence has no details. From(nil) is nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{
		Kind: Internal, Code: CodeInternal, Sentence: "Something went wrong inside", cause: err,
		Hint: "Try again; if it happens again, look into the server's log",
	}
}

// Decode decodes an error from its JSON form. Unknown members are ignored and an unknown kind is
// kept, so that an old client can read a new server's response. Data without a code is not a
// problem, and Decode returns an error.
func Decode(data []byte) (*Error, error) {
	var e Error
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("decode problem: %w", err)
	}
	if e.Code == "" {
		return nil, errors.New("decode problem: there is no code")
	}
	return &e, nil
}

// Field is one invalid field of the input.
type Field struct {
	// Name is the path of the field in the input, such as "legs[1].amount".
	Name string `json:"name"`
	// Wrong completes a sentence that begins with the name: "must be more than zero".
	Wrong string `json:"wrong"`
	// In is the part of an HTTP request that has the field. It is empty outside of the API.
	In In `json:"in,omitempty"`
}

// In is a part of an HTTP request.
type In string

// The parts of a request that have fields.
const (
	InBody   In = "body"
	InQuery  In = "query"
	InPath   In = "path"
	InHeader In = "header"
)

func newField(name, wrong string) Field {
	return Field{Name: cut(name), Wrong: cut(wrong)}
}

// String returns the name and the text about the field.
func (f Field) String() string {
	return f.Name + " " + f.Wrong
}

// Fields collects the invalid fields of an input, so that the caller learns of all at once. The
// zero value is empty and ready to use.
type Fields []Field

// Add adds an invalid field; see Error.Field for both texts.
func (f *Fields) Add(name, wrong string) {
	*f = append(*f, newField(name, wrong))
}

// Addf is Add with a format.
func (f *Fields) Addf(name, format string, args ...any) {
	f.Add(name, fmt.Sprintf(format, args...))
}

// Place sets the part of the request of all fields that have none yet.
func (f Fields) Place(in In) {
	for i := range f {
		if f[i].In == "" {
			f[i].In = in
		}
	}
}

// Err returns an occurrence of d with these fields, or nil if there are none.
func (f Fields) Err(d *Definition) error {
	if len(f) == 0 {
		return nil
	}
	e := d.New()
	e.Fields = append(Fields(nil), f...)
	return e
}

// String joins the fields by semicolons.
func (f Fields) String() string {
	texts := make([]string, len(f))
	for i, field := range f {
		texts[i] = field.String()
	}
	return strings.Join(texts, "; ")
}

// cut shortens text to TextMax bytes without splitting a character.
func cut(text string) string {
	if len(text) <= TextMax {
		return text
	}
	const more = "…"
	end := TextMax - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}

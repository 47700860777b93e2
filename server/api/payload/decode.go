// Package payload reads what a caller sends: JSON, which is not guessed at, and files, which may
// take their time.
package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/problem"
)

// Decimal is a member that holds an amount. It is a string in JSON.
type Decimal string

// FaultsMax bounds how many wrong fields of one body are told.
const FaultsMax = 20

// Decode reads a JSON object into the struct that v points to. Unlike encoding/json alone it
// refuses members that the struct does not have, names in another case, members given twice, and
// text that is not UTF-8: a request about money is not a thing to guess at. It tells all wrong
// members at once, by their path, with ErrInvalid, and what is no JSON with ErrMalformed. A member
// that is null counts as left out.
func (s Shapes) Decode(body []byte, v any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return ErrInvalid.Field("body", "is missing")
	}
	if !utf8.Valid(body) {
		return ErrMalformed.With("offset", invalidAt(body)).With("reason", "it is not UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return malformed(err)
	}
	walk := scanner{data: body, shapes: s}
	walk.value(reflect.TypeOf(v).Elem())
	if err := walk.faults.Err(ErrInvalid); err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return ErrInvalid.Wrap(err) // Numbers that do not fit their type, at most.
	}
	return nil
}

func malformed(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return ErrMalformed.With("offset", syntax.Offset).With("reason", syntax.Error()).
			Wrap(err)
	}
	return ErrMalformed.With("offset", 0).With("reason", err).Wrap(err)
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// scanner walks over JSON that is known to be well formed, along a Go type.
type scanner struct {
	data   []byte
	at     int
	shapes Shapes
	path   []string // The parts of the present member's path.
	faults problem.Fields
}

func (s *scanner) fault(wrong string) {
	if len(s.faults) < FaultsMax {
		name := strings.Join(s.path, "")
		if name == "" {
			name = "body"
		}
		s.faults.Add(strings.TrimPrefix(name, "."), wrong)
	}
}

// value checks the next value against a type.
func (s *scanner) value(t reflect.Type) {
	s.space()
	c := s.data[s.at]
	if c == 'n' && len(s.path) > 0 {
		s.skip()
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	want, ok := "", false
	switch t.Kind() {
	case reflect.Struct:
		want, ok = "an object", c == '{'
	case reflect.Map:
		want, ok = "an object of strings", c == '{'
	case reflect.Slice:
		want, ok = "a list", c == '['
	case reflect.String:
		want, ok = "a string", c == '"'
		if t == reflect.TypeFor[Decimal]() && c != '{' && c != '[' {
			want = `a string such as "5.50": many programs round JSON numbers`
		}
	case reflect.Bool:
		want, ok = "true or false", c == 't' || c == 'f'
	case reflect.Int:
		want, ok = "a whole number", s.whole()
	case reflect.Float64:
		want, ok = "a number", c == '-' || '0' <= c && c <= '9'
	}
	switch {
	case !ok:
		s.fault("must be " + want)
		s.skip()
	case t.Kind() == reflect.Struct:
		members := s.shapes[t]
		s.object(func(name string) (reflect.Type, bool) {
			member, known := members[name]
			return member, known
		})
	case t.Kind() == reflect.Map:
		s.object(func(string) (reflect.Type, bool) { return t.Elem(), true })
	case t.Kind() == reflect.Slice:
		s.list(t.Elem())
	default:
		s.skip()
	}
}

// object checks an object whose members have the types that member tells.
func (s *scanner) object(member func(name string) (reflect.Type, bool)) {
	s.at++ // The brace.
	var space [16]string
	seen := space[:0]
	for s.space(); s.data[s.at] != '}'; s.space() {
		if s.data[s.at] == ',' {
			s.at++
			s.space()
		}
		name := s.name()
		s.space()
		s.at++ // The colon.
		s.path = append(s.path, "."+name)
		t, known := member(name)
		switch {
		case !known:
			s.fault("is not known here")
			s.skip()
		case contains(seen, name):
			s.fault("is given twice")
			s.skip()
		default:
			seen = append(seen, name)
			s.value(t)
		}
		s.path = s.path[:len(s.path)-1]
	}
	s.at++
}

// contains is slices.Contains without sorting or hashing: objects have few members.
func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (s *scanner) list(t reflect.Type) {
	s.at++ // The bracket.
	i := 0
	for s.space(); s.data[s.at] != ']'; s.space() {
		if s.data[s.at] == ',' {
			s.at++
		}
		s.path = append(s.path, "["+strconv.Itoa(i)+"]")
		s.value(t)
		s.path = s.path[:len(s.path)-1]
		i++
	}
	s.at++
}

// name reads the name of a member.
func (s *scanner) name() string {
	from := s.at
	s.skip()
	quoted := s.data[from:s.at]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var name string
	if err := json.Unmarshal(quoted, &name); err != nil {
		return string(quoted) // Well formed JSON has no such name.
	}
	return name
}

// whole tells whether the next value is a number without fraction and exponent.
func (s *scanner) whole() bool {
	i := s.at
	if s.data[i] == '-' {
		i++
	}
	from := i
	for i < len(s.data) && '0' <= s.data[i] && s.data[i] <= '9' {
		i++
	}
	return i > from && (i == len(s.data) || strings.IndexByte(".eE", s.data[i]) < 0)
}

func (s *scanner) space() {
	for s.at < len(s.data) && strings.IndexByte(" \t\r\n", s.data[s.at]) >= 0 {
		s.at++
	}
}

// skip passes over the next value, whatever it is.
func (s *scanner) skip() {
	s.space()
	depth := 0
	for {
		switch c := s.data[s.at]; c {
		case '"':
			s.at++
			for s.data[s.at] != '"' {
				if s.data[s.at] == '\\' {
					s.at++
				}
				s.at++
			}
			s.at++
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++ // Inside of an object or a list only.
		default:
			for s.at < len(s.data) && strings.IndexByte(",:]} \t\r\n", s.data[s.at]) < 0 {
				s.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// Shapes are the members of a struct, and of all structs in it, by their JSON names.
type Shapes map[reflect.Type]map[string]reflect.Type

// ShapesOf looks into the type of a body once, when an operation is registered.
func ShapesOf(t reflect.Type) Shapes {
	s := Shapes{}
	s.add(t)
	return s
}

func (s Shapes) add(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		s.add(t.Elem())
	case reflect.Struct:
		if s[t] != nil {
			return
		}
		s[t] = map[string]reflect.Type{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			s.add(f.Type)
			if f.Anonymous && name == "" { // Its members are the struct's own.
				maps.Copy(s[t], s[f.Type])
				continue
			}
			s[t][name] = f.Type
		}
	}
}

// Package payload reads what a caller sends: JSON, which is not guessed at, and files, which may
// take their time.
package payload

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
)

// Decimal is a member that holds an amount. It is a string in JSON.
type Decimal string

// FaultsMax bounds how many wrong fields of one body are told.
const FaultsMax = 20

// Decode reads a JSON object into the struct that v points to. Unlike encoding/json alone it
// refuses members that the struct does not have, names in another case, members given twice, and
// text that is not UTF-8: a request about money is not a thing to guess at. It returns all wrong
// members at once, by their path, with problem.ErrRequestInvalid, and ErrMalformed for what is no
// JSON. A member that is null counts as left out.
func (s Shapes) Decode(body []byte, v any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return problem.ErrRequestInvalid.Field("body", "is missing")
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
	for _, name := range walk.absent {
		if n := len(walk.faults); 0 < n && n < FaultsMax {
			walk.faults.Add(name, "is missing")
		}
	}
	walk.faults.Place(problem.InBody)
	if err := Refused(walk.faults, problem.ErrRequestInvalid); err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return problem.ErrRequestInvalid.Wrap(err) // Numbers that do not fit their type, at most.
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
	// absent are the members that are required and were not sent. The systems check that, each with
	// its own problem; they are told here only with other faults, which would hide them.
	absent []string
}

func (s *scanner) fault(wrong string) {
	if len(s.faults) < FaultsMax {
		name := s.name("")
		if name == "" {
			name = "body"
		}
		s.faults.Add(name, wrong)
	}
}

// name returns the path of a member of the present value, or of the value itself.
func (s *scanner) name(member string) string {
	path := strings.Join(s.path, "")
	if member != "" {
		path += "." + member
	}
	return strings.TrimPrefix(path, ".")
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
	kind := t.Kind()
	if isText(t) {
		kind = reflect.String
	}
	switch kind {
	case reflect.Struct:
		want, ok = "an object", c == '{'
	case reflect.Map:
		want, ok = "an object of strings", c == '{'
	case reflect.Slice:
		want, ok = "a list", c == '['
	case reflect.String:
		want, ok = "a string", c == '"'
		if isDecimal(t) && c != '{' && c != '[' {
			want = `a string such as "5.50": many programs round JSON numbers`
		}
	case reflect.Bool:
		want, ok = "true or false", c == 't' || c == 'f'
	case reflect.Int:
		want, ok = "a whole number", s.whole()
		if ok && !s.fits() {
			want, ok = "a whole number of at most 19 digits, and not above 9223372036854775807", false
		}
	case reflect.Float64:
		want, ok = "a number", c == '-' || '0' <= c && c <= '9'
	}
	switch {
	case !ok:
		s.fault("must be " + want)
		s.skip()
	case kind == reflect.Struct:
		members := s.shapes[t]
		given := s.object(func(name string) (Member, bool) {
			member, known := members[name]
			return member, known
		})
		for _, name := range slices.Sorted(maps.Keys(members)) {
			switch m := members[name]; {
			case !m.Required || contains(given, name):
			case m.Type.Kind() == reflect.String && !isText(m.Type):
				s.absent = append(s.absent, s.name(name))
			default: // No system can tell it from one that is zero.
				s.path = append(s.path, "."+name)
				s.fault("is missing")
				s.path = s.path[:len(s.path)-1]
			}
		}
	case t.Kind() == reflect.Map:
		s.object(func(name string) (Member, bool) {
			if fault := CheckLine(name); fault != "" {
				s.fault("is a name that " + fault)
			}
			return Member{Type: t.Elem(), Required: true}, true // A value may be an empty text.
		})
	case kind == reflect.String:
		from := s.at
		s.skip()
		s.text(t, s.data[from:s.at])
	case t.Kind() == reflect.Slice:
		s.list(t.Elem())
	default:
		s.skip()
	}
}

// isText reports whether values of a type are written as a JSON string that the type itself parses.
func isText(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(unmarshaler)
}

var unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// isDecimal reports whether a type is a decimal number in a string.
func isDecimal(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[Decimal](),
		reflect.TypeFor[api.Amount](),
		reflect.TypeFor[money.Decimal]():
		return true
	}
	return false
}

// text checks a JSON string, with its quotes, against a type.
func (s *scanner) text(t reflect.Type, quoted []byte) {
	s.characters(quoted)
	if !isText(t) {
		return
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil || text == "" {
		return // An empty text is a fault of its own.
	}
	err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	limit := (*money.LimitError)(nil)
	switch {
	case err == nil:
	case t == reflect.TypeFor[api.Amount]() && errors.As(err, &limit):
		s.fault(FaultDigits)
	case t == reflect.TypeFor[money.Decimal]():
		s.fault(`must be a plain decimal such as "5.50": ` + err.Error())
	default:
		s.fault(err.Error())
	}
}

// Refused returns the problem of the faults of a request: d, unless all that is wrong is the size
// of amounts, which has a code of its own. It returns nil if there are none.
func Refused(faults problem.Fields, d *problem.Definition) error {
	for _, f := range faults {
		if f.Wrong != FaultDigits {
			return faults.Err(d)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	e := problem.ErrAmountTooLarge.With("limit", money.DigitsMax)
	e.Fields = faults
	return e
}

// FaultDigits is what is wrong with an amount of more digits than any amount has.
var FaultDigits = fmt.Sprintf("has more than %d digits", money.DigitsMax)

// characters checks the characters of a JSON string, with its quotes.
func (s *scanner) characters(quoted []byte) {
	if plain(quoted) {
		return
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return // Well-formed JSON has no such text.
	}
	switch fault := CheckText(text); {
	case fault != "":
		s.fault(fault)
	case halfPair(quoted):
		s.fault(faultSurrogate)
	}
}

// object checks an object whose members are those that member returns, and returns the names of
// those that have a value.
func (s *scanner) object(member func(name string) (Member, bool)) (given []string) {
	s.at++ // The brace.
	var space [16]string
	seen := space[:0]
	for s.space(); s.data[s.at] != '}'; s.space() {
		if s.data[s.at] == ',' {
			s.at++
			s.space()
		}
		name := s.memberName()
		s.space()
		s.at++ // The colon.
		s.path = append(s.path, "."+name)
		m, known := member(name)
		switch {
		case !known:
			s.fault("is not known here")
			s.skip()
		case contains(seen, name):
			s.fault("is given twice")
			s.skip()
		default:
			seen = append(seen, name)
			if s.data[s.at] != 'n' {
				given = append(given, name)
			}
			s.member(m)
		}
		s.path = s.path[:len(s.path)-1]
	}
	s.at++
	return given
}

// member checks the value of a member. What is sent is a value, also an empty text and a zero,
// which the struct cannot tell from a member that is absent.
func (s *scanner) member(m Member) {
	s.space()
	from := s.at
	before := len(s.faults)
	s.value(m.Type)
	value := string(bytes.TrimSpace(s.data[from:s.at]))
	if len(s.faults) > before || value == "null" {
		return
	}
	if value == `""` && (isText(m.Type) || !m.Required && m.Type.Kind() == reflect.String) {
		s.fault("is empty: give it a value, or leave it out")
	}
	if number, err := strconv.ParseInt(value, 10, 0); err == nil && m.bounded() {
		if number < m.Min || number > m.Max {
			s.fault(fmt.Sprintf("must be %d to %d", m.Min, m.Max))
		}
	}
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
		if s.space(); s.data[s.at] == 'n' {
			s.fault("must not be null") // A member may be left out; a place in a list cannot.
		}
		s.value(t)
		s.path = s.path[:len(s.path)-1]
		i++
	}
	s.at++
}

// memberName reads the name of a member.
func (s *scanner) memberName() string {
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

// whole reports whether the next value is a number without fraction and exponent.
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

// fits reports whether the next value, a whole number, is one of 64 bits.
func (s *scanner) fits() bool {
	end := s.at
	for end < len(s.data) && strings.IndexByte("-0123456789", s.data[end]) >= 0 {
		end++
	}
	_, err := strconv.ParseInt(string(s.data[s.at:end]), 10, 0)
	return err == nil
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
type Shapes map[reflect.Type]map[string]Member

// Member is a member of a body.
type Member struct {
	Type     reflect.Type
	Required bool // Whether it must be sent, as its tag without omitempty says.
	// Min and Max bound a whole number, if they differ: the tags minimum and maximum.
	Min, Max int64
}

func (m Member) bounded() bool { return m.Min != m.Max }

// ShapesOf looks into the type of a body once, when an operation is registered.
func ShapesOf(t reflect.Type) Shapes {
	s := Shapes{}
	s.add(t)
	return s
}

// Required reports whether a struct has a member that must be sent.
func (s Shapes) Required(t reflect.Type) bool {
	for _, m := range s[t] {
		if m.Required {
			return true
		}
	}
	return false
}

func (s Shapes) add(t reflect.Type) {
	if isText(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		s.add(t.Elem())
	case reflect.Struct:
		if s[t] != nil {
			return
		}
		s[t] = map[string]Member{}
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			s.add(f.Type)
			if f.Anonymous && name == "" { // Its members are the struct's own.
				maps.Copy(s[t], s[f.Type])
				continue
			}
			m := Member{Type: f.Type, Required: !strings.Contains(options, "omit")}
			if minimum, ok := f.Tag.Lookup("minimum"); ok {
				m.Min, _ = strconv.ParseInt(minimum, 10, 64) // A test reads all tags.
				m.Max = math.MaxInt64
			}
			if maximum, ok := f.Tag.Lookup("maximum"); ok {
				m.Max, _ = strconv.ParseInt(maximum, 10, 64)
			}
			s[t][name] = m
		}
	}
}

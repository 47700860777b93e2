package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// Values in sessions are written like JSON with bare names, and a few forms more:
//
//	"text"  12.5  true  null  [1, "a"]  {a: 1}
//	b"bytes"  N"number text"  S<"a" "b">  N<1 2>  B<"x">
//	rep("x", 1000)    a string repeated
//	brep("x", 1000)   the same as binary
//	deep(31, 1)       a value in 31 lists
//	absent            no value at all
//
// Escapes in texts are those of Go.

type literalReader struct{ rest string }

// badLiteral carries a mistake in a session to readItem.
type badLiteral string

func readItem(text string) (item dynamo.Item, err error) {
	defer func() {
		if bad, ok := recover().(badLiteral); ok {
			err = fmt.Errorf("%s in %s", string(bad), text)
		}
	}()
	r := &literalReader{text}
	item = r.members()
	if r.space(); r.rest != "" {
		r.fail("a rest: " + r.rest)
	}
	return item, nil
}

func (r *literalReader) fail(what string) { panic(badLiteral(what)) }

func (r *literalReader) space() { r.rest = strings.TrimLeft(r.rest, " ,") }

func (r *literalReader) accept(token string) bool {
	r.space()
	rest, ok := strings.CutPrefix(r.rest, token)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *literalReader) expect(token string) {
	if !r.accept(token) {
		r.fail("expected " + token + " before " + r.rest)
	}
}

func (r *literalReader) members() map[string]dynamo.Value {
	r.expect("{")
	m := map[string]dynamo.Value{}
	for !r.accept("}") {
		name := r.name()
		r.expect(":")
		m[name] = r.value()
	}
	return m
}

func (r *literalReader) name() string {
	r.space()
	if strings.HasPrefix(r.rest, `"`) {
		return r.text()
	}
	if r.accept("rep(") {
		return r.repeated()
	}
	n := 0
	if strings.HasPrefix(r.rest, ":") { // a placeholder
		n = 1
	}
	n += strings.Index(r.rest[n:], ":")
	if n < 1 {
		r.fail("no name before " + r.rest)
	}
	name := r.rest[:n]
	r.rest = r.rest[n:]
	return name
}

func (r *literalReader) text() string {
	r.space()
	quoted, err := strconv.QuotedPrefix(r.rest)
	if err != nil {
		r.fail("no text: " + r.rest)
	}
	r.rest = r.rest[len(quoted):]
	text, err := strconv.Unquote(quoted)
	if err != nil {
		r.fail(err.Error())
	}
	return text
}

func (r *literalReader) word() string {
	r.space()
	n := strings.IndexAny(r.rest, " ,]}>)")
	if n < 0 {
		n = len(r.rest)
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

func (r *literalReader) repeated() string {
	unit := r.text()
	n, err := strconv.Atoi(r.word())
	if err != nil {
		r.fail(err.Error())
	}
	r.expect(")")
	return strings.Repeat(unit, n)
}

func (r *literalReader) value() dynamo.Value {
	r.space()
	switch {
	case strings.HasPrefix(r.rest, `"`):
		return dynamo.S(r.text())
	case strings.HasPrefix(r.rest, "{"):
		return dynamo.M(r.members())
	case r.accept("["):
		elems := []dynamo.Value{}
		for !r.accept("]") {
			elems = append(elems, r.value())
		}
		return dynamo.L(elems...)
	case strings.HasPrefix(r.rest, `b"`):
		r.rest = r.rest[1:]
		return dynamo.B([]byte(r.text()))
	case strings.HasPrefix(r.rest, `N"`):
		r.rest = r.rest[1:]
		return dynamo.N(r.text())
	case r.accept("rep("):
		return dynamo.S(r.repeated())
	case r.accept("brep("):
		return dynamo.B([]byte(r.repeated()))
	case r.accept("deep("):
		return r.deep()
	case r.accept("S<"):
		return dynamo.SS(r.texts()...)
	case r.accept("N<"):
		return dynamo.NS(r.texts()...)
	case r.accept("B<"):
		var elems [][]byte
		for _, e := range r.texts() {
			elems = append(elems, []byte(e))
		}
		return dynamo.BS(elems...)
	}
	switch word := r.word(); word {
	case "":
		r.fail("no value before " + r.rest)
		return dynamo.Value{}
	case "true", "false":
		return dynamo.Bool(word == "true")
	case "null":
		return dynamo.Null()
	case "absent":
		return dynamo.Value{}
	default:
		return dynamo.N(word)
	}
}

func (r *literalReader) texts() []string {
	elems := []string{}
	for !r.accept(">") {
		if r.space(); strings.HasPrefix(r.rest, `"`) {
			elems = append(elems, r.text())
		} else {
			elems = append(elems, r.word())
		}
	}
	return elems
}

func (r *literalReader) deep() dynamo.Value {
	levels, err := strconv.Atoi(r.word())
	if err != nil {
		r.fail(err.Error())
	}
	v := r.value()
	for range levels {
		v = dynamo.L(v)
	}
	r.expect(")")
	return v
}

// renderItem writes an item as sessions have it, names in order and long texts shortened.
func renderItem(item dynamo.Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		parts = append(parts, short(name)+": "+renderValue(item[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func renderValue(v dynamo.Value) string {
	switch v.Kind() {
	case dynamo.KindS:
		return renderText(v.S())
	case dynamo.KindN:
		return short(v.N())
	case dynamo.KindB:
		return "b" + renderText(string(v.B()))
	case dynamo.KindBOOL:
		return strconv.FormatBool(v.Bool())
	case dynamo.KindNULL:
		return "null"
	case dynamo.KindL:
		return "[" + renderEach(v.L(), renderValue, ", ") + "]"
	case dynamo.KindM:
		return renderItem(v.M())
	case dynamo.KindSS:
		return "S<" + renderEach(slices.Sorted(slices.Values(v.SS())), renderText, " ") + ">"
	case dynamo.KindNS:
		return "N<" + renderEach(slices.Sorted(slices.Values(v.NS())), short, " ") + ">"
	case dynamo.KindBS:
		var elems []string
		for _, e := range v.BS() {
			elems = append(elems, string(e))
		}
		return "B<" + renderEach(slices.Sorted(slices.Values(elems)), renderText, " ") + ">"
	}
	return "absent"
}

func renderEach[E any](elems []E, render func(E) string, separator string) string {
	var parts []string
	for _, e := range elems {
		parts = append(parts, render(e))
	}
	return strings.Join(parts, separator)
}

// shownMax is up to which length texts are shown in full.
const shownMax = 60

func renderText(s string) string {
	if len(s) <= shownMax {
		return strconv.Quote(s)
	}
	if s == strings.Repeat(s[:1], len(s)) {
		return fmt.Sprintf("rep(%q, %d)", s[:1], len(s))
	}
	return strconv.Quote(s[:8]) + "…" + strconv.Itoa(len(s))
}

func short(s string) string {
	if len(s) <= shownMax || !utf8.ValidString(s) {
		return s
	}
	return s[:8] + "…" + strconv.Itoa(len(s))
}

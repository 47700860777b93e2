package wire

import (
	"encoding/base64"
	"strings"

	"github.com/exchequer-dev/exchequer/dynamo"
)

// valueLevelsMax is the maximum number of levels of lists and maps in a value ("Service, account,
// and table quotas" in the developer guide).
const valueLevelsMax = 32

// elementsKept is the number of elements of a list or set that are kept. Every element takes at
// least one byte (of a set, all but one). Neither an item of 400 KB nor the values of an
// expression, at most 2 MB, can have more. A store therefore refuses the kept part as it would
// refuse the whole.
const elementsKept = 2<<20 + 2

// attributeNameSizeMax is the maximum length of an attribute's name in bytes (same page).
const attributeNameSizeMax = 65535

// The service's messages about the form of values.
const (
	messageSeveralTypes = "Supplied AttributeValue has more than one datatypes set, must " +
		"contain exactly one of the supported datatypes"
	messageNoType = "Supplied AttributeValue is empty, must contain exactly one of the " +
		"supported datatypes"
	messageNullFalse = "One or more parameter values were invalid: Null attribute value types " +
		"must have the value of true"
	messageTooDeep = "Nesting Levels have exceeded supported limits"
)

// item reads an object of attributes: an item, a key, or the values of an expression. It is never
// nil, even if it is empty, so that a store can distinguish an empty item from a missing one.
func (r *reader) item() dynamo.Item {
	return r.attributes(1)
}

// attributes reads a map of attribute values. A name with null stays in the map without a type, so
// that the store refuses it with DynamoDB's message.
func (r *reader) attributes(level int) map[string]dynamo.Value {
	m := make(map[string]dynamo.Value)
	for r.object(); r.nullableMember(); {
		name := textOf(r.name)
		if r.peek() == 'n' {
			r.literal("null")
			m[name] = dynamo.Value{} // which a store refuses, because it has no type
			continue
		}
		m[name] = r.value(level)
	}
	return m
}

// value reads an attribute value: an object with one member, whose name is the type. It marks
// values that need no further validation. The store validates the rest, such as sets with
// duplicates.
func (r *reader) value(level int) dynamo.Value {
	var v dynamo.Value
	kinds := 0 // one bit each
	for r.object(); r.member(); {
		kind := kindOf(r.name)
		kinds |= 1 << kind
		switch kind {
		case dynamo.KindS:
			v = dynamo.S(r.string())
		case dynamo.KindN:
			v = numberOf(r.string())
		case dynamo.KindB:
			v = dynamo.B(r.binary())
		case dynamo.KindBOOL:
			v = dynamo.Bool(r.bool())
		case dynamo.KindNULL:
			if !r.bool() {
				r.refuse(messageNullFalse)
			}
			v = dynamo.Null()
		case dynamo.KindSS:
			v = dynamo.SS(r.strings()...)
		case dynamo.KindNS:
			v = dynamo.NS(r.strings()...)
		case dynamo.KindBS:
			v = dynamo.BS(r.binaries()...)
		case dynamo.KindL, dynamo.KindM:
			v = r.document(kind, level)
		default:
			r.skip()
		}
	}
	kinds &^= 1 << dynamo.Absent
	switch {
	// A value without a known type is absent; the caller decides which message it gets.
	case kinds == 0:
		return dynamo.Value{}
	case kinds&(kinds-1) != 0:
		r.refuse(messageSeveralTypes)
	}
	return v
}

// document reads a list or a map. One that is nested too deeply is refused and skipped.
func (r *reader) document(kind dynamo.Kind, level int) dynamo.Value {
	// Deeper values are skipped and not decoded, so that a request cannot exhaust the stack.
	if level >= valueLevelsMax {
		if bracket := r.peek(); bracket == '[' || bracket == '{' {
			r.refuse(messageTooDeep)
			r.skip()
			return dynamo.Value{}
		}
	}
	if kind == dynamo.KindM {
		m := r.attributes(level + 1)
		return checkedMap(m)
	}
	// Elements are collected on a stack that all lists of the request share, and copied once their
	// number is known.
	start := len(r.values)
	checked := true
	for r.list(); r.element(); {
		if len(r.values)-start == elementsKept {
			r.skip()
			continue
		}
		v := r.value(level + 1)
		if v.IsAbsent() {
			r.refuse(messageNoType)
			continue
		}
		checked = checked && v.Checked()
		r.values = append(r.values, v)
	}
	elems := append(make([]dynamo.Value, 0, len(r.values)-start), r.values[start:]...)
	clear(r.values[start:])
	r.values = r.values[:start]
	// A list is checked only if all its elements are; the store then validates the rest.
	if v := dynamo.L(elems...); !checked {
		return v
	}
	return dynamo.MarkChecked(dynamo.L(elems...))
}

// checkedMap marks a map as checked if all its members are.
func checkedMap(m map[string]dynamo.Value) dynamo.Value {
	for name, v := range m {
		if !v.Checked() || name == "" || len(name) > attributeNameSizeMax {
			return dynamo.M(m)
		}
	}
	return dynamo.MarkChecked(dynamo.M(m))
}

// numberOf returns a number in canonical form, so that the store need not convert it. An invalid
// number is returned unchanged, and the store reports its error in the right order.
func numberOf(text string) dynamo.Value {
	canonical, err := dynamo.CanonicalNumber(text)
	if err != nil {
		return dynamo.N(text)
	}
	return dynamo.CanonicalN(canonical)
}

// binary reads base64 with padding and without line breaks.
func (r *reader) binary() []byte {
	text := r.string()
	if strings.ContainsAny(text, "\r\n") { // the decoder would ignore them
		r.fail("Invalid Base64 data")
		return nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		r.fail("Invalid Base64 data")
		return nil
	}
	return b
}

func (r *reader) binaries() [][]byte {
	out := [][]byte{}
	for r.list(); r.element(); {
		if len(out) == elementsKept {
			r.skip()
			continue
		}
		out = append(out, r.binary())
	}
	return out
}

func kindOf(name []byte) dynamo.Kind {
	switch string(name) {
	case "S":
		return dynamo.KindS
	case "N":
		return dynamo.KindN
	case "B":
		return dynamo.KindB
	case "BOOL":
		return dynamo.KindBOOL
	case "NULL":
		return dynamo.KindNULL
	case "L":
		return dynamo.KindL
	case "M":
		return dynamo.KindM
	case "SS":
		return dynamo.KindSS
	case "NS":
		return dynamo.KindNS
	case "BS":
		return dynamo.KindBS
	}
	return dynamo.Absent
}

// item writes an item, a key or the members of a map.
func (w *writer) item(item dynamo.Item) {
	w.open('{')
	for name, v := range item {
		w.name(name)
		w.value(v)
	}
	w.close('}')
}

// value writes an attribute value.
func (w *writer) value(v dynamo.Value) {
	w.comma()
	switch kind := v.Kind(); kind {
	case dynamo.KindS:
		w.b = appendText(append(w.b, `{"S":`...), v.S())
	case dynamo.KindN:
		w.b = append(append(append(w.b, `{"N":"`...), v.N()...), '"')
	case dynamo.KindB:
		w.b = append(w.b, `{"B":`...)
		w.binary(v.B())
	case dynamo.KindBOOL:
		w.b = append(w.b, `{"BOOL":`...)
		w.bool(v.Bool())
	case dynamo.KindNULL:
		w.b = append(w.b, `{"NULL":true`...)
	case dynamo.KindL:
		w.b = append(w.b, `{"L":[`...)
		for _, e := range v.L() {
			w.value(e)
		}
		w.close(']')
	case dynamo.KindM:
		w.b = append(w.b, `{"M":`...)
		w.item(v.M())
	case dynamo.KindSS:
		w.b = append(w.b, `{"SS":`...)
		w.strings(v.SS())
	case dynamo.KindNS:
		w.b = append(w.b, `{"NS":`...)
		w.strings(v.NS())
	case dynamo.KindBS:
		w.b = append(w.b, `{"BS":[`...)
		for _, b := range v.BS() {
			w.binary(b)
		}
		w.close(']')
	default:
		w.b = append(w.b, '{')
	}
	w.b = append(w.b, '}')
}

// items writes a list of items.
func (w *writer) items(items []dynamo.Item) {
	w.open('[')
	for _, item := range items {
		w.item(item)
	}
	w.close(']')
}

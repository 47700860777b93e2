package api

import (
	"encoding"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// Encoded is a request as it is sent.
type Encoded struct {
	Path    string // escaped
	Query   url.Values
	Headers map[string]string
	Body    any // nil for none
}

// Encode returns a request of an operation as it is sent.
func (o *Operation) Encode(in any) (Encoded, error) {
	e := Encoded{Path: o.Path, Query: url.Values{}, Headers: map[string]string{}}
	if err := e.add(reflect.ValueOf(in)); err != nil {
		return e, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
	}
	return e, nil
}

// add adds the fields of a struct.
func (e *Encoded) add(v reflect.Value) error {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		switch {
		case f.Anonymous:
			if err := e.add(value); err != nil {
				return err
			}
			continue
		case isBody(f):
			e.Body = value.Interface()
			continue
		}
		place, name := placeOf(f)
		if place == "" {
			continue
		}
		texts, err := textsOf(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case place == "path":
			e.Path = strings.Replace(e.Path, "{"+name+"}", segment(strings.Join(texts, "")), 1)
		case value.IsZero() || isNone(value):
		case place == "query":
			e.Query[name] = texts
		case place == "header":
			e.Headers[name] = texts[0]
		}
	}
	return nil
}

// isBody reports whether a field is the body of its request.
func isBody(f reflect.StructField) bool {
	_, ok := f.Tag.Lookup("body")
	return ok
}

// BodyOf returns the index of the field of a request that is its body, and nil if it has none.
func BodyOf(t reflect.Type) []int {
	for i := range t.NumField() {
		f := t.Field(i)
		if isBody(f) {
			return []int{i}
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if inner := BodyOf(f.Type); inner != nil {
				return append([]int{i}, inner...)
			}
		}
	}
	return nil
}

// placeOf returns where a field is sent, and its name there.
func placeOf(f reflect.StructField) (place, name string) {
	for _, place := range []string{"path", "query", "header"} {
		if tag, ok := f.Tag.Lookup(place); ok {
			name, _, _ := strings.Cut(tag, ",")
			return place, name
		}
	}
	return "", ""
}

// isNone reports whether a value has a method IsZero that returns true, as an Instant may.
func isNone(v reflect.Value) bool {
	z, ok := v.Interface().(interface{ IsZero() bool })
	return ok && z.IsZero()
}

// textsOf returns the texts of a value: one, unless it is a slice.
func textsOf(v reflect.Value) ([]string, error) {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		return []string{string(text)}, err
	}
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}, nil
	case reflect.Bool:
		return []string{strconv.FormatBool(v.Bool())}, nil
	case reflect.Int, reflect.Int64:
		return []string{strconv.FormatInt(v.Int(), 10)}, nil
	case reflect.Uint64:
		return []string{strconv.FormatUint(v.Uint(), 10)}, nil
	case reflect.Float64:
		return []string{strconv.FormatFloat(v.Float(), 'g', -1, 64)}, nil
	case reflect.Slice:
		var texts []string
		for i := range v.Len() {
			text, err := textsOf(v.Index(i))
			if err != nil {
				return nil, err
			}
			texts = append(texts, text...)
		}
		return texts, nil
	}
	return nil, fmt.Errorf("a parameter cannot be a %s", v.Type())
}

// segment escapes a value as a segment of a path. Segments such as "..", which path cleaning would
// remove, are percent-encoded.
func segment(value string) string {
	switch value {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(value)
}

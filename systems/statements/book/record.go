package book

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// What is given out in JSON is named as the attributes of the table are. A member that is empty is
// left out; numbers that are no integers are strings.

// Record returns v, a pointer to a struct, as one line of JSON. Members with the attributes left
// out are not written.
func Record(v any, leftOut ...string) ([]byte, error) {
	var out bytes.Buffer
	if err := encodeStruct(&out, reflect.ValueOf(v).Elem(), leftOut); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// ParseRecord reads what Record wrote into v, a pointer to a struct. What it does not know is an
// error, for it would be lost.
func ParseRecord(data []byte, v any) error {
	return decodeStruct(data, reflect.ValueOf(v).Elem())
}

// attributeOf returns the name of a field in the table, which is its own where no tag names another
// one; it is not ok for a field that is not stored.
func attributeOf(f reflect.StructField) (name string, ok bool) {
	name, _, _ = strings.Cut(f.Tag.Get("dynamodbav"), ",")
	return cmp.Or(name, f.Name), f.IsExported() && name != "-"
}

var timeType = reflect.TypeFor[time.Time]()

// whole reports whether a type has a form in JSON of its own.
func whole(t reflect.Type) bool {
	return t == timeType || t.Implements(reflect.TypeFor[json.Marshaler]())
}

func encodeStruct(out *bytes.Buffer, v reflect.Value, leftOut []string) error {
	out.WriteByte('{')
	first := true
	for i := range v.NumField() {
		name, ok := attributeOf(v.Type().Field(i))
		if !ok || emptyValue(v.Field(i)) || slices.Contains(leftOut, name) {
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		fmt.Fprintf(out, "%q:", name)
		if err := encodeValue(out, v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	out.WriteByte('}')
	return nil
}

// emptyValue reports whether a value is empty. A pointer to nothing does.
func emptyValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func encodeValue(out *bytes.Buffer, v reflect.Value) error {
	switch {
	case whole(v.Type()):
	case v.Kind() == reflect.Pointer:
		return encodeValue(out, v.Elem())
	case v.Kind() == reflect.Struct:
		return encodeStruct(out, v, nil)
	case v.Kind() == reflect.Slice:
		out.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := encodeValue(out, v.Index(i)); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v.Interface()); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // The encoder ends with a new line.
	return nil
}

func decodeStruct(data []byte, v reflect.Value) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for i := range v.NumField() {
		name, ok := attributeOf(v.Type().Field(i))
		member, there := members[name]
		if !ok || !there {
			continue
		}
		delete(members, name)
		if err := decodeValue(member, v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		return fmt.Errorf("%q is not known", name)
	}
	return nil
}

func decodeValue(data []byte, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(data, v.Elem())
	case whole(v.Type()):
	case v.Kind() == reflect.Struct:
		return decodeStruct(data, v)
	case v.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(data, &elements); err != nil {
			return err
		}
		out := reflect.MakeSlice(v.Type(), len(elements), len(elements))
		for i, element := range elements {
			if err := decodeValue(element, out.Index(i)); err != nil {
				return fmt.Errorf("element %d: %w", i+1, err)
			}
		}
		v.Set(out)
		return nil
	}
	return json.Unmarshal(data, v.Addr().Interface())
}

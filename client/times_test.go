package client_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
)

// typesOf adds the types of this package that a type holds, or that its functions take or return.
func typesOf(t reflect.Type, met map[reflect.Type]bool) {
	if met[t] {
		return
	}
	met[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
		typesOf(t.Elem(), met)
	case reflect.Func:
		for i := range t.NumIn() {
			typesOf(t.In(i), met)
		}
		for i := range t.NumOut() {
			typesOf(t.Out(i), met)
		}
	case reflect.Struct:
		if strings.HasPrefix(t.PkgPath(), reflect.TypeFor[client.Client]().PkgPath()) {
			for i := range t.NumField() {
				typesOf(t.Field(i).Type, met)
			}
		}
	}
}

// TestAbsentTimesAreAbsent writes the zero value of every type that the client returns.
func TestAbsentTimesAreAbsent(t *testing.T) {
	c := reflect.TypeFor[*client.Client]()
	met := map[reflect.Type]bool{}
	for i := range c.NumMethod() {
		for j := range c.Method(i).Type.NumOut() {
			typesOf(c.Method(i).Type.Out(j), met)
		}
	}
	structs := 0
	for of := range met {
		if of.Kind() != reflect.Struct || of == c.Elem() ||
			of.PkgPath() != c.Elem().PkgPath() {
			continue
		}
		structs++
		text, err := json.Marshal(reflect.New(of).Interface())
		if err != nil && !strings.Contains(err.Error(), "unsupported type") {
			t.Errorf("%v: %v", of, err)
		}
		if strings.Contains(string(text), "0001-01-01") {
			t.Errorf("%v is %s", of, text)
		}
	}
	if structs < 60 {
		t.Errorf("only %d types were met", structs)
	}
}

package rest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// filled returns a value of a type in which every member has a value, so that its JSON has each of
// its members.
func filled(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	if depth == 0 {
		return v
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem(), depth-1))
	case reflect.Struct:
		if t.ConvertibleTo(reflect.TypeFor[time.Time]()) {
			v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()).Convert(t))
			break
		}
		for i := range t.NumField() {
			if f := v.Field(i); f.CanSet() {
				f.Set(filled(f.Type(), depth-1))
			}
		}
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("1"))
			break
		}
		v.Set(reflect.Append(v, filled(t.Elem(), depth-1)))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(filled(t.Key(), depth-1), filled(t.Elem(), depth-1))
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	}
	return v
}

// members returns the names in the JSON of a value.
func members(t *testing.T, v reflect.Value) []string {
	t.Helper()
	text, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%s is no object: %s", v.Type(), text)
	}
	return slices.Sorted(maps.Keys(object))
}

// Each type that is sent or read has in the document the members that it has in Go, no more and no
// fewer, and those are required that are always sent.
func TestTheDocumentHasTheMembersOfEachType(t *testing.T) {
	a := New(NewRouter(nil, Options{}), Deps{})
	registry := a.huma.OpenAPI().Components.Schemas
	seen := 0
	for name, schema := range registry.Map() {
		made := registry.TypeFromRef("#/components/schemas/" + name)
		if schema.Type != huma.TypeObject || made == nil || made.Kind() != reflect.Struct {
			continue
		}
		seen++
		want := members(t, filled(made, 6))
		if got := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has the members %v, and its JSON %v", name, got, want)
		}
		always := members(t, reflect.New(made).Elem())
		required := slices.Sorted(slices.Values(schema.Required))
		if !slices.Equal(always, required) {
			t.Errorf("%s requires %v, and its zero value has %v", name, required, always)
		}
	}
	if seen < 100 {
		t.Errorf("%d types: these cannot be all", seen)
	}
}

// Names of types are those that a generated client has in its code.
func TestTypesHaveReadableNames(t *testing.T) {
	a := New(NewRouter(nil, Options{}), Deps{})
	for name := range a.huma.OpenAPI().Components.Schemas.Map() {
		for _, bad := range []string{"WorkLine", "Document", "[", "·", "/", "."} {
			if strings.Contains(name, bad) {
				t.Errorf("a type is called %s", name)
			}
		}
		for i := 1; i < len(name)/2+1; i++ {
			if len(name)%2 == 0 && name[:len(name)/2] == name[len(name)/2:] {
				t.Errorf("a type is called %s", name)
				break
			}
		}
	}
}

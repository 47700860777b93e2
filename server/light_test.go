package server_test

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

// heavy are the kit's types of which a package compiles all methods as soon as it sees one.
var heavy = regexp.MustCompile(`^(Entity|Pattern|Field|Union)\[`)

// A package that names a system does not see the kit's types of its model: it would compile
// thousands of functions that are compiled already. What unexported methods lead to is not seen
// here.
func TestSystemsHideTheTypesOfTheirModels(t *testing.T) {
	for _, system := range []reflect.Type{
		reflect.TypeFor[*ledger.Ledger](), reflect.TypeFor[*payments.Scheduler](),
		reflect.TypeFor[*statements.Person](), reflect.TypeFor[*rates.Board](),
		reflect.TypeFor[*locations.Directory](),
	} {
		if path := pathToHeavy(system, map[reflect.Type]bool{}); path != "" {
			t.Errorf("%v leads to a type of the kit: %s", system, path)
		}
	}
	bad := reflect.TypeFor[struct {
		inner *struct {
			f singletable.Field[struct{}, string]
		}
	}]()
	if pathToHeavy(bad, map[reflect.Type]bool{}) == "" {
		t.Error("what leads to a type of the kit is not noticed")
	}
}

// pathToHeavy returns how a type leads to a heavy one, "" if it does not.
func pathToHeavy(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	if heavy.MatchString(t.Name()) {
		return t.Name()
	}
	var next []reflect.Type
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			next = append(next, t.Field(i).Type)
		}
	case reflect.Map:
		next = append(next, t.Key(), t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		next = append(next, t.Elem())
	case reflect.Func:
		for i := range t.NumIn() {
			next = append(next, t.In(i))
		}
		for i := range t.NumOut() {
			next = append(next, t.Out(i))
		}
	}
	for i := range t.NumMethod() {
		next = append(next, t.Method(i).Type)
	}
	for _, n := range next {
		if path := pathToHeavy(n, seen); path != "" {
			return t.String() + " > " + path
		}
	}
	return ""
}

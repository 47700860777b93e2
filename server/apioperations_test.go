package server_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/api"
)

// Every operation of package api is served, and the document describes it as the package does.
func TestEveryOperationOfTheAPIIsServed(t *testing.T) {
	text, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Summary     string
			Tags        []string
			Security    []map[string][]string
			Responses   map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, o := range api.Operations() {
		served, ok := document.Paths[o.Path][strings.ToLower(o.Method)]
		if !ok {
			t.Errorf("%s %s is not served", o.Method, o.Path)
			continue
		}
		if served.OperationID != o.ID || served.Summary != o.Summary ||
			!slices.Equal(served.Tags, []string{o.Chapter.Name}) ||
			!slices.Equal(served.Security[0]["key"], []string{string(o.Scope)}) {
			t.Errorf("%s is described as %+v", o.ID, served)
		}
		for _, code := range o.Problems {
			if !mentioned(served.Responses, "`"+string(code)+"`") {
				t.Errorf("%s may report %s, which is not in its description", o.ID, code)
			}
		}
	}
}

// mentioned reports whether an answer of an operation has a text.
func mentioned(responses map[string]json.RawMessage, text string) bool {
	for _, response := range responses {
		if strings.Contains(string(response), text) {
			return true
		}
	}
	return false
}

package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A list is compared when all is quiet: it is followed to its end, and has exactly the rows that
// the model has, or those of a list that was compared with the model that its filter selects.

// keysOf follows a list to its end and returns the keys of its rows in its order.
func keysOf[T any](rows iter.Seq2[T, error], key func(T) string) ([]string, error) {
	var keys []string
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		keys = append(keys, key(row))
	}
	return keys, nil
}

// rowsOf is a list that comes in one piece.
func rowsOf[T any](rows []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// sameRows reports how a list differs from the rows that it must have, in whatever order.
func sameRows[T any](
	what string, rows iter.Seq2[T, error], key func(T) string, want []string,
) error {
	got, err := keysOf(rows, key)
	if err != nil {
		return cannotTell("list "+what, err)
	}
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		return fmt.Errorf("the list of %s has\n  %s\nand must have\n  %s", what,
			strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	return nil
}

// selected returns the keys of the rows that a filter selects.
func selected[T any](rows iter.Seq[T], key func(T) string, in func(T) bool) (keys []string) {
	for row := range rows {
		if in(row) {
			keys = append(keys, key(row))
		}
	}
	return keys
}

// firstError makes comparisons until one fails.
func firstError(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// notLists are the reading operations that answer with several things and are compared by no list:
// by their ids, and why.
var notLists = map[string]string{
	// What answers about one item, with its parts.
	"get-bank-transaction": "one row, which the lists have as a whole",
	"get-rule":             "one rule, which the list has as a whole",
	"get-upload":           "one upload; the files of rounds leave no questions, which sendFile checks",
	"get-rate":             "one rate, with those that it was derived from",
	"get-transaction":      "one transaction with its legs, which readEntries reads",
	"plan-undo":            "what an undo would do; an undo says it too",
	// What is about the program and its tables.
	"list-patterns":           "patterns are of the program, not of the store",
	"get-pattern":             "patterns are of the program, not of the store",
	"list-tables":             "tables are of the program; no client changes them",
	"get-table":               "tables are of the program; no client changes them",
	"check-tables":            "tables are of the program; no client changes them",
	"list-payment-shards":     "the layout, which no client of a round changes",
	"list-transaction-shards": "the layout, which no client of a round changes",
	"list-keys":               "keys of the API, which no client of a round has",
}

// answered are operations of the API that have answered a GET while all was quiet.
type answered struct {
	method []*regexp.Regexp // By the operations.
	ids    []string
	seen   map[string]bool
}

// newAnswered reads the operations of the OpenAPI document.
func newAnswered(document *openAPI) *answered {
	a := &answered{seen: map[string]bool{}}
	// Paths without parameters come first: they match themselves alone.
	paths := slices.SortedFunc(maps.Keys(document.Paths), func(a, b string) int {
		return cmp.Or(strings.Count(a, "{")-strings.Count(b, "{"), cmp.Compare(a, b))
	})
	parameter := regexp.MustCompile(`\\\{[^}]*\\\}`)
	for _, path := range paths {
		if o := document.Paths[path]["get"]; o != nil {
			form := parameter.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
			a.method = append(a.method, regexp.MustCompile("^"+form+"$"))
			a.ids = append(a.ids, o.ID)
		}
	}
	return a
}

// note notes that a request was answered.
func (a *answered) note(r *http.Request, status int) {
	if a == nil || r.Method != http.MethodGet || status != http.StatusOK {
		return
	}
	for n, form := range a.method {
		if form.MatchString(r.URL.Path) {
			a.seen[a.ids[n]] = true
			return
		}
	}
}

// openAPI is what is read of the OpenAPI document.
type openAPI struct {
	Paths      map[string]map[string]*openOperation `json:"paths"`
	Components struct {
		Schemas map[string]*openSchema `json:"schemas"`
	} `json:"components"`
}

type openOperation struct {
	ID        string `json:"operationId"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema *openSchema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

type openSchema struct {
	Ref        string                 `json:"$ref"`
	Properties map[string]*openSchema `json:"properties"`
	Items      *openSchema            `json:"items"`
}

func readOpenAPI(t *testing.T) *openAPI {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	document := &openAPI{}
	if err := json.Unmarshal(text, document); err != nil {
		t.Fatal(err)
	}
	return document
}

func (d *openAPI) resolved(s *openSchema) *openSchema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	return s
}

// lists returns the ids of the operations that answer a GET with an array of objects.
func (d *openAPI) lists() (ids []string) {
	for _, operations := range d.Paths {
		o := operations["get"]
		if o == nil {
			continue
		}
		is := false
		for _, content := range o.Responses["200"].Content {
			s := d.resolved(content.Schema)
			if s == nil {
				continue
			}
			for name, p := range s.Properties {
				p = d.resolved(p)
				is = is || name != "unreadable" && p != nil && p.Items != nil &&
					d.resolved(p.Items).Properties != nil
			}
		}
		if is {
			ids = append(ids, o.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// TestEveryListIsCompared plays a round that has each operation, and checks that each list of the
// API was followed while all was quiet, unless there is a reason to leave it out.
func TestEveryListIsCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("a round of every call is long with the race detector, and is about no race")
	}
	document := readOpenAPI(t)
	lists := document.lists()
	if len(lists) < 20 {
		t.Fatalf("the OpenAPI document has only the lists %v", lists)
	}
	seen := newAnswered(document)
	p := plan{Seed: 4, Pause: 5 * time.Millisecond}
	for n, do := range slices.Sorted(maps.Keys(deeds)) {
		s := step{Client: n % clientsMax, ID: n + 1, Do: do, A: n, B: n, C: n}
		p.Steps = append(p.Steps, s)
	}
	p.Steps = append(p.Steps, step{ID: len(p.Steps) + 1, Do: "import file"})
	if history, err := play(t, p, seen, nil); err != nil {
		t.Fatalf("%v\n%s", err, history)
	}
	for _, id := range lists {
		reason := notLists[id]
		switch {
		case !seen.seen[id] && reason == "":
			t.Errorf("operation %s answers with a list that no round compares when all is quiet: "+
				"compare it, or say in notLists why not", id)
		case strings.HasPrefix(id, "list-") && seen.seen[id] && reason != "":
			t.Errorf("list %s is left out (%s), and a round reads it", id, reason)
		}
	}
	for id := range notLists {
		if !slices.Contains(lists, id) {
			t.Errorf("notLists has %s, which is no list of the API", id)
		}
	}
}

package server_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

var update = flag.Bool("update", false, "rewrite the pages under docs")

// Pages under docs that come from code are what the code says.
func TestGeneratedPages(t *testing.T) {
	w := start(t, func(o *server.Options) { o.Version = "" })
	for name, made := range map[string]func(*testing.T) []byte{
		"openapi.json": func(*testing.T) []byte {
			return []byte(w.send(get, "/openapi.json", "").body)
		},
		"errors.md":   errorsPage,
		"patterns.md": patternsPage,
		"keys.md":     keysPage,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "docs", name)
			want := made(t)
			if *update {
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("docs/%s is not what the code says: run go generate ./server", name)
			}
		})
	}
}

const generated = "<!-- Made by go generate ./server from the code. Do not edit. -->\n\n"

func errorsPage(*testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Problems\n\n" + generated)
	b.WriteString("What goes wrong is told by a kind, a code, a sentence and a hint: by the Go packages as\n" +
		"`*problem.Error`, by the API as a problem document (RFC 9457), by the command line as text.\n" +
		"Codes and kinds are only ever added, so programs may branch on them. Words in braces are\n" +
		"filled in, and are in the member `details` by these names. Of several problems that apply, a\n" +
		"system reports the one that comes first in its list.\n\n" +
		"A shared problem has one code for all systems, and the detail `system` names the system that\n" +
		"reports it. Each wrong field has `in`: the part of the request that has it (`body`, `query`,\n" +
		"`path` or `header`).\n\n## Kinds\n\n| kind | HTTP status |\n|---|---|\n")
	for _, kind := range problem.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %d |\n", kind, rest.Status(kind, ""))
	}
	for _, c := range rest.Catalogues() {
		fmt.Fprintf(&b, "\n## %s\n\n", title(c.Name()))
		b.WriteString("| code | kind | status | what is wrong | what to try next |\n|---|---|---|---|---|\n")
		for _, d := range c.Definitions() {
			if d.System() != "" {
				fmt.Fprintf(&b, "| `%s` | `%s` | %d | [shared](#shared-problems) | %s |\n",
					d.Code(), d.Kind(), rest.Status(d.Kind(), d.Code()), sentence(d.Hint()))
				continue
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %d | %s. | %s |\n", d.Code(), d.Kind(),
				rest.Status(d.Kind(), d.Code()), d.Sentence(), sentence(d.Hint()))
		}
	}
	e := problem.From(io.EOF)
	fmt.Fprintf(&b, "\n## Everything else\n\n| code | kind | status | what is wrong | what to try next |\n"+
		"|---|---|---|---|---|\n| `%s` | `%s` | %d | %s. | %s |\n", e.Code, e.Kind,
		rest.Status(e.Kind, e.Code), e.Sentence, sentence(e.Hint))
	return b.Bytes()
}

// title returns the heading of a catalogue.
func title(name string) string {
	switch name {
	case "shared":
		return "Shared problems"
	case "api":
		return "The API"
	case "keys":
		return "API keys"
	case "tokens":
		return "Tokens of users"
	}
	return "The " + name
}

func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

func ledgerModel(t *testing.T) *singletable.Model {
	l, err := ledger.New(singletable.NewStore(nil, singletable.Options{}), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Model()
}

func paymentsModel(t *testing.T) *singletable.Model {
	store := singletable.NewStore(nil, singletable.Options{})
	s, err := payments.New(store, nil, payments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Model()
}

func locationsModel(t *testing.T) *singletable.Model {
	d, err := locations.New(singletable.NewStore(nil, singletable.Options{}), locations.Options{
		TableName:    locations.TableNameDefault,
		CreatedIndex: true, CodeIndex: true, NameIndex: true, CellIndex: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d.Model()
}

func ratesModel(t *testing.T) *singletable.Model {
	b, err := rates.New(singletable.NewStore(nil, singletable.Options{}), rates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b.Model()
}

func statementsModel(t *testing.T) *singletable.Model {
	b, err := statements.New(singletable.NewStore(nil, singletable.Options{}), statements.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b.Model()
}

// models returns the designs of all systems, with everything that is optional.
func models(t *testing.T) []*singletable.Model {
	return []*singletable.Model{
		ledgerModel(t), paymentsModel(t), locationsModel(t), ratesModel(t), statementsModel(t),
	}
}

func keysPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Keys\n\n" + generated)
	b.WriteString("What is stored where. A part in angle brackets is the attribute of that name, with `%`\n" +
		"and `#` in it percent-encoded; what follows a colon says how it is written.\n")
	var tables []*singletable.Table
	for _, m := range models(t) {
		tables = append(tables, m.Tables()...)
	}
	keys := apikey.NewKeyring(singletable.NewStore(nil, singletable.Options{}), nil)
	tables = append(tables, keys.Table())
	for _, table := range tables {
		fmt.Fprintf(&b, "\n## Table %s\n", table.Name())
		for _, e := range table.Entities() {
			fmt.Fprintf(&b, "\n### %s\n\n", e.Name)
			if e.About != "" {
				b.WriteString(sentence(e.About) + "\n\n")
			}
			b.WriteString("| where | partition key | sort key |\n|---|---|---|\n")
			for _, k := range e.Keys {
				where := cmp.Or(k.Index, "table")
				if k.Sparse {
					where += ", if all parts are there"
				}
				fmt.Fprintf(&b, "| %s | %s | %s |\n", where,
					equation(k.Partition, k.PartitionTemplate), equation(k.Sort, k.SortTemplate))
			}
			var names []string
			if e.Discriminator != "" {
				names = append(names, equation(e.Discriminator, e.Type))
			}
			for _, a := range e.Attributes {
				name := "`" + a.Name + "`"
				if a.Optional {
					name += " (optional)"
				}
				names = append(names, name)
			}
			fmt.Fprintf(&b, "\nAttributes: %s.\n", strings.Join(names, ", "))
		}
	}
	return b.Bytes()
}

// equation tells what an attribute is; there may be none, as where a key has no second part.
func equation(attribute, is string) string {
	if attribute == "" {
		return "none"
	}
	return fmt.Sprintf("`%s` = `%s`", attribute, is)
}

func patternsPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Access patterns\n\n" + generated)
	b.WriteString("Every question that a system asks of its tables. `exchequer patterns run NAME INPUT=VALUE`\n" +
		"runs one and shows its requests, its cost and its rows.\n\n" +
		"| system | pattern | what it answers | read | rows are |\n|---|---|---|---|---|\n")
	var patterns []singletable.AccessPattern
	for _, m := range models(t) {
		patterns = append(patterns, m.Patterns()...)
		for _, p := range m.Patterns() {
			i := p.Info()
			fmt.Fprintf(&b, "| %s | [`%s`](#%s) | %s | %s | %s |\n", m.Name(), i.Name, i.Name,
				i.Description, cmp.Or(i.Index, "table"), strings.Join(i.Entities, ", "))
		}
	}
	for _, p := range patterns {
		i := p.Info()
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```\n%s %s", i.Name, i.Description, i.Kind, i.Table)
		if i.Index != "" {
			fmt.Fprintf(&b, " index %s", i.Index)
		}
		fmt.Fprintf(&b, "\nwhere %s\n", cmp.Or(i.Where, "everything"))
		if i.Partitions != "1" {
			fmt.Fprintf(&b, "partitions %s\n", i.Partitions)
		}
		order := "ascending"
		if i.Descending {
			order = "descending"
		}
		fmt.Fprintf(&b, "order %s\n", order)
		if i.Consistent {
			b.WriteString("read consistently\n")
		}
		b.WriteString("```\n")
		if len(i.Inputs) > 0 {
			b.WriteString("\n| input | type | required | use |\n|---|---|---|---|\n")
		}
		for _, in := range i.Inputs {
			required := "no"
			if in.Required {
				required = "yes"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", in.Name, in.Type, required, in.Use)
		}
	}
	return b.Bytes()
}

// Patterns are shown and run by their names alone, whatever system they are of.
func TestNoTwoPatternsHaveOneName(t *testing.T) {
	systems := map[string]string{}
	for _, m := range models(t) {
		for _, p := range m.Patterns() {
			if other, taken := systems[p.Name()]; taken {
				t.Errorf("%s and %s have a pattern %s", other, m.Name(), p.Name())
			}
			systems[p.Name()] = m.Name()
		}
	}
}

func TestProblemsAreWellDeclared(t *testing.T) {
	if err := problem.Check(rest.Catalogues()...); err != nil {
		t.Error(err)
	}
	seen := map[int]problem.Kind{}
	for _, kind := range problem.Kinds() {
		status := rest.Status(kind, "")
		if status < 400 || status > 599 {
			t.Errorf("%s has status %d", kind, status)
		}
		if other, taken := seen[status]; taken {
			t.Errorf("%s and %s share status %d", kind, other, status)
		}
		seen[status] = kind
	}
	if got := rest.Status("newer", ""); got != http.StatusInternalServerError {
		t.Errorf("an unknown kind has status %d", got)
	}
}

// The page must be readable on a machine without a network, and lead nowhere.
func TestDocsStandAlone(t *testing.T) {
	w := start(t)
	page := w.send(get, "/docs", "")
	if page.status != http.StatusOK ||
		!strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Fatalf("status %d, %s", page.status, page.header.Get("Content-Type"))
	}
	for _, never := range []string{"<script", "src=", "http://", "https://", "@import", "url("} {
		if strings.Contains(page.body, never) {
			t.Errorf("the page has %q", never)
		}
	}
	csp := page.header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("its policy is %q", csp)
	}
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`id="([^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		if anchors[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		anchors[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		if !anchors[m[1]] {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
	for _, op := range w.operations() {
		if !strings.Contains(page.body, op.path) {
			t.Errorf("%s is not described", op.path)
		}
	}
	// Every problem's type leads to its row.
	for _, c := range rest.Catalogues() {
		for _, d := range c.Definitions() {
			if !anchors[string(d.Code())] {
				t.Errorf("%s is not described", d.Code())
			}
		}
	}
}

// The document is what it says it is, and whole: every reference leads somewhere, every operation
// and every parameter is described.
func TestOpenAPI(t *testing.T) {
	w := start(t)
	body := w.send(get, "/openapi.json", "").body
	var spec struct {
		OpenAPI    string
		Info       struct{ Title, Version string }
		Components struct{ Schemas map[string]any }
		Paths      map[string]map[string]struct {
			OperationID, Summary string
			Tags                 []string
			Parameters           []struct{ Name, In, Description string }
			Responses            map[string]struct{ Description string }
			RequestBody          *struct {
				Content map[string]struct {
					Schema  any
					Example any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &spec); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(spec.OpenAPI, "3.1") || spec.Info.Version != "test" {
		t.Errorf("it is OpenAPI %s of version %s", spec.OpenAPI, spec.Info.Version)
	}
	reference := regexp.MustCompile(`"#/components/schemas/([^"]+)"`)
	for _, m := range reference.FindAllStringSubmatch(body, -1) {
		if spec.Components.Schemas[m[1]] == nil {
			t.Errorf("there is no schema %s", m[1])
		}
	}
	for path, methods := range spec.Paths {
		for method, op := range methods {
			name := method + " " + path
			if op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s is not described", name)
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("%s: parameter %s is not described", name, p.Name)
				}
			}
			var codes []string
			for status := range op.Responses {
				codes = append(codes, status)
			}
			success := func(status string) bool { return strings.HasPrefix(status, "2") }
			if !slices.Contains(codes, "default") || !slices.ContainsFunc(codes, success) {
				t.Errorf("%s has the answers %v", name, codes)
			}
			if op.RequestBody == nil {
				continue
			}
			for media, content := range op.RequestBody.Content {
				if media == "application/json" && content.Example == nil {
					t.Errorf("%s has no example", name)
				}
			}
		}
	}
}

// Whatever an operation answers with is in its description, and the other way round it is refused.
func TestExamplesAreAccepted(t *testing.T) {
	w := start(t)
	var spec struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]struct{ Example json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal([]byte(w.send(get, "/openapi.json", "").body), &spec); err != nil {
		t.Fatal(err)
	}
	path := strings.NewReplacer("{id}", "x", "{name}", "transactions-by-status",
		"{date}", "2026-01-01", "{base}", "USD", "{target}", "EUR")
	for p, methods := range spec.Paths {
		for method, op := range methods {
			if op.RequestBody == nil {
				continue
			}
			content, reads := op.RequestBody.Content["application/json"]
			if !reads {
				continue // It is a file.
			}
			example := string(content.Example)
			r := w.send(strings.ToUpper(method), path.Replace(p), example,
				"Idempotency-Key", "example")
			// What it names does not exist here; its form is right.
			if r.status == http.StatusBadRequest || r.status >= 500 {
				t.Errorf("%s %s: status %d: %s", method, p, r.status, r.body)
			}
		}
	}
}

package server_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/test/contract"
)

// Each example of the document is what its schema allows: of bodies, parameters and answers.
func TestExamplesConformToTheDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("requests come one after another, so a short run would find no race")
	}
	w := start(t)
	c, err := contract.Parse([]byte(w.send(get, "/openapi.json", "").body))
	if err != nil {
		t.Fatal(err)
	}
	findings, seen := c.Examples()
	for _, finding := range findings {
		t.Error(finding)
	}
	if seen < 200 {
		t.Errorf("%d examples: these cannot be all", seen)
	}
}

// A watcher that finds nothing proves nothing: it must see each way in which an exchange can differ
// from the document.
func TestTheContractNoticesWhatDiffers(t *testing.T) {
	w := start(t)
	w.furnish()
	account := w.send(get, "/v1/accounts/alice", "").body
	for _, c := range []struct {
		name         string
		method, path string
		sent         string
		status       int
		header       [2]string
		body         string
		want         string
	}{
		{"an unknown member of a body that is accepted", post, "/v1/merchants",
			`{"name":"n","colour":"red"}`, 201, [2]string{"Location", "/v1/merchants/x"},
			`{"id":"x","name":"n","createdAt":"2026-01-02T10:30:00.000Z"}`, "colour"},
		{"a body without a member", post, "/v1/merchants", `{"id":"m"}`, 201,
			[2]string{"Location", "/v1/merchants/m"},
			`{"id":"m","name":"n","createdAt":"2026-01-02T10:30:00.000Z"}`, "name"},
		{"an unknown parameter that is accepted", get, "/v1/accounts?colour=red", "", 200,
			[2]string{}, `{"items":[]}`, "colour"},
		{"a parameter out of its bounds", get, "/v1/accounts?limit=0", "", 200, [2]string{},
			`{"items":[]}`, "limit"},
		{"an answer without a member", get, "/v1/accounts/alice", "", 200,
			[2]string{"ETag", `"1"`}, strings.Replace(account, "balance", "saldo", 1), "balance"},
		{"an unknown status of a thing", get, "/v1/accounts/alice", "", 200,
			[2]string{"ETag", `"1"`}, strings.Replace(account, `"active"`, `"open"`, 1), "status"},
		{"an instant that is none", get, "/v1/accounts/alice", "", 200, [2]string{"ETag", `"1"`},
			strings.Replace(account, `"createdAt":"`, `"createdAt":"on `, 1), "createdAt"},
		{"a header that is not described", get, "/v1/accounts/alice", "", 200,
			[2]string{"X-Colour", "red"}, account, "X-Colour"},
		{"a status that is not described", get, "/v1/accounts/alice", "", 418, [2]string{}, "{}",
			"status is not described"},
		{"a problem of another operation", get, "/v1/accounts/alice", "", 404, [2]string{},
			`{"type":"/docs#x","title":"x","status":404,"detail":"x","kind":"not_found",` +
				`"code":"merchant_not_found"}`, "code"},
		{"a problem that nobody defined", get, "/v1/accounts/alice", "", 404, [2]string{},
			`{"type":"/docs#x","title":"x","status":404,"detail":"x","kind":"not_found",` +
				`"code":"colour_not_found"}`, "code"},
		{"an operation that is not described", get, "/v1/colours", "", 200, [2]string{}, "{}",
			"does not have this operation"},
		{"a line of a stream", post, "/v1/payments/run", `{}`, 200,
			[2]string{"Content-Type", "application/x-ndjson"},
			`{"progress":{"colour":1}}` + "\n", "progress"},
	} {
		t.Run(c.name, func(t *testing.T) {
			watch := contract.Watch(t, w.server.Handler())
			h := watch.Handler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				rw.Header().Set("Content-Type", "application/json")
				if c.status >= 400 {
					rw.Header().Set("Content-Type", "application/problem+json")
				}
				if c.header[0] != "" {
					rw.Header().Set(c.header[0], c.header[1])
				}
				rw.WriteHeader(c.status)
				_, _ = rw.Write([]byte(c.body))
			}))
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.sent))
			if c.sent != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			findings := watch.Findings()
			if !strings.Contains(strings.Join(findings, "\n"), c.want) {
				t.Errorf("found %q, which does not name %s", findings, c.want)
			}
		})
	}
}

// documented is what the document says of an operation, as far as these tests read it.
type documented struct {
	OperationID string
	Parameters  []documentedParam
	RequestBody *struct {
		Content map[string]struct{ Example json.RawMessage }
	}
	Responses map[string]struct{ Headers map[string]any }
}

type documentedParam struct {
	Name, In string
	Required bool
	Schema   struct {
		Type     any
		Enum     []any
		Examples []any
	}
}

// documented returns the operations of the document by method and path.
func (w *world) documented() map[string]map[string]documented {
	w.t.Helper()
	var spec struct {
		Paths map[string]map[string]documented
	}
	if err := json.Unmarshal([]byte(w.send(get, "/openapi.json", "").body), &spec); err != nil {
		w.t.Fatal(err)
	}
	return spec.Paths
}

// example returns the example of the body of an operation, "" where it reads none.
func (d documented) example() string {
	if d.RequestBody == nil {
		return ""
	}
	return string(d.RequestBody.Content["application/json"].Example)
}

// taggedThings makes one of each thing that has an ETag, and returns where each is, by its path in
// the document.
func (w *world) taggedThings() map[string]string {
	w.t.Helper()
	ctx := w.t.Context()
	w.furnish()
	w.everyday()
	entry := must[client.Entry](w.t)(w.EntryByKey(ctx, "salary"))
	location := must[client.LocationReceipt](
		w.t,
	)(
		w.CreateLocation(ctx, place("akl-01", "Auckland")),
	)
	payment := w.schedule(due("rent", "1"))
	row := must[client.BankTransactionReceipt](w.t)(w.AddBankTransaction(ctx, "everyday",
		client.NewBankTransaction{
			IdempotencyKey: "row", Date: "2025-08-01", Amount: dec("-1"), Merchant: "Shop",
		}))
	must[client.Profile](w.t)(w.SaveProfile(ctx, "m@example.com", client.Preferences{}, 0))
	rule := w.send(post, "/v1/me/rules", w.documented()["/v1/me/rules"]["post"].example())
	return map[string]string{
		"/v1/accounts/{id}":         "/v1/accounts/bob",
		"/v1/transactions/{id}":     "/v1/transactions/" + string(entry.Transaction.ID),
		"/v1/locations/{id}":        "/v1/locations/" + string(location.ID),
		"/v1/payments/{id}":         "/v1/payments/" + string(payment.ID),
		"/v1/me/profile":            "/v1/me/profile",
		"/v1/me/accounts/{account}": "/v1/me/accounts/everyday",
		"/v1/me/rules/{rule}":       rule.header.Get("Location"),
		"/v1/me/accounts/{account}/transactions/{transaction}": "/v1/me/accounts/everyday" +
			"/transactions/" + string(row.ID),
	}
}

// resourceOf returns the longest path with an ETag that a path is, or is below, with nothing in
// between that can be read.
func resourceOf(spec map[string]map[string]documented, path string) string {
	for ; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if read, ok := spec[path]["get"]; ok {
			if _, tagged := read.Responses["200"].Headers["ETag"]; tagged {
				return path
			}
			return ""
		}
	}
	return ""
}

// Whatever has an ETag is changed only as If-Match allows (RFC 9110, 13.1.1), by every operation.
func TestEveryChangeHonoursIfMatch(t *testing.T) {
	w := start(t)
	spec := w.documented()
	things := w.taggedThings()
	tried := 0
	for _, path := range slices.Sorted(maps.Keys(spec)) {
		base := resourceOf(spec, path)
		for _, method := range slices.Sorted(maps.Keys(spec[path])) {
			if method == "get" {
				continue
			}
			op := spec[path][method]
			reads := slices.ContainsFunc(op.Parameters, func(p documentedParam) bool {
				return p.Name == "If-Match"
			})
			if base == "" {
				continue
			}
			t.Run(op.OperationID, func(t *testing.T) {
				w.t = t
				if !reads {
					t.Fatal("it changes what has an ETag, and does not read If-Match")
				}
				thing, ok := things[base]
				if !ok {
					t.Fatalf("there is nothing at %s to try it on", base)
				}
				tried++
				w.tryIfMatch(t, strings.ToUpper(method), thing, path[len(base):], op)
			})
		}
	}
	w.t = t
	if tried < 20 {
		t.Errorf("%d operations were tried: these cannot be all", tried)
	}
}

func (w *world) tryIfMatch(
	t *testing.T, method, thing, below string, op documented,
) {
	before := w.send(get, thing, "")
	tag := before.header.Get("ETag")
	if tag == "" {
		t.Fatalf("%s has no ETag: %s", thing, before.body)
	}
	path := thing + strings.ReplaceAll(below, "{annotation}", "none")
	for _, p := range op.Parameters {
		if p.In == "query" && p.Required {
			path += "?" + p.Name + "=" + p.Schema.Examples[0].(string)
		}
	}
	for _, c := range []struct {
		header string
		status int
	}{
		{`"x"`, 412}, {`W/` + tag, 412}, {`"x", W/"y"`, 412}, {`""`, 412}, {`"a,b"`, 412},
		{`x`, 400}, {`"x`, 400}, {`"x" "y"`, 400}, {`*, "x"`, 400}, {`w/"x"`, 400},
	} {
		r := w.send(method, path, op.example(), "If-Match", c.header)
		if r.status != c.status {
			t.Errorf("If-Match: %s has status %d: %s", c.header, r.status, r.body)
		}
	}
	if r := w.send(method, path, op.example(), "If-None-Match", tag); r.status != 412 {
		t.Errorf("If-None-Match: %s has status %d: %s", tag, r.status, r.body)
	}
	if after := w.send(get, thing, ""); after.body != before.body {
		t.Errorf("what was refused has changed %s to %s", before.body, after.body)
	}
}

// The tag that a resource has, in any form that the grammar allows, lets a change through.
func TestIfMatchAcceptsWhatTheGrammarAllows(t *testing.T) {
	if testing.Short() {
		t.Skip("requests come one after another, so a short run would find no race")
	}
	for _, form := range []string{
		"TAG", " TAG\t", `"x",TAG`, `"x" , W/"y",, TAG ,`, "*", `"é", TAG`,
	} {
		t.Run(form, func(t *testing.T) {
			w := start(t)
			things := w.taggedThings()
			for _, c := range []struct{ method, path, below, body string }{
				{http.MethodPut, "/v1/accounts/{id}", "/overdraft", `{"overdraftLimit":"9"}`},
				{post, "/v1/accounts/{id}", "/freeze", ""},
				{post, "/v1/accounts/{id}", "/unfreeze", ""},
				{post, "/v1/transactions/{id}", "/reverse", ""},
				{http.MethodPatch, "/v1/payments/{id}", "", `{"amount":"2"}`},
				{post, "/v1/payments/{id}", "/cancel", ""},
				{post, "/v1/accounts/{id}", "/close", ""}, // No payment stands in its way.
				{http.MethodPatch, "/v1/locations/{id}", "", `{"name":"x"}`},
				{http.MethodDelete, "/v1/locations/{id}", "", ""},
				{http.MethodPut, "/v1/me/profile", "", `{"email":"a@example.com"}`},
				{http.MethodPatch, "/v1/me/accounts/{account}", "", `{"name":"x"}`},
				{http.MethodDelete, "/v1/me/rules/{rule}", "", ""},
			} {
				thing := things[c.path]
				tag := w.send(get, thing, "").header.Get("ETag")
				r := w.send(c.method, thing+c.below, c.body, "If-Match",
					strings.ReplaceAll(form, "TAG", tag))
				if r.status >= 300 {
					t.Errorf("%s %s%s: status %d: %s", c.method, c.path, c.below, r.status, r.body)
				}
			}
		})
	}
}

// A condition on what has no ETag cannot be kept, and is not ignored.
func TestConditionsThatCannotBeKeptAreRefused(t *testing.T) {
	w := start(t)
	spec := w.documented()
	path := strings.NewReplacer("{id}", "x", "{name}", "x", "{date}", "2026-01-01", "{base}", "USD",
		"{target}", "EUR", "{account}", "x", "{upload}", "x", "{job}", "x", "{tag}", "x")
	for p, methods := range spec {
		for method, op := range methods {
			reads := slices.ContainsFunc(op.Parameters, func(p documentedParam) bool {
				return p.Name == "If-Match"
			})
			if method == "get" || reads {
				continue
			}
			for _, header := range []string{"If-Match", "If-None-Match"} {
				r := w.send(strings.ToUpper(method), path.Replace(p), op.example(), header, `"x"`,
					"Content-Type", "application/json")
				if p := r.problem(t); p.Code != "request_invalid" || r.status != 400 ||
					!slices.ContainsFunc(p.Fields, func(f problem.Field) bool {
						return f.Name == header
					}) {
					t.Errorf("%s with %s: status %d: %s", op.OperationID, header, r.status, r.body)
				}
			}
		}
	}
}

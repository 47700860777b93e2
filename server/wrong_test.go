package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/server"
)

// wrong is a request that is refused, and how.
type wrong struct {
	name         string
	method, path string
	body         string
	headers      []string
	status       int
	code         string
	// fields are the wrong fields, each with the beginning of what is wrong with it.
	fields []string
}

const (
	post     = http.MethodPost
	get      = http.MethodGet
	okLegs   = `"legs":[{"accountId":"alice","type":"debit","amount":"1","currency":"USD"},{"accountId":"bob","type":"credit","amount":"1","currency":"USD"}]`
	shortUSD = `"from":"alice","to":"bob","currency":"USD"`
)

// key is the header that most postings need.
var key = []string{"Idempotency-Key", "wrong"}

func wrongBodies() []wrong {
	return []wrong{
		{"no body", post, "/v1/transactions", "", append(key, "Content-Type", "application/json"),
			400, "request_invalid", []string{"body is missing"}},
		{"blank body", post, "/v1/transactions", " \n", key,
			400, "request_invalid", []string{"body is missing"}},
		{"not JSON", post, "/v1/transactions", "type=payment", key, 400, "body_malformed", nil},
		{"half of JSON", post, "/v1/transactions", `{"type":"pay`, key, 400, "body_malformed", nil},
		{"two values", post, "/v1/transactions", `{} {}`, key, 400, "body_malformed", nil},
		{"not UTF-8", post, "/v1/transactions", "{\"type\":\"\xff\"}", key,
			400, "body_malformed", nil},
		{"a list", post, "/v1/transactions", `[]`, key,
			400, "request_invalid", []string{"body must be an object"}},
		{"null", post, "/v1/transactions", `null`, key,
			400, "request_invalid", []string{"body must be an object"}},
		{"unknown members", post, "/v1/transactions",
			`{"type":"transfer","memo":"x",` + shortUSD + `,"legs":[{"acount":"a"}]}`, key,
			400, "request_invalid",
			[]string{"memo is not known here", "legs[0].acount is not known here"}},
		{"a member in another case", post, "/v1/transactions",
			`{"Type":"transfer",` + shortUSD + `,"amount":"1"}`, key,
			400, "request_invalid", []string{"Type is not known here"}},
		{"a member given twice", post, "/v1/transactions",
			`{"type":"transfer",` + shortUSD + `,"amount":"1","amount":"2"}`, key,
			400, "request_invalid", []string{"amount is given twice"}},
		{"a member given twice, once in escapes", post, "/v1/transactions",
			`{"type":"transfer",` + shortUSD + `,"amount":"1","\u0061mount":"2"}`, key,
			400, "request_invalid", []string{"amount is given twice"}},
		{"numbers for amounts", post, "/v1/transactions",
			`{"type":"transfer","amount":5.50,"legs":[{"amount":1}]}`, key,
			400, "request_invalid", []string{
				`amount must be a string such as "5.50": many programs round JSON numbers`,
				`legs[0].amount must be a string such as "5.50"`}},
		{"other kinds", post, "/v1/transactions",
			`{"type":1,"metadata":{"a":1},"legs":{},"description":["a",{"b":"]"}],"from":true}`, key,
			400, "request_invalid", []string{
				"type must be a string", "metadata.a must be a string", "legs must be a list",
				"description must be a string", "from must be a string"}},
		{"text for a number", post, "/v1/patterns/account-by-id/run", `{"limit":"10"}`, nil,
			400, "request_invalid", []string{"limit must be a whole number"}},
		{"a fraction for a whole number", post, "/v1/patterns/account-by-id/run", `{"limit":1.5}`,
			nil, 400, "request_invalid", []string{"limit must be a whole number"}},
		{"text for a truth", post, "/v1/accounts", `{"unlimited":"yes"}`, nil,
			400, "request_invalid", []string{"unlimited must be true or false"}},
		{"another media type", post, "/v1/accounts", "<a/>", []string{"Content-Type", "text/xml"},
			415, "media_type_unsupported", nil},
		{"too large", post, "/v1/transactions",
			`{"description":"` + strings.Repeat("x", server.BodyMax) + `"}`, key,
			413, "body_too_large", nil},
	}
}

func wrongPostings() []wrong {
	body := func(members string) string { return `{"type":"transfer",` + members + `}` }
	return []wrong{
		{"no key", post, "/v1/transactions", body(okLegs), nil,
			400, "idempotency_key_invalid", []string{"Idempotency-Key is missing"}},
		{"a long key", post, "/v1/transactions", body(okLegs),
			[]string{"Idempotency-Key", strings.Repeat("k", 256)},
			400, "idempotency_key_invalid", []string{"idempotencyKey is too long"}},
		{"neither form", post, "/v1/transactions", `{"type":"transfer"}`, key,
			400, "too_few_legs", []string{"legs must be"}},
		{"both forms", post, "/v1/transactions", body(okLegs + `,"from":"alice"`), key,
			400, "request_invalid", []string{"from must be left out where there are legs"}},
		{"half of the short form", post, "/v1/transactions", body(`"from":"alice"`), key,
			400, "request_invalid",
			[]string{"to is missing", "currency is missing", "amount is missing"}},
		{"no amount", post, "/v1/transactions", body(shortUSD + `,"amount":"much"`), key,
			400, "request_invalid", []string{`amount must be a plain decimal such as "5.50"`}},
		{"an exponent", post, "/v1/transactions", body(shortUSD + `,"amount":"1e3"`), key,
			400, "request_invalid", []string{`amount must be a plain decimal such as "5.50"`}},
		{"no currency there is", post, "/v1/transactions",
			body(`"from":"alice","to":"bob","amount":"1","currency":"usd"`), key,
			400, "request_invalid", []string{"currency must be a code of ISO 4217"}},
		{"no type", post, "/v1/transactions", `{` + okLegs + `}`, key,
			400, "request_invalid", []string{"type must be 1 to 32 lower-case letters"}},
		{"negative", post, "/v1/transactions", body(shortUSD + `,"amount":"-1"`), key,
			400, "amount_not_positive", []string{"legs[0].amount must be more than zero"}},
		{"three fraction digits", post, "/v1/transactions",
			body(shortUSD + `,"amount":"1.001"`), key,
			400, "too_many_fraction_digits", []string{"legs[0].amount must have at most 2"}},
		{"unbalanced", post, "/v1/transactions",
			body(strings.Replace(okLegs, `"amount":"1"`, `"amount":"2"`, 1)), key,
			400, "transaction_unbalanced", nil},
		{"unknown account", post, "/v1/transactions",
			body(`"from":"nobody","to":"bob","currency":"USD","amount":"1"`), key,
			404, "account_not_found", []string{"legs[0].accountId does not exist"}},
		{"unknown merchant", post, "/v1/transactions",
			`{"type":"payment","merchantId":"nobody","from":"alice","currency":"USD","amount":"1"}`,
			key, 404, "merchant_not_found", nil},
		{"other currency", post, "/v1/transactions",
			body(`"from":"alice","to":"bob","currency":"EUR","amount":"1"`), key,
			422, "currency_mismatch", []string{"legs[0].currency is not the account's"}},
		{"too much", post, "/v1/transactions", body(shortUSD + `,"amount":"100.01"`), key,
			422, "insufficient_funds", []string{"legs[0].amount is more than the account has"}},
		{"same key, other body", post, "/v1/transactions", body(shortUSD + `,"amount":"2"`),
			[]string{"Idempotency-Key", "salary"}, 409, "idempotency_conflict", nil},
	}
}

func wrongRequests() []wrong {
	return []wrong{
		{"nothing there", get, "/v1/nothing", "", nil, 404, "route_not_found", nil},
		{"nothing at all", get, "/favicon.ico", "", nil, 404, "route_not_found", nil},
		{"unknown method", http.MethodDelete, "/v1/accounts/alice", "", nil,
			405, "method_not_allowed", nil},
		{"unknown parameter", get, "/v1/accounts?size=3", "", nil,
			400, "request_invalid", []string{"size is not known here"}},
		{"no page", get, "/v1/accounts?limit=0", "", nil,
			400, "request_invalid", []string{"limit must be at least 1"}},
		{"a large page", get, "/v1/accounts?limit=1001", "", nil,
			400, "request_invalid", []string{"limit must be at most 1000"}},
		{"no number", get, "/v1/accounts?limit=many", "", nil,
			400, "request_invalid", []string{"limit must be a whole number"}},
		{"a bad cursor", get, "/v1/accounts?cursor=nonsense", "", nil, 400, "cursor_invalid", nil},
		{"no status", get, "/v1/transactions", "", nil,
			400, "request_invalid", []string{"status is missing"}},
		{"unknown status", get, "/v1/transactions?status=lost", "", nil,
			400, "request_invalid", []string{"status must be one of"}},
		{"no instant", get, "/v1/transactions?status=completed&from=yesterday", "", nil,
			400, "request_invalid", []string{"from must be an instant"}},
		{"a key and a status", get, "/v1/transactions?status=completed&idempotencyKey=k", "", nil,
			400, "request_invalid", []string{"idempotencyKey stands alone"}},
		{"legs of a status", get, "/v1/transactions?status=completed&legs=true", "", nil,
			400, "request_invalid", []string{"legs must be left out"}},
		{"no truth", get, "/v1/transactions/t?legs=maybe", "", nil,
			400, "request_invalid", []string{"legs must be true or false"}},
		{"no such day", get, "/v1/accounts/alice/statement?from=2026-02-30&to=2026-03-01", "", nil,
			400, "request_invalid", []string{"from"}},
		{"statement of nobody", get, "/v1/accounts/nobody/statement?from=2026-01-01&to=2026-01-31",
			"", nil, 404, "account_not_found", nil},
		{"a name for an account", post, "/v1/accounts",
			`{"id":"@mine","userId":"u","accountType":"checking","currency":"USD"}`, nil,
			400, "request_invalid", []string{"id must not begin with @"}},
		{"an account without anything", post, "/v1/accounts", `{}`, nil, 400, "request_invalid",
			[]string{"userId is missing", "currency must be a code"}},
		{"an overdraft of many digits", post, "/v1/accounts", `{"id":"o","userId":"u",` +
			`"accountType":"checking","currency":"USD","overdraftLimit":"1.001"}`, nil,
			400, "too_many_fraction_digits", []string{"overdraftLimit has too many"}},
		{"an overdraft in another currency", http.MethodPut, "/v1/accounts/alice/overdraft",
			`{"overdraftLimit":"1","currency":"EUR"}`, nil, 400, "request_invalid",
			[]string{"overdraftLimit must be in the account's currency"}},
		{"close an account with money", post, "/v1/accounts/alice/close", "", nil,
			422, "account_not_empty", nil},
		{"freeze one of the ledger's own", post, "/v1/accounts/@deposits-USD/freeze", "", nil,
			422, "account_is_system", nil},
		{"unknown pattern", get, "/v1/patterns/nothing", "", nil, 404, "pattern_not_found", nil},
		{"run an unknown pattern", post, "/v1/patterns/nothing/run", `{}`, nil,
			404, "pattern_not_found", nil},
		{"unknown key", post, "/v1/keys/0000/revoke", "", nil, 404, "api_key_not_found", nil},
		{"a key for nothing", post, "/v1/keys",
			`{"name":"","scopes":["all"],"expiresAt":"2020-01-01T00:00:00Z"}`,
			nil, 400, "request_invalid", []string{
				"name is missing", "scopes[0] must be one of", "expiresAt must be in the future"}},
		{"a key until whenever", post, "/v1/keys",
			`{"name":"n","scopes":["ledger:read"],"expiresAt":"soon"}`, nil,
			400, "request_invalid", []string{"expiresAt must be an instant"}},
	}
}

func TestWrongRequestsAreRefused(t *testing.T) {
	w := start(t)
	w.furnish()
	for _, group := range [][]wrong{wrongBodies(), wrongPostings(), wrongRequests()} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				w.t = t
				r := w.send(c.method, c.path, c.body, c.headers...)
				p := r.problem(t)
				if r.status != c.status || p.Code != c.code {
					t.Errorf("status %d, code %s: %s", r.status, p.Code, r.body)
				}
				if len(p.Fields) < len(c.fields) {
					t.Fatalf("fields %v", p.Fields)
				}
				for i, want := range c.fields {
					got := p.Fields[i].Name + " " + p.Fields[i].Wrong
					if !strings.HasPrefix(got, want) {
						t.Errorf("field %d: %s, want %s", i, got, want)
					}
				}
			})
		}
	}
	w.t = t
	// Nothing of all this has changed the books.
	if a, err := w.Account(t.Context(), "alice"); err != nil || a.Balance != usd("100") {
		t.Errorf("alice has %v, %v", a.Balance, err)
	}
}

func TestMethodNotAllowedTellsWhichAre(t *testing.T) {
	w := start(t)
	r := w.send(http.MethodPatch, "/v1/accounts", "")
	if got := r.header.Get("Allow"); !strings.Contains(got, "POST") || r.status != 405 {
		t.Errorf("status %d, allowed %q", r.status, got)
	}
	if p := r.problem(t); p.Details["method"] != "PATCH" || p.Details["path"] != "/v1/accounts" {
		t.Errorf("details %v", p.Details)
	}
}

func TestRequestIDs(t *testing.T) {
	w := start(t)
	got := w.send(get, "/healthz", "", "X-Request-Id", "my-id.7").header.Get("X-Request-Id")
	if got != "my-id.7" {
		t.Errorf("the id of the request became %q", got)
	}
	for _, bad := range []string{"", "two words", `a"b`, strings.Repeat("x", 65)} {
		got := w.send(get, "/healthz", "", "X-Request-Id", bad).header.Get("X-Request-Id")
		if got == bad || len(got) != 16 {
			t.Errorf("for the id %q the server took %q", bad, got)
		}
	}
}

func TestETags(t *testing.T) {
	w := start(t)
	w.furnish()
	e, err := w.EntryByKey(t.Context(), "salary")
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{}
	paths := []string{
		"/v1/accounts/alice", "/v1/merchants/coffee",
		"/v1/transactions/" + string(e.Transaction.ID),
		"/v1/transactions/" + string(e.Transaction.ID) + "?legs=true",
	}
	for _, path := range paths {
		tags[path] = w.send(get, path, "").header.Get("ETag")
		for _, known := range []string{tags[path], "W/" + tags[path], `"x", ` + tags[path], "*"} {
			r := w.send(get, path, "", "If-None-Match", known)
			if r.status != http.StatusNotModified || r.body != "" ||
				r.header.Get("ETag") != tags[path] {
				t.Errorf("%s with %s: status %d, body %q", path, known, r.status, r.body)
			}
		}
		if r := w.send(get, path, "", "If-None-Match", `"x"`); r.status != 200 || r.body == "" {
			t.Errorf("%s with another tag: status %d", path, r.status)
		}
	}
	w.send(post, "/v1/transactions/"+string(e.Transaction.ID)+"/reverse", "{}")
	w.send(post, "/v1/accounts/alice/freeze", "")
	for _, path := range paths {
		changed := w.send(get, path, "").header.Get("ETag") != tags[path]
		if changed == strings.Contains(path, "merchants") {
			t.Errorf("%s: the tag changed is %v", path, changed)
		}
	}
}

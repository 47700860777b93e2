package server_test

import (
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/problem"
)

// Each wrong field names the part of the request that has it, and a shared problem the system of
// the operation, whoever finds the fault: the framework, the API or a system.
func TestFieldsNameTheirPartOfTheRequest(t *testing.T) {
	w := start(t)
	w.furnish()
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		code                     string
		field                    string
		in                       problem.In
		system                   string
	}{
		{"the framework, a parameter", get, "/v1/accounts?limit=0", "", nil,
			"request_invalid", "limit", problem.InQuery, "ledger"},
		{"an unknown parameter", get, "/v1/locations?colour=1", "", nil,
			"request_invalid", "colour", problem.InQuery, "locations"},
		{"the path", get, "/v1/accounts/" + long, "", nil,
			"request_invalid", "id", problem.InPath, "ledger"},
		{"a member", post, "/v1/payments", `{"colour":1}`, nil,
			"request_invalid", "colour", problem.InBody, "payments"},
		{"no body", post, "/v1/accounts", "", []string{"Content-Type", "application/json"},
			"request_invalid", "body", problem.InBody, "ledger"},
		{"a member that the system refuses", post, "/v1/accounts",
			`{"userId":"u","currency":"usd"}`, nil,
			"request_invalid", "currency", problem.InBody, "ledger"},
		{"a parameter that the system refuses", get,
			"/v1/accounts/alice/statement?from=2026-02-01&to=2026-01-01", "", nil,
			"request_invalid", "to", problem.InQuery, "ledger"},
		{"a header", post, "/v1/transactions", `{"type":"transfer",` + okLegs + `}`,
			[]string{"Idempotency-Key", long},
			"idempotency_key_invalid", "idempotencyKey", problem.InHeader, "ledger"},
		{"a leg", post, "/v1/transactions",
			`{"type":"transfer",` + strings.Replace(okLegs, `"1"`, `"-1"`, 1) + `}`, key,
			"amount_not_positive", "legs[0].amount", problem.InBody, "ledger"},
		{"a cursor", get, "/v1/rates?cursor=x", "", nil, "cursor_invalid", "", "", "rates"},
		{"a cursor of a pattern", post, "/v1/patterns/account-by-id/run",
			`{"inputs":{"ID":"x"},"cursor":"x"}`, nil, "cursor_invalid", "", "", "store"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.send(c.method, c.path, c.body, c.headers...)
			p := r.problem(t)
			if p.Code != c.code || p.Details[problem.DetailSystem] != c.system {
				t.Fatalf("want %s of %s: %s", c.code, c.system, r.body)
			}
			if c.field == "" {
				return
			}
			if len(p.Fields) == 0 || p.Fields[0].Name != c.field || p.Fields[0].In != c.in {
				t.Errorf("want the field %s in %s: %s", c.field, c.in, r.body)
			}
		})
	}
}

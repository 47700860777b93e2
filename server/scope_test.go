package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// families are the scopes' families by the first part of a path.
var families = map[string]string{
	"accounts": "ledger", "merchants": "ledger", "transactions": "ledger", "users": "ledger",
	"reconciliation": "ledger", "payments": "payments", "locations": "locations",
	"rates": "rates", "me": "statements", "keys": "keys", "tables": "store", "model": "store",
	"patterns": "store",
}

// scopeExceptions are the operations whose scope does not follow from method and path: what is
// posted and changes nothing, what belongs to another family, and what only an administrator may.
var scopeExceptions = map[string]string{
	"POST /v1/reconciliation":         "ledger:read",
	"POST /v1/patterns/{name}/run":    "store:read",
	"POST /v1/me/rules/preview":       "statements:read",
	"GET /v1/accounts/{id}/payments":  "payments:read",
	"POST /v1/accounts/{id}/close":    "ledger:admin",
	"POST /v1/accounts/{id}/freeze":   "ledger:admin",
	"POST /v1/accounts/{id}/unfreeze": "ledger:admin",
	"PUT /v1/accounts/{id}/overdraft": "ledger:admin",
	"POST /v1/locations/reindex":      "locations:admin",
	"POST /v1/locations/repair":       "locations:admin",
	"POST /v1/locations/{id}/release": "locations:admin",
	"POST /v1/transactions/shards":    "ledger:admin",

	"POST /v1/transactions/repair-dates": "ledger:admin",

	"POST /v1/tables":           "store:admin",
	"GET /v1/keys":              "keys:admin",
	"POST /v1/keys":             "keys:admin",
	"POST /v1/keys/{id}/revoke": "keys:admin",
}

// TestTheScopeOfEachOperationIsTheRulesOwn holds the scopes against a rule that is written down
// here a second time, so that one that is weakened by mistake does not only change the document.
// An operation that is new and no exception reads with GET and writes with everything else.
func TestTheScopeOfEachOperationIsTheRulesOwn(t *testing.T) {
	w := start(t)
	met := map[string]bool{}
	for _, op := range w.operations() {
		name := op.method + " " + op.path
		first, _, _ := strings.Cut(strings.TrimPrefix(op.path, "/v1/"), "/")
		want, special := scopeExceptions[name]
		switch {
		case special:
			met[name] = true
		case families[first] == "":
			t.Errorf("%s: no family of scopes is known for %q", name, first)
			continue
		case op.method == http.MethodGet:
			want = families[first] + ":read"
		default:
			want = families[first] + ":write"
		}
		if op.scope != want {
			t.Errorf("%s asks for %s, want %s; if that is meant, add it to the exceptions", name,
				op.scope, want)
		}
	}
	for name := range scopeExceptions {
		if !met[name] {
			t.Errorf("%s is an exception, but there is no such operation", name)
		}
	}
}

package server_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

func TestMetrics(t *testing.T) {
	w := start(t)
	w.furnish()
	p := client.Posting{
		IdempotencyKey: "k", Type: client.Payment, From: "alice", To: "bob", Amount: usd("1"),
	}
	must[client.Receipt](t)(w.Post(t.Context(), p))
	must[client.Receipt](t)(w.Post(t.Context(), p))
	p.IdempotencyKey, p.Amount, p.Type = "k2", usd("1000"), "my_own_word"
	if _, err := w.Post(t.Context(), p); !errors.Is(err, ledger.ErrInsufficientFunds) {
		t.Fatal(err)
	}
	must[client.Page[client.Leg]](t)(w.LegsOfAccount(t.Context(), "alice", client.PageQuery{}))
	w.send("BREW", "/coffee", "")
	r := w.send(get, "/metrics", "")
	if r.status != http.StatusOK {
		t.Fatalf("status %d", r.status)
	}
	// A strict store ends pages early, so that a list takes one call or more.
	calls, units := " 1", " 0.5"
	if storetest.Strict() {
		calls, units = " ", " "
	}
	for _, want := range []string{
		`exchequer_http_request_duration_seconds_count{method="POST",route="/v1/transactions",status="201"} 2`,
		`exchequer_http_request_duration_seconds_count{method="POST",route="/v1/transactions",status="200"} 1`,
		`exchequer_http_request_duration_seconds_count{method="GET",route="/v1/accounts/{id}/legs",status="200"} 1`,
		`exchequer_http_request_duration_seconds_count{method="other",route="none",status="404"} 1`,
		`exchequer_postings_total{outcome="posted",type="payment"} 1`,
		`exchequer_postings_total{outcome="replayed",type="payment"} 1`,
		`exchequer_postings_total{outcome="refused",type="other"} 1`,
		`exchequer_problems_total{code="insufficient_funds"} 1`,
		`exchequer_store_call_duration_seconds_count{index="GSI1",operation="Query",pattern="legs-of-account",table="FinancialTransactions"}` + calls,
		`exchequer_store_capacity_units_total{index="GSI1",kind="read",operation="Query",pattern="legs-of-account",table="FinancialTransactions"}` + units,
		`exchequer_engine_gets_total `,
		`go_goroutines `,
	} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the measurements have no %s", want)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(r.body) {
			if strings.HasPrefix(line, "exchequer_") && !strings.Contains(line, "_bucket") {
				t.Log(strings.TrimSpace(line))
			}
		}
	}
}

func TestRequestsAreLogged(t *testing.T) {
	w := start(t)
	w.furnish()
	w.send(get, "/v1/accounts/nobody", "", "X-Request-Id", "look-for-me")
	for line := range strings.Lines(w.log.String()) {
		if !strings.Contains(line, "id=look-for-me") {
			continue
		}
		for _, want := range []string{
			"level=INFO", "method=GET", "path=/v1/accounts/nobody", "status=404",
			"code=account_not_found", "took=", "calls=1", "read=1",
		} {
			if !strings.Contains(line, want) {
				t.Errorf("the line has no %s: %s", want, line)
			}
		}
		return
	}
	t.Error("the request is not in the log")
}

func TestFaultsAreLoggedAndNotTold(t *testing.T) {
	w := start(t)
	w.furnish()
	ctx := t.Context()
	if err := w.server.Close(); err != nil {
		t.Fatal(err)
	}
	// The store is gone under the server: that is an internal fault.
	r := w.send(get, "/v1/accounts/alice", "")
	if p := r.problem(t); p.Code != "internal" || strings.Contains(r.body, "database") {
		t.Errorf("got %s", r.body)
	}
	if !strings.Contains(w.log.String(), "level=ERROR") ||
		!strings.Contains(w.log.String(), "the database is closed") {
		t.Error("the log does not tell why")
	}
	if err := w.Ready(ctx); err == nil {
		t.Error("the server says that it is ready")
	}
}

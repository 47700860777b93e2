package server_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/problem"
)

// badTimes are no instants of RFC 3339, though many programs read them as such.
var badTimes = []string{
	"2026-12-29T09:00:00+24:00", "2026-12-29T09:00:00-99:59", "2026-12-29T09:00:00+12:60",
	"2026-12-29T09:00:00,5Z", "2026-12-29T9:00:00Z", "2026-12-29T24:00:00Z", "2026-12-29T09:00Z",
	"2026-12-29T09:00:00.Z", "2026-12-29T23:59:60Z", "2026-02-30T09:00:00Z", "2026-12-29 09:00:00Z",
	"2026-12-29T09:00:00+0100", "0000-01-01T00:00:00+01:00", "yesterday",
}

// TestTimesOfQueries sends what is no instant in each parameter that the document describes as one,
// so that an operation that is added is tested unasked.
func TestTimesOfQueries(t *testing.T) {
	w := start(t)
	w.furnish()
	var spec struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
				Schema   struct {
					Format string
					Enum   []string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(w.send(get, "/openapi.json", "").body), &spec); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for path, methods := range spec.Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.In != "query" || p.Schema.Format != "date-time" {
					continue
				}
				others := url.Values{}
				for _, other := range op.Parameters {
					if other.In == "query" && other.Name == "status" {
						others.Set(other.Name, other.Schema.Enum[0])
					}
				}
				target := strings.ReplaceAll(path, "{id}", "alice")
				for _, bad := range badTimes {
					others.Set(p.Name, bad)
					got := w.send(strings.ToUpper(method), target+"?"+others.Encode(), "")
					checkRefusedTime(t, got, method+" "+path, p.Name, bad)
					tried++
				}
				for _, good := range []string{"2026-12-29t09:00:00.5z", "2016-12-31T23:59:60Z"} {
					others.Set(p.Name, good)
					got := w.send(strings.ToUpper(method), target+"?"+others.Encode(), "")
					if got.status == 400 {
						t.Errorf("%s %s: %s=%s is refused: %s", method, path, p.Name, good,
							got.body)
					}
				}
			}
		}
	}
	if want := 8 * len(badTimes); tried < want {
		t.Errorf("%d requests were tried, where there were %d", tried, want)
	}
}

func checkRefusedTime(t *testing.T, got reply, operation, name, bad string) {
	t.Helper()
	if got.status != 400 {
		t.Errorf("%s: %s is %q and answered %d: %s", operation, name, bad, got.status, got.body)
		return
	}
	p := got.problem(t)
	if !slices.ContainsFunc(p.Fields, func(f problem.Field) bool {
		return f.Name == name && strings.HasPrefix(f.Wrong, "must be ")
	}) {
		t.Errorf("%s: %s is %q, and the answer does not say so: %s", operation, name, bad, got.body)
	}
}

// TestTimesOfBodies sends what is no instant in each member of a body that is a time.
func TestTimesOfBodies(t *testing.T) {
	w := start(t)
	w.furnish()
	p := w.schedule(due("times", "1"))
	for _, c := range []struct{ method, path, body, name string }{
		{post, "/v1/payments",
			`{"accountId":"alice","payeeId":"bob","amount":"1","currency":"USD","at":%q}`, "at"},
		{"PATCH", "/v1/payments/" + string(p.ID), `{"at":%q}`, "at"},
		{post, "/v1/keys", `{"name":"n","scopes":["ledger:read"],"expiresAt":%q}`, "expiresAt"},
		{"PUT", "/v1/rates/USD/EUR", `{"rate":"0.85","asOf":%q}`, "asOf"},
		{post, "/v1/rates/days", `{"days":[{"date":"2026-04-01","base":"EUR","at":%q,` +
			`"rates":{"USD":"1.1"}}]}`, "days[0].at"},
		{post, "/v1/locations", `{"code":"x","name":"X","placeIdCheckedAt":%q}`,
			"placeIdCheckedAt"},
	} {
		for _, bad := range badTimes {
			got := w.send(c.method, c.path, fmt.Sprintf(c.body, bad), "Idempotency-Key", "k"+bad)
			checkRefusedTime(t, got, c.method+" "+c.path, c.name, bad)
		}
	}
}

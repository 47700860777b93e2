package server_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest/person"
)

// me is what the server says of a caller.
type me struct {
	Subject, Authentication, KeyID string
	Scopes                         []string
}

func (w *world) whoAmI(headers ...string) me {
	w.t.Helper()
	r := w.send(get, "/v1/me", "", headers...)
	if r.status != 200 {
		w.t.Fatalf("status %d: %s", r.status, r.body)
	}
	var m me
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func allScopes() []string {
	var names []string
	for _, s := range api.Scopes() {
		names = append(names, string(s))
	}
	return names
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

func TestWithoutAuthenticationThereIsOnePerson(t *testing.T) {
	for _, c := range []struct{ set, want string }{{"", "local"}, {"alice", "alice"}} {
		w := start(t, func(o *server.Options) { o.User = person.Subject(c.set) })
		want := me{Subject: c.want, Authentication: "off", Scopes: allScopes()}
		if diff := cmp.Diff(want, w.whoAmI()); diff != "" {
			t.Error(diff)
		}
		// What a caller sends changes nothing.
		if diff := cmp.Diff(want, w.whoAmI(bearer("mallory")...)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAServerForNobodyDoesNotOpen(t *testing.T) {
	_, err := server.Open(t.Context(), server.Options{Memory: true, User: "a b"})
	if err == nil || !strings.Contains(err.Error(), "the user must have visible ASCII") {
		t.Errorf("got %v", err)
	}
}

func TestAKeyReachesThePersonItWasBoundTo(t *testing.T) {
	w := start(t, withKeys)
	create := func(subject string, scopes ...string) client.CreatedKey {
		return must[client.CreatedKey](t)(w.CreateKey(t.Context(),
			client.NewAPIKey{Name: "n", Scopes: scopes, Subject: subject}))
	}
	bound := create("alice", "statements:read", "ledger:read")
	if bound.Subject != "alice" {
		t.Errorf("created %+v", bound)
	}
	want := me{
		Subject: "alice", Authentication: "key", Scopes: bound.Scopes, KeyID: bound.ID,
	}
	if diff := cmp.Diff(want, w.whoAmI(bearer(bound.Secret)...)); diff != "" {
		t.Error(diff)
	}
	// Its other scopes open what they always opened.
	if r := w.send(get, "/v1/accounts", "", bearer(bound.Secret)...); r.status != 200 {
		t.Errorf("accounts have status %d", r.status)
	}
	for _, c := range []struct {
		name string
		key  client.CreatedKey
		code string
	}{
		{"bound to nobody", create("", "statements:read"), "api_key_without_person"},
		{"bound to nobody and with every scope", create("", allScopes()...),
			"api_key_without_person"},
		{"without the scope", create("alice", "statements:write"), "api_key_scope_missing"},
	} {
		p := w.send(get, "/v1/me", "", bearer(c.key.Secret)...).problem(t)
		if p.Code != c.code || p.Status != 403 {
			t.Errorf("a key %s: %+v", c.name, p)
		}
	}
	if p := w.send(get, "/v1/me", "").problem(t); p.Code != "api_key_missing" || p.Status != 401 {
		t.Errorf("without a key: %+v", p)
	}
	listed := must[[]client.Key](t)(w.Keys(t.Context()))
	if !slices.ContainsFunc(listed, func(k client.Key) bool { return k.Subject == "alice" }) {
		t.Errorf("listed %+v", listed)
	}
}

func TestAKeyIsNotBoundToWhatIsNoPerson(t *testing.T) {
	w := start(t)
	for _, subject := range []string{"a b", "a\nb", "é", strings.Repeat("x", 256)} {
		_, err := w.CreateKey(t.Context(),
			client.NewAPIKey{Name: "n", Scopes: []string{"statements:read"}, Subject: subject})
		if e := problemOf(t, err); e.Code != "request_invalid" || e.Fields[0].Name != "subject" {
			t.Errorf("%q: %v", subject, err)
		}
	}
}

// Which operations are about a person shows in their scope and in the ways to authenticate, and
// both must say the same: a forgotten mark would shut users out.
func TestPersonalOperationsAreDescribedAsSuch(t *testing.T) {
	w := start(t)
	personal := 0
	for _, op := range w.operations() {
		byScope := slices.Contains(api.PersonalScopes(), api.Scope(op.scope))
		if byScope != op.user {
			t.Errorf("%s %s has the scope %s, and users may use it: %t",
				op.method, op.path, op.scope, op.user)
		}
		if op.user {
			personal++
		}
	}
	if personal == 0 {
		t.Error("no operation is personal")
	}
}

// The scopes that can be asked for are all there are.
func TestScopesAreDescribedWhole(t *testing.T) {
	w := start(t)
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Items struct{ Enum []string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(w.send(get, "/openapi.json", "").body), &spec); err != nil {
		t.Fatal(err)
	}
	got := spec.Components.Schemas["NewAPIKey"].Properties["scopes"].Items.Enum
	if diff := cmp.Diff(allScopes(), got); diff != "" {
		t.Error(diff)
	}
}

// problemOf returns an error as the problem that it must be.
func problemOf(t *testing.T, err error) *problem.Error {
	t.Helper()
	var e *problem.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no problem", err)
	}
	return e
}

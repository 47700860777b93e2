package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest/oidc"
	"github.com/exchequer-dev/exchequer/test/issuer"
)

const app = "app-1"

// signIn starts a server that takes the tokens of an issuer, both on the server's clock.
func signIn(t *testing.T) (*world, *issuer.Issuer) {
	t.Helper()
	var iss *issuer.Issuer
	w := start(t, func(o *server.Options) {
		iss = issuer.Start(t, o.Now, "ES256")
		o.OIDC = server.OIDC{Issuer: iss.Name(), ClientIDs: []string{app}}
	})
	return w, iss
}

func TestAUserReachesTheirOwnDataAndNothingElse(t *testing.T) {
	w, iss := signIn(t)
	for _, token := range []string{
		iss.CognitoID("alice", app), iss.CognitoAccess("alice", app), iss.Token("alice", app),
	} {
		want := me{Subject: "alice", Authentication: "token"}
		for _, s := range api.PersonalScopes() {
			want.Scopes = append(want.Scopes, string(s))
		}
		if diff := cmp.Diff(want, w.whoAmI(bearer(token)...)); diff != "" {
			t.Error(diff)
		}
	}
	token := iss.Token("alice", app)
	path := strings.NewReplacer("{id}", "x", "{name}", "x", "{user}", "x", "{date}", "2026-01-01")
	for _, op := range w.operations() {
		if op.user {
			continue
		}
		body := ""
		if op.body {
			body = "{}"
		}
		r := w.send(op.method, path.Replace(op.path), body, bearer(token)...)
		if p := r.problem(t); p.Code != "token_not_allowed" || p.Status != http.StatusForbidden {
			t.Errorf("%s %s: %+v", op.method, op.path, p)
		}
	}
	p := w.send(get, "/metrics", "", bearer(token)...).problem(t)
	if p.Code != "token_not_allowed" {
		t.Errorf("measurements: %+v", p)
	}
}

func TestKeysAndTokensOpenOneServer(t *testing.T) {
	w, iss := signIn(t)
	w.furnish()
	key := must[client.CreatedKey](t)(w.CreateKey(t.Context(), client.NewAPIKey{
		Name: "n", Scopes: []string{"ledger:read", "statements:read"}, Subject: "bob",
	}))
	c := w.client(client.Options{Key: key.Secret})
	must[client.Account](t)(c.Account(t.Context(), "alice"))
	if m := w.whoAmI(bearer(key.Secret)...); m.Subject != "bob" || m.Authentication != "key" {
		t.Errorf("the key is %+v", m)
	}
	// A word that looks like a key is asked for as a key, whoever signed what.
	p := w.send(get, "/v1/me", "", bearer("exq_"+iss.Token("alice", app))...).problem(t)
	if p.Code != "api_key_invalid" {
		t.Errorf("a token in a key's dress: %+v", p)
	}
	if p := w.send(get, "/v1/me", "").problem(t); p.Code != "token_missing" {
		t.Errorf("nothing at a personal operation: %+v", p)
	}
	if p := w.send(get, "/v1/accounts", "").problem(t); p.Code != "api_key_missing" {
		t.Errorf("nothing at another: %+v", p)
	}
}

// Every refusal says why in the header that programs read, and none repeats the token.
func TestRefusalsSayWhatIsAskedFor(t *testing.T) {
	w, iss := signIn(t)
	narrow := must[client.CreatedKey](t)(w.CreateKey(t.Context(), client.NewAPIKey{
		Name: "n", Scopes: []string{"statements:write"}, Subject: "bob",
	}))
	nobody := must[client.CreatedKey](t)(w.CreateKey(t.Context(), client.NewAPIKey{
		Name: "n", Scopes: []string{"statements:read"},
	}))
	scheme := `Bearer realm="exchequer"`
	invalid := scheme + `, error="invalid_token", error_description="`
	narrower := scheme + `, error="insufficient_scope", error_description="`
	for _, c := range []struct {
		name, path, token, code, header string
		status                          int
	}{
		{"nothing", "/v1/me", "", "token_missing", scheme, 401},
		{"an expired token", "/v1/me", iss.Token("alice", app, issuer.Values{"exp": 1}),
			"token_expired", invalid + `The token has expired"`, 401},
		{"a token that begins later", "/v1/me",
			iss.Token("alice", app, issuer.Values{"nbf": time.Now().Add(1e6 * time.Hour).Unix()}),
			"token_not_yet_valid", invalid + `The token is not valid yet"`, 401},
		{"another issuer", "/v1/me",
			iss.Token("alice", app, issuer.Values{"iss": `https://evil.example/"`}),
			"token_issuer_invalid",
			invalid + `The token is not one of the issuer ` + iss.Name() + `"`, 401},
		{"another app", "/v1/me", iss.Token("alice", "other"), "token_audience_invalid",
			invalid + `The token was made for another app than those that `, 401},
		{"no token", "/v1/me", "not-a-token", "token_malformed", invalid, 401},
		{"a forged one", "/v1/me",
			issuer.NewKey(t, "ES256").Sign(iss.Header(), iss.Claims("alice", app)),
			"token_signature_invalid", invalid + `The signature of the token is wrong"`, 401},
		{"an unsigned one", "/v1/me",
			iss.Newest().Unsigned(issuer.Values{"alg": "none"}, iss.Claims("alice", app)),
			"token_algorithm_invalid", invalid, 401},
		{"a token where a key is asked for", "/v1/accounts", iss.Token("alice", app),
			"token_not_allowed", narrower, 403},
		{"a key without the scope", "/v1/me", narrow.Secret, "api_key_scope_missing",
			narrower + `The API key lacks the scope statements:read", scope="statements:read"`, 403},
		{"a key bound to nobody", "/v1/me", nobody.Secret, "api_key_without_person", narrower, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			var headers []string
			if c.token != "" {
				headers = bearer(c.token)
			}
			r := w.send(get, c.path, "", headers...)
			if p := r.problem(t); p.Code != c.code || p.Status != c.status {
				t.Errorf("got %+v", p)
			}
			if got := r.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, c.header) {
				t.Errorf("got %s\nwant %s", got, c.header)
			}
			for _, part := range strings.Split(c.token, ".") {
				for _, told := range []string{
					r.body, r.header.Get("WWW-Authenticate"), w.log.String(),
				} {
					if len(part) > 8 && strings.Contains(told, part) {
						t.Errorf("a part of the token is told: %s", told)
					}
				}
			}
		})
	}
	w.t = t
	r := w.send(get, "/v1/me", "", "Origin", "http://evil.example")
	if r.status != 403 || r.header.Get("WWW-Authenticate") != "" {
		t.Errorf("another page is asked for %q", r.header.Get("WWW-Authenticate"))
	}
}

func TestTheServerOpensBeforeItsIssuer(t *testing.T) {
	var iss *issuer.Issuer
	w := start(t, func(o *server.Options) {
		iss = issuer.Start(t, o.Now, "ES256")
		iss.Down(true)
		o.OIDC = server.OIDC{Issuer: iss.Name(), ClientIDs: []string{app}}
	})
	token := iss.Token("alice", app)
	r := w.send(get, "/v1/me", "", bearer(token)...)
	if p := r.problem(t); p.Code != "issuer_unavailable" || p.Status != 503 ||
		r.header.Get("Retry-After") == "" {
		t.Errorf("without the issuer: %s", r.body)
	}
	if !strings.Contains(w.log.String(), "does not answer") {
		t.Error("the log does not tell that the issuer is away")
	}
	// API keys work meanwhile, and the server is ready.
	key := must[client.CreatedKey](t)(w.CreateKey(t.Context(), client.NewAPIKey{
		Name: "n", Scopes: []string{"statements:read"}, Subject: "bob",
	}))
	w.whoAmI(bearer(key.Secret)...)
	if r := w.send(get, "/readyz", ""); r.status != 200 {
		t.Errorf("not ready: %s", r.body)
	}
	iss.Down(false)
	w.clock.set(w.clock.Now().Add(oidc.RetryGap))
	if m := w.whoAmI(bearer(token)...); m.Subject != "alice" {
		t.Errorf("with the issuer: %+v", m)
	}
}

func TestWhoMayUseTheServerIsChecked(t *testing.T) {
	iss := issuer.Start(t, time.Now, "ES256")
	address := iss.Name()
	iss.Rename(address + "/")
	for _, c := range []struct {
		name string
		auth server.Auth
		oidc server.OIDC
		want string
	}{
		{"a way nobody knows", "password", server.OIDC{}, "it must be off, keys or oidc"},
		{"tokens of nobody", server.AuthOIDC, server.OIDC{}, "the issuer is missing"},
		{"tokens of any app", server.AuthOIDC, server.OIDC{Issuer: address}, "client ids"},
		{"an issuer in clear", "", server.OIDC{Issuer: "http://login.example.com",
			ClientIDs: []string{app}}, "https://"},
		{"tokens, though it is off", server.AuthOff, server.OIDC{Issuer: address,
			ClientIDs: []string{app}}, `only "oidc" takes tokens`},
		{"tokens, though keys alone are asked for", server.AuthKeys, server.OIDC{Issuer: address,
			ClientIDs: []string{app}}, `only "oidc" takes tokens`},
		{"an issuer without its slash", "", server.OIDC{Issuer: address,
			ClientIDs: []string{app}}, "only the slash at the end differs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := server.Open(t.Context(),
				server.Options{Memory: true, Auth: c.auth, OIDC: c.oidc})
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// With tokens asked for, the server may listen where others reach it, as with keys.
func TestTokensLetTheServerListenAnywhere(t *testing.T) {
	w, _ := signIn(t)
	listener, err := w.server.Listen(t.Context(), "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if r := w.send(get, "/healthz", "", "Host", "books.example"); r.status != http.StatusOK {
		t.Errorf("a public name has status %d: %s", r.status, r.body)
	}
}

// Whoever has the data directory is not asked, and is the one user of the process.
func TestTheProcessWithTheDataIsItsUser(t *testing.T) {
	w, _ := signIn(t)
	r, err := http.NewRequestWithContext(t.Context(), get, "http://127.0.0.1/v1/me", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.server.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var told strings.Builder
	if err := response.Write(&told); err != nil || !strings.Contains(told.String(), `"local"`) {
		t.Errorf("%v: %s", err, told.String())
	}
}

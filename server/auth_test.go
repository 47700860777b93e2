package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
)

func withKeys(o *server.Options) { o.Auth = server.AuthKeys }

// described is an operation in the OpenAPI document.
type described struct {
	method, path, scope string
	body                bool
	user                bool // Whether a user's token opens it.
}

// operations reads the OpenAPI document, so that an operation that is added is tested unasked.
func (w *world) operations() []described {
	w.t.Helper()
	var spec struct {
		Paths map[string]map[string]struct {
			Security    []map[string][]string
			RequestBody *struct{}
		}
	}
	if err := json.Unmarshal([]byte(w.send(get, "/openapi.json", "").body), &spec); err != nil {
		w.t.Fatal(err)
	}
	var found []described
	for path, methods := range spec.Paths {
		for method, op := range methods {
			if len(op.Security) == 0 || len(op.Security[0]["key"]) != 1 {
				w.t.Errorf("%s %s names no scope", method, path)
				continue
			}
			found = append(found, described{
				strings.ToUpper(method), path, op.Security[0]["key"][0], op.RequestBody != nil,
				slices.ContainsFunc(op.Security, func(way map[string][]string) bool {
					_, found := way["user"]
					return found
				}),
			})
		}
	}
	if len(found) < 25 {
		w.t.Fatalf("%d operations: these cannot be all", len(found))
	}
	return found
}

func TestEveryOperationAsksForItsScope(t *testing.T) {
	w := start(t, withKeys)
	var others = map[string]string{} // A key with every scope but one.
	for _, scope := range api.Scopes() {
		all := slices.DeleteFunc(api.Scopes(), func(s api.Scope) bool { return s == scope })
		var names []string
		for _, s := range all {
			names = append(names, string(s))
		}
		key := must[client.CreatedKey](t)(w.CreateKey(t.Context(),
			client.NewAPIKey{Name: "all but " + string(scope), Scopes: names}))
		others[string(scope)] = key.Secret
	}
	path := strings.NewReplacer("{id}", "x", "{name}", "x", "{user}", "x", "{date}", "2026-01-01")
	for _, op := range w.operations() {
		t.Run(op.method+" "+op.path, func(t *testing.T) {
			w.t = t
			body := ""
			if op.body {
				body = "{}"
			}
			bare := w.send(op.method, path.Replace(op.path), body)
			if p := bare.problem(t); p.Code != "api_key_missing" ||
				!strings.HasPrefix(bare.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("without a key: %s", bare.body)
			}
			less := w.send(op.method, path.Replace(op.path), body,
				"Authorization", "Bearer "+others[op.scope]).problem(t)
			if less.Code != "api_key_scope_missing" || less.Details["scope"] != op.scope ||
				less.Status != http.StatusForbidden {
				t.Errorf("without the scope: %+v", less)
			}
		})
	}
	w.t = t
	metrics := w.send(get, "/metrics", "", "Authorization", "Bearer "+others["metrics:read"])
	if p := metrics.problem(t); p.Code != "api_key_scope_missing" {
		t.Errorf("measurements: %+v", p)
	}
}

func TestKeysOpenWhatTheirScopesSay(t *testing.T) {
	w := start(t, withKeys)
	w.furnish()
	created := must[client.CreatedKey](t)(w.CreateKey(t.Context(), client.NewAPIKey{
		Name: "shop", Scopes: []string{"ledger:read", "ledger:write"},
	}))
	c := w.client(client.Options{Key: created.Secret})
	must[client.Receipt](t)(c.Post(t.Context(), client.Posting{
		Type: client.Transfer, From: "alice", To: "bob", Amount: usd("1"),
	}))
	must[client.Account](t)(c.Account(t.Context(), "alice"))
	if _, err := c.FreezeAccount(t.Context(), "alice"); !errors.Is(err, apikey.ErrScopeMissing) {
		t.Errorf("freeze: %v", err)
	}
	if !strings.Contains(w.log.String(), "key="+created.ID) {
		t.Error("the log does not tell which key it was")
	}
	if strings.Contains(w.log.String(), created.Secret[len("exq_"):]) {
		t.Error("the log has the secret")
	}
}

func TestKeysThatAreNotValidAreRefused(t *testing.T) {
	w := start(t, withKeys)
	ctx := t.Context()
	create := func(n client.NewAPIKey) client.CreatedKey {
		n.Name, n.Scopes = "test", []string{"ledger:read"}
		return must[client.CreatedKey](t)(w.CreateKey(ctx, n))
	}
	good, other := create(client.NewAPIKey{}), create(client.NewAPIKey{})
	revoked := create(client.NewAPIKey{})
	if k := must[client.Key](t)(w.RevokeKey(ctx, revoked.ID)); k.RevokedAt.IsZero() {
		t.Errorf("revoked %+v", k)
	}
	first := must[client.Key](t)(w.RevokeKey(ctx, revoked.ID))
	again := must[client.Key](t)(w.RevokeKey(ctx, revoked.ID))
	if again.RevokedAt != first.RevokedAt {
		t.Errorf("revoked twice: %+v, %+v", first, again)
	}
	expiring := create(client.NewAPIKey{ExpiresAt: w.clock.Now().Add(time.Hour)})
	try := func(key string) error {
		_, err := w.client(client.Options{Key: key}).Accounts(ctx, client.PageQuery{})
		return err
	}
	for name, key := range map[string]string{
		"good": good.Secret, "not yet expired": expiring.Secret,
	} {
		if err := try(key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.clock.set(w.clock.Now().Add(2 * time.Hour))
	last := good.Secret[len(good.Secret)-1]
	changed := good.Secret[:len(good.Secret)-1] + string('0'+(last-'0'+1)%10)
	for name, key := range map[string]string{
		"revoked": revoked.Secret, "expired": expiring.Secret, "changed": changed,
		"of another": "exq_" + good.ID + other.Secret[len("exq_")+len(other.ID):],
		"no key":     "secret", "an id": "exq_" + good.ID + "_", "short": good.Secret[:40],
		"unknown": "exq_0123456789abcdef" + good.Secret[len("exq_0123456789abcdef"):],
	} {
		if err := try(key); !errors.Is(err, apikey.ErrKeyRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	basic := "Basic " + good.Secret
	if r := w.send(get, "/v1/accounts", "", "Authorization", basic); r.status != 401 {
		t.Errorf("another scheme has status %d", r.status)
	}
	listed := must[[]client.Key](t)(w.Keys(ctx))
	if len(listed) != 4 || listed[0].ID != good.ID || listed[3].ExpiresAt.IsZero() {
		t.Errorf("listed %+v", listed)
	}
}

func TestWhatWatchesTheServerNeedsNoKey(t *testing.T) {
	w := start(t, withKeys)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs"} {
		if r := w.send(get, path, ""); r.status != http.StatusOK {
			t.Errorf("%s has status %d", path, r.status)
		}
	}
	r := w.send(get, "/", "")
	if r.status != http.StatusSeeOther || r.header.Get("Location") != "/docs" {
		t.Errorf("/ has status %d", r.status)
	}
}

// A page in a browser that points a name of its own at this machine must not reach the server.
func TestForeignNamesAndPagesAreRefused(t *testing.T) {
	w := start(t, func(o *server.Options) { o.Hosts = []string{"Books.example"} })
	address := strings.TrimPrefix(w.http.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	for _, c := range []struct {
		name    string
		method  string
		headers []string
		code    string
	}{
		{"the address", get, nil, ""},
		{"localhost", get, []string{"Host", "localhost:" + port}, ""},
		{"a name below localhost", get, []string{"Host", "books.localhost"}, ""},
		{"the address of version 6", get, []string{"Host", "[::1]:" + port}, ""},
		{"a name that was given", get, []string{"Host", "books.EXAMPLE:443"}, ""},
		{"a foreign name", get, []string{"Host", "evil.example:" + port}, "host_refused"},
		{"a name that begins like ours", get, []string{"Host", "127.0.0.1.evil.example"},
			"host_refused"},
		{"a foreign address", get, []string{"Host", "192.0.2.1"}, "host_refused"},
		{"a page of ours", post, []string{"Origin", w.http.URL}, ""},
		{"a foreign page", post, []string{"Origin", "http://evil.example"}, "origin_refused"},
		{"a page on another port", post, []string{"Origin", "http://127.0.0.1:1"},
			"origin_refused"},
		{"a page without a name", post, []string{"Origin", "null"}, "origin_refused"},
		{"an image on a foreign page", get, []string{"Sec-Fetch-Site", "cross-site"},
			"origin_refused"},
		{"a form on a foreign page", post,
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
			"origin_refused"},
		{"a link on a foreign page", get,
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			path := "/v1/accounts"
			if c.method == post {
				path = "/v1/tables"
			}
			r := w.send(c.method, path, "", c.headers...)
			if c.code == "" {
				if r.status != http.StatusOK {
					t.Errorf("status %d: %s", r.status, r.body)
				}
				return
			}
			if p := r.problem(t); p.Code != c.code || p.Status != http.StatusForbidden {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestKeysProtectUnderAnyName(t *testing.T) {
	w := start(t, withKeys)
	if r := w.send(get, "/healthz", "", "Host", "books.example"); r.status != http.StatusOK {
		t.Errorf("a public name has status %d: %s", r.status, r.body)
	}
	named := start(t, withKeys, func(o *server.Options) { o.Hosts = []string{"books.example"} })
	r := named.send(get, "/healthz", "", "Host", "other.example")
	if r.status != http.StatusForbidden {
		t.Errorf("another name than those given has status %d", r.status)
	}
}

// What an answer says it took is what the operation took, not the look-up of the key.
func TestUsageLeavesTheKeyOut(t *testing.T) {
	w := start(t, withKeys)
	w.furnish()
	key := must[client.CreatedKey](t)(w.CreateKey(t.Context(),
		client.NewAPIKey{Name: "n", Scopes: []string{"ledger:read"}}))
	var u client.Usage
	c := w.client(client.Options{Key: key.Secret})
	must[client.Account](t)(c.Account(client.WithUsage(t.Context(), &u), "alice"))
	if u.Calls != 1 || u.ReadUnits != 1 {
		t.Errorf("an account took %+v", u)
	}
}

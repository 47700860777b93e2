package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/server/rest/apikey"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// secrets is an API over one design, which belongs to persons, and a key with every scope.
func secrets(t *testing.T, asks bool) (h http.Handler, key string) {
	t.Helper()
	ctx := t.Context()
	db := storetest.OpenFor(t, engine.Options{})
	store := singletable.NewStore(db, singletable.Options{})
	l, err := ledger.New(store, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keyring := apikey.NewKeyring(store, nil)
	tables := append(l.Model().Tables(), keyring.Table())
	for _, table := range tables {
		if _, err := db.CreateTable(ctx, table.CreateTableInput()); err != nil {
			t.Fatal(err)
		}
	}
	_, key, err = keyring.Create(ctx, apikey.New{
		Name: "all", Scopes: api.Scopes(), Subject: "alice",
	})
	if err != nil {
		t.Fatal(err)
	}
	router := rest.NewRouter(keyring, rest.Options{
		AskForKeys: asks, User: "local", BodyMax: 1 << 10, BodyTime: time.Minute,
		AnswerTime: time.Minute,
	})
	return rest.New(router, rest.Deps{
		Keys: keyring, Store: store, Personal: []*singletable.Model{l.Model()},
	}), key
}

// A pattern takes any person as its input, so that a key that could run it would reach everybody.
func TestPatternsOverPersonsAreRunForNoKey(t *testing.T) {
	for _, c := range []struct {
		name    string
		asks    bool
		trusted bool
		status  int
	}{
		{"refused for a key, whatever its scopes and whomever it is bound to", true, false, 403},
		{"run where nobody is asked who they are", false, false, 200},
		{"run for the process that has the data", true, true, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, key := secrets(t, c.asks)
			ctx := context.Context(t.Context())
			if c.trusted {
				ctx = rest.Trust(ctx)
			}
			r := httptest.NewRequestWithContext(ctx, http.MethodPost,
				"http://localhost/v1/patterns/account-by-id/run",
				strings.NewReader(`{"inputs":{"ID":"x"}}`))
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			told := strings.Contains(w.Body.String(), `"pattern_personal"`)
			if told != (w.Code == 403) {
				t.Errorf("answered %s", w.Body)
			}
		})
	}
}

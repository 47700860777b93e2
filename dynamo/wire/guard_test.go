package wire_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

func TestPagesOfTheInternetAreKeptOut(t *testing.T) {
	none, evil := "", "https://evil.example"
	for name, c := range map[string]struct {
		host, origin string
		want         int
		opts         wire.Options
	}{
		"localhost":                 {"localhost:8000", none, 200, wire.Options{}},
		"a name below localhost":    {"tables.localhost", none, 200, wire.Options{}},
		"an address of the machine": {"127.0.0.2:8000", none, 200, wire.Options{}},
		"its long address":          {"[::1]:8000", none, 200, wire.Options{}},
		"an address of a network":   {"192.168.1.7:8000", none, 200, wire.Options{}},
		"a container":               {"dynamodb:8000", none, 200, wire.Options{}},
		"a name that leads here":    {"evil.example:8000", none, 403, wire.Options{}},
		"a name like localhost":     {"localhost.evil.example", none, 403, wire.Options{}},
		"a name that is allowed":    {"DB.Internal:8000", none, 200, allow("db.internal")},
		"a name below one that is":  {"x.db.internal", none, 403, allow("db.internal")},
		"any name where all are":    {"evil.example", none, 200, allow("*")},
		"a page of the machine":     {"localhost", "http://localhost:3000", 200, wire.Options{}},
		"a page of elsewhere":       {"localhost", evil, 403, wire.Options{}},
		"a page of a container":     {"localhost", "http://dynamodb", 403, wire.Options{}},
		"a page of the network":     {"localhost", "http://192.168.1.7", 403, wire.Options{}},
		"a page without an origin":  {"localhost", "null", 403, wire.Options{}},
		"a page that is allowed":    {"localhost", "https://a.example", 200, allow("a.example")},
		"a page that has to sign":   {"db.example", evil, 200, withKeys()},
	} {
		t.Run(name, func(t *testing.T) {
			h := wire.NewHandler(openStore(t), c.opts)
			for _, method := range []string{"GET", "OPTIONS", "POST"} {
				req := httptest.NewRequest(method, "/", strings.NewReader("{}"))
				req.Host = c.host
				if c.origin != "" {
					req.Header.Set("Origin", c.origin)
				}
				req.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, req)
				want := c.want
				if want == 200 && method == "POST" && c.opts.AccessKeys != nil {
					want = 400 // let through to the check of its signature
				}
				if w.Code != want {
					t.Errorf("%s: got %d %s, want %d", method, w.Code, w.Body, want)
				}
				allowed := w.Header().Get("Access-Control-Allow-Origin") != ""
				if shown := c.origin != "" && c.want == 200 && method != "GET"; allowed != shown {
					t.Errorf("%s: allowed to read: %v, want %v", method, allowed, shown)
				}
			}
		})
	}
}

func allow(hosts ...string) wire.Options { return wire.Options{AllowedHosts: hosts} }

func withKeys() wire.Options {
	return wire.Options{AccessKeys: []wire.AccessKey{{ID: "id", Secret: "secret"}}}
}

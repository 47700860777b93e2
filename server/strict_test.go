package server_test

import (
	"net/http"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// makeStrict turns the faults on if the tests are to have them. It returns what lets the indexes
// catch up: tests read right after they wrote, so that comes before each GET. What a write does
// must not depend on an index.
func makeStrict(t *testing.T, s *server.Server) (settle func(*http.Request)) {
	t.Helper()
	if !storetest.Strict() {
		return func(*http.Request) {}
	}
	store := server.StoreOf(s)
	if err := store.SetFaults(engine.Strict()); err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) {
		if r.Method == http.MethodGet {
			_ = store.CatchUp() // fails only once the server is closed, which the test sees
		}
	}
}

// settling is a transport that settles first.
type settling struct {
	http.RoundTripper
	settle func(*http.Request)
}

// RoundTrip sends a request.
func (s settling) RoundTrip(r *http.Request) (*http.Response, error) {
	s.settle(r)
	return s.RoundTripper.RoundTrip(r)
}

// TestCoreScenariosHoldOnAStrictStore runs what the server is for on the faults of
// [engine.Strict]. With EXCHEQUER_STRICT set, every test of the package does.
func TestCoreScenariosHoldOnAStrictStore(t *testing.T) {
	storetest.RunStrict(t, []storetest.Scenario{
		{"the client", TestClient},
		{"one key posts once", TestAHundredCallersWithOneKeyAreOneTransaction},
		{"many callers", TestManyCallersOnTwoAccounts},
		{"keys", TestKeysOpenWhatTheirScopesSay},
		{"wrong requests", TestWrongRequestsAreRefused},
		{"entity tags", TestETags},
	}...)
}

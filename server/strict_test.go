package server_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server"
)

// strictEnv makes the tests of this package run on a store with the faults of [engine.Strict]:
// pages that end early, batches done in part, conflicts, and indexes a moment behind.
const strictEnv = "EXCHEQUER_STRICT"

// makeStrict turns the faults on if the tests are to have them. It returns what lets the indexes
// catch up: tests read right after they wrote, so that comes before each GET. What a write does
// must not depend on an index.
func makeStrict(t *testing.T, s *server.Server) (settle func(*http.Request)) {
	t.Helper()
	if os.Getenv(strictEnv) == "" {
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
	t.Setenv(strictEnv, "1")
	for _, scenario := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"the client", TestClient},
		{"one key posts once", TestAHundredCallersWithOneKeyAreOneTransaction},
		{"many callers", TestManyCallersOnTwoAccounts},
		{"keys", TestKeysOpenWhatTheirScopesSay},
		{"wrong requests", TestWrongRequestsAreRefused},
		{"entity tags", TestETags},
	} {
		t.Run(scenario.name, scenario.run)
	}
}

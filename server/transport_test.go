package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// roundTrip sends a request to the handler in this process.
func (w *world) roundTrip(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://any.name"+path,
		strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/x-ndjson")
	return w.server.Transport().RoundTrip(r)
}

func TestTransportNeedsNeitherKeyNorName(t *testing.T) {
	w := start(t, withKeys)
	response, err := w.roundTrip(t.Context(), get, "/v1/keys", "")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if data, err := io.ReadAll(response.Body); err != nil || string(data) != `{"items":[]}`+"\n" ||
		response.StatusCode != 200 || response.Header.Get("X-Request-Id") == "" {
		t.Errorf("%s, %v: %s", response.Status, err, data)
	}
}

// A stream arrives line by line: the second line is not even made before the first is read.
func TestTransportStreams(t *testing.T) {
	w := start(t)
	w.furnish()
	response, err := w.roundTrip(t.Context(), post, "/v1/reconciliation",
		`{"from":"2026-01-01","to":"2026-01-01"}`)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if strings.Contains(w.log.String(), "path=/v1/reconciliation") {
		t.Error("the answer was whole before anyone read it")
	}
	var members []string
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var line map[string]json.RawMessage
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil || len(line) != 1 {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		for name := range line {
			members = append(members, name)
		}
	}
	if n := len(members); n < 2 || members[0] != "progress" || members[n-1] != "report" {
		t.Errorf("the lines are %v", members)
	}
}

// Who stops reading stops the work.
func TestTransportStopsWithItsReader(t *testing.T) {
	w := start(t)
	w.furnish()
	response, err := w.roundTrip(t.Context(), post, "/v1/reconciliation",
		`{"from":"2026-01-01","to":"2026-01-01"}`)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	waitFor(t, "the end of the work", func() bool {
		return strings.Contains(w.log.String(), "path=/v1/reconciliation")
	})
}

func TestTransportEndsWithItsContext(t *testing.T) {
	w := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	response, err := w.roundTrip(ctx, get, "/v1/accounts", "")
	if err == nil {
		// The answer was there first, which is as good.
		response.Body.Close()
		return
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A closed server begins no request: its handler would work on a store that is being closed.
func TestTransportOfAClosedServer(t *testing.T) {
	t.Parallel()
	w := start(t)
	transport := w.server.Transport()
	var callers sync.WaitGroup
	answers := make(chan error, 8)
	for range cap(answers) {
		callers.Go(func() {
			for {
				const url = "http://a/v1/accounts/a"
				r, err := http.NewRequestWithContext(t.Context(), get, url, nil)
				if err != nil {
					answers <- err
					return
				}
				response, err := transport.RoundTrip(r)
				if err != nil {
					answers <- err
					return
				}
				if response.StatusCode != http.StatusNotFound {
					answers <- fmt.Errorf("status %s beside the close", response.Status)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	if err := w.server.Close(); err != nil {
		t.Error(err)
	}
	callers.Wait()
	close(answers)
	for err := range answers {
		if !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

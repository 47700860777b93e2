package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/test/contract"
)

// clock is a clock that tests move. Every look at it is a millisecond later than the one before, so
// that what happens one after the other also looks so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, time.January, 2, 10, 30, 0, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// world is a server on an empty store in memory, what it logs, and ways to talk to it.
type world struct {
	*client.Client
	t      *testing.T
	server *server.Server
	http   *httptest.Server // The same server behind a socket.
	log    *logBook
	clock  *clock
}

// logBook is a log that several goroutines write.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func start(t *testing.T, change ...func(*server.Options)) *world {
	t.Helper()
	w := &world{t: t, log: &logBook{}, clock: newClock()}
	opts := server.Options{
		Memory: true, Now: w.clock.Now, Version: "test",
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	for _, f := range change {
		f(&opts)
	}
	s, err := server.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	w.server = s
	settle := makeStrict(t, s)
	var outside http.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		settle(r)
		s.Handler().ServeHTTP(rw, r)
	})
	inside := s.Transport()
	if !testing.Short() { // A short run looks for races, and the validator costs most of its time.
		watch := contract.Watch(t, s.Handler())
		outside, inside = watch.Handler(outside), watch.RoundTripper(inside)
	}
	w.http = httptest.NewServer(outside)
	w.Client = w.client(client.Options{Transport: settling{inside, settle}})
	t.Cleanup(func() {
		w.http.Close()
		if err := s.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			t.Error(err)
		}
	})
	return w
}

// client returns a client; one without a transport of its own goes through the socket.
func (w *world) client(opts client.Options) *client.Client {
	w.t.Helper()
	c, err := client.New(w.http.URL, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// reply is an answer read whole.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a raw request through the socket. Headers come in pairs; Host is one of them.
func (w *world) send(method, path, body string, headers ...string) reply {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.http.URL+path,
		strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	direct := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	response, err := direct.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(data)}
}

// told is a problem document.
type told struct {
	Type, Title, Detail, Instance, Kind, Code, Hint string
	Status                                          int
	Fields                                          problem.Fields
	Details                                         map[string]string
}

// problem reads the answer as a problem document.
func (r reply) problem(t *testing.T) told {
	t.Helper()
	var p told
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("the answer is %s with status %d: %s", got, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	if p.Status != r.status {
		t.Errorf("the document has status %d, the answer %d", p.Status, r.status)
	}
	if p.Instance == "" || p.Instance != r.header.Get("X-Request-Id") {
		t.Errorf("the document is of request %q, the answer of %q", p.Instance,
			r.header.Get("X-Request-Id"))
	}
	if p.Title == "" || p.Detail == "" || p.Kind == "" || p.Type != "/docs#"+p.Code {
		t.Errorf("the document is not whole: %s", r.body)
	}
	return p
}

func usd(text string) money.Amount { return money.MustParse(text, "USD") }

// must returns a value, or ends the test.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// furnish opens the accounts and the merchant that most tests use: alice has 100.00 USD.
func (w *world) furnish() {
	w.t.Helper()
	ctx := context.Background()
	for _, id := range []client.AccountID{"alice", "bob", "shop"} {
		must[client.AccountReceipt](w.t)(w.OpenAccount(ctx, client.NewAccount{
			ID: id, UserID: client.UserID(id), AccountType: "checking", Currency: "USD",
		}))
	}
	must[client.MerchantReceipt](w.t)(w.CreateMerchant(ctx, client.NewMerchant{
		ID: "coffee", Name: "Coffee Shop Inc", Category: "Restaurant", SettlementAccountID: "shop",
	}))
	must[client.Receipt](w.t)(w.Post(ctx, client.Posting{
		IdempotencyKey: "salary", Type: client.Deposit, To: "alice", Amount: usd("100"),
	}))
}

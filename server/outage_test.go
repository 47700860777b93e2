package server_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
	"github.com/exchequer-dev/exchequer/server"
)

// testTime bounds a test that would hang without what it is about.
const testTime = 30 * time.Second

// TestFourTroublesAreFourAnswers lets the store throttle, conflict, go away and hang, and asks for
// a read and writes of each system.
func TestFourTroublesAreFourAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   engine.FaultKind
		status int
		codes  string
		reads  bool
	}{
		{"throttled", engine.FaultThrottle, http.StatusTooManyRequests, "busy", true},
		{"contended", engine.FaultConflict, http.StatusServiceUnavailable,
			"contended item_contended",
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, func(o *server.Options) { o.Limits.Answer = 300 * time.Millisecond })
			w.furnish()
			store := server.StoreOf(w.server)
			faults := engine.Faults{Rules: []engine.Fault{{Kind: c.kind}}}
			if err := store.SetFaults(faults); err != nil {
				t.Fatal(err)
			}
			for _, a := range troubled() {
				if a.method == "GET" && !c.reads {
					continue
				}
				r := w.ask(a, "1", "")
				if r.status != c.status || r.header.Get("Retry-After") == "" ||
					!strings.Contains(" "+c.codes+" ", " "+codeOf(r.body)+" ") {
					t.Errorf("%s %s: %d %s", a.method, a.path, r.status, r.body)
				}
				if strings.Contains(r.body, "want ? at once") ||
					strings.Contains(r.body, "change ? at") ||
					strings.Contains(r.body, "change an item") ||
					strings.Contains(r.body, "want an item") {
					t.Errorf("%s %s names no item: %s", a.method, a.path, r.body)
				}
			}
		})
	}
}

// troubled are a read and writes of each system.
func troubled() []asked {
	return []asked{
		{"GET", "/v1/accounts/alice", "", ""}, {"GET", "/v1/rates/EUR/USD", "", ""},
		{"GET", "/v1/me/start", "", ""}, {"GET", "/v1/payments/p-1", "", ""},
		{"GET", "/v1/locations", "", ""},
		makeAccount, {"POST", postPath, depositBody, "k-N"}, makeLocation, makeLater, makeBank,
		makeTag, {"PUT", "/v1/rates/EUR/USD", `{"rate":"1.1","ttlSeconds":86400}`, ""},
	}
}

func codeOf(body string) string {
	_, after, _ := strings.Cut(body, `"code":"`)
	code, _, _ := strings.Cut(after, `"`)
	return code
}

// away is a store behind its protocol that can be made to hang or to cut each connection.
type away struct {
	*httptest.Server
	state atomic.Int32
	hang  chan struct{}
}

// The states of a store.
const (
	isThere int32 = iota
	hangs
	cutsOff
)

func startAway(t *testing.T) *away {
	t.Helper()
	db, err := engine.OpenMemory(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &away{hang: make(chan struct{})}
	handler := wire.NewHandler(db, wire.Options{})
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch a.state.Load() {
		case hangs:
			<-a.hang
			return
		case cutsOff:
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(a.hang)
		a.Server.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestAStoreThatIsAwayIsSaidFast stops a store: each answer is 503 store_unavailable in seconds,
// and readiness too.
func TestAStoreThatIsAwayIsSaidFast(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the store")
	}
	store := startAway(t)
	s, err := server.Open(t.Context(), server.Options{DynamoDB: &awssdk.Options{
		Endpoint: store.URL, Region: "eu-central-1", Timeout: time.Second,
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	front := httptest.NewServer(s.Handler())
	defer front.Close()
	w := &world{t: t, http: front}
	w.must(201, makeAccount, "0")
	for name, state := range map[string]int32{"hangs": hangs, "cuts off": cutsOff} {
		store.state.Store(state)
		asks := append(troubled(), asked{"GET", "/readyz", "", ""})
		answers := make(chan string, len(asks))
		for _, a := range asks {
			go func() {
				began := time.Now()
				r, err := http.NewRequest(
					a.method,
					front.URL+strings.ReplaceAll(a.path, "-N", "-1"),
					strings.NewReader(strings.ReplaceAll(a.body, "-N", "-1")),
				)
				if err != nil {
					answers <- err.Error()
					return
				}
				r.Header.Set("Content-Type", "application/json")
				if a.key != "" {
					r.Header.Set("Idempotency-Key", a.key)
				}
				response, err := http.DefaultClient.Do(r)
				if err != nil {
					answers <- err.Error()
					return
				}
				defer response.Body.Close()
				body, _ := io.ReadAll(response.Body)
				if response.StatusCode != 503 || codeOf(string(body)) != "store_unavailable" ||
					time.Since(began) > 10*time.Second {
					answers <- fmt.Sprintf("%s %s: %d after %s: %s", a.method, a.path,
						response.StatusCode, time.Since(began), body)
					return
				}
				answers <- ""
			}()
		}
		for range asks {
			select {
			case wrong := <-answers:
				if wrong != "" {
					t.Errorf("%s: %s", name, wrong)
				}
			case <-time.After(testTime):
				t.Fatalf("%s: an answer did not come within %s", name, testTime)
			}
		}
	}
	store.state.Store(isThere)
	w.must(200, asked{"GET", "/readyz", "", ""}, "1")
}

// TestAStopEndsWithClientsThatTakeNothing opens downloads that nobody reads, and stops the server.
func TestAStopEndsWithClientsThatTakeNothing(t *testing.T) {
	w := start(t, func(o *server.Options) {
		o.Limits.Drain, o.Limits.Streams = 4*time.Second, 2
	})
	w.must(201, makeBank, "1")
	// The archive has a file that cannot be packed, and does not fit into the buffers of a
	// connection.
	noise := make([]byte, 12<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	big := makeUpload
	big.body = base64.StdEncoding.EncodeToString(noise)
	w.must(201, big, "1")
	listener, err := w.server.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.server.Serve(ctx, listener) }()
	ask := func() string {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, _ = fmt.Fprintf(c, "GET /v1/me/archive HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	for range 2 {
		if got := ask(); !strings.Contains(got, " 200 ") {
			t.Fatalf("a download: %s", got)
		}
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the server stopped with %v", err)
		}
	case <-time.After(testTime):
		t.Fatalf("the server did not stop within %s", testTime)
	}
}

package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		opts server.Options
		want string
	}{
		"no store":   {server.Options{}, "give either a data directory or Memory"},
		"two stores": {server.Options{DataDir: "x", Memory: true}, "give either a data"},
		"DynamoDB in memory": {
			server.Options{Memory: true, DynamoDB: &awssdk.Options{}}, "either DynamoDB or Memory",
		},
		"an endpoint that is none": {
			server.Options{DynamoDB: &awssdk.Options{Endpoint: "localhost"}},
			"is not a URL such as http://localhost:8000",
		},
		"unknown auth":   {server.Options{Memory: true, Auth: "basic"}, `auth is "basic"`},
		"unknown tables": {server.Options{Memory: true, Tables: "drop"}, `tables is "drop"`},
		"a bad tenant":   {server.Options{Memory: true, Tenant: "a b"}, "tenant"},
		"many shards":    {server.Options{Memory: true, StatusShards: 65}, "status shards"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := server.Open(t.Context(), c.opts)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v", s, err)
			}
		})
	}
}

func TestOpenAddressesNeedAuthentication(t *testing.T) {
	ctx := t.Context()
	off := start(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		if l, err := off.server.Listen(ctx, address); !errors.Is(err, server.ErrOpenAddress) {
			t.Errorf("%s: %v, %v", address, l, err)
		}
	}
	// A listener that someone else made is looked at too.
	open, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := off.server.Serve(ctx, open); !errors.Is(err, server.ErrOpenAddress) {
		t.Errorf("serve: %v", err)
	}
	if _, err := open.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener was left open: %v", err)
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := off.server.Listen(ctx, address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		l.Close()
	}
	on := start(t, withKeys)
	l, err := on.server.Listen(ctx, "0.0.0.0:0")
	if err != nil {
		t.Fatalf("with keys: %v", err)
	}
	l.Close()
	if _, err := on.server.Listen(ctx, "nonsense"); err == nil {
		t.Error("it listens on nonsense")
	}
}

// serving starts a server on a socket of its own, and returns its address, what ends it and what
// Serve returned.
func serving(t *testing.T, w *world) (address string, end context.CancelFunc, ended chan error) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	l, err := w.server.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- w.server.Serve(ctx, l) }()
	return "http://" + l.Addr().String(), end, ended
}

const transfer = `{"type":"transfer","from":"alice","to":"bob","amount":"1","currency":"USD"}`

// inWork is a posting whose body is still to come, which the server waits for.
type inWork struct {
	net.Conn
	answer *bufio.Reader
}

func begin(t *testing.T, address string) *inWork {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	// The server asks for the rest once it reads the body, so then the request is in work.
	fmt.Fprintf(c, "POST /v1/transactions HTTP/1.1\r\nHost: localhost\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key: slow\r\nExpect: 100-continue\r\n"+
		"Content-Length: %d\r\n\r\n", len(transfer))
	r := &inWork{c, bufio.NewReader(c)}
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := r.answer.ReadString('\n'); line != want {
			t.Fatalf("the server says %q, %v", line, err)
		}
	}
	return r
}

// end sends the body and returns the status, or 0 when the server has hung up.
func (r *inWork) end(body string) int {
	if _, err := io.WriteString(r, body); err != nil {
		return 0
	}
	response, err := http.ReadResponse(r.answer, nil)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

func TestShutdownAnswersWhatIsInWork(t *testing.T) {
	w := start(t)
	w.furnish()
	address, end, ended := serving(t, w)
	request := begin(t, address)
	end()
	// From now on the server says that it is not ready, and takes no new connection.
	waitFor(t, "draining", func() bool {
		err := w.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "shutting down")
	})
	waitFor(t, "a closed listener", func() bool {
		_, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		return err != nil
	})
	if status := request.end(transfer); status != http.StatusCreated {
		t.Errorf("the request in work got status %d", status)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestShutdownWaitsNoLongerThanItsLimit(t *testing.T) {
	w := start(t, func(o *server.Options) { o.Limits.Drain = 20 * time.Millisecond })
	w.furnish()
	address, end, ended := serving(t, w)
	request := begin(t, address)
	end()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "still in work after 20ms") {
		t.Errorf("Serve returned %v", err)
	}
	if status := request.end(transfer); status != 0 {
		t.Errorf("the request that was given up got status %d", status)
	}
}

func TestBodiesThatDoNotArriveAreGivenUp(t *testing.T) {
	w := start(t, func(o *server.Options) { o.Limits.Read = 50 * time.Millisecond })
	w.furnish()
	address, end, ended := serving(t, w)
	request := begin(t, address)
	response, err := http.ReadResponse(request.answer, nil)
	if err != nil || response.StatusCode != http.StatusRequestTimeout {
		t.Errorf("got %v, %v", response, err)
	}
	end()
	<-ended
}

// A client that stops in the middle of a body gets an answer, and nothing of it is carried out.
func TestABodyThatEndsEarlyIsRefused(t *testing.T) {
	w := start(t)
	w.furnish()
	address, end, ended := serving(t, w)
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	whole := `{"type":"deposit","to":"alice","amount":"1.00","currency":"USD"}`
	fmt.Fprintf(c, "POST /v1/transactions HTTP/1.1\r\nHost: %s\r\nIdempotency-Key: early\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(address, "http://"), len(whole)+1, whole)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusBadRequest ||
		!strings.Contains(string(body), "body_malformed") {
		t.Errorf("got %d, %s, %v", response.StatusCode, body, err)
	}
	if _, err := w.TransactionByKey(t.Context(), "early"); !errors.Is(err,
		ledger.ErrTransactionNotFound) {
		t.Errorf("the half request was carried out: %v", err)
	}
	end()
	<-ended
}

// The time to read a request bounds nothing but that: work that goes on after it is not ended.
func TestAnAnswerMayTakeLongerThanItsRequest(t *testing.T) {
	var slow atomic.Bool
	w := start(t, func(o *server.Options) {
		o.Limits.Read = 100 * time.Millisecond
		now := o.Now
		o.Now = func() time.Time {
			if slow.Load() {
				time.Sleep(300 * time.Millisecond)
			}
			return now()
		}
	})
	w.furnish()
	address, end, ended := serving(t, w)
	slow.Store(true)
	for _, r := range []struct {
		method, path, body string
		status             int
	}{
		{post, "/v1/transactions", transfer, http.StatusCreated},
		{get, "/v1/accounts/alice/statement?from=2026-01-01&to=2026-01-02", "", http.StatusOK},
	} {
		sent, err := http.NewRequestWithContext(t.Context(), r.method, address+r.path,
			strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		sent.Header.Set("Content-Type", "application/json")
		sent.Header.Set("Idempotency-Key", "slow")
		got, err := http.DefaultClient.Do(sent)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != r.status {
			t.Errorf("%s %s: status %d", r.method, r.path, got.StatusCode)
		}
	}
	slow.Store(false)
	end()
	<-ended
}

// waitFor waits for a condition.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestDataOutlivesTheServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	onDisk := func(o *server.Options) { o.Memory, o.DataDir = false, dir }
	posting := client.Posting{
		IdempotencyKey: "kept", Type: client.Transfer, From: "alice", To: "bob", Amount: usd("1"),
	}
	var first client.Receipt
	var cursor string
	t.Run("write", func(t *testing.T) {
		w := start(t, onDisk)
		w.furnish()
		first = must[client.Receipt](t)(w.Post(t.Context(), posting))
		page := must[client.Page[client.Leg]](t)(
			w.LegsOfAccount(t.Context(), "alice", client.PageQuery{Limit: 1}))
		cursor = page.Next
		// A second server on the same directory is told who has it.
		_, err := server.Open(t.Context(), server.Options{DataDir: dir})
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("a second server: %v", err)
		}
	})
	t.Run("read", func(t *testing.T) {
		w := start(t, onDisk)
		again := must[client.Receipt](t)(w.Post(t.Context(), posting))
		if !again.Replayed || !cmp.Equal(again.Entry, first.Entry) {
			t.Errorf("after a restart (-first +again):\n%s", cmp.Diff(first.Entry, again.Entry))
		}
		page, err := w.LegsOfAccount(t.Context(), "alice",
			client.PageQuery{Limit: 1, Cursor: cursor})
		if err != nil || len(page.Items) != 1 || page.Items[0].Amount != usd("100") {
			t.Errorf("a cursor of the first server: %+v, %v", page, err)
		}
	})
	info, err := os.Stat(filepath.Join(dir, "cursor.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key of cursors: %v, %v", info, err)
	}
}

// withOtherBooks returns a directory whose table of the ledger is defined otherwise.
func withOtherBooks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := engine.Open(dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.CreateTable(t.Context(), &dynamo.CreateTableInput{
		TableName: "FinancialTransactions", KeySchema: dynamo.HashRangeKey("PK", "Sort"),
		AttributeDefinitions: []dynamo.AttributeDefinition{
			{AttributeName: "PK", AttributeType: dynamo.KindS},
			{AttributeName: "Sort", AttributeType: dynamo.KindS},
		},
		BillingMode: dynamo.BillingPayPerRequest,
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTablesThatDifferAreRefused(t *testing.T) {
	s, err := server.Open(t.Context(), server.Options{DataDir: withOtherBooks(t)})
	if err != nil {
		t.Fatal(err)
	}
	err = s.CheckLayout()
	if err == nil {
		t.Fatal("the table was taken")
	}
	for _, want := range []string{
		"table FinancialTransactions is not as this server needs it",
		"the key is (PK, Sort), not (PK, SK)", "index GSI1 is missing", "index GSI2 is missing",
		"check the name of the table",
	} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("the error does not say %q once:\n%v", want, err)
		}
	}
	wantOnlyRefused(t, must[*client.Client](t)(client.New("http://exchequer",
		client.Options{Transport: s.Transport()})), "table_differs", "ledger", "payments")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTablesThatDifferCanBeLookedAt(t *testing.T) {
	s, err := server.Open(t.Context(), server.Options{DataDir: withOtherBooks(t),
		Tables: server.TablesKeep})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := client.New("http://exchequer", client.Options{Transport: s.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	check := must[client.TableCheck](t)(c.CheckTable(t.Context(), "FinancialTransactions"))
	if check.OK || len(check.Differences) != 3 {
		t.Errorf("check %+v", check)
	}
	missing := must[client.TableCheck](t)(c.CheckTable(t.Context(), "ExchequerKeys"))
	if missing.OK || !cmp.Equal(missing.Differences, []string{"the table is missing"}) {
		t.Errorf("check of a table that is not there: %+v", missing)
	}
	created := must[[]client.Table](t)(c.CreateTables(t.Context()))
	for _, table := range created {
		if table.Created != (table.Name != "FinancialTransactions") {
			t.Errorf("created %+v", created)
		}
	}
}

func TestOptionsReachTheLedger(t *testing.T) {
	w := start(t, func(o *server.Options) {
		o.TableName, o.Tenant, o.StatusShards = "Books", "acme", 4
		o.NewID = func() string { return "made-up" }
		o.Logger = slog.New(slog.DiscardHandler)
	})
	if _, err := w.Table(t.Context(), "Books"); err != nil {
		t.Error(err)
	}
	m := must[client.MerchantReceipt](t)(w.CreateMerchant(t.Context(), client.NewMerchant{
		IdempotencyKey: "k", Name: "n",
	}))
	plain := start(t)
	other := must[client.MerchantReceipt](t)(plain.CreateMerchant(t.Context(), client.NewMerchant{
		IdempotencyKey: "k", Name: "n",
	}))
	if m.ID == other.ID {
		t.Error("two tenants share a key")
	}
	w.furnish()
	page := must[client.Page[client.Transaction]](t)(w.TransactionsByStatus(t.Context(),
		client.StatusQuery{Status: client.Completed}))
	if len(page.Items) != 1 {
		t.Errorf("over four shards: %+v", page)
	}
}

func TestAnswersHaveALimitButStreamsHaveNone(t *testing.T) {
	w := start(t, func(o *server.Options) { o.Limits.Answer = time.Nanosecond })
	p := w.send(get, "/v1/accounts", "").problem(t)
	if p.Code != "timed_out" || p.Status != http.StatusServiceUnavailable {
		t.Errorf("got %+v", p)
	}
	r := w.send(post, "/v1/reconciliation", `{"from":"2026-01-01","to":"2026-01-02"}`)
	if r.status != http.StatusOK {
		t.Errorf("a reconciliation has status %d: %s", r.status, r.body)
	}
}

func TestHeadersHaveALimit(t *testing.T) {
	w := start(t)
	address, end, ended := serving(t, w)
	r, err := http.NewRequestWithContext(t.Context(), get, address+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Long", strings.Repeat("x", 2*server.HeaderMax))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("long headers have status %d", response.StatusCode)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

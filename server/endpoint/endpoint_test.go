package endpoint_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/server/endpoint"
)

func open(t *testing.T, opts endpoint.Options) *endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// ask sends a request as a client would and returns the status and the body.
func ask(t *testing.T, base, operation, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestItServesUntilItIsToldToStop(t *testing.T) {
	orders, err := read(t, `{"TableName":"Orders",`+keyOnly+`,
		"TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, endpoint.Options{Memory: true, Definitions: orders})
	ctx, stop := context.WithCancel(t.Context())
	listener, err := e.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, listener) }()
	base := "http://" + listener.Addr().String() + "/"
	if status, text := ask(t, base, "PutItem",
		`{"TableName":"Orders","Item":{"PK":{"S":"a"},"n":{"N":"1.50"}}}`); status != 200 {
		t.Errorf("PutItem: %d %s", status, text)
	}
	if status, text := ask(t, base, "GetItem",
		`{"TableName":"Orders","Key":{"PK":{"S":"a"}}}`); status != 200 ||
		!strings.Contains(text, `"n":{"N":"1.5"}`) {
		t.Errorf("GetItem: %d %s", status, text)
	}
	if status, text := ask(t, base, "PutItem", `{"TableName":"Orders","Item":{`); status != 400 {
		t.Errorf("a broken request: %d %s", status, text)
	}
	ttl, err := e.DB().DescribeTimeToLive(ctx, "Orders")
	if err != nil || ttl.AttributeName != "ttl" {
		t.Errorf("expiry is %+v, %v", ttl, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve ends with %v", err)
	}
}

func TestTablesAreMadeOnce(t *testing.T) {
	orders, err := read(t, `{"TableName":"Orders",`+keyOnly+`}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, want := range []int{1, 0} {
		e, err := endpoint.Open(t.Context(), endpoint.Options{DataDir: dir, Definitions: orders})
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Created()) != want {
			t.Errorf("created %v, want %d", e.Created(), want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBadTablesNameWhatIsWrong(t *testing.T) {
	bad, err := read(t, `{"TableName":"Orders","KeySchema":`+
		`[{"AttributeName":"PK","KeyType":"HASH"}],"AttributeDefinitions":[]}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = endpoint.Open(t.Context(), endpoint.Options{Memory: true, Definitions: bad})
	if err == nil || !strings.Contains(err.Error(), "create table Orders: ") ||
		!strings.Contains(err.Error(), "PK") {
		t.Errorf("Open says %v", err)
	}
}

func TestTheNetworkIsKeptOutUnlessAsked(t *testing.T) {
	e := open(t, endpoint.Options{Memory: true})
	if _, err := e.Listen(t.Context(), "0.0.0.0:0"); !errors.Is(err, endpoint.ErrOpenAddress) {
		t.Errorf("Listen says %v", err)
	}
	e = open(t, endpoint.Options{Memory: true, Open: true})
	listener, err := e.Listen(t.Context(), "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}

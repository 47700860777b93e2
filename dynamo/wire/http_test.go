package wire_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

const getBody = `{"TableName":"Test","Key":{"pk":{"S":"a"},"sk":{"S":"1"}}}`

// request sends a request with headers in pairs straight to a handler.
func request(h http.Handler, method, path, body string, headers ...string,
) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Host = "localhost:8000"
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

func getItem(h http.Handler, headers ...string) *httptest.ResponseRecorder {
	return request(h, "POST", "/", getBody, append([]string{
		"X-Amz-Target", "DynamoDB_20120810.GetItem",
		"Content-Type", "application/x-amz-json-1.0",
	}, headers...)...)
}

func TestAnswersCarryTheHeadersOfTheService(t *testing.T) {
	w := getItem(wire.NewHandler(openStore(t), wire.Options{}))
	if w.Code != 200 || w.Body.String() != "{}" {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "application/x-amz-json-1.0" {
		t.Errorf("Content-Type %q", got)
	}
	id := w.Header().Get("x-amzn-RequestId")
	if !regexp.MustCompile(`^[A-Z0-9]{52}$`).MatchString(id) {
		t.Errorf("x-amzn-RequestId %q", id)
	}
	// The checksum of "{}", as the service sends it.
	if got := w.Header().Get("x-amz-crc32"); got != "2745614147" {
		t.Errorf("x-amz-crc32 %q", got)
	}
}

func TestLargeAnswersAreCompressedForThoseWhoAccept(t *testing.T) {
	db := openStore(t)
	text := strings.Repeat("long ", 2000)
	item := dynamo.Item{"pk": dynamo.S("a"), "sk": dynamo.S("1"), "text": dynamo.S(text)}
	_, err := db.Put(context.Background(), &dynamo.PutInput{TableName: "Test", Item: item})
	if err != nil {
		t.Fatal(err)
	}
	h := wire.NewHandler(db, wire.Options{})
	for _, test := range []struct {
		accept, coding string
		unpack         func(io.Reader) (io.Reader, error)
	}{
		{"gzip", "gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"br, GZIP;q=0.5", "gzip", func(r io.Reader) (io.Reader, error) {
			return gzip.NewReader(r)
		}},
		{"deflate", "deflate", func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
		{"gzip;q=0", "", nil},
		{"identity", "", nil},
		{"", "", nil},
	} {
		t.Run("accepting "+test.accept, func(t *testing.T) {
			w := getItem(h, "Accept-Encoding", test.accept)
			sent := w.Body.Bytes()
			sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(sent)), 10)
			if got := w.Header().Get("x-amz-crc32"); got != sum {
				t.Errorf("x-amz-crc32 %s of bytes with checksum %s", got, sum)
			}
			if got := w.Header().Get("Content-Encoding"); got != test.coding {
				t.Fatalf("Content-Encoding %q, want %q", got, test.coding)
			}
			var body io.Reader = bytes.NewReader(sent)
			if test.unpack != nil {
				if len(sent) > 1000 {
					t.Errorf("compressed to %d bytes", len(sent))
				}
				if body, err = test.unpack(body); err != nil {
					t.Fatal(err)
				}
			}
			unpacked, err := io.ReadAll(body)
			if err != nil || !bytes.Contains(unpacked, []byte(text)) {
				t.Errorf("got %d bytes, %v", len(unpacked), err)
			}
		})
	}
	if w := request(h, "POST", "/", "{}", "X-Amz-Target", "DynamoDB_20120810.Scan",
		"Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
		t.Error("a small answer was compressed")
	}
}

func TestRequestsThatAreNoneOfTheProtocolAreUnknown(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{})
	for _, test := range []struct {
		outcome, method, path string
		status                int
		headers               []string
	}{
		{"no target", "POST", "/", 400, nil},
		{"a target of another service", "POST", "/", 400, []string{"X-Amz-Target", "SQS.GetItem"}},
		{"a form", "POST", "/", 404, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"another path", "POST", "/tables", 404, nil},
		{"another method", "PUT", "/", 404, nil},
		{"a page", "GET", "/index.html", 404, nil},
	} {
		t.Run(test.outcome, func(t *testing.T) {
			w := request(h, test.method, test.path, "{}", test.headers...)
			const want = `{"__type":"com.amazon.coral.service#UnknownOperationException"}`
			if w.Code != test.status || w.Body.String() != want {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestHealthIsToldInText(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{Region: "eu-west-1"})
	for _, path := range []string{"/", "/healthz"} {
		w := request(h, "GET", path, "")
		if w.Code != 200 || !strings.HasPrefix(w.Body.String(),
			"healthy: dynamodb.eu-west-1.amazonaws.com") {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}

func TestBrowsersMayAsk(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{})
	w := request(h, "OPTIONS", "/", "", "Origin", "http://localhost:3000",
		"Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "x-amz-target, authorization")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "*",
		"Access-Control-Allow-Methods": "POST",
		"Access-Control-Allow-Headers": "x-amz-target, authorization",
		"Access-Control-Max-Age":       "172800",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if w := getItem(h, "Origin", "http://localhost:3000"); w.Header().Get(
		"Access-Control-Allow-Origin") != "*" {
		t.Error("the answer may not be read")
	}
	if w := getItem(h); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("an origin was allowed that nobody named")
	}
}

// endless is a body that never ends, of a length that is not told.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestBodiesOfMoreThan16MBAreRefused(t *testing.T) {
	h := wire.NewHandler(openStore(t), wire.Options{})
	target := []string{"X-Amz-Target", "DynamoDB_20120810.GetItem"}
	full := getBody + strings.Repeat(" ", 16<<20-len(getBody))
	if w := request(h, "POST", "/", full, target...); w.Code != 200 {
		t.Errorf("16 MB: got %d %s", w.Code, w.Body)
	}
	if w := request(h, "POST", "/", full+" ", target...); w.Code != 413 {
		t.Errorf("one byte more: got %d %s", w.Code, w.Body)
	}
	body := &endless{}
	req := httptest.NewRequest("POST", "/", body)
	req.Host = "localhost"
	req.ContentLength = -1
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 413 || body.read > 64<<20 {
		t.Errorf("no end: got %d after %d bytes", w.Code, body.read)
	}
}

// failing is a store of which one method fails.
type failing struct {
	dynamo.DB
	err error
}

func (f failing) Get(context.Context, *dynamo.GetInput) (*dynamo.GetOutput, error) {
	if f.err == nil {
		panic("out of order")
	}
	return nil, f.err
}

func TestFailuresInsideAreLoggedAndNotTold(t *testing.T) {
	for _, test := range []struct {
		outcome string
		err     error
		status  int
		body    string
		logged  string
	}{
		{
			"an error of the store", errors.New("disk /var/secret is full"), 500,
			`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",` +
				`"message":"The request processing has failed because of an unknown error"}`,
			"disk /var/secret is full",
		},
		{
			"a panic", nil, 500,
			`{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",` +
				`"message":"The request processing has failed because of an unknown error"}`,
			"out of order",
		},
		{
			"a refusal", dynamo.Invalid("no"), 400,
			`{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}`, "",
		},
		{
			"a throttle", &dynamo.Error{
				Code: dynamo.CodeThrottling, Message: "slow",
				ThrottlingReasons: []dynamo.ThrottlingReason{{
					Reason: "TableReadAccountLimitExceeded", Resource: "arn:x",
				}},
			}, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow",` +
				`"ThrottlingReasons":[{"reason":"TableReadAccountLimitExceeded","resource":"arn:x"}]}`,
			"",
		},
		{
			"an end of the time", context.DeadlineExceeded, 503,
			`{"__type":"com.amazon.coral.service#ServiceUnavailable",` +
				`"message":"The request was given up before it was answered"}`, "",
		},
	} {
		t.Run(test.outcome, func(t *testing.T) {
			var log bytes.Buffer
			h := wire.NewHandler(failing{err: test.err}, wire.Options{
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			w := getItem(h)
			if w.Code != test.status || w.Body.String() != test.body {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if test.logged == "" != (log.Len() == 0) ||
				!strings.Contains(log.String(), test.logged) {
				t.Errorf("logged %q", log.String())
			}
		})
	}
}

func TestStoresWithoutTablesDoNotServeThem(t *testing.T) {
	h := wire.NewHandler(failing{}, wire.Options{})
	w := request(h, "POST", "/", "{}", "X-Amz-Target", "DynamoDB_20120810.ListTables")
	if w.Code != 400 || !strings.Contains(w.Body.String(), "UnknownOperationException") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestBodiesThatDoNotComeAreGivenUp(t *testing.T) {
	server := wire.NewServer(wire.NewHandler(openStore(t), wire.Options{}))
	if server.ReadHeaderTimeout == 0 || server.ReadTimeout == 0 || server.WriteTimeout == 0 ||
		server.MaxHeaderBytes == 0 {
		t.Error("the server waits for ever")
	}
	server.ReadTimeout = 20 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"+
		"X-Amz-Target: DynamoDB_20120810.GetItem\r\n\r\n{")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn) // ends, as the server closes the connection
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
		t.Errorf("got %q, %v", answer, err)
	}
}

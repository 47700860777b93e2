package awssdk_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/awssdk"
)

// callTimeout is the bound of a call in these tests, and testTimeout that of a test which would
// hang without it.
const (
	callTimeout = 200 * time.Millisecond
	testTimeout = 20 * time.Second
)

// put makes one call to an endpoint, and fails the test if it has no end.
func put(t *testing.T, endpoint string) error {
	t.Helper()
	db, err := awssdk.Open(t.Context(), awssdk.Options{
		Region: "eu-central-1", Endpoint: endpoint, Timeout: callTimeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	_, err = db.Put(ctx, &dynamo.PutInput{
		TableName: "T", Item: dynamo.Item{"pk": dynamo.S("a")},
	})
	if ctx.Err() != nil {
		t.Fatalf("the call did not end within %s", testTimeout)
	}
	return err
}

func TestAStoreThatIsAwayIsUnavailable(t *testing.T) {
	hang := make(chan struct{})
	serve := func(answer http.HandlerFunc) string {
		s := httptest.NewServer(answer)
		t.Cleanup(s.Close)
		return s.URL
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	half := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"Attr`))
		_ = http.NewResponseController(w).Flush()
	}
	for _, c := range []struct {
		name, endpoint string
		unsent         bool
	}{
		{"nothing listens", gone, true},
		{"no answer comes", serve(func(http.ResponseWriter, *http.Request) { <-hang }), false},
		{"an answer stops half way", serve(func(w http.ResponseWriter, _ *http.Request) {
			half(w)
			<-hang
		}), false},
		{"an answer is cut off", serve(func(w http.ResponseWriter, _ *http.Request) {
			half(w)
			panic(http.ErrAbortHandler)
		}), false},
		{"the connection is cut", serve(func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := put(t, c.endpoint)
			var e *dynamo.Error
			if !errors.As(err, &e) || e.Code != dynamo.CodeServiceUnavailable ||
				e.Unsent != c.unsent {
				t.Fatalf("%v, unsent is to be %t", err, c.unsent)
			}
			if c.unsent && !strings.Contains(err.Error(), strings.TrimPrefix(gone, "http://")) {
				t.Errorf("%v does not name the address", err)
			}
		})
	}
	close(hang)
}

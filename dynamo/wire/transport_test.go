package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/exchequer-dev/exchequer/dynamo/wire"
)

func TestTransportHandsOverTheWholeRequest(t *testing.T) {
	transport := wire.Transport{Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got := strings.Join([]string{
				r.Method, r.Host, r.URL.Path, r.RequestURI, r.Header.Get("X-One"), string(body),
			}, " ")
			if want := "POST store.local / /?a=b 1 body"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			w.Header().Set("X-Two", "2")
			w.WriteHeader(http.StatusTeapot)
			w.Header().Set("X-Late", "3")
			io.WriteString(w, "answer")
		})}
	req, err := http.NewRequest("POST", "http://store.local?a=b", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-One", "1")
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusTeapot || string(body) != "answer" ||
		resp.ContentLength != 6 || resp.Header.Get("X-Two") != "2" {
		t.Errorf("got %+v, %q", resp, body)
	}
	if resp.Header.Get("X-Late") != "" {
		t.Error("a header got through that was set after the status was written")
	}
	if req.URL.Path != "" || req.RequestURI != "" {
		t.Error("the request was changed")
	}
}

func TestTransportEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	called := false
	transport := wire.Transport{Handler: http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			called = true
			cancel()
			<-r.Context().Done()
		})}
	for range 2 { // ended while it was served, and before
		req, err := http.NewRequestWithContext(ctx, "GET", "http://store.local/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.RoundTrip(req); !errors.Is(err, context.Canceled) || !called {
			t.Errorf("got %v", err)
		}
	}
}

package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/server"
)

// TestStreamsAreBounded holds as many uploads as there may be, and asks for one more; downloads go
// on meanwhile.
func TestStreamsAreBounded(t *testing.T) {
	const most = 3
	w := start(t, func(o *server.Options) { o.Limits.Streams = most })
	w.must(201, makeBank, "1")
	var bodies []*io.PipeWriter
	answers := make(chan int, most)
	// The body of a held upload is sent once the server begins to read it, when it has been let in.
	held := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: testTime}}
	for i := range most {
		r, body := io.Pipe()
		bodies = append(bodies, body)
		t.Cleanup(func() { _ = body.Close() })
		go func() {
			request, err := http.NewRequest(http.MethodPost, w.http.URL+
				"/v1/me/accounts/bank-1/uploads?id=held-"+string(rune('a'+i)), r)
			if err != nil {
				answers <- 0
				return
			}
			request.Header.Set("Content-Type", "application/octet-stream")
			request.Header.Set("Expect", "100-continue")
			response, err := held.Do(request)
			if err != nil {
				answers <- 0
				return
			}
			response.Body.Close()
			answers <- response.StatusCode
		}()
		if _, err := io.WriteString(body, "Date,Amount,Payee\n"); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(testTime)
	for {
		r := w.ask(makeUpload, "1", "")
		if r.status == http.StatusTooManyRequests {
			if codeOf(r.body) != "streams_busy" || r.header.Get("Retry-After") == "" {
				t.Errorf("one more: %s %v", r.body, r.header)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("one more than %d uploads was never refused: %d", most, r.status)
		}
	}
	w.must(200, asked{"GET", "/v1/me/export?format=csv", "", ""}, "1")
	for _, body := range bodies {
		if _, err := io.WriteString(body, "2025-08-15,-5.50,Coffee\n"); err != nil {
			t.Fatal(err)
		}
		body.Close()
	}
	for range bodies {
		select {
		case status := <-answers:
			if status != http.StatusCreated {
				t.Errorf("a held upload ended with %d", status)
			}
		case <-time.After(testTime):
			t.Fatalf("a held upload did not end within %s", testTime)
		}
	}
	other := makeUpload
	other.path = strings.Replace(other.path, "up-N", "later-N", 1)
	w.must(201, other, "1")
}

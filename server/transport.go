package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/exchequer-dev/exchequer/server/rest"
)

// Transport returns a way to the handler without a socket, for the client package. It is trusted:
// neither a key nor the name of a host is asked for. Streams arrive as they are written. Once the
// server is closed, the error is [http.ErrServerClosed].
func (s *Server) Transport() http.RoundTripper { return transport{s.api, &s.inside} }

// transport carries requests to a handler of the same process.
type transport struct {
	handler http.Handler
	inside  *requests
}

// requests are those whose handler has not returned. None begins after they are closed, because its
// handler would work on a store that is being closed.
type requests struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// begin reports whether a request may begin. It must end.
func (r *requests) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.running.Add(1)
	}
	return !r.closed
}

func (r *requests) end() { r.running.Done() }

// close returns once all requests have ended.
func (r *requests) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
}

// RoundTrip calls the handler in a new goroutine, and returns as soon as it has sent the headers of
// its response.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.inside.begin() {
		return nil, http.ErrServerClosed
	}
	ctx, cancel := context.WithCancel(r.Context())
	request := r.Clone(rest.Trust(ctx))
	request.RequestURI = r.URL.RequestURI()
	request.RemoteAddr = "in-process"
	if request.Host == "" {
		request.Host = r.URL.Host
	}
	if request.Body == nil {
		request.Body = http.NoBody
	}
	reader, writer := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: writer, begun: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		defer t.inside.end()
		err := serve(t.handler, w, request)
		w.WriteHeader(http.StatusOK)
		ended <- err
		// After a panic of the handler the response is incomplete, so the reader gets an error.
		_ = writer.CloseWithError(err)
		request.Body.Close()
	}()
	select {
	case <-w.begun:
	case <-ctx.Done():
		cancel()
		_ = reader.CloseWithError(ctx.Err())
		return nil, ctx.Err()
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, ContentLength: -1,
		Body: &pipeBody{PipeReader: reader, cancel: cancel}, Request: r,
	}, nil
}

// serve calls a handler and turns its panic, which net/http would catch too, into an error.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the handler broke off: %v", fault)
		}
	}()
	h.ServeHTTP(w, r)
	return nil
}

// pipeWriter is the handler's side of an answer.
type pipeWriter struct {
	header http.Header
	sent   http.Header // What the header was when the answer began.
	status int
	body   *io.PipeWriter
	begun  chan struct{}
	once   sync.Once
}

// Header returns the headers that the answer will have.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader begins the answer.
func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

// Write waits until the reader has taken the bytes.
func (w *pipeWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data)
}

// Flush does nothing: what is written has been read.
func (w *pipeWriter) Flush() {}

// pipeBody ends the handler's context when its reader closes it.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close ends the answer.
func (b *pipeBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

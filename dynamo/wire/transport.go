package wire

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
)

// Transport passes the requests of a client to a handler in the same process, without a socket. Set
// it in the HTTP client of an AWS SDK to use a store through the SDK.
type Transport struct {
	// Handler serves the requests; usually a [Handler].
	Handler http.Handler
}

// RoundTrip calls the handler on the caller's goroutine. It implements [http.RoundTripper].
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	// A handler may change its request, and the client may send its own again.
	served := req.Clone(context.WithValue(req.Context(), inProcess{}, true))
	served.RequestURI = req.URL.RequestURI()
	// Handlers that read the address of the caller must get one that can be parsed.
	served.RemoteAddr = "127.0.0.1:0"
	if served.URL.Path == "" {
		served.URL.Path = "/"
	}
	if served.Host == "" {
		served.Host = req.URL.Host
	}
	if served.Body == nil {
		served.Body = http.NoBody
	}
	rec := recorder{header: http.Header{}}
	t.Handler.ServeHTTP(&rec, served)
	closeBody(req)
	// A cancelled client gets the error of its context and not a response, as from a network.
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return rec.response(req), nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// recorder records the response of a handler.
type recorder struct {
	header http.Header
	sent   http.Header // the header at the time when the status was written
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		// Headers that are changed after the status are not sent, as with net/http.
		r.sent = r.header.Clone()
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

func (r *recorder) response(req *http.Request) *http.Response {
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        strconv.Itoa(r.status) + " " + http.StatusText(r.status),
		StatusCode:    r.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        r.sent,
		Body:          io.NopCloser(&r.body),
		ContentLength: int64(r.body.Len()),
		Request:       req,
	}
}

package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/exchequer-dev/exchequer/api"
)

// The paths that are no operations of the API.
const (
	docsPath    = "/docs"
	openAPIPath = "/openapi.json"
	healthPath  = "/healthz"
	readyPath   = "/readyz"
	metricsPath = "/metrics"
)

// pagePolicy lets the page load nothing from anywhere; its one style sheet is inside it.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// registerPages adds what is no operation: the description, and what watches the server. The
// description is written when somebody first asks for it: a command that runs the API in its own
// process never does, and starts in half the time.
func (a *Router) registerPages() {
	a.finishDescription()
	finish := sync.OnceFunc(func() {
		a.exemplify()
		a.prune()
	})
	spec := sync.OnceValues(func() ([]byte, error) {
		finish()
		return a.writeSpec()
	})
	page := sync.OnceValues(func() ([]byte, error) {
		finish()
		var page bytes.Buffer
		err := writePage(&page, a.huma.OpenAPI())
		return page.Bytes(), err
	})
	a.mux.HandleFunc("GET "+openAPIPath, lazy("application/vnd.oai.openapi+json", spec))
	a.mux.HandleFunc("GET "+docsPath, lazy("text/html; charset=utf-8", page))
	a.mux.Handle("GET /{$}", http.RedirectHandler(docsPath, http.StatusSeeOther))
	a.mux.HandleFunc("GET "+healthPath, fixed(mediaJSON, []byte(`{"status":"ok"}`+"\n")))
	a.mux.HandleFunc("GET "+readyPath, a.ready)
	if a.opts.Metrics != nil {
		a.mux.Handle("GET "+metricsPath, a.protect(api.MetricsRead, a.opts.Metrics))
	}
}

func (a *Router) writeSpec() ([]byte, error) {
	spec, err := json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return append(spec, '\n'), nil
}

// lazy answers always the same, made at the first request.
func lazy(mediaType string, body func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := body()
		if err != nil {
			http.Error(w, "the description cannot be written", http.StatusInternalServerError)
			return
		}
		fixed(mediaType, text)(w, r)
	}
}

// fixed answers always the same.
func fixed(mediaType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Security-Policy", pagePolicy)
		// A caller that is gone cannot be told.
		_, _ = w.Write(body)
	}
}

// ready reports whether the server can answer.
func (a *Router) ready(w http.ResponseWriter, r *http.Request) {
	if a.opts.Ready != nil {
		if err := a.opts.Ready(r.Context()); err != nil {
			a.document(r.Context(), err).write(w)
			return
		}
	}
	fixed(mediaJSON, []byte(`{"status":"ready"}`+"\n"))(w, r)
}

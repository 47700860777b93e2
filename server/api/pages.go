package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/exchequer-dev/exchequer/server/api/apikey"
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

// registerPages adds what is no operation: the description, and what watches the server.
func (a *API) registerPages() error {
	a.finishDescription()
	spec, err := json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
	if err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	var page bytes.Buffer
	if err := writePage(&page, a.huma.OpenAPI()); err != nil {
		return fmt.Errorf("write the description: %w", err)
	}
	a.spec = append(spec, '\n')
	a.mux.HandleFunc("GET "+openAPIPath, fixed("application/vnd.oai.openapi+json", a.spec))
	a.mux.HandleFunc("GET "+docsPath, fixed("text/html; charset=utf-8", page.Bytes()))
	a.mux.Handle("GET /{$}", http.RedirectHandler(docsPath, http.StatusSeeOther))
	a.mux.HandleFunc("GET "+healthPath, fixed(mediaJSON, []byte(`{"status":"ok"}`+"\n")))
	a.mux.HandleFunc("GET "+readyPath, a.ready)
	if a.opts.Metrics != nil {
		a.mux.Handle("GET "+metricsPath, a.protect(apikey.MetricsRead, a.opts.Metrics))
	}
	return nil
}

// OpenAPI returns the OpenAPI 3.1 document.
func (a *API) OpenAPI() []byte { return a.spec }

// fixed answers always the same.
func fixed(mediaType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Security-Policy", pagePolicy)
		// A caller that is gone cannot be told.
		_, _ = w.Write(body)
	}
}

// ready tells whether the server can answer.
func (a *API) ready(w http.ResponseWriter, r *http.Request) {
	if a.opts.Ready != nil {
		if err := a.opts.Ready(r.Context()); err != nil {
			a.document(r.Context(), err).write(w)
			return
		}
	}
	fixed(mediaJSON, []byte(`{"status":"ready"}`+"\n"))(w, r)
}

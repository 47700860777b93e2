package server_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// deaf is the side of a caller that has left: nothing can be sent to it.
type deaf struct {
	*httptest.ResponseRecorder
}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("the caller has left") }

// An answer that cannot be sent is broken off, and is no fault of the server: the log says why, and
// has no panic.
func TestACallerThatHasLeftIsNoFaultOfTheServer(t *testing.T) {
	w := start(t)
	w.furnish()
	for _, path := range []string{"/v1/accounts", "/v1/accounts/nobody", "/openapi.json"} {
		func() {
			defer func() {
				if fault := recover(); fault != nil && fault != http.ErrAbortHandler {
					t.Errorf("%s: %v", path, fault)
				}
			}()
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			w.server.Handler().ServeHTTP(deaf{httptest.NewRecorder()}, r)
		}()
	}
	text := w.log.String()
	if strings.Contains(text, "panic") || strings.Contains(text, "level=ERROR") {
		t.Errorf("the log has a fault of the server:\n%s", text)
	}
	if !strings.Contains(text, "the caller has left") {
		t.Errorf("the log does not say why the answer was not sent:\n%s", text)
	}
}

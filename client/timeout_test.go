package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/client"
)

const (
	// silentTime is the bound of a wait here, and endTime that of a test which would hang.
	silentTime = 150 * time.Millisecond
	endTime    = 20 * time.Second
)

// TestEachWaitForAServerHasABound asks servers that stop before their answer and in the middle of
// it.
func TestEachWaitForAServerHasABound(t *testing.T) {
	hang := make(chan struct{})
	head := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
	}
	var asked atomic.Int32
	for name, stop := range map[string]func(w http.ResponseWriter){
		"before the answer":       func(http.ResponseWriter) {},
		"after the head":          func(w http.ResponseWriter) { head(w, "") },
		"in the middle of a body": func(w http.ResponseWriter) { head(w, `{"id":"a`) },
		"in the middle of a line": func(w http.ResponseWriter) { head(w, `{"progress":{}}`+"\n{") },
		"in the middle of a problem": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			head(w, `{"code":`)
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			_, _ = io.Copy(io.Discard, r.Body)
			stop(w)
			<-hang
		}))
		c, err := client.New(s.URL, client.Options{Timeout: silentTime, LongTimeout: silentTime})
		if err != nil {
			t.Fatal(err)
		}
		host := strings.TrimPrefix(s.URL, "http://")
		for way, ask := range map[string]func(context.Context) error{
			"get": func(ctx context.Context) error { _, err := c.Account(ctx, "a"); return err },
			"post": func(ctx context.Context) error {
				_, err := c.OpenAccount(ctx, client.NewAccount{ID: "a"})
				return err
			},
			"delete": func(ctx context.Context) error {
				return c.Rates().Delete(ctx, "EUR", "USD")
			},
			"stream": func(ctx context.Context) error {
				_, err := c.EraseEverything(ctx, nil)
				return err
			},
			"download": func(ctx context.Context) error { return c.Archive(ctx, io.Discard) },
			"upload": func(ctx context.Context) error {
				_, err := c.Restore(ctx, strings.NewReader("x"), 1)
				return err
			},
			"ready": c.Ready,
		} {
			t.Run(fmt.Sprintf("%s, %s", name, way), func(t *testing.T) {
				asked.Store(0)
				ctx, cancel := context.WithTimeout(t.Context(), endTime)
				defer cancel()
				err := ask(ctx)
				if ctx.Err() != nil {
					t.Fatalf("the wait had no end within %s", endTime)
				}
				if strings.Contains(name, "problem") && err != nil {
					return // The status alone says that it failed.
				}
				if !errors.Is(err, client.ErrNoAnswer) ||
					!errors.Is(err, context.DeadlineExceeded) ||
					!strings.Contains(err.Error(), host) {
					t.Errorf("got %v", err)
				}
				if n := asked.Load(); n != 1 {
					t.Errorf("it was asked %d times", n)
				}
			})
		}
		t.Cleanup(s.Close)
	}
	close(hang)
}

// TestAnAnswerThatFlowsIsNotCutOff reads an answer that takes longer in all than the bound.
func TestAnAnswerThatFlowsIsNotCutOff(t *testing.T) {
	const pieces = 8
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range pieces {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(silentTime / 3)
		}
	}))
	defer s.Close()
	c, err := client.New(s.URL, client.Options{LongTimeout: silentTime})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := c.Archive(t.Context(), &got); err != nil || got.Len() != pieces {
		t.Errorf("%q, %v", got.String(), err)
	}
}

package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/api"
)

// lineTime is how long a caller may take to read a line.
const lineTime = 30 * time.Second

// tellAfter is the minimum time between two lines of progress.
const tellAfter = 100 * time.Millisecond

// stream answers with what a long work comes to, and, where the caller asks for lines, with its
// progress before that. What is wrong with the request itself is found before the first line, so
// that it still has a status of its own.
func stream[P, R any](
	a *Router, accept string, work func(context.Context, func(P)) (R, error),
	line func(*P, *R, *api.Problem) any,
) *streamed {
	lines := strings.Contains(accept, mediaLines)
	return &streamed{Body: func(c huma.Context) {
		ctx, gone := context.WithCancel(c.Context())
		defer gone()
		s := &lineWriter{c: c, gone: gone}
		outcome, err := work(ctx, func(p P) {
			if lines {
				s.progress(line(&p, nil, nil))
			}
		})
		switch {
		case err != nil && !s.begun:
			a.fail(c, err)
		case err != nil:
			s.write(line(nil, nil, &a.document(c.Context(), err).Problem))
		case lines:
			s.write(line(nil, &outcome, nil))
		default:
			c.SetHeader("Content-Type", mediaJSON)
			c.SetStatus(http.StatusOK)
			// A caller that is gone cannot be told.
			_ = marshal(c.BodyWriter(), outcome)
		}
	}}
}

// lineWriter writes lines of a stream. It may be used by several goroutines.
type lineWriter struct {
	c     huma.Context
	gone  context.CancelFunc // ends the work
	mu    sync.Mutex
	begun bool
	last  time.Time
}

// progress writes a line unless there was one just now.
func (s *lineWriter) progress(line any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// It is for people, so the clock of tests does not matter.
	if now := time.Now(); now.Sub(s.last) >= tellAfter {
		s.last = now
		s.send(line)
	}
}

func (s *lineWriter) write(line any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(line)
}

func (s *lineWriter) send(line any) {
	if !s.begun {
		s.begun = true
		s.c.SetHeader("Content-Type", mediaLines)
		s.c.SetStatus(http.StatusOK)
	}
	// A caller that reads no more must not hold up the work of others, and is as good as gone.
	_, w := humago.Unwrap(s.c)
	connection := http.NewResponseController(w)
	_ = connection.SetWriteDeadline(time.Now().Add(lineTime)) // There is none in one process.
	err := json.NewEncoder(s.c.BodyWriter()).Encode(line)
	if err = errors.Join(err, connection.Flush()); err != nil {
		s.gone()
	}
}

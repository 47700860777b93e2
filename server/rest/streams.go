package rest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/exchequer-dev/exchequer/problem"
)

// ErrStreamsBusy refuses one more long answer.
var ErrStreamsBusy = Problems.Define(problem.Throttled, "streams_busy",
	"{open} downloads, uploads and other long answers are in progress, which is the limit",
	"Wait until one of them has ended, then send the same request again")

const (
	// streamPiece is how much of a stream is written at once: a client has the whole time of
	// Options.Stall for each piece, so that one on a slow line gets its answer too.
	streamPiece = 16 << 10
	// callerShare is the part of the streams that one caller may have: a quarter.
	callerShare = 4
)

// longAnswers are the long answers in progress. Bodies that come in and answers that go out are
// bounded each by themselves, so that slow uploads keep nobody's download waiting.
type longAnswers struct {
	most  int
	stall time.Duration

	mu     sync.Mutex
	open   map[*longAnswer]bool
	counts map[string]int // By direction, and by direction and caller.
	cutoff time.Time      // When the server is to have ended them; zero while it runs.
}

// longAnswer is one long answer, or one large body.
type longAnswer struct {
	all     *longAnswers
	control *http.ResponseController
	cancel  context.CancelFunc
	keys    [2]string
}

func newLongAnswers(most int, stall time.Duration) *longAnswers {
	return &longAnswers{
		most: most, stall: stall, open: map[*longAnswer]bool{}, counts: map[string]int{},
	}
}

// begin counts a stream, or returns ErrStreamsBusy. Requests of this process are not bounded.
func (s *longAnswers) begin(
	x *Exchange, direction string, w http.ResponseWriter, cancel context.CancelFunc,
) (*longAnswer, error) {
	caller := direction + " " + x.caller.name()
	one := &longAnswer{all: s, control: http.NewResponseController(w), cancel: cancel,
		keys: [2]string{direction, caller}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !x.trusted && s.most > 0 {
		share := max(1, s.most/callerShare)
		if n := s.counts[direction]; n >= s.most {
			return nil, ErrStreamsBusy.With("open", n)
		}
		if n := s.counts[caller]; n >= share && caller != direction+" " {
			return nil, ErrStreamsBusy.With("open", n)
		}
	}
	for _, key := range one.keys {
		s.counts[key]++
	}
	s.open[one] = true
	return one, nil
}

// end stops counting a stream, and leaves it time to send what is still held back.
func (one *longAnswer) end() {
	one.renew()
	s := one.all
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, one)
	for _, key := range one.keys {
		if s.counts[key]--; s.counts[key] == 0 {
			delete(s.counts, key)
		}
	}
}

// renew gives the client time to take the next piece. Where there is no connection, as in one
// process, there is no deadline to set.
func (one *longAnswer) renew() {
	s := one.all
	s.mu.Lock()
	defer s.mu.Unlock()
	until := time.Now().Add(s.stall)
	if !s.cutoff.IsZero() && s.cutoff.Before(until) {
		until = s.cutoff
	}
	_ = one.control.SetWriteDeadline(until)
}

// write sends bytes piece by piece: it waits until the client has taken them.
func (one *longAnswer) write(w http.ResponseWriter, data []byte) (n int, err error) {
	for {
		piece := data[n:min(len(data), n+streamPiece)]
		one.renew()
		m, err := w.Write(piece)
		if n += m; err != nil || n == len(data) {
			return n, err
		}
	}
}

// EndStreams makes the long answers in progress end by an instant: those that are still sent then
// are broken off. A server that is told to stop does so.
func (a *Router) EndStreams(by time.Time) {
	s := a.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutoff = by
	for one := range s.open {
		// A write that waits for its client must not wait any longer.
		_ = one.control.SetWriteDeadline(by)
	}
	time.AfterFunc(time.Until(by), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for one := range s.open {
			one.cancel()
		}
	})
}

// The two directions of streams.
const (
	streamsIn  = "in"
	streamsOut = "out"
)

// unbounded lets a stream take as long as its client goes on taking it: the server's own limit is
// lifted, and each piece has one of its own.
func (a *Router) unbounded(direction string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		_, w := humago.Unwrap(ctx)
		limited, cancel := context.WithCancel(ctx.Context())
		defer cancel()
		one, err := a.streams.begin(exchangeOf(limited), direction, w, cancel)
		if err != nil {
			a.fail(ctx, err)
			return
		}
		defer one.end()
		_ = one.control.SetWriteDeadline(time.Time{})
		if answer, ok := w.(*recorder); ok {
			answer.stream = one
		}
		next(&exchanged{frameworkContext: huma.WithContext(ctx, limited)})
	}
}

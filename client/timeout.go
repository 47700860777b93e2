package client

import (
	"context"
	"io"
	"time"
)

// The defaults of Options.Timeout and Options.LongTimeout: the first is longer than the time in
// which a server answers an ordinary request or refuses it, the second than any pause in the answer
// to a long one.
const (
	TimeoutDefault     = 40 * time.Second
	LongTimeoutDefault = 10 * time.Minute
)

// silence is the error of a server that was silent for too long.
type silence struct{ after time.Duration }

func (s *silence) Error() string { return "nothing came for " + s.after.String() }

// Is makes it a deadline that was exceeded, so that the request is not sent again: the server had
// its time.
func (s *silence) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout marks it for callers that ask net.Error.
func (s *silence) Timeout() bool { return true }

// patience bounds the time for which nothing comes or goes in one exchange with a server.
type patience struct {
	after time.Duration
	timer *time.Timer // Nil without a bound.
	ctx   context.Context
	end   context.CancelCauseFunc
}

// patient returns a context that ends when a server is silent for too long.
func patient(ctx context.Context, after time.Duration) *patience {
	p := &patience{after: after}
	p.ctx, p.end = context.WithCancelCause(ctx)
	if after > 0 {
		p.timer = time.AfterFunc(after, func() { p.end(&silence{after}) })
	}
	return p
}

// progress notes that something came or went.
func (p *patience) progress(n int) {
	if n > 0 && p.timer != nil {
		p.timer.Reset(p.after)
	}
}

// cause returns the silence that ended an exchange, or the error as it is.
func (p *patience) cause(err error) error {
	if s, ok := context.Cause(p.ctx).(*silence); ok && err != nil {
		return s
	}
	return err
}

func (p *patience) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.end(nil)
}

// sending is a body on its way to the server.
type sending struct {
	io.Reader
	p *patience
}

// Read reads on.
func (s sending) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	s.p.progress(n)
	return n, err
}

// receiving is the body of an answer.
type receiving struct {
	io.ReadCloser
	p *patience
}

// Read reads on, until the server is silent for too long.
func (r receiving) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.p.progress(n)
	if err != nil && err != io.EOF {
		err = r.p.cause(err)
	}
	return n, err
}

// Close ends the exchange.
func (r receiving) Close() error {
	err := r.ReadCloser.Close()
	r.p.stop()
	return err
}

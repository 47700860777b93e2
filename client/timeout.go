package client

import (
	"context"
	"io"
	"time"
)

// The defaults of Options.Timeout and Options.LongTimeout. The first is longer than the time in
// which a server answers or refuses an ordinary request, the second is longer than any pause in a
// long response.
const (
	TimeoutDefault     = 40 * time.Second
	LongTimeoutDefault = 10 * time.Minute
)

// silence is the error of a server that sent nothing for too long.
type silence struct{ after time.Duration }

func (s *silence) Error() string { return "nothing came for " + s.after.String() }

// Is reports true for context.DeadlineExceeded, so that the request is not retried: the server had
// its time.
func (s *silence) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout makes it a timeout for callers that test for net.Error.
func (s *silence) Timeout() bool { return true }

// patience limits the time in which nothing is sent or received in one exchange.
type patience struct {
	after time.Duration
	timer *time.Timer // nil without a limit
	ctx   context.Context
	end   context.CancelCauseFunc
}

// patient returns a context that ends if a server sends nothing for too long.
func patient(ctx context.Context, after time.Duration) *patience {
	p := &patience{after: after}
	p.ctx, p.end = context.WithCancelCause(ctx)
	if after > 0 {
		p.timer = time.AfterFunc(after, func() { p.end(&silence{after}) })
	}
	return p
}

// progress records that data was sent or received.
func (p *patience) progress(n int) {
	if n > 0 && p.timer != nil {
		p.timer.Reset(p.after)
	}
}

// cause returns the silence that ended an exchange, or else the error itself.
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

// sending is the body of a request.
type sending struct {
	io.Reader
	p *patience
}

// Read reads from the body.
func (s sending) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	s.p.progress(n)
	return n, err
}

// receiving is the body of a response.
type receiving struct {
	io.ReadCloser
	p *patience
}

// Read reads from the body until the server sends nothing for too long.
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

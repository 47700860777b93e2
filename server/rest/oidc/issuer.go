package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

const (
	// RefreshGap is the least time between two readings of the keys, whatever tokens come. It is
	// also how long a key may stay unknown that the issuer began to use right after a reading.
	RefreshGap = 10 * time.Second
	// RetryGap is the same after a reading that failed: the issuer may be back any moment.
	RetryGap = 2 * time.Second
	// KeysFreshFor is when keys are read again though no token asks for it, so that one that the
	// issuer withdrew, because it was stolen, stops opening this server.
	KeysFreshFor = 15 * time.Minute
	// KeysKeptFor is how long keys are used while the issuer does not answer.
	KeysKeptFor = 24 * time.Hour

	// readTime bounds a reading of the keys, which requests of users wait for.
	readTime = 5 * time.Second
	// answerMax bounds what is read of the issuer's answers, in bytes: 64 large keys have a tenth.
	answerMax = 1 << 20
	// causeMax is the maximum length of an issuer's error in the log.
	causeMax = 200
)

// NameError reports that the issuer's own name is not the one that is configured.
type NameError struct {
	Configured, Published string
}

// Error names what to configure.
func (e *NameError) Error() string {
	text := fmt.Sprintf("the issuer calls itself %q, but is configured as %q: configure it exactly "+
		"as it calls itself, since its tokens are compared with that, character by character",
		e.Published, e.Configured)
	if strings.TrimSuffix(e.Published, "/") == strings.TrimSuffix(e.Configured, "/") {
		text += "; here only the slash at the end differs"
	}
	return text
}

// issuer knows where the keys are, and those that were read last.
type issuer struct {
	opts   Options
	client *http.Client
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	cancel context.CancelFunc // Ends the last reading.
	keysAt string             // Where the keys are; empty until the issuer has said so.
	keys   published
	read   time.Time // When the keys were read; zero for never.
	tried  time.Time // When a reading began last; zero for never.
	failed error     // Why the last reading failed, if it did.
	flight *flight   // The reading that is under way, or nil.
}

// flight is a reading that any number of requests wait for.
type flight struct {
	done chan struct{}
	keys published // Set before done is closed, as is err.
	err  error
}

func newIssuer(opts Options) *issuer {
	return &issuer{
		opts: opts, cancel: func() {},
		client: &http.Client{
			Transport: bounded{opts.Transport},
			// What is fetched here decides who is who: no other address may stand in for it.
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
	}
}

func (i *issuer) close() {
	i.mu.Lock()
	i.closed = true
	i.cancel()
	i.mu.Unlock()
	i.work.Wait()
}

// verify returns what a token's signature covers.
func (i *issuer) verify(ctx context.Context, token *jose.JSONWebSignature) ([]byte, error) {
	id := token.Signatures[0].Protected.KeyID
	keys, err := i.current(ctx)
	if err != nil {
		return nil, err
	}
	if candidates := keys.named(id); len(candidates) > 0 {
		if payload, ok := candidates.verify(token); ok {
			return payload, nil
		}
		if id != "" {
			return nil, ErrSignature
		}
	}
	// The issuer may have begun to use another key.
	keys, err = i.newer(ctx)
	if err != nil {
		return nil, err
	}
	candidates := keys.named(id)
	if len(candidates) == 0 {
		return nil, ErrKeyUnknown
	}
	if payload, ok := candidates.verify(token); ok {
		return payload, nil
	}
	return nil, ErrSignature
}

// current returns the keys to verify with, and sees to it that they do not grow old.
func (i *issuer) current(ctx context.Context) (published, error) {
	now := i.opts.Now()
	i.mu.Lock()
	age := now.Sub(i.read)
	if i.keys == nil || age >= KeysKeptFor {
		return i.unlockAndWait(ctx, now)
	}
	defer i.mu.Unlock()
	if age >= KeysFreshFor {
		i.begin(now) // Nobody waits for it: these keys will do.
	}
	return i.keys, nil
}

// newer returns keys that may be newer than those that did not do; the same ones if these were read
// just now.
func (i *issuer) newer(ctx context.Context) (published, error) {
	now := i.opts.Now()
	i.mu.Lock()
	if i.flight == nil && i.failed == nil && within(now.Sub(i.tried), RefreshGap) {
		defer i.mu.Unlock()
		return i.keys, nil
	}
	return i.unlockAndWait(ctx, now)
}

// within reports whether a time was less than a gap ago. One that is yet to come was not: a clock
// that was turned back must not keep the verifier from trying.
func within(since, gap time.Duration) bool { return since >= 0 && since < gap }

// refreshed reads the keys now, or joins a reading that is under way.
func (i *issuer) refreshed(ctx context.Context) (published, error) {
	now := i.opts.Now()
	i.mu.Lock()
	return i.unlockAndWait(ctx, now)
}

// unlockAndWait waits for a reading of the keys, which it begins unless one is under way. After one
// that failed it waits for nothing, and fails too, until RetryGap is over.
func (i *issuer) unlockAndWait(ctx context.Context, now time.Time) (published, error) {
	f := i.begin(now)
	failed := i.failed
	i.mu.Unlock()
	if f == nil {
		return nil, i.unavailable(failed)
	}
	select {
	case <-f.done:
		return f.keys, i.unavailable(f.err)
	case <-ctx.Done():
		return nil, i.unavailable(ctx.Err())
	}
}

// unavailable reports that the issuer could not be asked, unless it could.
func (i *issuer) unavailable(cause error) error {
	if cause == nil {
		return nil
	}
	return ErrUnavailable.With("issuer", i.opts.Issuer).Wrap(cause)
}

var errClosed = errors.New("the verifier is closed")

// begin returns the reading that is under way, or one that begins now; or nil if the last one
// failed just now, or if nothing is to be read any more. The lock is held.
func (i *issuer) begin(now time.Time) *flight {
	if i.flight != nil {
		return i.flight
	}
	if i.closed {
		i.failed = errClosed
		return nil
	}
	if i.failed != nil && within(now.Sub(i.tried), RetryGap) {
		return nil
	}
	// No single request may end the reading: others wait for it too.
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	f := &flight{done: make(chan struct{})}
	i.flight, i.tried, i.cancel = f, now, cancel
	known := i.keysAt
	i.work.Go(func() {
		defer cancel()
		keys, keysAt, err := i.fetch(ctx, known)
		i.land(f, keys, keysAt, err)
	})
	return f
}

// land ends a reading.
func (i *issuer) land(f *flight, keys published, keysAt string, err error) {
	now := i.opts.Now()
	i.mu.Lock()
	before, closed := i.failed, i.closed
	i.flight, i.failed, i.keysAt = nil, err, keysAt
	if err == nil {
		i.keys, i.read = keys, now
	}
	i.mu.Unlock()
	if !closed {
		i.report(before, err, len(keys))
	}
	f.keys, f.err = keys, err
	close(f.done)
}

// report logs what changed.
func (i *issuer) report(before, err error, keys int) {
	log := i.opts.Logger.With(slog.String("issuer", i.opts.Issuer))
	switch {
	case err != nil && (before == nil || before.Error() != err.Error()):
		log.Warn("the issuer of users' tokens does not answer", "err", err.Error())
	case err == nil && before != nil:
		log.Info("the issuer of users' tokens answers again", "keys", keys)
	}
}

// fetch reads the keys, and before that where they are unless this is known. After a failure it is
// no longer known: the keys may have moved.
func (i *issuer) fetch(
	ctx context.Context, keysAt string,
) (keys published, at string, err error) {
	ctx = oidc.ClientContext(ctx, i.client)
	if keysAt == "" {
		if keysAt, err = i.discover(ctx); err != nil {
			return nil, "", err
		}
	}
	text, err := i.get(ctx, keysAt)
	if err == nil {
		keys, err = readKeys(text)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the keys of the issuer: %w", err)
	}
	return keys, keysAt, nil
}

// discover returns the address of the keys (OpenID Connect Discovery 1.0, section 4).
func (i *issuer) discover(ctx context.Context) (string, error) {
	provider, err := oidc.NewProvider(ctx, i.opts.Issuer)
	var mismatch *oidc.IssuerMismatchError
	switch {
	case errors.As(err, &mismatch):
		return "", &NameError{Configured: mismatch.Provided, Published: mismatch.Discovered}
	case err != nil:
		return "", fmt.Errorf("read the description of the issuer: %s", cut(err.Error()))
	}
	var described struct {
		KeysAt string `json:"jwks_uri"`
	}
	if err := provider.Claims(&described); err != nil {
		return "", fmt.Errorf("read the description of the issuer: %w", err)
	}
	if err := checkAddress("the address of its keys", described.KeysAt); err != nil {
		return "", fmt.Errorf("read the description of the issuer: %w", err)
	}
	return described.KeysAt, nil
}

// get reads what is at an address.
func (i *issuer) get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := i.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s has status %s", address, response.Status)
	}
	return io.ReadAll(response.Body)
}

// bounded cuts off answers that are too long to be what was asked for.
type bounded struct{ http.RoundTripper }

// RoundTrip sends a request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, answerMax)
	}
	return response, err
}

// cut shortens a text that the issuer may have written.
func cut(text string) string {
	if len(text) > causeMax {
		return strings.ToValidUTF8(text[:causeMax], "") + "…"
	}
	return text
}

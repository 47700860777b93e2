package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/rates/feed"
)

// Times and bounds of fetching rates.
const (
	// fetchTime bounds one request. The largest file has six hundred kilobytes.
	fetchTime = 20 * time.Second
	// spread is how long after the publication a fetch begins at the latest, drawn at random, so
	// that not everybody asks in the same second.
	spread = 2 * time.Minute
	// retryFirst and retryLast are the waits before another try: rates are late by minutes at
	// first, and by an hour or two on a bad day.
	retryFirst = time.Minute
	retryLast  = 30 * time.Minute
	// failuresMax is how many failures in a row open the circuit breaker, for breakTime: a source
	// that is down is not helped by more requests.
	failuresMax = 5
	breakTime   = 15 * time.Minute
)

// Rates fetches rates from one source over the network. Make it with NewRates.
type Rates struct {
	opts RatesOptions

	mu     sync.Mutex
	flight *flight
	status RatesStatus
	// tag and modified are the validators of the last response, to request changes only.
	tag, modified string
}

// RatesOptions are the choices of Rates. Address, Load and Mark are required.
type RatesOptions struct {
	// Address is where the source answers; what package feed reads.
	Address string
	// Every is the time between two fetches of a source that publishes all the time. 0 means the
	// calendar of the European Central Bank: after each publication, until its day is there.
	Every time.Duration
	// Load takes rates in; it is a Board's.
	Load func(context.Context, []rates.Day, rates.LoadOptions) (rates.Loaded, error)
	// Mark marks the rates that are there as stale, when something else came in place of rates.
	Mark func(context.Context) error
	// Private lets the name in Address lead to an address of this machine or its network.
	Private bool
	// Client makes the requests; nil means a new one, which allows only the host of Address.
	Client *http.Client
	// Now is the clock, and Wait waits; nil means the computer's.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
	// Logger receives fetches; nil means no logging.
	Logger *slog.Logger
}

// RatesStatus is how fetching goes.
type RatesStatus struct {
	// Source is the address without what may be secret in it.
	Source string
	// Tried and Succeeded are the times of the last attempt and of the last import; zero for never.
	Tried, Succeeded time.Time
	// Failures counts those since the last success, and Problem is the last one's; nil for none.
	Failures int
	Problem  error
	// PausedUntil is when the circuit breaker closes; zero when it is closed.
	PausedUntil time.Time
	// Newest is the newest day that was imported.
	Newest rates.Date
	// Loaded is what the last success took in.
	Loaded rates.Loaded
}

// flight is a fetch that others wait for.
type flight struct {
	done chan struct{}
	got  rates.Loaded
	err  error
}

// NewRates returns a fetcher. It asks for nothing yet.
func NewRates(opts RatesOptions) (*Rates, error) {
	u, err := url.Parse(opts.Address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The address may have a key in it, so it is not shown.
		return nil, errors.New("the source of rates is no address such as https://example.com/rates")
	}
	if opts.Every < 0 {
		return nil, fmt.Errorf("rates cannot be fetched every %s", opts.Every)
	}
	if opts.Client == nil {
		opts.Client = newClient(u, opts.Private)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Wait == nil {
		opts.Wait = wait
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Rates{opts: opts, status: RatesStatus{Source: shown(u)}}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Status returns how fetching goes.
func (r *Rates) Status() RatesStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Fetch asks the source once and takes in what it gives. Those who call it while one is on its way
// get its outcome. rates.ErrFetchPaused reports that the source has failed too often to be asked
// now.
func (r *Rates) Fetch(ctx context.Context) (rates.Loaded, error) {
	r.mu.Lock()
	if f := r.flight; f != nil {
		r.mu.Unlock()
		select {
		case <-f.done:
			return f.got, f.err
		case <-ctx.Done():
			return rates.Loaded{}, ctx.Err()
		}
	}
	now := r.opts.Now()
	if until := r.status.PausedUntil; now.Before(until) {
		err := rates.ErrFetchPaused.With("source", r.status.Source).
			With("failures", r.status.Failures).
			With("until", until.UTC().Format(time.RFC3339)).Wrap(r.status.Problem)
		r.mu.Unlock()
		return rates.Loaded{}, err
	}
	f := &flight{done: make(chan struct{})}
	r.flight = f
	r.status.Tried = now
	r.mu.Unlock()

	f.got, f.err = r.once(ctx)
	r.mu.Lock()
	r.flight = nil
	r.settle(f)
	r.mu.Unlock()
	close(f.done)
	return f.got, f.err
}

// settle notes the outcome of a fetch.
func (r *Rates) settle(f *flight) {
	s := &r.status
	now := r.opts.Now()
	switch {
	case f.err == nil:
		s.Succeeded, s.Failures, s.Problem, s.PausedUntil = now, 0, nil, time.Time{}
		s.Newest, s.Loaded = max(s.Newest, f.got.Last), f.got
		r.opts.Logger.Info("rates: fetched", "source", s.Source, "day", string(f.got.Last),
			"rates", f.got.Rates, "refused", f.got.RefusedCount)
		for _, refusal := range f.got.Refused {
			r.opts.Logger.Warn("rates: refused", "pair", refusal.Pair.String(),
				"day", string(refusal.Date), "err", refusal.Err)
		}
		return
	case errors.Is(f.err, context.Canceled):
		return // The fetch was cancelled; the source has not failed.
	}
	s.Failures++
	s.Problem = f.err
	if s.Failures >= failuresMax {
		s.PausedUntil = now.Add(breakTime)
	}
	r.opts.Logger.Warn("rates: not fetched", "source", s.Source, "failures", s.Failures,
		"err", f.err)
}

// once makes one request and handles its response.
func (r *Rates) once(ctx context.Context) (rates.Loaded, error) {
	data, fresh, err := r.request(ctx)
	if err != nil {
		return rates.Loaded{}, err
	}
	if !fresh { // The rates that were imported are still the newest.
		return r.Status().Loaded, nil
	}
	days, err := feed.Read(data)
	if errors.Is(err, rates.ErrUnreadable) {
		// The response has no rates, for example an error page. The stored rates stay, and answers
		// report that they could not be renewed.
		err = errors.Join(err, r.opts.Mark(ctx))
	}
	if err != nil {
		r.forget() // That it has not changed since does not make rates of it.
		return rates.Loaded{}, r.failed(err)
	}
	got, err := r.opts.Load(ctx, days, rates.LoadOptions{TTL: r.ttl(days)})
	if err != nil {
		r.forget()
		return got, fmt.Errorf("import fetched rates: %w", err)
	}
	return got, nil
}

// failed reports that the source gave no rates, and why.
func (r *Rates) failed(cause error) error {
	reason := cause.Error()
	var e *problem.Error
	if errors.As(cause, &e) {
		reason = e.Sentence
	}
	return rates.ErrFetchFailed.With("source", r.Status().Source).With("reason", reason).Wrap(cause)
}

// ttl is how long fetched rates are fresh after their instant: until the source should have others,
// and two fetches of those have failed. Days without an instant go by the calendar, however often
// the source is asked. Zero leaves it to Load.
func (r *Rates) ttl(days []rates.Day) time.Duration {
	timed := slices.ContainsFunc(days, func(d rates.Day) bool { return !d.At.IsZero() })
	if r.opts.Every == 0 || !timed {
		return 0
	}
	return rates.TimedTTL + 3*r.opts.Every
}

// forget makes the next fetch request everything, even if the source would report no change.
func (r *Rates) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tag, r.modified = "", ""
}

// request asks the source. It reports false when nothing has changed since it was last asked.
func (r *Rates) request(ctx context.Context) (data []byte, fresh bool, err error) {
	failed := func(cause error) ([]byte, bool, error) {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		// The address in the error may have a key in it.
		var u *url.Error
		if errors.As(cause, &u) {
			cause = u.Err
		}
		return nil, false, r.failed(cause)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.opts.Address, nil)
	if err != nil {
		return failed(err)
	}
	request.Header.Set("User-Agent", "exchequer")
	r.mu.Lock()
	if r.tag != "" {
		request.Header.Set("If-None-Match", r.tag)
	} else if r.modified != "" {
		request.Header.Set("If-Modified-Since", r.modified)
	}
	r.mu.Unlock()
	response, err := r.opts.Client.Do(request)
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified:
		return nil, false, nil
	case response.StatusCode != http.StatusOK:
		return failed(fmt.Errorf("it answered with status %d", response.StatusCode))
	}
	data, err = io.ReadAll(io.LimitReader(response.Body, feed.SizeMax+1))
	if err != nil {
		return failed(err)
	}
	r.mu.Lock()
	r.tag, r.modified = response.Header.Get("ETag"), response.Header.Get("Last-Modified")
	r.mu.Unlock()
	return data, true, nil
}

// Loop fetches until ctx ends: once at the start, and then whenever there should be something new.
func (r *Rates) Loop(ctx context.Context) {
	for pause := retryFirst; ; {
		want := rates.LastPublication(r.opts.Now())
		_, err := r.Fetch(ctx)
		next := r.opts.Every
		if next == 0 && r.Status().Newest >= want {
			at, _ := rates.NextPublication(r.opts.Now())
			next = at.Sub(r.opts.Now())
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil || next == 0:
			// The day is not there yet, or the source is down: again, less and less often.
			next = pause/2 + rand.N(pause/2+1)
			pause = min(2*pause, retryLast)
		default:
			next += rand.N(spread)
			pause = retryFirst
		}
		if r.opts.Wait(ctx, next) != nil {
			return
		}
	}
}

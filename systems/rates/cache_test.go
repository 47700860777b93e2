package rates_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/test/storetest"
)

// upstream is a source of rates under a test's control.
type upstream struct {
	b     *board
	calls atomic.Int64
	// hold, if set, is waited for by each call.
	hold chan struct{}
	mu   sync.Mutex
	err  error
	pair string
	rate string
}

func (u *upstream) refresh(ctx context.Context) error {
	u.calls.Add(1)
	if u.hold != nil {
		select {
		case <-u.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil || u.pair == "" {
		return u.err
	}
	_, err := u.b.Save(ctx, u.b.rate(u.pair, u.rate), dayLong)
	return err
}

func (u *upstream) set(err error, pair, rate string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.err, u.pair, u.rate = err, pair, rate
}

var errDown = errors.New("the source is down")

// sourced opens a board with a source behind it.
func sourced(t *testing.T, opts rates.Options) (*board, *upstream) {
	u := &upstream{}
	opts.Refresh = u.refresh
	if opts.StaleFor == 0 {
		opts.StaleFor = 14 * dayLong
	}
	u.b = open(t, opts)
	return u.b, u
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		if t.Context().Err() != nil {
			t.Fatalf("it never came true: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestRatesAreReadOnceAndThenFromMemory(t *testing.T) {
	b := open(t, rates.Options{CacheFor: time.Minute})
	b.save("EUR/USD", "1.25")
	b.made()
	for range 5 {
		b.quote("EUR/USD")
	}
	if calls := b.made(); !storetest.Strict() && len(calls) != 1 {
		t.Errorf("%v", calls)
	}
	// What is not there is remembered, too.
	for range 5 {
		_, err := b.Quote(t.Context(), ask("NZD/KRW"))
		wants(t, err, rates.ErrNotFound)
	}
	if calls := b.made(); !storetest.Strict() && len(calls) != 3 { // The pair, and each pivot.
		t.Errorf("%v", calls)
	}
	// The process sees what it writes.
	b.save("NZD/KRW", "830")
	b.quote("NZD/KRW")
	b.save("EUR/USD", "1.26")
	if q := b.quote("EUR/USD"); q.Rate != decimal("1.26") {
		t.Errorf("%+v", q)
	}
	if err := b.Delete(t.Context(), pairOf("EUR/USD")); err != nil {
		t.Fatal(err)
	}
	_, err := b.Quote(t.Context(), ask("EUR/USD"))
	wants(t, err, rates.ErrNotFound)
}

func TestWhatOthersWriteShowsWhenMemoryEnds(t *testing.T) {
	b := open(t, rates.Options{CacheFor: time.Minute})
	item := seedItem()
	_, err := b.Quote(t.Context(), ask("USD/EUR"))
	wants(t, err, rates.ErrNotFound)
	b.put("ExchangeRates", item)
	_, err = b.Quote(t.Context(), ask("USD/EUR"))
	wants(t, err, rates.ErrNotFound)
	b.pass(time.Minute)
	b.quote("USD/EUR")
}

func TestARememberedRateStopsBeingFreshOnTime(t *testing.T) {
	b := open(t, rates.Options{CacheFor: time.Hour, StaleFor: dayLong})
	must[rates.Rate](t)(b.Save(t.Context(), b.rate("USD/EUR", "0.85"), time.Minute))
	if q := b.quote("USD/EUR"); q.Stale {
		t.Errorf("%+v", q)
	}
	b.pass(time.Minute)
	if q := b.quote("USD/EUR"); !q.Stale {
		t.Errorf("%+v", q)
	}
}

func TestAStaleRateIsServedWhileANewerOneIsFetched(t *testing.T) {
	b, u := sourced(t, rates.Options{CacheFor: time.Minute})
	u.hold = make(chan struct{})
	u.set(nil, "USD/EUR", "0.86")
	b.save("USD/EUR", "0.85")
	b.pass(dayLong)
	for range 10 { // Nobody waits, and one call is made for all.
		if q := b.quote("USD/EUR"); !q.Stale || q.Rate != decimal("0.85") {
			t.Fatalf("%+v", q)
		}
	}
	close(u.hold)
	until(t, "the newer rate is served", func() bool { return !b.quote("USD/EUR").Stale })
	if q := b.quote("USD/EUR"); q.Rate != decimal("0.86") || u.calls.Load() != 1 {
		t.Errorf("%+v after %d calls", q, u.calls.Load())
	}
}

func TestAStaleRateIsServedOnErrorButNotForEver(t *testing.T) {
	b, u := sourced(t, rates.Options{})
	u.set(errDown, "", "")
	b.save("USD/EUR", "0.85")
	for day := range 20 {
		b.pass(dayLong)
		q, err := b.Quote(t.Context(), ask("USD/EUR"))
		// Fresh for a day, stale for fourteen, and two for the sweep.
		if day+1 < 17 {
			if err != nil || !q.Stale || q.Age != time.Duration(day+1)*dayLong {
				t.Fatalf("after %d days: %+v, %v", day+1, q, err)
			}
			continue
		}
		wants(t, err, rates.ErrUnavailable, "asOf", "2024-01-01T00:00:00Z")
		if problem.KindOf(err) != problem.Unavailable {
			t.Fatalf("%v is no 503", err)
		}
	}
	u.set(nil, "USD/EUR", "0.9")
	b.pass(time.Hour)
	if q := b.quote("USD/EUR"); q.Stale || q.Rate != decimal("0.9") {
		t.Errorf("%+v", q)
	}
}

func TestACallerWaitsForWhatIsNotThereAtAll(t *testing.T) {
	b, u := sourced(t, rates.Options{CacheFor: time.Minute})
	u.set(nil, "USD/EUR", "0.86")
	if q := b.quote("USD/EUR"); q.Rate != decimal("0.86") {
		t.Errorf("%+v", q)
	}
	// Of what the source does not have nothing is fetched again until it is time.
	for range 5 {
		_, err := b.Quote(t.Context(), ask("NZD/KRW"))
		wants(t, err, rates.ErrNotFound)
	}
	if n := u.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
	b.pass(time.Minute)
	_, err := b.Quote(t.Context(), ask("NZD/KRW"))
	wants(t, err, rates.ErrNotFound)
	if n := u.calls.Load(); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestAnUnreachableSourceIsNoMissingRate(t *testing.T) {
	b, u := sourced(t, rates.Options{CacheFor: time.Minute})
	u.set(errDown, "", "")
	for range 3 {
		_, err := b.Quote(t.Context(), ask("USD/EUR"))
		wants(t, err, rates.ErrSourceDown)
		if !errors.Is(err, errDown) {
			t.Errorf("%v does not say why", err)
		}
	}
	if n := u.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestManyCallersShareOneFetch(t *testing.T) {
	b, u := sourced(t, rates.Options{})
	u.hold = make(chan struct{})
	u.set(nil, "USD/EUR", "0.86")
	const callers = 100
	var started, done sync.WaitGroup
	started.Add(callers)
	errs := make(chan error, callers)
	for range callers {
		done.Add(1)
		go func() {
			defer done.Done()
			started.Done()
			q, err := b.Quote(t.Context(), ask("USD/EUR"))
			if err == nil && q.Rate != decimal("0.86") {
				err = errors.New("another rate")
			}
			errs <- err
		}()
	}
	started.Wait()
	until(t, "the source is asked", func() bool { return u.calls.Load() > 0 })
	close(u.hold)
	done.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := u.calls.Load(); n != 1 {
		t.Errorf("%d calls for %d callers", n, callers)
	}
}

func TestACallerWhoGivesUpDoesNotEndTheFetch(t *testing.T) {
	b, u := sourced(t, rates.Options{})
	u.hold = make(chan struct{})
	u.set(nil, "USD/EUR", "0.86")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := b.Quote(ctx, ask("USD/EUR"))
		gone <- err
	}()
	until(t, "the source is asked", func() bool { return u.calls.Load() > 0 })
	cancel()
	if err := <-gone; err == nil {
		t.Error("the caller got a rate")
	}
	close(u.hold)
	until(t, "the rate is there", func() bool {
		_, err := b.Get(t.Context(), pairOf("USD/EUR"))
		return err == nil
	})
}

func TestCloseEndsWhatGoesOn(t *testing.T) {
	b, u := sourced(t, rates.Options{})
	u.hold = make(chan struct{}) // It is never let go.
	b.save("USD/EUR", "0.85")
	b.pass(dayLong)
	b.quote("USD/EUR")
	until(t, "the source is asked", func() bool { return u.calls.Load() > 0 })
	b.Close()
	b.pass(time.Hour)
	if q := b.quote("USD/EUR"); !q.Stale || u.calls.Load() != 1 {
		t.Errorf("%+v after %d calls", q, u.calls.Load())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	b := open(t, rates.Options{})
	for _, opts := range []rates.Options{
		{StaleFor: -1}, {CacheFor: -1}, {JumpFactor: decimal("1")}, {JumpFactor: decimal("0.5")},
		{Pivots: []money.Currency{"eur"}},
	} {
		if _, err := rates.New(b.store, opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
}

package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/worker"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// source is a server of rates, in the form of the European Central Bank, under a test's control.
type source struct {
	*httptest.Server
	requests atomic.Int64
	mu       sync.Mutex
	answer   http.HandlerFunc
}

func (s *source) set(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// publish answers with the rates of a day.
func (s *source) publish(day, usd string) {
	s.set(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+day+`"`)
		if r.Header.Get("If-None-Match") == `"`+day+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, `<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01"><Cube>
			<Cube time='%s'><Cube currency='USD' rate='%s'/></Cube></Cube></gesmes:Envelope>`, day, usd)
	})
}

// page answers with something that is no rates.
func (s *source) page(status int, text string) {
	s.set(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	})
}

// fetching is a fetcher under test: its source, its board and its clock.
type fetching struct {
	*worker.Rates
	t      *testing.T
	board  *rates.Board
	source *source
	mu     sync.Mutex
	now    time.Time
	waits  []time.Duration
	// waited, if set, is called instead of passing the time of a wait.
	waited func(n int) error
}

func (f *fetching) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fetching) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// wait lets the time of a wait pass at once.
func (f *fetching) wait(ctx context.Context, d time.Duration) error {
	f.pass(d)
	f.mu.Lock()
	f.waits = append(f.waits, d)
	n := len(f.waits)
	f.mu.Unlock()
	if f.waited != nil {
		return f.waited(n)
	}
	return ctx.Err()
}

func newFetching(t *testing.T, now string, every time.Duration) *fetching {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	f := &fetching{t: t, now: at, source: &source{}}
	f.source.Server = httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			f.source.requests.Add(1)
			f.source.mu.Lock()
			answer := f.source.answer
			f.source.mu.Unlock()
			answer(w, r)
		}))
	t.Cleanup(f.source.Close)
	db, err := engine.OpenMemory(engine.Options{Now: f.clock, SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := singletable.NewStore(db, singletable.Options{Now: f.clock})
	f.board, err = rates.New(store, rates.Options{Now: f.clock, StaleFor: rates.StaleForDefault})
	if err == nil {
		err = f.board.Model().Ensure(t.Context(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Rates, err = worker.NewRates(worker.RatesOptions{
		Address: f.source.URL + "/daily.xml?app_id=secret", Every: every, Load: f.board.Load,
		Mark: func(ctx context.Context) error {
			_, err := f.board.MarkSourced(ctx)
			return err
		},
		Now: f.clock, Wait: f.wait,
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fetching) quote() rates.Quote {
	f.t.Helper()
	q, err := f.board.Quote(f.t.Context(), rates.Ask{Base: "EUR", Target: "USD"})
	if err != nil {
		f.t.Fatal(err)
	}
	return q
}

func TestRatesAreFetchedAndTakenIn(t *testing.T) {
	f := newFetching(t, "2026-04-13T14:30:00Z", 0)
	f.source.publish("2026-04-13", "1.1684")
	for range 2 { // The second time the source says that nothing has changed.
		got, err := f.Fetch(t.Context())
		if err != nil || got.Last != "2026-04-13" || got.Current != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if q := f.quote(); q.Stale || q.Rate.String() != "1.1684" || q.Source != "ecb" {
		t.Errorf("%+v", q)
	}
	s := f.Status()
	if s.Newest != "2026-04-13" || s.Failures != 0 || !s.Succeeded.Equal(f.clock()) {
		t.Errorf("%+v", s)
	}
}

func TestAnErrorPageKeepsTheOldRatesAndMarksThemStale(t *testing.T) {
	f := newFetching(t, "2026-04-13T14:30:00Z", 0)
	f.source.publish("2026-04-13", "1.1684")
	if _, err := f.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.source.page(http.StatusOK, "<html>\n<head><title>Sorry</title></head>\n</body>\n</html>")
	_, err := f.Fetch(t.Context())
	if !errors.Is(err, rates.ErrFetchFailed) || !errors.Is(err, rates.ErrUnreadable) {
		t.Fatal(err)
	}
	if q := f.quote(); !q.Stale || q.Rate.String() != "1.1684" {
		t.Errorf("%+v", q)
	}
	f.source.publish("2026-04-13", "1.1684") // The source is back, with the same rates.
	if _, err := f.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q := f.quote(); q.Stale {
		t.Errorf("%+v", q)
	}
}

// An error page may have a tag too; that nothing has changed since says nothing about rates then.
func TestAnErrorPageWithATagIsAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       error
	}{
		{"a page", "<html><head><title>Sorry</title></head></html>", rates.ErrFetchFailed},
		{"nothing", "", rates.ErrNoData},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFetching(t, "2026-04-13T14:30:00Z", 0)
			f.source.publish("2026-04-13", "1.1684")
			if _, err := f.Fetch(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.source.set(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"sorry"`)
				if r.Header.Get("If-None-Match") == `"sorry"` {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				fmt.Fprint(w, c.page)
			})
			for n := 1; n <= 3; n++ {
				_, err := f.Fetch(t.Context())
				if !errors.Is(err, c.want) || f.Status().Failures != n {
					t.Fatalf("%v after %d failures, of %d", err, f.Status().Failures, n)
				}
			}
		})
	}
}

// How often a source is asked does not end the freshness of its rates before it has newer ones.
func TestRatesAreFreshUntilTheSourceShouldHaveOthers(t *testing.T) {
	const timed = `{"timestamp":%d,"base":"EUR","rates":{"USD":1.1684}}`
	published := time.Date(2026, 4, 10, 14, 0, 0, 0, time.UTC) // A Friday.
	for _, c := range []struct {
		name         string
		every        time.Duration
		timed        bool
		fresh, stale time.Duration // After the publication.
	}{
		{"by the calendar", 0, false, 74*time.Hour - time.Second, 74 * time.Hour},
		{"by the calendar, asked each hour", time.Hour, false, 74*time.Hour - time.Second,
			74 * time.Hour},
		{"by the calendar, asked each week", 7 * 24 * time.Hour, false, 74*time.Hour - time.Second,
			74 * time.Hour},
		{"with an instant", 0, true, 24*time.Hour - time.Second, 24 * time.Hour},
		{"with an instant, asked each hour", time.Hour, true, 27*time.Hour - time.Second,
			27 * time.Hour},
		{"with an instant, asked each day", 24 * time.Hour, true, 96*time.Hour - time.Second,
			96 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFetching(t, published.Add(time.Minute).Format(time.RFC3339), c.every)
			f.source.publish("2026-04-10", "1.1684")
			if c.timed {
				f.source.page(http.StatusOK, fmt.Sprintf(timed, published.Unix()))
			}
			if _, err := f.Fetch(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.pass(c.fresh - time.Minute)
			if q := f.quote(); q.Stale {
				t.Errorf("stale after %s: %+v", c.fresh, q)
			}
			f.pass(c.stale - c.fresh)
			if q := f.quote(); !q.Stale {
				t.Errorf("fresh after %s: %+v", c.stale, q)
			}
		})
	}
}

func TestFailuresLeaveTheRatesAlone(t *testing.T) {
	f := newFetching(t, "2026-04-13T14:30:00Z", 0)
	f.source.publish("2026-04-13", "1.1684")
	if _, err := f.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		text   string
		want   error
	}{
		{http.StatusServiceUnavailable, "later", rates.ErrFetchFailed},
		{http.StatusOK, "", rates.ErrNoData}, // A day without a publication.
	} {
		f.source.page(c.status, c.text)
		if _, err := f.Fetch(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%d %q: %v", c.status, c.text, err)
		}
		if q := f.quote(); q.Stale {
			t.Errorf("%d %q: %+v", c.status, c.text, q)
		}
	}
}

func TestTheSourceIsLeftAloneAfterManyFailures(t *testing.T) {
	f := newFetching(t, "2026-04-13T14:30:00Z", 0)
	f.source.page(http.StatusBadGateway, "no")
	var err error
	for range 5 {
		if _, err = f.Fetch(t.Context()); !errors.Is(err, rates.ErrFetchFailed) {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err = f.Fetch(t.Context()); !errors.Is(err, rates.ErrFetchPaused) {
			t.Fatal(err)
		}
	}
	if n := f.source.requests.Load(); n != 5 {
		t.Errorf("%d requests", n)
	}
	f.pass(15 * time.Minute)
	f.source.publish("2026-04-13", "1.1684")
	if _, err = f.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := f.Status(); s.Failures != 0 || !s.PausedUntil.IsZero() {
		t.Errorf("%+v", s)
	}
}

func TestSecretsOfTheAddressAreNotTold(t *testing.T) {
	f := newFetching(t, "2026-04-13T14:30:00Z", 0)
	f.source.Close()
	_, err := f.Fetch(t.Context())
	if err == nil || strings.Contains(err.Error(), "secret") ||
		strings.Contains(f.Status().Source, "secret") {
		t.Errorf("%v, %s", err, f.Status().Source)
	}
}

func TestManyFetchesAreOne(t *testing.T) {
	f := newFetching(t, "2026-04-13T14:30:00Z", 0)
	hold := make(chan struct{})
	var beside, most atomic.Int64
	f.source.set(func(w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), beside.Add(1)))
		defer beside.Add(-1)
		<-hold
		fmt.Fprint(w, "Date,USD,\n2026-04-13,1.1684,\n")
	})
	var wg sync.WaitGroup
	errs := make(chan error, 10)
	for range 10 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, err := f.Fetch(t.Context())
			errs <- err
		}()
	}
	for f.source.requests.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	close(hold)
	wg.Wait()
	for range 10 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	// Whoever came after the first was answered has asked again, but nobody beside another.
	if n := most.Load(); n != 1 {
		t.Errorf("%d requests at the same time", n)
	}
}

// The loop runs over a week with a weekend, and over the change of the clocks; a late publication
// is asked for until it is there.
func TestTheLoopFollowsThePublications(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newFetching(t, "2026-03-26T12:00:00Z", 0) // A Thursday; the clocks change on Sunday.
	f.source.set(func(w http.ResponseWriter, _ *http.Request) {
		day := rates.LastPublication(f.clock())
		if day == "2026-03-27" && f.clock().Before(time.Date(2026, 3, 27, 15, 40, 0, 0, time.UTC)) {
			day = "2026-03-26" // Friday's rates are forty minutes late.
		}
		fmt.Fprintf(w, "Date,USD,\n%s,1.15,\n", day)
	})
	var asked []string
	f.waited = func(int) error {
		asked = append(asked, f.clock().Format("Mon 15:04"))
		if rates.DateOf(f.clock()) >= "2026-04-01" {
			cancel()
		}
		return ctx.Err()
	}
	f.Loop(ctx)
	if f.Status().Newest != "2026-03-31" {
		t.Errorf("the newest is %s", f.Status().Newest)
	}
	fridays := 0
	for i, at := range asked {
		switch at[:3] {
		case "Sat", "Sun":
			t.Errorf("it asked on %s", at)
		case "Fri":
			fridays++
		case "Thu", "Mon", "Tue", "Wed":
			// Winter time until Sunday, then summer time, both within two minutes of four o'clock.
			want := "15:0"
			if i > 1 && at[:3] != "Thu" {
				want = "14:0"
			}
			if !strings.HasPrefix(at[4:], want) {
				t.Errorf("it asked on %s, want %s", at, want)
			}
		}
	}
	if fridays < 3 {
		t.Errorf("it did not ask again on Friday: %v", asked)
	}
	for on, want := range map[rates.Date]rates.Date{
		"2026-03-26": "2026-03-26", "2026-03-28": "2026-03-27", "2026-03-31": "2026-03-31",
	} {
		q, err := f.board.Quote(t.Context(), rates.Ask{Base: "EUR", Target: "USD", On: on})
		if err != nil || q.Date != want {
			t.Errorf("on %s: %s, %v", on, q.Date, err)
		}
	}
}

func TestTheLoopBacksOffWhileTheSourceIsDown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newFetching(t, "2026-04-13T14:30:00Z", time.Hour)
	f.source.page(http.StatusInternalServerError, "no")
	f.waited = func(n int) error {
		switch n {
		case 12:
			f.source.publish("2026-04-13", "1.1684")
		case 40:
			cancel()
		}
		return ctx.Err()
	}
	f.Loop(ctx)
	if f.waits[0] > time.Minute || f.waits[8] < 10*time.Minute || f.waits[8] > 30*time.Minute {
		t.Errorf("the waits are %v", f.waits[:12])
	}
	last := f.waits[len(f.waits)-1]
	if last < time.Hour || last > time.Hour+2*time.Minute || f.Status().Failures != 0 {
		t.Errorf("after the trouble it waits %s: %+v", last, f.Status())
	}
}

func TestStrangeAddressesAreRefused(t *testing.T) {
	for _, address := range []string{"", "rates", "ftp://example.com/rates", "http://"} {
		if _, err := worker.NewRates(worker.RatesOptions{Address: address}); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}

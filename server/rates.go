package server

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/exchequer-dev/exchequer/api"
	"github.com/exchequer-dev/exchequer/problem"
	"github.com/exchequer-dev/exchequer/server/worker"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/rates"
)

// RateWork is where a server fetches exchange rates from in the background.
type RateWork struct {
	// Source is "ecb", "ecb-90-days", "ecb-history", "frankfurter" or the address of something in
	// one of their forms, or in that of Open Exchange Rates. "" means that nothing is fetched.
	Source string
	// Every is the time between two fetches; 0 means after each publication of the European
	// Central Bank.
	Every time.Duration
	// Private lets the name of the source lead to an address of this machine or its network.
	Private bool
}

// rateSources are the addresses of sources that need no key.
var rateSources = map[string]string{
	"ecb":         "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml",
	"ecb-90-days": "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml",
	"ecb-history": "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip",
	"frankfurter": "https://api.frankfurter.dev/v1/latest",
}

// address returns where a source answers.
func (w RateWork) address() string {
	if known, ok := rateSources[w.Source]; ok {
		return known
	}
	return w.Source
}

// The defaults of RateWork.
const (
	// rateCacheTime is how long a quote is answered from memory: short enough for a rate that
	// another process has saved, long enough for a page with a hundred amounts.
	rateCacheTime = 10 * time.Second
	// rateJitter spreads the expiry of rates that were saved together.
	rateJitter = time.Hour
)

// buildRates makes the board of rates, and what fetches them if there is a source.
func (s *Server) buildRates(store *singletable.Store) error {
	opts := s.opts.Rates
	if opts.Now == nil {
		opts.Now = s.opts.Now
	}
	if opts.StaleFor == 0 && !s.opts.SeedRates {
		opts.StaleFor, opts.Jitter = rates.StaleForDefault, rateJitter
	}
	if opts.CacheFor == 0 {
		opts.CacheFor = rateCacheTime
	}
	work := s.opts.FetchRates
	if work.Source != "" {
		// The fetcher saves into the board, and the board asks the fetcher.
		opts.Refresh = func(ctx context.Context) error {
			_, err := s.fetcher.Fetch(ctx)
			return err
		}
	}
	var err error
	if s.rates, err = rates.New(store, opts); err != nil {
		return err
	}
	s.metrics.registry.MustRegister(rateCollector{s.rates})
	if work.Source == "" {
		return nil
	}
	s.fetcher, err = worker.NewRates(worker.RatesOptions{
		Address: work.address(), Every: work.Every, Load: s.rates.Load, Now: opts.Now,
		Mark: func(ctx context.Context) error {
			_, err := s.rates.MarkSourced(ctx)
			return err
		},
		Logger: s.opts.Logger, Private: work.Private,
	})
	if err != nil {
		return fmt.Errorf("fetch rates: %w", err)
	}
	return nil
}

// fetchRates fetches until ctx ends, if there is a source. The function that it returns waits for
// the fetch in hand.
func (s *Server) fetchRates(ctx context.Context) (wait func()) {
	if s.fetcher == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.fetcher.Loop(ctx)
	}()
	return func() { <-done }
}

// rateCollector counts the rates by their state when it is asked.
type rateCollector struct{ board *rates.Board }

// What the measurements of rates are called.
var (
	ratesCount = prometheus.NewDesc("exchequer_rates",
		"Exchange rates in the table by state: fresh, stale or gone.", []string{"state"}, nil)
	ratesAge = prometheus.NewDesc("exchequer_rates_age_seconds",
		"Age of the newest exchange rate; absent if there is none.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c rateCollector) Describe(out chan<- *prometheus.Desc) {
	out <- ratesCount
	out <- ratesAge
}

// rateCountTime bounds the look; a scrape waits about as long.
const rateCountTime = 5 * time.Second

// Collect implements prometheus.Collector. A store that gives no answer leaves a gap.
func (c rateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), rateCountTime)
	defer cancel()
	health, err := c.board.Health(ctx)
	if err != nil {
		return
	}
	for state, n := range map[rates.State]int{
		rates.Fresh: health.Fresh, rates.Stale: health.Stale, rates.Gone: health.Gone,
	} {
		out <- prometheus.MustNewConstMetric(ratesCount, prometheus.GaugeValue, float64(n),
			string(state))
	}
	if !health.Newest.IsZero() {
		out <- prometheus.MustNewConstMetric(ratesAge, prometheus.GaugeValue, health.Age.Seconds())
	}
}

// rateFetches returns the state of the fetches, or nil if there are none.
func (s *Server) rateFetches() func() api.RateFetches {
	if s.fetcher == nil {
		return nil
	}
	return func() api.RateFetches {
		f := s.fetcher.Status()
		out := api.RateFetches{
			Source: f.Source, Failures: f.Failures, Newest: api.Date(f.Newest),
			Tried: api.At(f.Tried), Succeeded: api.At(f.Succeeded),
			PausedUntil: api.At(f.PausedUntil),
		}
		if f.Problem != nil {
			out.Problem = problem.From(f.Problem).Sentence
		}
		return out
	}
}

// fetch returns what fetches rates now, nil where nothing does.
func (s *Server) fetch() func(context.Context) (rates.Loaded, error) {
	if s.fetcher == nil {
		return nil
	}
	return s.fetcher.Fetch
}

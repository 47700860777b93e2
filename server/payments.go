package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/server/worker"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// PaymentWork is how a server settles due payments in the background.
type PaymentWork struct {
	// Every is the time between two runs; 0 means that the server runs none.
	Every time.Duration
	// Callers and Units are those of each run; see payments.RunOptions.
	Callers int
	Units   float64
}

// buildPayments makes the scheduler on the ledger's store, and what measures it.
func (s *Server) buildPayments(store *singletable.Store) error {
	opts := s.opts.Payments
	if opts.Now == nil {
		opts.Now = s.opts.Now
	}
	if opts.NewID == nil {
		opts.NewID = s.opts.NewID
	}
	// The embedded database locks its directory: no other process can have a lease or a claim.
	opts.Alone = opts.Alone || s.opts.Store == nil && s.opts.DynamoDB == nil
	var err error
	if s.payments, err = payments.New(store, s.ledger, opts); err != nil {
		return err
	}
	s.metrics.registry.MustRegister(dueCollector{s.payments, s.opts.Now})
	return nil
}

// settlePayments runs payments until ctx ends, if it is enabled. The function that it returns waits
// for the payments in progress.
func (s *Server) settlePayments(ctx context.Context) (wait func()) {
	work := s.opts.RunPayments
	if work.Every <= 0 || s.systemLayout(systemPayments) != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		worker.Payments{
			Run: s.payments.Run, Every: work.Every, Logger: s.opts.Logger,
			Options: payments.RunOptions{Callers: work.Callers, Units: work.Units},
			Counted: func(before, after payments.Report) {
				for outcome, n := range rest.Outcomes(before, after) {
					s.metrics.paid(outcome, n)
				}
			},
		}.Loop(ctx)
	}()
	return func() { <-done }
}

// paid counts attempts to pay by their outcome.
func (m *metrics) paid(outcome payments.Outcome, n int) {
	m.payments.WithLabelValues(string(outcome)).Add(float64(n))
}

// dueCollector reads the oldest due payment at each scrape, so that the lag also grows if no worker
// settles payments.
type dueCollector struct {
	scheduler *payments.Scheduler
	now       func() time.Time
}

// What the measurements of due payments are called.
var (
	paymentsLag = prometheus.NewDesc("exchequer_payments_lag_seconds",
		"How long the scheduled payment that is due longest has been due; 0 when none is.", nil, nil)
	paymentsOldest = prometheus.NewDesc("exchequer_payments_oldest_due_timestamp_seconds",
		"When the scheduled payment that is due longest was due, in Unix time; absent when none is.",
		nil, nil)
)

// dueTime bounds the look, which is a row of each shard; a scrape waits about as long.
const dueTime = 5 * time.Second

// Describe implements prometheus.Collector.
func (c dueCollector) Describe(out chan<- *prometheus.Desc) {
	out <- paymentsLag
	out <- paymentsOldest
}

// Collect implements prometheus.Collector. A store that gives no answer leaves a gap.
func (c dueCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), dueTime)
	defer cancel()
	now := c.now()
	page, err := c.scheduler.PaymentsByStatus(ctx, payments.Scheduled, payments.Range{To: &now},
		payments.PageQuery{Size: 1})
	if err != nil {
		return
	}
	lag := 0.0
	if len(page.Items) > 0 {
		at := page.Items[0].At
		lag = max(0, now.Sub(at).Seconds())
		out <- prometheus.MustNewConstMetric(paymentsOldest, prometheus.GaugeValue,
			float64(at.UnixMilli())/float64(time.Second/time.Millisecond))
	}
	out <- prometheus.MustNewConstMetric(paymentsLag, prometheus.GaugeValue, lag)
}

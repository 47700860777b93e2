package server

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/exchequer-dev/exchequer/dynamo/engine"
	"github.com/exchequer-dev/exchequer/server/rest"
	"github.com/exchequer-dev/exchequer/singletable"
	"github.com/exchequer-dev/exchequer/systems/ledger"
)

// metrics are the server's measurements. Every label has few values: none comes from a caller.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	problems *prometheus.CounterVec
	postings *prometheus.CounterVec
	payments *prometheus.CounterVec
	calls    *prometheus.HistogramVec
	failures *prometheus.CounterVec
	units    *prometheus.CounterVec
}

// durations are the limits of the histograms in seconds: from a read that is cached, 50 µs, to an
// answer that is given up.
var durations = []float64{
	50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5,
	5, 10, 30,
}

func newMetrics(db store) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "exchequer_http_request_duration_seconds",
			Help:    "How long answers took, by the route of the operation.",
			Buckets: durations,
		}, []string{"method", "route", "status"}),
		problems: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "exchequer_problems_total",
			Help: "Responses with a problem, by its code.",
		}, []string{"code"}),
		postings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "exchequer_postings_total",
			Help: "Postings that were asked for, by type and outcome.",
		}, []string{"type", "outcome"}),
		payments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "exchequer_payments_total",
			Help: "Attempts to settle scheduled payments, by what became of them.",
		}, []string{"outcome"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "exchequer_store_call_duration_seconds",
			Help:    "How long calls to the store took, by the access pattern that made them.",
			Buckets: durations,
		}, []string{"operation", "table", "index", "pattern"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "exchequer_store_call_failures_total",
			Help: "Calls to the store that failed, conditions that did not hold included.",
		}, []string{"operation", "table"}),
		units: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "exchequer_store_capacity_units_total",
			Help: "Capacity units of calls to the store, as DynamoDB counts them.",
		}, []string{"operation", "table", "index", "pattern", "kind"}),
	}
	m.registry.MustRegister(m.requests, m.problems, m.postings, m.payments, m.calls,
		m.failures, m.units,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if embedded, ok := db.(*engine.DB); ok {
		m.registry.MustRegister(engineCollector{embedded})
	}
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) exchange(x rest.Exchange) {
	route := x.Route
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(methodOf(x.Method), route, strconv.Itoa(x.Status)).
		Observe(x.Took.Seconds())
	if x.Code != "" {
		m.problems.WithLabelValues(string(x.Code)).Inc()
	}
}

// methodOf keeps callers from making up labels.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete:
		return method
	}
	return "other"
}

func (m *metrics) posted(kind ledger.TransactionType, outcome string) {
	switch kind {
	case ledger.Payment, ledger.Transfer, ledger.Deposit, ledger.Withdrawal, ledger.Reversal:
	default:
		kind = "other"
	}
	m.postings.WithLabelValues(string(kind), outcome).Inc()
}

func (m *metrics) call(c singletable.Call) {
	m.calls.WithLabelValues(c.Operation, c.Table, c.Index, c.Pattern).Observe(c.Took.Seconds())
	if c.Err != nil {
		m.failures.WithLabelValues(c.Operation, c.Table).Inc()
	}
	if c.Read > 0 {
		m.units.WithLabelValues(c.Operation, c.Table, c.Index, c.Pattern, "read").Add(c.Read)
	}
	if c.Write > 0 {
		m.units.WithLabelValues(c.Operation, c.Table, c.Index, c.Pattern, "write").Add(c.Write)
	}
}

// engineCollector reads the counters of the embedded database when it is asked.
type engineCollector struct{ db *engine.DB }

// What the counters of the embedded database are called.
var (
	engineGets = prometheus.NewDesc("exchequer_engine_gets_total",
		"Look-ups of one key in the embedded database.", nil, nil)
	engineSeeks = prometheus.NewDesc("exchequer_engine_seeks_total",
		"Searches for the begin of a range in the embedded database.", nil, nil)
	engineSteps = prometheus.NewDesc("exchequer_engine_steps_total",
		"Steps from one key to the next in the embedded database.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c engineCollector) Describe(out chan<- *prometheus.Desc) {
	out <- engineGets
	out <- engineSeeks
	out <- engineSteps
}

// Collect implements prometheus.Collector.
func (c engineCollector) Collect(out chan<- prometheus.Metric) {
	stats := c.db.Stats()
	for desc, value := range map[*prometheus.Desc]uint64{
		engineGets: uint64(stats.Gets), engineSeeks: uint64(stats.Seeks),
		engineSteps: uint64(stats.Steps),
	} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value))
	}
}

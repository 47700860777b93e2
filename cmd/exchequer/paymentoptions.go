package main

import (
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/payments"
)

// The environment that shapes the scheduler of payments.
const (
	envPaymentsTable      = "EXCHEQUER_PAYMENTS_TABLE"
	envPaymentsHistory    = "EXCHEQUER_PAYMENTS_HISTORY"
	envPaymentsShards     = "EXCHEQUER_PAYMENT_SHARDS"
	envPaymentsProjection = "EXCHEQUER_PAYMENT_PROJECTION"
	envPaymentsAttempts   = "EXCHEQUER_PAYMENT_ATTEMPTS"
	envPaymentsLease      = "EXCHEQUER_PAYMENT_LEASE"
	envPaymentsShardLease = "EXCHEQUER_PAYMENT_SHARD_LEASE"
)

// runEvery is the time between two runs of a service unless told otherwise: a payment is then begun
// a few seconds after it is due, and looking costs next to nothing.
const runEvery = 5 * time.Second

// scheduling are the flags of serve about payments.
type scheduling struct {
	opts payments.Options
	work server.PaymentWork
	form string
}

func (s *scheduling) add(f *pflag.FlagSet) {
	f.DurationVar(&s.work.Every, "run-payments", 0,
		"settle due payments beside the answers, with a `pause` between runs (5s without a value)")
	f.Lookup("run-payments").NoOptDefVal = runEvery.String()
	f.IntVar(&s.work.Callers, "payment-concurrency", 0,
		"`number` of payments settled side by side (default 64)")
	f.Float64Var(&s.work.Units, "payment-units", 0,
		"maximum `number` of write units a second that settling takes (default no bound)")
	f.StringVar(&s.opts.TableName, "payments-table", "", "`name` of the table of payments")
	f.StringVar(&s.opts.HistoryTableName, "payments-history", "",
		"`name` of the table of payments that came to their end")
	f.IntVar(&s.opts.Shards, "payment-shards", 0,
		"`number` of partitions for payments of one status, stored with the first one (default 5)")
	f.StringVar(&s.form, "payment-projection", "",
		"`form` of the index by status, fixed when the tables are created: INCLUDE (all but the "+
			"data; the default), ALL or KEYS_ONLY")
	f.IntVar(&s.opts.Retry.Attempts, "payment-attempts", 0,
		"`number` of attempts at a payment that may pass later (default 8)")
	f.DurationVar(&s.opts.Lease, "payment-lease", 0,
		"`time` for which a worker's claim of a payment lasts, also if it is killed (default 1m)")
	f.DurationVar(&s.opts.ShardLease, "payment-shard-lease", 0,
		"`time` for which a worker has a part of the work, also if it is killed (default 30s)")
}

// apply puts the flags over what the environment says.
func (s *scheduling) apply(o *server.Options) {
	o.RunPayments = s.work
	p := &o.Payments
	p.TableName = firstOf(s.opts.TableName, p.TableName)
	p.HistoryTableName = firstOf(s.opts.HistoryTableName, p.HistoryTableName)
	p.Projection = payments.Projection(firstOf(s.form, string(p.Projection)))
	if s.opts.Shards != 0 {
		p.Shards = s.opts.Shards
	}
	if s.opts.Lease != 0 {
		p.Lease = s.opts.Lease
	}
	if s.opts.ShardLease != 0 {
		p.ShardLease = s.opts.ShardLease
	}
	if s.opts.Retry.Attempts != 0 {
		p.Retry.Attempts = s.opts.Retry.Attempts
	}
}

// paymentOptions returns what the environment says about payments.
func (a *app) paymentOptions() (payments.Options, error) {
	o := payments.Options{
		TableName: a.env(envPaymentsTable), HistoryTableName: a.env(envPaymentsHistory),
		Projection: payments.Projection(a.env(envPaymentsProjection)),
	}
	for name, value := range map[string]*int{
		envPaymentsShards: &o.Shards, envPaymentsAttempts: &o.Retry.Attempts,
	} {
		text := a.env(name)
		if text == "" {
			continue
		}
		var err error
		if *value, err = strconv.Atoi(text); err != nil {
			return o, usagef("Set it to a number", "%s is %q", name, text)
		}
	}
	for name, value := range map[string]*time.Duration{
		envPaymentsLease: &o.Lease, envPaymentsShardLease: &o.ShardLease,
	} {
		text := a.env(name)
		if text == "" {
			continue
		}
		var err error
		if *value, err = time.ParseDuration(text); err != nil || *value <= 0 {
			return o, usagef("Set it to a time such as 30s", "%s is %q", name, text)
		}
	}
	if a.flags.paymentAttempts > 0 {
		o.Retry.Attempts = a.flags.paymentAttempts
	}
	return o, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// running are the flags of a run.
type running struct {
	once, watch    bool
	every          time.Duration
	callers, units int
}

func (a *app) paymentsRun() *cobra.Command {
	var r running
	command := &cobra.Command{
		Use:   "run",
		Short: "Settle all payments that are due, once or as a service",
		Long: `Settle all payments that are due, those of earlier days too, through the ledger: each payment exactly
once, or with a reason. Any number of runs may go on at a time; they share the work by leases, and
nothing is lost when one is killed.

Without --watch the command ends when nothing is left to do. While other workers have a part of the work,
it waits and says until when; a worker that was killed keeps its part for --payment-shard-lease (30s) and
the payments that it had begun for --payment-lease (1m), settings of serve. If due payments are left because
another worker has claimed them, the exit status is 11: it settles them, or a run after the instant that is
printed does. On a data directory nothing is held by others. With --watch it goes on until a signal ends it. The payments in hand are finished then, and no others begun. With --server the server does it.`,
		Example: `  exchequer payments run
  exchequer payments run --watch --every 10s --units 4000 --server http://127.0.0.1:8080`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			if r.callers < 0 || r.units < 0 || r.every <= 0 {
				return usagef("--concurrency 64 --every 5s",
					"--concurrency, --units and --every must be more than zero")
			}
			if r.watch {
				return a.watchPayments(ctx, c, r)
			}
			report, err := a.runPayments(ctx, c, r)
			switch {
			case err != nil && ctx.Err() != nil:
				return &failure{
					exit: exitStopped, text: "Stopped; what was paid stays paid",
					try: "the same command again: it goes on where it stopped",
				}
			case err != nil:
				return err
			}
			return a.paymentReport(report)
		}),
	}
	f := command.Flags()
	f.BoolVar(&r.once, "once", false, "end when nothing is left to do (the default)")
	f.BoolVar(&r.watch, "watch", false, "go on until a signal ends it")
	f.DurationVar(&r.every, "every", runEvery, "`pause` between two runs with --watch")
	f.IntVar(&r.callers, "concurrency", 0, "`number` of payments settled concurrently (default 64)")
	f.IntVar(&r.units, "units", 0,
		"maximum `number` of write units a second that it takes (default no bound)")
	command.MarkFlagsMutuallyExclusive("once", "watch")
	return command
}

// runPayments is one run with its progress.
func (a *app) runPayments(
	ctx context.Context, c *client.Client, r running,
) (client.PaymentReport, error) {
	bar := a.newProgress("settling", "payment", 0)
	defer bar.clear()
	return c.RunPayments(ctx, client.PaymentRun{
		Callers: r.callers, Units: r.units,
		Progress: func(p client.PaymentReport) {
			remark := fmt.Sprintf("%s failed, %s behind", thousands(p.Failed), lag(p))
			if p.Shards > 0 {
				remark += fmt.Sprintf(", waiting for another worker until %s at the latest",
					instant(p.ShardsUntil))
			}
			bar.set(p.Settled(), remark)
		},
	})
}

// lag returns how long the payment that was due longest has been due.
func lag(p client.PaymentReport) string {
	return time.Duration(p.Lag * float64(time.Second)).Round(time.Second).String()
}

// watchPayments runs again and again. A run that fails is told and tried again: whatever it left is
// still due.
func (a *app) watchPayments(ctx context.Context, c *client.Client, r running) error {
	a.remark("settling payments every %s until a signal comes", r.every)
	held := 0
	for {
		report, err := a.runPayments(ctx, c, r)
		switch {
		case ctx.Err() != nil:
			a.remark("stopped: the payments in hand were finished")
			return nil
		case exitOf(err) == exitUnavailable, exitOf(err) == exitFailed:
			a.explain(err)
		case err != nil:
			return err
		case report.Settled() > 0 || report.UnreadableCount != held:
			report.Claimed = 0 // The next run looks at them again.
			var f *failure
			held = report.UnreadableCount
			if err := a.paymentReport(report); errors.As(err, &f) {
				a.explain(err) // The others are due all the same.
			} else if err != nil {
				return err
			}
		}
		timer := time.NewTimer(r.every)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

func reportColumns() []column[client.PaymentReport] {
	type report = client.PaymentReport
	number := func(head string, n func(report) int) column[report] {
		return num(head, func(r report) string { return strconv.Itoa(n(r)) })
	}
	return []column[report]{
		number("PROCESSED", func(r report) int { return r.Processed }),
		number("FAILED", func(r report) int { return r.Failed }),
		number("POSTPONED", func(r report) int { return r.Postponed }),
		number("ELSEWHERE", func(r report) int { return r.Elsewhere }),
		number("WAITING", func(r report) int { return r.Waiting }),
		number("CLAIMED", func(r report) int { return r.Claimed }),
	}
}

// paymentReport prints what a run did.
func (a *app) paymentReport(r client.PaymentReport) error {
	if a.flags.output != outputTable {
		if err := one(a, reportColumns(), r); err != nil {
			return err
		}
		return a.leftOver(r)
	}
	claimed := ""
	if r.Claimed > 0 {
		claimed = ", " + thousands(r.Claimed) + " claimed by another worker"
	}
	_, err := fmt.Fprintf(a.out, "%s processed, %s failed, %s postponed, %s waiting%s\n",
		count(r.Processed, "payment"), thousands(r.Failed), thousands(r.Postponed),
		thousands(r.Waiting), claimed)
	if r.Failed > 0 {
		a.remark("why: exchequer payments failed")
	}
	if err != nil {
		return err
	}
	return a.leftOver(r)
}

// leftOver returns the failure of a run that has left due payments: those that cannot be executed,
// or else those that another worker has claimed.
func (a *app) leftOver(r client.PaymentReport) error {
	if r.UnreadableCount > 0 || r.Claimed == 0 {
		return a.heldUp(r.Unreadable, r.UnreadableCount)
	}
	return &failure{exit: exitHeld,
		text: fmt.Sprintf("%s left, claimed by another worker until %s at the latest",
			count(r.Claimed, "due payment"), instant(r.ClaimedUntil)),
		try: "the same command after that: it settles what that worker has not"}
}

// heldUp names the payments that a worker left where they are, and returns the failure that they
// are.
func (a *app) heldUp(items []client.UnreadableItem, n int) error {
	if n == 0 {
		return nil
	}
	for i := range items {
		a.remark("%s", items[i].Error())
	}
	return &failure{exit: exitDiffers,
		text: count(n, "payment") + " cannot be executed, because of what is stored",
		try:  "Correct the items with the program that wrote them, or execute them with it"}
}

func (a *app) paymentsMove() *cobra.Command {
	var inZone string
	command := &cobra.Command{
		Use:   "move DAY",
		Short: "Move a day's payments that came to their end into the history",
		Long: `Move a day's payments that came to their end, whatever it was, into the history. The command can be
stopped anywhere and given again; no payment is invisible meanwhile. The day is declared moved when
all its payments are in the history, and counts and sums of each status agree. While some are not at
their end the others are moved, and the exit status is 3. If what is in the history differs from what
was moved, the exit status is 8, and no payment that differs is removed.`,
		Example: `  exchequer payments move 2026-01-31
  exchequer payments move 2026-01-31 --zone Pacific/Auckland`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			if _, err := time.Parse(time.DateOnly, args[0]); err != nil {
				return usagef("exchequer payments move 2026-01-31", "%q is no day", args[0])
			}
			bar := a.newProgress("moving", "payment", 0)
			day, err := c.MovePaymentDay(ctx, client.Date(args[0]), inZone,
				func(p client.MoveProgress) {
					bar.set(p.Copied, thousands(p.Removed)+" removed")
				})
			bar.clear()
			switch {
			case err != nil && ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded):
				return &failure{
					exit: exitStopped, text: "Stopped; what was moved stays moved",
					try: "the same command again: it goes on where it stopped",
				}
			case err != nil:
				return err
			}
			return a.movedDay(day)
		}),
	}
	command.Flags().StringVar(&inZone, "zone", "",
		"time `zone` in which the day begins (default UTC)")
	return command
}

func paymentTotalColumns() []column[client.PaymentTotal] {
	type total = client.PaymentTotal
	return []column[total]{
		col("STATUS", func(t total) string { return string(t.Status) }),
		num("PAYMENTS", func(t total) string { return strconv.Itoa(t.Count) }),
		cash("SUM", func(t total) money.Amount { return t.Sum }),
	}
}

// movedDay prints how far a day has come. As CSV it is what is in the history.
func (a *app) movedDay(d client.MovedDay) error {
	var err error
	switch a.flags.output {
	case outputJSON:
		err = a.json(d)
	case outputCSV:
		err = page(a, paymentTotalColumns(), whole(d.Totals), "")
	default:
		err = a.movedRows(d)
	}
	if held := a.heldUp(d.Unreadable, d.UnreadableCount); err == nil && held != nil {
		return held
	}
	if err == nil && !d.Moved {
		err = &failure{
			exit: exitRefused,
			text: "The day is not moved: " + count(d.Waiting, "payment") + " not at an end",
			try: "exchequer payments due --status PENDING --date " + string(d.Day) +
				", exchequer payments run, and the same again",
		}
	}
	return err
}

func (a *app) movedRows(d client.MovedDay) error {
	if err := newPrinter(a, paymentTotalColumns()).rows(d.Totals); err != nil {
		return err
	}
	state := "is moved"
	if !d.Moved {
		state = "is not moved"
	}
	_, err := fmt.Fprintf(a.out, "%s %s: %s copied, %s removed now\n", d.Day, state,
		thousands(d.Copied), thousands(d.Removed))
	return err
}

func shardColumns() []column[client.PaymentShards] {
	return []column[client.PaymentShards]{
		num("SHARDS", func(s client.PaymentShards) string { return strconv.Itoa(s.Count) }),
		col("FROM", func(s client.PaymentShards) string {
			if s.From.IsZero() {
				return "the beginning"
			}
			return s.From.UTC().Format(time.DateOnly)
		}),
	}
}

func (a *app) paymentsShards() *cobra.Command {
	return &cobra.Command{
		Use:     "shards",
		Short:   "List over how many partitions payments of one status are spread, and since when",
		Example: "  exchequer payments shards",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			shards, err := c.PaymentShards(ctx)
			if err != nil {
				return err
			}
			return page(a, shardColumns(), whole(shards), "")
		}),
	}
}

func (a *app) paymentsGrow() *cobra.Command {
	var from string
	command := &cobra.Command{
		Use:   "grow SHARDS",
		Short: "Spread payments that are due from a day on over more partitions",
		Long: `Spread payments that are due from a day on over more partitions. Nothing that is stored is rewritten:
lists ask the partitions of all numbers that their range of time had.`,
		Example: "  exchequer payments grow 20 --from 2026-12-01",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef("exchequer payments grow 20 --from 2026-12-01",
					"%q is no number", args[0])
			}
			shards, err := c.GrowPaymentShards(ctx, n, client.Date(from))
			if err != nil {
				return err
			}
			return page(a, shardColumns(), whole(shards), "")
		}),
	}
	command.Flags().StringVar(&from, "from", "", "`day` from which on it holds, in UTC (required)")
	require(command, "from")
	return command
}

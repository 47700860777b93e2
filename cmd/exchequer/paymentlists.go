package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

const noPayments = "no payments"

// paymentStatuses are the words of --status, as people type them and the API has them.
var paymentStatuses = []string{
	string(client.PaymentScheduled), string(client.PaymentPending),
	string(client.PaymentProcessed), string(client.PaymentCancelled), string(client.PaymentFailed),
}

func (a *app) paymentsList() *cobra.Command {
	var (
		p        pages
		from, to string
		days     int
	)
	command := &cobra.Command{
		Use:   "list ACCOUNT",
		Short: "List the payments of an account by time, those in the history among them",
		Long: `List the payments of an account by time, those in the history among them.

--from and --to are calendar days in the account's zone, both included. --days lists from now on, so
many days ahead.`,
		Example: `  exchequer payments list alice --days 90
  exchequer payments list alice --from 2026-01-01 --to 2026-01-31 --all --output csv`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			q := client.AccountPaymentsQuery{
				AccountID: client.AccountID(args[0]), Days: days, PageQuery: p.query(),
			}
			for _, day := range []struct {
				flag, text string
				date       *client.Date
			}{{"--from", from, &q.From}, {"--to", to, &q.To}} {
				if day.text == "" {
					continue
				}
				if _, err := time.Parse(time.DateOnly, day.text); err != nil {
					return usagef(day.flag+" 2026-01-31", "%s %q is no day", day.flag, day.text)
				}
				*day.date = client.Date(day.text)
			}
			if p.all {
				return all(a, paymentColumns(), c.AllPaymentsOfAccount(ctx, q), noPayments)
			}
			list, err := c.PaymentsOfAccount(ctx, q)
			if err != nil {
				return err
			}
			return page(a, paymentColumns(), list, noPayments)
		}),
	}
	f := command.Flags()
	f.StringVar(&from, "from", "", "first `day`, such as 2026-01-01")
	f.StringVar(&to, "to", "", "last `day`, itself included")
	f.IntVar(&days, "days", 0, "so many `days` ahead from now, such as 90")
	command.MarkFlagsMutuallyExclusive("days", "from")
	command.MarkFlagsMutuallyExclusive("days", "to")
	p.add(command)
	return command
}

// span are the flags of lists over all accounts.
type span struct{ date, zone, from, to string }

func (s *span) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&s.date, "date", "", "one calendar `day`, such as 2026-01-31, or today")
	f.StringVar(&s.zone, "zone", "", "time `zone` in which the day begins (default UTC)")
	f.StringVar(&s.from, "from", "", "from this `time` on")
	f.StringVar(&s.to, "to", "", "until before this `time`; a day counts whole")
	command.MarkFlagsMutuallyExclusive("date", "from")
	command.MarkFlagsMutuallyExclusive("date", "to")
}

// read fills in what the flags say.
func (s *span) read(q *client.PaymentsQuery) error {
	if s.zone != "" {
		z, err := zone(s.zone)
		if err != nil {
			return err
		}
		if s.date == "" {
			return usagef("--date 2026-01-31 --zone "+s.zone, "--zone says where a --date begins")
		}
		q.Zone = z.String()
	}
	switch _, err := time.Parse(time.DateOnly, s.date); {
	case s.date == "today":
		z, err := zone(firstOf(s.zone, "UTC"))
		if err != nil {
			return err
		}
		q.Date = client.Date(time.Now().In(z).Format(time.DateOnly))
	case s.date != "" && err != nil:
		return usagef("--date 2026-01-31", "--date %q is no day", s.date)
	default:
		q.Date = client.Date(s.date)
	}
	var err error
	if q.From, err = parseBound("--from", s.from, 0); err != nil {
		return err
	}
	q.To, err = parseBound("--to", s.to, 1)
	return err
}

// listing prints a list over all accounts.
func (a *app) listing(
	ctx context.Context, c *client.Client, q client.PaymentsQuery, p pages, s span,
	columns []column[client.ScheduledPayment],
) error {
	if err := s.read(&q); err != nil {
		return err
	}
	q.PageQuery = p.query()
	if p.all {
		return all(a, columns, c.AllPayments(ctx, q), noPayments)
	}
	list, err := c.Payments(ctx, q)
	if err != nil {
		return err
	}
	return page(a, columns, list, noPayments)
}

func (a *app) paymentsDue() *cobra.Command {
	var (
		p      pages
		s      span
		status string
	)
	command := &cobra.Command{
		Use:   "due",
		Short: "List the payments of all accounts with a status by time",
		Long: `List the payments of all accounts with a status by time, those in the history among them. The list is
whole, or the command fails: a shard that cannot be read is never left out.`,
		Example: `  exchequer payments due --date today
  exchequer payments due --status PROCESSED --date 2026-01-31 --zone Pacific/Auckland --all --output csv`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			q := client.PaymentsQuery{Status: client.PaymentStatus(status)}
			columns := paymentColumns()
			if q.Status == client.PaymentPending || q.Status == client.PaymentFailed {
				columns = failedColumns()
			}
			return a.listing(ctx, c, q, p, s, columns)
		}),
	}
	command.Flags().StringVar(&status, "status", paymentStatuses[0],
		"`status`: SCHEDULED, PENDING, PROCESSED, CANCELLED or FAILED")
	_ = command.RegisterFlagCompletionFunc("status", fixed(paymentStatuses...))
	s.add(command)
	p.add(command)
	return command
}

func (a *app) paymentsHistory() *cobra.Command {
	var (
		p pages
		s span
	)
	command := &cobra.Command{
		Use:   "history",
		Short: "List the payments that came to their end, whatever it was, by time",
		Example: `  exchequer payments history --date 2026-01-31
  exchequer payments history --from 2026-01-01 --to 2026-01-31 --all --output json`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			return a.listing(ctx, c, client.PaymentsQuery{}, p, s, paymentColumns())
		}),
	}
	s.add(command)
	p.add(command)
	return command
}

func (a *app) paymentsFailed() *cobra.Command {
	var (
		p pages
		s span
	)
	command := &cobra.Command{
		Use:   "failed",
		Short: "List the payments that failed, with the reason; each can be replayed",
		Example: `  exchequer payments failed
  exchequer payments failed --date 2026-01-31`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			q := client.PaymentsQuery{Status: client.PaymentFailed}
			return a.listing(ctx, c, q, p, s, failedColumns())
		}),
	}
	s.add(command)
	p.add(command)
	return command
}

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
)

// days are the flags of commands about calendar days, both included.
type days struct{ from, to string }

func (d *days) add(command *cobra.Command, defaultFrom string) {
	f := command.Flags()
	f.StringVar(&d.from, "from", "", "first `day`, such as 2026-01-01 (default "+defaultFrom+")")
	f.StringVar(&d.to, "to", "", "last `day`, itself included (default today)")
}

// read returns the days, with defaults counted from today in UTC.
func (d *days) read(defaultFrom func(today time.Time) time.Time) (from, to client.Date, err error) {
	today := time.Now().UTC()
	for _, day := range []*struct {
		flag, text string
		otherwise  time.Time
		date       *client.Date
	}{
		{"--from", d.from, defaultFrom(today), &from},
		{"--to", d.to, today, &to},
	} {
		*day.date = client.Date(firstOf(day.text, day.otherwise.Format(time.DateOnly)))
		if _, err := time.Parse(time.DateOnly, string(*day.date)); err != nil {
			return "", "", usagef(day.flag+" 2026-01-31", "%s %q is no day", day.flag, day.text)
		}
	}
	return from, to, nil
}

// statementDays is how far back a statement goes unless told otherwise.
const statementDays = 30

func (a *app) statementCommand() *cobra.Command {
	var (
		p pages
		d days
	)
	command := &cobra.Command{
		Use:   "statement ACCOUNT",
		Short: "Show the statement of an account: opening, every leg with the balance after it, closing",
		Example: `  exchequer ledger statement alice
  exchequer ledger statement alice --from 2026-01-01 --to 2026-01-31 --all --output csv`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			q := client.StatementQuery{AccountID: client.AccountID(args[0]), PageQuery: p.query()}
			var err error
			q.From, q.To, err = d.read(func(today time.Time) time.Time {
				return today.AddDate(0, 0, -statementDays)
			})
			if err != nil {
				return err
			}
			return a.statement(ctx, c, q, p.all)
		}),
	}
	d.add(command, fmt.Sprintf("%d days ago", statementDays))
	p.add(command)
	return command
}

// statement prints the pages of a statement, newest first: the closing balance on top, the opening
// balance at the bottom.
func (a *app) statement(
	ctx context.Context, c *client.Client, q client.StatementQuery, all bool,
) error {
	p := newPrinter(a, accountLegColumns())
	first := true
	for s, err := range c.StatementPages(ctx, q) {
		if err != nil {
			return err
		}
		switch a.flags.output {
		case outputJSON:
			if err := a.json(s); err != nil {
				return err
			}
		case outputCSV:
			if first {
				if err := p.heads(); err != nil {
					return err
				}
			}
			if err := p.rows(s.Legs); err != nil {
				return err
			}
		default:
			if err := a.statementPage(p, s, first); err != nil {
				return err
			}
		}
		first = false
		if !all {
			a.more(s.Next, ", or --all")
			break
		}
	}
	return nil
}

func (a *app) statementPage(p *printer[client.Leg], s client.Statement, first bool) error {
	if first {
		t := grid.New(grid.Column{}, grid.Column{})
		t.Add("account", string(s.AccountID))
		t.Add("days", fmt.Sprintf("%s to %s", s.From, s.To))
		t.Add("closing", amountText(s.Closing))
		t.Add("opening", amountText(s.Opening))
		if err := t.Write(a.out, ""); err != nil {
			return err
		}
	}
	if first && len(s.Legs) == 0 {
		a.remark("no legs in these days")
		return nil
	}
	return p.rows(s.Legs)
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/cmd/exchequer/grid"
)

func (a *app) statementCommand() *cobra.Command {
	var (
		p        pages
		from, to string
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
			if q.From, err = dayFlag("--from", from); err != nil {
				return err
			}
			if q.To, err = dayFlag("--to", to); err != nil {
				return err
			}
			return a.statement(ctx, c, q, p.all)
		}),
	}
	f := command.Flags()
	f.StringVar(&from, "from", "", "first `day`, such as 2026-01-01 (default 30 days before the last)")
	f.StringVar(&to, "to", "", "last `day`, itself included (default today in the account's zone)")
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
			more := s.Next
			if more != "" && (q.From == "" || q.To == "") {
				more += fmt.Sprintf(" --from %s --to %s", s.From, s.To) // The cursor is theirs.
			}
			a.more(more, ", or --all")
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

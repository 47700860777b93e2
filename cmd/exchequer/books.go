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

// booksBegin is before any transaction of this program.
const booksBegin = client.Date("2000-01-01")

func (a *app) reconcileCommand() *cobra.Command {
	var d days
	command := &cobra.Command{
		Use:   "reconcile",
		Short: "Check the books: debits against credits, balances against legs",
		Long: `Check the books. In each transaction and over all days debits must equal credits in each currency,
the legs of each account must follow one another without a gap, and each stored balance must be the sum
of its legs. The first findings are shown. The exit status is 8 when anything differs.`,
		Example: `  exchequer ledger reconcile
  exchequer ledger reconcile --from 2026-01-01 --to 2026-01-31`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			q := client.ReconcileQuery{}
			var err error
			q.From, q.To, err = d.read(func(time.Time) time.Time {
				t, _ := time.Parse(time.DateOnly, string(booksBegin))
				return t
			})
			if err != nil {
				return err
			}
			bar := a.newProgress("reconciling", "transaction", 0)
			q.Progress = func(p client.ReconcileProgress) { bar.set(p.Transactions, "") }
			outcome, err := c.Reconcile(ctx, q)
			bar.clear()
			if err != nil {
				return err
			}
			return a.reconciliation(outcome)
		}),
	}
	d.add(command, "the beginning of the books")
	return command
}

func totalColumns() []column[client.CurrencyTotal] {
	type total = client.CurrencyTotal
	return []column[total]{
		col("CURRENCY", func(t total) string { return string(t.Currency) }),
		num("DEBITS", func(t total) string { return t.Debits.Text() }),
		num("CREDITS", func(t total) string { return t.Credits.Text() }),
		num("SUM OF BALANCES", func(t total) string { return t.Balances.Text() }),
	}
}

func divergenceColumns() []column[client.Divergence] {
	type divergence = client.Divergence
	return []column[divergence]{
		col("KIND", func(d divergence) string { return d.Kind }),
		col("TRANSACTION", func(d divergence) string { return string(d.TransactionID) }),
		col("ACCOUNT", func(d divergence) string { return string(d.AccountID) }),
		col("LEG", func(d divergence) string { return string(d.LegID) }),
		col("WANT", func(d divergence) string { return d.Want }),
		col("GOT", func(d divergence) string { return d.Got }),
	}
}

// reconciliation shows the outcome. As CSV it is the divergences alone.
func (a *app) reconciliation(r client.Reconciliation) error {
	err := a.reconciliationRows(r)
	if err == nil && !r.Balanced {
		err = &failure{
			exit: exitDiffers, text: "The books do not balance: " + count(r.Found, "divergence"),
			try: "exchequer ledger get TRANSACTION --legs, for those that are named",
		}
	}
	return err
}

func (a *app) reconciliationRows(r client.Reconciliation) error {
	switch a.flags.output {
	case outputJSON:
		return a.json(r)
	case outputCSV:
		return page(a, divergenceColumns(), whole(r.Divergences), "")
	}
	if err := newPrinter(a, totalColumns()).rows(r.Totals); err != nil {
		return err
	}
	if len(r.Divergences) > 0 {
		if err := newPrinter(a, divergenceColumns()).rows(r.Divergences); err != nil {
			return err
		}
	}
	verdict := "the books balance"
	if !r.Balanced {
		verdict = "the books do not balance"
	}
	_, err := fmt.Fprintf(a.out, "%s: %s, %s, %s\n", verdict, count(r.Transactions, "transaction"),
		count(r.Legs, "leg"), count(r.Accounts, "account"))
	return err
}

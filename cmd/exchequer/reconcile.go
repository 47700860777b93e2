package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func (a *app) reconcileCommand() *cobra.Command {
	var q client.ReconcileQuery
	var from, to string
	command := &cobra.Command{
		Use:   "reconcile",
		Short: "Check the books: headers, legs, balances, directory and indexes against each other",
		Long: `Check the books. Each transaction's header is compared with its legs, and its debits with its credits; the
legs of each account must follow one another without a gap, and each stored balance must be the sum of
its legs; each account must be in the directory, and each index entry must be that of its item. The whole
table and both indexes are read: on DynamoDB this costs half a read unit to one read unit for each 4 KB.

Days choose whose divergences are reported; without them everything is. Postings may go on. The exit
status is 8 when anything differs, and 9 when nothing differs but not everything could be compared: run it
again then.`,
		Example: `  exchequer ledger reconcile
  exchequer ledger reconcile --from 2026-01-01 --to 2026-01-31
  exchequer ledger reconcile --limit 1000 --skip 1000 --output csv`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			var err error
			if q.From, err = dayFlag("--from", from); err != nil {
				return err
			}
			if q.To, err = dayFlag("--to", to); err != nil {
				return err
			}
			bar := a.newProgress("reconciling", "item", 0)
			q.Progress = func(p client.ReconcileProgress) { bar.set(p.Items, p.Step) }
			outcome, err := c.Reconcile(ctx, q)
			bar.clear()
			if err != nil {
				return err
			}
			return a.reconciliation(outcome)
		}),
	}
	f := command.Flags()
	f.StringVar(&from, "from", "", "first `day`, such as 2026-01-01 (default the beginning of the books)")
	f.StringVar(&to, "to", "", "last `day`, itself included (default everything until now)")
	f.IntVar(&q.Limit, "limit", 0, "how many divergences to show, 1 to 1000 (default 100)")
	f.IntVar(&q.Skip, "skip", 0, "how many divergences to leave out before the first that is shown")
	return command
}

// dayFlag reads a flag that is a calendar day, "" if it was not given.
func dayFlag(flag, text string) (client.Date, error) {
	if text == "" {
		return "", nil
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", usagef(flag+" 2026-01-31", "%s %q is no day", flag, text)
	}
	return client.Date(text), nil
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
		col("ENTRY", func(d divergence) string { return d.Entry }),
		col("WANT", func(d divergence) string { return d.Want }),
		col("GOT", func(d divergence) string { return d.Got }),
	}
}

// reconciliation shows the result. As CSV it is the divergences alone.
func (a *app) reconciliation(r client.Reconciliation) error {
	if err := a.reconciliationRows(r); err != nil {
		return err
	}
	switch r.Verdict {
	case client.VerdictBalanced:
		return nil
	case client.VerdictUndecided:
		return undecided("whether the books balance", r.Open, "thing",
			"exchequer ledger reconcile")
	}
	text := "The books do not balance: " + count(r.Found, "divergence")
	try := "exchequer ledger get TRANSACTION --legs, for those that are named"
	if more := r.Found - len(r.Divergences); more > 0 {
		try += fmt.Sprintf("; --limit and --skip show the other %d", more)
	}
	return &failure{exit: exitDiffers, text: text, try: try}
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
	for _, list := range [...][]client.Divergence{r.Divergences, r.Undecided} {
		if len(list) == 0 {
			continue
		}
		if err := newPrinter(a, divergenceColumns()).rows(list); err != nil {
			return err
		}
	}
	if r.Others > 0 {
		a.remark("%s of other programs were left out", count(r.Others, "item"))
	}
	verdict := map[string]string{
		client.VerdictBalanced:  "the books balance",
		client.VerdictDiverges:  "the books do not balance",
		client.VerdictUndecided: "it is not decided whether the books balance",
	}[r.Verdict]
	_, err := fmt.Fprintf(a.out, "%s: %s, %s, %s\n", verdict, count(r.Transactions, "transaction"),
		count(r.Legs, "leg"), count(r.Accounts, "account"))
	return err
}

package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func (a *app) ledgerRepairDates() *cobra.Command {
	var mend bool
	command := &cobra.Command{
		Use:   "repair-dates",
		Short: "List dates that are ahead of the clock, and change them to now with --repair",
		Long: `List transactions and accounts whose dates are ahead of the clock. A server whose clock was ahead has
dated its postings in the future, and since then their accounts refuse others with account_from_future.

--repair dates these transactions now, in the order of the legs of each account, so that statements of today
have them. The true instant is not known. Ids, amounts, balances and keys stay as they are. Set the clocks
of all servers right first: the clock of the server decides, or without --server the one of this machine.

Postings may go on. A run that is stopped leaves books that reconcile; the same command mends the rest.
The exit status is 8 when a date is left, and 9 when none is left but some could not be mended now: run it
again then.`,
		Example: `  exchequer ledger repair-dates
  exchequer ledger repair-dates --repair`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			r, err := c.RepairDates(ctx, mend)
			if err != nil {
				return err
			}
			return a.datesRepaired(r)
		}),
	}
	command.Flags().BoolVar(&mend, "repair", false, "change the dates that are found to now")
	return command
}

// datesRepaired shows the result of a repair of dates. Its verdict is the exit status.
func (a *app) datesRepaired(r client.DateRepair) error {
	type fault = client.DateFault
	a.remark("by the clock of %s: %s, %s, %s ahead", instant(r.Now),
		count(r.Transactions, "transaction"), count(r.Accounts, "account"),
		count(r.Openings, "opening"))
	for _, u := range r.Undecided {
		a.remark("not mended now: %s: %s", string(u.TransactionID)+string(u.AccountID), u.Why)
	}
	columns := []column[fault]{
		col("FAULT", func(f fault) string { return f.Kind }),
		col("TRANSACTION", func(f fault) string { return string(f.TransactionID) }),
		col("ACCOUNT", func(f fault) string { return string(f.AccountID) }),
		col("ENTRY", func(f fault) string { return f.Entry }),
		col("WAS", func(f fault) string { return instant(f.Was) }),
		col("IS", func(f fault) string { return instant(f.Is) }),
		col("MENDED", func(f fault) string { return strconv.FormatBool(f.Mended) }),
		col("WHY", func(f fault) string { return f.Why }),
	}
	none := "no date is ahead of the clock"
	if r.Open > 0 {
		none = "no other date is ahead of the clock"
	}
	if err := page(a, columns, whole(r.Faults), none); err != nil {
		return err
	}
	if all := r.Transactions + r.Accounts + r.Openings; all > len(r.Faults) && len(r.Faults) > 0 {
		a.remark("and %d more", all-len(r.Faults))
	}
	switch r.Verdict {
	case client.VerdictSound:
		return nil
	case client.VerdictUndecided:
		return undecided("whether all dates are mended", r.Open, "date",
			"exchequer ledger repair-dates --repair")
	}
	return &failure{exit: exitDiffers, text: count(r.Left, "date") + " ahead of the clock left",
		try: "exchequer ledger repair-dates --repair"}
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/client/bulk"
)

const paymentsImportLong = `Schedule a file of payments. It is CSV with a line of column names, or JSON with one object a line:

  key          idempotency key, which names the row
  account      account that pays
  payee        account that is paid, or
  merchant     merchant that is
  amount       exact, with a decimal point
  currency     code of ISO 4217, that of the account
  at           when it is due: an instant such as 2026-01-31T09:00:00Z, or a day or a local time in
               the zone of the account that pays, such as 2026-01-31 or 2026-01-31T09:00
  description  any text, newlines included
  data         at most 6,900 bytes of your own, in base64

Columns come in any order; others are left out. If another column names the rows, give it with
--key-column. A file without keys is refused, unless --no-keys is given: then a row is identified by
its content, and of equal rows by its occurrence, in whatever way the file is saved.

The command can be stopped at any time, by Ctrl-C or harder, and given again: no row is scheduled
twice, also when payments were changed, paid or archived in the meantime. Each refused row is shown with its line and reason; it is tried again the next
time. A file that is broken as a whole is refused before anything is scheduled.

The exit status is 3 when rows were refused, unless --allow-refused is given.`

func (a *app) paymentsImport() *cobra.Command {
	var i importing
	command := &cobra.Command{
		Use:   "import FILE",
		Short: "Schedule a file of payments, each row exactly once",
		Long:  paymentsImportLong,
		Example: `  exchequer payments import payday.csv
  exchequer payments import payday.csv --report refused.csv --allow-refused
  zcat payday.jsonl.gz | exchequer payments import -`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return a.importFile(command.Context(), args[0], i, forSchedule)
		},
	}
	i.add(command)
	return command
}

// imports is how rows of one kind of file are imported.
type imports struct {
	// payments is set if the rows are payments to schedule.
	payments bool
	send     func(context.Context, *client.Client, *bulk.File, bulk.Options) (bulk.Result, error)
	// did is the result of new rows, in a word.
	did string
}

// forLedger posts rows, forSchedule schedules them.
var (
	forLedger = imports{
		send: func(
			ctx context.Context, c *client.Client, f *bulk.File, o bulk.Options,
		) (bulk.Result, error) {
			return bulk.Import(ctx, c, f, o)
		},
		did: "posted",
	}
	forSchedule = imports{
		payments: true,
		send: func(
			ctx context.Context, c *client.Client, f *bulk.File, o bulk.Options,
		) (bulk.Result, error) {
			return bulk.ImportPayments(ctx, c, f, o)
		},
		did: "scheduled",
	}
)

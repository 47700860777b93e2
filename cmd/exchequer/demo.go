package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/demo"
	"github.com/exchequer-dev/exchequer/server"
	"github.com/exchequer-dev/exchequer/systems/ledger"
	"github.com/exchequer-dev/exchequer/systems/locations"
	"github.com/exchequer-dev/exchequer/systems/payments"
	"github.com/exchequer-dev/exchequer/systems/rates"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See money move: a story on real input, checked to the cent",
		Long: `See money move. On fresh books, people open accounts, three months of payments are imported from a
file as messy as files are, a payday is scheduled, settled and archived, and the outcome is compared
with one that was worked out beforehand.

The books are in a temporary directory that is removed at the end. With --data they are kept, in a
directory that must be new or empty, and the commands of the story can be tried on them. With --store
dynamodb they are kept there, where none of their tables may exist yet; the bank files that the story
uploads are not kept then, unless EXCHEQUER_FILES names a bucket. The exit status is 8 when the books are
not as they must be.`,
		Example: `  exchequer demo
  exchequer demo --data ./demo-books
  exchequer demo --store dynamodb --endpoint http://127.0.0.1:8000`,
		GroupID: groupRun,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.demo(command.Context(), command.Flags().Changed("data"))
		},
	}
}

func (a *app) demo(ctx context.Context, keep bool) (err error) {
	if a.flags.server != "" {
		return usagef("Leave out --server, and unset "+envServer,
			"The demo makes books of its own and does not speak to a server")
	}
	elsewhere := a.flags.store == storeDynamoDB
	if !keep {
		// Not the directory of the environment: that has the user's own books.
		if a.flags.data, err = os.MkdirTemp("", "exchequer-demo-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(a.flags.data)) }()
	} else if err := checkFresh(a.flags.data); err != nil {
		return err
	}
	a.flags.paymentAttempts = 1 // What wants money is told at once, not in two hours.
	c, closer, err := a.connect(ctx, server.TablesKeep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	if elsewhere {
		if err := a.checkNoTable(ctx, c); err != nil {
			return err
		}
	}
	bar := a.newProgress("importing", "row", 0)
	err = demo.Tell(ctx, c, demo.Options{
		Out: a.out,
		Progress: func(done, total int) {
			if done == 1 {
				bar = a.newProgress("importing", "row", total)
			}
			if bar.set(done, ""); done == total {
				bar.clear()
			}
		},
	})
	bar.clear()
	var wrong *demo.MismatchError
	if errors.As(err, &wrong) {
		return &failure{exit: exitDiffers, text: wrong.Error()}
	}
	switch {
	case err != nil:
		return err
	case elsewhere:
		a.remark("the books are in %s: give the commands above with the same --store",
			a.place(a.flags.data))
	case keep:
		a.remark("the books are in %s: give the commands above with --data %s",
			a.flags.data, a.flags.data)
	default:
		a.remark("to try the commands above, keep the books: exchequer demo --data ./demo-books")
	}
	return nil
}

// checkFresh refuses a directory that has anything in it, since the demo's outcome is known for
// empty books alone.
func checkFresh(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return usagef("exchequer demo, or --data with a new directory",
			"The demo needs fresh books, and there is something in %s already", dir)
	}
	return nil
}

// checkNoTable is checkFresh for a store that is no directory: of the tables that the story writes
// to, none may be there.
func (a *app) checkNoTable(ctx context.Context, c *client.Client) error {
	tables, err := c.Tables(ctx)
	if err != nil {
		return err
	}
	for _, table := range [...]struct{ env, name string }{
		{envTable, ledger.TableNameDefault}, {envPaymentsTable, payments.TableNameDefault},
		{envPaymentsHistory, payments.HistoryTableNameDefault},
		{locations.TableNameEnv, locations.TableNameDefault},
		{"", rates.TableNameDefault}, {"", rates.HistoryNameDefault},
		{"", statements.TableNameDefault},
	} {
		own, try := table.name, "another --endpoint"
		if table.env != "" {
			own = firstOf(a.env(table.env), table.name)
			try += ", or another name of the table in " + table.env
		}
		if slices.ContainsFunc(tables, func(t client.Table) bool { return t.Name == own }) {
			return usagef(try, "The demo needs fresh books, and there is a table %s in %s already",
				own, a.place(""))
		}
	}
	return nil
}

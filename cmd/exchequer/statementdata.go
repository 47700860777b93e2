package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/systems/statements"
)

func (a *app) statementsExport() *cobra.Command {
	var (
		d        dayFlags
		q        client.ExportQuery
		format   string
		accounts []string
	)
	var names []string
	for _, f := range statements.ExportFormats() {
		names = append(names, string(f))
	}
	command := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Give transactions out: CSV, JSON, Beancount or hledger",
		Long: `Give transactions out, all of them unless days or accounts are named: to a file, or to standard
output. CSV is safe to open in a spreadsheet: what a bank wrote is never taken for a formula. The journals
have one posting for each part, with tags as accounts of expenses or income.`,
		Example: `  exchequer statements export --format csv all.csv
  exchequer statements export --format hledger --from 2026-01 --to 2026-03 | hledger -f - balance
  exchequer statements export --format beancount books.beancount`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) (err error) {
			if !slices.Contains(names, format) {
				return usagef("one of "+strings.Join(names, ", "), "There is no format %q", format)
			}
			m, err := mineOf(ctx, c)
			if err != nil {
				return err
			}
			q.Format = format
			if q.Accounts, err = m.accounts(splitWords(accounts)); err != nil {
				return err
			}
			if d != (dayFlags{}) {
				if q.From, q.To, err = d.days(m, 12); err != nil {
					return err
				}
			}
			return a.into(args, func(w io.Writer) error { return c.Export(ctx, w, q) })
		}),
	}
	d.add(command)
	f := command.Flags()
	f.StringVar(&format, "format", "csv", "`form`: "+strings.Join(names, ", "))
	f.StringSliceVar(&accounts, "account", nil, "only these `accounts`")
	f.BoolVar(&q.Opening, "opening", false,
		"begin each account of a journal with what its earlier rows add up to")
	_ = command.RegisterFlagCompletionFunc("format", fixed(names...))
	return command
}

func (a *app) statementsArchive() *cobra.Command {
	return &cobra.Command{
		Use:   "archive FILE",
		Short: "Write everything that you have here as one zip file",
		Long: `Write everything that you have here as one zip file: accounts, tags, rules, transactions, the files
that you uploaded, and what is remembered of deleted rows. "restore" brings it back without loss.`,
		Example: "  exchequer statements archive mine.zip",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			bar := a.newProgress("writing", "kilobyte", 0)
			defer bar.clear()
			return a.into(args, func(w io.Writer) error {
				return c.Archive(ctx, io.MultiWriter(w, &passing{bar: bar}))
			})
		}),
	}
}

func (a *app) statementsRestore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Bring an archive back, where there is nothing yet",
		Long: `Bring an archive back, for a person who has nothing yet. All of it is checked before anything is
written. Stopped, it is finished by the same command.`,
		Example: "  exchequer statements restore mine.zip",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			info, err := file.Stat()
			if err != nil {
				return err
			}
			bar := a.newProgress("sending", "kilobyte", int(info.Size()/kilobyte))
			done, err := c.Restore(ctx, io.TeeReader(file, &passing{bar: bar}), info.Size())
			bar.clear()
			if err != nil {
				return err
			}
			return one(a, archiveColumns(), done)
		}),
	}
}

const kilobyte = 1_000

// passing returns how much of a file has passed.
type passing struct {
	bar   *progress
	bytes int
}

func (p *passing) Write(part []byte) (int, error) {
	p.bytes += len(part)
	p.bar.set(p.bytes/kilobyte, "")
	return len(part), nil
}

func archiveColumns() []column[client.ArchiveCounts] {
	type counts = client.ArchiveCounts
	n := func(head string, get func(counts) int) column[counts] {
		return num(head, func(c counts) string { return thousands(get(c)) })
	}
	return []column[counts]{
		n("ACCOUNTS", func(c counts) int { return c.Accounts }),
		n("TAGS", func(c counts) int { return c.Tags }),
		n("RULES", func(c counts) int { return c.Rules }),
		n("UPLOADS", func(c counts) int { return c.Uploads }),
		n("FILES", func(c counts) int { return c.Files }),
		n("TRANSACTIONS", func(c counts) int { return c.Transactions }),
		n("REMEMBERED", func(c counts) int { return c.Entries }),
	}
}

func (a *app) statementsCheck() *cobra.Command {
	var repair bool
	command := &cobra.Command{
		Use:   "check [ACCOUNT...]",
		Short: "Check the totals of months against the transactions",
		Long: `Compare the totals of months, which are kept up to date with each write, with what the
transactions add up to. The exit status is 8 when they differ or when a stored item cannot be read, and 9
when nothing differs but a month could not be compared, because others wrote to it all the time: run it
again then.`,
		Example: "  exchequer statements check\n  exchequer statements check everyday --repair",
		Args:    cobra.ArbitraryArgs,
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			ids, err := m.accounts(args)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				for _, of := range m.Accounts {
					ids = append(ids, of.ID)
				}
			}
			return a.checkTotals(ctx, m, ids, repair)
		}),
	}
	command.Flags().BoolVar(&repair, "repair", false, "write totals that differ anew")
	return command
}

func (a *app) checkTotals(
	ctx context.Context, m *mine, ids []client.BankAccountID, repair bool,
) error {
	type line struct {
		account string
		found   client.TotalsCheck
	}
	var lines []line
	for _, id := range ids {
		bar := a.newProgress("checking", "row", 0)
		found, err := m.c.CheckTotals(ctx, id, repair, func(n client.TotalsCheck) {
			bar.set(n.Rows, "")
		})
		bar.clear()
		if err != nil {
			return err
		}
		lines = append(lines, line{m.accountName(id), found})
	}
	err := page(a, []column[line]{
		col("ACCOUNT", func(l line) string { return l.account }),
		num("MONTHS", func(l line) string { return thousands(l.found.Months) }),
		num("ROWS", func(l line) string { return thousands(l.found.Rows) }),
		num("DIFFERENCES", func(l line) string { return thousands(l.found.Differ) }),
		num("REPAIRED", func(l line) string { return thousands(l.found.Repaired) }),
	}, whole(lines), "no accounts yet")
	if err != nil {
		return err
	}
	wrong, open, unread := 0, 0, 0
	for _, l := range lines {
		for _, d := range l.found.Differences {
			a.remark("%s %s %s: %s differs", l.account, d.Month, d.Currency, d.What)
		}
		for _, month := range l.found.Undecided {
			a.remark("%s %s: not decided", l.account, month)
		}
		for i := range l.found.Unreadable {
			a.remark("%s", l.found.Unreadable[i].Error())
		}
		wrong += l.found.Differ - l.found.Repaired
		open += len(l.found.Undecided)
		unread += l.found.UnreadableCount
	}
	switch {
	case wrong > 0:
		return &failure{exit: exitDiffers, text: count(wrong, "total") + " not as they must be",
			try: "exchequer statements check --repair"}
	case unread > 0:
		return unreadableFailure(unread)
	case open > 0:
		return undecided("whether the totals are right", open, "month",
			"exchequer statements check")
	}
	return nil
}

func (a *app) statementsForgetMe() *cobra.Command {
	var confirm string
	command := &cobra.Command{
		Use:   "forget-me",
		Short: "Remove everything that you have here, files included",
		Long: `Remove everything that you have here: accounts, tags, rules, transactions, uploaded files, and
what is remembered of deleted rows. It cannot be taken back: write an archive first. To be sure, your
name, as "exchequer whoami" shows it, has to be typed, or given with --confirm.`,
		Example: "  exchequer statements archive mine.zip\n  exchequer statements forget-me",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			me, err := c.WhoAmI(ctx)
			if err != nil {
				return err
			}
			ask := a.newDialogue()
			switch {
			case confirm == "" && ask.there:
				ask.say("Everything of %s will be removed, and cannot be brought back.", me.Subject)
				if confirm, err = ask.answer(ctx, "Type the name to go on:"); err != nil {
					return err
				}
			case confirm == "":
				return usagef("--confirm "+quoted(me.Subject),
					"Nothing was removed: the name has to be given")
			}
			if confirm != me.Subject {
				return usagef(quoted(me.Subject), "Nothing was removed: the name is not %q",
					confirm)
			}
			bar := a.newProgress("removing", "transaction", 0)
			done, err := c.EraseEverything(ctx, func(n client.Erased) {
				bar.set(n.Transactions, "")
			})
			bar.clear()
			if ctx.Err() != nil {
				return &failure{exit: exitStopped, text: "Stopped before everything was removed",
					try: "the same command again"}
			}
			if err != nil {
				return err
			}
			return one(a, erasedColumns(), done)
		}),
	}
	command.Flags().StringVar(&confirm, "confirm", "", "your `name`, so that nothing is asked")
	return command
}

func erasedColumns() []column[client.Erased] {
	type erased = client.Erased
	n := func(head string, get func(erased) int) column[erased] {
		return num(head, func(e erased) string { return fmt.Sprint(get(e)) })
	}
	return []column[erased]{
		n("PROFILES", func(e erased) int { return e.Profiles }),
		n("ACCOUNTS", func(e erased) int { return e.Accounts }),
		n("TAGS", func(e erased) int { return e.Tags }),
		n("RULES", func(e erased) int { return e.Rules }),
		n("JOBS", func(e erased) int { return e.Jobs }),
		n("UPLOADS", func(e erased) int { return e.Uploads }),
		n("FILES", func(e erased) int { return e.Files }),
		n("TRANSACTIONS", func(e erased) int { return e.Transactions }),
		n("REMEMBERED", func(e erased) int { return e.Entries }),
		n("TOTALS", func(e erased) int { return e.Sheets }),
	}
}

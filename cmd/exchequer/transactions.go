package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
	"github.com/exchequer-dev/exchequer/when"
)

// textMax is the width of descriptions in tables.
const textMax = 32

func transactionColumns() []column[client.Transaction] {
	type transaction = client.Transaction
	return []column[transaction]{
		col("ID", func(t transaction) string { return string(t.ID) }),
		col("CREATED", func(t transaction) string { return instant(t.CreatedAt) }),
		col("TYPE", func(t transaction) string { return string(t.Type) }),
		col("STATUS", func(t transaction) string { return string(t.Status) }),
		cash("AMOUNT", func(t transaction) money.Amount { return t.Amount }),
		col("DESCRIPTION", func(t transaction) string { return t.Description }).upTo(textMax),
	}
}

// transactionDetails are the columns for one transaction.
func transactionDetails() []column[client.Transaction] {
	type transaction = client.Transaction
	details := transactionColumns()
	details[len(details)-1].Max = 0
	return append(details,
		col("MERCHANT", func(t transaction) string { return string(t.MerchantID) }),
		col("KEY", func(t transaction) string { return t.IdempotencyKey }),
		col("METADATA", metadataText),
		col("REVERSAL OF", func(t transaction) string { return string(t.ReversalOf) }),
		col("REVERSED BY", func(t transaction) string { return string(t.ReversedBy) }))
}

// metadataText shows metadata as name=value, with blanks between. A name or a value in which that
// would be unclear is a JSON string, so that the text can be taken apart again.
func metadataText(t client.Transaction) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(t.Metadata)) {
		pairs = append(pairs, quotedWord(name)+"="+quotedWord(t.Metadata[name]))
	}
	return strings.Join(pairs, " ")
}

// quotedWord returns a text as it is if it is one word without a quote or an equals sign, and
// otherwise as a JSON string.
func quotedWord(text string) string {
	unclear := func(r rune) bool {
		return r == '=' || r == '"' || unicode.IsSpace(r) || unicode.IsControl(r)
	}
	if text != "" && !strings.ContainsFunc(text, unclear) {
		return text
	}
	quoted, err := json.Marshal(text)
	if err != nil { // A string has a form in JSON.
		return strconv.Quote(text)
	}
	return string(quoted)
}

// legColumns are those of the legs of one transaction.
func legColumns() []column[client.Leg] {
	type leg = client.Leg
	return []column[leg]{
		col("ACCOUNT", func(l leg) string { return string(l.AccountID) }),
		cash("DEBIT", side(client.Debit)),
		cash("CREDIT", side(client.Credit)),
		cash("BALANCE AFTER", func(l leg) money.Amount { return l.BalanceAfter }),
	}
}

// accountLegColumns are those of the legs of one account.
func accountLegColumns() []column[client.Leg] {
	type leg = client.Leg
	return []column[leg]{
		col("CREATED", func(l leg) string { return instant(l.CreatedAt) }),
		col("TRANSACTION", func(l leg) string { return string(l.TransactionID) }),
		cash("DEBIT", side(client.Debit)),
		cash("CREDIT", side(client.Credit)),
		cash("BALANCE", func(l leg) money.Amount { return l.BalanceAfter }),
	}
}

// side returns the amounts of the legs of a kind, and no amount for the others.
func side(kind client.LegType) func(client.Leg) money.Amount {
	return func(l client.Leg) money.Amount {
		if l.Type == kind {
			return l.Amount
		}
		return money.Amount{}
	}
}

// entry shows a transaction with its legs. As CSV it is the legs, each with the transaction's id.
func (a *app) entry(e client.Entry) error {
	switch a.flags.output {
	case outputJSON:
		return a.json(e)
	case outputCSV:
		columns := append([]column[client.Leg]{
			col("TRANSACTION", func(l client.Leg) string { return string(l.TransactionID) }),
		}, legColumns()...)
		return page(a, columns, whole(e.Legs), "")
	}
	if err := one(a, transactionDetails(), e.Transaction); err != nil {
		return err
	}
	// Debits first, so that money reads from where it leaves to where it arrives. The store has
	// legs in the order of their ids.
	legs := slices.SortedStableFunc(slices.Values(e.Legs), func(a, b client.Leg) int {
		return -strings.Compare(string(a.Type), string(b.Type))
	})
	return newPrinter(a, legColumns()).rows(legs)
}

func (a *app) getCommand() *cobra.Command {
	var legs bool
	command := &cobra.Command{
		Use:   "get TRANSACTION",
		Short: "Show a transaction, with its legs if asked",
		Example: `  exchequer ledger get 5f2c6d1e-9a0b-5c3d-8e4f-0123456789ab
  exchequer ledger get 5f2c6d1e-9a0b-5c3d-8e4f-0123456789ab --legs --usage`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			id := client.TransactionID(args[0])
			if legs {
				entry, err := c.Entry(ctx, id)
				if err != nil {
					return err
				}
				return a.entry(entry)
			}
			transaction, err := c.Transaction(ctx, id)
			if err != nil {
				return err
			}
			return one(a, transactionDetails(), transaction)
		}),
	}
	command.Flags().BoolVar(&legs, "legs", false,
		"with its legs, by one query of the item collection")
	return command
}

func (a *app) findCommand() *cobra.Command {
	var (
		key  string
		legs bool
	)
	command := &cobra.Command{
		Use:     "find",
		Short:   "Find the transaction that was posted with an idempotency key",
		Example: "  exchequer ledger find --key order-1",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			if legs {
				entry, err := c.EntryByKey(ctx, key)
				if err != nil {
					return err
				}
				return a.entry(entry)
			}
			transaction, err := c.TransactionByKey(ctx, key)
			if err != nil {
				return err
			}
			return one(a, transactionDetails(), transaction)
		}),
	}
	command.Flags().StringVar(&key, "key", "", "idempotency `key` (required)")
	command.Flags().BoolVar(&legs, "legs", false,
		"with its legs, as of now: its id follows from the key, so the index is not asked")
	require(command, "key")
	return command
}

const noTransactions = "no transactions"

func (a *app) listCommand() *cobra.Command {
	var (
		p                pages
		status, from, to string
		newest           bool
	)
	command := &cobra.Command{
		Use:   "list",
		Short: "List transactions of a status by time",
		Long: `List transactions of a status by time.

--from and --to are instants (2026-01-31T10:30:00Z), calendar days in UTC (2026-01-31, the whole day),
or ages (36h: that long ago).`,
		Example: `  exchequer ledger list --status completed --from 24h
  exchequer ledger list --status reversed --from 2026-01-01 --to 2026-01-31 --all --output csv`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			q := client.StatusQuery{
				Status: client.TransactionStatus(status), NewestFirst: newest, PageQuery: p.query(),
			}
			var err error
			if q.From, err = parseBound("--from", from, 0); err != nil {
				return err
			}
			if q.To, err = parseBound("--to", to, 1); err != nil {
				return err
			}
			if p.all {
				items := c.AllTransactionsByStatus(ctx, q)
				return all(a, transactionColumns(), items, noTransactions)
			}
			list, err := c.TransactionsByStatus(ctx, q)
			if err != nil {
				return err
			}
			return page(a, transactionColumns(), list, noTransactions)
		}),
	}
	f := command.Flags()
	statuses := []string{
		string(client.Completed), string(client.Reversed), string(client.Pending),
		string(client.Failed),
	}
	f.StringVar(&status, "status", statuses[0], "`status`: "+strings.Join(statuses, ", "))
	f.StringVar(&from, "from", "", "from this `time` on")
	f.StringVar(&to, "to", "", "until before this `time`; a day counts whole")
	f.BoolVar(&newest, "newest", false, "the newest first")
	_ = command.RegisterFlagCompletionFunc("status", fixed(statuses...))
	p.add(command)
	return command
}

// parseBound reads a bound in time. A day means its beginning plus some days.
func parseBound(flag, text string, days int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.AddDate(0, 0, days), nil
	}
	if t, err := when.Instant(text); err == nil {
		return t, nil
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return time.Now().Add(-age), nil
	}
	return time.Time{}, usagef(flag+" 2026-01-31, 2026-01-31T10:30:00Z or 24h",
		"%s %q is no time", flag, text)
}

func (a *app) legsCommand() *cobra.Command {
	var p pages
	command := &cobra.Command{
		Use:     "legs ACCOUNT",
		Short:   "List the legs of an account, newest first",
		Example: "  exchequer ledger legs alice --limit 10",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			id := client.AccountID(args[0])
			if p.all {
				return all(a, accountLegColumns(), c.AllLegsOfAccount(ctx, id), "no legs")
			}
			list, err := c.LegsOfAccount(ctx, id, p.query())
			if err != nil {
				return err
			}
			return page(a, accountLegColumns(), list, "no legs")
		}),
	}
	p.add(command)
	return command
}

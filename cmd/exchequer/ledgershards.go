package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/when"
)

func statusShardColumns() []column[client.StatusShards] {
	return []column[client.StatusShards]{
		num("SHARDS", func(s client.StatusShards) string { return strconv.Itoa(s.Count) }),
		col("FROM", func(s client.StatusShards) string {
			if s.From.IsZero() {
				return "the beginning"
			}
			return instant(s.From)
		}),
	}
}

func (a *app) ledgerShards() *cobra.Command {
	return &cobra.Command{
		Use:   "shards",
		Short: "List over how many partitions transactions of one status are spread, and since when",
		Long: `List over how many partitions transactions of one status are spread, and since when. The number is
stored with the first posting; --status-shards of serve, and its variable, only say what it is then.`,
		Example: "  exchequer ledger shards",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			shards, err := c.StatusShards(ctx)
			if err != nil {
				return err
			}
			return page(a, statusShardColumns(), whole(shards), "")
		}),
	}
}

func (a *app) ledgerGrow() *cobra.Command {
	const example = "exchequer ledger grow 4"
	var from string
	command := &cobra.Command{
		Use:   "grow SHARDS",
		Short: "Spread transactions that are created from now on over more partitions",
		Long: `Spread the transactions of one status that are created from now on, or from an instant on, over more
partitions. Nothing that is stored is rewritten, and nothing is hidden: lists ask the partitions of all
numbers.`,
		Example: "  " + example + "\n  " + example + " --from 2026-12-01T00:00:00Z",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef(example, "%q is no number", args[0])
			}
			var at time.Time
			if from != "" {
				if at, err = when.Instant(from); err != nil {
					return usagef("--from 2026-12-01T00:00:00Z", "--from %v", err)
				}
			}
			shards, err := c.GrowStatusShards(ctx, n, at)
			if err != nil {
				return err
			}
			return page(a, statusShardColumns(), whole(shards), "")
		}),
	}
	command.Flags().StringVar(&from, "from", "", "`instant` from which on it holds (default now)")
	return command
}

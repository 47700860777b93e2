package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (a *app) statementsAdd() *cobra.Command {
	var (
		n    client.NewBankTransaction
		tags []string
		day  string
	)
	command := &cobra.Command{
		Use:   "add ACCOUNT DATE AMOUNT MERCHANT",
		Short: "Add a transaction by hand; a file that has it later becomes one with it",
		Long: `Add a transaction by hand. Money out is negative. When a file brings a row with the same amount
within a week, it becomes one with this transaction, and what you wrote stays.`,
		Example: `  exchequer statements add cash 2026-02-14 -- -12.50 "Night market"
  exchequer statements add cash 2026-02-14 --tag Groceries --key stall-1 -- -12.50 "Night market"`,
		Args: cobra.ExactArgs(4),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			of, err := m.account(args[0])
			if err != nil {
				return err
			}
			date, err := dayOf("the day", args[1], false)
			if err != nil || len(args[1]) != len("2026-01-31") {
				return usagef("a day such as 2026-01-31", "%q is no day", args[1])
			}
			day = date.Format("2006-01-02")
			n.Date, n.Merchant = client.Date(day), args[3]
			if n.Amount, err = plainAmount("the amount", args[2]); err != nil {
				return err
			}
			if n.TagIDs, err = m.tags(ctx, splitWords(tags), false); err != nil {
				return err
			}
			t, err := m.c.AddBankTransaction(ctx, of.ID, n)
			if err != nil {
				return err
			}
			return created(a, m.rowDetails(), t.BankTransaction, t.Replayed, "transaction")
		}),
	}
	f := command.Flags()
	f.StringSliceVar(&tags, "tag", nil, "`tags` of it")
	f.StringVar(&n.Notes, "notes", "", "`text` of your own")
	f.BoolVar(&n.Transfer, "transfer", false, "it moves money between your own accounts")
	f.StringVar(&n.IdempotencyKey, "key", "", "`name` of this request, which makes a repeat safe")
	return command
}

// change prepares a command that changes a transaction.
func (a *app) change(
	command *cobra.Command,
	change func(ctx context.Context, m *mine, t client.BankTransaction, args []string) (
		client.BankTransactionChange, error),
) *cobra.Command {
	var account string
	command.Flags().StringVar(&account, "account", "", "`account` to look in (default: all)")
	command.RunE = a.withMine(func(ctx context.Context, m *mine, args []string) error {
		t, err := m.transaction(ctx, args[0], account)
		if err != nil {
			return err
		}
		what, err := change(ctx, m, t, args[1:])
		if err != nil {
			return err
		}
		// Not as another command has made it in the meantime.
		changed, err := m.c.ChangeBankTransaction(ctx, t.AccountID, t.ID, t.Version, what)
		if err != nil {
			return err
		}
		return one(a, m.rowDetails(), changed)
	})
	return command
}

func (a *app) statementsEdit() *cobra.Command {
	var (
		date, merchant, notes, amount string
		tags, add, remove, reset      []string
		transfer                      bool
	)
	command := &cobra.Command{
		Use:   "edit TRANSACTION",
		Short: "Change a transaction: date, merchant, notes, tags",
		Long: `Change a transaction. What you change is yours from then on: no rule and no file changes it any
more, until --reset gives it back. The amount can only be changed of what you added by hand. Tags that
are not there are made.`,
		Example: `  exchequer statements edit txn-202602-4f9k2m --merchant "Blue Door" --add-tag Treats
  exchequer statements edit txn-202602-4f9k2m --tags Groceries,Home --notes "for the party"
  exchequer statements edit txn-202602-4f9k2m --reset tags,merchant`,
		Args: cobra.ExactArgs(1),
	}
	f := command.Flags()
	f.StringVar(&date, "date", "", "another `day`, also in another month")
	f.StringVar(&merchant, "merchant", "", "another `name`")
	f.StringVar(&notes, "notes", "", "`text` of your own; empty for none")
	f.StringVar(&amount, "amount", "", "another `amount`")
	f.StringSliceVar(&tags, "tags", nil, "all its `tags`, in place of those it has; \"\" for none")
	f.StringSliceVar(&add, "add-tag", nil, "more `tags`")
	f.StringSliceVar(&remove, "remove-tag", nil, "`tags` that it shall not have")
	f.BoolVar(&transfer, "transfer", false, "it moves money between your own accounts")
	f.StringSliceVar(&reset, "reset", nil,
		"`fields` to give back: merchant, notes, tags, splits, transfer")
	command.MarkFlagsMutuallyExclusive("tags", "add-tag")
	command.MarkFlagsMutuallyExclusive("tags", "remove-tag")
	command.MarkFlagsOneRequired("date", "merchant", "notes", "amount", "tags", "add-tag",
		"remove-tag", "transfer", "reset")
	set := command.Flags().Changed
	return a.change(command, func(
		ctx context.Context, m *mine, t client.BankTransaction, _ []string,
	) (change client.BankTransactionChange, err error) {
		if set("date") {
			day, err := dayOf("--date", date, false)
			if err != nil || len(date) != len("2026-01-31") {
				return change, usagef("--date 2026-01-31", "%q is no day", date)
			}
			own := client.Date(day.Format("2006-01-02"))
			change.Date = &own
		}
		if set("amount") {
			d, err := plainAmount("--amount", amount)
			if err != nil {
				return change, err
			}
			change.Amount = &d
		}
		if set("merchant") {
			change.Merchant = &merchant
		}
		if set("notes") {
			change.Notes = &notes
		}
		if set("transfer") {
			change.Transfer = &transfer
		}
		change.Reset = splitWords(reset)
		if set("tags") || set("add-tag") || set("remove-tag") {
			ids, err := m.newTags(ctx, t, set("tags"), tags, add, remove)
			if err != nil {
				return change, err
			}
			change.TagIDs = &ids
		}
		return change, nil
	})
}

// newTags are the tags that a transaction shall have.
func (m *mine) newTags(
	ctx context.Context, t client.BankTransaction, all bool, tags, add, remove []string,
) ([]client.TagID, error) {
	if all {
		return m.tags(ctx, splitWords(tags), true)
	}
	more, err := m.tags(ctx, splitWords(add), true)
	if err != nil {
		return nil, err
	}
	less, err := m.tags(ctx, splitWords(remove), false)
	if err != nil {
		return nil, err
	}
	ids := []client.TagID{}
	for _, id := range append(t.TagIDs[:len(t.TagIDs):len(t.TagIDs)], more...) {
		if !slices.Contains(less, id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (a *app) statementsSplit() *cobra.Command {
	var whole bool
	command := &cobra.Command{
		Use:   "split TRANSACTION AMOUNT=TAGS...",
		Short: "Divide a transaction into parts with tags of their own",
		Long: `Divide a transaction into parts with tags of their own. Amounts have the sign of the whole and add
up to it; "rest" is what is left. --whole makes it whole again. Several tags are separated by commas;
those that are not there are made.`,
		Example: `  exchequer statements split txn-202602-4f9k2m -- -30=Groceries -12.50=Household rest=Gifts
  exchequer statements split txn-202602-4f9k2m --whole`,
		Args: cobra.MinimumNArgs(1),
	}
	command.Flags().BoolVar(&whole, "whole", false, "make it whole again")
	return a.change(command, func(
		ctx context.Context, m *mine, t client.BankTransaction, args []string,
	) (change client.BankTransactionChange, err error) {
		if whole == (len(args) > 0) {
			return change, usagef("exchequer statements split ID -- -30=Groceries rest=Gifts",
				"Give the parts, or --whole")
		}
		parts := []client.NewBankSplit{}
		left := t.Amount
		for _, arg := range args {
			text, tags, _ := strings.Cut(arg, "=")
			part := client.NewBankSplit{Amount: left}
			if text != "rest" {
				if part.Amount, err = plainAmount("a part", text); err != nil {
					return change, err
				}
			}
			if left, err = left.Sub(part.Amount); err != nil {
				return change, fmt.Errorf("divide %s: %w", t.ID, err)
			}
			if part.TagIDs, err = m.tags(ctx, splitWords([]string{tags}), true); err != nil {
				return change, err
			}
			parts = append(parts, part)
		}
		if len(parts) > 0 && left.Sign() != 0 {
			return change, usagef("a part such as rest=Other",
				"The parts leave %s of %s", digitsText(left, t.Currency), rowAmount(t))
		}
		change.Splits = &parts
		return change, nil
	})
}

func (a *app) statementsAnnotate() *cobra.Command {
	var (
		n               client.NewAnnotation
		account, remove string
	)
	command := &cobra.Command{
		Use:   "annotate TRANSACTION [TEXT]",
		Short: "Remark something on a transaction, or take a remark away",
		Long: `Remark something on a transaction: a person or a program may, and each remark has its author and
its time. It changes nothing else of the transaction.`,
		Example: `  exchequer statements annotate txn-202602-4f9k2m "keep the receipt: warranty until 2028"
  exchequer statements annotate txn-202602-4f9k2m --remove ann-01k3zj8q0v9x2c4r6t8w0y2a4b`,
		Args: cobra.RangeArgs(1, 2),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			if (remove != "") == (len(args) == 2) {
				return usagef("exchequer statements annotate ID TEXT", "Give a text, or --remove")
			}
			m, err := mineOf(ctx, c)
			if err != nil {
				return err
			}
			t, err := m.transaction(ctx, args[0], account)
			if err != nil {
				return err
			}
			if remove != "" {
				t, err = c.RemoveAnnotation(ctx, t.AccountID, t.ID, remove)
			} else {
				n.Text = args[1]
				made, err := c.Annotate(ctx, t.AccountID, t.ID, n)
				if err != nil {
					return err
				}
				return created(a, m.rowDetails(), made.BankTransaction, made.Replayed, "remark")
			}
			if err != nil {
				return err
			}
			return one(a, m.rowDetails(), t)
		}),
	}
	f := command.Flags()
	f.StringVar(&account, "account", "", "`account` to look in (default: all)")
	f.StringVar(&n.Type, "type", "", "kind of remark, a `word` of your own")
	f.StringVar(&n.Author, "author", "", "`name` of the person or program that remarks it")
	f.StringVar(&n.ID, "id", "", "`id` to use, which makes a repeat safe")
	f.StringVar(&remove, "remove", "", "`id` of the remark to take away")
	return command
}

func (a *app) statementsDelete() *cobra.Command {
	var (
		account string
		yes     bool
	)
	command := &cobra.Command{
		Use:   "delete TRANSACTION",
		Short: "Delete a transaction for good: no file brings it back",
		Long: `Delete a transaction for good. Its id and its fingerprint are remembered, so that no later import
of a file with the same row brings it back.`,
		Example: "  exchequer statements delete txn-202602-4f9k2m",
		Args:    cobra.ExactArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			t, err := m.transaction(ctx, args[0], account)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s of %s, %s", rowAmount(t), t.Date, t.Merchant)
			if ask := a.newDialogue(); ask.there && !yes {
				sure, err := ask.agree(ctx, "Delete "+what+"?")
				if err != nil || !sure {
					return err
				}
			}
			if err := m.c.DeleteBankTransaction(ctx, t.AccountID, t.ID, t.Version); err != nil {
				return err
			}
			a.remark("deleted: %s", what)
			return nil
		}),
	}
	f := command.Flags()
	f.StringVar(&account, "account", "", "`account` to look in (default: all)")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return command
}

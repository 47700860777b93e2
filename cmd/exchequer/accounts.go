package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

func accountColumns() []column[client.Account] {
	type account = client.Account
	return []column[account]{
		col("ID", func(a account) string { return string(a.ID) }),
		col("USER", func(a account) string { return string(a.UserID) }),
		col("TYPE", func(a account) string { return a.AccountType }),
		col("STATUS", func(a account) string { return string(a.Status) }),
		cash("BALANCE", func(a account) money.Amount { return a.Balance }),
		col("OVERDRAFT", overdraftText),
	}
}

// accountDetails are the columns for one account.
func accountDetails() []column[client.Account] {
	type account = client.Account
	return append(accountColumns(),
		col("ZONE", func(a account) string { return a.Zone }),
		col("LOCATION", func(a account) string { return string(a.LocationID) }),
		col("VERSION", func(a account) string { return thousands(int(a.Version)) }),
		col("LAST POSTED", func(a account) string { return instant(a.LastPostedAt) }),
		col("CREATED", func(a account) string { return instant(a.CreatedAt) }))
}

func overdraftText(a client.Account) string {
	switch {
	case a.Unlimited:
		return "unlimited"
	case a.OverdraftLimit.IsZero():
		return ""
	}
	return a.OverdraftLimit.Text()
}

const noAccounts = "no accounts"

func (a *app) accountsCommand() *cobra.Command {
	return group("accounts", "Open accounts, read them, change their status", "",
		a.accountsOpen(), a.accountsGet(), a.accountsList(), a.accountsOverdraft(),
		a.accountChange("freeze", "Refuse postings to an account until it is unfrozen",
			(*client.Client).FreezeAccount),
		a.accountChange("unfreeze", "Let a frozen account be posted to again",
			(*client.Client).UnfreezeAccount),
		a.accountsClose())
}

func (a *app) accountsOpen() *cobra.Command {
	var (
		n                         client.NewAccount
		id, user, currency, limit string
		location                  string
	)
	command := &cobra.Command{
		Use:   "open",
		Short: "Open an account with a balance of zero",
		Long: `Open an account with a balance of zero.

Given again with the same --id or --key, the command shows the account that it opened the first time,
as it is now, and says so. With other flags it is a conflict that names what differs.`,
		Example: `  exchequer ledger accounts open --id alice --user alice@example.org --currency NZD
  exchequer ledger accounts open --user u-7 --type savings --currency USD --overdraft 500 --key form-81`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			n.ID, n.UserID = client.AccountID(id), client.UserID(user)
			n.Currency, n.LocationID = money.Currency(currency), client.LocationID(location)
			var err error
			n.OverdraftLimit, err = optionalAmount("--overdraft", limit, n.Currency)
			if err != nil {
				return err
			}
			opened, err := c.OpenAccount(ctx, n)
			if err != nil {
				return err
			}
			return created(a, accountDetails(), opened.Account, opened.Replayed, "account")
		}),
	}
	f := command.Flags()
	f.StringVar(&id, "id", "", "`id` to use; without one it is made from --key, or at random")
	f.StringVar(&user, "user", "", "`id` of the owner (required)")
	f.StringVar(&n.AccountType, "type", "checking", "kind of account, one `word` of your own")
	f.StringVar(&currency, "currency", "", "`code` of ISO 4217, such as NZD (required)")
	f.StringVar(&limit, "overdraft", "", "how far the balance may go below zero, as an `amount`")
	f.BoolVar(&n.Unlimited, "unlimited", false, "let the balance go below zero without limit")
	f.StringVar(&location, "location", "", "`id` of the location where it is kept")
	f.StringVar(&n.Zone, "zone", "", "where its days begin, a `name` such as Pacific/Auckland")
	f.StringVar(&n.IdempotencyKey, "key", "", "idempotency `key`, which makes a repeat safe")
	command.MarkFlagsMutuallyExclusive("overdraft", "unlimited")
	require(command, "user", "currency")
	return command
}

// require makes flags required.
func require(command *cobra.Command, names ...string) {
	for _, name := range names {
		_ = command.MarkFlagRequired(name) // It fails for a flag that is not there.
	}
}

// optionalAmount reads the amount of a flag that may be left out.
func optionalAmount(flag, text string, currency money.Currency) (money.Amount, error) {
	if text == "" {
		return money.Amount{}, nil
	}
	a, err := money.Parse(text, currency)
	if err != nil {
		return a, usagef("Write plain digits with a decimal point, such as 1250.50",
			"%s cannot be read: %v", flag, err)
	}
	return a, nil
}

func (a *app) accountsGet() *cobra.Command {
	return &cobra.Command{
		Use:     "get ACCOUNT",
		Short:   "Show an account and its balance",
		Example: "  exchequer ledger accounts get alice\n  exchequer ledger accounts get @deposits-NZD",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			account, err := c.Account(ctx, client.AccountID(args[0]))
			if err != nil {
				return err
			}
			return one(a, accountDetails(), account)
		}),
	}
}

func (a *app) accountsList() *cobra.Command {
	var (
		p    pages
		user string
	)
	command := &cobra.Command{
		Use:   "list",
		Short: "List the accounts of a user, or all of them",
		Example: `  exchequer ledger accounts list --user alice@example.org
  exchequer ledger accounts list --all --output csv`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			owner := client.UserID(user)
			switch {
			case p.all && user != "":
				return all(a, accountColumns(), c.AllAccountsOfUser(ctx, owner), noAccounts)
			case p.all:
				return all(a, accountColumns(), c.AllAccounts(ctx), noAccounts)
			}
			var (
				list client.Page[client.Account]
				err  error
			)
			if user != "" {
				list, err = c.AccountsOfUser(ctx, owner, p.query())
			} else {
				list, err = c.Accounts(ctx, p.query())
			}
			if err != nil {
				return err
			}
			return page(a, accountColumns(), list, noAccounts)
		}),
	}
	command.Flags().StringVar(&user, "user", "", "`id` of the owner; without it all accounts")
	p.add(command)
	return command
}

// add adds the flags of a list to a command.
func (p *pages) add(command *cobra.Command) {
	f := command.Flags()
	f.IntVar(&p.limit, "limit", 0, "maximum `number` of rows of a page, up to 1000 (default 100)")
	f.StringVar(&p.cursor, "cursor", "", "`cursor` of the next page, as the page before printed it")
	f.BoolVar(&p.all, "all", false, "follow all pages; JSON is then one object a line")
	command.MarkFlagsMutuallyExclusive("all", "limit")
	command.MarkFlagsMutuallyExclusive("all", "cursor")
}

func (a *app) accountsOverdraft() *cobra.Command {
	var (
		limit     string
		unlimited bool
	)
	command := &cobra.Command{
		Use:   "overdraft ACCOUNT",
		Short: "Change how far an account may go below zero",
		Example: `  exchequer ledger accounts overdraft alice --overdraft 500
  exchequer ledger accounts overdraft alice --overdraft 0`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			id := client.AccountID(args[0])
			account, err := c.Account(ctx, id)
			if err != nil {
				return err
			}
			currency := account.Balance.Currency()
			most, err := optionalAmount("--overdraft", limit, currency)
			if err != nil {
				return err
			}
			if account, err = c.SetOverdraft(ctx, id, most, unlimited); err != nil {
				return err
			}
			return one(a, accountDetails(), account)
		}),
	}
	f := command.Flags()
	f.StringVar(&limit, "overdraft", "", "how far, as an `amount` in the account's currency")
	f.BoolVar(&unlimited, "unlimited", false, "without limit")
	command.MarkFlagsMutuallyExclusive("overdraft", "unlimited")
	command.MarkFlagsOneRequired("overdraft", "unlimited")
	return command
}

func (a *app) accountsClose() *cobra.Command {
	var withPayments bool
	command := &cobra.Command{
		Use:   "close ACCOUNT",
		Short: "Close an account with a balance of zero, permanently",
		Long: `Close an account with a balance of zero, permanently.

An account is not closed while payments are scheduled from it or to it, also through a merchant that
settles to it, because they would fail: cancel or change them first. --with-open-payments closes it all
the same.`,
		Example: "  exchequer ledger accounts close alice",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			closing := c.CloseAccount
			if withPayments {
				closing = c.CloseAccountWithPayments
			}
			account, err := closing(ctx, client.AccountID(args[0]))
			if err != nil {
				return err
			}
			return one(a, accountDetails(), account)
		}),
	}
	command.Flags().BoolVar(&withPayments, "with-open-payments", false,
		"close it although scheduled payments from or to it will fail")
	return command
}

func (a *app) accountChange(
	verb, short string,
	change func(*client.Client, context.Context, client.AccountID) (client.Account, error),
) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " ACCOUNT",
		Short:   short,
		Example: "  exchequer ledger accounts " + verb + " alice",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			account, err := change(c, ctx, client.AccountID(args[0]))
			if err != nil {
				return err
			}
			return one(a, accountDetails(), account)
		}),
	}
}

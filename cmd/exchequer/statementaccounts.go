package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/bankfile"
	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

func bankAccountColumns() []column[client.BankAccount] {
	type account = client.BankAccount
	return []column[account]{
		col("ID", func(v account) string { return string(v.ID) }),
		col("NAME", func(v account) string { return v.Name }).upTo(40),
		col("CURRENCY", func(v account) string { return string(v.Currency) }),
		col("NUMBER", func(v account) string { return v.Number }),
		col("STATUS", func(v account) string {
			if v.Closed {
				return "closed"
			}
			return "open"
		}),
	}
}

func (a *app) statementsAccounts() *cobra.Command {
	return group("accounts", "The accounts at banks that statements are of", "",
		a.bankAccountsList(), a.bankAccountsAdd(), a.bankAccountsChange(),
		a.bankAccountsMapping())
}

func (a *app) bankAccountsList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the accounts",
		Example: "  exchequer statements accounts list",
		Args:    cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			found, err := readable(c.BankAccounts(ctx))
			if err != nil {
				return err
			}
			return page(a, bankAccountColumns(), found,
				"no accounts yet: exchequer statements accounts add NAME --currency NZD")
		}),
	}
}

func (a *app) bankAccountsAdd() *cobra.Command {
	var (
		n            client.NewBankAccount
		currency, id string
	)
	command := &cobra.Command{
		Use:   "add NAME",
		Short: "Add an account",
		Long: `Add an account. Its number is learnt from the first file that is imported, if the file has one;
statements of other numbers in a file are left out from then on.`,
		Example: `  exchequer statements accounts add Everyday --currency NZD
  exchequer statements accounts add Giro --currency EUR --number DE02100100100006820101 --id giro`,
		Args: cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			n.ID, n.Name = client.BankAccountID(id), args[0]
			n.Currency = money.Currency(strings.ToUpper(currency))
			made, err := c.CreateBankAccount(ctx, n)
			if err != nil {
				return err
			}
			return created(a, bankAccountColumns(), made.BankAccount, made.Replayed, "account")
		}),
	}
	f := command.Flags()
	f.StringVar(&currency, "currency", "", "`code` of ISO 4217, such as NZD (required)")
	f.StringVar(&n.Number, "number", "", "`number` of the account as its files write it")
	f.StringVar(&id, "id", "", "`id` to use, which makes a repeat safe")
	require(command, "currency")
	return command
}

func (a *app) bankAccountsChange() *cobra.Command {
	var (
		name, number string
		closed       bool
	)
	command := &cobra.Command{
		Use:   "change ACCOUNT",
		Short: "Change an account's name or number, close it or open it again",
		Example: `  exchequer statements accounts change everyday --name "Joint account"
  exchequer statements accounts change everyday --closed`,
		Args: cobra.ExactArgs(1),
	}
	f := command.Flags()
	f.StringVar(&name, "name", "", "another `name`")
	f.StringVar(&number, "number", "", "another `number`; empty for none")
	f.BoolVar(&closed, "closed", false, "it is closed; --closed=false opens it again")
	command.MarkFlagsOneRequired("name", "number", "closed")
	command.RunE = a.withMine(func(ctx context.Context, m *mine, args []string) error {
		found, err := m.account(args[0])
		if err != nil {
			return err
		}
		var change client.BankAccountChange
		set := command.Flags().Changed
		if set("name") {
			change.Name = &name
		}
		if set("number") {
			change.Number = &number
		}
		if set("closed") {
			change.Closed = &closed
		}
		changed, err := m.c.ChangeBankAccount(ctx, found.ID, 0, change)
		if err != nil {
			return err
		}
		return one(a, bankAccountColumns(), changed)
	})
	return command
}

func (a *app) bankAccountsMapping() *cobra.Command {
	return group("mapping", "How the files of an account are read, as a small JSON file", "",
		a.mappingExport(), a.mappingImport())
}

func (a *app) mappingExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export ACCOUNT [FILE]",
		Short: "Write how the files of an account are read, for others who have the same bank",
		Long: `Write how the files of an account are read, as JSON: to a file, or to standard output. It has
names of columns and habits of writing, and nothing about any person or transaction.`,
		Example: "  exchequer statements accounts mapping export everyday my-bank.json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			found, err := m.account(args[0])
			if err != nil {
				return err
			}
			// The list of accounts does without mappings.
			if found, err = m.c.BankAccount(ctx, found.ID); err != nil {
				return err
			}
			if len(found.Mapping) == 0 {
				return &failure{exit: exitNotFound,
					text: fmt.Sprintf("Nothing is remembered of how files of %s are read",
						found.Name),
					try: "import a CSV file of it first; other formats say themselves how they are read"}
			}
			var text bytes.Buffer
			if err := json.Indent(&text, found.Mapping, "", "  "); err != nil {
				return err
			}
			text.WriteByte('\n')
			return a.into(args[1:], func(w io.Writer) error {
				_, err := w.Write(text.Bytes())
				return err
			})
		}),
	}
}

func (a *app) mappingImport() *cobra.Command {
	return &cobra.Command{
		Use:     "import ACCOUNT FILE",
		Short:   "Read the files of an account as a JSON file says",
		Example: "  exchequer statements accounts mapping import everyday my-bank.json",
		Args:    cobra.ExactArgs(2),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			text, err := a.readSmall(args[1], bankfile.MappingSizeMax)
			if err != nil {
				return err
			}
			if _, err := bankfile.ParseMapping(text); err != nil {
				return usagef("a file that \"accounts mapping export\" wrote", "%s: %v",
					args[1], err)
			}
			m, err := mineOf(ctx, c)
			if err != nil {
				return err
			}
			found, err := m.account(args[0])
			if err != nil {
				return err
			}
			changed, err := c.ChangeBankAccount(ctx, found.ID, 0,
				client.BankAccountChange{Mapping: text})
			if err != nil {
				return err
			}
			return one(a, bankAccountColumns(), changed)
		}),
	}
}

// readSmall reads a file of a bounded size, or standard input for "-".
func (a *app) readSmall(path string, most int64) ([]byte, error) {
	in := a.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(text)) > most {
		err = usagef("a smaller file", "%s has more than %d bytes", path, most)
	}
	return text, err
}

func (a *app) statementsProfile() *cobra.Command {
	var email, currency, zone string
	command := &cobra.Command{
		Use:   "profile",
		Short: "Show or save what you tell of yourself: home currency, time zone, address",
		Long: `Show what you tell of yourself, or save what the flags say; the rest stays. The currency is that
of reports with --home profile, and of nothing else; the time zone tells which day is today.`,
		Example: "  exchequer statements profile --currency NZD --zone Pacific/Auckland",
		Args:    cobra.NoArgs,
	}
	f := command.Flags()
	f.StringVar(&email, "email", "", "`address` to be reached at; empty for none")
	f.StringVar(&currency, "currency", "", "home currency, a `code` of ISO 4217")
	f.StringVar(&zone, "zone", "", "time zone, a `name` such as Pacific/Auckland")
	command.RunE = a.withMine(func(ctx context.Context, m *mine, _ []string) error {
		var own client.Profile
		if m.Profile != nil {
			own = *m.Profile
		}
		set := command.Flags().Changed
		if set("email") || set("currency") || set("zone") {
			n := own
			if set("email") {
				n.Email = email
			}
			if set("currency") {
				n.Preferences.Currency = money.Currency(strings.ToUpper(currency))
			}
			if set("zone") {
				n.Preferences.TimeZone = zone
			}
			saved, err := m.c.SaveProfile(ctx, n.Email, n.Preferences, own.Version)
			if err != nil {
				return err
			}
			own = saved
		} else if m.Profile == nil {
			a.remark("nothing is saved yet: exchequer statements profile --currency NZD")
			return nil
		}
		return one(a, []column[client.Profile]{
			col("EMAIL", func(p client.Profile) string { return p.Email }),
			col("CURRENCY", func(p client.Profile) string {
				return string(p.Preferences.Currency)
			}),
			col("ZONE", func(p client.Profile) string { return p.Preferences.TimeZone }),
			col("CREATED", func(p client.Profile) string { return instant(p.CreatedAt) }),
			col("UPDATED", func(p client.Profile) string { return instant(p.UpdatedAt) }),
		}, own)
	})
	return command
}

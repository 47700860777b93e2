package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
)

func merchantDetails() []column[client.Merchant] {
	type merchant = client.Merchant
	return []column[merchant]{
		col("ID", func(m merchant) string { return string(m.ID) }),
		col("NAME", func(m merchant) string { return m.Name }),
		col("CATEGORY", func(m merchant) string { return m.Category }),
		col("SETTLEMENT", func(m merchant) string { return string(m.SettlementAccountID) }),
		col("LOCATION", func(m merchant) string { return string(m.LocationID) }),
		col("CREATED", func(m merchant) string { return instant(m.CreatedAt) }),
	}
}

func (a *app) merchantsCommand() *cobra.Command {
	return group("merchants", "Create merchants and read them", "",
		a.merchantsCreate(), a.merchantsGet())
}

func (a *app) merchantsCreate() *cobra.Command {
	var (
		n              client.NewMerchant
		id, settlement string
		location       string
	)
	command := &cobra.Command{
		Use:   "create",
		Short: "Create a merchant",
		Long: `Create a merchant. Payments to it are credited to its settlement account.

Merchants are never changed. Given again with the same --id or --key, the command shows the merchant
that it created the first time, and says so. With other flags it is a conflict that names what differs.`,
		Example: `  exchequer ledger accounts open --id cafe-till --user cafe --type settlement --currency NZD
  exchequer ledger merchants create --id cafe --name "Kererū Coffee" --settlement cafe-till`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			n.ID, n.SettlementAccountID = client.MerchantID(id), client.AccountID(settlement)
			n.LocationID = client.LocationID(location)
			made, err := c.CreateMerchant(ctx, n)
			if err != nil {
				return err
			}
			return created(a, merchantDetails(), made.Merchant, made.Replayed, "merchant")
		}),
	}
	f := command.Flags()
	f.StringVar(&id, "id", "", "`id` to use; without one it is made from --key, or at random")
	f.StringVar(&n.Name, "name", "", "`name` that people know it by (required)")
	f.StringVar(&n.Category, "category", "", "line of business, in `words` of your own")
	f.StringVar(&settlement, "settlement", "", "`account` that receives its payments")
	f.StringVar(&location, "location", "", "`id` of the location where it is")
	f.StringVar(&n.IdempotencyKey, "key", "", "idempotency `key`, which makes a repeat safe")
	require(command, "name")
	return command
}

func (a *app) merchantsGet() *cobra.Command {
	return &cobra.Command{
		Use:     "get MERCHANT",
		Short:   "Show a merchant",
		Example: "  exchequer ledger merchants get cafe",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			merchant, err := c.Merchant(ctx, client.MerchantID(args[0]))
			if err != nil {
				return err
			}
			return one(a, merchantDetails(), merchant)
		}),
	}
}

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

func (a *app) exchangeCommand() *cobra.Command {
	var (
		e                          client.Exchanging
		p                          posting
		into, rate, on, bought, to string
	)
	command := &cobra.Command{
		Use:   "exchange",
		Short: "Exchange money of one currency for another",
		Long: `Exchange money of one currency for another, at the stored rate or at one that was agreed on. The
transaction balances in each currency: what is sold goes to @exchange of its currency, what is
bought comes from that of the other. With --bought the amount that was agreed on may differ from the
converted one by the smallest unit of its currency, which is posted to @rounding.

The same command with the same key, at any later time, shows what was done the first time. If it
names no rate, the stored rate may have moved since; a rate, day or amount that it names must be the
one of the first time.`,
		Example: `  exchequer ledger exchange --from alice-usd --to alice-eur --amount 100 --key fx-1
  exchequer ledger exchange --from alice-usd --to alice-eur --amount 100 --rate 0.8559 --bought 85.60`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) (err error) {
			e.IdempotencyKey, e.Description, e.Metadata = p.key, p.description, p.metadata
			e.From, e.To, e.On = client.AccountID(p.from), client.AccountID(to), client.Date(on)
			e.Into = money.Currency(strings.ToUpper(into))
			currency := money.Currency(p.currency)
			if currency == "" {
				if currency, err = p.currencyOf(ctx, c); err != nil {
					return err
				}
			}
			if e.Sold, err = optionalAmount("--amount", p.amount, currency); err != nil {
				return err
			}
			if rate != "" {
				if e.Rate, err = money.ParseDecimal(rate); err != nil {
					return usagef("--rate 0.8559", "The rate %q: %v", rate, err)
				}
			}
			if bought != "" {
				if e.Into == "" {
					account, err := c.Account(ctx, e.To)
					if err != nil {
						return err
					}
					e.Into = account.Balance.Currency()
				}
				if e.Bought, err = optionalAmount("--bought", bought, e.Into); err != nil {
					return err
				}
			}
			receipt, err := c.Exchange(ctx, e)
			if err != nil {
				return err
			}
			return a.receipt(receipt,
				"the key was used before: this is the first transaction, and nothing moved")
		}),
	}
	p.add(command)
	f := command.Flags()
	f.StringVar(&to, "to", "", "`account` that is credited (required)")
	f.StringVar(&into, "into", "", "`code` of the currency that is bought (default: that of --to)")
	f.StringVar(&rate, "rate", "", "`rate` that was agreed on (default: the stored one)")
	f.StringVar(&on, "date", "", "`day` whose stored rate is taken (default: now)")
	f.BoolVar(&e.AllowStale, "allow-stale", false, "take a stored rate that is no longer fresh")
	f.StringVar(&bought, "bought", "", "`amount` that was agreed on")
	f.StringVar(&e.Rounding, "rounding", "", "`way` to round: "+strings.Join(roundingNames, ", "))
	command.MarkFlagsMutuallyExclusive("rate", "date")
	_ = command.RegisterFlagCompletionFunc("rounding", fixed(roundingNames...))
	require(command, "from", "to", "amount")
	return command
}

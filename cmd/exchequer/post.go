package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// posting are the flags of commands that move money.
type posting struct {
	key, kind, merchant, description string
	from, to, amount, currency       string
	legs                             []string
	metadata                         map[string]string
}

func (p *posting) add(command *cobra.Command) {
	f := command.Flags()
	f.StringVar(&p.key, "key", "", "idempotency `key`, which makes a repeat safe at any time")
	f.StringVar(&p.from, "from", "", "`account` that is debited")
	f.StringVar(&p.amount, "amount", "", "exact `amount` in major units, such as 5.50")
	f.StringVar(&p.currency, "currency", "", "`code` of ISO 4217; without it that of the account")
	f.StringVar(&p.description, "description", "", "`text` for people")
	f.StringToStringVar(&p.metadata, "metadata", nil, "metadata as `name=value`; may be repeated")
}

func (a *app) postCommand() *cobra.Command {
	var p posting
	command := &cobra.Command{
		Use:   "post",
		Short: "Post a transaction: a deposit, a transfer, or any set of legs that balances",
		Long: `Post a transaction. Either --from, --to and --amount say what moves, or two or more --leg do, each
"account:debit:amount" or "account:credit:amount", with ":currency" behind it where --currency is not
that of all legs. Debits and credits must be equal in each currency.

A deposit needs no --from and a withdrawal no --to: the other side is @deposits or @withdrawals.`,
		Example: `  exchequer ledger post --type deposit --to alice --amount 100 --key payday-1
  exchequer ledger post --from alice --to bob --amount 5.50 --description "Half of lunch"
  exchequer ledger post --leg alice:debit:5.50 --leg bob:credit:5 --leg @fees:credit:0.50 --currency NZD`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			request, err := p.request(ctx, c)
			if err != nil {
				return err
			}
			return a.post(ctx, c, request)
		}),
	}
	p.add(command)
	f := command.Flags()
	f.StringVar(&p.kind, "type", string(client.Transfer),
		"what it is for, one `word`: transfer, deposit, …")
	f.StringVar(&p.to, "to", "", "`account` that is credited")
	f.StringVar(&p.merchant, "merchant", "", "`id` of the merchant that it concerns")
	f.StringArrayVar(&p.legs, "leg", nil,
		"`account:debit:amount` or account:credit:amount; repeated")
	for _, side := range []string{"from", "to", "amount"} {
		command.MarkFlagsMutuallyExclusive("leg", side)
	}
	command.MarkFlagsOneRequired("leg", "amount")
	return command
}

func (a *app) payCommand() *cobra.Command {
	p := posting{kind: string(client.Payment)}
	command := &cobra.Command{
		Use:   "pay",
		Short: "Pay a merchant from an account",
		Long:  "Pay a merchant from an account. The merchant's settlement account is credited.",
		Example: `  exchequer ledger pay --from alice --merchant cafe --amount 5.50 --key order-1 \
    --description "Flat white"`,
		Args: cobra.NoArgs,
		RunE: a.with(func(ctx context.Context, c *client.Client, _ []string) error {
			request, err := p.request(ctx, c)
			if err != nil {
				return err
			}
			return a.post(ctx, c, request)
		}),
	}
	p.add(command)
	command.Flags().StringVar(&p.merchant, "merchant", "", "`id` of who is paid (required)")
	require(command, "from", "merchant", "amount")
	return command
}

// post sends a posting and shows the transaction.
func (a *app) post(ctx context.Context, c *client.Client, request client.Posting) error {
	receipt, err := c.Post(ctx, request)
	if err != nil {
		return err
	}
	return a.receipt(receipt,
		"the key was used before: this is the first transaction, and nothing moved")
}

// receipt shows a transaction with its legs, and tells when it is an earlier one.
func (a *app) receipt(r client.Receipt, earlier string) error {
	if err := a.entry(r.Entry); err != nil {
		return err
	}
	if r.Replayed {
		a.remark("%s", earlier)
	}
	return nil
}

// request returns the posting that the flags ask for.
func (p *posting) request(ctx context.Context, c *client.Client) (client.Posting, error) {
	request := client.Posting{
		IdempotencyKey: p.key, Type: client.TransactionType(p.kind),
		MerchantID: client.MerchantID(p.merchant), Description: p.description,
		Metadata: p.metadata,
	}
	currency := money.Currency(p.currency)
	if len(p.legs) > 0 {
		for _, text := range p.legs {
			leg, err := parseLeg(text, currency)
			if err != nil {
				return request, err
			}
			request.Legs = append(request.Legs, leg)
		}
		request.Currency = currency
		return request, nil
	}
	request.From, request.To = client.AccountID(p.from), client.AccountID(p.to)
	if currency == "" {
		var err error
		if currency, err = p.currencyOf(ctx, c); err != nil {
			return request, err
		}
	}
	var err error
	request.Amount, err = optionalAmount("--amount", p.amount, currency)
	return request, err
}

// currencyOf returns the currency of the user's account on either side.
func (p *posting) currencyOf(ctx context.Context, c *client.Client) (money.Currency, error) {
	for _, id := range []string{p.from, p.to} {
		if id == "" || strings.HasPrefix(id, "@") {
			continue
		}
		account, err := c.Account(ctx, client.AccountID(id))
		return account.Balance.Currency(), err
	}
	return "", usagef("--currency NZD", "No account of a user tells the currency")
}

// parseLeg reads a leg from its right end, since an account's id may have colons in it.
func parseLeg(text string, currency money.Currency) (client.PostingLeg, error) {
	parts := strings.Split(text, ":")
	last := parts[len(parts)-1]
	if money.Currency(last).Known() {
		currency, parts = money.Currency(last), parts[:len(parts)-1]
	}
	n := len(parts)
	if n < 3 || parts[n-2] != string(client.Debit) && parts[n-2] != string(client.Credit) {
		return client.PostingLeg{}, usagef("--leg alice:debit:5.50",
			"The leg %q must be account:debit:amount or account:credit:amount", text)
	}
	if currency == "" {
		return client.PostingLeg{}, usagef(fmt.Sprintf("--leg %s:NZD, or --currency NZD", text),
			"The leg %q has no currency", text)
	}
	amount, err := money.Parse(parts[n-1], currency)
	if err != nil {
		return client.PostingLeg{}, usagef("--leg alice:debit:5.50", "The leg %q: %v", text, err)
	}
	return client.PostingLeg{
		AccountID: client.AccountID(strings.Join(parts[:n-2], ":")),
		Type:      client.LegType(parts[n-2]), Amount: amount,
	}, nil
}

func (a *app) reverseCommand() *cobra.Command {
	var v client.Reversing
	command := &cobra.Command{
		Use:   "reverse TRANSACTION",
		Short: "Undo a transaction, whole, by another one",
		Long: `Undo a transaction, whole, by another one. Both stay in the books and point at each other.

A transaction is reversed at most once: the same command again shows the first reversal.`,
		Example: "  exchequer ledger reverse 5f2c6d1e-9a0b-5c3d-8e4f-0123456789ab",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			v.TransactionID = client.TransactionID(args[0])
			receipt, err := c.Reverse(ctx, v)
			if err != nil {
				return err
			}
			return a.receipt(receipt,
				"it was reversed before: this is the first reversal, and nothing moved")
		}),
	}
	f := command.Flags()
	f.StringVar(&v.Description, "description", "",
		"`text` for people; without it that of the original")
	f.StringToStringVar(&v.Metadata, "metadata", nil, "metadata as `name=value`; may be repeated")
	return command
}

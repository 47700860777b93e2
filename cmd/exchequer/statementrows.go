package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/exchequer-dev/exchequer/client"
	"github.com/exchequer-dev/exchequer/money"
)

// rowColumns are those of a list of transactions; accounts are told apart where there are several.
func (m *mine) rowColumns(several bool) []column[client.BankTransaction] {
	type row = client.BankTransaction
	columns := []column[row]{col("DATE", func(t row) string { return string(t.Date) })}
	if several {
		columns = append(columns, col("ACCOUNT", func(t row) string {
			return m.accountName(t.AccountID)
		}).upTo(16))
	}
	return append(columns,
		col("MERCHANT", func(t row) string { return t.Merchant }).upTo(28),
		num("AMOUNT", rowAmount),
		col("TAGS", func(t row) string { return strings.Join(tagsOf(t), ", ") }).upTo(24),
		col("NOTES", rowNotes).upTo(24),
		col("ID", func(t row) string { return shortID(t.ID) }),
	)
}

// rowAmount is an amount with its currency: a list may have several.
func rowAmount(t client.BankTransaction) string { return decimalText(t.Amount, t.Currency) }

// decimalText writes an amount with at least as many digits as its currency has.
func decimalText(d money.Decimal, currency money.Currency) string {
	return strings.TrimSpace(digitsText(d, currency) + " " + string(currency))
}

func digitsText(d money.Decimal, currency money.Currency) string {
	return d.Text(max(currency.Digits(), d.FractionDigits()))
}

// tagsOf are the tags of a transaction, or of the parts that it is divided into, each once.
func tagsOf(t client.BankTransaction) []string {
	tags := t.Tags
	for _, part := range t.Splits {
		tags = append(tags[:len(tags):len(tags)], part.Tags...)
	}
	return once(tags)
}

func once(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range words {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	return out
}

// rowNotes are the notes of a transaction, after what a reader should know about it.
func rowNotes(t client.BankTransaction) string {
	var says []string
	if t.Pending {
		says = append(says, "pending")
	}
	if t.Transfer {
		says = append(says, "transfer")
	}
	if len(t.Splits) > 0 {
		says = append(says, count(len(t.Splits), "part"))
	}
	if t.Notes != "" {
		says = append(says, t.Notes)
	}
	if n := len(t.Annotations); n > 0 {
		says = append(says, count(n, "annotation"))
	}
	return strings.Join(says, "; ")
}

func (m *mine) rowDetails() []column[client.BankTransaction] {
	type row = client.BankTransaction
	return []column[row]{
		col("ID", func(t row) string { return string(t.ID) }),
		col("ACCOUNT", func(t row) string { return m.accountName(t.AccountID) }),
		col("DATE", func(t row) string { return string(t.Date) }),
		col("VALUE DATE", func(t row) string { return string(t.ValueDate) }),
		num("AMOUNT", rowAmount),
		col("FOREIGN", func(t row) string {
			if t.ForeignAmount == nil {
				return string(t.ForeignCurrency)
			}
			return decimalText(*t.ForeignAmount, t.ForeignCurrency)
		}),
		col("MERCHANT", func(t row) string { return t.Merchant }),
		col("TAGS", func(t row) string { return strings.Join(t.Tags, ", ") }),
		col("PARTS", func(t row) string {
			var parts []string
			for _, s := range t.Splits {
				parts = append(parts, strings.TrimSpace(decimalText(s.Amount, t.Currency)+" "+
					strings.Join(s.Tags, ", ")+" "+s.Notes))
			}
			return strings.Join(parts, "; ")
		}),
		col("NOTES", func(t row) string { return t.Notes }),
		col("STATE", rowState),
		col("BANK WROTE", func(t row) string { return t.Text }),
		col("OTHER SIDE", func(t row) string { return t.Counterparty }),
		col("REFERENCE", func(t row) string { return t.Reference }),
		col("CATEGORY", func(t row) string { return t.Category }),
		col("OTHER COLUMNS", func(t row) string { return t.Details }),
		col("BANK'S ID", func(t row) string { return t.BankID }),
		col("FROM", func(t row) string {
			if t.UploadID == "" {
				return t.Source
			}
			return fmt.Sprintf("%s, line %d", t.UploadID, t.Line)
		}),
		col("YOURS", func(t row) string { return strings.Join(t.Edited, ", ") }),
		col("BY RULES", func(t row) string { return strings.Join(keysOf(t.Ruled), ", ") }),
		col("ANNOTATIONS", func(t row) string {
			var says []string
			for _, n := range t.Annotations {
				text := n.Text
				if n.Author != "" {
					text = n.Author + ": " + text
				}
				says = append(says, fmt.Sprintf("%s (%s)", text, n.ID))
			}
			return strings.Join(says, "; ")
		}),
	}
}

func rowState(t client.BankTransaction) string {
	var states []string
	for _, s := range []struct {
		set  bool
		name string
	}{{t.Pending, "pending"}, {t.Transfer, "transfer"}, {t.Reversal, "reversal"}} {
		if s.set {
			states = append(states, s.name)
		}
	}
	return strings.Join(states, ", ")
}

const noRows = "no transactions in these days"

func (a *app) statementsList() *cobra.Command {
	var (
		d       dayFlags
		p       pages
		latest  bool
		account string
	)
	command := &cobra.Command{
		Use:   "list [ACCOUNT]",
		Short: "List the transactions of an account, or of all",
		Long: `List the transactions of an account, or of all accounts as one list, by day: of the last three
months unless days are given.`,
		Example: `  exchequer statements list everyday --month 2026-02
  exchequer statements list --from 2026-01 --to 2026-03 --all -o csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			account = ""
			if len(args) == 1 {
				account = args[0]
			}
			from, to, err := d.days(m, 3)
			if err != nil {
				return err
			}
			return a.rows(ctx, m, account, from, to, latest, p)
		}),
	}
	d.add(command)
	p.add(command)
	command.Flags().BoolVar(&latest, "newest", false, "the newest first")
	return command
}

// rows prints the transactions of an account, or those of all accounts as one list.
func (a *app) rows(
	ctx context.Context, m *mine, account string, from, to client.Date, latest bool, p pages,
) error {
	if account == "" && len(m.Accounts) != 1 {
		q := client.BankSearch{From: from, To: to, Latest: latest, PageQuery: p.query()}
		return a.found(ctx, m, q, p.all, noRows)
	}
	if account == "" {
		account = string(m.Accounts[0].ID)
	}
	of, err := m.account(account)
	if err != nil {
		return err
	}
	q := client.DaysQuery{From: from, To: to, Latest: latest, PageQuery: p.query()}
	if p.all {
		return all(a, m.rowColumns(false), m.c.AllBankTransactions(ctx, of.ID, q), noRows)
	}
	list, err := m.c.BankTransactions(ctx, of.ID, q)
	if err != nil {
		return err
	}
	return page(a, m.rowColumns(false), list, noRows)
}

// found prints what a search finds.
func (a *app) found(
	ctx context.Context, m *mine, q client.BankSearch, everything bool, empty string,
) error {
	if everything {
		return all(a, m.rowColumns(true), m.c.AllFound(ctx, q), empty)
	}
	list, err := m.c.SearchBankTransactions(ctx, q)
	if err != nil {
		return err
	}
	return page(a, m.rowColumns(true), list, empty)
}

func (a *app) statementsMonth() *cobra.Command {
	var account string
	command := &cobra.Command{
		Use:   "month YYYY-MM",
		Short: "Show a month: every transaction, and what came in and went out",
		Long: `Show a month: every transaction of an account or of all, and what came in and went out by
currency, without what was moved between one's own accounts.`,
		Example: "  exchequer statements month 2026-02\n  exchequer statements month 2026-02 --account card",
		Args:    cobra.ExactArgs(1),
		RunE: a.with(func(ctx context.Context, c *client.Client, args []string) error {
			if _, err := time.Parse(monthLayout, args[0]); err != nil {
				return noMonth("the argument", args[0])
			}
			m, err := mineOf(ctx, c)
			if err != nil {
				return err
			}
			d := dayFlags{month: args[0]}
			from, to, err := d.days(m, 1)
			if err != nil {
				return err
			}
			if err := a.rows(ctx, m, account, from, to, false, pages{all: true}); err != nil {
				return err
			}
			return a.monthTotals(ctx, m, account, from, to)
		}),
	}
	command.Flags().StringVar(&account, "account", "", "only this `account`")
	return command
}

// monthTotals returns what the rows above add up to.
func (a *app) monthTotals(
	ctx context.Context, m *mine, account string, from, to client.Date,
) error {
	if a.flags.output != outputTable {
		return nil
	}
	q := client.ReportQuery{From: from, To: to}
	if account != "" {
		of, err := m.account(account)
		if err != nil {
			return err
		}
		q.Accounts = []client.BankAccountID{of.ID}
	}
	flow, err := m.c.CashFlow(ctx, q)
	if err != nil {
		return err
	}
	for _, f := range flow.Currencies {
		a.remark("%s in, %s out, %s left%s", decimalText(f.Total.In, f.Currency),
			decimalText(f.Total.Out, f.Currency), decimalText(f.Total.Net, f.Currency),
			transfersText(f.Total.Transfers))
	}
	return nil
}

func transfersText(t client.Flow) string {
	if t.Count == 0 {
		return ""
	}
	return fmt.Sprintf("; %s between your own accounts", count(t.Count, "transfer"))
}

func (a *app) statementsShow() *cobra.Command {
	var account string
	command := &cobra.Command{
		Use:   "show TRANSACTION",
		Short: "Show everything about a transaction",
		Long: `Show everything about a transaction: what the bank wrote, what you and your rules made of it, and
from which line of which file it came. The beginning of the id, as lists show it, is enough.`,
		Example: "  exchequer statements show txn-202602-4f9k2m",
		Args:    cobra.ExactArgs(1),
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			t, err := m.transaction(ctx, args[0], account)
			if err != nil {
				return err
			}
			return one(a, m.rowDetails(), t)
		}),
	}
	command.Flags().StringVar(&account, "account", "", "`account` to look in (default: all)")
	return command
}

// searchFlags are the flags of a search.
type searchFlags struct {
	days               dayFlags
	accounts, tags     []string
	anyTag, untagged   bool
	min, max, merchant string
	unsigned, latest   bool
	pages              pages
}

func (a *app) statementsSearch() *cobra.Command {
	var s searchFlags
	command := &cobra.Command{
		Use:   "search [WORDS]",
		Short: "Find transactions by words, amount and tag",
		Long: `Find transactions of all accounts, of the last twelve months unless days are given.

Words are looked for, in any case, in merchants, the bank's text, notes, references, annotations and
tags; all of them must be there. "Words in quotes" stand together, -word must not be there, and OR
between two words wants one of them.`,
		Example: `  exchequer statements search 'market -night'
  exchequer statements search --tag Groceries --amount-from 50 --unsigned --from 2026-01 --to 2026-03
  exchequer statements search --untagged --month 2026-02`,
		Args: cobra.ArbitraryArgs,
		RunE: a.withMine(func(ctx context.Context, m *mine, args []string) error {
			q, err := s.query(ctx, m, strings.Join(args, " "))
			if err != nil {
				return err
			}
			return a.found(ctx, m, q, s.pages.all, "nothing was found in these days")
		}),
	}
	s.days.add(command)
	s.pages.add(command)
	f := command.Flags()
	f.StringSliceVar(&s.accounts, "account", nil, "only these `accounts`")
	f.StringSliceVar(&s.tags, "tag", nil, "only those with all of these `tags`")
	f.BoolVar(&s.anyTag, "any", false, "one of the tags is enough")
	f.BoolVar(&s.untagged, "untagged", false, "only those without any tag")
	f.StringVar(&s.min, "amount-from", "", "the least `amount`; money out is negative")
	f.StringVar(&s.max, "amount-to", "", "the greatest `amount`")
	f.BoolVar(&s.unsigned, "unsigned", false, "compare amounts without their signs")
	f.StringVar(&s.merchant, "merchant", "", "only this merchant, by its exact `name`")
	f.BoolVar(&s.latest, "newest", false, "the newest first")
	return command
}

func (s *searchFlags) query(
	ctx context.Context, m *mine, text string,
) (q client.BankSearch, err error) {
	q = client.BankSearch{
		Text: text, AnyTag: s.anyTag, Untagged: s.untagged, Unsigned: s.unsigned,
		Merchant: s.merchant, Latest: s.latest, PageQuery: s.pages.query(),
	}
	if q.From, q.To, err = s.days.days(m, 12); err != nil {
		return q, err
	}
	if q.Accounts, err = m.accounts(s.accounts); err != nil {
		return q, err
	}
	if q.Tags, err = m.tags(ctx, s.tags, false); err != nil {
		return q, err
	}
	for _, bound := range []struct {
		flag, text string
		to         **money.Decimal
	}{{"--amount-from", s.min, &q.AmountFrom}, {"--amount-to", s.max, &q.AmountTo}} {
		if bound.text == "" {
			continue
		}
		d, err := plainAmount(bound.flag, bound.text)
		if err != nil {
			return q, err
		}
		*bound.to = &d
	}
	return q, nil
}

// plainAmount reads an amount that a person types.
func plainAmount(what, text string) (money.Decimal, error) {
	d, err := money.ParseDecimal(strings.TrimSpace(text))
	if err != nil {
		return d, usagef("plain digits with a decimal point, such as -12.50; money out is negative",
			"%s is %q, which is no amount", what, text)
	}
	return d, nil
}
